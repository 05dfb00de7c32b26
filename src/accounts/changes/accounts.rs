//! Letting accounts in and shutting them out.

use super::credits::correction;
use super::{Act, account, check_amount, check_text, last_ids, put_account, updated};
use crate::accounts::Accounts;
use crate::accounts::directory::{AccountState, Directory};
use crate::accounts::error::ChangeError;
use crate::accounts::ids::AccountId;
use crate::accounts::ledger::entry::{EntryKind, Note, Reference};
use crate::accounts::purse::Purse;
use crate::accounts::records::{AccountRecord, AccountStatus, LAST_IDS_KEY, put_json};
use crate::accounts::tier::Tier;
use crate::state::Table;

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
        if grant.0 > 0 {
            check_amount(grant)?;
        }
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
}
