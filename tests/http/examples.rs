//! The examples on the pages: each is chosen from the served snapshot and finds what it promises.

use std::fs;
use std::path::Path;

use hornbook::api::examples::Examples;
use hornbook::api::subject::{DOCS_PATH, Subject};
use serde_json::{Value, json};

use crate::browser::{Browser, between, start_with_account_pages};
use crate::pages::{build_into, data_of, open, request, start_with_closed_search};
use crate::sample::ENGINE;
use crate::test_server::TestServer;

/// An example on the start page: its address and its text.
pub(crate) fn samples(server: &TestServer) -> Vec<(String, String)> {
    let page = request(server, "/").text();
    let Some(list) = between(&page, "<h2>For example</h2><ul>", "</ul>") else { return Vec::new() };
    let links = list.split("<a href=\"").skip(1).map(|rest| rest.split_once("\">").unwrap());
    links.map(|(path, rest)| (path.to_owned(), plain_text(rest.split("</a>").next().unwrap()))).collect()
}

/// The text of a part of a page.
pub(crate) fn plain_text(html: &str) -> String {
    html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
}

/// The address of the example call that a page shows, with the query of the call.
fn calls(page: &str) -> impl Iterator<Item = String> {
    page.split("curl ").skip(1).map(|rest| {
        let call = rest.split("</code>").next().unwrap();
        between(call, "'https://law.example", "'").unwrap_or_else(|| panic!("{call}")).replace("&amp;", "&")
    })
}

fn query_value<'a>(address: &'a str, name: &str) -> &'a str {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("{address} has no {name}"))
}

fn lower(value: &Value) -> String {
    value.as_str().unwrap().trim_end_matches('.').to_lowercase()
}

/// Calls an example, and checks that it finds first what it promises.
fn check_call(server: &TestServer, address: &str, key: &str) {
    let answered = server.get(address, key);
    assert_eq!(answered.status, 200, "{address}: {}", answered.text());
    let (answer, path) = (answered.json(), address.split('?').next().unwrap());
    let given = |name: &str| query_value(address, name).replace("%20", " ").replace("%2C", ",");
    match path {
        "/api/v1/search" => assert_eq!(lower(&answer["results"][0]["heading"]), given("q"), "{address}"),
        "/api/v1/suggest" => assert!(lower(&answer["suggestions"][0]["text"]).starts_with(&given("q")), "{address}"),
        "/api/v1/resolve" => assert_eq!(answer["answers"][0]["answer"], "resolved", "{address}"),
        "/api/v1/browse" => assert_ne!(answer["nodes"].as_array().unwrap().len(), 0, "{address}"),
        _ => {}
    }
}

/// Follows every example of the start page, of the documentation and of the page of a new key.
fn check_examples(server: &TestServer) {
    let (mut searches, mut citations, mut contents) = (0, 0, 0);
    for (path, text) in samples(server) {
        if let Some(code) = path.strip_prefix("/browse#") {
            let page = request(server, "/browse").text();
            let listed = between(&page, &format!("<section id=\"{code}\">"), "</section>");
            let listed = listed.unwrap_or_else(|| panic!("no contents of {code}"));
            assert!(listed.contains("<a href=\"/browse/") && text.starts_with("Contents: "), "{text}: {listed}");
            contents += 1;
            continue;
        }
        let found = request(server, &path);
        if found.status == 303 {
            let page = request(server, found.header("location")).text();
            assert_eq!(plain_text(between(&page, "<p class=\"citation\">", "</p>").unwrap()), text);
            citations += 1;
        } else {
            let page = found.text();
            let first = between(&page, "<article class=\"hit\">", "</h2>").unwrap_or_else(|| panic!("{text}: {page}"));
            let heading = plain_text(between(first, "<span class=\"heading\">", "</a>").unwrap());
            assert_eq!(heading.trim_end_matches('.').to_lowercase(), text);
            searches += 1;
        }
    }
    assert!(searches > 0 && citations == 1 && contents == 1, "{:?}", samples(server));
    let key = server.create_full_key();
    let docs = docs(server);
    let promised = ["/search?", "/suggest?", "/resolve?", "/browse?"].map(|operation| format!("/api/v1{operation}"));
    let of_law: Vec<String> =
        calls(&docs).filter(|call| promised.iter().any(|operation| call.starts_with(operation))).collect();
    assert_eq!(of_law.len(), promised.len() + 1, "one for each operation, and the first call: {of_law:?}");
    of_law.iter().for_each(|call| check_call(server, call, &key));
}

/// The pages of the documentation.
fn docs(server: &TestServer) -> String {
    let subjects = Subject::ALL.map(Subject::path);
    [DOCS_PATH.to_owned()].iter().chain(&subjects).map(|path| request(server, path).text()).collect()
}

/// The example call on the page of a new key with this scope.
fn call_of_a_new_key(browser: &mut Browser<'_>, scope: &str) -> (String, String) {
    browser.get("/settings");
    let page = browser.post("/settings/keys", &[("name", scope), ("scopes", scope)]).text();
    let key = between(&page, "<code id=\"new-key\">", "<").unwrap_or_else(|| panic!("{page}")).to_owned();
    (calls(&page).next().unwrap_or_else(|| panic!("{page}")), key)
}

fn small_law() -> tempfile::TempDir {
    let section = |number: u32, heading: &str, text: &str| {
        json!({ "key": format!("s{number}"), "level": "section", "number": number.to_string(), "heading": heading,
            "citation": format!("Code § {number}"), "text": text })
    };
    let mut repealed = section(4, "Ferries of lamps at night", "They burn until the morning.");
    repealed["status"] = "repealed".into();
    data_of(&[
        section(1, "\"Ferry\" -defined", "A ferry is a vessel."),
        section(2, "Purpose", "Ferries must not run without lamps. Lamps of ferries burn at night."),
        section(3, "Lamps of ferries at night", "They burn until the morning."),
        // A search for its words finds the section before it first, which is in force.
        repealed,
        section(5, "Duty to keep a log", "The master of a ferry keeps a log. The duty ends in port."),
        section(6, "Fares", "A fare is paid before the ferry leaves."),
    ])
}

#[test]
fn every_example_finds_what_it_promises() {
    let server = open();
    assert_eq!(samples(&server).len(), 6, "the sample snapshot has law for each: {:?}", samples(&server));
    check_examples(&server);
    let of_sample = samples(&server);
    let data = small_law();
    server.service.reload_snapshot(data.path(), None).unwrap();
    check_examples(&server);
    assert!(samples(&server).iter().all(|sample| !of_sample.contains(sample)), "{:?}", samples(&server));
    assert_eq!(format!("{:?}", Examples::of(&ENGINE)), format!("{:?}", Examples::of(&ENGINE)));
}

#[test]
fn a_new_key_has_an_example_that_it_may_call() {
    let server = start_with_account_pages();
    let data = small_law();
    server.service.reload_snapshot(data.path(), None).unwrap();
    let mut browser = Browser::approved(&server, "jane");
    for (scope, path) in [
        ("search", "/api/v1/search?"),
        ("node", "/api/v1/node/"),
        ("browse", "/api/v1/code-bodies"),
        ("gis", "/api/v1/coverage"),
        ("formation", "/api/v1/me"),
    ] {
        let (call, key) = call_of_a_new_key(&mut browser, scope);
        assert!(call.starts_with(path), "{scope}: {call}");
        check_call(&server, &call, &key);
    }
}

#[test]
fn a_snapshot_without_law_shows_no_examples_of_law() {
    let data = tempfile::tempdir().unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample/millbrook");
    let sources = data.path().join("sources");
    fs::create_dir(&sources).unwrap();
    for file in ["zoning.geojson", "zones.csv"] {
        fs::copy(sample.join(file), sources.join(file)).unwrap();
    }
    let plan = "name = \"Zones\"\n[[source]]\nformat = \"geojson-zoning\"\npath = \"zoning.geojson\"\n\
                jurisdiction = \"VT\"\npublisher = \"P\"\nurl = \"https://p.example/\"\nedition = \"1\"\n\
                retrieved = \"2026-01-01\"\nlicense = \"none\"\n\
                [source.zoning]\nstatus = \"published\"\n\
                zone_property = \"ZONE\"\nname_property = \"ZONE_NAME\"\nzones = \"zones.csv\"\n";
    fs::write(sources.join("plan.toml"), plan).unwrap();
    build_into(&sources, data.path());
    for server in [open(), start_with_closed_search()] {
        server.service.reload_snapshot(data.path(), None).unwrap();
        assert_eq!(samples(&server), []);
        let called: Vec<String> = calls(&docs(&server)).collect();
        let is_of_law = |call: &String| ["/search", "/node", "/resolve", "/suggest"].iter().any(|of| call.contains(of));
        assert!(!called.is_empty() && !called.iter().any(is_of_law), "{called:?}");
    }
}
