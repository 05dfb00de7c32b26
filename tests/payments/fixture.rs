//! Accounts with a customer who buys, and the reports on the payments.

use std::sync::Arc;

use hornbook_accounts::admission::MeteringReceipt;
use hornbook_accounts::changes::{NewPurchase, OpenedPurchase, PaymentReport, ReportResult};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::Refusal;
use hornbook_accounts::ids::{AccountId, Credits};
use hornbook_accounts::records::{DisputeState, PaymentEvent, PurchaseRecord, PurchaseStatus};
use hornbook_accounts::tier::PackName;
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::Now;

use crate::support::disk::SimulatedDisk;
use crate::support::{Customer, act, clock_at_noon, create_customer, fast_settings, make_call, now_of, start_accounts};

/// Accounts with one customer at a fixed time.
pub(crate) struct PaymentFixture {
    pub(crate) disk: SimulatedDisk,
    pub(crate) settings: Settings,
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) owner: Customer,
    pub(crate) now: Now,
}

impl PaymentFixture {
    pub(crate) fn open(settings: Settings) -> Self {
        let (now, disk) = (now_of(&clock_at_noon()), SimulatedDisk::with_schema());
        let accounts = Arc::new(start_accounts(disk.medium(), settings, now));
        let owner = create_customer(&accounts, 0, 1, now);
        Self { disk, settings, accounts, owner, now }
    }

    /// In a month without free units.
    pub(crate) fn without_free_units() -> Self {
        Self::open(fast_settings(Durability::Strict, 0))
    }

    pub(crate) fn wish(&self, pack: PackName) -> NewPurchase {
        wish(self.owner.account, pack, None)
    }

    pub(crate) fn buy(&self, pack: PackName, seed: u64) -> PurchaseRecord {
        self.buy_as(self.wish(pack), seed)
    }

    pub(crate) fn buy_as(&self, wish: NewPurchase, seed: u64) -> PurchaseRecord {
        self.buy_at(wish, seed, self.now)
    }

    pub(crate) fn buy_at(&self, wish: NewPurchase, seed: u64, now: Now) -> PurchaseRecord {
        match self.accounts.open_purchase(wish, &act(now), &mut SeededEntropy(seed)).unwrap() {
            OpenedPurchase::New(purchase) | OpenedPurchase::Known(purchase) => *purchase,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn report(&self, report: PaymentReport) -> ReportResult {
        self.accounts.report_payment(report, &act(self.now)).unwrap()
    }

    pub(crate) fn grant(&self, credits: u32) {
        self.accounts.grant(self.owner.account, Credits(credits), "test".to_owned(), &act(self.now)).unwrap();
    }

    pub(crate) fn call(&self, cost: u32) -> Result<MeteringReceipt, Refusal> {
        make_call(&self.accounts, &self.owner.keys[0], cost, None, self.now)
    }

    pub(crate) fn wallet(&self) -> i64 {
        self.accounts.account(self.owner.account, self.now).unwrap().remaining.wallet
    }

    pub(crate) fn status(&self, purchase: &PurchaseRecord) -> PurchaseStatus {
        self.accounts.purchases().unwrap().into_iter().find(|one| one.id == purchase.id).unwrap().status
    }

    /// Restarts at this time.
    pub(crate) fn reopened(self, now: Now) -> Self {
        let disk = self.disk.clone();
        Self { now, ..self }.restarted_on(disk)
    }

    /// Restarts with another disk.
    pub(crate) fn restarted_on(self, disk: SimulatedDisk) -> Self {
        self.accounts.close();
        let accounts = Arc::new(start_accounts(disk.medium(), self.settings, self.now));
        Self { accounts, disk, ..self }
    }
}

pub(crate) fn wish(account: AccountId, pack: PackName, retry: Option<&str>) -> NewPurchase {
    NewPurchase { account, pack, retry: retry.map(str::to_owned), by_card: true }
}

pub(crate) fn paid(purchase: &PurchaseRecord) -> PaymentReport {
    PaymentReport::Paid {
        checkout: purchase.checkout.unwrap(),
        session: format!("cs_{}", purchase.id),
        payment: format!("pi_{}", purchase.id),
        amount: purchase.price_cents.into(),
        currency: "usd".to_owned(),
    }
}

pub(crate) fn refunded(purchase: &PurchaseRecord, amount: u64) -> PaymentReport {
    let (checkout, payment) = (purchase.checkout.unwrap(), format!("pi_{}", purchase.id));
    PaymentReport::Refunded { checkout, payment, amount, at_sec: 0 }
}

pub(crate) fn disputed(
    purchase: &PurchaseRecord,
    dispute: &str,
    amount: Option<u64>,
    state: DisputeState,
) -> PaymentReport {
    let payment = format!("pi_{}", purchase.id);
    PaymentReport::Event { payment, event: PaymentEvent::Disputed { dispute: dispute.to_owned(), amount, state } }
}

/// A failed refund, reported after all sums, which are reported at time 0.
pub(crate) fn refund_failed(purchase: &PurchaseRecord, refund: &str, amount: u64, at_sec: i64) -> PaymentReport {
    let payment = format!("pi_{}", purchase.id);
    PaymentReport::Event { payment, event: PaymentEvent::RefundFailed { refund: refund.to_owned(), amount, at_sec } }
}

/// The results of eight threads that run the same work at the same time.
pub(crate) fn run_on_eight_threads<T: Send>(work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || work(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
