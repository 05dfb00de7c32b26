//! The proof that somebody is the person of an account, and its check when it is used.

use crate::error::ChangeError;
use crate::ids::AccountId;
use crate::ledger::poster::LedgerTransaction;
use crate::people::PersonRecord;
use crate::records::get_json;
use crate::state::StateTable;

/// Proof that somebody is the person of an account: by the password, a link, or signing up. It
/// opens a session, unless the password was changed since.
#[derive(Clone, Copy, Debug)]
pub struct AuthProof {
    account: AccountId,
    passwords: u32,
}

impl AuthProof {
    pub fn account(&self) -> AccountId {
        self.account
    }

    pub(super) fn of(person: &PersonRecord) -> Self {
        Self { account: person.account, passwords: person.passwords }
    }
}

pub(super) fn person_of(poster: &LedgerTransaction<'_>, id: AccountId) -> Result<PersonRecord, ChangeError> {
    get_json(&poster.writing, StateTable::People, &id.to_key())?.ok_or_else(|| ChangeError::not_found("person", id))
}

/// The person of a proof. Refused if the password was changed since.
pub(super) fn person_of_proof(poster: &LedgerTransaction<'_>, proof: AuthProof) -> Result<PersonRecord, ChangeError> {
    let person = person_of(poster, proof.account)?;
    if person.passwords == proof.passwords {
        return Ok(person);
    }
    Err(ChangeError::Refused("the password was changed a moment ago; sign in again".to_owned()))
}
