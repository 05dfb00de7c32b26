//! Creates, rotates and revokes API keys. A rotated key has the scopes of the old one; scopes are never widened.

use hornbook_base::clock::UnixMillis;

use super::act::{ActContext, audit, check_text};
use super::run::{account, last_ids};
use crate::Accounts;
use crate::directory::Directory;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::{AccountId, KeyId};
use crate::key::{KeyDigest, KeyKind, PlainKey};
use crate::ledger::poster::LedgerTransaction;
use crate::records::{CounterRecord, KeyRecord, LAST_IDS_KEY, get_json, put_json};
use crate::scope::ScopeSet;
use crate::state::StateTable;

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
}

impl Accounts {
    pub fn create_key(
        &self,
        wish: NewKey,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<IssuedKey, ChangeError> {
        check_text("name", &wish.name)?;
        let secret = PlainKey::generate(wish.kind, entropy).map_err(ChangeError::Entropy)?;
        let (digest, prefix, act) = (secret.digest(), secret.shown_prefix(), act.clone());
        if wish.expires_at.is_some_and(|expires_at| expires_at <= act.at) {
            return Err(ChangeError::Refused(
                "the expiry time of the key is in the past; choose a later one".to_owned(),
            ));
        }
        let record = self.change(move |poster| {
            account(poster, wish.account)?;
            let record = new_key(poster, &wish, digest, prefix, act.at, None)?;
            audit(poster, &act, "key create", format!("{} of {}, {}", record.id, record.account, record.scopes))?;
            let added = record.clone();
            let after = move |directory: &mut Directory| directory.add_key(added, &CounterRecord::default());
            Ok((record, Box::new(after)))
        })?;
        Ok(IssuedKey { record, secret })
    }

    /// Creates a key with the scopes of the old one, which keeps working for `overlap_millis`.
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
            if old.revoked_at.is_some() || old.expires_at.is_some_and(|expires_at| expires_at <= at) {
                return Err(ChangeError::Refused(format!(
                    "{id} no longer works; create a new key instead of rotating it"
                )));
            }
            let wish = NewKey {
                account: old.account,
                name: old.name.clone(),
                kind: old.kind,
                scopes: old.scopes,
                expires_at: old.expires_at,
            };
            let record = new_key(poster, &wish, digest, prefix, at, Some(id))?;
            audit(poster, &act, "key rotate", format!("{id} of {}, replaced by {}", record.account, record.id))?;
            // The overlap never extends the life of the old key.
            old.expires_at = Some(old.expires_at.map_or(ends_at, |expires_at| expires_at.min(ends_at)));
            put_json(&mut poster.writing, StateTable::Keys, &id.to_key(), &old)?;
            let added = record.clone();
            let after = move |directory: &mut Directory| {
                replace_key(directory, old);
                directory.add_key(added, &CounterRecord::default());
            };
            Ok((record, Box::new(after)))
        })?;
        Ok(IssuedKey { record, secret })
    }

    /// Revokes a key. Every call that authenticates after this returns is refused.
    pub fn revoke_key(&self, id: KeyId, act: &ActContext) -> Result<KeyRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = key(poster, id)?;
            refuse_web_key(&record)?;
            record.revoked_at.get_or_insert(act.at);
            audit(poster, &act, "key revoke", format!("{id} of {}", record.account))?;
            put_json(&mut poster.writing, StateTable::Keys, &id.to_key(), &record)?;
            let revoked = record.clone();
            let after = move |directory: &mut Directory| replace_key(directory, revoked);
            Ok((record, Box::new(after)))
        })
    }
}

pub(super) fn new_key(
    poster: &mut LedgerTransaction<'_>,
    wish: &NewKey,
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
    put_json(&mut poster.writing, StateTable::Meta, LAST_IDS_KEY, &ids)?;
    put_json(&mut poster.writing, StateTable::Keys, &record.id.to_key(), &record)?;
    Ok(record)
}

fn key(poster: &LedgerTransaction<'_>, id: KeyId) -> Result<KeyRecord, ChangeError> {
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

fn replace_key(directory: &mut Directory, record: KeyRecord) {
    if let Some(state) = directory.key(record.id) {
        state.replace(record);
    }
}
