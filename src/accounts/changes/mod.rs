//! Changes made by operators, payment providers and reviewers: accounts, keys, grants, purchases, drafts, orders, people,
//! sessions.
//!
//! The ledger's writer checks and applies each change in a transaction of its own, so two changes cannot conflict. It
//! is in effect in memory before its response is sent.

mod accounts;
mod checkouts;
mod credits;
pub(super) mod drafts;
mod keys;
pub(super) mod links;
mod orders;
mod payments;
pub(super) mod people;
mod purchases;
pub(super) mod sessions;

use std::sync::{Arc, OnceLock};

pub use checkouts::{PaymentReport, ReportResult};
pub use drafts::{Acceptance, DraftContent, DraftView, OPEN_DRAFTS_MAX, OpenedDraft, UNPAID_ORDERS_MAX};
pub use keys::{IssuedKey, KeyWish};
pub use links::{LINK_MILLIS, LinkAnswer, LinkView};
pub use orders::OrderWish;
pub(crate) use people::forget_person;
pub use people::{DELETED_NAME, Proof, SignUp};
pub use purchases::{OPEN_PURCHASES_MAX, OpenedPurchase, PurchaseWish};
pub use sessions::{EndSessions, SESSIONS_MAX, SessionId, SessionView, SignedIn};

use super::audit::ActRecord;
use super::blocking;
use super::error::ChangeError;
use super::ids::{AccountId, Credits};
use super::ledger::entry::Note;
use super::ledger::poster::Poster;
use super::records::{AccountRecord, LAST_IDS_KEY, LastIds, get_json, put_json};
use super::ticket::ticket;
use super::writer::{After, Change};
use super::{Accounts, Shared};
use crate::clock::UnixMillis;
use crate::state::Table;

/// Amounts beyond this are slips of the finger; an entry could not hold much more.
pub const CREDITS_MAX: u32 = 1_000_000_000;

const NAME_CHARS_MAX: usize = 200;

/// Who makes a change, when.
#[derive(Clone, Debug)]
pub struct Act {
    pub actor: String,
    pub at: UnixMillis,
}

impl Accounts {
    pub(crate) fn change<T: Send + Sync + 'static>(
        &self,
        run: impl FnOnce(&mut Poster<'_>) -> Result<(T, After), ChangeError> + Send + 'static,
    ) -> Result<T, ChangeError> {
        self.shared.change(run)
    }
}

impl Shared {
    /// Runs a change on the writer's thread and waits until it is durable and in effect.
    pub(crate) fn change<T: Send + Sync + 'static>(
        &self,
        run: impl FnOnce(&mut Poster<'_>) -> Result<(T, After), ChangeError> + Send + 'static,
    ) -> Result<T, ChangeError> {
        blocking::assert_allowed();
        let made = Arc::new(OnceLock::new());
        let makes = Arc::clone(&made);
        let (promise, ticket) = ticket();
        let run = Box::new(move |poster: &mut Poster<'_>| {
            let (value, after) = run(poster)?;
            // Empty until here: a change runs once.
            let _ = makes.set(value);
            Ok(after)
        });
        self.queue.change(Change { run, promise })?;
        ticket.wait().unwrap_or(Err(ChangeError::Ledger(super::error::LedgerError::Closed)))?;
        let made = Arc::into_inner(made).and_then(OnceLock::into_inner);
        made.ok_or(ChangeError::Ledger(super::error::LedgerError::Closed))
    }
}

fn last_ids(poster: &Poster<'_>) -> Result<LastIds, ChangeError> {
    Ok(get_json(&poster.writing, Table::Meta, LAST_IDS_KEY)?.unwrap_or_default())
}

fn account(poster: &Poster<'_>, id: AccountId) -> Result<AccountRecord, ChangeError> {
    get_json(&poster.writing, Table::Accounts, &id.to_key())?.ok_or_else(|| ChangeError::not_found("account", id))
}

fn put_account(poster: &mut Poster<'_>, record: &AccountRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, Table::Accounts, &record.id.to_key(), record)?)
}

/// The account's record and purse follow what was committed.
fn updated(record: AccountRecord, credits: i64) -> After {
    Box::new(move |directory| {
        if let Some(state) = directory.account(record.id) {
            state.purse.top_up(credits);
            state.replace(record);
        }
    })
}

pub(super) fn nothing_more() -> After {
    Box::new(|_| {})
}

fn check_text(what: &str, text: &str) -> Result<(), ChangeError> {
    let chars = text.chars().count();
    if (1..=NAME_CHARS_MAX).contains(&chars) && !text.trim().is_empty() {
        return Ok(());
    }
    Err(ChangeError::Refused(format!("the {what} has {chars} characters; give between 1 and {NAME_CHARS_MAX}")))
}

/// Puts an act into the audit log, in the transaction of its change.
pub(super) fn record(
    poster: &mut Poster<'_>,
    act: &Act,
    what: &'static str,
    on: impl Into<String>,
) -> Result<(), ChangeError> {
    check_text("actor", &act.actor)?;
    let (at, actor) = (act.at.to_string(), act.actor.clone());
    poster.record_act(ActRecord { at, actor, act: what.to_owned(), on: on.into() });
    Ok(())
}

/// Who did it and why, for the ledger.
fn note(act: &Act, reason: String) -> Result<Note, ChangeError> {
    check_text("actor", &act.actor)?;
    check_text("reason", &reason)?;
    Ok(Note { actor: act.actor.clone(), reason })
}

fn check_amount(credits: Credits) -> Result<(), ChangeError> {
    if (1..=CREDITS_MAX).contains(&credits.0) {
        return Ok(());
    }
    Err(ChangeError::Refused(format!("the amount is {credits}; give between 1 and {CREDITS_MAX} credits")))
}
