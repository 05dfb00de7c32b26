//! What operators and payment providers change: accounts, keys, grants, purchases, orders, sessions.
//!
//! Each change is checked and made by the ledger's writer in a transaction of its own, so no two can cross, and it is
//! in effect in memory before its answer is sent.

use std::sync::{Arc, OnceLock};

use super::directory::{AccountState, Directory};
use super::entropy::Entropy;
use super::error::ChangeError;
use super::ids::{AccountId, Credits, EntryNumber, KeyId, OrderId, PurchaseId};
use super::key::{KeyDigest, KeyKind, PlainKey};
use super::ledger::entry::{Draft, EntryKind, Note, Reference};
use super::ledger::poster::Poster;
use super::purse::Purse;
use super::records::{
    AccountRecord, AccountStatus, CounterRecord, KeyRecord, LAST_IDS_KEY, LastIds, OrderRecord, OrderStage,
    PurchaseRecord, PurchaseStatus, SessionRecord, StageReached, get_json, put_json,
};
use super::scope::ScopeSet;
use super::ticket::ticket;
use super::tier::{PackName, Tier};
use super::writer::{After, Change};
use super::{Accounts, Shared};
use crate::clock::UnixMillis;
use crate::state::Table;

/// Grants and corrections beyond this are slips of the finger.
pub const CREDITS_MAX: u32 = 1_000_000_000;

const NAME_CHARS_MAX: usize = 200;

/// Who makes a change, when.
#[derive(Clone, Debug)]
pub struct Act {
    pub actor: String,
    pub at: UnixMillis,
}

/// A key as it is handed to its owner: the only time its text exists.
#[derive(Debug)]
pub struct IssuedKey {
    pub record: KeyRecord,
    pub secret: PlainKey,
}

/// What a new key should be.
#[derive(Clone, Debug)]
pub struct KeyWish {
    pub account: AccountId,
    pub name: String,
    pub kind: KeyKind,
    pub scopes: ScopeSet,
    pub expires_at: Option<UnixMillis>,
}

impl Accounts {
    pub fn create_account(&self, name: String, act: &Act) -> Result<AccountRecord, ChangeError> {
        check_text("name", &name)?;
        let at = act.at;
        self.change(move |poster| {
            let mut ids = last_ids(poster)?;
            ids.account += 1;
            let record = AccountRecord {
                id: AccountId(ids.account),
                name,
                status: AccountStatus::Pending,
                tier: Tier::Free,
                company_formed: false,
                created_at: at,
                approved_at: None,
            };
            put_json(&mut poster.writing, Table::Meta, LAST_IDS_KEY, &ids)?;
            put_account(poster, &record)?;
            let added = record.clone();
            let after =
                move |directory: &mut Directory| directory.add_account(AccountState::new(added, Purse::new(0, [])));
            Ok((record, Box::new(after)))
        })
    }

    /// Lets an account in. The first approval brings the grant of the free tier's profile; a later one brings nothing.
    pub fn approve_account(&self, id: AccountId, act: &Act) -> Result<AccountRecord, ChangeError> {
        let grant = self.settings().tariff.free.credits_on_approval;
        let act = act.clone();
        self.change(move |poster| {
            let mut record = account(poster, id)?;
            let first = record.approved_at.is_none();
            record.status = AccountStatus::Approved;
            record.approved_at.get_or_insert(act.at);
            put_account(poster, &record)?;
            let credits = if first { i64::from(grant.0) } else { 0 };
            if credits > 0 {
                let note = Note { actor: act.actor.clone(), reason: "approval of the account".to_owned() };
                poster.append(correction(id, EntryKind::Grant, credits, act.at, Reference::None, note));
            }
            Ok((record.clone(), updated(record, credits)))
        })
    }

    /// Shuts an account out; its keys stop working before this returns.
    pub fn disable_account(&self, id: AccountId, _act: &Act) -> Result<AccountRecord, ChangeError> {
        self.change(move |poster| {
            let mut record = account(poster, id)?;
            record.status = AccountStatus::Disabled;
            put_account(poster, &record)?;
            Ok((record.clone(), updated(record, 0)))
        })
    }

    pub fn create_key(&self, wish: KeyWish, act: &Act, entropy: &mut dyn Entropy) -> Result<IssuedKey, ChangeError> {
        check_text("name", &wish.name)?;
        let secret = PlainKey::generate(wish.kind, entropy).map_err(ChangeError::Entropy)?;
        let (digest, prefix, at) = (secret.digest(), secret.shown_prefix(), act.at);
        let record = self.change(move |poster| {
            account(poster, wish.account)?;
            let record = new_key(poster, &wish, digest, prefix, at, None)?;
            let added = record.clone();
            let after = move |directory: &mut Directory| directory.add_key(added, &CounterRecord::default());
            Ok((record, Box::new(after)))
        })?;
        Ok(IssuedKey { record, secret })
    }

    /// A new key with the scopes of the old one, which keeps working for `overlap_millis`.
    pub fn rotate_key(
        &self,
        id: KeyId,
        overlap_millis: u64,
        act: &Act,
        entropy: &mut dyn Entropy,
    ) -> Result<IssuedKey, ChangeError> {
        let kind = self.key_record(id)?.kind;
        let secret = PlainKey::generate(kind, entropy).map_err(ChangeError::Entropy)?;
        let (digest, prefix, at) = (secret.digest(), secret.shown_prefix(), act.at);
        let ends_at = at.plus_millis(i64::try_from(overlap_millis).unwrap_or(i64::MAX));
        let record = self.change(move |poster| {
            let mut old = key(poster, id)?;
            if old.revoked_at.is_some() || old.expires_at.is_some_and(|expires_at| expires_at <= at) {
                return Err(ChangeError::Refused(format!(
                    "{id} no longer works; create a new key instead of rotating it"
                )));
            }
            let wish = KeyWish {
                account: old.account,
                name: old.name.clone(),
                kind: old.kind,
                scopes: old.scopes,
                expires_at: old.expires_at,
            };
            let record = new_key(poster, &wish, digest, prefix, at, Some(id))?;
            // An overlap never makes the old key live longer than it would have.
            old.expires_at = Some(old.expires_at.map_or(ends_at, |expires_at| expires_at.min(ends_at)));
            put_json(&mut poster.writing, Table::Keys, &id.to_key(), &old)?;
            let added = record.clone();
            let after = move |directory: &mut Directory| {
                replace_key(directory, old);
                directory.add_key(added, &CounterRecord::default());
            };
            Ok((record, Box::new(after)))
        })?;
        Ok(IssuedKey { record, secret })
    }

    /// Ends a key. No call that authenticates after this returned gets in.
    pub fn revoke_key(&self, id: KeyId, act: &Act) -> Result<KeyRecord, ChangeError> {
        let at = act.at;
        self.change(move |poster| {
            let mut record = key(poster, id)?;
            record.revoked_at.get_or_insert(at);
            put_json(&mut poster.writing, Table::Keys, &id.to_key(), &record)?;
            let revoked = record.clone();
            let after = move |directory: &mut Directory| replace_key(directory, revoked);
            Ok((record, Box::new(after)))
        })
    }

    /// Gives credits away.
    pub fn grant(
        &self,
        id: AccountId,
        credits: Credits,
        reason: String,
        act: &Act,
    ) -> Result<EntryNumber, ChangeError> {
        check_amount(credits)?;
        self.credit(id, EntryKind::Grant, credits, reason, act)
    }

    /// Corrects a balance in either direction, with a reason; never below zero.
    pub fn adjust(&self, id: AccountId, credits: i64, reason: String, act: &Act) -> Result<EntryNumber, ChangeError> {
        let amount = u32::try_from(credits.unsigned_abs()).map(Credits).unwrap_or(Credits(u32::MAX));
        check_amount(amount)?;
        if credits > 0 {
            return self.credit(id, EntryKind::Adjustment, amount, reason, act);
        }
        self.debit(id, EntryKind::Adjustment, amount, Reference::None, reason, act, |_| Ok(()))
    }

    pub fn request_purchase(&self, id: AccountId, pack: PackName, act: &Act) -> Result<PurchaseRecord, ChangeError> {
        let terms = *self.settings().tariff.pack(pack);
        let at = act.at;
        self.change(move |poster| {
            account(poster, id)?;
            let mut ids = last_ids(poster)?;
            ids.purchase += 1;
            let record = PurchaseRecord {
                id: PurchaseId(ids.purchase),
                account: id,
                pack,
                price_cents: terms.price_cents,
                credits: terms.credits,
                status: PurchaseStatus::Requested,
                requested_at: at,
                settled_at: None,
                entry: None,
                payment_reference: None,
            };
            put_json(&mut poster.writing, Table::Meta, LAST_IDS_KEY, &ids)?;
            put_purchase(poster, &record)?;
            Ok((record, nothing_more()))
        })
    }

    /// The payment arrived: credits and tier change with it, once. The same payment reported again changes nothing.
    pub fn pay_purchase(
        &self,
        id: PurchaseId,
        payment_reference: Option<String>,
        act: &Act,
    ) -> Result<PurchaseRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = purchase(poster, id)?;
            match record.status {
                PurchaseStatus::Requested => {}
                PurchaseStatus::Paid
                    if payment_reference.is_some() && payment_reference == record.payment_reference =>
                {
                    return Ok((record, nothing_more()));
                }
                status => return Err(refuse_purchase(id, status, "paid")),
            }
            let credits = i64::from(record.credits.0);
            let note = Note { actor: act.actor.clone(), reason: format!("pack {}", record.pack.tier()) };
            let reference = Reference::Purchase(id);
            let entry =
                poster.append(correction(record.account, EntryKind::Purchase, credits, act.at, reference, note));
            record.status = PurchaseStatus::Paid;
            record.settled_at = Some(act.at);
            record.entry = Some(entry.number);
            record.payment_reference = payment_reference;
            put_purchase(poster, &record)?;
            let mut account = account(poster, record.account)?;
            account.tier = account.tier.max(record.pack.tier());
            put_account(poster, &account)?;
            Ok((record, updated(account, credits)))
        })
    }

    pub fn cancel_purchase(&self, id: PurchaseId, act: &Act) -> Result<PurchaseRecord, ChangeError> {
        let at = act.at;
        self.change(move |poster| {
            let mut record = purchase(poster, id)?;
            if record.status != PurchaseStatus::Requested {
                return Err(refuse_purchase(id, record.status, "cancelled"));
            }
            record.status = PurchaseStatus::Cancelled;
            record.settled_at = Some(at);
            put_purchase(poster, &record)?;
            Ok((record, nothing_more()))
        })
    }

    /// Takes the credits of a purchase back, if they are still there. The tier stays: it is the highest ever bought.
    pub fn refund_purchase(&self, id: PurchaseId, reason: String, act: &Act) -> Result<EntryNumber, ChangeError> {
        let found =
            self.shared.with_reading(|reading| super::records::read_json(reading, Table::Purchases, &id.to_key()))?;
        let record: PurchaseRecord = found.ok_or_else(|| ChangeError::not_found("purchase", id))?;
        let reference = Reference::Purchase(id);
        self.debit(record.account, EntryKind::Refund, record.credits, reference, reason, act, move |poster| {
            let mut record = purchase(poster, id)?;
            if record.status != PurchaseStatus::Paid {
                return Err(refuse_purchase(id, record.status, "refunded"));
            }
            record.status = PurchaseStatus::Refunded;
            put_purchase(poster, &record)?;
            Ok(())
        })
    }

    /// Opens a formation order and returns the tracking token, which is shown once.
    pub fn create_order(
        &self,
        order: OrderWish,
        act: &Act,
        entropy: &mut dyn Entropy,
    ) -> Result<(OrderRecord, String), ChangeError> {
        check_text("entity name", &order.entity_name)?;
        let mut random = [0; 16];
        entropy.fill(&mut random).map_err(ChangeError::Entropy)?;
        let token = PlainKey::generate(KeyKind::Live, entropy).map_err(ChangeError::Entropy)?;
        let token = token.reveal().replacen("hb_live_", "hb_order_", 1);
        let record = OrderRecord {
            id: OrderId(uuid::Builder::from_random_bytes(random).into_uuid()),
            account: order.account,
            entity_name: order.entity_name,
            entity_type: order.entity_type,
            jurisdiction: order.jurisdiction,
            stages: vec![StageReached { stage: OrderStage::Details, at: act.at }],
            token: KeyDigest::of_secret(&token),
            details: order.details,
        };
        let record = self.change(move |poster| {
            account(poster, record.account)?;
            put_order(poster, &record)?;
            Ok((record, nothing_more()))
        })?;
        Ok((record, token))
    }

    /// Moves an order forward. Completing it raises the account's allotment for good.
    pub fn advance_order(&self, id: OrderId, to: OrderStage, act: &Act) -> Result<OrderRecord, ChangeError> {
        let at = act.at;
        self.change(move |poster| {
            let found = get_json(&poster.writing, Table::Orders, id.0.as_bytes())?;
            let mut record: OrderRecord = found.ok_or_else(|| ChangeError::not_found("order", id))?;
            let from = record.stage();
            if to <= from {
                let (from, to) = (from.name(), to.name());
                return Err(ChangeError::Refused(format!("order {id} is at {from}, it cannot go back to {to}")));
            }
            record.stages.push(StageReached { stage: to, at });
            put_order(poster, &record)?;
            if to != OrderStage::Completed {
                return Ok((record, nothing_more()));
            }
            let mut account = account(poster, record.account)?;
            account.company_formed = true;
            put_account(poster, &account)?;
            Ok((record, updated(account, 0)))
        })
    }

    /// Remembers a signed-in browser until `session.expires_at`.
    pub fn open_session(&self, token: KeyDigest, session: SessionRecord) -> Result<(), ChangeError> {
        self.change(move |poster| {
            account(poster, session.account)?;
            put_json(&mut poster.writing, Table::Sessions, token.bytes(), &session)?;
            Ok(((), nothing_more()))
        })
    }

    pub fn close_session(&self, token: KeyDigest) -> Result<(), ChangeError> {
        self.change(move |poster| {
            poster.writing.remove(Table::Sessions, token.bytes())?;
            Ok(((), nothing_more()))
        })
    }

    fn credit(
        &self,
        id: AccountId,
        kind: EntryKind,
        credits: Credits,
        reason: String,
        act: &Act,
    ) -> Result<EntryNumber, ChangeError> {
        check_text("reason", &reason)?;
        let act = act.clone();
        self.change(move |poster| {
            let record = account(poster, id)?;
            let note = Note { actor: act.actor, reason };
            let entry = poster.append(correction(id, kind, credits.0.into(), act.at, Reference::None, note));
            Ok((entry.number, updated(record, credits.0.into())))
        })
    }

    /// Takes credits out of a wallet: held first, like a call, so that it cannot be overdrawn in between.
    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of one ledger entry, of a private function with two callers"
    )]
    fn debit(
        &self,
        id: AccountId,
        kind: EntryKind,
        credits: Credits,
        reference: Reference,
        reason: String,
        act: &Act,
        also: impl FnOnce(&mut Poster<'_>) -> Result<(), ChangeError> + Send + 'static,
    ) -> Result<EntryNumber, ChangeError> {
        check_text("reason", &reason)?;
        let state =
            Arc::clone(self.shared.directory().account(id).ok_or_else(|| ChangeError::not_found("account", id))?);
        let Some(hold) = state.purse.hold_wallet(credits.0) else {
            return Err(ChangeError::Refused(format!(
                "{id} has fewer than {credits} credits left; take what is there, or wait for calls under way to end"
            )));
        };
        let (act, settled) = (act.clone(), Arc::clone(&state));
        let result = self.change(move |poster| {
            also(poster)?;
            let note = Note { actor: act.actor, reason };
            let entry = poster.append(correction(id, kind, -i64::from(credits.0), act.at, reference, note));
            let after: After = Box::new(move |_| settled.purse.settle(hold));
            Ok((entry.number, after))
        });
        // Committed, the hold is settled; refused or failed, it is released. After a failed commit the purse has been
        // reset to what the file says, with this hold still subtracted.
        if result.is_err() {
            state.purse.release(hold);
        }
        result
    }

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

/// What a formation order begins with.
#[derive(Clone, Debug)]
pub struct OrderWish {
    pub account: AccountId,
    pub entity_name: String,
    pub entity_type: String,
    pub jurisdiction: String,
    pub details: serde_json::Value,
}

fn correction(
    account: AccountId,
    kind: EntryKind,
    credits: i64,
    at: UnixMillis,
    reference: Reference,
    note: Note,
) -> Draft {
    let (month, note) = (at.month(), Some(note));
    Draft { at, kind, account, key: None, operation: None, credits, from_allotment: 0, month, reference, note }
}

fn new_key(
    poster: &mut Poster<'_>,
    wish: &KeyWish,
    digest: KeyDigest,
    prefix: String,
    at: UnixMillis,
    replaces: Option<KeyId>,
) -> Result<KeyRecord, ChangeError> {
    let mut ids = last_ids(poster)?;
    ids.key += 1;
    let record = KeyRecord {
        id: KeyId(ids.key),
        account: wish.account,
        name: wish.name.clone(),
        kind: wish.kind,
        prefix,
        digest,
        scopes: wish.scopes,
        created_at: at,
        expires_at: wish.expires_at,
        revoked_at: None,
        replaces,
    };
    put_json(&mut poster.writing, Table::Meta, LAST_IDS_KEY, &ids)?;
    put_json(&mut poster.writing, Table::Keys, &record.id.to_key(), &record)?;
    Ok(record)
}

fn last_ids(poster: &Poster<'_>) -> Result<LastIds, ChangeError> {
    Ok(get_json(&poster.writing, Table::Meta, LAST_IDS_KEY)?.unwrap_or_default())
}

fn account(poster: &Poster<'_>, id: AccountId) -> Result<AccountRecord, ChangeError> {
    get_json(&poster.writing, Table::Accounts, &id.to_key())?.ok_or_else(|| ChangeError::not_found("account", id))
}

fn key(poster: &Poster<'_>, id: KeyId) -> Result<KeyRecord, ChangeError> {
    get_json(&poster.writing, Table::Keys, &id.to_key())?.ok_or_else(|| ChangeError::not_found("key", id))
}

fn purchase(poster: &Poster<'_>, id: PurchaseId) -> Result<PurchaseRecord, ChangeError> {
    get_json(&poster.writing, Table::Purchases, &id.to_key())?.ok_or_else(|| ChangeError::not_found("purchase", id))
}

fn put_account(poster: &mut Poster<'_>, record: &AccountRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, Table::Accounts, &record.id.to_key(), record)?)
}

fn put_purchase(poster: &mut Poster<'_>, record: &PurchaseRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, Table::Purchases, &record.id.to_key(), record)?)
}

fn put_order(poster: &mut Poster<'_>, record: &OrderRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, Table::Orders, record.id.0.as_bytes(), record)?)
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

fn replace_key(directory: &mut Directory, record: KeyRecord) {
    if let Some(state) = directory.key(record.id) {
        state.replace(record);
    }
}

fn nothing_more() -> After {
    Box::new(|_| {})
}

fn refuse_purchase(id: PurchaseId, status: PurchaseStatus, wanted: &str) -> ChangeError {
    let status = format!("{status:?}").to_lowercase();
    ChangeError::Refused(format!(
        "purchase {id} is {status}, it cannot be {wanted}; 'purchase list' shows those that can"
    ))
}

fn check_text(what: &str, text: &str) -> Result<(), ChangeError> {
    let chars = text.chars().count();
    if (1..=NAME_CHARS_MAX).contains(&chars) && !text.trim().is_empty() {
        return Ok(());
    }
    Err(ChangeError::Refused(format!("the {what} has {chars} characters; give between 1 and {NAME_CHARS_MAX}")))
}

fn check_amount(credits: Credits) -> Result<(), ChangeError> {
    if (1..=CREDITS_MAX).contains(&credits.0) {
        return Ok(());
    }
    Err(ChangeError::Refused(format!("the amount is {credits}; give between 1 and {CREDITS_MAX} credits")))
}
