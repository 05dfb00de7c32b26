//! Checking documents and quotations: over REST, as tools, and on the page for people.

use serde_json::{Value, json};

use crate::mcp::{call, open as open_with_agents};
use crate::mcp_equals_rest::structured;
use crate::pages::{open, start_with_closed_search};
use crate::test_server::{TestResponse, TestServer};

const PATH: &str = "/api/v1/check";

/// Three citations, of which one is wrong, and a quotation that leaves out a word.
const BRIEF: &str = "# Deposits\n\nUnder Arden Rev. Stat. § 24-2-203(c), “a tenant may withhold consent.” *Id.*\n\n\
                     See also Arden Rev. Stat. § 24-2-999.\n";

fn post(server: &TestServer, path: &str, media_type: &str, body: &str, headers: &str) -> TestResponse {
    server.send_raw(&format!(
        "POST {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\nContent-Type: {media_type}\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    ))
}

fn check(server: &TestServer, path: &str, media_type: &str, body: &str, key: &str) -> TestResponse {
    post(server, path, media_type, body, &format!("Authorization: Bearer {key}\r\n"))
}

fn verdicts(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["verdict"].as_str().unwrap()).collect()
}

#[test]
fn a_document_is_checked_as_json_and_as_it_is() {
    let server = TestServer::start(crate::test_server::generous_tariff());
    let key = server.create_full_key();
    let as_it_is = check(&server, PATH, "text/markdown; charset=utf-8", BRIEF, &key);
    assert_eq!(as_it_is.status, 200, "{}", as_it_is.text());
    let report = as_it_is.json();
    assert_eq!(verdicts(&report), ["resolved", "altered", "resolved", "no_such_section"], "{report:#}");
    assert_eq!(report["summary"]["wrong"], 2);
    let [cited, quoted, short, _] = &report["findings"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!(cited["place"], json!({ "line": 3, "column": 7, "paragraph": 2 }));
    assert_eq!(cited["provisions"][0]["url"], "https://law.example/xa/ars/t24/c2/s24-2-203", "{cited:#}");
    assert_eq!(quoted["attributedTo"], "Arden Rev. Stat. § 24-2-203(c)");
    let only_law = quoted["differences"].as_array().unwrap().iter().find(|part| part["kind"] == "only_law").unwrap();
    assert_eq!(only_law["text"], "not unreasonably");
    assert_eq!((&short["text"], &short["citation"]), (&json!("Id."), &json!("Arden Rev. Stat. § 24-2-203(c)")));

    let json = json!({ "text": BRIEF, "format": "markdown" }).to_string();
    assert_eq!(check(&server, PATH, "application/json", &json, &key).json(), report);
    // The same words as plain text and as HTML have other places.
    let plain = check(&server, PATH, "text/plain", BRIEF, &key).json();
    assert_eq!(verdicts(&plain), verdicts(&report));
    let html = format!("<p>{}</p>", BRIEF.replace("\n\n", "<p>").replace('*', ""));
    assert_eq!(verdicts(&check(&server, PATH, "text/html", &html, &key).json()), verdicts(&report));
}

#[test]
fn ten_findings_cost_a_credit_and_the_price_is_told_before() {
    let server = TestServer::start(crate::test_server::generous_tariff());
    let key = server.create_full_key();
    let with = |findings: usize| "3 S.F.C. § 823. ".repeat(findings);
    for (findings, cost) in [(0, 1), (1, 1), (10, 1), (11, 2), (95, 10)] {
        let body = if findings == 0 { "No law.".to_owned() } else { with(findings) };
        let price = check(&server, &format!("{PATH}?dryRun=true"), "text/plain", &body, &key);
        assert_eq!((price.status, price.header_number("x-credits-cost")), (204, cost), "{findings}");
        let done = check(&server, PATH, "text/plain", &body, &key);
        assert_eq!((done.status, done.header_number("x-credits-cost")), (200, cost), "{findings}");
        assert_eq!(done.json()["summary"]["citations"], findings);
    }
    let refused = check(&server, &format!("{PATH}?maxCost=1"), "text/plain", &with(11), &key);
    refused.expect_error(402, "max_cost_exceeded");
    // A retry with the same key is the same call, also where nothing is left; who has nothing else is refused at once.
    let mut tariff = crate::test_server::generous_tariff();
    tariff.free.monthly_units = 0;
    let unpaid = TestServer::start(tariff);
    let spent = unpaid.create_key(unpaid.create_account(1), &hornbook_accounts::scope::Scope::ALL);
    let once = |text: &str| {
        let headers = format!("Authorization: Bearer {spent}\r\nIdempotency-Key: one\r\n");
        post(&unpaid, PATH, "text/plain", text, &headers)
    };
    assert_eq!((once(&with(10)).status, once(&with(10)).status), (200, 200));
    check(&unpaid, &format!("{PATH}?dryRun=true"), "text/plain", &with(1), &spent)
        .expect_error(402, "insufficient_credits");
    check(&unpaid, PATH, "text/plain", &with(1), &spent).expect_error(402, "insufficient_credits");
    let poor = server.create_key(server.create_account(1), &hornbook_accounts::scope::Scope::ALL);
    assert_eq!(check(&server, PATH, "text/plain", &with(10), &poor).status, 200);
}

#[test]
fn documents_may_be_longer_than_other_bodies_and_are_refused_beyond_their_limit() {
    let server = TestServer::start(crate::test_server::generous_tariff());
    let key = server.create_full_key();
    let megabyte = "word ".repeat((1 << 20) / 5);
    assert_eq!(check(&server, PATH, "text/plain", &megabyte, &key).status, 200);
    let longer = "word ".repeat((1 << 20) / 5 + 10);
    let error = check(&server, PATH, "text/plain", &longer, &key).expect_error(422, "validation_error");
    assert!(error["message"].as_str().unwrap().contains("more than 1048576 bytes"), "{error:#}");
    let twice = "word ".repeat(2 * (1 << 20) / 5);
    check(&server, PATH, "text/plain", &twice, &key).expect_error(413, "request_too_large");
    check(&server, "/api/v1/keys", "application/json", &megabyte, &key).expect_error(413, "request_too_large");
    let many = "3 S.F.C. § 823. ".repeat(10_001);
    let error = check(&server, PATH, "text/plain", &many, &key).expect_error(422, "validation_error");
    assert!(error["message"].as_str().unwrap().contains("more than 10000 citations"), "{error:#}");
}

#[test]
fn what_is_no_document_is_refused_with_the_way_out() {
    let server = TestServer::start(crate::test_server::generous_tariff());
    let key = server.create_full_key();
    let docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    for (media_type, body, status, reported) in [
        ("application/json", "{}", 422, "send either text, or document"),
        ("application/json", r#"{"text": "a", "document": "YQ=="}"#, 422, "send either text, or document"),
        ("application/json", r#"{"text": "a", "format": "docx"}"#, 422, "send it as document, in base64"),
        ("application/json", r#"{"document": "a b"}"#, 422, "not base64"),
        ("application/json", r#"{"text": "a", "format": "pdf"}"#, 422, "send it as document, in base64"),
        ("application/json", r#"{"text": "a", "format": "rtf"}"#, 422, "unknown variant"),
        ("application/json", r#"{"words": "a"}"#, 422, "unknown field"),
        ("application/rtf", "{\\rtf1}", 400, "not valid JSON"),
        ("application/pdf", "%PDF", 422, "print it to a new PDF file"),
        (docx, "PK", 422, "save it again with a word processor"),
    ] {
        let error = check(&server, PATH, media_type, body, &key);
        assert_eq!(error.status, status, "{body}: {}", error.text());
        assert!(error.text().contains(reported), "{body}: {}", error.text());
    }
    post(&server, PATH, "text/plain", "a", "").expect_error(401, "invalid_api_key");
}

#[test]
fn a_day_decides_what_is_in_force_and_reworded() {
    let server = TestServer::start(crate::test_server::generous_tariff());
    let key = server.create_full_key();
    let text = "Arden Rev. Stat. § 24-2-201 and Arden Rev. Stat. § 24-3-110.";
    let ask = |query: &str| {
        let report = check(&server, &format!("{PATH}?{query}"), "text/plain", text, &key).json();
        verdicts(&report).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ask("asOf=2026-08-01"), ["resolved", "repealed"]);
    assert_eq!(ask("asOf=2026-08-01&since=2026-06-01"), ["reworded", "repealed"]);
    assert_eq!(ask("asOf=2026-06-01&since=2026-06-01"), ["resolved", "repealed"]);
    check(&server, &format!("{PATH}?since=soon"), "text/plain", text, &key).expect_error(422, "validation_error");
}

#[test]
fn one_quotation_is_verified_with_and_without_its_citation() {
    let server = TestServer::start(crate::test_server::generous_tariff());
    let key = server.create_full_key();
    let ask = |quote: &str, citation: Option<&str>| {
        let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let citation = citation.map(|citation| format!("&citation={}", encode(citation))).unwrap_or_default();
        let answer = server.get(&format!("/api/v1/verify?quote={}{citation}", encode(quote)), &key);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header_number("x-credits-cost"), 1);
        answer.json()
    };
    let words = "A tenant may not unreasonably withhold consent";
    let cited = ask(words, Some("Arden Rev Stat 24-2-203"));
    assert_eq!((&cited["verdict"], &cited["citation"]), (&json!("verbatim"), &json!("Arden Rev. Stat. § 24-2-203")));
    let sought = ask(&format!("“{words}.”"), None);
    assert_eq!((&sought["verdict"], &sought["citation"]), (&json!("verbatim"), &Value::Null));
    assert_eq!(sought["foundIn"][0]["citation"], "Arden Rev. Stat. § 24-2-203");
    let elsewhere = ask(words, Some("Arden Rev. Stat. § 24-2-201"));
    assert_eq!(elsewhere["verdict"], "elsewhere");
    assert_eq!(ask("A tenant may withhold consent for any reason", None)["verdict"], "not_found");
    assert_eq!(
        ask("A tenant [shall] not . . . withhold consent", Some("Arden Rev. Stat. § 24-2-203"))["verdict"],
        "marked"
    );
    assert_eq!(ask(words, Some("42 U.S.C. § 1983"))["verdict"], "unchecked");
}

#[test]
fn agents_check_text_and_pass_the_day_beside_it() {
    let server = open_with_agents();
    let key = server.create_full_key();
    let text = "Arden Rev. Stat. § 24-2-201 and Arden Rev. Stat. § 24-3-110.";
    let arguments = json!({ "text": text, "asOf": "2026-08-01", "since": "2026-06-01", "view": "full" });
    let answer = call(&server, "law.check", arguments, Some(&key));
    assert_eq!(verdicts(&structured(&answer)), ["reworded", "repealed"], "{}", answer.text());
    let brief = call(&server, "law.check", json!({ "text": BRIEF }), Some(&key)).json();
    let shown = brief["result"]["content"][0]["text"].as_str().unwrap();
    assert!(shown.contains("3 citations, 1 quotations: 2 wrong") && shown.contains("{+not unreasonably+}"), "{shown}");
    let wrong = call(&server, "law.check", json!({ "text": "a", "asOf": "soon" }), Some(&key));
    assert_eq!(structured(&wrong)["error"], "validation_error");
}

/// A form as browsers send it.
fn form(fields: &[(&str, Option<&str>, &str)]) -> String {
    let mut body = String::new();
    for (name, file, content) in fields {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        body += &format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n");
    }
    body + "--edge--\r\n"
}

const FORM: &str = "multipart/form-data; boundary=edge";
const OWN: &str = "Origin: https://law.example\r\nSec-Fetch-Site: same-origin\r\n";

#[test]
fn people_check_pasted_text_and_files_on_a_page() {
    let server = open();
    let start = server.get_with("/check", &[]);
    assert_eq!(start.status, 200);
    assert!(start.text().contains("enctype=\"multipart/form-data\""), "{}", start.text());
    let pasted = post(
        &server,
        "/check",
        FORM,
        &form(&[("text", None, BRIEF), ("file", Some(""), ""), ("since", None, "")]),
        OWN,
    );
    assert_eq!(pasted.status, 200, "{}", pasted.text());
    let page = pasted.text();
    assert!(page.contains("<ins title=\"only in the law\">not unreasonably</ins>"), "{page}");
    assert!(page.contains("href=\"/xa/ars/t24/c2/s24-2-203\""), "{page}");
    assert!(page.contains("id=\"place-4\"") && page.contains("href=\"#finding-4\""), "{page}");
    let chosen = post(&server, "/check", FORM, &form(&[("text", None, ""), ("file", Some("motion.md"), BRIEF)]), OWN);
    assert!(chosen.text().contains("Check of motion.md"), "{}", chosen.text());
    assert_eq!(pasted.header("cache-control"), "no-store", "a document of a person");
}

#[test]
fn the_page_says_what_is_wrong_with_a_form_and_keeps_the_text() {
    let server = open();
    let empty = post(&server, "/check", FORM, &form(&[("text", None, "  ")]), OWN);
    assert_eq!(empty.status, 422);
    assert!(empty.text().contains("There is no document"), "{}", empty.text());
    let unknown = post(&server, "/check", FORM, &form(&[("text", None, "kept"), ("file", Some("a.odt"), "x")]), OWN);
    assert!(unknown.text().contains("does not say what the file is") && unknown.text().contains(">kept</textarea>"));
    let since = post(&server, "/check", FORM, &form(&[("text", None, "kept"), ("since", None, "soon")]), OWN);
    assert_eq!(since.status, 422);
    assert_eq!(post(&server, "/check", "text/plain", "a", OWN).status, 422);
    let foreign = "Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\n";
    assert_eq!(post(&server, "/check", FORM, &form(&[("text", None, "a")]), foreign).status, 403);
    let hostile =
        post(&server, "/check", FORM, &form(&[("text", None, "<script>alert(1)</script> 3 S.F.C. § 9999")]), OWN);
    assert!(!hostile.text().contains("<script>alert"), "{}", hostile.text());
}

#[test]
fn where_visitors_may_not_search_they_may_not_check() {
    let server = start_with_closed_search();
    assert_eq!(server.get_with("/check", &[]).status, 200);
    assert_eq!(post(&server, "/check", FORM, &form(&[("text", None, "3 S.F.C. § 823")]), OWN).status, 401);
}
