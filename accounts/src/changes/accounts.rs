//! Creates, approves and disables accounts.

use hornbook_base::clock::UnixMillis;

use super::act::{ActContext, audit, check_amount, note};
use super::keys::{IssuedKey, KeyOrigin, NewKey, new_key};
use super::run::{account, last_ids, no_memory_effect, put_account, update_account_after};
use super::sessions::end_sessions_of;
use crate::Accounts;
use crate::balance::AccountBalance;
use crate::budget::Budget;
use crate::directory::{AccountState, Directory};
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::{AccountId, Credits};
use crate::job::AfterCommit;
use crate::key::{KeyKind, PlainKey};
use crate::ledger::entry::{Draft, EntryKind, Reference};
use crate::ledger::poster::LedgerTransaction;
use crate::records::{AccountRecord, AccountStatus, LAST_IDS_KEY, put_json};
use crate::scope::ScopeSet;
use crate::state::StateTable;
use crate::tier::Tier;
use crate::visible_text::VisibleText;

impl Accounts {
    pub fn create_account(&self, name: String, act: &ActContext) -> Result<AccountRecord, ChangeError> {
        if name.parse::<AccountId>().is_ok() {
            return Err(ChangeError::Refused(format!("'{name}' is an account id; give a name")));
        }
        let act = act.clone();
        self.change(move |poster| {
            let record = new_account(poster, name, act.at)?;
            audit(poster, &act, "account create", &[&record.id])?;
            let added = record.clone();
            let after = move |directory: &mut Directory| {
                directory.add_account(AccountState::new(added, AccountBalance::new(0, [])));
            };
            Ok((record, Box::new(after)))
        })
    }

    /// Approves an account. The first approval gives the grant of the free tier's profile; later
    /// ones give nothing.
    pub fn approve_account(&self, id: AccountId, act: &ActContext) -> Result<AccountRecord, ChangeError> {
        let grant = self.grant_on_approval()?;
        let act = act.clone();
        self.change(move |poster| {
            let mut record = account(poster, id)?;
            if record.status == AccountStatus::Deleted {
                return Err(ChangeError::Refused(format!("{id} was deleted by its owner; create another account")));
            }
            let credits = approve(poster, &mut record, grant, &act)?;
            audit(poster, &act, "account approve", &[&id])?;
            Ok((record.clone(), update_account_after(record, credits)))
        })
    }

    /// Creates an approved account with a key for all scopes, in one commit, on a state that never
    /// had an account. Otherwise returns None: the key is shown only once, so it is not made twice.
    pub fn create_demo_account(
        &self,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<IssuedKey>, ChangeError> {
        let grant = self.grant_on_approval()?;
        let (secret, act) = (PlainKey::generate(KeyKind::Test, entropy).map_err(ChangeError::Entropy)?, act.clone());
        let (digest, prefix) = (secret.digest(), secret.shown_prefix());
        let made = self.change(move |poster| {
            if last_ids(poster)?.account > 0 {
                return Ok((None, no_memory_effect()));
            }
            let mut owner = new_account(poster, DEMO_NAME.to_owned(), act.at)?;
            let credits = approve(poster, &mut owner, grant, &act)?;
            let (account, name, kind, scopes) = (owner.id, DEMO_NAME.to_owned(), KeyKind::Test, ScopeSet::ALL);
            let wish = NewKey { account, name, kind, scopes, expires_at: None, budget: Budget::default() };
            let key = new_key(poster, &wish, digest, prefix, act.at, KeyOrigin::default())?;
            audit(poster, &act, "demo account create", &[&account, &", ", &key.id])?;
            let added = key.clone();
            let after = move |directory: &mut Directory| {
                directory.add_account(AccountState::new(owner, AccountBalance::new(credits, [])));
                directory.add_new_key(added, []);
            };
            let after: AfterCommit = Box::new(after);
            Ok((Some(key), after))
        })?;
        Ok(made.map(|record| IssuedKey { record, secret }))
    }

    /// The grant of the free tier's profile, checked to fit into a ledger entry.
    pub(super) fn grant_on_approval(&self) -> Result<Credits, ChangeError> {
        let grant = self.settings().tariff.free.credits_on_approval;
        if grant.0 > 0 {
            check_amount(grant.0.into())?;
        }
        Ok(grant)
    }

    /// Disables an account; its keys and sessions stop working before this returns.
    pub fn disable_account(&self, id: AccountId, act: &ActContext) -> Result<AccountRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = account(poster, id)?;
            if record.status == AccountStatus::Deleted {
                return Err(ChangeError::Refused(format!("{id} was deleted by its owner")));
            }
            record.status = AccountStatus::Disabled;
            audit(poster, &act, "account disable", &[&id])?;
            put_account(poster, &record)?;
            let ended = end_sessions_of(poster, id)?;
            let shut_out = update_account_after(record.clone(), 0);
            let after = move |directory: &mut Directory| {
                shut_out(directory);
                directory.register.end_sessions(&ended);
            };
            Ok((record, Box::new(after)))
        })
    }
}

const DEMO_NAME: &str = "demo";

pub(super) fn new_account(
    poster: &mut LedgerTransaction<'_>,
    name: String,
    at: UnixMillis,
) -> Result<AccountRecord, ChangeError> {
    let mut ids = last_ids(poster)?;
    ids.account += 1;
    let record = AccountRecord {
        id: AccountId(ids.account),
        name: VisibleText::new("name", name)?,
        status: AccountStatus::Pending,
        tier: Tier::Free,
        company_formed: false,
        created_at: at,
        signed_up: false,
        approved_at: None,
    };
    put_json(&mut poster.writing, StateTable::Meta, LAST_IDS_KEY, &ids)?;
    put_account(poster, &record)?;
    Ok(record)
}

/// Approves an account and returns the credits that came with the approval.
pub(super) fn approve(
    poster: &mut LedgerTransaction<'_>,
    record: &mut AccountRecord,
    grant: Credits,
    act: &ActContext,
) -> Result<i64, ChangeError> {
    let first = record.approved_at.is_none();
    record.status = AccountStatus::Approved;
    record.approved_at.get_or_insert(act.at);
    put_account(poster, record)?;
    let credits = if first { i64::from(grant.0) } else { 0 };
    if credits > 0 {
        let note = note(act, "approval of the account".to_owned())?;
        poster.append(Draft::correction(record.id, EntryKind::Grant, credits, act.at, Reference::None, note));
    }
    Ok(credits)
}
