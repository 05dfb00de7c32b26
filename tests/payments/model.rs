//! Random histories of payments, compared with a plain model after each step: notices in any order,
//! repeated, forged, old and foreign, confirmations by hand between, orders, accounts that are
//! deleted, calls, restarts, power cuts and failing disks.

use std::sync::atomic::{AtomicU64, Ordering};

use hornbook_accounts::changes::{NewOrder, NewPurchase, OpenedPurchase};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::ids::{AccountId, Credits};
use hornbook_accounts::records::{AccountStatus, CheckoutPage, CheckoutRecord, DisputeState, Payable, PurchaseStatus};
use hornbook_accounts::tier::PackName;

use crate::fixture::PaymentFixture;
use crate::notices::{Event, Sender, Signing, foreign_notices, notice};
use crate::power_cut::bytes_after_power_cut;
use crate::support::disk::{DiskFault, EIO, ENOSPC, FaultOn, SimulatedDisk};
use crate::support::{act, create_customer, wait_until_healthy};
use crate::truth::{Action, Notice, Page, Sale, SaleState, SaleView, Truth, View};

const HISTORIES: u64 = 250;
const STEPS: usize = 60;
const SALES_MAX: usize = 5;
/// The price of an order by card.
const ORDER_CENTS: u32 = 4000;

#[test]
fn nothing_differs_from_the_model() {
    #[expect(clippy::disallowed_methods, reason = "the caller chooses how long to test")]
    let given = std::env::var("HORNBOOK_TEST_PAYMENTS").ok().map(|count| count.parse().expect("a number of histories"));
    let (histories, next) = (given.unwrap_or(HISTORIES), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let sender = Sender::new();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= histories {
                        return;
                    }
                    Model::new(seed, &sender).run();
                }
            });
        }
    });
}

/// What happens to the service during an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trouble {
    None,
    /// The power fails before, during or after the action.
    PowerCut,
    /// A write or a sync of the action fails.
    DiskFault,
}

struct Model<'a> {
    sender: &'a Sender,
    random: SeededEntropy,
    /// `None` only during a restart.
    shop: Option<PaymentFixture>,
    /// The first one makes calls; the account of the second one may be deleted.
    customers: [AccountId; 2],
    truth: Truth,
    context: String,
}

impl<'a> Model<'a> {
    fn new(seed: u64, sender: &'a Sender) -> Self {
        let shop = PaymentFixture::without_free_units();
        let customers = [shop.owner.account, create_customer(&shop.accounts, 0, 0, shop.now).account];
        let (random, truth) = (SeededEntropy(seed), Truth::default());
        Self { sender, random, shop: Some(shop), customers, truth, context: format!("seed {seed}") }
    }

    fn run(mut self) {
        let seed = self.context.clone();
        for step in 0..STEPS {
            self.context = format!("{seed}, step {step}");
            self.step();
        }
        self.context = format!("{seed}, at the end");
        self.restart();
        self.shop().accounts.verify_ledger().unwrap_or_else(|error| panic!("{}: {error}", self.context));
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=2 if self.truth.sales.len() < SALES_MAX => self.sell(),
            3 => self.open_page(),
            4 => self.restart(),
            _ => {
                let action = self.draw_action();
                let trouble = match self.random.below(12) {
                    0 => Trouble::PowerCut,
                    1 => Trouble::DiskFault,
                    _ => Trouble::None,
                };
                self.context += &format!(": {action:?}, {trouble:?}");
                self.act(&action, trouble);
                // Stripe repeats a notice until it is accepted, and sometimes after that.
                if matches!(action, Action::Notice { .. }) && (trouble != Trouble::None || self.random.below(2) == 0) {
                    self.context += ", repeated";
                    self.act(&action, Trouble::None);
                }
            }
        }
        self.compare();
    }

    fn draw_action(&mut self) -> Action {
        let kind = self.random.below(16);
        if let 0..=3 = kind {
            return match kind {
                0 => Action::Grant(1 + self.random.below(500) as u32),
                1 if self.random.below(6) == 0 => Action::Delete,
                _ => Action::Call(1 + self.random.below(2000) as u32),
            };
        }
        if self.truth.sales.is_empty() {
            return self.draw_notice();
        }
        match kind {
            4 | 5 => {
                let sale = self.draw_sale();
                Action::Confirm { sale, reference: self.draw_reference(sale) }
            }
            6 => Action::Close { sale: self.draw_sale() },
            _ => self.draw_notice(),
        }
    }

    fn draw_sale(&mut self) -> usize {
        self.random.below(self.truth.sales.len() as u64) as usize
    }

    /// A payment on the page of this sale or of another one, a payment elsewhere, or none.
    fn draw_reference(&mut self, sale: usize) -> Option<String> {
        let other = self.draw_sale();
        let of_page = match self.random.below(5) {
            0 => return None,
            1 => return Some(format!("cash {}", self.random.below(4))),
            2 => other,
            _ => sale,
        };
        let payment = self.random.below(2) as usize;
        self.truth.sales[of_page].page.as_ref().map(|page| page.payments[payment].name.clone())
    }

    fn draw_notice(&mut self) -> Action {
        let signing = match self.random.below(16) {
            0 => Signing::Forged,
            1 => Signing::Old,
            2 => Signing::OfAnotherBody,
            _ => Signing::Genuine,
        };
        let foreign = self.random.below(64) as usize;
        let with_page = (0..self.truth.sales.len()).filter(|sale| self.truth.sales[*sale].page.is_some());
        let with_page: Vec<usize> = with_page.collect();
        if with_page.is_empty() || self.random.below(10) == 0 {
            return Action::Notice { of: None, foreign, signing };
        }
        let sale = with_page[self.random.below(with_page.len() as u64) as usize];
        // Most pages are paid once.
        let payment = usize::from(self.random.below(4) == 0);
        let (number, cents) = (self.random.below(2), 1 + self.random.below(6000));
        let name = |kind: &str| format!("{kind}_{sale}_{payment}_{number}");
        let dispute = |state| Event::Disputed { dispute: name("dp"), cents, state };
        let event = match self.random.below(9) {
            0..=2 => Event::Paid,
            3 => Event::Expired,
            4 => Event::Refunded(cents),
            5 => dispute(DisputeState::Open),
            6 => dispute(DisputeState::Won),
            7 => dispute(DisputeState::Lost),
            _ => Event::RefundFailed { refund: name("re"), cents },
        };
        Action::Notice { of: Some(Notice { sale, payment, event }), foreign, signing }
    }

    /// Does something, and ensures that it had its effect or, if it was not answered, none.
    fn act(&mut self, action: &Action, trouble: Trouble) {
        let before = self.truth.clone();
        let is_accepted = self.truth.apply(action);
        let is_answered = match trouble {
            Trouble::None => {
                assert_eq!(self.perform(action), is_accepted, "{}", self.context);
                true
            }
            Trouble::PowerCut => self.perform_with_power_cut(action, is_accepted),
            Trouble::DiskFault => self.perform_with_disk_fault(action, is_accepted),
        };
        if !is_answered && (self.view() != self.truth.view() || self.unlisted_payment().is_some()) {
            self.truth = before;
        }
        self.compare();
    }

    /// Returns whether the service accepted it.
    fn perform(&self, action: &Action) -> bool {
        let (shop, accounts) = (self.shop(), &self.shop().accounts);
        let act = act(shop.now);
        match action {
            Action::Grant(credits) => {
                accounts.grant(self.customers[0], Credits(*credits), "test".to_owned(), &act).is_ok()
            }
            Action::Call(cost) => shop.call(*cost).is_ok(),
            Action::Confirm { sale, reference } => match self.truth.sales[*sale].id {
                Payable::Purchase(id) => accounts.pay_purchase(id, reference.clone(), &act).is_ok(),
                Payable::Order(id) => accounts.pay_order(id, reference.clone(), &act).is_ok(),
            },
            Action::Close { sale } => match self.truth.sales[*sale].id {
                Payable::Purchase(id) => accounts.cancel_purchase(id, &act).is_ok(),
                Payable::Order(id) => accounts.discard_order(id, &act).is_ok(),
            },
            Action::Delete => accounts.delete_account_as_operator(self.customers[1], &act).is_ok(),
            Action::Notice { of, foreign, signing } => {
                let body = match of {
                    Some(Notice { sale, payment, event }) => {
                        let sale = &self.truth.sales[*sale];
                        let checkout = sale.page.as_ref().unwrap().checkout.to_string();
                        notice(sale.subject(*payment, &checkout), event)
                    }
                    None => {
                        let notices = foreign_notices();
                        notices[foreign % notices.len()].clone()
                    }
                };
                let status = self.sender.send(shop, &body, *signing).as_u16();
                assert!([200, 400, 503].contains(&status), "{}: {status}", self.context);
                status == 200
            }
        }
    }

    /// Cuts the power at a random write of the action. Returns whether that was after the answer.
    fn perform_with_power_cut(&mut self, action: &Action, is_accepted: bool) -> bool {
        let disk = &self.shop().disk;
        let before = disk.bytes();
        disk.record();
        assert_eq!(self.perform(action), is_accepted, "{}", self.context);
        let events = disk.events();
        let cut = self.random.below(events.len() as u64 + 1) as usize;
        let bytes = bytes_after_power_cut(before, &events[..cut], &mut self.random);
        let shop = self.shop.take().unwrap().restarted_on(SimulatedDisk::from_bytes(bytes));
        self.shop = Some(shop);
        cut == events.len()
    }

    /// Lets a write or sync fail. Returns whether the action was answered as without a fault.
    fn perform_with_disk_fault(&mut self, action: &Action, is_accepted: bool) -> bool {
        let fault = DiskFault {
            successes_before: self.random.below(6),
            on: if self.random.below(2) == 0 { FaultOn::Write } else { FaultOn::Sync },
            error: if self.random.below(2) == 0 { EIO } else { ENOSPC },
            lasting: self.random.below(2) == 0,
            hits_owed_file: false,
        };
        let disk = &self.shop().disk;
        disk.fail(Some(fault));
        let is_done = self.perform(action);
        disk.fail(None);
        assert!(is_accepted || !is_done, "{}: it must be refused", self.context);
        wait_until_healthy(&self.shop().accounts).unwrap();
        is_done == is_accepted
    }

    fn sell(&mut self) {
        let customer = usize::from(self.random.below(3) == 0);
        if customer == 1 && self.truth.is_deleted {
            return;
        }
        let (account, seed) = (self.customers[customer], self.random.draw());
        let (shop, entropy) = (self.shop.as_ref().unwrap(), &mut SeededEntropy(seed));
        if self.random.below(4) == 0 {
            let order = NewOrder {
                account,
                entity_name: "Quill LLC".to_owned(),
                entity_type: "llc".to_owned(),
                jurisdiction: "us-de".to_owned(),
            };
            let (order, _) = shop.accounts.create_order(order, &act(shop.now), entropy).unwrap();
            self.truth.sales.push(Sale::new(Payable::Order(order.id), customer, ORDER_CENTS.into(), 0));
            return;
        }
        let pack = PackName::ALL[self.random.below(3) as usize];
        let wish = NewPurchase { account, pack, retry: None, by_card: self.random.below(4) > 0 };
        let OpenedPurchase::New(bought) = shop.accounts.open_purchase(wish, &act(shop.now), entropy).unwrap() else {
            panic!("{}: the purchase is not new", self.context)
        };
        let mut sale =
            Sale::new(Payable::Purchase(bought.id), customer, bought.price_cents.into(), bought.credits.0.into());
        sale.page = bought.checkout.map(|checkout| {
            // The provider's answer with the page may be lost.
            let page = Page::new(checkout, format!("cs_{}", bought.id));
            if self.random.below(2) == 0 {
                store_page(shop, &page);
            }
            page
        });
        self.truth.sales.push(sale);
    }

    /// Opens the page of an order.
    fn open_page(&mut self) {
        if self.truth.sales.is_empty() {
            return;
        }
        let (at, seed) = (self.draw_sale(), self.random.draw());
        let (shop, sale) = (self.shop.as_ref().unwrap(), &mut self.truth.sales[at]);
        let Payable::Order(id) = sale.id else { return };
        // The payment on the page was used for another sale, so this one gets a second page: more than the model knows.
        if sale.page.as_ref().is_some_and(Page::has_payment) {
            return;
        }
        let opened = shop.accounts.open_order_checkout(id, ORDER_CENTS, shop.now.wall, &mut SeededEntropy(seed));
        let is_open = sale.state() == SaleState::Open;
        assert_eq!(opened.is_ok(), is_open, "{}: {opened:?}", self.context);
        if let Ok(CheckoutRecord { id: checkout, .. }) = opened {
            let page = sale.page.get_or_insert_with(|| Page::new(checkout, format!("cs_order{at}")));
            assert_eq!(page.checkout, checkout, "{}: another page", self.context);
            store_page(shop, page);
        }
    }

    fn restart(&mut self) {
        let shop = self.shop.take().unwrap();
        let now = shop.now;
        self.shop = Some(shop.reopened(now));
        self.compare();
    }

    fn shop(&self) -> &PaymentFixture {
        self.shop.as_ref().unwrap()
    }

    fn compare(&self) {
        assert_eq!(self.view(), self.truth.view(), "{}: the service, then the model", self.context);
        if let Some(payment) = self.unlisted_payment() {
            panic!("{}: {payment} has no effect, and the operator sees no problem", self.context);
        }
    }

    /// A payment that Stripe reported, that paid for nothing, and that no problem names.
    fn unlisted_payment(&self) -> Option<String> {
        self.truth.sales.iter().find_map(|sale| {
            let problems = self.problems(sale);
            let is_listed = |payment: &&str| problems.iter().any(|problem| problem.contains(payment));
            sale.uncounted().find(|payment| !is_listed(payment)).map(str::to_owned)
        })
    }

    fn problems(&self, sale: &Sale) -> Vec<String> {
        let record = sale.page.as_ref().map(|page| self.shop().accounts.checkout(page.checkout).unwrap().unwrap());
        record.map_or_else(Vec::new, |record| record.problems)
    }

    /// What the service shows.
    fn view(&self) -> View {
        let (accounts, now) = (&self.shop().accounts, self.shop().now);
        let [first, second] = self.customers.map(|id| accounts.account(id, now).unwrap());
        let purchases = accounts.purchases().unwrap();
        let sales = self.truth.sales.iter().map(|sale| {
            let has_problems = !self.problems(sale).is_empty();
            match sale.id {
                Payable::Purchase(id) => {
                    let record = purchases.iter().find(|record| record.id == id).unwrap();
                    let state = match record.status {
                        PurchaseStatus::Requested => SaleState::Open,
                        PurchaseStatus::Paid => SaleState::Paid,
                        PurchaseStatus::Refunded => SaleState::Refunded,
                        PurchaseStatus::Cancelled => SaleState::Closed,
                    };
                    SaleView { state, paid_by: record.payment_reference.clone(), has_problems }
                }
                Payable::Order(id) => {
                    let Some(record) = accounts.order(id).unwrap() else {
                        return SaleView { state: SaleState::Closed, paid_by: None, has_problems };
                    };
                    let state = if record.payment.is_some() { SaleState::Paid } else { SaleState::Open };
                    SaleView { state, paid_by: record.payment.and_then(|payment| payment.reference), has_problems }
                }
            }
        });
        View {
            wallets: [first.remaining.wallet, second.remaining.wallet],
            is_deleted: second.record.status == AccountStatus::Deleted,
            sales: sales.collect(),
        }
    }
}

fn store_page(shop: &PaymentFixture, page: &Page) {
    let stored = CheckoutPage { session: page.session.clone(), url: "https://pay.example/".to_owned() };
    shop.accounts.store_checkout_page(page.checkout, stored).unwrap();
}
