//! The operator's page: hidden from all others, and the effects of its forms.

use std::sync::Arc;

use hornbook::api::service::Service;
use hornbook::http::Mounts;
use hornbook::metrics::Metrics;
use hornbook::web::operator::control::{DiskSpace, OperatorControl, SettingRow, SnapshotRow};
use hornbook::web::operator::mount::OperatorPages;
use hornbook::web::page_context::{PageContext, PageSettings};
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::people::PersonRole;
use hornbook_accounts::records::{AccountStatus, OrderStage, PurchaseStatus};
use hornbook_accounts::tier::PackName;

use crate::browser::{Browser, PASSWORD, between, pages};
use crate::test_server::{TestServer, TestServerOptions, generous_tariff};

/// A program without a data directory; `tests/cli/people.rs` tests the real one.
struct NoDirectory;

impl OperatorControl for NoDirectory {
    fn snapshots(&self) -> Vec<SnapshotRow> {
        Vec::new()
    }

    fn report(&self) -> Option<String> {
        None
    }

    fn serve_snapshot(&self, name: &str) -> Result<String, String> {
        Err(format!("there is no readable snapshot '{name}'"))
    }

    fn settings(&self) -> &[SettingRow] {
        &[]
    }

    fn disk(&self) -> Option<DiskSpace> {
        None
    }
}

fn mounts(service: &Arc<Service>) -> Mounts {
    let shell = Arc::new(PageContext::new(Arc::clone(service), PageSettings::default()));
    let mut mounts = pages(service);
    mounts.push(Arc::new(OperatorPages::new(shell, Arc::new(Metrics::default()), Arc::new(NoDirectory))));
    mounts
}

fn open() -> TestServer {
    TestServer::start_with_options(
        TestServerOptions { mounts, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    )
}

fn operator(server: &TestServer) -> Browser<'_> {
    let browser = Browser::approved(server, "root");
    server.accounts.set_role(browser.account(), PersonRole::Operator, &server.test_act()).unwrap();
    browser
}

fn status(server: &TestServer, id: AccountId) -> AccountStatus {
    server.accounts.account(id, server.clock.now()).unwrap().record.status
}

#[test]
fn the_operator_page_is_a_404_for_others() {
    let server = open();
    let mut customer = Browser::approved(&server, "jane");
    let waiting = Browser::signed_up(&server, "john").account();
    assert_eq!(customer.get("/operator").status, 404);
    assert_eq!(Browser::new(&server).get("/operator").status, 303);
    customer.get("/settings");
    let id = waiting.to_string();
    for (path, fields) in [
        ("/operator/account", &[("account", &*id), ("do", "approve")][..]),
        ("/operator/invite", &[("name", "me"), ("operator", "yes")]),
        ("/operator/snapshot", &[("snapshot", "a")]),
    ] {
        assert_eq!(customer.post(path, fields).status, 404, "{path}");
    }
    assert_eq!(status(&server, waiting), AccountStatus::Pending);
    // When a role is taken away, the next request has no access.
    let mut former = operator(&server);
    assert_eq!(former.get("/operator").status, 200);
    server.accounts.set_role(former.account(), PersonRole::Customer, &server.test_act()).unwrap();
    assert_eq!(former.get("/operator").status, 404);
}

/// Searches do not use the queues of sign-in and of the operator.
#[test]
fn people_sign_in_and_the_operator_works_while_searches_are_refused() {
    let server = open();
    let mut operator = operator(&server);
    let mut jane = Browser::signed_up(&server, "jane");
    let (id, key) = (jane.account(), server.create_full_key());
    let busy = server.occupy_workers();
    server.get("/api/v1/search?q=deposit", &key).expect_error(503, "overloaded");
    assert_eq!(operator.get("/?q=deposit").status, 503);

    assert_eq!(Browser::new(&server).sign_in("jane", PASSWORD).status, 303);
    assert_eq!(jane.get("/settings").status, 200);
    let page = operator.get("/operator");
    assert!(page.status == 200 && page.text().contains(&id.to_string()), "{}", page.text());
    let approved = operator.post("/operator/account", &[("account", &id.to_string()), ("do", "approve")]);
    assert_eq!((approved.status, status(&server, id)), (303, AccountStatus::Approved));
    let changed = jane.post("/settings/password", &[("current", PASSWORD), ("password", "battery staple")]);
    assert_eq!(changed.status, 303, "{}", changed.text());

    server.get("/api/v1/search?q=notice", &key).expect_error(503, "overloaded");
    drop(busy);
    assert_eq!(server.get("/api/v1/search?q=notice", &key).status, 200);
}

#[test]
fn get_requests_change_nothing() {
    let server = open();
    let waiting = Browser::signed_up(&server, "john").account();
    let mut operator = operator(&server);
    let acts = || server.accounts.acts(1000).unwrap().len();
    let before = acts();
    assert_eq!(operator.get("/operator").status, 200);
    for act in ["account", "invite", "purchase", "problem", "order", "snapshot"] {
        let path = format!("/operator/{act}?account={waiting}&do=approve&name=me&snapshot=a&token={}", operator.token);
        assert_eq!(operator.get(&path).status, 405, "{path}");
    }
    assert_eq!((acts(), status(&server, waiting)), (before, AccountStatus::Pending));
}

#[test]
fn accounts_are_approved_invited_and_disabled() {
    let server = open();
    let mut operator = operator(&server);
    let jane = Browser::signed_up(&server, "jane").account();
    let page = operator.get("/operator").text();
    assert!(page.contains("<strong>waiting</strong>") && page.contains("jane"), "{page}");
    let act = |operator: &mut Browser<'_>, id: AccountId, what: &str| {
        operator.post("/operator/account", &[("account", &id.to_string()), ("do", what)]).status
    };
    assert_eq!(act(&mut operator, jane, "approve"), 303);
    assert_eq!(status(&server, jane), AccountStatus::Approved);
    assert_eq!(act(&mut operator, jane, "disable"), 303);
    assert_eq!(status(&server, jane), AccountStatus::Disabled);
    let own = operator.account();
    assert_eq!(act(&mut operator, own, "disable"), 422, "an operator could disable their own account");
    let page = operator.post("/operator/invite", &[("name", "Jo Doe")]).text();
    let link = between(&page, "https://law.example", "<").unwrap().to_owned();
    assert!(Browser::new(&server).get(&link).text().contains("Jo Doe"));
    let acts = server.accounts.acts(50).unwrap();
    let by_operator = acts.iter().filter(|act| *act.actor == own.to_string()).map(|act| act.act.as_str());
    let by_operator: Vec<&str> = by_operator.collect();
    assert!(
        by_operator.ends_with(&[
            "account approve",
            "account disable",
            "account create",
            "account approve",
            "account link"
        ]),
        "{by_operator:?}"
    );
}

#[test]
fn a_snapshot_that_is_refused_is_recorded() {
    let server = open();
    let mut operator = operator(&server);
    let refused = operator.post("/operator/snapshot", &[("snapshot", "nowhere")]);
    assert_eq!(refused.status, 422, "{}", refused.text());
    let last = server.accounts.acts(1).unwrap().remove(0);
    assert_eq!((last.act.as_str(), last.on.as_str()), ("reload refused", "there is no readable snapshot 'nowhere'"));
    assert_eq!(*last.actor, operator.account().to_string());
}

#[test]
fn payments_are_confirmed_once_and_orders_move_on() {
    let server = open();
    let mut operator = operator(&server);
    let account = server.create_account(0);
    let purchase =
        server.accounts.request_purchase(account, PackName::Starter, &server.test_act()).unwrap().id.to_string();
    let page = operator.get("/operator").text();
    assert!(page.contains(&purchase), "{page}");
    let form = [("purchase", &*purchase), ("do", "confirm"), ("reference", "transfer 7")];
    assert_eq!(operator.post("/operator/purchase", &form).status, 303);
    assert_eq!(server.accounts.purchases().unwrap()[0].status, PurchaseStatus::Paid);
    let credits = || server.accounts.account(account, server.clock.now()).unwrap().remaining.wallet;
    let once = credits();
    assert_eq!(operator.post("/operator/purchase", &form).status, 303, "the same payment again");
    assert_eq!(credits(), once);
    let wish = hornbook_accounts::changes::NewOrder {
        account,
        entity_name: "Acme <script> LLC".to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "DE".to_owned(),
    };
    let mut entropy = hornbook_accounts::entropy::SystemEntropy;
    let (order, _) = server.accounts.create_order(wish, &server.test_act(), &mut entropy).unwrap();
    let id = order.id.to_string();
    let page = operator.get("/operator").text();
    assert!(page.contains("Acme &lt;script&gt; LLC") && !page.contains("Acme <script>"));
    let form = [("order", &*id), ("do", "confirm"), ("reference", "transfer 8")];
    assert_eq!(operator.post("/operator/order", &form).status, 303);
    let stage = || server.accounts.order(order.id).unwrap().unwrap().stage();
    assert_eq!(stage(), OrderStage::Setup);
    let form = [("order", &*id), ("do", "advance"), ("stage", "filing")];
    assert_eq!(operator.post("/operator/order", &form).status, 303);
    assert_eq!(stage(), OrderStage::Filing);
    let back = [("order", &*id), ("do", "advance"), ("stage", "setup")];
    assert_eq!(operator.post("/operator/order", &back).status, 422);
}

#[test]
fn accounts_are_found_by_name_sign_in_name_and_id() {
    let server = open();
    let mut operator = operator(&server);
    let jane = Browser::approved(&server, "jane").account();
    let john = Browser::approved(&server, "john").account();
    let listed = |page: &str| [jane, john].map(|id| page.contains(&format!("<code>{id}</code>")));
    assert_eq!(listed(&operator.get("/operator").text()), [true, true]);
    for (wanted, expected) in
        [("JAN", [true, false]), (&*john.to_string(), [false, true]), ("nobody", [false, false]), ("j", [true, true])]
    {
        let page = operator.get(&format!("/operator?account={wanted}")).text();
        assert_eq!(listed(&page), expected, "{wanted}");
    }
    let page = operator.get("/operator?account=%3Cscript%3E").text();
    assert!(!page.contains("<script>") && page.contains("None found."), "{page}");
}

#[test]
fn an_account_is_deleted_only_with_its_id_typed() {
    let server = open();
    let mut operator = operator(&server);
    let jane = Browser::approved(&server, "jane").account();
    let id = jane.to_string();
    let asked = operator.post("/operator/account", &[("account", &id), ("do", "ask to delete")]);
    assert!(asked.status == 200 && asked.text().contains("cannot be undone"), "{}", asked.text());
    let delete = |operator: &mut Browser<'_>, id: &str, typed: &str| {
        operator.post("/operator/account", &[("account", id), ("do", "delete"), ("typed", typed)]).status
    };
    for typed in ["", "jane", "acc_1"] {
        assert_eq!(delete(&mut operator, &id, typed), 422, "{typed}");
    }
    assert_eq!(status(&server, jane), AccountStatus::Approved);
    let own = operator.account().to_string();
    assert_eq!(delete(&mut operator, &own, &own), 422, "an operator could delete their own account");
    assert_eq!(delete(&mut operator, &id, &id), 303);
    assert_eq!(status(&server, jane), AccountStatus::Deleted);
    let last = server.accounts.acts(1).unwrap().remove(0);
    assert_eq!((last.act.as_str(), &*last.actor), ("account delete", &*own));
}

#[test]
fn health_shows_what_was_refused_the_age_of_the_law_and_the_last_backup() {
    let server = open();
    let mut operator = operator(&server);
    let page = operator.get("/operator").text();
    let after = |page: &str, name: &str| {
        between(page, &format!("<dt>{name}</dt>"), "</dd>").unwrap_or_else(|| panic!("{name}: {page}")).to_owned()
    };
    assert!(after(&page, "Last backup").contains("none recorded"));
    assert!(after(&page, "Law").contains("current through"), "{}", after(&page, "Law"));
    assert!(after(&page, "Memory").contains(" MB of its own"));
    assert!(after(&page, "Running").contains("0 minutes"));
    server.accounts.record_act(&server.test_act(), "backup", &[&AccountId(7)]).unwrap();
    assert!(after(&operator.get("/operator").text(), "Last backup").contains(&AccountId(7).to_string()));
}

#[test]
fn a_search_is_explained_and_costs_nothing() {
    let server = open();
    let mut operator = operator(&server);
    let own = operator.account();
    let credits = || server.accounts.account(own, server.clock.now()).unwrap().remaining;
    let before = format!("{:?}", credits());
    let page = operator.get("/operator/search?q=security+deposit").text();
    assert!(page.contains("kind of query:") && page.contains("keyword #1 ") && page.contains("fused "), "{page}");
    assert!(page.contains("href=\"/xa/"), "{page}");
    assert_eq!(format!("{:?}", credits()), before);
    let semantic = operator.get("/operator/search?q=security+deposit&mode=semantic").text();
    assert!(semantic.contains("keyword -") && semantic.contains("vector #1 "), "{semantic}");
    assert_eq!(operator.get("/operator/search?q=a&mode=sideways").status, 422);
    let mut customer = Browser::approved(&server, "jane");
    assert_eq!(customer.get("/operator/search?q=a").status, 404);
}
