//! Payments that an operator confirms by hand, alone and beside the provider's reports.

use hornbook_accounts::Settings;
use hornbook_accounts::changes::{NewOrder, PaymentReport, ReportResult};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::ids::OrderId;
use hornbook_accounts::records::{CheckoutRecord, DisputeState, OrderStage, PaymentEvent, PurchaseStatus};
use hornbook_accounts::tier::PackName;

use crate::fixture::{PaymentFixture, paid, refunded};
use crate::support::act;

/// A payment that the operator confirmed by hand before the provider reported it, and a payment
/// that was confirmed for another purchase than the one it was made for.
#[test]
fn a_payment_counts_once_for_operator_and_provider() {
    let shop = PaymentFixture::open(Settings::default());
    let accounts = &shop.accounts;
    let bought = shop.buy(PackName::Starter, 1);
    let payment = format!("pi_{}", bought.id);
    accounts.pay_purchase(bought.id, Some(payment.clone()), &act(shop.now)).unwrap();
    assert_eq!(shop.report(paid(&bought)), ReportResult::Known, "the same payment of the same purchase");
    assert!(accounts.checkout(bought.checkout.unwrap()).unwrap().unwrap().problems.is_empty());
    assert_eq!(shop.wallet(), 1000);
    // A refund of it is a refund of the credited payment.
    assert_eq!(shop.report(refunded(&bought, 500)), ReportResult::Applied);
    assert_eq!(shop.wallet(), 0);
    // The same for a refund that was reported before the payment.
    let early = shop.buy(PackName::Starter, 9);
    accounts.pay_purchase(early.id, Some(format!("pi_{}", early.id)), &act(shop.now)).unwrap();
    shop.report(refunded(&early, 250));
    assert_eq!(shop.report(paid(&early)), ReportResult::Applied);
    assert_eq!(shop.report(paid(&early)), ReportResult::Known);
    assert_eq!(shop.wallet(), 500);
    shop.report(refunded(&early, 500));
    assert_eq!(shop.wallet(), 0);

    let (first, second) = (shop.buy(PackName::Starter, 2), shop.buy(PackName::Starter, 3));
    let payment = format!("pi_{}", second.id);
    accounts.pay_purchase(first.id, Some(payment.clone()), &act(shop.now)).unwrap();
    let ReportResult::Problem(reported) = shop.report(paid(&second)) else { panic!("one payment bought two packs") };
    assert!(reported.contains(&payment) && reported.contains(&first.id.to_string()), "{reported}");
    assert_eq!((shop.wallet(), shop.status(&second)), (1000, PurchaseStatus::Requested));

    // In the opposite order, and for an order.
    let third = shop.buy(PackName::Starter, 4);
    shop.report(paid(&third));
    let payment = Some(format!("pi_{}", third.id));
    assert!(accounts.pay_purchase(second.id, payment.clone(), &act(shop.now)).is_err());
    let order = order_of(&shop, 5);
    assert!(accounts.pay_order(order, payment, &act(shop.now)).is_err());
    // A paid order opens no further payment page.
    page_of_order(&shop, order, 6);
    accounts.pay_order(order, Some("bank-7".to_owned()), &act(shop.now)).unwrap();
    let reopened = accounts.open_order_checkout(order, 500, shop.now.wall, &mut SeededEntropy(7));
    let refused = reopened.unwrap_err().to_string();
    assert!(refused.contains("was already paid"), "{refused}");
    accounts.verify_ledger().unwrap();
}

fn order_of(shop: &PaymentFixture, seed: u64) -> OrderId {
    let order = NewOrder {
        account: shop.owner.account,
        entity_name: "Quill LLC".to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "us-de".to_owned(),
    };
    shop.accounts.create_order(order, &act(shop.now), &mut SeededEntropy(seed)).unwrap().0.id
}

fn page_of_order(shop: &PaymentFixture, order: OrderId, seed: u64) -> CheckoutRecord {
    shop.accounts.open_order_checkout(order, 500, shop.now.wall, &mut SeededEntropy(seed)).unwrap()
}

fn order_paid(page: &CheckoutRecord, payment: &str) -> PaymentReport {
    PaymentReport::Paid {
        checkout: page.id,
        session: "cs_order".to_owned(),
        payment: payment.to_owned(),
        amount: page.amount_cents.into(),
        currency: "usd".to_owned(),
    }
}

/// Otherwise nobody would know whether a card payment that is reported later is the confirmed one or a second one.
#[test]
fn what_has_a_payment_page_is_confirmed_with_a_reference_only() {
    let shop = PaymentFixture::open(Settings::default());
    let (accounts, act) = (&shop.accounts, act(shop.now));
    let bought = shop.buy(PackName::Starter, 1);
    let refused = accounts.pay_purchase(bought.id, None, &act).unwrap_err().to_string();
    assert!(refused.contains("give a reference") && refused.contains(&bought.id.to_string()), "{refused}");
    assert_eq!((shop.wallet(), shop.status(&bought)), (0, PurchaseStatus::Requested));
    // The provider's notice credits it after that, as if nothing had been tried.
    assert_eq!(shop.report(paid(&bought)), ReportResult::Applied);
    assert_eq!(shop.wallet(), 1000);

    let order = order_of(&shop, 2);
    let page = page_of_order(&shop, order, 3);
    let refused = accounts.pay_order(order, None, &act).unwrap_err().to_string();
    assert!(refused.contains("give a reference") && refused.contains(&order.to_string()), "{refused}");
    accounts.pay_order(order, Some("pi_order".to_owned()), &act).unwrap();
    assert_eq!(shop.report(order_paid(&page, "pi_order")), ReportResult::Known);
    assert!(accounts.payment_problems().unwrap().is_empty());
    accounts.verify_ledger().unwrap();
}

/// Each payment has a reference that is unique to what it paid for, also without one from the operator.
#[test]
fn a_payment_without_a_reference_counts_under_one_of_its_own() {
    let shop = PaymentFixture::open(Settings::default());
    let (accounts, act) = (&shop.accounts, act(shop.now));
    let by_arrangement = || accounts.request_purchase(shop.owner.account, PackName::Starter, &act).unwrap().id;
    let (first, second) = (by_arrangement(), by_arrangement());
    let own = format!("by hand: {first}");
    assert_eq!(accounts.pay_purchase(first, None, &act).unwrap().payment_reference.as_ref(), Some(&own));
    assert!(accounts.pay_purchase(first, None, &act).is_err(), "a confirmation without a reference is not repeated");
    for id in [first, second] {
        let refused = accounts.pay_purchase(id, Some(own.clone()), &act).unwrap_err().to_string();
        assert!(refused.contains("cannot begin with 'by hand: '"), "{refused}");
    }
    accounts.pay_purchase(second, None, &act).unwrap();
    assert_eq!(shop.wallet(), 2000);

    let order = order_of(&shop, 1);
    let payment = accounts.pay_order(order, None, &act).unwrap().payment.unwrap();
    assert_eq!(payment.reference, Some(format!("by hand: {order}")));
    accounts.verify_ledger().unwrap();
}

/// A payment by card of something that was confirmed under another reference may be the same payment, or a second
/// one. Only the operator can know, so the problem names both.
#[test]
fn a_card_payment_after_a_confirmation_names_both_payments() {
    let shop = PaymentFixture::open(Settings::default());
    let (accounts, act) = (&shop.accounts, act(shop.now));
    let bought = shop.buy(PackName::Starter, 1);
    accounts.pay_purchase(bought.id, Some("ch_1".to_owned()), &act).unwrap();
    let (order, payment) = (order_of(&shop, 2), format!("pi_{}", bought.id));
    let page = page_of_order(&shop, order, 3);
    accounts.pay_order(order, Some("wire 7".to_owned()), &act).unwrap();
    for (report, payment, counted) in
        [(paid(&bought), payment.as_str(), "ch_1"), (order_paid(&page, "pi_order"), "pi_order", "wire 7")]
    {
        let ReportResult::Problem(why) = shop.report(report) else { panic!("{payment} is not reported") };
        let expected = format!(
            "it was paid by {payment}, but it was already marked as paid by {counted}; refund {payment}, unless both are \
             the same payment"
        );
        assert_eq!(why, expected);
    }
    assert_eq!(shop.wallet(), 1000);
    accounts.verify_ledger().unwrap();
}

/// Money that goes back from a payment that was used for something else takes no credits by itself; the operator is
/// asked to.
#[test]
fn a_refund_of_a_payment_that_was_used_for_another_purchase_becomes_a_problem() {
    let shop = PaymentFixture::open(Settings::default());
    let (accounts, act) = (&shop.accounts, act(shop.now));
    let (first, second) = (shop.buy(PackName::Starter, 1), shop.buy(PackName::Starter, 2));
    accounts.pay_purchase(first.id, Some(format!("pi_{}", second.id)), &act).unwrap();
    assert!(matches!(shop.report(paid(&second)), ReportResult::Problem(_)));
    accounts.close_payment_problems(second.checkout.unwrap(), usize::MAX, &act).unwrap();
    let ReportResult::Problem(why) = shop.report(refunded(&second, 500)) else { panic!("the refund is not reported") };
    assert!(why.starts_with("500 of 500 cents were refunded") && why.contains(&first.id.to_string()), "{why}");
    assert_eq!(shop.wallet(), 1000);
    accounts.verify_ledger().unwrap();
}

/// A page that was paid twice: a refund of the second payment, reported before the first, takes nothing of the first.
#[test]
fn a_refund_counts_for_its_own_payment_only() {
    let shop = PaymentFixture::open(Settings::default());
    let bought = shop.buy(PackName::Starter, 1);
    let PaymentReport::Refunded { checkout, amount, at_sec, .. } = refunded(&bought, 500) else {
        unreachable!("it is")
    };
    let of_second = PaymentReport::Refunded { checkout, payment: "pi_second".to_owned(), amount, at_sec };
    assert_eq!(shop.report(of_second), ReportResult::Kept);
    assert_eq!(shop.report(refunded(&bought, 100)), ReportResult::Kept);
    assert_eq!(shop.report(paid(&bought)), ReportResult::Applied);
    assert_eq!(shop.wallet(), 800);
    shop.accounts.verify_ledger().unwrap();
}

/// What is reported about the payment of an order before the payment itself becomes a problem too.
#[test]
fn disputes_and_refunds_of_an_order_reach_the_operator_in_any_order() {
    let shop = PaymentFixture::open(Settings::default());
    let page = page_of_order(&shop, order_of(&shop, 1), 2);
    let payment = "pi_order".to_owned();
    let event = PaymentEvent::Disputed { dispute: "dp_1".to_owned(), amount: None, state: DisputeState::Open };
    assert_eq!(shop.report(PaymentReport::Event { payment: payment.clone(), event }), ReportResult::Kept);
    let back = PaymentReport::Refunded { checkout: page.id, payment: payment.clone(), amount: 200, at_sec: 0 };
    assert_eq!(shop.report(back), ReportResult::Kept);
    assert_eq!(shop.report(order_paid(&page, &payment)), ReportResult::Applied);
    let order = shop.accounts.orders().unwrap().remove(0);
    assert_eq!((order.stage(), order.payment.unwrap().reference), (OrderStage::Setup, Some(payment)));
    let problems = shop.accounts.payment_problems().unwrap().remove(0).problems;
    assert_eq!(problems, ["200 of 500 cents were refunded", "dispute dp_1 is open"]);
}
