//! `me`: the caller's account.

use std::sync::Arc;

use crate::accounts::error::{ChangeError, LedgerError};
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Prepared, Weight};
use crate::api::reply::Reply;

/// So many ledger entries are shown.
const ENTRIES: usize = 20;

pub(in crate::api) fn prepare(asked: &Asked<'_>) -> Result<Prepared, ApiError> {
    let account = asked.account.expect("the table demands a key for this operation");
    let (accounts, now) = (Arc::clone(asked.accounts), asked.now);
    Ok(Prepared::new(Weight::Heavy, move || {
        let me = accounts.me(account, ENTRIES, now).map_err(|error| unreadable(&error))?;
        Reply::json(&me)
    }))
}

/// The state could not be read: the same as if the ledger could not be written, for both are one file.
pub(in crate::api) fn unreadable(error: &ChangeError) -> ApiError {
    match error {
        ChangeError::Ledger(error) => ApiError::from(*error),
        other => ApiError { internal: Some(other.to_string()), ..ApiError::from(LedgerError::Unavailable) },
    }
}
