//! The plain model of payments: what people and Stripe did, and what the service must show for it. It
//! keeps sums and sets, which do not depend on the order of notices.

use std::collections::BTreeMap;

use hornbook_accounts::ids::CheckoutId;
use hornbook_accounts::records::{DisputeState, Payable};

use crate::notices::{Event, Signing, Subject};

/// What somebody does, as far as it can be repeated or seen afterwards.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Grant(u32),
    Call(u32),
    /// An operator confirms a sale by hand.
    Confirm {
        sale: usize,
        reference: Option<String>,
    },
    /// An operator cancels a purchase or discards an order.
    Close {
        sale: usize,
    },
    /// An operator deletes the account of the second customer.
    Delete,
    Notice {
        of: Option<Notice>,
        foreign: usize,
        signing: Signing,
    },
}

/// A notice about a page and one of its payments.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    pub(crate) sale: usize,
    pub(crate) payment: usize,
    pub(crate) event: Event,
}

#[derive(Clone, Default)]
pub(crate) struct Truth {
    pub(crate) granted: i64,
    pub(crate) spent: i64,
    /// Whether the account of the second customer is deleted.
    pub(crate) is_deleted: bool,
    pub(crate) sales: Vec<Sale>,
}

/// A purchase or an order.
#[derive(Clone)]
pub(crate) struct Sale {
    pub(crate) id: Payable,
    /// 0 or 1.
    pub(crate) customer: usize,
    pub(crate) price: u64,
    /// An order buys none.
    pub(crate) credits: u64,
    pub(crate) page: Option<Page>,
    /// The reference of the payment that counts.
    pub(crate) paid_by: Option<String>,
    /// Cancelled or discarded.
    is_closed: bool,
    /// Money went back that no credits were taken for.
    went_back_elsewhere: bool,
}

/// A page for payments by card. It may be paid twice.
#[derive(Clone)]
pub(crate) struct Page {
    pub(crate) checkout: CheckoutId,
    pub(crate) session: String,
    pub(crate) payments: [Payment; 2],
    /// The payment that was reported first.
    first: Option<usize>,
}

#[derive(Clone)]
pub(crate) struct Payment {
    pub(crate) name: String,
    is_reported: bool,
    refunded: u64,
    /// Cents by id.
    failed_refunds: BTreeMap<String, u64>,
    /// Cents and state by id.
    disputes: BTreeMap<String, (u64, DisputeState)>,
}

/// What can be seen of the model and of the service.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct View {
    pub(crate) wallets: [i64; 2],
    pub(crate) is_deleted: bool,
    pub(crate) sales: Vec<SaleView>,
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) struct SaleView {
    pub(crate) state: SaleState,
    pub(crate) paid_by: Option<String>,
    pub(crate) has_problems: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SaleState {
    Open,
    Paid,
    Refunded,
    Closed,
}

impl Page {
    pub(crate) fn new(checkout: CheckoutId, session: String) -> Self {
        let payment = |end: &str| Payment {
            name: format!("{}_{end}", session.replace("cs_", "pi_")),
            is_reported: false,
            refunded: 0,
            failed_refunds: BTreeMap::new(),
            disputes: BTreeMap::new(),
        };
        let payments = ["a", "b"].map(payment);
        Self { checkout, session, payments, first: None }
    }

    pub(crate) fn has_payment(&self) -> bool {
        self.first.is_some()
    }
}

impl Payment {
    /// The cents that went back to the payer and stayed there.
    fn went_back(&self) -> u64 {
        self.refunded.saturating_sub(self.failed_refunds.values().sum())
    }

    fn in_dispute(&self) -> u64 {
        self.disputes.values().filter(|(_, state)| *state != DisputeState::Won).map(|(cents, _)| cents).sum()
    }
}

impl Sale {
    pub(crate) fn new(id: Payable, customer: usize, price: u64, credits: u64) -> Self {
        let (page, paid_by) = (None, None);
        Self { id, customer, price, credits, page, paid_by, is_closed: false, went_back_elsewhere: false }
    }

    pub(crate) fn subject<'a>(&'a self, payment: usize, checkout: &'a str) -> Subject<'a> {
        let page = self.page.as_ref().unwrap();
        Subject { checkout, session: &page.session, payment: &page.payments[payment].name, price: self.price }
    }

    fn is_order(&self) -> bool {
        matches!(self.id, Payable::Order(_))
    }

    /// The payment whose refunds and disputes change the credits: reported first on the page, and the one that counts.
    fn followed(&self) -> Option<&Payment> {
        let page = self.page.as_ref()?;
        page.first.map(|first| &page.payments[first]).filter(|payment| self.paid_by.as_ref() == Some(&payment.name))
    }

    /// The credits that the customer keeps: what was paid and not refunded.
    fn kept(&self) -> i64 {
        if self.paid_by.is_none() {
            return 0;
        }
        let gone = self.followed().map_or(0, |payment| payment.went_back() + payment.in_dispute());
        (self.credits - self.credits * gone.min(self.price) / self.price) as i64
    }

    pub(crate) fn state(&self) -> SaleState {
        let is_refunded = self.followed().is_some_and(|payment| payment.went_back() >= self.price);
        match &self.paid_by {
            Some(_) if is_refunded && !self.is_order() => SaleState::Refunded,
            Some(_) => SaleState::Paid,
            None if self.is_closed => SaleState::Closed,
            None => SaleState::Open,
        }
    }

    /// The payments that Stripe reported and that paid for nothing here.
    pub(crate) fn uncounted(&self) -> impl Iterator<Item = &str> {
        let payments = self.page.iter().flat_map(|page| &page.payments);
        let uncounted = payments.filter(|payment| payment.is_reported && self.paid_by.as_ref() != Some(&payment.name));
        uncounted.map(|payment| payment.name.as_str())
    }

    /// Whether an operator must look at the payments.
    fn has_problems(&self) -> bool {
        let first = self.page.as_ref().and_then(|page| page.first.map(|first| &page.payments[first]));
        let of_first = first.is_some_and(|first| {
            let money_moved = first.refunded > 0 || !first.disputes.is_empty();
            !first.failed_refunds.is_empty() || (self.is_order() && money_moved)
        });
        of_first || self.went_back_elsewhere || self.uncounted().next().is_some()
    }
}

impl Truth {
    pub(crate) fn view(&self) -> View {
        let mut wallets = [self.granted - self.spent, 0];
        for sale in &self.sales {
            wallets[sale.customer] += sale.kept();
        }
        let sales = self.sales.iter().map(|sale| SaleView {
            state: sale.state(),
            paid_by: sale.paid_by.clone(),
            has_problems: sale.has_problems(),
        });
        View { wallets, is_deleted: self.is_deleted, sales: sales.collect() }
    }

    fn is_used(&self, reference: &str) -> bool {
        self.sales.iter().any(|sale| sale.paid_by.as_deref() == Some(reference))
    }

    fn is_gone(&self, sale: usize) -> bool {
        self.sales[sale].customer == 1 && self.is_deleted
    }

    /// Makes the change of an action. Returns whether the service must accept it.
    pub(crate) fn apply(&mut self, action: &Action) -> bool {
        match action {
            Action::Grant(credits) => {
                self.granted += i64::from(*credits);
                true
            }
            Action::Call(cost) => {
                let is_affordable = self.view().wallets[0] >= i64::from(*cost);
                self.spent += if is_affordable { i64::from(*cost) } else { 0 };
                is_affordable
            }
            Action::Confirm { sale, reference } => self.confirm(*sale, reference.as_deref()),
            Action::Close { sale } => {
                let is_open = self.sales[*sale].state() == SaleState::Open;
                self.sales[*sale].is_closed |= is_open;
                is_open
            }
            Action::Delete => {
                // No order is completed here.
                let under_way =
                    |sale: &Sale| sale.customer == 1 && sale.is_order() && sale.state() != SaleState::Closed;
                let is_possible = !self.is_deleted && !self.sales.iter().any(under_way);
                self.is_deleted |= is_possible;
                is_possible
            }
            Action::Notice { of, signing, .. } => {
                let is_genuine = *signing == Signing::Genuine;
                if let Some(notice) = of
                    && is_genuine
                {
                    self.report(notice);
                }
                is_genuine
            }
        }
    }

    fn confirm(&mut self, at: usize, reference: Option<&str>) -> bool {
        let sale = &self.sales[at];
        match sale.state() {
            SaleState::Paid => return reference.is_some() && sale.paid_by.as_deref() == reference,
            SaleState::Refunded | SaleState::Closed => return false,
            SaleState::Open => {}
        }
        let needs_reference = sale.page.is_some();
        let reference = match reference {
            None if needs_reference => return false,
            None => format!("by hand: {}", sale.id),
            Some(given) => given.to_owned(),
        };
        if self.is_gone(at) || self.is_used(&reference) {
            return false;
        }
        self.sales[at].paid_by = Some(reference);
        true
    }

    fn report(&mut self, Notice { sale: at, payment, event }: &Notice) {
        let (at, payment) = (*at, *payment);
        let name = self.sales[at].page.as_ref().unwrap().payments[payment].name.clone();
        let (is_used, is_gone) = (self.is_used(&name), self.is_gone(at));
        let sale = &mut self.sales[at];
        let (is_order, is_closed, price) = (sale.is_order(), sale.is_closed, sale.price);
        let page = sale.page.as_mut().unwrap();
        let paid = &mut page.payments[payment];
        match event {
            Event::Paid => {
                paid.is_reported = true;
                let is_first = page.first.is_none();
                page.first.get_or_insert(payment);
                // A cancelled purchase is credited nevertheless, because the money has arrived.
                let is_payable = sale.paid_by.is_none() && !is_gone && !(is_order && is_closed);
                if is_first && is_payable && !is_used {
                    sale.paid_by = Some(name);
                }
            }
            Event::Expired => sale.is_closed |= !is_order && page.first.is_none() && sale.paid_by.is_none(),
            Event::Refunded(cents) => {
                paid.refunded = paid.refunded.max((*cents).min(price));
                sale.went_back_elsewhere |= is_used && page.first.is_some_and(|first| first != payment);
            }
            Event::Disputed { dispute, cents, state } => {
                let known = paid.disputes.entry(dispute.clone()).or_insert((*cents, *state));
                if known.1 == DisputeState::Open {
                    known.1 = *state;
                }
            }
            Event::RefundFailed { refund, cents } => {
                paid.failed_refunds.entry(refund.clone()).or_insert(*cents);
            }
        }
    }
}
