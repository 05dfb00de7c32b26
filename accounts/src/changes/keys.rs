//! Creates, rotates and revokes API keys, and sets their budgets. A rotated key has the scopes of the old one; scopes
//! are never widened.

use hornbook_base::clock::UnixMillis;

use super::act::{ActContext, audit};
use super::run::{account, last_ids};
use super::watch_records::hand_over_watches;
use crate::Accounts;
use crate::audit_text::AuditPart;
use crate::budget::{Budget, KEYS_IN_LINE_MAX, KeyBudget};
use crate::directory::Directory;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::{AccountId, EntryNumber, KeyId};
use crate::job::AfterCommit;
use crate::key::{KeyDigest, KeyKind, PlainKey};
use crate::ledger::poster::LedgerTransaction;
use crate::records::{KeyRecord, LAST_IDS_KEY, get_json, put_json};
use crate::scope::ScopeSet;
use crate::state::StateTable;
use crate::visible_text::VisibleText;

/// The maximum number of keys of an account, ended ones included, from which its keys create no further ones, and no
/// further agent is let in.
pub(super) const KEYS_MAX: usize = 1_000;

/// A new key, as handed to its owner. Its text exists only here.
#[derive(Debug)]
pub struct IssuedKey {
    pub record: KeyRecord,
    pub secret: PlainKey,
}

/// The properties of a new key.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub account: AccountId,
    pub name: String,
    pub kind: KeyKind,
    pub scopes: ScopeSet,
    pub expires_at: Option<UnixMillis>,
    pub budget: Budget,
}

/// The properties of a key that another key creates. What is absent is as for the key that creates it.
#[derive(Clone, Debug, Default)]
pub struct NewChildKey {
    pub name: String,
    pub scopes: Option<ScopeSet>,
    pub expires_at: Option<UnixMillis>,
    pub budget: Budget,
}

impl NewChildKey {
    /// Checks what does not depend on the key that creates it. A call that only asks for the price is refused too.
    pub fn check(&self) -> Result<(), ChangeError> {
        VisibleText::check("name", &self.name)
    }
}

impl Accounts {
    pub fn create_key(
        &self,
        wish: NewKey,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<IssuedKey, ChangeError> {
        let secret = PlainKey::generate(wish.kind, entropy).map_err(ChangeError::Entropy)?;
        let (digest, prefix, act) = (secret.digest(), secret.shown_prefix(), act.clone());
        check_expiry(wish.expires_at, act.at)?;
        let record = self.change(move |poster| {
            account(poster, wish.account)?;
            let record = new_key(poster, &wish, digest, prefix, act.at, KeyOrigin::default())?;
            audit(poster, &act, "key create", &[&record.id, &" of ", &record.account, &", ", &record.scopes])?;
            Ok((record.clone(), add_after(record)))
        })?;
        Ok(IssuedKey { record, secret })
    }

    /// Creates a key for a key. The new key has at most its scopes and its time, and its budget bounds both.
    pub fn create_child_key(
        &self,
        parent: KeyId,
        wish: NewChildKey,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<IssuedKey, ChangeError> {
        wish.check()?;
        check_expiry(wish.expires_at, act.at)?;
        let KeyRecord { kind, account, .. } = self.key_record(parent)?;
        if self.key_count(account) >= KEYS_MAX {
            let message = format!("this account has had {KEYS_MAX} keys, which is the maximum; ask the operator");
            return Err(ChangeError::Refused(message));
        }
        let secret = PlainKey::generate(kind, entropy).map_err(ChangeError::Entropy)?;
        let (digest, prefix, act) = (secret.digest(), secret.shown_prefix(), act.clone());
        let record = self.change(move |poster| {
            let creator = key(poster, parent)?;
            refuse_web_key(&creator)?;
            refuse_agent(&creator)?;
            check_line(poster, &creator, act.at)?;
            let scopes = wish.scopes.unwrap_or(creator.scopes);
            if !scopes.is_within(creator.scopes) {
                let message = format!("a key cannot create one that may do more; its scopes are {}", creator.scopes);
                return Err(ChangeError::Refused(message));
            }
            // None is the latest.
            let ends = [wish.expires_at, creator.expires_at];
            let wish = NewKey {
                account: creator.account,
                name: wish.name,
                kind,
                scopes,
                expires_at: ends.into_iter().flatten().min(),
                budget: wish.budget,
            };
            let origin = KeyOrigin { parent: Some(parent), ..KeyOrigin::default() };
            let record = new_key(poster, &wish, digest, prefix, act.at, origin)?;
            let on: [&dyn AuditPart; 7] =
                [&record.id, &" of ", &record.account, &", ", &record.scopes, &", by ", &parent];
            audit(poster, &act, "key create", &on)?;
            Ok((record.clone(), add_after(record)))
        })?;
        Ok(IssuedKey { record, secret })
    }

    /// Sets what a key may spend. What it has spent under its budget so far still counts; a budget without limits
    /// forgets it.
    pub fn set_key_budget(&self, id: KeyId, limits: Budget, act: &ActContext) -> Result<KeyRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = key(poster, id)?;
            refuse_web_key(&record)?;
            let since = record.budget.map_or(EntryNumber(poster.head().entries), |budget| budget.since);
            record.budget = (!limits.is_unlimited()).then_some(KeyBudget { limits, since });
            if record.budget.is_none() {
                poster.forget_spending(id);
            }
            audit(poster, &act, "key budget", &[&id, &" of ", &record.account, &", ", &limits])?;
            put_json(&mut poster.writing, StateTable::Keys, &id.to_key(), &record)?;
            let spending = if record.budget.is_some() { poster.spending_of(id) } else { Vec::new() };
            let changed = record.clone();
            let after = move |directory: &mut Directory| {
                if let Some(state) = directory.key(id) {
                    state.spending.replace(changed.budget, spending);
                }
                directory.replace_key(changed);
            };
            Ok((record, Box::new(after)))
        })
    }

    /// Creates a key with the scopes of the old one, which keeps working for `overlap_millis`. A key with a budget
    /// stops at once, so that the budget is not there twice.
    pub fn rotate_key(
        &self,
        id: KeyId,
        overlap_millis: u64,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<IssuedKey, ChangeError> {
        let kind = self.key_record(id)?.kind;
        let secret = PlainKey::generate(kind, entropy).map_err(ChangeError::Entropy)?;
        let (digest, prefix, at, act) = (secret.digest(), secret.shown_prefix(), act.at, act.clone());
        let ends_at = at.plus_millis(i64::try_from(overlap_millis).unwrap_or(i64::MAX));
        let record = self.change(move |poster| {
            let mut old = key(poster, id)?;
            refuse_web_key(&old)?;
            refuse_agent(&old)?;
            check_is_live(&old, at)?;
            let wish = NewKey {
                account: old.account,
                name: old.name.to_string(),
                kind: old.kind,
                scopes: old.scopes,
                expires_at: old.expires_at,
                budget: Budget::default(),
            };
            let origin = KeyOrigin { replaces: Some(id), parent: old.parent, budget: old.budget };
            let record = new_key(poster, &wish, digest, prefix, at, origin)?;
            poster.copy_spending(id, record.id);
            hand_over_watches(poster, id, record.id)?;
            let ends_at = if old.budget.is_some() { at } else { ends_at };
            audit(poster, &act, "key rotate", &[&id, &" of ", &record.account, &", replaced by ", &record.id])?;
            // The overlap never extends the life of the old key.
            old.expires_at = Some(old.expires_at.map_or(ends_at, |expires_at| expires_at.min(ends_at)));
            put_json(&mut poster.writing, StateTable::Keys, &id.to_key(), &old)?;
            let (added, spending) = (record.clone(), poster.spending_of(record.id));
            let after = move |directory: &mut Directory| {
                directory.replace_key(old);
                directory.add_new_key(added, spending);
            };
            Ok((record, Box::new(after)))
        })?;
        Ok(IssuedKey { record, secret })
    }

    /// Revokes a key, or ends the grant of an agent. Every call that authenticates after this returns is refused.
    pub fn revoke_key(&self, id: KeyId, act: &ActContext) -> Result<KeyRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = key(poster, id)?;
            refuse_web_key(&record)?;
            record.revoked_at.get_or_insert(act.at);
            let after = revoke(poster, record.clone(), &act, "")?;
            Ok((record, after))
        })
    }
}

/// The keys that a new key comes from.
#[derive(Clone, Copy, Default)]
pub(super) struct KeyOrigin {
    replaces: Option<KeyId>,
    parent: Option<KeyId>,
    /// The budget of the replaced key, which goes on.
    budget: Option<KeyBudget>,
}

pub(super) fn new_key(
    poster: &mut LedgerTransaction<'_>,
    wish: &NewKey,
    digest: KeyDigest,
    prefix: String,
    at: UnixMillis,
    origin: KeyOrigin,
) -> Result<KeyRecord, ChangeError> {
    let since = EntryNumber(poster.head().entries);
    let new_budget = (!wish.budget.is_unlimited()).then_some(KeyBudget { limits: wish.budget, since });
    let mut ids = last_ids(poster)?;
    ids.key += 1;
    let record = KeyRecord {
        id: KeyId(ids.key),
        account: wish.account,
        name: VisibleText::new("name", wish.name.as_str())?,
        kind: wish.kind,
        prefix,
        digest,
        scopes: wish.scopes,
        created_at: at,
        expires_at: wish.expires_at,
        revoked_at: None,
        replaces: origin.replaces,
        parent: origin.parent,
        budget: origin.budget.or(new_budget),
        grant: None,
    };
    put_json(&mut poster.writing, StateTable::Meta, LAST_IDS_KEY, &ids)?;
    put_json(&mut poster.writing, StateTable::Keys, &record.id.to_key(), &record)?;
    Ok(record)
}

/// Revokes a key or ends a grant.
pub(super) fn revoke(
    poster: &mut LedgerTransaction<'_>,
    mut record: KeyRecord,
    act: &ActContext,
    why: &'static str,
) -> Result<AfterCommit, ChangeError> {
    record.revoked_at.get_or_insert(act.at);
    let what = if record.kind == KeyKind::Agent { "agent revoke" } else { "key revoke" };
    audit(poster, act, what, &[&record.id, &" of ", &record.account, &why])?;
    put_json(&mut poster.writing, StateTable::Keys, &record.id.to_key(), &record)?;
    Ok(Box::new(move |directory: &mut Directory| directory.replace_key(record)))
}

pub(super) fn key(poster: &LedgerTransaction<'_>, id: KeyId) -> Result<KeyRecord, ChangeError> {
    get_json(&poster.writing, StateTable::Keys, &id.to_key())?.ok_or_else(|| ChangeError::not_found("key", id))
}

/// Refuses the key of an account's web pages, which ends only with the account.
fn refuse_web_key(key: &KeyRecord) -> Result<(), ChangeError> {
    if key.kind != KeyKind::Web {
        return Ok(());
    }
    let (id, account) = (key.id, key.account);
    Err(ChangeError::Refused(format!(
        "{id} is the internal key of the web pages of {account} and has no text; disable the account instead"
    )))
}

/// Refuses the key of an agent. It can be neither replaced nor create other keys, because its text changes every hour.
fn refuse_agent(key: &KeyRecord) -> Result<(), ChangeError> {
    if key.kind != KeyKind::Agent {
        return Ok(());
    }
    let (id, name) = (key.id, &key.name);
    Err(ChangeError::Refused(format!(
        "{id} is the access of the agent {name}, which gets a new token by itself; disconnect it, or create a key"
    )))
}

pub(super) fn check_expiry(expires_at: Option<UnixMillis>, now: UnixMillis) -> Result<(), ChangeError> {
    if expires_at.is_some_and(|expires_at| expires_at <= now) {
        let message = "the expiry time of the key is in the past; choose a later one".to_owned();
        return Err(ChangeError::Refused(message));
    }
    Ok(())
}

pub(super) fn check_is_live(key: &KeyRecord, now: UnixMillis) -> Result<(), ChangeError> {
    if key.revoked_at.is_some() || key.expires_at.is_some_and(|expires_at| expires_at <= now) {
        let message = format!("{} no longer works; create a new key", key.id);
        return Err(ChangeError::Refused(message));
    }
    Ok(())
}

/// Refuses a key that would be too far below the key of a person, or below a key that no longer works.
fn check_line(poster: &LedgerTransaction<'_>, creator: &KeyRecord, now: UnixMillis) -> Result<(), ChangeError> {
    check_is_live(creator, now)?;
    let mut above = creator.parent;
    for _ in 2..KEYS_IN_LINE_MAX {
        let Some(id) = above else { return Ok(()) };
        let next = key(poster, id)?;
        check_is_live(&next, now)?;
        above = next.parent;
    }
    if above.is_none() {
        return Ok(());
    }
    let levels = KEYS_IN_LINE_MAX - 1;
    let message = format!("{} is {levels} levels below the key of a person and cannot create another", creator.id);
    Err(ChangeError::Refused(message))
}

pub(super) fn add_after(record: KeyRecord) -> AfterCommit {
    Box::new(move |directory| directory.add_new_key(record, []))
}
