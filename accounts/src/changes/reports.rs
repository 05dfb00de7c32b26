//! Reports of a payment provider on the payments on its pages.
//!
//! Reports arrive late, repeated and in any order, and some arrive again after a crash. So a report
//! is never a step of a sequence: it is merged into what is known about the payment, and the ledger
//! is then made to match. Merging the same report twice changes nothing.

use hornbook_base::clock::{MILLIS_PER_DAY, UnixMillis};

use super::act::{ActContext, audit, note};
use super::checkouts::{checkout, put_checkout};
use super::orders::{put_order, settle};
use super::payments;
use super::purchases::{credit, purchase, put_purchase};
use super::run::{account, no_memory_effect, update_account_after};
use crate::Accounts;
use crate::audit_text::{AuditPart, WrittenText};
use crate::error::ChangeError;
use crate::ids::{CheckoutId, OrderId, PurchaseId};
use crate::job::AfterCommit;
use crate::ledger::entry::{Draft, EntryKind, Reference};
use crate::ledger::poster::LedgerTransaction;
use crate::records::{
    AccountRecord, AccountStatus, CheckoutRecord, DisputeRecord, DisputeState, EarlyReports, FailedRefund, OrderRecord,
    Payable, PaymentEvent, PurchaseStatus, RefundedTotal, get_json, owned_json, put_json,
};
use crate::state::{Index, StateTable};
use crate::visible_text::VisibleText;

/// A report of a payment provider. Amounts are in the smallest unit of the currency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PaymentReport {
    /// The money arrived.
    Paid {
        checkout: CheckoutId,
        session: String,
        payment: String,
        amount: u64,
        /// The ISO 4217 code, in lower case.
        currency: String,
    },
    /// The page was closed, or the money did not arrive.
    NotPaid { checkout: CheckoutId, session: String },
    /// The total that went back to the payer, over all refunds that had not failed when the
    /// provider wrote the report.
    Refunded { checkout: CheckoutId, payment: String, amount: u64, at_sec: i64 },
    /// Another event of a payment.
    Event { payment: String, event: PaymentEvent },
}

/// The result of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReportResult {
    Applied,
    /// The report contains nothing new.
    Known,
    /// The report is stored, and the operator must look at it; the text is the reason.
    Problem(String),
    /// The payment is not known yet. The report is kept until the payment is reported.
    Kept,
    /// The report names no checkout of ours.
    Unknown,
}

/// The maximum number of reports kept for an unknown payment. A payment of ours has one or two.
const EARLY_REPORTS_MAX: usize = 32;

/// Providers repeat a notice for some days. A payment that is still unknown after this time is not ours.
const EARLY_MILLIS: i64 = 30 * MILLIS_PER_DAY;

/// The currency of all prices.
const CURRENCY: &str = "usd";

/// The effect of a change in memory: the account and the credits it gained or lost, if any.
type AccountEffect = Option<(AccountRecord, i64)>;

impl Accounts {
    /// Merges a report of the payment provider into what is known about the payment.
    pub fn report_payment(&self, report: PaymentReport, act: &ActContext) -> Result<ReportResult, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let found = match &report {
                PaymentReport::Paid { checkout: id, .. }
                | PaymentReport::NotPaid { checkout: id, .. }
                | PaymentReport::Refunded { checkout: id, .. } => checkout(poster, *id)?,
                PaymentReport::Event { payment, .. } => checkout_paid_by(poster, payment)?,
            };
            let Some(mut record) = found else {
                let PaymentReport::Event { payment, event } = report else {
                    return Ok((ReportResult::Unknown, no_memory_effect()));
                };
                keep_early_event(poster, &payment, event, act.at)?;
                return Ok((ReportResult::Kept, no_memory_effect()));
            };
            let before = record.clone();
            let (result, effect) = apply(poster, &mut record, report, &act)?;
            if record != before {
                put_checkout(poster, &record)?;
            }
            let after: AfterCommit =
                effect.map_or_else(no_memory_effect, |(account, credits)| update_account_after(account, credits));
            Ok((result, after))
        })
    }
}

impl Accounts {
    /// Removes the reports of payments that never arrived.
    pub(crate) fn expire_early_reports(&self, now: UnixMillis) -> Result<(), ChangeError> {
        let has_expired = |early: &EarlyReports| early.at.plus_millis(EARLY_MILLIS) <= now;
        self.remove_expired(StateTable::EarlyReports, has_expired)
    }
}

fn apply(
    poster: &mut LedgerTransaction<'_>,
    record: &mut CheckoutRecord,
    report: PaymentReport,
    act: &ActContext,
) -> Result<(ReportResult, AccountEffect), ChangeError> {
    match report {
        PaymentReport::Paid { session, payment, amount, currency, .. } => {
            if !is_of_page(record, &session) {
                return problem(
                    poster,
                    record,
                    act,
                    format!("page {session} was paid, but it is not the page of this checkout"),
                );
            }
            if record.payment.as_ref() == Some(&payment) {
                return Ok((ReportResult::Known, None));
            }
            if let Some(paid) = &record.payment {
                let text = format!("it was paid twice, by {paid} and {payment}; refund one of them");
                return problem(poster, record, act, text);
            }
            VisibleText::check("payment reference", &payment)?;
            record.payment = Some(payment.clone());
            for news in take_early(poster, record, &payment)? {
                if let Some(text) = text_for_operator(poster, record, &news)? {
                    problem(poster, record, act, text)?;
                }
            }
            if amount != u64::from(record.amount_cents) || currency != CURRENCY {
                let (due, of) = (record.amount_cents, CURRENCY);
                return problem(
                    poster,
                    record,
                    act,
                    format!("{amount} {currency} were paid instead of {due} {of}; refund it"),
                );
            }
            paid(poster, record, &payment, act)
        }
        PaymentReport::NotPaid { session, .. } => {
            if !is_of_page(record, &session) || record.payment.is_some() {
                return Ok((ReportResult::Known, None));
            }
            not_paid(poster, record, act)
        }
        PaymentReport::Refunded { payment, amount, at_sec, .. } => {
            let cents = u32::try_from(amount).unwrap_or(u32::MAX).min(record.amount_cents);
            let total = RefundedTotal { at_sec, cents };
            match &record.payment {
                None => {
                    keep_early_total(poster, &payment, total, act.at)?;
                    Ok((ReportResult::Kept, None))
                }
                Some(paid) if *paid == payment => match merge_total(record, total) {
                    None => Ok((ReportResult::Known, None)),
                    Some(news) => reversed(poster, record, act, &news),
                },
                // A second payment on the page was reported as a problem when it arrived.
                Some(_) => match payments::paid_by(poster, &payment)? {
                    None => Ok((ReportResult::Known, None)),
                    Some(paid) => {
                        let what = format!("{cents} cents were refunded");
                        problem(poster, record, act, to_be_taken_back(&what, &payment, paid))
                    }
                },
            }
        }
        PaymentReport::Event { event, .. } => match merge(record, event)? {
            None => Ok((ReportResult::Known, None)),
            Some(news) => reversed(poster, record, act, &news),
        },
    }
}

/// The new information of a report on a payment, as text.
enum Merged {
    /// Money went back to the payer, or is in dispute, or came back to us.
    Reversal(String),
    FailedRefund(String),
}

impl Merged {
    fn what(&self) -> &str {
        match self {
            Self::Reversal(what) | Self::FailedRefund(what) => what,
        }
    }
}

/// The problem that the operator must solve because of a report, if any.
fn text_for_operator(
    poster: &LedgerTransaction<'_>,
    record: &CheckoutRecord,
    news: &Merged,
) -> Result<Option<String>, ChangeError> {
    let what = match (news, record.pays) {
        (Merged::FailedRefund(what), _) => {
            let end = "so the customer keeps what was paid for; pay the money back another way";
            return Ok(Some(format!("{what}, {end}")));
        }
        (Merged::Reversal(what), Payable::Order(_)) => return Ok(Some(what.clone())),
        (Merged::Reversal(what), Payable::Purchase(_)) => what,
    };
    let payment = payment_of(record);
    let paid = payments::paid_by(poster, payment)?.filter(|paid| *paid != record.pays);
    Ok(paid.map(|paid| to_be_taken_back(what, payment, paid)))
}

/// What the operator should do when money of a payment goes back that an operator used for something
/// other than what it was made for.
fn to_be_taken_back(what: &str, payment: &str, paid: Payable) -> String {
    let paid = payments::named(paid);
    format!("{what}, but payment {payment} was used for {paid}; take back by hand what it gave")
}

/// Records the total that went back to the payer. None if a later total was known.
fn merge_total(record: &mut CheckoutRecord, total: RefundedTotal) -> Option<Merged> {
    if total <= (RefundedTotal { at_sec: record.refunded_at_sec, cents: record.refunded_cents }) {
        return None;
    }
    (record.refunded_at_sec, record.refunded_cents) = (total.at_sec, total.cents);
    Some(Merged::Reversal(format!("{} of {} cents were refunded", total.cents, record.amount_cents)))
}

/// Records an event of a checkout's payment. None if the event was known.
fn merge(record: &mut CheckoutRecord, event: PaymentEvent) -> Result<Option<Merged>, ChangeError> {
    let cents = |amount: u64| u32::try_from(amount).unwrap_or(u32::MAX);
    match event {
        PaymentEvent::RefundFailed { refund, amount, at_sec } => {
            VisibleText::check("refund", &refund)?;
            if record.failed_refunds.iter().any(|known| known.id == refund) {
                return Ok(None);
            }
            let what = format!("refund {refund} of {amount} cents failed");
            record.failed_refunds.push(FailedRefund { id: refund, cents: cents(amount), at_sec });
            Ok(Some(Merged::FailedRefund(what)))
        }
        PaymentEvent::Disputed { dispute, amount, state } => {
            VisibleText::check("dispute", &dispute)?;
            let state_name = match state {
                DisputeState::Open => "open",
                DisputeState::Won => "won",
                DisputeState::Lost => "lost",
            };
            let what = format!("dispute {dispute} is {state_name}");
            match record.disputes.iter_mut().find(|known| known.id == dispute) {
                // A dispute that has ended stays ended: its beginning may be reported after its end.
                Some(known) if known.state != DisputeState::Open || state == DisputeState::Open => return Ok(None),
                Some(known) => known.state = state,
                None => {
                    let cents = amount.map_or(record.amount_cents, cents);
                    record.disputes.push(DisputeRecord { id: dispute, cents, state });
                }
            }
            Ok(Some(Merged::Reversal(what)))
        }
    }
}

/// Changes what is kept of a payment that is not known yet, or that is not ours.
fn keep_early(
    poster: &mut LedgerTransaction<'_>,
    payment: &str,
    at: UnixMillis,
    change: impl FnOnce(&mut EarlyReports) -> bool,
) -> Result<(), ChangeError> {
    VisibleText::check("payment reference", payment)?;
    let known: Option<EarlyReports> = get_json(&poster.writing, StateTable::EarlyReports, payment.as_bytes())?;
    let nothing = || EarlyReports { at, reports: Vec::new(), refunded: None };
    let mut kept = known.unwrap_or_else(nothing);
    if !change(&mut kept) {
        return Ok(());
    }
    kept.at = at;
    Ok(put_json(&mut poster.writing, StateTable::EarlyReports, payment.as_bytes(), &kept)?)
}

/// Keeps an event. It may be of another service: the provider sends the notices of all services to
/// every listener.
fn keep_early_event(
    poster: &mut LedgerTransaction<'_>,
    payment: &str,
    event: PaymentEvent,
    at: UnixMillis,
) -> Result<(), ChangeError> {
    keep_early(poster, payment, at, |kept| {
        let is_new = !kept.reports.contains(&event) && kept.reports.len() < EARLY_REPORTS_MAX;
        if is_new {
            kept.reports.push(event);
        }
        is_new
    })
}

fn keep_early_total(
    poster: &mut LedgerTransaction<'_>,
    payment: &str,
    total: RefundedTotal,
    at: UnixMillis,
) -> Result<(), ChangeError> {
    keep_early(poster, payment, at, |kept| {
        let is_new = kept.refunded < Some(total);
        kept.refunded = kept.refunded.max(Some(total));
        is_new
    })
}

/// Merges what was kept of the payment into the record of its checkout.
fn take_early(
    poster: &mut LedgerTransaction<'_>,
    record: &mut CheckoutRecord,
    payment: &str,
) -> Result<Vec<Merged>, ChangeError> {
    let known: Option<EarlyReports> = get_json(&poster.writing, StateTable::EarlyReports, payment.as_bytes())?;
    let Some(kept) = known else { return Ok(Vec::new()) };
    poster.writing.remove(StateTable::EarlyReports, payment.as_bytes())?;
    let mut news: Vec<Merged> = kept.refunded.and_then(|total| merge_total(record, total)).into_iter().collect();
    for event in kept.reports {
        news.extend(merge(record, event)?);
    }
    Ok(news)
}

/// Whether the report is about the page of this checkout. The provider created one page for it; a
/// report may arrive before that page is recorded.
fn is_of_page(record: &CheckoutRecord, session: &str) -> bool {
    record.page.as_ref().is_none_or(|page| page.session == session)
}

fn problem(
    poster: &mut LedgerTransaction<'_>,
    record: &mut CheckoutRecord,
    act: &ActContext,
    text: String,
) -> Result<(ReportResult, AccountEffect), ChangeError> {
    if record.problems.contains(&text) {
        return Ok((ReportResult::Known, None));
    }
    audit(poster, act, "payment problem", &[&record.pays, &" of ", &record.account, &": ", &WrittenText(&text)])?;
    record.problems.push(text.clone());
    Ok((ReportResult::Problem(text), None))
}

fn paid(
    poster: &mut LedgerTransaction<'_>,
    record: &mut CheckoutRecord,
    payment: &str,
    act: &ActContext,
) -> Result<(ReportResult, AccountEffect), ChangeError> {
    if let Some(result) = already_counted(poster, record, payment, act)? {
        return Ok(result);
    }
    let id = match record.pays {
        Payable::Purchase(id) => id,
        Payable::Order(id) => return order_paid(poster, record, id, payment, act),
    };
    let mut bought = purchase(poster, id)?;
    if account(poster, bought.account)?.status == AccountStatus::Deleted {
        let text = format!("it was paid by {payment}, but the account is deleted; refund it");
        return problem(poster, record, act, text);
    }
    if matches!(bought.status, PurchaseStatus::Paid | PurchaseStatus::Refunded) {
        let text = payments::paid_before(payment, bought.payment_reference.as_deref());
        return problem(poster, record, act, text);
    }
    // Also if it was cancelled meanwhile, because the money has arrived.
    let account = credit(poster, &mut bought, payment.to_owned(), act)?;
    audit(poster, act, "purchase paid", &[&id, &" of ", &bought.account, &", ", &bought.credits, &" credits"])?;
    // Applies refunds and disputes that were reported before the payment.
    let back = reverse(poster, record, id, act, "reported before the payment")?;
    Ok((ReportResult::Applied, Some((account, i64::from(bought.credits.0) + back))))
}

fn order_paid(
    poster: &mut LedgerTransaction<'_>,
    record: &mut CheckoutRecord,
    id: OrderId,
    payment: &str,
    act: &ActContext,
) -> Result<(ReportResult, AccountEffect), ChangeError> {
    let found: Option<OrderRecord> = get_json(&poster.writing, StateTable::Orders, id.0.as_bytes())?;
    let Some(mut ordered) = found else {
        let text = format!("it was paid by {payment}, but the order was discarded; refund it");
        return problem(poster, record, act, text);
    };
    if let Some(before) = &ordered.payment {
        let text = payments::paid_before(payment, before.reference.as_deref());
        return problem(poster, record, act, text);
    }
    settle(poster, &mut ordered, payment.to_owned(), act)?;
    put_order(poster, &ordered)?;
    audit(poster, act, "order paid", &[&id, &" of ", &ordered.account])?;
    Ok((ReportResult::Applied, None))
}

/// The result of a report whose payment has already paid for something. If it paid for the same
/// thing, because the operator confirmed it by hand first, only earlier reported refunds remain to
/// be applied.
fn already_counted(
    poster: &mut LedgerTransaction<'_>,
    record: &mut CheckoutRecord,
    payment: &str,
    act: &ActContext,
) -> Result<Option<(ReportResult, AccountEffect)>, ChangeError> {
    match payments::paid_by(poster, payment)? {
        None => Ok(None),
        Some(paid) if paid == record.pays => {
            let Payable::Purchase(id) = paid else { return Ok(Some((ReportResult::Known, None))) };
            match reverse(poster, record, id, act, "reported before the payment")? {
                0 => Ok(Some((ReportResult::Known, None))),
                back => Ok(Some((ReportResult::Applied, Some((account(poster, record.account)?, back))))),
            }
        }
        Some(paid) => problem(poster, record, act, payments::already_paid(payment, paid)).map(Some),
    }
}

fn not_paid(
    poster: &mut LedgerTransaction<'_>,
    record: &CheckoutRecord,
    act: &ActContext,
) -> Result<(ReportResult, AccountEffect), ChangeError> {
    let Payable::Purchase(id) = record.pays else { return Ok((ReportResult::Known, None)) };
    let mut wanted = purchase(poster, id)?;
    if wanted.status != PurchaseStatus::Requested {
        return Ok((ReportResult::Known, None));
    }
    wanted.status = PurchaseStatus::Cancelled;
    wanted.settled_at = Some(act.at);
    put_purchase(poster, &wanted)?;
    audit(poster, act, "purchase cancel", &[&id, &" of ", &wanted.account])?;
    Ok((ReportResult::Applied, None))
}

/// Handles a report that part of the payment went back to the payer, or came back to us.
fn reversed(
    poster: &mut LedgerTransaction<'_>,
    record: &mut CheckoutRecord,
    act: &ActContext,
    news: &Merged,
) -> Result<(ReportResult, AccountEffect), ChangeError> {
    let credits = match record.pays {
        Payable::Purchase(id) => reverse(poster, record, id, act, news.what())?,
        Payable::Order(_) => 0,
    };
    let effect = if credits == 0 { None } else { Some((account(poster, record.account)?, credits)) };
    let result = match text_for_operator(poster, record, news)? {
        Some(text) => problem(poster, record, act, text)?.0,
        None => ReportResult::Applied,
    };
    Ok((result, effect))
}

/// Makes the ledger match the part of the payment that is still ours. Returns what the wallet
/// gains; negative for a loss.
fn reverse(
    poster: &mut LedgerTransaction<'_>,
    record: &CheckoutRecord,
    id: PurchaseId,
    act: &ActContext,
    why: &str,
) -> Result<i64, ChangeError> {
    let mut bought = purchase(poster, id)?;
    let is_paid_by_this = record.payment.is_some() && bought.payment_reference == record.payment;
    // A purchase that the operator refunded has no credits left to take.
    let by_operator = bought.status == PurchaseStatus::Refunded && !bought.refunded_by_provider;
    if !is_paid_by_this || by_operator {
        return Ok(0);
    }
    let target = record.reversed_credits(bought.credits);
    let credits = i64::from(bought.reversed.0) - i64::from(target.0);
    if credits != 0 {
        // Credits that come back belong to the customer again, as if bought.
        let kind = if credits < 0 { EntryKind::Refund } else { EntryKind::Purchase };
        let note = note(act, format!("pack {}: {why}", bought.pack.tier()))?;
        poster.append(Draft::correction(bought.account, kind, credits, act.at, Reference::Purchase(id), note));
        let what = if credits < 0 { "purchase refund" } else { "purchase restore" };
        let on: [&dyn AuditPart; 7] =
            [&id, &" of ", &bought.account, &", ", &credits, &" credits: ", &WrittenText(why)];
        audit(poster, act, what, &on)?;
    }
    bought.reversed = target;
    bought.refunded_by_provider = record.went_back_cents() >= record.amount_cents;
    bought.status = if bought.refunded_by_provider { PurchaseStatus::Refunded } else { PurchaseStatus::Paid };
    put_purchase(poster, &bought)?;
    Ok(credits)
}

fn payment_of(record: &CheckoutRecord) -> &str {
    record.payment.as_deref().unwrap_or("an unknown payment")
}

/// The checkout of a payment.
fn checkout_paid_by(poster: &LedgerTransaction<'_>, payment: &str) -> Result<Option<CheckoutRecord>, ChangeError> {
    Ok(owned_json(&poster.writing, Index::CheckoutsByPayment, &payment)?.pop())
}
