//! Limits on accounts that people created on the pages and that wait for the operator: their
//! number, and how long they wait.

use hornbook_base::clock::{MILLIS_PER_DAY, UnixMillis};

use super::act::{ActContext, audit};
use super::run::{account, no_memory_effect, remove_stored_person};
use super::sessions::end_sessions_of;
use crate::Accounts;
use crate::actor::Actor;
use crate::directory::Directory;
use crate::error::ChangeError;
use crate::ids::AccountId;
use crate::key::KeyKind;
use crate::ledger::poster::LedgerTransaction;
use crate::records::{AccountRecord, AccountStatus, KeyRecord, all_from_json, owned_json};
use crate::state::{Index, StateError, StateTable};

/// The maximum number of waiting sign-ups; nobody looks through more.
pub const PENDING_SIGN_UPS_MAX: usize = 1000;

/// How long a sign-up may wait.
pub const PENDING_MILLIS: i64 = 30 * MILLIS_PER_DAY;

/// The owner under which the index lists them.
const PENDING: &str = "pending";

pub(super) fn check_room(poster: &LedgerTransaction<'_>) -> Result<(), ChangeError> {
    let pending = poster.writing.count_owned_by(Index::PendingSignUps, PENDING, PENDING_SIGN_UPS_MAX)?;
    if pending < PENDING_SIGN_UPS_MAX {
        return Ok(());
    }
    let why = "too many new accounts wait for the operator's approval; try again in a few days, or ask the operator";
    Err(ChangeError::Refused(why.to_owned()))
}

impl Accounts {
    /// Removes accounts that nobody approved in time, as if they had never existed.
    pub(crate) fn expire_sign_ups(&self, now: UnixMillis) -> Result<(), ChangeError> {
        let found = self.shared.with_reading(|reading| reading.indexed(Index::PendingSignUps))?;
        let pending: Vec<AccountRecord> = all_from_json(Index::PendingSignUps, &found)?;
        for record in pending.into_iter().filter(|record| record.created_at.plus_millis(PENDING_MILLIS) <= now) {
            self.remove_sign_up(record.id, now)?;
        }
        Ok(())
    }

    fn remove_sign_up(&self, id: AccountId, now: UnixMillis) -> Result<(), ChangeError> {
        let act = ActContext { actor: Actor::program("system"), at: now };
        self.change(move |poster| {
            let record = account(poster, id)?;
            let keys: Vec<KeyRecord> = owned_json(&poster.writing, Index::Keys, &id)?;
            let waits = record.status == AccountStatus::Pending && record.signed_up;
            if !waits || is_used(poster, id, &keys)? {
                return Ok(((), no_memory_effect()));
            }
            let sessions = end_sessions_of(poster, id)?;
            remove_stored_person(&mut poster.writing, id)?;
            for key in &keys {
                poster.writing.remove(StateTable::Keys, &key.id.to_key())?;
                poster.writing.remove(StateTable::Counters, &key.id.to_key())?;
            }
            poster.writing.remove(StateTable::Accounts, &id.to_key())?;
            audit(poster, &act, "account expire", &[&id])?;
            let after = move |directory: &mut Directory| {
                directory.register.end_sessions(&sessions);
                directory.register.remove_person(id);
                keys.iter().for_each(|key| directory.remove_key(key.id));
                directory.remove_account(id);
            };
            Ok(((), Box::new(after)))
        })
    }
}

/// Whether the account was used since it was created: it has a wallet, a key, a purchase or an order.
fn is_used(poster: &LedgerTransaction<'_>, id: AccountId, keys: &[KeyRecord]) -> Result<bool, StateError> {
    let (writing, owner) = (&poster.writing, id.to_string());
    Ok(writing.get(StateTable::Wallets, &id.to_key())?.is_some()
        || keys.iter().any(|key| key.kind != KeyKind::Web)
        || writing.count_owned_by(Index::Purchases, &owner, 1)? > 0
        || writing.count_owned_by(Index::Orders, &owner, 1)? > 0)
}
