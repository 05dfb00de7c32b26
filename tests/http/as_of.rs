//! The law on a day: today by the service's clock, or the day given in the call. Two provisions of
//! the sample have a wording that replaces another one: § 24-2-201 on 2026-07-01, § 40-3-305 on
//! 2027-01-01. Their edition is current through 2026-01-01.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hornbook::api::operations::OPERATIONS;
use hornbook_accounts::scope::Scope;
use hornbook_base::clock::{ManualClock, UnixDay};
use hornbook_index_build::build::Destination;
use serde_json::{Value, json};

use crate::pages::page_path;
use crate::sample::build_plan;
use crate::swaps::copy_with;
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff};
use crate::{mcp, pages};

const DEPOSITS: &str = "Arden Rev. Stat. § 24-2-201";
const CHANGE_DAY: &str = "2026-07-01";
const DAY_BEFORE_CHANGE: &str = "2026-06-30";
const OLD_WORDS: &str = "more than two months’ rent";
const NEW_WORDS: &str = "more than one month’s rent";

struct ServerWithClock {
    server: TestServer,
    clock: Arc<ManualClock>,
    key: String,
    id: String,
}

impl ServerWithClock {
    /// A server whose clock is one second before the change of the wording.
    fn just_before_change() -> Self {
        Self::with(|_| Vec::new())
    }

    fn with(mounts: fn(&Arc<hornbook::api::service::Service>) -> hornbook::http::Mounts) -> Self {
        let clock = Arc::new(ManualClock::at(UnixDay::from_civil(2026, 7, 1).start().plus_millis(-1000)));
        let of_house: Arc<ManualClock> = Arc::clone(&clock);
        let server = TestServer::start_with_options(
            TestServerOptions { clock: of_house, mounts, ..TestServerOptions::default_for(generous_tariff()) },
            |_| (),
        );
        let key = server.create_full_key();
        let resolved = server.get(&format!("/api/v1/resolve?citation={}", encoded(DEPOSITS)), &key).json();
        let id = resolved["answers"][0]["nodeId"].as_str().unwrap().to_owned();
        Self { server, clock, key, id }
    }

    fn get(&self, path: &str) -> TestResponse {
        self.server.get(path, &self.key)
    }

    /// Serves the sample without the days through which its sources are current. They were retrieved on 2026-01-15.
    fn serve_without_stated_days(&self) -> tempfile::TempDir {
        let data = tempfile::tempdir().unwrap();
        let sources = data.path().join("sources");
        copy_with(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sample"), &sources, "landlord");
        let plan = fs::read_to_string(sources.join("plan.toml")).unwrap();
        let plan = plan.replace("current_through = \"2026-01-01\"\n", "");
        fs::write(sources.join("plan.toml"), plan).unwrap();
        let built = build_plan(sources.join("plan.toml"), Destination::Inactive(data.path().to_owned()));
        let target = Path::new("snapshots").join(built.path.file_name().unwrap());
        std::os::unix::fs::symlink(target, data.path().join("current")).unwrap();
        self.server.service.reload_snapshot(data.path(), None).unwrap();
        data
    }

    /// Lets over a year pass after the retrieval of the sample and the last day of its editions.
    fn wait_a_year(&self) {
        const DAY_MILLIS: u64 = 86_400_000;
        self.clock.advance_millis(300 * DAY_MILLIS);
    }

    fn node(&self, day: &str) -> Value {
        self.get(&format!("/api/v1/node/{}?asOf={day}", self.id)).json()
    }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { (byte as char).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn a_future_wording_is_returned_from_its_first_day() {
    let served = ServerWithClock::just_before_change();
    let path = format!("/api/v1/node/{}", served.id);
    let eve = served.get(&path);
    assert!(text(&eve.json()["text"]).contains(OLD_WORDS));
    assert_eq!(
        (&eve.json()["effectiveTo"], &eve.json()["wordings"][0]["effectiveFrom"]),
        (&json!(CHANGE_DAY), &json!(CHANGE_DAY))
    );
    let held = eve.header("etag").to_owned();
    let bearer = format!("Bearer {}", served.key);
    let again = |tag: &str| served.server.get_with(&path, &[("Authorization", &bearer), ("If-None-Match", tag)]);
    assert_eq!(again(&held).status, 304);
    served.clock.advance_millis(1000);
    let turned = again(&held);
    assert_eq!(turned.status, 200, "the answer changed at midnight, and its version with it");
    let now = turned.json();
    assert!(text(&now["text"]).contains(NEW_WORDS));
    assert_eq!((&now["status"], &now["effectiveFrom"]), (&json!("in force"), &json!(CHANGE_DAY)));
    let other = &now["wordings"][0];
    assert!(text(&other["text"]).contains(OLD_WORDS));
    assert_eq!(other["effectiveTo"], CHANGE_DAY);
    // The hash is that of the text shown.
    assert_ne!(now["provenance"]["contentHash"], eve.json()["provenance"]["contentHash"]);
}

#[test]
fn every_answer_follows_as_of() {
    let served = ServerWithClock::just_before_change();
    let days = [("2020-01-01", "uncertain"), (DAY_BEFORE_CHANGE, "in force"), ("2031-01-01", "in force")];
    for (day, status) in days {
        let node = served.node(day);
        assert_eq!(node["status"], status, "{day}");
        let expected = if day > DAY_BEFORE_CHANGE { NEW_WORDS } else { OLD_WORDS };
        assert!(text(&node["text"]).contains(expected), "{day}");
        let q = encoded("security deposit two months rent");
        let found = served.get(&format!("/api/v1/search?q={q}&asOf={day}")).json();
        let hits = found["results"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["citation"] == DEPOSITS).unwrap();
        assert_eq!((&found["asOf"], &hit["status"]), (&json!(day), &json!(status)), "{day}");
        assert_eq!(hit["effectiveFrom"], node["effectiveFrom"], "{day}");
        assert_eq!(hit["currentThrough"], "2026-01-01", "{day}");
        let resolved = served.get(&format!("/api/v1/resolve?citation={}&asOf={day}", encoded(DEPOSITS))).json();
        let named = &resolved["answers"][0]["candidates"][0];
        assert_eq!((&named["status"], &named["effectiveTo"]), (&json!(status), &node["effectiveTo"]), "{day}");
        let suggested = served.get(&format!("/api/v1/suggest?q={}&asOf={day}", encoded(DEPOSITS))).json();
        assert_eq!(suggested["suggestions"][0]["status"], status, "{day}");
        let (body, parent) = (text(&node["codeBodyId"]), text(&node["parent"]["id"]));
        let children = served.get(&format!("/api/v1/browse?codeBodyId={body}&parent={parent}&asOf={day}")).json();
        let child = children["nodes"].as_array().unwrap().iter().find(|child| child["citation"] == DEPOSITS).unwrap();
        assert_eq!(child["status"], status, "{day}");
        let batch = served.get(&format!("/api/v1/nodes?ids={}&asOf={day}", served.id)).json();
        assert_eq!(batch["nodes"][0], node, "{day}");
        // A provision lists its neighbours with their status on that day.
        let next = served.get(&format!("/api/v1/node/{}?asOf={day}", text(&node["next"]["id"]))).json();
        assert_eq!((&next["previous"]["citation"], &next["previous"]["status"]), (&json!(DEPOSITS), &json!(status)));
    }
    let in_force = |day: &str| -> u64 {
        let coverage = served.get(&format!("/api/v1/coverage?asOf={day}")).json();
        assert_eq!(coverage["asOf"], day);
        let bodies =
            coverage["jurisdictions"].as_array().unwrap().iter().flat_map(|one| one["codeBodies"].as_array().unwrap());
        bodies.map(|body| body["inForceCount"].as_u64().unwrap()).sum()
    };
    // Uncertain law may be in force, so it counts. Section 24-3-115 was enacted in 2021.
    assert_eq!(in_force("2020-01-01") + 1, in_force("2021-10-01"));
    assert_eq!(in_force("2021-10-01"), in_force(DAY_BEFORE_CHANGE));
}

#[test]
fn invalid_dates_are_refused_by_every_operation() {
    let served = ServerWithClock::just_before_change();
    let with_day = OPERATIONS
        .iter()
        .filter(|row| row.body.is_none() && row.parameters.iter().any(|parameter| parameter.name == "asOf"));
    let routes: Vec<&str> = with_day.map(|row| row.route.unwrap().path).collect();
    assert_eq!(routes.len(), 10, "{routes:?}");
    for route in routes {
        let path = route.replace("{id}", &served.id).replace("{shortCode}", "AR");
        for bad in ["2026-02-30", "tomorrow", "2026-1-1"] {
            let error = served.get(&format!("{path}?asOf={bad}")).expect_error(422, "validation_error");
            let details = error["details"].as_array().unwrap();
            let named = details.iter().find(|violation| violation["parameter"] == "asOf").unwrap();
            assert!(text(&named["message"]).contains("such as 2026-01-31"), "{error}");
        }
    }
}

/// Every list says through which day its editions are current, and what they do not know about the day.
#[test]
fn every_list_says_how_current_it_is() {
    let served = ServerWithClock::just_before_change();
    let body = text(&served.node(CHANGE_DAY)["codeBodyId"]).to_owned();
    let found = served.get("/api/v1/search?q=tenant+landlord&limit=50").json();
    let ids = found["results"].as_array().unwrap().iter().map(|hit| text(&hit["nodeId"]).to_owned());
    let cites = |id: &String| served.get(&format!("/api/v1/node/{id}")).json()["references"]["out"]["total"] != 0;
    let citing = ids.into_iter().find(cites).expect("a provision of the sample that cites another");
    let lists = [
        format!("/api/v1/node/{citing}/references"),
        format!("/api/v1/browse?codeBodyId={body}"),
        format!("/api/v1/resolve?citation={}", encoded(DEPOSITS)),
        "/api/v1/suggest?q=secur".to_owned(),
        "/api/v1/search?q=security+deposit".to_owned(),
    ];
    for list in lists {
        let mark = if list.contains('?') { '&' } else { '?' };
        let on = |day: &str| served.get(&format!("{list}{mark}asOf={day}")).json();
        let lines = |reply: &Value| -> Vec<Value> {
            let found = ["nodes", "answers", "suggestions", "results"].iter().find_map(|name| reply[name].as_array());
            let found = found.unwrap().clone();
            let candidates = |line: Value| line["candidates"].as_array().cloned().unwrap_or_else(|| vec![line]);
            found.into_iter().flat_map(candidates).collect()
        };
        let known = on("2026-01-01");
        assert!(known.get("notices").is_none_or(|notices| notices == &json!([])), "{list}: {known:#}");
        assert!(!lines(&known).is_empty(), "{list}");
        for line in lines(&known) {
            assert_eq!(line["currentThrough"], "2026-01-01", "{list}: {line:#}");
        }
        let later = on("2028-01-01");
        let notice = text(&later["notices"][0]);
        assert!(notice.contains("current through 2026-01-01, more than a year before"), "{list}: {notice}");
        let mut notices = later["notices"].as_array().unwrap().clone();
        let count = notices.len();
        notices.dedup();
        assert_eq!(notices.len(), count, "{list}: each notice once");
    }
}

#[test]
fn each_wording_is_found_only_while_it_is_in_force() {
    let served = ServerWithClock::just_before_change();
    // Only the later wording of § 40-3-305 has these words.
    let found = |day: &str, query: &str| -> Option<Value> {
        let found = served.get(&format!("/api/v1/search?mode=keyword&q={}&asOf={day}", encoded(query))).json();
        let hits = found["results"].as_array().unwrap().clone();
        hits.into_iter().find(|hit| hit["citation"] == "Arden Rev. Stat. § 40-3-305")
    };
    let (before, after) = ("2026-12-31", "2027-01-01");
    let snippet = |day: &str| text(&found(day, "look at an electronic device").unwrap()["snippet"]).to_owned();
    assert!(snippet(after).contains("electronic device"), "{}", snippet(after));
    assert!(found(before, "\"electronic device\"").is_none());
    assert!(found(after, "\"electronic device\"").is_some());
    assert!(found(before, "\"mobile telephone to the ear\"").is_some());
    assert!(found(after, "\"mobile telephone to the ear\"").is_none());
}

#[test]
fn notices_state_the_limits_of_the_edition() {
    let served = ServerWithClock::just_before_change();
    let notice = |day: &str| served.node(day)["notice"].clone();
    assert_eq!(notice("2026-01-01"), Value::Null);
    assert_eq!(notice("2025-01-01"), Value::Null, "its first day is known and before");
    assert!(text(&notice("2020-01-01")).contains("older than its first one"));
    assert_eq!(notice("2027-01-01"), "This edition is current through 2026-01-01. It does not include later changes.");
    assert_eq!(served.node("2027-01-01")["isOutdated"], false);
    assert!(text(&notice("2027-01-02")).contains("more than a year before"));
    assert_eq!(served.node("2027-01-02")["isOutdated"], true);
    let notices = |query: &str| served.get(&format!("/api/v1/search?q=deposit{query}")).json()["notices"].clone();
    assert_eq!(notices(""), Value::Null, "today is within a year of the edition");
    let old = notices("&asOf=2030-01-01");
    assert!(text(&old[0]).starts_with("Arden Revised Statutes: This edition is current through 2026-01-01"), "{old}");
    assert!(text(&notices("&asOf=2025-12-01")[0]).contains("since when this wording has been law"));
}

#[test]
fn a_filter_by_status_and_the_rank_follow_the_day() {
    let served = ServerWithClock::just_before_change();
    let statuses = |day: &str, status: &str| -> Vec<String> {
        let found = served.get(&format!("/api/v1/search?q=security%20deposit&status={status}&asOf={day}")).json();
        let hits = found["results"].as_array().unwrap();
        let named = if status == "current" { "in force".to_owned() } else { status.replace("%20", " ") };
        assert!(hits.iter().all(|hit| hit["status"] == named), "{day}: {found}");
        hits.iter().map(|hit| text(&hit["citation"]).to_owned()).collect()
    };
    let sealing = "Arden Rev. Stat. § 24-3-115".to_owned();
    let found_new = |day: &str| {
        let found = served.get(&format!("/api/v1/search?q=sealing&status=not%20yet%20effective&asOf={day}")).json();
        found["results"].as_array().unwrap().iter().any(|hit| hit["citation"] == sealing)
    };
    assert!(found_new("2021-09-30") && !found_new("2021-10-01"), "law of one act is new on its first day");
    let amended_since = statuses("2020-01-01", "uncertain");
    assert_eq!(amended_since, [DEPOSITS]);
    assert!(statuses(DAY_BEFORE_CHANGE, "uncertain").is_empty());
    assert!(!statuses("2020-01-01", "current").contains(&DEPOSITS.to_owned()));
    assert!(statuses(DAY_BEFORE_CHANGE, "current").contains(&DEPOSITS.to_owned()));
}

#[test]
fn contents_say_how_current_they_are_and_neighbours_that_they_are_not_in_force() {
    let served = ServerWithClock::with(|service| pages::page_mounts(service, 10_000, 10_000, true));
    let node = served.node("2020-01-01");
    let body = text(&node["codeBodyId"]);
    let long_past = "January 1, 2026</time>, more than a year before the requested day";
    let contents = pages::request(&served.server, &format!("/browse/{body}?asOf=2028-01-01")).text();
    assert!(contents.contains("Current through") && contents.contains(long_past), "{contents}");
    let coverage = pages::request(&served.server, "/coverage?asOf=2020-01-01").text();
    assert!(coverage.contains("<input type=\"date\" name=\"asOf\" value=\"2020-01-01\">"), "{coverage}");
    // Before the first wording, the neighbour's page says so beside its link.
    let next = pages::request(&served.server, page_path(text(&node["next"]["url"]))).text();
    let neighbours = &next[next.find("aria-label=\"Before and after\"").unwrap()..];
    assert!(neighbours[..neighbours.find("</nav>").unwrap()].contains(text(&node["status"])), "{}", node["status"]);
}

#[test]
fn pages_and_their_links_keep_as_of() {
    let served = ServerWithClock::with(|service| pages::page_mounts(service, 10_000, 10_000, true));
    let address = page_path(text(&served.node("2026-07-02")["url"])).replace("?asOf=2026-07-02", "");
    assert_eq!(address, "/xa/ars/t24/c2/s24-2-201");
    let page = |query: &str| pages::request(&served.server, &format!("{address}{query}")).text();
    let today = page("");
    assert!(today.contains("more than two months") && !today.contains("The law as of"), "{today}");
    let later = page("?asOf=2026-07-02");
    assert!(later.contains("more than one month") && later.contains("The law as of"), "{later}");
    assert!(later.contains("In effect since <time datetime=\"2026-07-01\">July 1, 2026</time>."), "{later}");
    for link in later.split("href=\"/xa/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let leads_to_itself = address.ends_with(link);
        assert!(leads_to_itself || link.contains("asOf=2026-07-02"), "{link}");
    }
    // A citation redirects to the law of that day too, from either place.
    let cited = encoded(DEPOSITS);
    for path in [format!("/cite/{cited}?asOf=2026-07-02"), format!("/?q={cited}&asOf=2026-07-02")] {
        let led = pages::request(&served.server, &path);
        assert_eq!(led.header("location"), format!("{address}?asOf=2026-07-02"), "{path}");
    }
    let new_law = format!("/cite/{}?asOf=2021-09-30", encoded("Arden Rev. Stat. § 24-3-115"));
    let new_law = pages::request(&served.server, &new_law).header("location").to_owned();
    assert!(pages::request(&served.server, &new_law).text().contains("Not yet in force."), "{new_law}");
    let early = page("?asOf=2020-01-01");
    assert!(early.contains("This wording was not in effect on that day."), "{early}");
    let markdown = pages::request(&served.server, &format!("{address}.md?asOf=2020-01-01")).text();
    assert!(markdown.contains("**Status: uncertain, from 2023-10-01, until 2026-07-01**"), "{markdown}");
    let results = pages::request(&served.server, "/?q=security%20deposit&asOf=2030-01-01").text();
    assert!(results.contains("current through <time datetime=\"2026-01-01\">") && results.contains("asOf=2030-01-01"));
    assert!(results.contains("more than a year before the requested day"), "{results}");
}

#[test]
fn agents_read_status_days_and_notices() {
    let served = ServerWithClock::with(mcp::with_mcp);
    let reported = |tool: &str, arguments: Value| {
        let answer = mcp::call(&served.server, tool, arguments, Some(&served.key)).json();
        text(&answer["result"]["content"][0]["text"]).to_owned()
    };
    let node = reported("law.get_node", json!({ "id": served.id, "asOf": "2028-01-01" }));
    assert!(node.contains("Status: in force, from 2026-07-01") && node.contains("Note: This edition"), "{node}");
    assert!(node.contains("more than one month"), "{node}");
    let found = reported("law.search", json!({ "q": "security deposit", "asOf": "2020-01-01" }));
    assert!(found.contains("(uncertain, from 2023-10-01, until 2026-07-01, current through 2026-01-01"), "{found}");
    let resolved = reported("law.resolve", json!({ "citation": DEPOSITS, "asOf": CHANGE_DAY }));
    assert!(resolved.contains("(in force, from 2026-07-01, current through 2026-01-01, id "), "{resolved}");
    // A connector asks for today, or for the day in an address of this service.
    let sources: Value = serde_json::from_str(&reported("search", json!({ "query": DEPOSITS }))).unwrap();
    let found = &sources["results"][0];
    assert!(text(&found["title"]).ends_with(" (until 2026-07-01; current through 2026-01-01)"), "{found}");
    let document = |id: String| -> Value { serde_json::from_str(&reported("fetch", json!({ "id": id }))).unwrap() };
    let [today, later] = ["", "?asOf=2026-07-02"].map(|day| document(format!("{}{day}", text(&found["url"]))));
    assert_eq!((&today["title"], &today["metadata"]["effectiveTo"]), (&found["title"], &json!(CHANGE_DAY)));
    assert!(text(&today["text"]).contains(OLD_WORDS) && text(&later["text"]).contains(NEW_WORDS));
    let early = document(format!("{}?asOf=2020-01-01", text(&found["url"])));
    assert!(
        text(&early["title"]).ends_with(" (uncertain from 2023-10-01 until 2026-07-01; current through 2026-01-01)"),
        "{early}"
    );
    let refused = reported("fetch", json!({ "id": format!("{}?asOf=2026-02-30", text(&found["url"])) }));
    assert!(refused.contains("not a date such as 2026-01-31"), "{refused}");
    let coverage = reported("law.list_coverage", json!({}));
    assert!(coverage.contains("provisions in force, current through 2026-01-01"), "{coverage}");
}

/// A copy cannot be current beyond the day on which it was retrieved, but that day is no statement of its source.
#[test]
fn a_copy_whose_source_states_no_day_is_dated_by_its_retrieval() {
    let served = ServerWithClock::just_before_change();
    let _data = served.serve_without_stated_days();
    let path = format!("/api/v1/node/{}", served.id);
    let today = served.get(&path).json();
    assert_eq!(today["provenance"]["currentThrough"], Value::Null);
    let start = "The source does not state through which day it is current; this copy was retrieved on 2026-01-15";
    assert_eq!(today["notice"], format!("{start}. It does not include later changes."));
    assert_eq!(served.node("2026-01-15")["notice"], format!("{start}."));
    let lists = ["search?q=security+deposit", &format!("resolve?citation={}", encoded(DEPOSITS)), "suggest?q=secur"];
    for list in lists {
        let on = |day: &str| served.get(&format!("/api/v1/{list}{day}")).json();
        let now = on("");
        assert_eq!(now["notices"], Value::Null, "{list}");
        let lines = ["results", "answers", "suggestions"].iter().find_map(|name| now[name].as_array()).unwrap();
        let line = lines[0]["candidates"].get(0).unwrap_or(&lines[0]);
        let days = (line.get("currentThrough").unwrap_or(&Value::Null), &line["retrievedAt"]);
        assert_eq!(days, (&Value::Null, &json!("2026-01-15")), "{list}: {line:#}");
        let notice = |day: &str| text(&on(&format!("&asOf={day}"))["notices"][0]).to_owned();
        let later = notice("2026-07-02");
        assert_eq!(later, format!("Arden Revised Statutes: {start}. It does not include later changes."), "{list}");
        assert!(
            notice("2027-01-16").contains(&format!("{start}, more than a year before the requested day.")),
            "{list}"
        );
    }
    served.wait_a_year();
    let later = served.get(&path).json();
    assert_eq!(later["isOutdated"], true);
    for list in lists {
        let notices = served.get(&format!("/api/v1/{list}")).json()["notices"].clone();
        assert!(text(&notices[0]).contains("more than a year before the requested day"), "{list}: {notices}");
    }
    let bodies = served.get("/api/v1/code-bodies").json();
    let body = &bodies["codeBodies"][0];
    let days = [&body["currentThrough"], &body["retrievedAt"], &body["isOutdated"]];
    assert_eq!(days, [&Value::Null, &json!("2026-01-15"), &json!(true)], "{body:#}");
}

#[test]
fn pages_show_the_day_of_a_copy_whose_source_states_none() {
    let served = ServerWithClock::with(|service| pages::page_mounts(service, 10_000, 10_000, true));
    let page = |path: &str| pages::request(&served.server, path).text();
    assert!(!page("/coverage").contains("end more than a year before"), "the editions are recent");
    let law = page_path(text(&served.node(CHANGE_DAY)["url"])).split('?').next().unwrap().to_owned();
    let _data = served.serve_without_stated_days();
    let copy = "copy of <time datetime=\"2026-01-15\">January 15, 2026</time>";
    let results = page("/?q=security%20deposit");
    assert!(results.contains(&format!(" · {copy}")), "{results}");
    let shown = page(&law);
    assert!(shown.contains(&format!("<dt>Current through</dt><dd>not stated; {copy}</dd>")), "{shown}");
    assert!(shown.contains("this copy was retrieved on <time"), "{shown}");
    assert!(page("/coverage").contains(copy));
    served.wait_a_year();
    let coverage = page("/coverage");
    assert!(
        coverage.contains("from editions that end more than a year before <time datetime=\"2027-04-26\">"),
        "{coverage}"
    );
    assert!(coverage.contains("<span class=\"gone\">over a year old</span>"), "{coverage}");
}

#[test]
fn lists_and_texts_name_the_day_of_a_copy_whose_source_states_none() {
    let served = ServerWithClock::with(mcp::with_mcp);
    let _data = served.serve_without_stated_days();
    let node = served.node(CHANGE_DAY);
    let (body, parent) = (text(&node["codeBodyId"]), text(&node["parent"]["id"]));
    let copy = json!("2026-01-15");
    let children = served.get(&format!("/api/v1/browse?codeBodyId={body}&parent={parent}")).json();
    let linked = [&children["nodes"][0], &node["parent"], &node["next"]];
    for link in linked {
        assert_eq!((link.get("currentThrough"), &link["retrievedAt"]), (None, &copy), "{link:#}");
    }
    for format in ["md", "txt"] {
        let written = served.get(&format!("/api/v1/node/{}?format={format}", served.id)).text();
        assert!(written.contains("; copy of 2026-01-15; "), "{written}");
    }
    let reported = |tool: &str, arguments: Value| {
        let answer = mcp::call(&served.server, tool, arguments, Some(&served.key)).json();
        text(&answer["result"]["content"][0]["text"]).to_owned()
    };
    let read = reported("law.get_node", json!({ "id": served.id }));
    assert!(read.contains("copy of 2026-01-15\n"), "{read}");
    let browsed = reported("law.browse", json!({ "codeBodyId": body, "parent": parent }));
    assert!(
        browsed.lines().skip(1).all(|line| line.is_empty() || line.contains(", copy of 2026-01-15, id ")),
        "{browsed}"
    );
}

#[test]
fn agents_read_how_current_each_provision_is() {
    let served = ServerWithClock::with(mcp::with_mcp);
    let reported = |tool: &str, arguments: Value| {
        let answer = mcp::call(&served.server, tool, arguments, Some(&served.key)).json();
        text(&answer["result"]["content"][0]["text"]).to_owned()
    };
    let quote = json!({ "quote": OLD_WORDS, "citation": DEPOSITS, "asOf": "2020-01-01" });
    let verified = reported("law.verify_quote", quote);
    assert!(verified.contains("(uncertain, current through 2026-01-01, id "), "{verified}");
    let checked = reported("law.check", json!({ "text": format!("See {DEPOSITS}."), "asOf": "2020-01-01" }));
    assert!(checked.contains("(uncertain, current through 2026-01-01, id "), "{checked}");
    let bodies = || reported("law.code_bodies", json!({}));
    assert!(bodies().contains(" provisions, current through 2026-01-01, id "), "{}", bodies());
    served.wait_a_year();
    let old = "current through 2026-01-01 (over a year old)";
    assert!(bodies().contains(old), "{}", bodies());
    let coverage = reported("law.list_coverage", json!({}));
    assert!(coverage.contains(old) && coverage.contains("may have changed since then"), "{coverage}");
    let sources: Value = serde_json::from_str(&reported("search", json!({ "query": DEPOSITS }))).unwrap();
    let found = &sources["results"][0];
    assert!(text(&found["title"]).ends_with(&format!(" ({old})")), "{found}");
    let document: Value = serde_json::from_str(&reported("fetch", json!({ "id": found["id"] }))).unwrap();
    assert_eq!(document["title"], found["title"]);
    assert!(text(&document["metadata"]["notice"]).contains("more than a year before"), "{document}");
    let _data = served.serve_without_stated_days();
    let copy = "copy of 2026-01-15";
    let found = reported("law.search", json!({ "q": "security deposit" }));
    assert!(found.contains(&format!("(in force, from 2026-07-01, {copy}, id ")), "{found}");
    let resolved = reported("law.resolve", json!({ "citation": DEPOSITS }));
    assert!(resolved.contains(&format!("(in force, from 2026-07-01, {copy}, id ")), "{resolved}");
    let sources: Value = serde_json::from_str(&reported("search", json!({ "query": DEPOSITS }))).unwrap();
    assert!(text(&sources["results"][0]["title"]).ends_with(&format!(" ({copy} (over a year old))")), "{sources}");
}

#[test]
fn zones_at_a_point_say_whether_the_cited_law_is_in_force() {
    let served = ServerWithClock::just_before_change();
    let account = served.server.create_account(0);
    let gis_alone = served.server.create_key(account, &[Scope::Gis]);
    let path = "/api/v1/gis/xa-port-arden/at?lat=44.054&lon=-124.217";
    let zone = |path: &str| served.server.get(path, &gis_alone).json()["zones"][0].clone();
    let today = zone(path);
    let days = [&today["status"], &today["currentThrough"], &today["isOutdated"]];
    assert_eq!(days, [&json!("in force"), &json!("2026-01-01"), &json!(false)], "{today:#}");
    assert_eq!(zone(&format!("{path}&asOf=2027-01-02"))["isOutdated"], true);
    let etag = |day: &str| served.server.get(&format!("{path}&asOf={day}"), &gis_alone).header("etag").to_owned();
    assert_ne!(etag("2026-01-01"), etag("2027-01-02"), "the answer follows the day");
}
