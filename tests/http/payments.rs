//! Buying packs: by arrangement with the operator, and by card with a fake Stripe.

use std::sync::Arc;

use hornbook::api::cards::CardPayments;
use hornbook::api::service::Service;
use hornbook::http::Mounts;
use hornbook::payments::Secret;
use hornbook::payments::orders::OrderPayments;
use hornbook::payments::stripe::Stripe;
use hornbook::payments::webhook::Webhook;
use hornbook::web::formation::returned::ReturnPages;
use hornbook::web::formation::review::ReviewPage;
use hornbook::web::page_context::{PageContext, PageSettings};
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::records::{OrderStage, PurchaseStatus};
use hornbook_accounts::scope::Scope;
use hornbook_accounts::tier::{Tariff, Tier};
use hornbook_base::clock::SystemClock;
use serde_json::{Value, json};

use crate::formation::{intake, post};
use crate::stripe::{FakeStripe, Notice, SECRET_KEY, StripeFault, WEBHOOK_SECRET, now, send_signed, signature};
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff};

const CHECKOUT: &str = "/api/v1/billing/checkout";

fn buy_with(server: &TestServer, key: &str, body: &str, headers: &str) -> TestResponse {
    server.send_raw(&format!(
        "POST {CHECKOUT} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n{headers}Content-Length: \
         {}\r\n\r\n{body}",
        body.len()
    ))
}

fn buy(server: &TestServer, key: &str, pack: &str) -> TestResponse {
    buy_with(server, key, &json!({ "pack": pack }).to_string(), "")
}

fn bought(answered: &TestResponse) -> Value {
    assert_eq!(answered.status, 200, "{}", answered.text());
    answered.json()
}

fn wallet(server: &TestServer, account: AccountId) -> i64 {
    server.accounts.account(account, server.clock.now()).unwrap().remaining.wallet
}

/// A tariff without free units.
fn tariff_without_free_units() -> Tariff {
    let mut tariff = generous_tariff();
    tariff.free.monthly_units = 0;
    tariff
}

pub(crate) fn mounts(service: &Arc<Service>) -> Mounts {
    let clock = Arc::new(SystemClock::start());
    let webhook = Webhook::new(Arc::clone(service.accounts()), clock, Secret::new(WEBHOOK_SECRET));
    let orders = OrderPayments::new(Arc::clone(service), Arc::clone(service.cards().unwrap()));
    let review = ReviewPage::new(Arc::clone(service), Arc::new(orders), None);
    let shell = Arc::new(PageContext::new(Arc::clone(service), PageSettings::default()));
    vec![Arc::new(webhook), Arc::new(ReturnPages::new(shell)), Arc::new(review)]
}

/// A server that accepts cards.
fn start_with_cards(tariff: Tariff) -> (TestServer, FakeStripe) {
    start_with_cards_and(tariff, mounts)
}

pub(crate) fn start_with_cards_and(tariff: Tariff, mounts: fn(&Arc<Service>) -> Mounts) -> (TestServer, FakeStripe) {
    let stripe = FakeStripe::start();
    let cards = Stripe::new(&stripe.url(), Secret::new(SECRET_KEY)).unwrap().returning_to("https://law.example");
    let cards: Option<Arc<dyn CardPayments>> = Some(Arc::new(cards));
    (
        TestServer::start_with_options(
            TestServerOptions { cards, mounts, ..TestServerOptions::default_for(tariff) },
            |_| (),
        ),
        stripe,
    )
}

#[test]
fn a_purchase_by_arrangement_is_free_to_request_and_confirmed_by_the_operator() {
    let server = TestServer::start(tariff_without_free_units());
    let account = server.create_account(0);
    let key = server.create_key(account, &[Scope::Gis]);
    let answered = buy(&server, &key, "pro");
    let reply = bought(&answered);
    assert_eq!(
        (&reply["purchase"], &reply["pack"], &reply["priceCents"], &reply["credits"], &reply["status"]),
        (&json!("buy-1"), &json!("pro"), &json!(2000), &json!(5000), &json!("requested"))
    );
    assert!(reply["checkoutUrl"].is_null() && reply["howToPay"].as_str().unwrap().contains("operator"), "{reply:#}");
    assert_eq!((answered.header_number("x-credits-cost"), answered.header_number("x-credits-remaining")), (0, 0));
    assert!(server.accounts.recent_entries(account, 9).unwrap().is_empty());
    let purchases = server.accounts.purchases().unwrap();
    server.accounts.pay_purchase(purchases[0].id, None, &server.test_act()).unwrap();
    assert_eq!(wallet(&server, account), 5000);
    assert!(server.get_with(CHECKOUT, &[]).json()["howToBuy"].as_str().unwrap().contains("operator"));
    // Stripe's webhook exists only if Stripe is configured.
    server
        .send_raw(
            "POST /api/v1/billing/webhook HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
        )
        .expect_error(404, "not_found");
}

#[test]
fn invalid_purchase_requests_are_refused() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    for body in ["{}", "{\"pack\":\"gold\"}", "{\"pack\":7}", "{\"pack\":\"pro\",\"credits\":99}"] {
        buy_with(&server, &key, body, "").expect_error(422, "validation_error");
    }
    buy(&server, "hb_live_wrong", "pro").expect_error(401, "invalid_api_key");
    assert!(server.accounts.purchases().unwrap().is_empty());
}

#[test]
fn an_idempotency_key_buys_once() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let pro = json!({ "pack": "pro" }).to_string();
    let retry = "Idempotency-Key: one\r\n";
    let ids: Vec<Value> = std::thread::scope(|scope| {
        let buyers: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let answered = buy_with(&server, &key, &pro, retry);
                        // Another copy is in progress.
                        if answered.status != 503 {
                            return bought(&answered)["purchase"].clone();
                        }
                    }
                })
            })
            .collect();
        buyers.into_iter().map(|buyer| buyer.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| id == "buy-1"), "{ids:?}");
    buy_with(&server, &key, "{\"pack\":\"bulk\"}", retry).expect_error(422, "validation_error");
    assert_eq!(bought(&buy_with(&server, &key, &pro, ""))["purchase"], "buy-2");
    assert_eq!(server.accounts.purchases().unwrap().len(), 2);
}

#[test]
fn repeated_stripe_notices_credit_once() {
    let (server, stripe) = start_with_cards(tariff_without_free_units());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let reply = bought(&buy(&server, &key, "starter"));
    let url = reply["checkoutUrl"].as_str().unwrap();
    let session = stripe.session_at(url);
    let asked = &stripe.received()[0];
    let of = |name: &str| asked.form.get(name).map_or("", String::as_str);
    assert_eq!(asked.path, "/v1/checkout/sessions");
    assert_eq!((of("mode"), of("line_items[0][quantity]")), ("payment", "1"));
    assert_eq!(of("line_items[0][price_data][unit_amount]"), "500");
    assert_eq!(of("line_items[0][price_data][product_data][name]"), "starter pack: 1000 credits");
    assert_eq!(of("success_url"), "https://law.example/billing/paid");
    assert_eq!(of("cancel_url"), "https://law.example/billing/left");
    assert_eq!(of("metadata[hornbook_checkout]"), of("payment_intent_data[metadata][hornbook_checkout]"));
    assert_eq!(asked.headers["authorization"], format!("Bearer {SECRET_KEY}"));
    for (path, said) in [("/billing/paid", "Thank you"), ("/billing/left", "nothing was charged")] {
        let page = server.get_with(path, &[]);
        assert_eq!(page.status, 200);
        crate::pages::is_page(&page, path);
        assert!(page.text().contains(said) && page.text().contains("<header class=\"site\">"), "{}", page.text());
    }

    let notice = stripe.paid(&session);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| stripe.deliver(&notice, server.address));
        }
    });
    stripe.deliver(&notice, server.address);
    stripe.deliver(&stripe.paid(&session), server.address);
    // The session is paid, so its expiry has no effect.
    stripe.deliver(&stripe.expired(&session), server.address);
    assert_eq!(wallet(&server, account), 1000);
    let view = server.accounts.account(account, server.clock.now()).unwrap();
    assert_eq!(view.record.tier, Tier::Starter);
    assert_eq!(server.get("/api/v1/coverage", &key).header_number("x-credits-remaining"), 999);
    let log = server.log();
    for secret in [SECRET_KEY, WEBHOOK_SECRET, "jane.roe", url] {
        assert!(!log.contains(secret), "{secret} in the log");
    }
}

#[test]
fn unsigned_or_old_notices_are_refused() {
    let (server, stripe) = start_with_cards(tariff_without_free_units());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let reply = bought(&buy(&server, &key, "starter"));
    let session = stripe.session_at(reply["checkoutUrl"].as_str().unwrap());
    let notice = stripe.paid(&session);
    let other = Notice(notice.0.replace("500", "600"));
    let signed = signature(WEBHOOK_SECRET, now(), &notice.0);
    for (notice, signature) in [
        (&notice, signature("whsec_another_secret_", now(), &notice.0)),
        (&notice, signature(WEBHOOK_SECRET, now() - 400, &notice.0)),
        (&notice, signature(WEBHOOK_SECRET, now() + 400, &notice.0)),
        (&notice, String::from("t=1,v1=00")),
        (&other, signed.clone()),
    ] {
        assert_eq!(send_signed(notice, &signature, server.address), 400, "{signature}");
    }
    let mut bytes = notice.0.clone();
    bytes.push(' ');
    assert_eq!(send_signed(&Notice(bytes), &signed, server.address), 400, "the bytes count, not what they mean");
    let nonsense = Notice("[]".to_owned());
    assert_eq!(stripe.send(&nonsense, server.address), 400);
    assert_eq!(wallet(&server, account), 0);
    assert_eq!(stripe.send(&stripe.notice("customer.created", &json!({ "id": "cus_1" })), server.address), 200);
    assert_eq!(send_signed(&notice, &signed, server.address), 200);
    assert_eq!(wallet(&server, account), 1000);
}

#[test]
fn wrong_amounts_or_currencies_are_not_credited() {
    let (server, stripe) = start_with_cards(tariff_without_free_units());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    for (name, value) in [("amount_total", json!(499)), ("currency", json!("mxn"))] {
        let reply = bought(&buy(&server, &key, "starter"));
        let mut session = stripe.session_at(reply["checkoutUrl"].as_str().unwrap());
        session[name] = value;
        // The notice is accepted, because sending it again would change nothing. The operator sees the problem.
        stripe.deliver(&stripe.paid(&session), server.address);
    }
    assert_eq!(wallet(&server, account), 0);
    let problems: Vec<String> =
        server.accounts.checkouts().unwrap().into_iter().flat_map(|checkout| checkout.problems).collect();
    assert_eq!(problems.len(), 2);
    assert!(server.log().contains("were paid instead of 500 usd"));
}

#[test]
fn refunds_and_disputes_take_credits_back_in_any_order() {
    let (server, stripe) = start_with_cards(tariff_without_free_units());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let reply = bought(&buy(&server, &key, "starter"));
    let session = stripe.session_at(reply["checkoutUrl"].as_str().unwrap());
    // The refund and the notice of another dispute arrive before the payment, and are kept until it
    // arrives. A notice about a payment that is not ours is accepted too, because Stripe would
    // repeat a refused one for days.
    let early = stripe.disputed(&session, "charge.dispute.created", "needs_response");
    let mut foreign = session.clone();
    foreign["id"] = serde_json::json!("cs_foreign");
    let foreign = stripe.disputed(&foreign, "charge.dispute.created", "needs_response");
    let without_intent =
        json!({ "id": "dp_9", "payment_intent": null, "amount": 9, "currency": "usd", "status": "lost" });
    let without_intent = stripe.notice("charge.dispute.closed", &without_intent);
    for notice in [&early, &foreign, &without_intent] {
        assert_eq!(stripe.send(notice, server.address), 200);
    }
    stripe.deliver(&stripe.refunded(&session, 250), server.address);
    stripe.deliver(&stripe.paid(&session), server.address);
    assert_eq!(wallet(&server, account), 0);
    stripe.deliver(&stripe.disputed(&session, "charge.dispute.closed", "won"), server.address);
    assert_eq!(wallet(&server, account), 500);
    assert_eq!(server.get("/api/v1/coverage", &key).header_number("x-credits-remaining"), 499);
    let mut dispute = stripe.disputed(&session, "charge.dispute.created", "needs_response");
    dispute.0 = dispute.0.replace("dp_", "dp_second_");
    stripe.deliver(&dispute, server.address);
    stripe.deliver(&dispute, server.address);
    assert_eq!(wallet(&server, account), -1);
    server.get("/api/v1/coverage", &key).expect_error(402, "insufficient_credits");
    assert_eq!(bought(&buy(&server, &key, "starter"))["status"], "requested", "buying needs no credits");
    let mut won = stripe.disputed(&session, "charge.dispute.closed", "won");
    won.0 = won.0.replace("dp_", "dp_second_");
    stripe.deliver(&won, server.address);
    assert_eq!(wallet(&server, account), 499);
    stripe.deliver(&dispute, server.address);
    assert_eq!(wallet(&server, account), 499, "a closed dispute was opened again");
    server.accounts.verify_ledger().unwrap();
}

#[test]
fn stripe_failures_lose_nothing_and_retries_get_the_same_page() {
    let (server, stripe) = start_with_cards(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let starter = json!({ "pack": "starter" }).to_string();
    let retry = "Idempotency-Key: one\r\n";
    // A single failure has no effect.
    stripe.fail(&[StripeFault::Refuse(500)]);
    assert!(bought(&buy(&server, &key, "pro"))["checkoutUrl"].is_string());
    for faults in [[StripeFault::Refuse(503); 2], [StripeFault::DropResponse; 2]] {
        stripe.fail(&faults);
        let refused = buy_with(&server, &key, &starter, retry);
        refused.expect_error(503, "payment_unavailable");
        assert!(!refused.text().contains("some_code"), "the response contains Stripe's message");
    }
    let pages = stripe.sessions().len();
    let reply = bought(&buy_with(&server, &key, &starter, retry));
    assert_eq!((&reply["purchase"], stripe.sessions().len()), (&json!("buy-2"), pages), "the page that was made");
    // Without an idempotency key the request cannot be repeated, so the purchase is cancelled.
    stripe.fail(&[StripeFault::Refuse(400)]);
    buy(&server, &key, "bulk").expect_error(503, "payment_unavailable");
    let purchases = server.accounts.purchases().unwrap();
    assert_eq!((purchases.len(), purchases[2].status), (3, PurchaseStatus::Cancelled));
    assert!(server.log().contains("Stripe answered 400 api_error some_code; its request id is req_1"));
    stripe.deliver(&stripe.paid(&stripe.session_at(reply["checkoutUrl"].as_str().unwrap())), server.address);
    assert_eq!(wallet(&server, account), 1000);
    assert_eq!(bought(&buy_with(&server, &key, &starter, retry))["status"], "paid");
}

#[test]
fn a_hanging_stripe_does_not_block_searches() {
    let (server, stripe) = start_with_cards(generous_tariff());
    let key = server.create_full_key();
    // More than the threads for heavy work.
    stripe.fail(&[StripeFault::Hold; 4]);
    std::thread::scope(|scope| {
        let buyers: Vec<_> = (0..4).map(|_| scope.spawn(|| buy(&server, &key, "starter").status)).collect();
        crate::test_server::wait_until("four requests at Stripe", || stripe.received().len() == 4);
        assert_eq!(server.get("/api/v1/search?q=deposit", &key).status, 200);
        stripe.release();
        assert!(buyers.into_iter().all(|buyer| buyer.join().unwrap() == 200));
    });
}

/// The payment URL on the review page.
pub(crate) fn pay_url(page: &TestResponse) -> String {
    assert_eq!(page.status, 200, "{}", page.text());
    let text = page.text();
    let link = text.split("href=\"https://checkout.example").nth(1).unwrap_or_else(|| panic!("no link in {text}"));
    format!("https://checkout.example{}", link.split('"').next().unwrap())
}

#[test]
fn a_company_is_formed_and_paid_by_card() {
    let (server, stripe) = start_with_cards(Tariff::CONTRACT);
    let account = server.create_account(0);
    let key = server.create_key(account, &[Scope::Formation]);
    let authorization = format!("Bearer {key}");
    let body = intake().to_string();
    let handed_over = post(&server, "/api/v1/formation/handoff", &[("Authorization", &authorization)], &body);
    let review = handed_over.json()["reviewUrl"].as_str().unwrap().replace("https://law.example", "");
    assert!(server.get_with(&review, &[]).text().contains("$110.00") && stripe.received().is_empty());

    // The order is made even if there is no payment page yet.
    stripe.fail(&[StripeFault::Refuse(503); 2]);
    let accepted = post(&server, &review, &[], "confirmed=yes");
    assert!(accepted.status == 200 && !accepted.text().contains("checkout.example"), "{}", accepted.text());
    let url = pay_url(&post(&server, &review, &[], "confirmed=yes"));
    assert_eq!(pay_url(&post(&server, &review, &[], "confirmed=yes")), url, "one page for the order");
    let session = stripe.session_at(&url);
    assert_eq!((&session["amount_total"], stripe.sessions().len()), (&json!(11_000), 1));
    for asked in stripe.received() {
        assert!(!format!("{asked:?}").contains("Ondarza"), "nothing of the intake leaves the service");
    }
    let order = server.accounts.orders().unwrap().remove(0);
    assert_eq!(order.stage(), OrderStage::Payment);

    let mut wrong = session.clone();
    wrong["currency"] = json!("mxn");
    let notice = stripe.paid(&session);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| stripe.deliver(&notice, server.address));
        }
    });
    stripe.deliver(&stripe.paid(&wrong), server.address);
    let paid = server.accounts.order(order.id).unwrap().unwrap();
    assert_eq!((paid.stage(), paid.stages.len()), (OrderStage::Setup, 3));
    assert_eq!(paid.payment.unwrap().reference.as_deref(), Some("pi_test_0"));
    assert!(!post(&server, &review, &[], "confirmed=yes").text().contains("checkout.example"), "it is paid");
    assert_eq!(wallet(&server, account), 0, "an order buys no credits");

    for stage in [OrderStage::FinalReview, OrderStage::Filing, OrderStage::Completed] {
        server.accounts.advance_order(order.id, stage, &server.test_act()).unwrap();
    }
    assert_eq!(server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment, 5000);
    stripe.deliver(&stripe.refunded(&session, 11_000), server.address);
    let problems = server.accounts.checkouts().unwrap().remove(0).problems;
    assert_eq!(problems, ["11000 of 11000 cents were refunded"]);
    server.accounts.verify_ledger().unwrap();
}
