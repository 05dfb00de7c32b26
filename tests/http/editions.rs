//! The shelf: earlier editions beside the served one, what changed between them, and law as of an earlier day.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hornbook_editions::write_shelved;
use hornbook_index_build::build::Destination;
use serde_json::{Value, json};

use crate::mcp::{call, open as open_with_agents};
use crate::mcp_equals_rest::structured;
use crate::pages;
use crate::sample::build_plan;
use crate::swaps::copy_with;
use crate::test_server::{TestResponse, TestServer, generous_tariff};

/// The last day of the older edition, and of the newer one.
const OLD_DAY: &str = "2024-01-01";
const NEW_DAY: &str = "2026-01-01";

/// A section that only the older edition has under its old number.
const MOVED_TEXT: &str = "A clerk who receives a plat shall stamp it with the day and the hour, and keep it in a dry room of the court house.";

/// Two editions of the sample in a data directory, of which the newer one is current.
pub(crate) struct TwoEditions {
    pub(crate) data: tempfile::TempDir,
    pub(crate) old: String,
    pub(crate) new: String,
}

impl TwoEditions {
    pub(crate) fn build() -> Self {
        let data = tempfile::tempdir().unwrap();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample");
        let [new, old] = ["new", "old"].map(|which| {
            let sources = data.path().join(which);
            // The older edition has another word, which the newer one reworded everywhere.
            copy_with(&sample, &sources, if which == "old" { "lessorly" } else { "landlord" });
            let code = sources.join("arden/ars.jsonl");
            let number = if which == "old" { "1-2-190" } else { "1-2-195" };
            let section = json!({ "key": format!("t1/c2/s{number}"), "parent": "t1/c2", "level": "section", "number": number,
                                  "heading": "Stamping of plats", "text": MOVED_TEXT });
            fs::write(&code, format!("{}{section}\n", fs::read_to_string(&code).unwrap())).unwrap();
            if which == "old" {
                let plan = fs::read_to_string(sources.join("plan.toml")).unwrap();
                fs::write(sources.join("plan.toml"), plan.replace(NEW_DAY, OLD_DAY)).unwrap();
            }
            let built = build_plan(sources.join("plan.toml"), Destination::Inactive(data.path().to_owned()));
            built.path.file_name().unwrap().to_str().unwrap().to_owned()
        });
        std::os::unix::fs::symlink(Path::new("snapshots").join(&new), data.path().join("current")).unwrap();
        Self { data, old, new }
    }

    pub(crate) fn shelve(&self, ids: &[String]) {
        write_shelved(self.data.path(), ids).unwrap();
    }

    /// Serves one of the editions, without a shelf.
    pub(crate) fn serve_only(&self, server: &TestServer, id: &str) {
        let (fresh, current) = (self.data.path().join("fresh"), self.data.path().join("current"));
        std::os::unix::fs::symlink(Path::new("snapshots").join(id), &fresh).unwrap();
        fs::rename(fresh, current).unwrap();
        self.serve(server);
    }

    pub(crate) fn serve(&self, server: &TestServer) {
        server.service.reload_snapshot(self.data.path(), None).unwrap();
    }
}

/// The timeline on the page of a provision, and that a page in a browser's cache has none after the shelf changed.
#[test]
fn a_page_of_law_shows_what_became_of_the_provision() {
    let editions = TwoEditions::build();
    let server = pages::open();
    editions.serve(&server);
    let path_of = |number: &str| {
        let cited = format!("/cite/Arden%20Rev.%20Stat.%20%C2%A7%20{number}");
        pages::request(&server, &cited).header("location").to_owned()
    };
    let (reworded, moved, same) = (path_of("24-2-203"), path_of("1-2-195"), path_of("1-2-103"));
    let page = |path: &str, expected: &str| {
        let text = pages::request(&server, path).text();
        assert!(text.contains(expected), "{path} should have '{expected}': {text}");
    };
    let alone = pages::request(&server, &reworded);
    assert!(!alone.text().contains("id=\"changes\""), "nothing is known of other editions");
    let of_version = |version: &str| server.get_with(&reworded, &[pages::BROWSER, ("If-None-Match", version)]).status;
    assert_eq!(of_version(alone.header("etag")), 304);
    editions.shelve(std::slice::from_ref(&editions.old));
    editions.serve(&server);
    assert_eq!(of_version(alone.header("etag")), 200, "the shelf is another one");
    page(&reworded, &format!("{reworded}/history?from={OLD_DAY}&amp;to={NEW_DAY}#compare"));
    page(&reworded, "Oldest edition that is kept here: 2026, current through");
    page(&format!("{reworded}?asOf={OLD_DAY}"), "id=\"changes\"");
    page(&moved, "Renumbered from Arden Rev. Stat. <span class=\"whole\">§ 1-2-190.");
    page(&same, "Unchanged in the 2 editions");
}

/// A server with both editions.
fn served() -> (TwoEditions, TestServer, String) {
    let editions = TwoEditions::build();
    editions.shelve(std::slice::from_ref(&editions.old));
    let server = TestServer::start(generous_tariff());
    editions.serve(&server);
    let key = server.create_full_key();
    (editions, server, key)
}

pub(crate) fn node_of(server: &TestServer, key: &str, citation: &str, day: &str) -> String {
    let path = format!("/api/v1/resolve?citation={}{day}", citation.replace(' ', "+").replace('§', "%C2%A7"));
    let answer = server.get(&path, key).json();
    answer["answers"][0]["nodeId"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

fn kinds(reply: &Value) -> Vec<&str> {
    reply["changes"].as_array().unwrap().iter().map(|change| change["kind"].as_str().unwrap()).collect()
}

#[test]
fn a_day_is_answered_by_the_edition_that_is_current_on_it() {
    let (editions, server, key) = served();
    let deposit = node_of(&server, &key, "Arden Rev. Stat. § 24-2-203", "");
    let path = format!("/api/v1/node/{deposit}");
    let is_from = |answer: &TestResponse, edition: &str, word: &str| {
        assert_eq!((answer.status, answer.header("x-corpus-snapshot")), (200, edition), "{}", answer.text());
        assert!(answer.text().contains(word), "{}", answer.text());
    };
    is_from(&server.get(&path, &key), &editions.new, "landlord");
    for day in ["2023-05-05", OLD_DAY, "2025-12-31"] {
        let answer = server.get(&format!("{path}?asOf={day}"), &key);
        is_from(&answer, &editions.old, "lessorly");
        assert_eq!(answer.json()["provenance"]["snapshot"], editions.old.as_str());
        assert!(answer.json()["url"].as_str().unwrap().ends_with(&format!("?asOf={day}")));
    }
    for day in [NEW_DAY, "2030-01-01"] {
        is_from(&server.get(&format!("{path}?asOf={day}"), &key), &editions.new, "landlord");
    }
    // Searches, browsing and citations follow the day as well.
    let found = server.get("/api/v1/search?q=lessorly&asOf=2024-06-01&mode=keyword", &key);
    is_from(&found, &editions.old, "lessorly");
    assert!(found.json()["total"].as_u64().unwrap() > 0);
    // Tools choose the edition in the same way.
    let agents = open_with_agents();
    editions.serve(&agents);
    let key = agents.create_full_key();
    let tool = call(&agents, "law.get_node", json!({ "id": deposit, "asOf": "2024-06-01" }), Some(&key));
    assert!(tool.text().contains("lessorly"), "{}", tool.text());
}

#[test]
fn changes_are_listed_with_their_days_and_what_was_renumbered_is_followed() {
    let (editions, server, key) = served();
    let reply = server.get("/api/v1/changes?limit=100", &key).json();
    let moved = reply["changes"].as_array().unwrap().iter().find(|change| change["kind"] == "renumbered");
    let moved = moved.unwrap_or_else(|| panic!("{reply:#}"));
    assert_eq!(moved["citation"], "Arden Rev. Stat. § 1-2-195");
    assert_eq!(moved["formerly"]["citation"], "Arden Rev. Stat. § 1-2-190");
    assert_eq!(moved["date"], json!({ "is": "edition", "day": NEW_DAY, "after": OLD_DAY }));
    let reworded = kinds(&reply).iter().filter(|kind| **kind == "reworded").count();
    assert!(
        reworded > 5 && kinds(&reply).iter().all(|kind| ["reworded", "renumbered", "retitled"].contains(kind)),
        "{reply:#}"
    );
    assert_eq!(reply["total"], reply["changes"].as_array().unwrap().len());
    let total = |query: &str| server.get(&format!("/api/v1/changes?{query}"), &key).json()["total"].as_u64().unwrap();
    assert_eq!((total("kind=renumbered"), total("since=2026-01-01"), total("kind=repealed,added")), (1, 0, 0));
    assert!(total("jurisdiction=XA&since=2025-12-31") > 5);
    let title = node_of(&server, &key, "Arden Rev. Stat. tit. 1", "");
    assert_eq!(total(&format!("subtree={title}&kind=renumbered")), 1);
    assert_eq!(total("jurisdiction=XA-PORT-ARDEN&kind=renumbered"), 0);

    // The old number is only in the older edition, and its history leads to the new one.
    let gone = node_of(&server, &key, "Arden Rev. Stat. § 1-2-190", "&asOf=2024-06-01");
    let refused = server.get(&format!("/api/v1/node/{gone}"), &key).expect_error(404, "not_found");
    assert!(refused["message"].as_str().unwrap().contains("asOf=2024-01-01"), "{refused}");
    let cited = server.get("/api/v1/resolve?citation=Arden+Rev.+Stat.+%C2%A7+1-2-190", &key).json();
    let cited = &cited["answers"][0];
    assert_eq!((&cited["answer"], &cited["nodeId"]), (&json!("not_held"), &Value::Null), "{cited:#}");
    assert_eq!(cited["candidates"][0]["citation"], "Arden Rev. Stat. § 1-2-195");
    let message = "Arden Rev. Stat. § 1-2-190 has another number now: it is Arden Rev. Stat. § 1-2-195: renumbered, after 2024-01-01, by 2026-01-01";
    assert_eq!(cited["message"], message);
    let history = server.get(&format!("/api/v1/node/{gone}/history"), &key).json();
    assert_eq!(kinds(&history), ["renumbered"]);
    let now = history["changes"][0]["nodeId"].as_str().unwrap();
    assert_eq!(server.get(&format!("/api/v1/node/{now}/history"), &key).json()["changes"], history["changes"]);
    let snapshots: Vec<&Value> =
        history["editions"].as_array().unwrap().iter().map(|edition| &edition["snapshot"]).collect();
    assert_eq!(snapshots, [editions.new.as_str(), editions.old.as_str()], "the latest first");
    let agents = open_with_agents();
    editions.serve(&agents);
    let key = agents.create_full_key();
    let asked = json!({ "id": "Arden Rev. Stat. § 1-2-195", "view": "full" });
    let tool = structured(&call(&agents, "law.history", asked, Some(&key)));
    assert_eq!(tool["changes"], history["changes"], "{tool:#}");
}

#[test]
fn two_days_are_compared_word_by_word() {
    let (_editions, server, key) = served();
    let id = node_of(&server, &key, "Arden Rev. Stat. § 24-2-203", "");
    let diff = server.get(&format!("/api/v1/node/{id}/diff"), &key).json();
    assert_eq!((&diff["from"]["day"], &diff["isSame"]), (&json!(OLD_DAY), &json!(false)), "{diff:#}");
    let of = |kind: &str| -> String {
        let parts = diff["differences"].as_array().unwrap().iter().filter(|part| part["kind"] == kind);
        parts.map(|part| part["text"].as_str().unwrap()).collect()
    };
    assert!(of("removed").contains("lessorly") && of("added").contains("landlord") && !of("same").contains("landlord"));
    let same = server.get(&format!("/api/v1/node/{id}/diff?from=2024-02-01&to=2024-03-01"), &key).json();
    assert_eq!(same["isSame"], true);
    server
        .get(&format!("/api/v1/node/{id}/diff?from=2025-01-01&to=2024-03-01"), &key)
        .expect_error(422, "validation_error");
}

#[test]
fn what_will_change_is_listed_by_its_day() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let reply = server.get("/api/v1/changes?pending=true&limit=100", &key).json();
    let days: Vec<&str> =
        reply["changes"].as_array().unwrap().iter().map(|change| change["date"]["day"].as_str().unwrap()).collect();
    assert!(!days.is_empty() && days.is_sorted(), "{reply:#}");
    assert!(reply["changes"].as_array().unwrap().iter().all(|change| change["date"]["is"] == "effective"));
    server.get("/api/v1/changes?pending=true&since=2024-01-01", &key).expect_error(422, "validation_error");
    // Without other editions it says so.
    let none = server.get("/api/v1/changes", &key).json();
    assert!(none["total"] == 0 && none["notices"][0].as_str().unwrap().contains("one edition"), "{none}");
}

#[test]
fn pages_and_the_feed_show_changes() {
    let editions = TwoEditions::build();
    editions.shelve(std::slice::from_ref(&editions.old));
    let server = pages::open();
    editions.serve(&server);
    let open = |path: &str| server.get_with(path, &[]);
    let page = open("/changes?kind=renumbered").text();
    assert!(
        page.contains("Renumbered from Arden Rev. Stat.")
            && page.contains("§ 1-2-190.")
            && page.contains("What changed"),
        "{page}"
    );
    let history = open("/xa/ars/t24/c2/s24-2-203/history").text();
    assert!(history.contains("Reworded") && history.contains("<ins>") && history.contains("<del>"), "{history}");
    assert!(open("/xa/ars/t24/c2/s24-2-203").text().contains("/xa/ars/t24/c2/s24-2-203/history"));
    // The page of what is gone is the page of its last edition.
    let gone = open("/xa/ars/t1/c2/s1-2-190");
    assert_eq!((gone.status, gone.header("location")), (303, "/xa/ars/t1/c2/s1-2-190?asOf=2024-01-01"));
    let old = open(gone.header("location"));
    assert!(old.status == 200 && old.text().contains("Stamping of plats"), "{}", old.text());
    let found = open("/?q=lessorly&mode=keyword&jurisdiction=XA&asOf=2024-06-01");
    assert!(
        found.header("x-corpus-snapshot") == editions.old && found.text().contains("<mark>lessorly"),
        "{}",
        found.text()
    );
    let feed = open("/changes.atom?kind=renumbered");
    assert_eq!(feed.header("content-type"), "application/atom+xml; charset=utf-8");
    let text = feed.text();
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut entries = 0;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(element) if element.name().as_ref() == b"entry" => entries += 1,
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(entries, 1);
}

#[test]
fn shelving_under_load_fails_no_request_and_mixes_no_editions() {
    let editions = TwoEditions::build();
    let server = TestServer::start(generous_tariff());
    editions.serve(&server);
    let key = server.create_full_key();
    let id = node_of(&server, &key, "Arden Rev. Stat. § 24-2-203", "");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let (mut from_old, mut from_new) = (0, 0);
                    while !is_over.load(Ordering::Relaxed) {
                        let answer = server.get(&format!("/api/v1/node/{id}?asOf=2024-06-01"), &key);
                        let (text, edition) = (answer.text(), answer.header("x-corpus-snapshot").to_owned());
                        assert_eq!(answer.status, 200, "{text}");
                        let (has_old, has_new) = (text.contains("lessorly"), text.contains("landlord"));
                        assert_eq!((has_old, has_new), (edition == editions.old, edition == editions.new), "{text}");
                        from_old += usize::from(has_old);
                        from_new += usize::from(has_new);
                    }
                    (from_old, from_new)
                })
            })
            .collect();
        for round in 0..40 {
            editions.shelve(if round % 2 == 0 { std::slice::from_ref(&editions.old) } else { &[] });
            editions.serve(&server);
        }
        is_over.store(true, Ordering::Relaxed);
        let counts: Vec<(usize, usize)> = clients.into_iter().map(|client| client.join().unwrap()).collect();
        assert!(counts.iter().all(|&(old, new)| old > 0 && new > 0), "{counts:?}");
    });
}

#[test]
fn a_damaged_edition_is_not_shelved_and_the_service_goes_on() {
    let editions = TwoEditions::build();
    let server = TestServer::start(generous_tariff());
    editions.serve(&server);
    editions.shelve(&["0123".to_owned()]);
    let error = server.service.reload_snapshot(editions.data.path(), None).unwrap_err().to_string();
    assert!(error.contains("0123"), "{error}");
    let key = server.create_full_key();
    assert_eq!(server.get("/api/v1/coverage", &key).header("x-corpus-snapshot"), editions.new);
}
