//! Every error that a client can get: its code, its status and what it means, in one table, and the Error object.

use std::borrow::Cow;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

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
    MethodNotAllowed, 405, "method_not_allowed", "The path does not allow this method; `Allow` lists those it does.";
    NotAcceptable, 406, "not_acceptable", "The resource is not available in any format that `Accept` names.";
    RequestTimeout, 408, "request_timeout", "The request took too long to arrive.";
    BodyTooLarge, 413, "request_too_large", "A request body was sent; no call takes one.";
    UriTooLong, 414, "request_too_large", "The address is longer than 8 KB.";
    ValidationError, 422, "validation_error", "Parameters are missing or invalid; `details` lists them.";
    RateLimited, 429, "rate_limited", "Too many calls; wait `retryAfterSec` seconds.";
    HeadersTooLarge, 431, "request_too_large", "The headers are longer than 16 KB.";
    Internal, 500, "internal_error", "An error in the service; `requestId` identifies it in the log.";
    Overloaded, 503, "overloaded", "The service is overloaded; try again.";
    LedgerUnavailable, 503, "ledger_unavailable", "The ledger cannot be written now; nothing was charged.";
    StorageFull, 503, "storage_full", "The disk of the service is full; nothing was charged.";
    VersionNotSupported, 505, "version_not_supported", "Only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported.";
}

/// Violations that a refusal lists.
const VIOLATIONS_LISTED: usize = 16;

/// Violations whose messages stand in the message of the refusal too.
const MESSAGES_JOINED: usize = 3;

/// A client's own text of more bytes is cut where an answer repeats it.
const REPEATED_BYTES_MAX: usize = 48;

/// One parameter that is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Violation {
    pub parameter: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl Violation {
    /// The name may be the client's own.
    pub fn new(parameter: &str, message: impl Into<String>) -> Self {
        Self { parameter: shortened(parameter).into_owned(), message: message.into() }
    }
}

/// A client's text as an answer may repeat it.
pub fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= REPEATED_BYTES_MAX {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(REPEATED_BYTES_MAX)]))
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

    /// Lists the first of the violations and says how many there are beside them, so that a refusal stays small however
    /// much is wrong.
    pub fn invalid(mut details: Vec<Violation>) -> Self {
        let count = details.len();
        details.truncate(VIOLATIONS_LISTED);
        let first = details.iter().take(MESSAGES_JOINED).map(|violation| violation.message.as_str());
        let mut message = first.collect::<Vec<_>>().join("; ");
        if count > MESSAGES_JOINED {
            let _ = write!(message, "; and {} more problems", count - MESSAGES_JOINED);
        }
        if count > VIOLATIONS_LISTED {
            let _ = write!(message, ", of which details lists the first {}", VIOLATIONS_LISTED - MESSAGES_JOINED);
        }
        Self { details, ..Self::new(ErrorCode::ValidationError, message) }
    }

    /// One parameter is wrong.
    pub fn invalid_parameter(name: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![Violation::new(name, message)])
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// `why` is for the log.
    pub fn internal(why: impl Into<String>) -> Self {
        let message = "internal error; try again, and if it happens again, report the requestId to the operator";
        Self { internal: Some(why.into()), ..Self::new(ErrorCode::Internal, message) }
    }

    pub fn overloaded() -> Self {
        let message = "the service is overloaded; nothing was charged, try again in 1 second";
        Self { retry_after_sec: Some(1), ..Self::new(ErrorCode::Overloaded, message) }
    }

    /// For an address or an account at its limit of unread responses.
    pub fn too_much_unread(of: &str) -> Self {
        let message = format!(
            "{of} has too many responses that it has not read yet; read them, then try again. Nothing was charged"
        );
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
    /// What is wrong and what to do next, for people.
    pub message: &'e str,
    /// Where to buy credits. On 402.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade_url: Option<&'e str>,
    /// Seconds to wait before trying again. On 429 and 503.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_sec: Option<u64>,
    /// The parameters that are wrong, at most 16; on 422.
    #[serde(skip_serializing_if = "<[Violation]>::is_empty")]
    pub details: &'e [Violation],
    /// Identifies the request in the log. On 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<&'e str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_lists_sixteen_violations_and_counts_the_others() {
        let wrong =
            |count: usize| ApiError::invalid((0..count).map(|n| Violation::new("x", format!("m{n}"))).collect());
        assert_eq!(wrong(1).message, "m0");
        assert_eq!(wrong(3).message, "m0; m1; m2");
        assert_eq!((wrong(16).message.as_str(), wrong(16).details.len()), ("m0; m1; m2; and 13 more problems", 16));
        let many = wrong(64);
        assert_eq!(many.details.len(), 16);
        assert_eq!(many.message, "m0; m1; m2; and 61 more problems, of which details lists the first 13");
    }

    #[test]
    fn long_text_of_a_client_is_cut_between_characters() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"é".repeat(24)), "é".repeat(24));
        assert_eq!(shortened(&format!("a{}", "é".repeat(24))), format!("a{}…", "é".repeat(23)));
    }

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
