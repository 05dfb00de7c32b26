//! Card payments: compared with a simple model, on failing disks, and across restarts. Each report
//! of Stripe counts once, in any order.

#[expect(dead_code, reason = "the tests of accounts use all of it")]
#[path = "../accounts/tests/it/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};

use hornbook_accounts::admission::MeteringReceipt;
use hornbook_accounts::changes::{
    NewOrder, NewPurchase, OPEN_PURCHASES_MAX, OpenedPurchase, PaymentReport, ReportResult, SignUp,
};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::Refusal;
use hornbook_accounts::ids::{AccountId, CheckoutId, Credits};
use hornbook_accounts::people::Password;
use hornbook_accounts::records::{CheckoutPage, DisputeState, PaymentEvent, PurchaseRecord, PurchaseStatus};
use hornbook_accounts::tier::{PackName, Tariff};
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::Now;

use support::disk::{DiskFault, EIO, ENOSPC, FaultOn, SimulatedDisk};
use support::{
    Customer, act, clock_at_noon, create_customer, fast_settings, make_call, now_of, start_accounts, wait_until_healthy,
};

/// Accounts with one customer at a fixed time.
struct PaymentFixture {
    disk: SimulatedDisk,
    settings: Settings,
    accounts: Accounts,
    owner: Customer,
    now: Now,
}

impl PaymentFixture {
    fn open(settings: Settings) -> Self {
        let (now, disk) = (now_of(&clock_at_noon()), SimulatedDisk::with_schema());
        let accounts = start_accounts(disk.medium(), settings, now);
        let owner = create_customer(&accounts, 0, 1, now);
        Self { disk, settings, accounts, owner, now }
    }

    /// In a month without free units.
    fn without_free_units() -> Self {
        Self::open(fast_settings(Durability::Strict, 0))
    }

    fn wish(&self, pack: PackName) -> NewPurchase {
        wish(self.owner.account, pack, None)
    }

    fn buy(&self, pack: PackName, seed: u64) -> PurchaseRecord {
        self.buy_as(self.wish(pack), seed)
    }

    fn buy_as(&self, wish: NewPurchase, seed: u64) -> PurchaseRecord {
        self.buy_at(wish, seed, self.now)
    }

    fn buy_at(&self, wish: NewPurchase, seed: u64, now: Now) -> PurchaseRecord {
        match self.accounts.open_purchase(wish, &act(now), &mut SeededEntropy(seed)).unwrap() {
            OpenedPurchase::New(purchase) | OpenedPurchase::Known(purchase) => *purchase,
            other => panic!("{other:?}"),
        }
    }

    fn report(&self, report: PaymentReport) -> ReportResult {
        self.accounts.report_payment(report, &act(self.now)).unwrap()
    }

    fn grant(&self, credits: u32) {
        self.accounts.grant(self.owner.account, Credits(credits), "test".to_owned(), &act(self.now)).unwrap();
    }

    fn call(&self, cost: u32) -> Result<MeteringReceipt, Refusal> {
        make_call(&self.accounts, &self.owner.keys[0], cost, None, self.now)
    }

    fn wallet(&self) -> i64 {
        self.accounts.account(self.owner.account, self.now).unwrap().remaining.wallet
    }

    fn status(&self, purchase: &PurchaseRecord) -> PurchaseStatus {
        self.accounts.purchases().unwrap().into_iter().find(|one| one.id == purchase.id).unwrap().status
    }

    /// Restarts at this time.
    fn reopened(self, now: Now) -> Self {
        self.accounts.close();
        let accounts = start_accounts(self.disk.medium(), self.settings, now);
        Self { accounts, now, ..self }
    }
}

fn wish(account: AccountId, pack: PackName, retry: Option<&str>) -> NewPurchase {
    NewPurchase { account, pack, retry: retry.map(str::to_owned), by_card: true }
}

fn paid(purchase: &PurchaseRecord) -> PaymentReport {
    PaymentReport::Paid {
        checkout: purchase.checkout.unwrap(),
        session: format!("cs_{}", purchase.id),
        payment: format!("pi_{}", purchase.id),
        amount: purchase.price_cents.into(),
        currency: "usd".to_owned(),
    }
}

fn refunded(purchase: &PurchaseRecord, amount: u64) -> PaymentReport {
    let (checkout, payment) = (purchase.checkout.unwrap(), format!("pi_{}", purchase.id));
    PaymentReport::Refunded { checkout, payment, amount, at_sec: 0 }
}

fn disputed(purchase: &PurchaseRecord, dispute: &str, amount: Option<u64>, state: DisputeState) -> PaymentReport {
    let payment = format!("pi_{}", purchase.id);
    PaymentReport::Event { payment, event: PaymentEvent::Disputed { dispute: dispute.to_owned(), amount, state } }
}

/// A failed refund, reported after all sums, which are reported at time 0.
fn refund_failed(purchase: &PurchaseRecord, refund: &str, amount: u64, at_sec: i64) -> PaymentReport {
    let payment = format!("pi_{}", purchase.id);
    PaymentReport::Event { payment, event: PaymentEvent::RefundFailed { refund: refund.to_owned(), amount, at_sec } }
}

#[test]
fn a_refund_can_make_the_wallet_negative() {
    let shop = PaymentFixture::open(fast_settings(Durability::Strict, 2));
    let first = shop.buy(PackName::Starter, 1);
    assert_eq!(shop.report(paid(&first)), ReportResult::Applied);
    assert_eq!(shop.call(402).unwrap().credits_remaining(), 600);

    // Half of the price is half of the credits.
    shop.report(refunded(&first, 250));
    assert_eq!(shop.wallet(), 100);
    shop.report(refunded(&first, 500));
    assert_eq!((shop.wallet(), shop.status(&first)), (-400, PurchaseStatus::Refunded));
    match shop.call(1) {
        Err(Refusal::Credits { remaining, .. }) => assert_eq!(remaining.wallet, -400),
        other => panic!("a call without credits succeeded: {:?}", other.err()),
    }
    assert!(shop.accounts.adjust(shop.owner.account, -1, "test".to_owned(), &act(shop.now)).is_err());
    shop.grant(399);
    assert!(shop.call(1).is_err());
    shop.grant(2);
    assert_eq!(shop.call(1).unwrap().credits_remaining(), 0);
    shop.accounts.verify_ledger().unwrap();
}

#[test]
fn free_units_can_be_used_while_the_wallet_is_below_zero() {
    let mut shop = PaymentFixture::open(fast_settings(Durability::Strict, 1000));
    let bought = shop.buy(PackName::Starter, 1);
    shop.report(paid(&bought));
    shop.call(1500).unwrap();
    shop.report(refunded(&bought, 500));
    assert_eq!(shop.wallet(), -500);
    // The next month begins.
    shop.now.wall = shop.now.wall.plus_millis(31 * 86_400_000);
    let receipt = shop.call(7).unwrap();
    assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (0, 993));
    shop.accounts.verify_ledger().unwrap();
    let next = shop.now;
    let again = shop.reopened(next);
    assert_eq!(again.wallet(), -500);
    again.accounts.verify_ledger().unwrap();
}

#[test]
fn a_dispute_takes_the_credits_until_it_is_won() {
    let shop = PaymentFixture::open(Settings::default());
    let bought = shop.buy(PackName::Pro, 1);
    shop.report(paid(&bought));
    for (state, left) in [(DisputeState::Open, 0), (DisputeState::Won, 5000)] {
        assert_eq!(shop.report(disputed(&bought, "dp_1", None, state)), ReportResult::Applied);
        assert_eq!(shop.report(disputed(&bought, "dp_1", None, state)), ReportResult::Known);
        assert_eq!(shop.wallet(), left, "{state:?}");
    }
    let reopened = shop.report(disputed(&bought, "dp_1", None, DisputeState::Open));
    assert_eq!(reopened, ReportResult::Known, "it has ended");
    // The end of a dispute over a part of the price, whose start was not reported.
    shop.report(disputed(&bought, "dp_2", Some(1000), DisputeState::Lost));
    assert_eq!(shop.wallet(), 2500);
    // What was already taken back is not taken twice.
    shop.report(refunded(&bought, 2000));
    assert_eq!(shop.wallet(), 0);
    shop.accounts.verify_ledger().unwrap();
}

#[test]
fn mismatched_payments_are_not_credited_and_become_problems() {
    let shop = PaymentFixture::open(Settings::default());
    let accounts = &shop.accounts;
    let changed = |change: fn(&mut u64, &mut String, &mut String)| {
        let bought = shop.buy(PackName::Starter, accounts.purchases().unwrap().len() as u64);
        let PaymentReport::Paid { checkout, mut session, payment, mut amount, mut currency } = paid(&bought) else {
            unreachable!("it is paid")
        };
        let page = CheckoutPage { session: session.clone(), url: "https://pay.example/".to_owned() };
        accounts.store_checkout_page(checkout, page).unwrap();
        change(&mut amount, &mut currency, &mut session);
        let report = PaymentReport::Paid { checkout, session, payment, amount, currency };
        let result = shop.report(report.clone());
        assert!(matches!(result, ReportResult::Problem(_)), "{result:?}");
        assert_eq!(shop.report(report), ReportResult::Known, "the repeated report was not recognised");
        assert!(accounts.checkout(checkout).unwrap().unwrap().problems.len() == 1);
        assert_eq!(shop.status(&bought), PurchaseStatus::Requested);
        accounts.cancel_purchase(bought.id, &act(shop.now)).unwrap();
    };
    changed(|amount, _, _| *amount = 499);
    changed(|amount, _, _| *amount = 50_000);
    changed(|_, currency, _| *currency = "mxn".to_owned());
    changed(|_, _, session| *session = "cs_other".to_owned());
    assert_eq!(shop.wallet(), 0);
    let stranger = CheckoutId(uuid::Uuid::from_u128(7));
    let stranger = PaymentReport::NotPaid { checkout: stranger, session: "cs".to_owned() };
    assert_eq!(shop.report(stranger), ReportResult::Unknown);

    // Paid by card after the operator confirmed another payment: only one counts.
    let bought = shop.buy(PackName::Starter, 99);
    accounts.pay_purchase(bought.id, Some("cash".to_owned()), &act(shop.now)).unwrap();
    assert!(matches!(shop.report(paid(&bought)), ReportResult::Problem(_)));
    // Its refund takes nothing, because it was never credited.
    shop.report(refunded(&bought, 500));
    assert_eq!(shop.wallet(), 1000);
    accounts.verify_ledger().unwrap();
}

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
    let order = NewOrder {
        account: shop.owner.account,
        entity_name: "Quill LLC".to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "us-de".to_owned(),
    };
    let (order, _) = accounts.create_order(order, &act(shop.now), &mut SeededEntropy(5)).unwrap();
    assert!(accounts.pay_order(order.id, payment, &act(shop.now)).is_err());
    // A paid order opens no further payment page.
    let (at, entropy) = (shop.now.wall, &mut SeededEntropy(6));
    accounts.open_order_checkout(order.id, 500, at, entropy).unwrap();
    accounts.pay_order(order.id, Some("bank-7".to_owned()), &act(shop.now)).unwrap();
    let refused = accounts.open_order_checkout(order.id, 500, at, entropy).unwrap_err().to_string();
    assert!(refused.contains("was already paid"), "{refused}");
    accounts.verify_ledger().unwrap();
}

/// Failed and successful refunds, as a provider reports them, in any order and repeated: in the end
/// exactly the credits of the successful ones are taken back.
#[test]
fn failed_refunds_restore_credits_in_any_order() {
    let mut random = SeededEntropy(11);
    for round in 0..300 {
        let shop = PaymentFixture::open(Settings::default());
        let bought = shop.buy(PackName::Starter, round);
        // The provider's timeline: each refund has a time, and some fail at a later one.
        let mut refunds: Vec<(i64, u64, Option<i64>)> = Vec::new();
        let mut at_sec = 100;
        let mut notices = vec![paid(&bought)];
        for number in 0..1 + random.below(3) {
            at_sec += 1 + random.below(3) as i64;
            refunds.push((at_sec, 1 + random.below(160), None));
            let went_back = |refunds: &[(i64, u64, Option<i64>)]| {
                refunds.iter().filter(|(_, _, failed)| failed.is_none()).map(|(_, cents, _)| cents).sum::<u64>()
            };
            let PaymentReport::Refunded { checkout, payment, .. } = refunded(&bought, 0) else {
                unreachable!("it is one")
            };
            notices.push(PaymentReport::Refunded { checkout, payment, amount: went_back(&refunds), at_sec });
            if random.below(2) == 0 {
                let failing = random.below(refunds.len() as u64) as usize;
                if refunds[failing].2.is_none() {
                    at_sec += random.below(2) as i64;
                    refunds[failing].2 = Some(at_sec);
                    notices.push(refund_failed(&bought, &format!("re_{number}"), refunds[failing].1, at_sec));
                }
            }
        }
        let stayed: u64 = refunds.iter().filter(|(_, _, failed)| failed.is_none()).map(|(_, cents, _)| cents).sum();
        for _ in 0..2 {
            let mut left = notices.clone();
            while !left.is_empty() {
                shop.report(left.swap_remove(random.below(left.len() as u64) as usize));
            }
        }
        let expected = 1000 - 1000 * stayed / u64::from(bought.price_cents);
        assert_eq!(shop.wallet(), expected as i64, "round {round}: {refunds:?}");
        let failures = refunds.iter().filter(|(_, _, failed)| failed.is_some()).count();
        assert_eq!(shop.accounts.payment_problems().unwrap().iter().flat_map(|one| &one.problems).count(), failures);
        shop.accounts.verify_ledger().unwrap();
    }
}

#[test]
fn a_payment_for_a_deleted_account_becomes_a_problem() {
    let shop = PaymentFixture::open(Settings::default());
    let (act, entropy) = (act(shop.now), &mut SeededEntropy(3));
    let (login, password) = ("jane".parse().unwrap(), Password::new("correct horse").unwrap());
    let proof = shop.accounts.sign_up(SignUp { login, password, approve: true }, &act, entropy).unwrap();
    let account = proof.account();
    let by_card = shop.buy_as(wish(account, PackName::Starter, None), 1);
    let by_hand = shop.buy_as(wish(account, PackName::Starter, None), 2);
    shop.accounts.delete_account(proof, &act).unwrap();
    let ReportResult::Problem(why) = shop.report(paid(&by_card)) else { panic!("the payment was credited") };
    assert!(why.contains("deleted"), "{why}");
    let refused = shop.accounts.pay_purchase(by_hand.id, None, &act).unwrap_err().to_string();
    assert!(refused.contains("deleted"), "{refused}");
    assert_eq!(shop.accounts.account(account, shop.now).unwrap().remaining.wallet, 0);
    shop.accounts.verify_ledger().unwrap();
}

/// All problems of a payment are listed. One that is added after the operator has seen the list stays open.
#[test]
fn all_problems_of_a_payment_are_kept() {
    let shop = PaymentFixture::open(Settings::default());
    let bought = shop.buy(PackName::Starter, 1);
    shop.report(paid(&bought));
    let again = |payment: &str| {
        let PaymentReport::Paid { checkout, session, amount, currency, .. } = paid(&bought) else {
            unreachable!("it is one")
        };
        PaymentReport::Paid { checkout, session, payment: payment.to_owned(), amount, currency }
    };
    shop.report(again("pi_twice"));
    let shown = shop.accounts.payment_problems().unwrap()[0].problems.len();
    shop.report(again("pi_thrice"));
    let problems = shop.accounts.payment_problems().unwrap().remove(0).problems;
    assert!(problems[0].contains("pi_twice") && problems[1].contains("pi_thrice"), "{problems:?}");
    shop.accounts.close_payment_problems(bought.checkout.unwrap(), shown, &act(shop.now)).unwrap();
    assert_eq!(shop.accounts.payment_problems().unwrap().remove(0).problems, problems[1..]);
    shop.accounts.close_payment_problems(bought.checkout.unwrap(), usize::MAX, &act(shop.now)).unwrap();
    assert!(shop.accounts.payment_problems().unwrap().is_empty());
}

/// The results of eight threads that run the same work at the same time.
fn run_on_eight_threads<T: Send>(work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || work(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn an_idempotency_key_buys_once_and_open_purchases_are_limited() {
    let shop = PaymentFixture::open(Settings::default());
    let other = create_customer(&shop.accounts, 0, 1, shop.now).account;
    let with_key = |account, pack| wish(account, pack, Some("k"));
    let owner = shop.owner.account;
    let first = shop.buy_as(with_key(owner, PackName::Pro), 1);
    let ids = run_on_eight_threads(|seed| shop.buy_as(with_key(owner, PackName::Pro), seed).id);
    assert!(ids.iter().all(|id| *id == first.id), "{ids:?}");
    let opened = |wish| shop.accounts.open_purchase(wish, &act(shop.now), &mut SeededEntropy(50)).unwrap();
    let another = opened(with_key(owner, PackName::Bulk));
    assert!(matches!(another, OpenedPurchase::OtherPack), "{another:?}");
    assert_ne!(shop.buy_as(with_key(other, PackName::Pro), 51).id, first.id);
    // A day later, the key still refers to this purchase.
    let later = Now { wall: shop.now.wall.plus_millis(24 * 3_600_000), ..shop.now };
    let known = shop.buy_at(with_key(owner, PackName::Pro), 52, later);
    assert_eq!((known.id, known.status), (first.id, PurchaseStatus::Requested));

    for seed in 1..OPEN_PURCHASES_MAX as u64 {
        shop.buy(PackName::Starter, 100 + seed);
    }
    assert!(matches!(opened(shop.wish(PackName::Starter)), OpenedPurchase::TooManyOpen));
    shop.buy_as(wish(other, PackName::Starter, None), 200);
    // Payment pages close after a day, even if Stripe does not report it.
    let much_later = Now { wall: shop.now.wall.plus_millis(26 * 3_600_000), ..shop.now };
    let closed = shop.buy_at(with_key(other, PackName::Pro), 53, much_later);
    assert_eq!(closed.status, PurchaseStatus::Cancelled, "a page that is closed is not handed out again");
    shop.buy_at(shop.wish(PackName::Starter), 201, much_later);
    assert_eq!(shop.status(&first), PurchaseStatus::Cancelled);
    // A payment still counts after the cancellation, because the money has arrived.
    shop.report(paid(&first));
    assert_eq!((shop.wallet(), shop.status(&first)), (5000, PurchaseStatus::Paid));
}

#[test]
fn concurrent_and_repeated_reports_credit_once() {
    let shop = PaymentFixture::without_free_units();
    let bought = shop.buy(PackName::Starter, 1);
    let results = run_on_eight_threads(|_| shop.report(paid(&bought)));
    let applied = results.iter().filter(|result| **result == ReportResult::Applied).count();
    assert_eq!((applied, shop.wallet()), (1, 1000));
    // As after a crash: the commit is on disk, but no answer was sent. The next start opens the
    // file in this state.
    let disk = SimulatedDisk::from_bytes(shop.disk.bytes());
    let after_a_crash =
        PaymentFixture { accounts: start_accounts(disk.medium(), shop.settings, shop.now), disk, ..shop };
    assert_eq!(after_a_crash.report(paid(&bought)), ReportResult::Known);
    assert_eq!(after_a_crash.wallet(), 1000);
    after_a_crash.accounts.verify_ledger().unwrap();
}

/// Whichever write or sync fails, the report is repeated until it is accepted, and counts once.
#[test]
fn reports_repeated_through_a_failing_disk_count_once() {
    for after in 0..24 {
        for on in [FaultOn::Write, FaultOn::Sync] {
            for error in [EIO, ENOSPC] {
                report_through_fault(DiskFault {
                    successes_before: after,
                    on,
                    error,
                    lasting: false,
                    hits_owed_file: false,
                });
            }
        }
    }
}

fn report_through_fault(fault: DiskFault) {
    let shop = PaymentFixture::without_free_units();
    let bought = shop.buy(PackName::Starter, 1);
    shop.disk.fail(Some(fault));
    let won = || shop.accounts.report_payment(disputed(&bought, "dp_1", Some(400), DisputeState::Won), &act(shop.now));
    let reports = [paid(&bought), refunded(&bought, 100), disputed(&bought, "dp_1", Some(400), DisputeState::Open)];
    let mut undelivered: Vec<PaymentReport> = reports.to_vec();
    for _ in 0..2000 {
        undelivered.retain(|report| shop.accounts.report_payment(report.clone(), &act(shop.now)).is_err());
        if undelivered.is_empty() {
            break;
        }
        let _ = wait_until_healthy(&shop.accounts);
    }
    assert!(undelivered.is_empty(), "{fault:?}: {undelivered:?}");
    assert_eq!(shop.wallet(), 0, "{fault:?}");
    won().ok();
    shop.disk.fail(None);
    wait_until_healthy(&shop.accounts).unwrap();
    won().unwrap();
    assert_eq!(shop.wallet(), 800, "{fault:?}");
    shop.accounts.verify_ledger().unwrap_or_else(|error| panic!("{fault:?}: {error}"));
}

const SEQUENCES: u64 = 400;
const STEPS: usize = 60;

/// The model's state of a purchase: sums, independent of the order of reports.
#[derive(Default)]
struct ModelPurchase {
    paid: bool,
    /// Paid by the payment on its own page, reported by the provider or by the operator.
    by_card: bool,
    /// The provider has reported that payment.
    is_reported: bool,
    cancelled: bool,
    refunded: u64,
    /// By refund: cents of failed refunds, all later than the sums.
    failed: BTreeMap<&'static str, u64>,
    /// By dispute: cents, and `Some(true)` if it was won.
    disputes: BTreeMap<&'static str, (u64, Option<bool>)>,
}

impl ModelPurchase {
    /// The credits of the purchase that the customer keeps.
    fn credits(&self, price: u64, credits: u64) -> i64 {
        if !self.paid {
            return 0;
        }
        // A refund of another payment takes back nothing that this one gave.
        if !self.by_card || !self.is_reported {
            return credits as i64;
        }
        let disputed: u64 = self.disputes.values().filter(|(_, end)| *end != Some(true)).map(|(cents, _)| cents).sum();
        let went_back = self.refunded.saturating_sub(self.failed.values().sum());
        let gone = (went_back + disputed).min(price);
        (credits - credits * gone / price) as i64
    }
}

struct Model {
    random: SeededEntropy,
    /// `None` only during a restart.
    shop: Option<PaymentFixture>,
    purchases: Vec<(PurchaseRecord, ModelPurchase)>,
    /// The payments that have paid for something.
    used_payments: BTreeSet<String>,
    spent: i64,
    granted: i64,
}

/// Reports in any order, repeated, mixed with calls, grants, restarts, and confirmations by the operator.
#[test]
fn nothing_differs_from_the_model() {
    #[expect(clippy::disallowed_methods, reason = "the caller chooses how long to test")]
    let given = std::env::var("HORNBOOK_TEST_PAYMENTS").ok().map(|count| count.parse().expect("a number of sequences"));
    for seed in 0..given.unwrap_or(SEQUENCES) {
        let (random, shop) = (SeededEntropy(seed), Some(PaymentFixture::without_free_units()));
        let mut model =
            Model { random, shop, purchases: Vec::new(), used_payments: BTreeSet::new(), spent: 0, granted: 0 };
        for step in 0..STEPS {
            model.step();
            model.compare(&format!("seed {seed}, step {step}"));
        }
        model.restart();
        model.compare(&format!("seed {seed}, at the end"));
        model.shop().accounts.verify_ledger().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

impl Model {
    fn shop(&self) -> &PaymentFixture {
        self.shop.as_ref().unwrap()
    }

    fn expected(&self) -> i64 {
        let bought: i64 = self
            .purchases
            .iter()
            .map(|(record, truth)| truth.credits(record.price_cents.into(), record.credits.0.into()))
            .sum();
        bought + self.granted - self.spent
    }

    fn compare(&self, context: &str) {
        assert_eq!(self.shop().wallet(), self.expected(), "{context}");
    }

    fn restart(&mut self) {
        let shop = self.shop.take().unwrap();
        let now = shop.now;
        self.shop = Some(shop.reopened(now));
    }

    fn step(&mut self) {
        match self.random.below(16) {
            0 | 1 if self.purchases.len() < 4 => {
                let pack = PackName::ALL[self.random.below(3) as usize];
                let seed = self.random.draw();
                self.purchases.push((self.shop().buy(pack, seed), ModelPurchase::default()));
            }
            2 => {
                let credits = 1 + self.random.below(500) as u32;
                self.shop().grant(credits);
                self.granted += i64::from(credits);
            }
            3..=6 => {
                let cost = 1 + self.random.below(2000) as u32;
                let affordable = self.expected() >= i64::from(cost);
                assert_eq!(self.shop().call(cost).is_ok(), affordable, "{cost} of {}", self.expected());
                self.spent += if affordable { i64::from(cost) } else { 0 };
            }
            7 => self.restart(),
            8 | 9 => self.confirm(),
            _ => self.report(),
        }
    }

    /// Confirms a purchase by its own payment, by another purchase's payment, or by cash.
    fn confirm(&mut self) {
        if self.purchases.is_empty() {
            return;
        }
        let mut any = || self.random.below(self.purchases.len() as u64) as usize;
        let (at, other) = (any(), any());
        let own = format!("pi_{}", self.purchases[at].0.id);
        let reference = match self.random.below(3) {
            0 => own.clone(),
            1 => format!("pi_{}", self.purchases[other].0.id),
            _ => format!("cash {}", self.random.draw()),
        };
        let shop = self.shop.as_ref().unwrap();
        let (record, truth) = &mut self.purchases[at];
        let result = shop.accounts.pay_purchase(record.id, Some(reference.clone()), &act(shop.now));
        if truth.paid {
            // Confirming the same payment again changes nothing; any other is refused.
            return;
        }
        let is_good = !truth.cancelled && !self.used_payments.contains(&reference);
        assert_eq!(result.is_ok(), is_good, "{} by {reference}: {result:?}", record.id);
        if is_good {
            (truth.paid, truth.by_card) = (true, reference == own);
            self.used_payments.insert(reference);
        }
    }

    fn report(&mut self) {
        if self.purchases.is_empty() {
            return;
        }
        let at = self.random.below(self.purchases.len() as u64) as usize;
        let (kind, amount) = (self.random.below(9), 1 + self.random.below(6000));
        let dispute = ["dp_1", "dp_2"][self.random.below(2) as usize];
        let (record, truth) = &mut self.purchases[at];
        let price = u64::from(record.price_cents);
        let by_bank = |state| disputed(record, &format!("{dispute}_{}", record.id), Some(amount), state);
        let end = |won: bool, truth: &mut ModelPurchase| {
            let (_, ended) = truth.disputes.entry(dispute).or_insert((amount, None));
            ended.get_or_insert(won);
        };
        let report = match kind {
            0 | 1 => {
                truth.is_reported = true;
                if !truth.paid && self.used_payments.insert(format!("pi_{}", record.id)) {
                    (truth.paid, truth.by_card) = (true, true);
                }
                paid(record)
            }
            2 => {
                truth.cancelled |= !truth.is_reported && !truth.paid;
                PaymentReport::NotPaid { checkout: record.checkout.unwrap(), session: format!("cs_{}", record.id) }
            }
            3 => {
                truth.refunded = truth.refunded.max(amount.min(price));
                refunded(record, amount)
            }
            4 => {
                truth.disputes.entry(dispute).or_insert((amount, None));
                by_bank(DisputeState::Open)
            }
            5 => {
                end(true, truth);
                by_bank(DisputeState::Won)
            }
            6 => {
                end(false, truth);
                by_bank(DisputeState::Lost)
            }
            7 => {
                truth.failed.entry(dispute).or_insert(amount);
                refund_failed(record, &format!("{dispute}_{}", record.id), amount, 1)
            }
            _ => {
                let event =
                    PaymentEvent::Disputed { dispute: dispute.to_owned(), amount: None, state: DisputeState::Open };
                PaymentReport::Event { payment: format!("pi_foreign_{amount}"), event }
            }
        };
        // An event of an unknown payment is kept until the payment is known.
        let is_kept = kind == 8 || (kind >= 4 && !truth.is_reported);
        let result = self.shop().report(report.clone());
        assert_eq!(result == ReportResult::Kept, is_kept, "{report:?}");
        if self.random.below(2) == 0 {
            let again = self.shop().report(report);
            assert_ne!(again, ReportResult::Applied, "once is enough");
        }
    }
}

#[test]
fn purchases_use_the_current_prices() {
    let mut settings = Settings::default();
    settings.tariff.pack_mut(PackName::Starter).price_cents = 700;
    let shop = PaymentFixture::open(settings);
    let bought = shop.buy(PackName::Starter, 1);
    assert_ne!(bought.price_cents, Tariff::CONTRACT.pack(PackName::Starter).price_cents);
    assert_eq!(shop.accounts.checkout(bought.checkout.unwrap()).unwrap().unwrap().amount_cents, 700);
    assert_eq!(shop.report(paid(&bought)), ReportResult::Applied);
}
