//! The first operator of the real program: the link of the first start, a session that survives a
//! kill, and snapshots swapped and rolled back on the page.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::hornbook;
use crate::serving::QuickStartServer;

const SESSION: &str = "__Host-hornbook-session=";

struct Page {
    status: u16,
    text: String,
    /// The last session or form cookie that was set, for the `Cookie` header.
    cookie: Option<String>,
}

/// Sends one request as a browser on this machine would.
fn ask(address: &str, method: &str, path: &str, cookie: &str, form: &[(&str, &str)]) -> Page {
    let body: Vec<String> = form.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+"))).collect();
    let body = body.join("&");
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nCookie: {cookie}\r\n");
    if method == "POST" {
        request += &format!(
            "Origin: http://{address}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n",
            body.len()
        );
    }
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let set = |line: &str| line.strip_prefix("set-cookie: ")?.split(';').next().map(str::to_owned);
    let cookie = text.lines().filter_map(set).find(|cookie| !cookie.ends_with('='));
    Page { status: text[9..12].parse().unwrap(), cookie, text }
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split_once(after).map(|(found, _)| found)
}

fn token(page: &Page) -> String {
    between(&page.text, "name=\"token\" value=\"", "\"").unwrap_or_else(|| panic!("{}", page.text)).to_owned()
}

fn wait_for(path: &Path, is_there: bool) {
    for _ in 0..4000 {
        if path.exists() == is_there {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} did not appear or disappear in time", path.display());
}

/// Creates the operator account with the link of the first start. Returns the session cookie.
fn first_operator(server: &QuickStartServer, data: &Path) -> String {
    let file = data.join("operator-link");
    wait_for(&file, true);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let link = std::fs::read_to_string(&file).unwrap();
    let path = format!("/{}", link.trim().splitn(4, '/').nth(3).unwrap());
    let page = ask(&server.address, "GET", &path, "", &[]);
    assert!(page.status == 200 && page.text.contains("Create the operator account"), "{}", page.text);
    let form = [("token", &*token(&page)), ("login", "root"), ("password", "correct horse")];
    let made = ask(&server.address, "POST", &path, page.cookie.as_deref().unwrap(), &form);
    assert_eq!(made.status, 303, "{}", made.text);
    let cookie = made.cookie.unwrap();
    assert!(cookie.starts_with(SESSION));
    assert_eq!(ask(&server.address, "GET", &path, "", &[]).status, 404, "once");
    cookie
}

#[test]
fn sessions_survive_a_kill_and_end_when_ended() {
    let data = tempfile::tempdir().unwrap();
    let server = QuickStartServer::quick(data.path());
    let cookie = first_operator(&server, data.path());
    let page = ask(&server.address, "GET", "/settings", &cookie, &[]);
    assert!(page.text.contains("root"), "{}", page.text);
    drop(server);
    let server = QuickStartServer::quick(data.path());
    wait_for(&data.path().join("operator-link"), false);
    let page = ask(&server.address, "GET", "/settings", &cookie, &[]);
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(ask(&server.address, "GET", "/operator", &cookie, &[]).status, 200);
    let out = ask(&server.address, "POST", "/settings/sign-out", &cookie, &[("token", &token(&page))]);
    assert_eq!(out.status, 303);
    drop(server);
    let server = QuickStartServer::quick(data.path());
    assert_eq!(ask(&server.address, "GET", "/settings", &cookie, &[]).status, 303);
    // A forgotten password is reset by a command while the server runs.
    let link = hornbook().arg("--data").arg(data.path()).args(["account", "link", "root", "--json"]).output().unwrap();
    let link: serde_json::Value = serde_json::from_slice(&link.stdout).unwrap();
    let path = link["link"].as_str().unwrap();
    let page = ask(&server.address, "GET", path, "", &[]);
    assert!(page.text.contains("Choose a new password") && page.text.contains("root"));
    let form = [("token", &*token(&page)), ("password", "battery staple")];
    let renewed = ask(&server.address, "POST", path, page.cookie.as_deref().unwrap(), &form);
    let cookie = renewed.cookie.unwrap();
    assert_eq!(ask(&server.address, "GET", "/operator", &cookie, &[]).status, 200, "still the operator");
}

#[test]
fn an_operator_swaps_and_rolls_back_the_snapshot_on_the_page() {
    let data = tempfile::tempdir().unwrap();
    let server = QuickStartServer::quick(data.path());
    let cookie = first_operator(&server, data.path());
    let served = || {
        let answer = server.get("/healthz");
        answer.lines().find_map(|line| line.strip_prefix("x-corpus-snapshot: ")).unwrap().to_owned()
    };
    let first = served();
    let plan = data.path().join("sample/plan.toml");
    let copied = Command::new("cp").arg("-r").arg(crate::project().join("corpus/sample")).arg(data.path()).status();
    assert!(copied.unwrap().success());
    let text = std::fs::read_to_string(&plan).unwrap().replacen("State of Arden", "Commonwealth of Arden", 1);
    std::fs::write(&plan, text).unwrap();
    let built = hornbook().arg("--data").arg(data.path()).arg("build").arg(&plan).output().unwrap();
    assert!(built.status.success(), "{}", crate::stderr(&built));

    let page = ask(&server.address, "GET", "/operator", &cookie, &[]);
    assert!(page.text.contains("Report of its build") && page.text.contains("<dd>working</dd>"), "{}", page.text);
    let other = between(&page.text, "name=\"snapshot\" value=\"", "\"").unwrap().to_owned();
    let swap = |name: &str| {
        let form = [("token", &*token(&page)), ("snapshot", name)];
        ask(&server.address, "POST", "/operator/snapshot", &cookie, &form).status
    };
    assert_eq!(swap(&other), 303);
    let second = served();
    assert_ne!(second, first);
    assert_eq!(swap("../elsewhere"), 422);
    // A damaged snapshot is refused, and the previous one stays.
    let back = std::fs::read_dir(data.path().join("snapshots")).unwrap().map(|entry| entry.unwrap().file_name());
    let back = back.map(|name| name.into_string().unwrap()).find(|name| *name != other).unwrap();
    let texts = data.path().join("snapshots").join(&back).join("texts.bin");
    let whole = std::fs::read(&texts).unwrap();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let write = |bytes: &[u8]| {
        std::fs::remove_file(&texts).unwrap();
        std::fs::write(&texts, bytes).unwrap();
    };
    write(&damaged);
    assert_eq!((swap(&back), served()), (422, second.clone()));
    assert_eq!(std::fs::read_link(data.path().join("current")).unwrap(), Path::new("snapshots").join(&other));
    write(&whole);
    assert_eq!(swap(&back), 303);
    assert_eq!(served(), first);
    let acts = hornbook().arg("--data").arg(data.path()).args(["audit", "--json"]).output().unwrap();
    assert_eq!(crate::stdout(&acts).matches("\"reload\"").count(), 2);
}
