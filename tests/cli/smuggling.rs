//! Request smuggling behind nginx and haproxy: for any bytes of a client, the server answers as
//! many requests as the client gets answers, and leftover bytes never affect the answers of other
//! clients.
//!
//! `smuggling/cases.txt` has the bytes. Without the proxies the test prints that it is skipped and
//! passes, unless `HORNBOOK_TEST_PROXIES` is set, as by `make smuggling`.

use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::bytes::unescaped;
use crate::serving::QuickStartServer;

#[test]
fn no_request_is_smuggled_past_nginx() {
    check_cases_behind("nginx", |address, port, place| {
        let place = place.display();
        format!(
            "daemon off; master_process off; worker_processes 1; pid {place}/pid; error_log {place}/error.log;\n\
             events {{ worker_connections 512; }}\n\
             http {{\n access_log off;\n client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;\n \
             fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;\n \
             upstream hornbook {{ server {address}; keepalive 8; }}\n \
             server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://hornbook; proxy_http_version 1.1;\n \
             proxy_set_header Connection \"\"; proxy_set_header Host $host; proxy_request_buffering off; }} }}\n}}\n"
        )
    });
}

#[test]
fn no_request_is_smuggled_past_haproxy() {
    check_cases_behind("haproxy", |address, port, _| {
        format!(
            "global\n maxconn 512\ndefaults\n mode http\n timeout connect 5s\n timeout client 20s\n timeout server 20s\n \
             http-reuse always\nfrontend in\n bind 127.0.0.1:{port}\n default_backend out\n\
             backend out\n server hornbook {address}\n"
        )
    });
}

/// Sends every case through the proxy. After each, checks the requests that the server logged and
/// the answers to other clients.
fn check_cases_behind(proxy: &str, configuration: impl FnOnce(&str, u16, &Path) -> String) {
    let Some(program) = installed(proxy) else {
        let is_required = std::env::vars().any(|(name, _)| name == "HORNBOOK_TEST_PROXIES");
        assert!(!is_required, "{proxy} is not installed");
        return println!("skipped: {proxy} is not installed; 'make smuggling' installs it");
    };
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let settings = ["log.format=json", "server.base_url=http://law.example"];
    let mut server = QuickStartServer::with_log(data.path(), &settings, fs::File::create_new(&log).unwrap().into());
    let place = tempfile::tempdir().unwrap();
    let port = free_port();
    let file = place.path().join("conf");
    fs::write(&file, configuration(&server.address, port, place.path())).unwrap();
    let flags: &[&str] = if proxy == "nginx" { &["-c"] } else { &["-db", "-f"] };
    let output = fs::File::create_new(place.path().join("out")).unwrap();
    let child = Command::new(program).args(flags).arg(&file).stdout(Stdio::null()).stderr(output).spawn().unwrap();
    let front = ProxyProcess { child, port, log, place: place.path().to_owned() };
    let first = front.wait_until_ready();

    let mut seen = front.logged_up_to(&first).len();
    let mut answers = 0;
    let mut wrong = Vec::new();
    for (number, (line, bytes)) in cases().into_iter().enumerate() {
        let answered = ids(&front.send(&bytes, Duration::from_millis(700)));
        answers += answered.len();
        let probes = (0..3).map(|probe| front.probe(&format!("/probe-{number}-{probe}"))).collect::<Vec<_>>();
        let Some(last) = probes.last().cloned().flatten() else {
            wrong.push(format!("line {line}: another client got a wrong answer"));
            continue;
        };
        if probes.iter().any(Option::is_none) {
            wrong.push(format!("line {line}: another client got a wrong answer"));
        }
        let logged = front.logged_up_to(&last);
        let probed: HashSet<String> = probes.into_iter().flatten().collect();
        let served: Vec<String> = logged[seen..].iter().filter(|id| !probed.contains(*id)).cloned().collect();
        seen = logged.len();
        if served != answered {
            wrong.push(format!("line {line}: the service answered {served:?}, the client got {answered:?}"));
        }
    }
    drop(front);
    println!("{proxy}: {} cases, {answers} answers of the service", cases().len());
    assert!(answers > 30, "the cases did not reach the server");
    assert!(wrong.is_empty(), "{proxy}:\n{}", wrong.join("\n"));
    assert_eq!(server.stop(), Some(0));
}

/// A running proxy; killed when dropped.
struct ProxyProcess {
    child: Child,
    port: u16,
    /// The log of the server.
    log: PathBuf,
    place: PathBuf,
}

impl ProxyProcess {
    /// The id of the first request that passes the proxy.
    fn wait_until_ready(&self) -> String {
        let first = (0..500).find_map(|_| {
            std::thread::sleep(Duration::from_millis(20));
            self.probe("/ready")
        });
        first.unwrap_or_else(|| panic!("{}", fs::read_to_string(self.place.join("out")).unwrap_or_default()))
    }

    /// Sends the bytes and returns everything received until a pause of this length.
    fn send(&self, bytes: &[u8], pause: Duration) -> Vec<u8> {
        let mut received = Vec::new();
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return received };
        stream.set_read_timeout(Some(pause)).unwrap();
        let _ = stream.write_all(bytes);
        let _ = stream.read_to_end(&mut received);
        received
    }

    /// Requests a unique path. Returns the request id if the answer belongs to this request.
    fn probe(&self, path: &str) -> Option<String> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\n\r\n");
        let answer = self.send(request.as_bytes(), Duration::from_secs(20));
        let is_own = String::from_utf8_lossy(&answer).contains(&format!("there is no resource at {path};"));
        match (is_own, ids(&answer).as_slice()) {
            (true, [id]) => Some(id.clone()),
            _ => None,
        }
    }

    /// The ids of all requests in the server's log, in order.
    fn logged(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter_map(|line| line["request"].as_str().map(str::to_owned)).collect()
    }

    /// The same, once the log contains this request.
    fn logged_up_to(&self, id: &str) -> Vec<String> {
        for _ in 0..1000 {
            let logged = self.logged();
            if logged.iter().any(|logged| logged == id) {
                return logged;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("request {id} is not in the log");
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The request ids of the server's answers. Answers of the proxy have none.
fn ids(answers: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(answers);
    let values = text.lines().filter_map(|line| line.strip_prefix("x-request-id: "));
    values.map(|id| id.trim().to_owned()).collect()
}

fn cases() -> Vec<(usize, Vec<u8>)> {
    let text = include_str!("smuggling/cases.txt");
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(number, line)| (number + 1, unescaped(line, ""))).collect()
}

fn installed(program: &str) -> Option<PathBuf> {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
    folders.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.exists())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
