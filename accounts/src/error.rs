//! Why a call is refused, and why an administrative change is not made. `api` decides what the client sees.

use std::fmt;

use super::balance::Remaining;
use super::budget::BudgetSpent;
use super::ids::Credits;
use super::rate_limit::RateLimitExceeded;
use super::scope::ScopeSet;
use crate::state::StateError;

/// The ledger cannot take the debit now. Except with [`LedgerError::OutcomeUnknown`], nothing was
/// charged, or the charge is refunded, even if the program ends before that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LedgerError {
    /// A commit failed; the writer is reopening the file.
    #[error("the ledger cannot be written at the moment")]
    Unavailable,
    /// The commit of this debit failed, and the refund that may be owed for it could not be recorded either.
    #[error("the ledger failed while the call was being charged, and it is not known yet whether it was charged")]
    OutcomeUnknown,
    /// The disk is full.
    #[error("the disk of the service is full")]
    StorageFull,
    /// Another server that shares the ledger spent the credits, or charged the same request, at the same moment.
    #[error("another server of this service made a charge at the same moment")]
    Overtaken,
    /// Too many debits are waiting.
    #[error("too many calls are waiting")]
    Overloaded,
    /// The server is stopping.
    #[error("the service is stopping")]
    Closed,
}

/// Why a key is refused. Callers get the same response for all but a missing key and a token sent to the wrong place;
/// the log may distinguish them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadKey {
    Missing,
    Malformed,
    Unknown,
    RevokedOrExpired,
    AccountNotApproved,
    /// The access token of a signed-in agent, sent where only API keys work.
    ForAgentsOnly,
}

/// Why a call is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    Key(BadKey),
    Scope {
        has: ScopeSet,
        needs_any_of: ScopeSet,
    },
    TooFast(RateLimitExceeded),
    Credits {
        cost: Credits,
        remaining: Remaining,
    },
    /// The budget of the key does not allow the call.
    Budget {
        cost: Credits,
        spent: BudgetSpent,
    },
    /// The same idempotency key was used for another request.
    OtherRequest,
    /// The first request with this idempotency key is still in progress.
    SameRequestInProgress,
    /// The request was already answered again [`super::idempotency::REPLAYS_MAX`] times.
    TooManyReplays,
    Ledger(LedgerError),
}

impl From<LedgerError> for Refusal {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// An administrative change was not made, or it is not known whether it was made.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("there is no {what} {id}; '{what} list' shows every {what}")]
    NotFound { what: &'static str, id: String },
    /// The change contradicts the stored data. The text explains why, and what to do.
    #[error("{0}")]
    Refused(String),
    /// Sealed data cannot be opened, and nothing can be sealed, until the operator does what the text says.
    #[error("{0}")]
    SealKeyLost(String),
    #[error("the change was not made: {0}")]
    Ledger(#[from] LedgerError),
    #[error("the change was not made: {0}")]
    State(#[from] StateError),
    /// The commit failed. The stored data shows whether the change was made.
    #[error("it is not known whether the change was made; check before you repeat it: {0}")]
    OutcomeUnknown(#[source] StateError),
    #[error("cannot create a secret: the system returned no random bytes: {0}")]
    Entropy(#[source] std::io::Error),
}

impl ChangeError {
    pub(crate) fn not_found(what: &'static str, id: impl fmt::Display) -> Self {
        Self::NotFound { what, id: id.to_string() }
    }
}
