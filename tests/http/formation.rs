//! A company formation from the program's intake to the completed company, over real sockets.

use std::sync::{Arc, Barrier};

use hornbook::api::order_payments::OperatorPayments;
use hornbook::api::service::Service;
use hornbook::http::Mounts;
use hornbook::web::formation::review::ReviewPage;
use hornbook_accounts::changes::UNPAID_ORDERS_MAX;
use hornbook_accounts::ids::OrderId;
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::scope::Scope;
use hornbook_accounts::tier::Tariff;
use hornbook_base::clock::{Clock, ManualClock, SystemClock};
use serde_json::{Value, json};

use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff};

const HANDOFF: &str = "/api/v1/formation/handoff";

/// Words that occur nowhere else.
const PERSON: &str = "Quillibrant Ondarza";
const STREET: &str = "77 Vexley Terrace";
const EMAIL: &str = "q.ondarza@mail.example";

pub(crate) fn mounts(service: &Arc<Service>) -> Mounts {
    let how_to_pay = Some("Wire it to account 12-345.".to_owned());
    vec![Arc::new(ReviewPage::new(Arc::clone(service), Arc::new(OperatorPayments), how_to_pay))]
}

fn open(tariff: Tariff) -> TestServer {
    TestServer::start_with_options(TestServerOptions { mounts, ..TestServerOptions::default_for(tariff) }, |_| ())
}

/// A valid intake for Delaware.
pub(crate) fn intake() -> Value {
    let address = json!({ "street": STREET, "city": "Dover", "state": "DE", "zip": "19901" });
    json!({
        "state": "DE",
        "entityType": "llc",
        "names": ["Ondarza Tools LLC", "Ondarza <b>Works</b> LLC"],
        "purpose": "Tools & repairs.",
        "naics": "541511",
        "people": [{ "name": PERSON, "roles": ["organizer", "member"], "address": address, "email": EMAIL }],
        "registeredAgent": { "name": "Agents Inc.", "address": address },
        "management": "members",
        "contact": { "name": PERSON, "email": EMAIL },
    })
}

pub(crate) fn post(server: &TestServer, path: &str, headers: &[(&str, &str)], body: &str) -> TestResponse {
    let mut text = format!("POST {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    server.send_raw(&format!("{text}Content-Length: {}\r\n\r\n{body}", body.len()))
}

fn post_intake(server: &TestServer, key: &str, intake: &Value) -> TestResponse {
    post(server, HANDOFF, &[("Authorization", &format!("Bearer {key}"))], &intake.to_string())
}

/// The path of the review page.
fn path_of(handed_over: &TestResponse) -> String {
    assert_eq!(handed_over.status, 200, "{}", handed_over.text());
    let url = handed_over.json()["reviewUrl"].as_str().unwrap().to_owned();
    let path = url.strip_prefix("https://law.example").unwrap().to_owned();
    let token = path.strip_prefix("/formation/review/").unwrap();
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{token}");
    path
}

pub(crate) fn accept(server: &TestServer, path: &str) -> TestResponse {
    post(server, path, &[("Origin", "https://law.example"), ("Sec-Fetch-Site", "same-origin")], "confirmed=yes")
}

/// The order id and the tracking token on the page.
pub(crate) fn order_shown_on(page: &TestResponse) -> (OrderId, Option<String>) {
    assert_eq!(page.status, 200, "{}", page.text());
    let text = page.text();
    let shown: Vec<&str> = text.split("<code>").skip(1).map(|rest| rest.split("</code>").next().unwrap()).collect();
    (shown[0].parse().unwrap(), shown.get(1).map(|token| (*token).to_owned()))
}

#[test]
fn the_review_page_shows_which_part_of_the_price_goes_to_the_state() {
    let mut tariff = Tariff::CONTRACT;
    tariff.formation_fee_cents = 4_900;
    let server = open(tariff);
    let key = server.create_key(server.create_account(0), &[Scope::Formation]);
    let text = server.get_with(&path_of(&post_intake(&server, &key, &intake())), &[]).text();
    for shown in [
        "<dt>Fees of the state</dt><dd>$110.00</dd>",
        "<dt>Fee of this service</dt><dd>$49.00</dd>",
        "<strong>$159.00</strong> in all",
    ] {
        assert!(text.contains(shown), "{shown} in {text}");
    }
}

#[test]
fn a_formation_runs_from_intake_to_completion() {
    let server = open(Tariff::CONTRACT);
    let account = server.create_account(0);
    let key = server.create_key(account, &[Scope::Formation]);
    let handed_over = post_intake(&server, &key, &intake());
    let path = path_of(&handed_over);
    assert_eq!(handed_over.header_number("x-credits-cost"), 0);
    assert_eq!(handed_over.header_number("x-research-allotment-remaining"), 1000);
    let reported = handed_over.json();
    assert_eq!(reported["priceCents"], 11_000, "the fee of Delaware");
    assert!(
        reported["expiresAt"].as_str().unwrap().ends_with('Z') && reported["next"].as_str().unwrap().contains("person")
    );

    let page = server.get_with(&path, &[]);
    assert_eq!(page.status, 200);
    for shown in [
        PERSON,
        STREET,
        EMAIL,
        "Ondarza Tools LLC",
        "Delaware",
        "Custom Computer Programming Services, NAICS 541511",
        "$110.00",
        "Tools &amp; repairs.",
    ] {
        assert!(page.text().contains(shown), "{shown} in {}", page.text());
    }
    assert!(page.text().contains("Ondarza &lt;b&gt;Works&lt;/b&gt; LLC"), "what was sent is text");
    assert!(server.accounts.orders().unwrap().is_empty(), "looking orders nothing");

    let accepted = accept(&server, &path);
    let (id, token) = order_shown_on(&accepted);
    let token = token.unwrap();
    assert!(accepted.text().contains("Wire it to account 12-345."));
    let status = |stage: &str| {
        let found = server.get(&format!("/api/v1/formation/status/{id}?token={token}"), &key);
        assert_eq!((found.status, found.header_number("x-credits-cost")), (200, 1));
        let order = found.json();
        assert_eq!((&order["state"], &order["entityName"]), (&json!(stage), &json!("Ondarza Tools LLC")));
        assert_eq!((&order["entityType"], &order["jurisdiction"]), (&json!("llc"), &json!("DE")));
        order
    };
    status("payment");
    server.accounts.pay_order(id, Some("wire 1".to_owned()), &server.test_act()).unwrap();
    status("setup");
    for stage in [OrderStage::FinalReview, OrderStage::Filing, OrderStage::Completed] {
        server.accounts.advance_order(id, stage, &server.test_act()).unwrap();
        status(stage.name());
    }
    let stages = status("completed")["stages"].clone();
    assert!(stages.as_array().unwrap().iter().all(|stage| stage["status"] == "completed" && stage["at"].is_string()));
    let left = server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    assert_eq!(left, 5000 - 6, "six looks at the status");
    let later = server.get_with(&path, &[]);
    assert!(later.text().contains("completed") && !later.text().contains(&token), "{}", later.text());
}

#[test]
fn all_errors_of_an_intake_are_listed_and_nothing_is_stored() {
    let server = open(generous_tariff());
    let key = server.create_full_key();
    let mut wrong = intake();
    for n in 0..30 {
        let name = format!("B{n}");
        let address = json!({ "street": "1 A", "city": "B", "state": "DE", "zip": "x" });
        let person = json!({ "name": name, "roles": ["pilot"], "address": address });
        wrong["people"].as_array_mut().unwrap().push(person);
    }
    wrong["names"] = json!(["Ondarza"]);
    let refused = post_intake(&server, &key, &wrong).expect_error(422, "validation_error");
    let details = refused["details"].as_array().unwrap();
    let is_told = |field: &str| details.iter().any(|detail| detail["parameter"] == field);
    assert_eq!(details.len(), 61, "{refused:#}");
    assert!(is_told("names[0]") && is_told("people[1].address.zip") && is_told("people[30].roles[0]"));
    assert!(refused["message"].as_str().unwrap().contains("and 58 more"), "{refused:#}");
    assert!(!refused.to_string().contains(PERSON), "the refusal repeats valid values");
    assert_eq!(server.accounts.open_draft_count().unwrap(), 0);
    let authorization = format!("Bearer {key}");
    for (body, status) in [("{", 400), ("[]", 422), ("\"a\"", 422), ("", 400)] {
        assert_eq!(post(&server, HANDOFF, &[("Authorization", &authorization)], body).status, status, "{body}");
    }
    assert_eq!(server.get(HANDOFF, &key).status, 405);
}

#[test]
fn handing_over_needs_the_scope_and_no_credits() {
    let mut tariff = generous_tariff();
    tariff.free.monthly_units = 0;
    let server = open(tariff);
    let account = server.create_account(0);
    let key = server.create_key(account, &[Scope::Formation]);
    path_of(&post_intake(&server, &key, &intake()));
    let others = server.create_key(account, &[Scope::Search, Scope::Node, Scope::Browse, Scope::Gis]);
    post_intake(&server, &others, &intake()).expect_error(403, "insufficient_scope");
    post(&server, HANDOFF, &[], &intake().to_string()).expect_error(401, "invalid_api_key");
    assert!(server.accounts.recent_entries(account, 9).unwrap().is_empty(), "the ledger has an entry");
}

#[test]
fn review_pages_have_privacy_headers() {
    let server = open(generous_tariff());
    let path = path_of(&post_intake(&server, &server.create_full_key(), &intake()));
    let form = post(&server, &path, &[], "");
    let pages = [
        (server.get_with(&path, &[]), 200),
        (server.request("HEAD", &path, &[]), 200),
        (form, 422),
        (post(&server, &path, &[("Origin", "https://evil.example")], "confirmed=yes"), 403),
        (server.get_with("/formation/review/", &[]), 404),
        (server.get_with(&format!("/formation/review/{}", "A".repeat(32)), &[]), 404),
        (server.get_with(&format!("{path}/"), &[]), 404),
        (accept(&server, &path), 200),
        (server.get_with(&path, &[]), 200),
    ];
    for (page, status) in pages {
        assert_eq!(page.status, status, "{}", page.text());
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("cache-control"), "no-store");
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert_eq!(page.header("x-robots-tag"), "noindex, nofollow, noarchive");
        assert_eq!(page.header("x-frame-options"), "DENY");
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self'"), "{policy}");
        assert!(policy.contains("form-action 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(page.text().is_empty() || page.text().starts_with("<!DOCTYPE html><html lang=\"en\">"));
        assert!(!page.text().contains("src=\"http") && !page.text().contains("<style"), "{}", page.text());
        let token = path.rsplit('/').next().unwrap();
        assert!(!page.text().contains(token), "the page does not repeat its address");
    }
    let other = server.request("DELETE", &path, &[]);
    assert_eq!((other.status, other.header("allow")), (405, "GET, HEAD, POST, OPTIONS"));
}

#[test]
fn only_a_same_origin_confirmed_form_creates_an_order() {
    let server = open(generous_tariff());
    let path = path_of(&post_intake(&server, &server.create_full_key(), &intake()));
    for (origin, site) in [
        ("https://evil.example", "none"),
        ("http://law.example", "same-origin"),
        ("null", "cross-site"),
        ("https://law.example", "same-site"),
    ] {
        let headers = [("Origin", origin), ("Sec-Fetch-Site", site)];
        assert_eq!(post(&server, &path, &headers, "confirmed=yes").status, 403, "{headers:?}");
    }
    for body in ["", "confirmed=no"] {
        assert_eq!(post(&server, &path, &[("Origin", "https://law.example")], body).status, 422, "{body}");
    }
    assert!(server.accounts.orders().unwrap().is_empty());
    // As a browser sends it from a page without a referrer.
    let accepted = post(&server, &path, &[("Origin", "null"), ("Sec-Fetch-Site", "same-origin")], "confirmed=yes");
    let (first, token) = order_shown_on(&accepted);
    let again = post(&server, &path, &[("Origin", "null")], "confirmed=yes");
    assert_eq!(order_shown_on(&again), (first, token));
    assert_eq!(server.accounts.orders().unwrap().len(), 1);
}

#[test]
fn concurrent_forms_create_one_order() {
    let server = open(generous_tariff());
    let key = server.create_full_key();
    for _ in 0..4 {
        let before = server.accounts.orders().unwrap().len();
        let path = path_of(&post_intake(&server, &key, &intake()));
        let barrier = Barrier::new(6);
        let orders: Vec<_> = std::thread::scope(|scope| {
            let sent = || {
                barrier.wait();
                // On a busy machine a form may be refused, and is sent again.
                let mut answers = std::iter::repeat_with(|| accept(&server, &path));
                order_shown_on(&answers.find(|answer| answer.status != 503).unwrap())
            };
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(sent)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(orders.iter().all(|order| *order == orders[0] && order.1.is_some()), "{orders:?}");
        assert_eq!(server.accounts.orders().unwrap().len(), before + 1);
    }
}

#[test]
fn an_expired_review_link_is_not_found() {
    let clock = Arc::new(ManualClock::at(SystemClock::start().now().wall));
    let server = TestServer::start_with_options(
        TestServerOptions {
            mounts,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ..TestServerOptions::default_for(generous_tariff())
        },
        |_| (),
    );
    let path = path_of(&post_intake(&server, &server.create_full_key(), &intake()));
    clock.advance_millis(14 * 86_400_000 - 1);
    assert_eq!(server.get_with(&path, &[]).status, 200);
    clock.advance_millis(1);
    let gone = server.get_with(&path, &[]);
    assert_eq!(gone.status, 404);
    let unknown = server.get_with(&format!("/formation/review/{}", "A".repeat(32)), &[]);
    assert_eq!(gone.text(), unknown.text(), "the answers for expired and unknown links differ");
    assert_eq!(accept(&server, &path).status, 404);
    server.accounts.maintain(clock.now()).unwrap();
    assert_eq!(server.accounts.open_draft_count().unwrap(), 0);
}

#[test]
fn too_many_unpaid_orders_are_refused_on_the_page() {
    let server = open(generous_tariff());
    let key = server.create_full_key();
    let mut last = None;
    for _ in 0..=UNPAID_ORDERS_MAX {
        let path = path_of(&post_intake(&server, &key, &intake()));
        last = Some(accept(&server, &path));
    }
    let last = last.unwrap();
    assert_eq!(last.status, 409);
    assert!(last.text().contains("20 orders of this account"), "{}", last.text());
}

#[test]
fn nothing_of_an_intake_its_link_or_its_tracking_token_is_logged() {
    let server = open(generous_tariff());
    let key = server.create_full_key();
    let handed_over = post_intake(&server, &key, &intake());
    let path = path_of(&handed_over);
    let mut wrong = intake();
    wrong["people"][0]["address"]["zip"] = json!("99x99");
    post_intake(&server, &key, &wrong).expect_error(422, "validation_error");
    server.get_with(&path, &[]);
    server.get_with(&format!("{path}/x"), &[]);
    server.request("PUT", &path, &[]);
    let (id, token) = order_shown_on(&accept(&server, &path));
    let token = token.unwrap();
    server.get(&format!("/api/v1/formation/status/{id}?token={token}"), &key);
    let log = server.log();
    let secret = path.rsplit('/').next().unwrap();
    for hidden in [PERSON, "Ondarza", STREET, EMAIL, "99x99", secret, &token, &key] {
        assert!(!log.contains(hidden), "{hidden} in {log}");
    }
    assert!(log.contains("\"path\":\"/formation/review/\""), "{log}");
}

#[test]
fn the_tracking_page_shows_the_stage_of_an_order() {
    let server = crate::browser::start_with_account_pages();
    let account = server.create_account(0);
    let wish = hornbook_accounts::changes::NewOrder {
        account,
        entity_name: "Acme LLC".to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "DE".to_owned(),
    };
    let (order, token) =
        server.accounts.create_order(wish, &server.test_act(), &mut hornbook_accounts::entropy::SystemEntropy).unwrap();
    let mut browser = crate::browser::Browser::new(&server);
    assert_eq!(browser.get("/formation/track").status, 200);
    let id = order.id.to_string();
    let page = browser.post("/formation/track", &[("order", &id), ("tracking", &token)]);
    assert!(
        page.status == 200 && page.text().contains("Acme LLC") && page.text().contains("in progress"),
        "{}",
        page.text()
    );
    let wrong = browser.post("/formation/track", &[("order", &id), ("tracking", "guess")]);
    let unknown =
        browser.post("/formation/track", &[("order", "00000000-0000-4000-8000-000000000000"), ("tracking", &token)]);
    assert_eq!((wrong.status, unknown.status), (404, 404));
    assert!(!server.log().contains(&token));
}
