//! Why a call is not let in, and why a change is not made. Messages are for the caller and carry the way out.

use std::fmt;

use super::ids::Credits;
use super::pace::{PaceWindow, TooFast};
use super::purse::Remaining;
use super::scope::ScopeSet;
use crate::state::StateError;

/// The ledger cannot take the debit now. Nothing was charged, or what was charged is given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LedgerError {
    /// A commit failed; the writer is reopening the file.
    Unavailable,
    /// The disk is full.
    StorageFull,
    /// Too many debits wait already.
    Overloaded,
    /// The server is stopping.
    Closed,
}

impl LedgerError {
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unavailable | Self::Closed => "ledger_unavailable",
            Self::StorageFull => "storage_full",
            Self::Overloaded => "overloaded",
        }
    }

    pub const fn retry_after_sec(self) -> u64 {
        match self {
            Self::Overloaded => 1,
            Self::Unavailable | Self::Closed => 2,
            Self::StorageFull => 30,
        }
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = match self {
            Self::Unavailable => "the ledger cannot be written at the moment",
            Self::StorageFull => "the disk of the service is full",
            Self::Overloaded => "too many calls are waiting",
            Self::Closed => "the service is stopping",
        };
        let seconds = self.retry_after_sec();
        write!(f, "{cause}; you were not charged, try again in {seconds} seconds")
    }
}

impl std::error::Error for LedgerError {}

/// Why a key does not open the door. The caller is told the same for all of them; the log may tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadKey {
    Missing,
    Malformed,
    Unknown,
    RevokedOrExpired,
    AccountNotApproved,
}

/// A call that is not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    Key(BadKey),
    Scope {
        has: ScopeSet,
        needs_any_of: ScopeSet,
    },
    TooFast(TooFast),
    Credits {
        cost: Credits,
        remaining: Remaining,
    },
    /// The same idempotency key was used for another request.
    OtherRequest,
    /// The first request with this idempotency key is still being answered.
    SameRequestUnderWay,
    Ledger(LedgerError),
}

impl Refusal {
    /// The machine-readable code of the contract.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Key(_) => "invalid_api_key",
            Self::Scope { .. } => "insufficient_scope",
            Self::TooFast(_) => "rate_limited",
            Self::Credits { .. } => "insufficient_credits",
            Self::OtherRequest => "validation_error",
            Self::SameRequestUnderWay => "overloaded",
            Self::Ledger(error) => error.code(),
        }
    }

    pub const fn status(&self) -> u16 {
        match self {
            Self::Key(_) => 401,
            Self::Scope { .. } => 403,
            Self::TooFast(_) => 429,
            Self::Credits { .. } => 402,
            Self::OtherRequest => 422,
            Self::SameRequestUnderWay | Self::Ledger(_) => 503,
        }
    }

    pub const fn retry_after_sec(&self) -> Option<u64> {
        match self {
            Self::TooFast(too_fast) => Some(too_fast.retry_after_sec),
            Self::SameRequestUnderWay => Some(1),
            Self::Ledger(error) => Some(error.retry_after_sec()),
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(BadKey::Missing) => {
                f.write_str("no API key was sent; send the header 'Authorization: Bearer YOUR_KEY'")
            }
            Self::Key(_) => f.write_str(
                "the API key is not valid: it is mistyped, revoked, expired or not yet approved; check it in your settings",
            ),
            Self::Scope { has, needs_any_of } => write!(
                f,
                "this key has the scopes {has}, the call needs one of {needs_any_of}; create a key with that scope"
            ),
            Self::TooFast(TooFast { retry_after_sec, left, window }) => {
                let (limit, window) = match window {
                    PaceWindow::Minute => (left.limits.per_minute, "minute"),
                    PaceWindow::Day => (left.limits.per_day, "day"),
                };
                write!(f, "the limit of {limit} calls a {window} is reached; wait {retry_after_sec} seconds")
            }
            Self::Credits { cost, remaining } => write!(
                f,
                "the call costs {cost} credits; {} are left in the wallet and {} in this month's allotment; buy a pack at \
                 upgradeUrl or wait for the 1st of the month",
                remaining.wallet, remaining.allotment
            ),
            Self::OtherRequest => {
                f.write_str("this Idempotency-Key was used for another request; use a new one for a new request")
            }
            Self::SameRequestUnderWay => {
                f.write_str("the first request with this Idempotency-Key is still being answered; try again in 1 second")
            }
            Self::Ledger(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<LedgerError> for Refusal {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// An administrative change that was not made, or of which that is not known.
#[derive(Debug)]
pub enum ChangeError {
    NotFound {
        what: &'static str,
        id: String,
    },
    /// The change contradicts what is stored; the text says what and what to do.
    Refused(String),
    Ledger(LedgerError),
    State(StateError),
    /// The commit failed. What is stored tells whether it happened.
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
            Self::NotFound { what, id } => write!(f, "there is no {what} {id}; '{what} list' shows those there are"),
            Self::Refused(why) => f.write_str(why),
            Self::Ledger(error) => write!(f, "the change was not made: {}", error.code()),
            Self::State(error) => write!(f, "the change was not made: {error}"),
            Self::OutcomeUnknown(error) => {
                write!(f, "it is not known whether the change was made, look before you repeat it: {error}")
            }
            Self::Entropy(error) => write!(f, "cannot make a secret: no randomness from the system: {error}"),
        }
    }
}

impl std::error::Error for ChangeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Ledger(error) => Some(error),
            Self::State(error) | Self::OutcomeUnknown(error) => Some(error),
            Self::Entropy(error) => Some(error),
            Self::NotFound { .. } | Self::Refused(_) => None,
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
