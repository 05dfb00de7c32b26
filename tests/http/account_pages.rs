//! The pages of an account: keys, credits, the ledger and its export, browsers, leaving.

use std::sync::Arc;

use hornbook::api::service::Service;
use hornbook::api::visitors::VisitorRates;
use hornbook::http::Mounts;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::records::AccountStatus;
use hornbook_accounts::views::{EntryView, KeyView};

use crate::browser::{Browser, PASSWORD, between, pages, pages_for, start_with_account_pages};
use crate::test_server::{TestServer, TestServerOptions};

#[test]
fn a_key_is_shown_once_works_and_ends() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let page =
        browser.post("/settings/keys", &[("name", "my <b>program</b>"), ("scopes", "node"), ("scopes", "browse")]);
    let text = page.text();
    assert_eq!(page.status, 200, "{text}");
    let key = between(&text, "<code id=\"new-key\">", "<").unwrap().to_owned();
    assert_eq!(server.get("/api/v1/code-bodies", &key).status, 200);
    server.get("/api/v1/search?q=deposit", &key).expect_error(403, "insufficient_scope");
    let page = browser.get("/settings").text();
    assert!(!page.contains(&key) && page.contains(&key[..12]), "only the prefix of the key may be shown");
    assert!(page.contains("my &lt;b&gt;program&lt;/b&gt;") && !page.contains("web pages"), "{page}");
    let id = between(&page, "name=\"key\" value=\"", "\"").unwrap().to_owned();
    let rotated = browser.post("/settings/keys/rotate", &[("key", &id)]).text();
    let second = between(&rotated, "<code id=\"new-key\">", "<").unwrap().to_owned();
    assert_eq!((server.get("/api/v1/me", &key).status, server.get("/api/v1/me", &second).status), (200, 200));
    browser.get("/settings");
    assert_eq!(browser.post("/settings/keys/revoke", &[("key", &id)]).status, 303);
    assert_eq!((server.get("/api/v1/me", &key).status, server.get("/api/v1/me", &second).status), (401, 200));
    // Another account's key is refused, and so is the key that meters the pages.
    server.create_full_key();
    let own = browser.account();
    let may_not = |key: &&KeyView| key.record.account != own || key.record.prefix == "web pages";
    for key in server.accounts.keys(None).iter().filter(may_not) {
        let id = key.record.id.to_string();
        assert_eq!(browser.post("/settings/keys/revoke", &[("key", &id)]).status, 422, "{id}");
        assert!(server.accounts.key_record(key.record.id).unwrap().revoked_at.is_none());
    }
}

#[test]
fn searches_of_a_signed_in_person_are_metered_on_the_account() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let account = browser.account();
    let entries = || server.accounts.recent_entries(account, 100).unwrap();
    let page = browser.get("/?q=security+deposit");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("<mark>"), "{}", page.text());
    let is_ours = |entry: &EntryView| {
        (entry.operation.as_deref(), entry.key_prefix.as_deref()) == (Some("search"), Some("web pages"))
    };
    crate::test_server::wait_until("the entry", || entries().iter().any(is_ours));
    assert!(browser.get("/settings").text().contains("search: "), "the chart does not show the search");
    // Suggestions and corrections while typing cost nothing.
    let before = entries().len();
    for typed in ["se", "secu", "security dep"] {
        let reported = browser.get(&format!("/suggest?q={}", typed.replace(' ', "+")));
        assert_eq!(reported.status, 200);
        assert!(reported.text().contains("\"suggestions\":[{"), "{}", reported.text());
    }
    browser.get("/?q=secuirty+depositt");
    crate::test_server::wait_until("the second search", || entries().len() > before);
    assert!(entries().iter().all(|entry| entry.operation.as_deref() != Some("suggest")));
    // A person who waits for approval has the rights of a visitor: none here.
    let mut waiting = Browser::signed_up(&server, "john");
    assert_eq!(waiting.get("/?q=an+own+question").status, Browser::new(&server).get("/?q=an+own+question").status);
}

#[test]
fn a_signed_in_person_searches_as_much_as_a_visitor_before_the_account_pays() {
    fn mounts(service: &Arc<Service>) -> Mounts {
        pages_for(service, VisitorRates { reads_per_minute: 60, searches_per_minute: 2, ..VisitorRates::default() })
    }
    let server = TestServer::start_with_options(
        TestServerOptions { mounts, ..TestServerOptions::default_for(crate::test_server::generous_tariff()) },
        |_| (),
    );
    let mut browser = Browser::approved(&server, "jane");
    let costs: Vec<String> = (0..4)
        .map(|n| {
            let page = browser.get(&format!("/?q=deposit+{n}"));
            assert_eq!(page.status, 200, "{}", page.text());
            page.header("x-credits-cost").to_owned()
        })
        .collect();
    assert_eq!(costs, ["", "", "1", "1"]);
    assert_eq!(Browser::new(&server).get("/?q=deposit").status, 429, "a visitor from there waits");
}

/// A page is charged as a whole: one that fails costs nothing, even if some of its calls succeeded.
#[test]
fn failed_pages_are_free_and_pages_report_their_total_cost() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let account = browser.account();
    let spent = || {
        let entries = server.accounts.recent_entries(account, 100).unwrap();
        -entries.iter().filter(|entry| entry.operation.is_some()).map(|entry| entry.credits).sum::<i64>()
    };
    for (path, expected) in [
        ("/zoning/XA-PORT-ARDEN?page=x", 422),
        ("/zoning/XA-NOWHERE", 404),
        ("/cite/Arden%20Rev.%20Stat.%20%C2%A7%2099-9-999", 404),
        ("/law/225f16f2-705a-51ad-94cb-52d662dc230d", 404),
        ("/cite/Arden%20Rev.%20Stat.%20%C2%A7%2024-2-201", 303),
        ("/?q=Arden+Rev.+Stat.+%C2%A7+24-2-201", 303),
        ("/?q=deposit&page=0", 422),
        ("/?q=Arden+Rev.+Stat.+%C2%A7+24-2-201&as=words&mode=x", 422),
    ] {
        let page = browser.get(path);
        assert_eq!((page.status, spent(), page.header("x-credits-cost")), (expected, 0, ""), "{path}");
    }
    server.accounts.verify_ledger().unwrap();
    assert_eq!(browser.get("/zoning/XA-PORT-ARDEN?page=1").header_number("x-credits-cost"), 5);
    crate::test_server::wait_until("the debit", || spent() == 5);
    // The citation is resolved, then searched for.
    let page = browser.get("/?q=Arden+Rev.+Stat.+%C2%A7+24-2-201&as=words");
    assert_eq!((page.status, page.header_number("x-credits-cost")), (200, 2));
    crate::test_server::wait_until("the debits", || spent() == 7);
}

/// If reading is not free, a person without credits can read nothing, and the ledger gets no entry.
#[test]
fn reading_without_credits_is_refused_if_it_costs() {
    let mut tariff = crate::test_server::generous_tariff();
    tariff.free.monthly_units = 0;
    tariff.free.credits_on_approval = Credits(0);
    let server = TestServer::start_with_options(
        TestServerOptions { mounts: pages, ..TestServerOptions::default_for(tariff) },
        |_| (),
    );
    let mut browser = Browser::approved(&server, "jane");
    let account = browser.account();
    let paths = ["/browse", "/?q=deposit", "/zoning/XA-PORT-ARDEN", "/cite/Arden%20Rev.%20Stat.%20%C2%A7%2024-2-201"];
    for path in paths {
        let page = browser.get(path);
        assert_eq!(page.status, 402, "{path}");
        assert!(page.text().contains("credits") && !page.text().contains("<mark>"), "{path}");
    }
    assert!(server.accounts.recent_entries(account, 10).unwrap().is_empty());
    server.accounts.grant(account, Credits(1), "one".to_owned(), &server.test_act()).unwrap();
    assert_eq!((browser.get("/?q=deposit").status, browser.get("/?q=deposit").status), (200, 402));
    server.accounts.verify_ledger().unwrap();
}

#[test]
fn the_export_matches_the_ledger() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let account = browser.account();
    for number in 1..=130 {
        let reason = format!("=number {number}, \"quoted\"");
        server.accounts.grant(account, Credits(number), reason, &server.test_act()).unwrap();
    }
    let mut csv = browser.get("/settings/ledger.csv");
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
    assert!(csv.header("content-disposition").starts_with("attachment"));
    let entries = server.accounts.recent_entries(account, 1000).unwrap();
    let text = std::mem::take(&mut csv.body);
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_slice());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), entries.len());
    for (row, entry) in rows.iter().zip(&entries) {
        let text = |value: Option<&String>| value.cloned().unwrap_or_default();
        let marked = if entry.note.as_ref().is_some_and(|note| note.starts_with('=')) { "'" } else { "" };
        let expected = [
            entry.id.to_string(),
            entry.at.to_string(),
            entry.kind.name().to_owned(),
            text(entry.operation.as_ref()),
            entry.credits.to_string(),
            entry.from_allotment.to_string(),
            entry.balance_after.to_string(),
            text(entry.key_prefix.as_ref()),
            format!("{marked}{}", text(entry.note.as_ref())),
        ];
        assert_eq!(row.iter().collect::<Vec<_>>(), expected);
    }
    // The pages of the list contain the same entries, each once.
    let (mut shown, mut path) = (Vec::new(), "/settings/ledger".to_owned());
    loop {
        let page = browser.get(&path).text();
        shown.extend(page.split("<th scope=\"row\">").skip(1).map(|row| row.split('<').next().unwrap().to_owned()));
        let Some(next) = between(&page, "rel=\"next\" href=\"", "\"") else { break };
        path = next.to_owned();
    }
    assert_eq!(shown, entries.iter().map(|entry| entry.id.to_string()).collect::<Vec<_>>());
    // Another account's entry cannot be reached by its number.
    let other = Browser::approved(&server, "john").account();
    let entry = server.accounts.grant(other, Credits(5), "for john".to_owned(), &server.test_act()).unwrap();
    let peek = browser.get(&format!("/settings/ledger.csv?from={entry}"));
    assert_eq!(peek.text().lines().count(), 1, "{}", peek.text());
    assert_eq!(browser.get("/settings/ledger.csv?from=x").status, 404);
}

#[test]
fn a_requested_pack_shows_how_to_pay() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let page = browser.post("/settings/packs", &[("pack", "starter")]);
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("buy-1") && page.text().contains("Nothing is charged yet."), "{}", page.text());
    let next = between(&page.text(), "What happens next", "</ol>").unwrap().to_owned();
    assert!(next.contains("You pay the operator") && next.matches("<li>").count() == 3, "{next}");
    assert!(browser.get("/settings").text().contains("waiting for payment"));
    let purchase = server.accounts.purchases().unwrap()[0].id;
    server.accounts.pay_purchase(purchase, None, &server.test_act()).unwrap();
    let page = browser.get("/settings").text();
    assert!(page.contains(">paid</td>") && !page.contains("waiting for payment"), "{page}");
    assert_eq!(browser.post("/settings/packs", &[("pack", "gold")]).status, 422);
}

#[test]
fn browsers_are_listed_and_signed_out() {
    let server = start_with_account_pages();
    let mut browser = Browser::signed_up(&server, "jane");
    let mut others = [Browser::new(&server), Browser::new(&server)];
    others.iter_mut().for_each(|other| drop(other.sign_in("jane", PASSWORD)));
    let page = browser.get("/settings").text();
    let id = between(&page, "name=\"session\" value=\"", "\"").unwrap().to_owned();
    assert_eq!(browser.post("/settings/sessions", &[("session", &id)]).status, 303);
    assert_eq!(others.iter_mut().filter_map(|other| (other.get("/settings").status == 200).then_some(())).count(), 1);
    browser.get("/settings");
    assert_eq!(browser.post("/settings/sessions", &[("session", "others")]).status, 303);
    assert!(others.iter_mut().all(|other| other.get("/settings").status == 303));
    assert_eq!(browser.get("/settings").status, 200);
}

#[test]
fn deleting_an_account_needs_password_and_confirmation_and_is_final() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    let account = browser.account();
    let key = server.create_key(account, &hornbook_accounts::scope::Scope::ALL);
    assert_eq!(browser.post("/settings/delete", &[("current", PASSWORD)]).status, 422);
    assert_eq!(browser.post("/settings/delete", &[("current", "not hers at all"), ("sure", "yes")]).status, 422);
    assert_eq!(server.get("/api/v1/me", &key).status, 200);
    assert_eq!(browser.post("/settings/delete", &[("current", PASSWORD), ("sure", "yes")]).status, 200);
    assert_eq!(server.get("/api/v1/me", &key).status, 401);
    assert_eq!(browser.get("/settings").status, 303);
    assert_eq!(browser.sign_in("jane", PASSWORD).status, 422);
    let record = server.accounts.account(account, server.clock.now()).unwrap().record;
    assert_eq!((record.status, &*record.name), (AccountStatus::Deleted, "deleted"));
}

/// The pages say what remains after a deletion, and the name is in neither the log nor the acts.
#[test]
fn a_deleted_name_is_gone_and_the_pages_say_what_stays() {
    const LOGIN: &str = "jane.q.public@example.org";
    const WHAT_STAYS: &str =
        "Payments, usage and administrative changes of the account stay on record under its number, without your name.";
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, LOGIN);
    let account = browser.account();
    let before = browser.get("/settings").text();
    let promised =
        format!("Your name, password, keys and sessions are deleted. Credits that are left are lost. {WHAT_STAYS}");
    assert!(before.contains(&promised), "{before}");
    assert_eq!(Browser::new(&server).sign_in(LOGIN, "not hers at all").status, 422);
    assert_eq!(Browser::new(&server).sign_in(LOGIN, PASSWORD).status, 303);
    let deleted = browser.post("/settings/delete", &[("current", PASSWORD), ("sure", "yes")]);
    let said = format!("Your name, password and keys are deleted. {WHAT_STAYS}");
    assert!(deleted.text().contains(&said), "{}", deleted.text());
    assert!(!deleted.text().contains(LOGIN), "{}", deleted.text());

    let (log, acts) = (server.log(), format!("{:?}", server.accounts.acts(1000).unwrap()));
    assert!(log.contains("/settings/delete") && acts.contains(&account.to_string()), "{log}\n{acts}");
    for part in [LOGIN, "jane.q.public", "example.org"] {
        assert!(!log.contains(part), "the log has '{part}': {log}");
        assert!(!acts.contains(part), "the acts have '{part}': {acts}");
    }
}
