//! Payments by card against a plain model, on disks that fail, and across restarts: what Stripe reports counts once, in
//! whatever order it comes.

mod support;

use std::collections::BTreeMap;

use hornbook::accounts::changes::{OPEN_PURCHASES_MAX, OpenedPurchase, PaymentReport, PurchaseWish, ReportResult};
use hornbook::accounts::entropy::SeededEntropy;
use hornbook::accounts::error::Refusal;
use hornbook::accounts::ids::{AccountId, CheckoutId, Credits, PurchaseId};
use hornbook::accounts::records::{DisputeState, PurchaseRecord, PurchaseStatus};
use hornbook::accounts::tier::{PackName, Tariff};
use hornbook::accounts::{Accounts, Durability, Settings};
use hornbook::clock::Now;
use support::disk::{Disk, EIO, ENOSPC, Fault, FaultOn};
use support::{Customer, act, call, customer, fast_settings, noon, read, start, wait_until_healthy};

fn wish(account: AccountId, pack: PackName, retry: Option<&str>) -> PurchaseWish {
    PurchaseWish { account, pack, retry: retry.map(str::to_owned), by_card: true }
}

fn open(accounts: &Accounts, wish: PurchaseWish, seed: u64, now: Now) -> PurchaseRecord {
    match accounts.open_purchase(wish, &act(now), &mut SeededEntropy(seed)).unwrap() {
        OpenedPurchase::New(purchase) | OpenedPurchase::Known(purchase) => *purchase,
        other => panic!("{other:?}"),
    }
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
    PaymentReport::Refunded { checkout, payment, amount }
}

fn disputed(purchase: &PurchaseRecord, dispute: &str, amount: Option<u64>, state: DisputeState) -> PaymentReport {
    let payment = format!("pi_{}", purchase.id);
    PaymentReport::Disputed { payment, dispute: dispute.to_owned(), amount, state }
}

fn wallet(accounts: &Accounts, account: AccountId, now: Now) -> i64 {
    accounts.account(account, now).unwrap().remaining.wallet
}

fn status(accounts: &Accounts, id: PurchaseId) -> PurchaseStatus {
    accounts.purchases().unwrap().into_iter().find(|purchase| purchase.id == id).unwrap().status
}

#[test]
fn a_refund_leaves_a_hole_that_later_credits_fill_first() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), fast_settings(Durability::Strict, 2), now);
    let owner = customer(&accounts, 0, 1, now);
    let key = &owner.keys[0];
    let first = open(&accounts, wish(owner.account, PackName::Starter, None), 1, now);
    assert_eq!(accounts.report_payment(paid(&first), &act(now)).unwrap(), ReportResult::Applied);
    assert_eq!(call(&accounts, key, 402, None, now).unwrap().credits_remaining(), 600);

    // Half of the price: half of the credits.
    accounts.report_payment(refunded(&first, 250), &act(now)).unwrap();
    assert_eq!(wallet(&accounts, owner.account, now), 100);
    accounts.report_payment(refunded(&first, 500), &act(now)).unwrap();
    assert_eq!((wallet(&accounts, owner.account, now), status(&accounts, first.id)), (-400, PurchaseStatus::Refunded));
    match call(&accounts, key, 1, None, now) {
        Err(Refusal::Credits { remaining, .. }) => assert_eq!(remaining.wallet, -400),
        other => panic!("spent what was not there: {:?}", other.err()),
    }
    assert!(accounts.adjust(owner.account, -1, "test".to_owned(), &act(now)).is_err());
    accounts.grant(owner.account, Credits(399), "test".to_owned(), &act(now)).unwrap();
    assert!(call(&accounts, key, 1, None, now).is_err());
    accounts.grant(owner.account, Credits(2), "test".to_owned(), &act(now)).unwrap();
    assert_eq!(call(&accounts, key, 1, None, now).unwrap().credits_remaining(), 0);
    accounts.verify_ledger().unwrap();
}

#[test]
fn free_units_can_be_used_while_the_wallet_is_below_zero() {
    let now = read(&noon());
    let disk = Disk::with_schema();
    let settings = fast_settings(Durability::Strict, 1000);
    let accounts = start(disk.medium(), settings, now);
    let owner = customer(&accounts, 0, 1, now);
    let bought = open(&accounts, wish(owner.account, PackName::Starter, None), 1, now);
    accounts.report_payment(paid(&bought), &act(now)).unwrap();
    call(&accounts, &owner.keys[0], 1500, None, now).unwrap();
    accounts.report_payment(refunded(&bought, 500), &act(now)).unwrap();
    assert_eq!(wallet(&accounts, owner.account, now), -500);
    // The next month begins.
    let next = Now { wall: now.wall.plus_millis(31 * 86_400_000), ..now };
    let receipt = call(&accounts, &owner.keys[0], 7, None, next).unwrap();
    assert_eq!((receipt.credits_remaining(), receipt.allotment_remaining()), (0, 993));
    accounts.verify_ledger().unwrap();
    accounts.close();
    let again = start(disk.medium(), settings, next);
    assert_eq!(wallet(&again, owner.account, next), -500);
    again.verify_ledger().unwrap();
}

#[test]
fn a_dispute_takes_the_credits_until_it_is_won() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), Settings::default(), now);
    let owner = customer(&accounts, 0, 1, now);
    let bought = open(&accounts, wish(owner.account, PackName::Pro, None), 1, now);
    let report = |report: PaymentReport| accounts.report_payment(report, &act(now)).unwrap();
    report(paid(&bought));
    for (state, left) in [(DisputeState::Open, 0), (DisputeState::Won, 5000)] {
        assert_eq!(report(disputed(&bought, "dp_1", None, state)), ReportResult::Applied);
        assert_eq!(report(disputed(&bought, "dp_1", None, state)), ReportResult::Known);
        assert_eq!(wallet(&accounts, owner.account, now), left, "{state:?}");
    }
    assert_eq!(report(disputed(&bought, "dp_1", None, DisputeState::Open)), ReportResult::Known, "it has ended");
    // The end is reported without the beginning, of a part.
    report(disputed(&bought, "dp_2", Some(1000), DisputeState::Lost));
    assert_eq!(wallet(&accounts, owner.account, now), 2500);
    // What went back already is not taken twice.
    report(refunded(&bought, 2000));
    assert_eq!(wallet(&accounts, owner.account, now), 0);
    accounts.verify_ledger().unwrap();
}

#[test]
fn money_that_does_not_fit_is_never_credited_and_waits_for_the_operator() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), Settings::default(), now);
    let owner = customer(&accounts, 0, 1, now);
    let changed = |change: fn(&mut u64, &mut String, &mut String)| {
        let seed = accounts.purchases().unwrap().len() as u64;
        let bought = open(&accounts, wish(owner.account, PackName::Starter, None), seed, now);
        let PaymentReport::Paid { checkout, mut session, payment, mut amount, mut currency } = paid(&bought) else {
            unreachable!("it is paid")
        };
        accounts
            .checkout_made(
                checkout,
                hornbook::accounts::records::CheckoutPage {
                    session: session.clone(),
                    url: "https://pay.example/".to_owned(),
                },
            )
            .unwrap();
        change(&mut amount, &mut currency, &mut session);
        let report = PaymentReport::Paid { checkout, session, payment, amount, currency };
        let result = accounts.report_payment(report.clone(), &act(now)).unwrap();
        assert!(matches!(result, ReportResult::Problem(_)), "{result:?}");
        assert_eq!(accounts.report_payment(report, &act(now)).unwrap(), ReportResult::Known, "told once");
        assert!(accounts.checkout(checkout).unwrap().unwrap().problem.is_some());
        assert_eq!(status(&accounts, bought.id), PurchaseStatus::Requested);
        accounts.cancel_purchase(bought.id, &act(now)).unwrap();
    };
    changed(|amount, _, _| *amount = 499);
    changed(|amount, _, _| *amount = 50_000);
    changed(|_, currency, _| *currency = "mxn".to_owned());
    changed(|_, _, session| *session = "cs_other".to_owned());
    assert_eq!(wallet(&accounts, owner.account, now), 0);
    let stranger = PaymentReport::NotPaid { checkout: CheckoutId(uuid()), session: "cs".to_owned() };
    assert_eq!(accounts.report_payment(stranger, &act(now)).unwrap(), ReportResult::Unknown);

    // Paid by card after the operator took another payment for it: once is enough.
    let bought = open(&accounts, wish(owner.account, PackName::Starter, None), 99, now);
    accounts.pay_purchase(bought.id, Some("cash".to_owned()), &act(now)).unwrap();
    assert!(matches!(accounts.report_payment(paid(&bought), &act(now)).unwrap(), ReportResult::Problem(_)));
    // Its refund takes nothing: nothing was given for it.
    accounts.report_payment(refunded(&bought, 500), &act(now)).unwrap();
    assert_eq!(wallet(&accounts, owner.account, now), 1000);
    accounts.verify_ledger().unwrap();
}

fn uuid() -> uuid::Uuid {
    uuid::Uuid::from_u128(7)
}

#[test]
fn one_idempotency_key_buys_once_and_few_purchases_wait_at_once() {
    let now = read(&noon());
    let accounts = start(Disk::with_schema().medium(), Settings::default(), now);
    let (owner, other) = (customer(&accounts, 0, 1, now), customer(&accounts, 0, 1, now));
    let first = open(&accounts, wish(owner.account, PackName::Pro, Some("k")), 1, now);
    let ids: Vec<PurchaseId> = std::thread::scope(|scope| {
        let buyers: Vec<_> = (0..8)
            .map(|seed| {
                let (accounts, owner) = (&accounts, &owner);
                scope.spawn(move || open(accounts, wish(owner.account, PackName::Pro, Some("k")), seed, now).id)
            })
            .collect();
        buyers.into_iter().map(|buyer| buyer.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == first.id), "{ids:?}");
    let opened = |wish| accounts.open_purchase(wish, &act(now), &mut SeededEntropy(50)).unwrap();
    let another = opened(wish(owner.account, PackName::Bulk, Some("k")));
    assert!(matches!(another, OpenedPurchase::OtherPack), "{another:?}");
    assert_ne!(open(&accounts, wish(other.account, PackName::Pro, Some("k")), 51, now).id, first.id);
    // Long after: it still is this purchase.
    let later = Now { wall: now.wall.plus_millis(24 * 3_600_000), ..now };
    assert_eq!(open(&accounts, wish(owner.account, PackName::Pro, Some("k")), 52, later).id, first.id);

    for seed in 1..OPEN_PURCHASES_MAX as u64 {
        open(&accounts, wish(owner.account, PackName::Starter, None), 100 + seed, now);
    }
    assert!(matches!(opened(wish(owner.account, PackName::Starter, None)), OpenedPurchase::TooManyOpen));
    open(&accounts, wish(other.account, PackName::Starter, None), 200, now);
    // The pages of these are closed after a day, whether or not that was reported.
    let much_later = Now { wall: now.wall.plus_millis(26 * 3_600_000), ..now };
    open(&accounts, wish(owner.account, PackName::Starter, None), 201, much_later);
    assert_eq!(status(&accounts, first.id), PurchaseStatus::Cancelled);
    // Paid all the same: the money is here.
    accounts.report_payment(paid(&first), &act(now)).unwrap();
    assert_eq!((wallet(&accounts, owner.account, now), status(&accounts, first.id)), (5000, PurchaseStatus::Paid));
}

#[test]
fn a_paid_page_is_credited_once_by_many_at_once_and_after_a_crash() {
    let now = read(&noon());
    let disk = Disk::with_schema();
    let settings = fast_settings(Durability::Strict, 0);
    let accounts = start(disk.medium(), settings, now);
    let owner = customer(&accounts, 0, 1, now);
    let bought = open(&accounts, wish(owner.account, PackName::Starter, None), 1, now);
    let applied = std::thread::scope(|scope| {
        let deliveries: Vec<_> = (0..8)
            .map(|_| {
                let (accounts, bought) = (&accounts, &bought);
                scope.spawn(move || accounts.report_payment(paid(bought), &act(now)).unwrap() == ReportResult::Applied)
            })
            .collect();
        deliveries.into_iter().filter_map(|delivery| delivery.join().unwrap().then_some(())).count()
    });
    assert_eq!((applied, wallet(&accounts, owner.account, now)), (1, 1000));
    // The commit is on disk, and nobody was answered: the file as it is now is opened by the next start.
    let after_a_crash = start(Disk::from_bytes(disk.bytes()).medium(), settings, now);
    assert_eq!(after_a_crash.report_payment(paid(&bought), &act(now)).unwrap(), ReportResult::Known);
    assert_eq!(wallet(&after_a_crash, owner.account, now), 1000);
    after_a_crash.verify_ledger().unwrap();
}

/// Whatever write or sync fails, the report comes again until it is taken, and counts once.
#[test]
fn reports_repeated_through_a_failing_disk_count_once() {
    for after in 0..24 {
        for on in [FaultOn::Write, FaultOn::Sync] {
            for error in [EIO, ENOSPC] {
                deliver_through(Fault { after, on, error, lasting: false, everywhere: false });
            }
        }
    }
}

fn deliver_through(fault: Fault) {
    let now = read(&noon());
    let disk = Disk::with_schema();
    let settings = fast_settings(Durability::Strict, 0);
    let accounts = start(disk.medium(), settings, now);
    let owner = customer(&accounts, 0, 1, now);
    let bought = open(&accounts, wish(owner.account, PackName::Starter, None), 1, now);
    disk.fail(Some(fault));
    let reports = [paid(&bought), refunded(&bought, 100), disputed(&bought, "dp_1", Some(400), DisputeState::Open)];
    let mut undelivered: Vec<PaymentReport> = reports.to_vec();
    for _ in 0..2000 {
        undelivered.retain(|report| match accounts.report_payment(report.clone(), &act(now)) {
            // The dispute is not known before the payment is.
            Ok(result) => result == ReportResult::Unknown,
            Err(_) => true,
        });
        if undelivered.is_empty() {
            break;
        }
        let _ = wait_until_healthy(&accounts);
    }
    assert!(undelivered.is_empty(), "{fault:?}: {undelivered:?}");
    assert_eq!(wallet(&accounts, owner.account, now), 0, "{fault:?}");
    accounts.report_payment(disputed(&bought, "dp_1", Some(400), DisputeState::Won), &act(now)).ok();
    disk.fail(None);
    wait_until_healthy(&accounts).unwrap();
    accounts.report_payment(disputed(&bought, "dp_1", Some(400), DisputeState::Won), &act(now)).unwrap();
    assert_eq!(wallet(&accounts, owner.account, now), 800, "{fault:?}");
    accounts.verify_ledger().unwrap_or_else(|error| panic!("{fault:?}: {error}"));
}

const SEQUENCES: u64 = 400;
const STEPS: usize = 60;

/// What the model remembers of a purchase: sums, without an order.
#[derive(Default)]
struct Truth {
    paid: bool,
    refunded: u64,
    /// By name: cents, and whether it was won or lost.
    disputes: BTreeMap<&'static str, (u64, Option<bool>)>,
}

impl Truth {
    /// Credits of the purchase that are the customer's.
    fn credits(&self, price: u64, credits: u64) -> i64 {
        if !self.paid {
            return 0;
        }
        let disputed: u64 = self.disputes.values().filter(|(_, end)| *end != Some(true)).map(|(cents, _)| cents).sum();
        let gone = (self.refunded + disputed).min(price);
        // Once all was refunded a dispute that is won gives nothing back.
        let gone = if self.refunded >= price { price } else { gone };
        (credits - credits * gone / price) as i64
    }
}

struct Model {
    random: SeededEntropy,
    disk: Disk,
    settings: Settings,
    accounts: Option<Accounts>,
    owner: Customer,
    now: Now,
    purchases: Vec<(PurchaseRecord, Truth)>,
    spent: i64,
    granted: i64,
}

/// Reports in any order, repeated, between calls, grants and restarts.
#[test]
fn nothing_differs_from_the_model() {
    for seed in 0..SEQUENCES {
        let now = read(&noon());
        let disk = Disk::with_schema();
        let settings = fast_settings(Durability::Strict, 0);
        let accounts = start(disk.medium(), settings, now);
        let owner = customer(&accounts, 0, 1, now);
        let random = SeededEntropy(seed);
        let accounts = Some(accounts);
        let purchases = Vec::new();
        let mut model = Model { random, disk, settings, accounts, owner, now, purchases, spent: 0, granted: 0 };
        for step in 0..STEPS {
            model.step();
            model.compare(&format!("seed {seed}, step {step}"));
        }
        model.restart();
        model.compare(&format!("seed {seed}, at the end"));
        model.real().verify_ledger().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

impl Model {
    fn real(&self) -> &Accounts {
        self.accounts.as_ref().unwrap()
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
        assert_eq!(wallet(self.real(), self.owner.account, self.now), self.expected(), "{context}");
    }

    fn restart(&mut self) {
        self.accounts = None;
        self.accounts = Some(start(self.disk.medium(), self.settings, self.now));
    }

    fn step(&mut self) {
        match self.random.below(16) {
            0 | 1 if self.purchases.len() < 4 => {
                let pack = PackName::ALL[self.random.below(3) as usize];
                let seed = self.random.draw();
                let bought = open(self.real(), wish(self.owner.account, pack, None), seed, self.now);
                self.purchases.push((bought, Truth::default()));
            }
            2 => {
                let credits = 1 + self.random.below(500) as u32;
                let by = act(self.now);
                self.real().grant(self.owner.account, Credits(credits), "model".to_owned(), &by).unwrap();
                self.granted += i64::from(credits);
            }
            3..=6 => {
                let cost = 1 + self.random.below(2000) as u32;
                let affordable = self.expected() >= i64::from(cost);
                let result = call(self.real(), &self.owner.keys[0], cost, None, self.now);
                assert_eq!(result.is_ok(), affordable, "{cost} of {}", self.expected());
                self.spent += if affordable { i64::from(cost) } else { 0 };
            }
            7 => self.restart(),
            _ => self.report(),
        }
    }

    fn report(&mut self) {
        if self.purchases.is_empty() {
            return;
        }
        let at = self.random.below(self.purchases.len() as u64) as usize;
        let (kind, amount) = (self.random.below(7), 1 + self.random.below(6000));
        let dispute = ["dp_1", "dp_2"][self.random.below(2) as usize];
        let (record, truth) = &mut self.purchases[at];
        let price = u64::from(record.price_cents);
        let was_paid = truth.paid;
        let by_bank = |state| disputed(record, &format!("{dispute}_{}", record.id), Some(amount), state);
        let end = |won: bool, truth: &mut Truth| {
            let (_, ended) = truth.disputes.entry(dispute).or_insert((amount, None));
            ended.get_or_insert(won);
        };
        let report = match kind {
            0 | 1 => {
                truth.paid = true;
                paid(record)
            }
            2 => PaymentReport::NotPaid { checkout: record.checkout.unwrap(), session: format!("cs_{}", record.id) },
            3 => {
                truth.refunded = truth.refunded.max(amount.min(price));
                refunded(record, amount)
            }
            4 => {
                if was_paid {
                    truth.disputes.entry(dispute).or_insert((amount, None));
                }
                by_bank(DisputeState::Open)
            }
            5 => {
                if was_paid {
                    end(true, truth);
                }
                by_bank(DisputeState::Won)
            }
            _ => {
                if was_paid {
                    end(false, truth);
                }
                by_bank(DisputeState::Lost)
            }
        };
        let result = self.real().report_payment(report.clone(), &act(self.now)).unwrap();
        // A dispute of a payment that is not known yet is left to be sent again.
        assert_eq!(result == ReportResult::Unknown, kind >= 4 && !was_paid, "{report:?}");
        if self.random.below(2) == 0 {
            let again = self.real().report_payment(report, &act(self.now)).unwrap();
            assert_ne!(again, ReportResult::Applied, "once is enough");
        }
    }
}

#[test]
fn prices_come_from_the_table_of_the_moment() {
    let now = read(&noon());
    let mut settings = Settings::default();
    settings.tariff.pack_mut(PackName::Starter).price_cents = 700;
    let accounts = start(Disk::with_schema().medium(), settings, now);
    let owner = customer(&accounts, 0, 1, now);
    let bought = open(&accounts, wish(owner.account, PackName::Starter, None), 1, now);
    assert_ne!(bought.price_cents, Tariff::CONTRACT.pack(PackName::Starter).price_cents);
    assert_eq!(accounts.checkout(bought.checkout.unwrap()).unwrap().unwrap().amount_cents, 700);
    assert_eq!(accounts.report_payment(paid(&bought), &act(now)).unwrap(), ReportResult::Applied);
}
