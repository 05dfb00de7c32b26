//! `me`: the caller's account.

use std::sync::Arc;

use super::call::{Prepared, Weight};
use super::error::ApiError;
use super::operations::Asked;
use super::reply::Reply;
use crate::accounts::error::{ChangeError, LedgerError};

/// So many ledger entries are shown.
const ENTRIES: usize = 20;

pub(super) fn prepare(asked: &Asked<'_>) -> Result<Prepared, ApiError> {
    let account = asked.account.expect("the table demands a key for this operation");
    let (accounts, now) = (Arc::clone(asked.service.accounts()), asked.now);
    Ok(Prepared::new(Weight::Heavy, move || {
        let me = accounts.me(account, ENTRIES, now).map_err(|error| unreadable(&error))?;
        Reply::json(&me)
    }))
}

/// The state could not be read: the same as if the ledger could not be written, for both are one file.
pub(super) fn unreadable(error: &ChangeError) -> ApiError {
    match error {
        ChangeError::Ledger(error) => ApiError::from(*error),
        other => ApiError { internal: Some(other.to_string()), ..ApiError::from(LedgerError::Unavailable) },
    }
}
