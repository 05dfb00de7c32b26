//! Why a call is refused, and why an administrative change is not made. `api` decides what the client sees.

use std::fmt;

use super::balance::Remaining;
use super::ids::Credits;
use super::rate_limit::RateLimitExceeded;
use super::scope::ScopeSet;
use crate::state::StateError;

/// The ledger cannot take the debit now. Except with [`LedgerError::OutcomeUnknown`], nothing was
/// charged, or the charge is refunded, even if the program ends before that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LedgerError {
    /// A commit failed; the writer is reopening the file.
    Unavailable,
    /// The commit of this debit failed, and the refund that may be owed for it could not be recorded either.
    OutcomeUnknown,
    /// The disk is full.
    StorageFull,
    /// Too many debits are waiting.
    Overloaded,
    /// The server is stopping.
    Closed,
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unavailable => "the ledger cannot be written at the moment",
            Self::OutcomeUnknown => {
                "the ledger failed while the call was being charged, and it is not known yet whether it was charged"
            }
            Self::StorageFull => "the disk of the service is full",
            Self::Overloaded => "too many calls are waiting",
            Self::Closed => "the service is stopping",
        })
    }
}

impl std::error::Error for LedgerError {}

/// Why a key is refused. Callers get the same response for all but a missing key; the log may distinguish them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadKey {
    Missing,
    Malformed,
    Unknown,
    RevokedOrExpired,
    AccountNotApproved,
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
#[derive(Debug)]
pub enum ChangeError {
    NotFound {
        what: &'static str,
        id: String,
    },
    /// The change contradicts the stored data. The text explains why, and what to do.
    Refused(String),
    /// Sealed data cannot be opened, and nothing can be sealed, until the operator does what the text says.
    SealKeyLost(String),
    Ledger(LedgerError),
    State(StateError),
    /// The commit failed. The stored data shows whether the change was made.
    OutcomeUnknown(StateError),
    Entropy(std::io::Error),
}

impl ChangeError {
    pub(crate) fn not_found(what: &'static str, id: impl fmt::Display) -> Self {
        Self::NotFound { what, id: id.to_string() }
    }
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { what, id } => write!(f, "there is no {what} {id}; '{what} list' shows every {what}"),
            Self::Refused(why) | Self::SealKeyLost(why) => f.write_str(why),
            Self::Ledger(error) => write!(f, "the change was not made: {error}"),
            Self::State(error) => write!(f, "the change was not made: {error}"),
            Self::OutcomeUnknown(error) => {
                write!(f, "it is not known whether the change was made; check before you repeat it: {error}")
            }
            Self::Entropy(error) => write!(f, "cannot create a secret: the system returned no random bytes: {error}"),
        }
    }
}

impl std::error::Error for ChangeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Ledger(error) => Some(error),
            Self::State(error) | Self::OutcomeUnknown(error) => Some(error),
            Self::Entropy(error) => Some(error),
            Self::NotFound { .. } | Self::Refused(_) | Self::SealKeyLost(_) => None,
        }
    }
}

impl From<StateError> for ChangeError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<LedgerError> for ChangeError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}
