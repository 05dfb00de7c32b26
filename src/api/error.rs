//! Every error that a client can get: its code, its status and what it means, in one table, and the Error object.

use schemars::JsonSchema;
use serde::Serialize;

use super::parameters::Violation;
use crate::accounts::error::{LedgerError, Refusal};

macro_rules! error_codes {
    ($($variant:ident, $status:literal, $code:literal, $meaning:literal;)*) => {
        /// What went wrong. Several may share a code, where only the status tells them apart.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $variant,)*
        }

        impl ErrorCode {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$variant => $status,)*
                }
            }

            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                }
            }
        }
    };
}

error_codes! {
    BadRequest, 400, "bad_request", "The request is not well-formed HTTP.";
    InvalidApiKey, 401, "invalid_api_key", "The key is missing or invalid.";
    InsufficientCredits, 402, "insufficient_credits", "No credits remain; `upgradeUrl` says where to buy some.";
    InsufficientScope, 403, "insufficient_scope", "The key has none of the scopes that the call needs.";
    NotFound, 404, "not_found", "There is no such path, node, layer or order.";
    MethodNotAllowed, 405, "method_not_allowed", "The path knows other methods only; `Allow` lists them.";
    NotAcceptable, 406, "not_acceptable", "The answer does not exist in any form that `Accept` names.";
    RequestTimeout, 408, "request_timeout", "The request took too long to arrive.";
    BodyTooLarge, 413, "request_too_large", "A body was sent where none is taken.";
    UriTooLong, 414, "request_too_large", "The address is longer than 8 KB.";
    ValidationError, 422, "validation_error", "Parameters are missing or invalid; `details` lists them.";
    RateLimited, 429, "rate_limited", "Too many calls; wait `retryAfterSec` seconds.";
    HeadersTooLarge, 431, "request_too_large", "The headers are longer than 16 KB.";
    Internal, 500, "internal_error", "A mistake of the service; `requestId` finds it in the log.";
    Overloaded, 503, "overloaded", "More is asked than can be answered now; try again.";
    LedgerUnavailable, 503, "ledger_unavailable", "The ledger cannot be written now; nothing was charged.";
    StorageFull, 503, "storage_full", "The disk of the service is full; nothing was charged.";
    VersionNotSupported, 505, "version_not_supported", "Only HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken.";
}

/// An error with what the client is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiError {
    pub code: ErrorCode,
    pub message: String,
    pub details: Vec<Violation>,
    pub retry_after_sec: Option<u64>,
    /// What the log is told and the client is not.
    pub internal: Option<String>,
}

impl ApiError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new(), retry_after_sec: None, internal: None }
    }

    pub fn invalid(details: Vec<Violation>) -> Self {
        let said: Vec<&str> = details.iter().map(|violation| violation.message.as_str()).collect();
        let message = said.join("; ");
        Self { details, ..Self::new(ErrorCode::ValidationError, message) }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// `why` is for the log.
    pub fn internal(why: impl Into<String>) -> Self {
        let message = "the service made a mistake; try again, and if it stays, tell its operator the requestId";
        Self { internal: Some(why.into()), ..Self::new(ErrorCode::Internal, message) }
    }

    pub fn overloaded() -> Self {
        let message = "more is asked than can be answered now; nothing was charged, try again in 1 second";
        Self { retry_after_sec: Some(1), ..Self::new(ErrorCode::Overloaded, message) }
    }

    /// Of an address or an account whose answers wait to be read.
    pub fn too_much_unread(of: &str) -> Self {
        let message =
            format!("answers that {of} has not read yet take up all its room; read them, nothing was charged");
        Self { retry_after_sec: Some(1), ..Self::new(ErrorCode::Overloaded, message) }
    }
}

impl From<&Refusal> for ApiError {
    fn from(refusal: &Refusal) -> Self {
        let code = match refusal {
            Refusal::Key(_) => ErrorCode::InvalidApiKey,
            Refusal::Scope { .. } => ErrorCode::InsufficientScope,
            Refusal::TooFast(_) => ErrorCode::RateLimited,
            Refusal::Credits { .. } => ErrorCode::InsufficientCredits,
            Refusal::OtherRequest => ErrorCode::ValidationError,
            Refusal::SameRequestUnderWay => ErrorCode::Overloaded,
            Refusal::Ledger(error) => ledger_code(*error),
        };
        Self { retry_after_sec: refusal.retry_after_sec(), ..Self::new(code, refusal.to_string()) }
    }
}

impl From<LedgerError> for ApiError {
    fn from(error: LedgerError) -> Self {
        Self::from(&Refusal::Ledger(error))
    }
}

fn ledger_code(error: LedgerError) -> ErrorCode {
    match error {
        LedgerError::Overloaded => ErrorCode::Overloaded,
        LedgerError::StorageFull => ErrorCode::StorageFull,
        LedgerError::Unavailable | LedgerError::Closed => ErrorCode::LedgerUnavailable,
    }
}

/// The Error object of the contract.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Error")]
pub struct ErrorObject<'e> {
    /// Machine-readable.
    pub error: &'e str,
    /// For people: what is wrong and what to do next.
    pub message: &'e str,
    /// Where to buy credits; on 402.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade_url: Option<&'e str>,
    /// Seconds to wait; on 429 and 503.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_sec: Option<u64>,
    /// Every parameter that is wrong; on 422.
    #[serde(skip_serializing_if = "<[Violation]>::is_empty")]
    pub details: &'e [Violation],
    /// Names the request in the log; on 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<&'e str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_keeps_its_code_and_status() {
        let ledger = [LedgerError::Unavailable, LedgerError::StorageFull, LedgerError::Overloaded, LedgerError::Closed];
        let others = [Refusal::OtherRequest, Refusal::SameRequestUnderWay];
        for refusal in ledger.map(Refusal::Ledger).into_iter().chain(others) {
            let error = ApiError::from(&refusal);
            assert_eq!((error.code.status(), error.code.code()), (refusal.status(), refusal.code()));
            assert_eq!(error.retry_after_sec, refusal.retry_after_sec());
        }
    }
}
