//! Debits and refunds of calls as entries of the ledger, and what their callers and balances learn of it.

use std::collections::BTreeMap;

use hornbook_base::clock::Month;

use super::error::LedgerError;
use super::job::{Post, PostKind, PostedEntry};
use super::ledger::entry::{Draft, EntryKind, Reference};
use super::ledger::poster::LedgerTransaction;
use super::line_budgets;
use super::tier::Tariff;
use crate::state::{StateError, StateTable};

/// A debit that takes these units from the allotment, and the rest from the wallet.
pub(crate) fn usage(poster: &mut LedgerTransaction<'_>, post: &Post, from_allotment: u32) -> Draft {
    Draft {
        at: post.at,
        kind: EntryKind::Usage,
        account: post.key.account.id,
        key: Some(post.key.id),
        operation: Some(poster.operation(&post.operation)),
        credits: -i64::from(post.cost.0),
        from_allotment: from_allotment.into(),
        month: Month(post.hold.balance.month),
        reference: Reference::None,
        note: None,
    }
}

/// Appends one debit or refund to the ledger. None for the refund of a debit that was never appended.
pub(crate) fn append_post(
    poster: &mut LedgerTransaction<'_>,
    post: &Post,
    from_allotment: u32,
) -> Result<Option<PostedEntry>, StateError> {
    let mut draft = usage(poster, post, from_allotment);
    if post.kind == PostKind::Refund {
        let Some(debit) = post.placed.get() else { return Ok(None) };
        draft = draft.refunded(debit);
        for key in post.key.counted_by(debit) {
            poster.subtract_spending(key, post.cost.0, post.at);
        }
    }
    let entry = poster.append(draft);
    let used = poster.allotment_used(post.key.account.id, Month(post.units.month));
    let allotment = post.units.limit.saturating_sub(used);
    let posting = PostedEntry { number: entry.number, wallet: entry.balance_after, allotment };
    if post.kind == PostKind::Debit {
        post.placed.set(Some(entry.number));
        for key in post.key.counted_by(entry.number) {
            poster.add_spending(key, post.cost.0, post.at);
        }
    }
    match (post.kind, &post.claim) {
        (PostKind::Debit, Some(claim)) => claim.store(poster, &claim.record_of(posting.number, post.cost))?,
        (PostKind::Refund, Some(claim)) => claim.forget(poster)?,
        (_, None) => {}
    }
    Ok(Some(posting))
}

/// Writes one counter for each key of the batch, in the same commit as its debits.
pub(crate) fn write_counters<'p>(
    poster: &mut LedgerTransaction<'_>,
    posts: impl Iterator<Item = &'p Post>,
) -> Result<(), StateError> {
    let mut keys = BTreeMap::new();
    for post in posts.filter(|post| post.kind == PostKind::Debit) {
        post.key.used(post.at);
        // A key that another key created counts its calls there.
        for key in [&*post.key, post.key.rate_limited()] {
            keys.insert(key.id, key);
        }
    }
    let records = keys.into_iter().map(|(id, key)| {
        key.take_dirty();
        (id.to_key(), key.counter().to_bytes())
    });
    poster.writing.put_all(StateTable::Counters, records)
}

/// What became of a debit or refund whose batch was committed.
#[derive(Clone, Copy)]
pub(crate) enum Posting {
    Made(PostedEntry),
    /// The refund of a debit that was never made.
    Nothing,
    /// Another server spent the credits, or charged the same request, first.
    Overtaken,
}

/// Whether a budget, a rate limit or another server's charge of the same request forbids a debit on the newest state.
pub(crate) fn is_overtaken(poster: &LedgerTransaction<'_>, post: &Post, tariff: &Tariff) -> bool {
    if post.kind == PostKind::Refund {
        return false;
    }
    line_budgets::is_overspent(&post.key, post.cost.0, post.at, |key| poster.spending_of(key))
        || post.claim.as_ref().is_some_and(|claim| claim.is_charged_elsewhere())
        || post.key.rate_limiter().take_back_excess(tariff.limits(post.key.account.standing().tier), post.at)
}

pub(crate) fn settle(mut post: Post, posting: Posting) {
    match (post.kind, posting) {
        (PostKind::Debit, Posting::Overtaken) => {
            post.hold.release(&post.key);
            // Its record, if there is one, is the other server's.
            post.claim = None;
            return answer(&mut post, LedgerError::Overtaken);
        }
        (PostKind::Debit, _) => post.hold.settle(&post.key),
        (PostKind::Refund, Posting::Made(_)) => {
            if let Some(debit) = post.placed.get() {
                post.hold.return_posted(&post.key, debit);
            }
        }
        (PostKind::Refund, _) => {}
    }
    // Before the answer: a caller that has the answer may send the request again and must find the record.
    if let Some(claim) = post.claim.take() {
        match (post.kind, posting) {
            (PostKind::Debit, Posting::Made(posting)) => claim.is_stored(&claim.record_of(posting.number, post.cost)),
            (PostKind::Refund, Posting::Made(_)) => claim.is_forgotten(),
            // The record, if there is one, is of another server's debit.
            (_, Posting::Nothing | Posting::Overtaken) => {}
        }
    }
    if let Some(promise) = post.promise.take() {
        promise.answer(Ok(match posting {
            Posting::Made(posting) => Some(posting),
            Posting::Nothing | Posting::Overtaken => None,
        }));
    }
}

pub(crate) fn answer(post: &mut Post, error: LedgerError) {
    if let Some(promise) = post.promise.take() {
        promise.answer(Err(error));
    }
}
