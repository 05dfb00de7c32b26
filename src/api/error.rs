//! Every error that a client can get: its code, its status and its meaning, in one table, and the Error object.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hornbook_accounts::budget::{BudgetSpent, SpendingWindow};
use hornbook_accounts::error::{BadKey, LedgerError, Refusal};
use hornbook_accounts::idempotency::REPLAYS_MAX;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::rate_limit::{RateLimitExceeded, RateWindow};
use schemars::JsonSchema;
use serde::Serialize;

macro_rules! error_codes {
    ($($variant:ident, $status:literal, $code:literal, $meaning:literal;)*) => {
        /// The kind of an error. Several kinds may share a code and differ only in their status.
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
    BudgetExceeded, 402, "budget_exceeded", "The budget of the key, or of the key that created it, does not allow the call.";
    MaxCostExceeded, 402, "max_cost_exceeded", "The call costs more than its `maxCost`; nothing was charged.";
    InsufficientScope, 403, "insufficient_scope", "The key has none of the scopes that the call needs.";
    NotFound, 404, "not_found", "There is no such path, node, layer or order.";
    MethodNotAllowed, 405, "method_not_allowed", "The path does not allow this method; `Allow` lists the methods that it allows.";
    NotAcceptable, 406, "not_acceptable", "The resource is not available in any format that `Accept` names.";
    RequestTimeout, 408, "request_timeout", "The request took too long to arrive.";
    SnapshotNotServed, 409, "snapshot_not_served", "This server does not have the snapshot that `X-Corpus-Snapshot` names; nothing was charged.";
    BodyTooLarge, 413, "request_too_large", "The body is longer than 64 KB, or the call takes none.";
    UriTooLong, 414, "request_too_large", "The address is longer than 8 KB.";
    UnsupportedMediaType, 415, "unsupported_media_type", "The body has a `Content-Encoding`; send it without one.";
    ExpectationFailed, 417, "expectation_failed", "`Expect` may be `100-continue` and nothing else.";
    ValidationError, 422, "validation_error", "Parameters are missing or invalid; `details` lists them.";
    RateLimited, 429, "rate_limited", "Too many calls; wait `retryAfterSec` seconds.";
    HeadersTooLarge, 431, "request_too_large", "The headers are longer than 16 KB.";
    Internal, 500, "internal_error", "An error in the service; `requestId` identifies it in the log.";
    Overloaded, 503, "overloaded", "The service is overloaded; try again.";
    LedgerUnavailable, 503, "ledger_unavailable", "The ledger cannot be written now; nothing was charged, unless `message` says that this is not known yet.";
    StorageFull, 503, "storage_full", "The disk of the service is full; nothing was charged.";
    PaymentUnavailable, 503, "payment_unavailable", "The payment provider cannot be reached now; nothing was charged.";
    VersionNotSupported, 505, "version_not_supported", "Only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported.";
}

/// Maximum number of violations that an error lists.
const VIOLATIONS_LISTED: usize = 16;

/// Number of violations whose messages are also in the message of the error.
const MESSAGES_IN_SUMMARY: usize = 3;

/// Maximum number of bytes of a client's own text that an answer repeats. Longer text is cut.
const ECHOED_BYTES_MAX: usize = 48;

/// A parameter that is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Violation {
    pub parameter: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl Violation {
    /// The name may come from the client, so it is shortened.
    pub fn new(parameter: &str, message: impl Into<String>) -> Self {
        Self { parameter: shortened(parameter).into_owned(), message: message.into() }
    }
}

/// Cuts a client's text to the length that an answer may repeat.
pub fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= ECHOED_BYTES_MAX {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(ECHOED_BYTES_MAX)]))
}

/// An error, with the message for the client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiError {
    pub code: ErrorCode,
    pub message: String,
    pub details: Vec<Violation>,
    pub retry_after_sec: Option<u64>,
    /// Details for the log. The client does not see them.
    pub internal: Option<String>,
}

impl ApiError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new(), retry_after_sec: None, internal: None }
    }

    /// Lists the first violations and counts the others, so that the answer stays small no matter how
    /// much is wrong.
    pub fn invalid(mut details: Vec<Violation>) -> Self {
        let count = details.len();
        details.truncate(VIOLATIONS_LISTED);
        let first = details.iter().take(MESSAGES_IN_SUMMARY).map(|violation| violation.message.as_str());
        let mut message = first.collect::<Vec<_>>().join("; ");
        if count > MESSAGES_IN_SUMMARY {
            let _ = write!(message, "; and {} more problems", count - MESSAGES_IN_SUMMARY);
        }
        if count > VIOLATIONS_LISTED {
            let _ = write!(message, "; details lists the first {} of these", VIOLATIONS_LISTED - MESSAGES_IN_SUMMARY);
        }
        Self { details, ..Self::new(ErrorCode::ValidationError, message) }
    }

    /// Lists every violation, because a person who fills in a long form needs all of them. The caller
    /// must limit their number.
    pub fn invalid_form(details: Vec<Violation>) -> Self {
        let listed = details.clone();
        let mut error = Self::invalid(details.into_iter().take(VIOLATIONS_LISTED).collect());
        if listed.len() > MESSAGES_IN_SUMMARY {
            let first: Vec<&str> = listed.iter().take(MESSAGES_IN_SUMMARY).map(|one| one.message.as_str()).collect();
            let more = listed.len() - MESSAGES_IN_SUMMARY;
            error.message = format!("{}; and {more} more problems, listed in details", first.join("; "));
        }
        Self { details: listed, ..error }
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

    /// For an address or an account that has too many unread responses.
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
            Refusal::Budget { .. } => ErrorCode::BudgetExceeded,
            Refusal::OtherRequest | Refusal::TooManyReplays => ErrorCode::ValidationError,
            Refusal::SameRequestInProgress => ErrorCode::Overloaded,
            Refusal::Ledger(error) => return Self::from(*error),
        };
        Self { retry_after_sec: retry_after_sec(refusal), ..Self::new(code, message(refusal)) }
    }
}

const fn retry_after_sec(refusal: &Refusal) -> Option<u64> {
    match refusal {
        Refusal::TooFast(too_fast) => Some(too_fast.retry_after_sec),
        Refusal::SameRequestInProgress => Some(1),
        _ => None,
    }
}

/// The message for the client: what is wrong and what to do next.
fn message(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Key(BadKey::Missing) => {
            "no API key was sent; send the header 'Authorization: Bearer YOUR_KEY'".to_owned()
        }
        Refusal::Key(BadKey::ForAgentsOnly) => {
            "this is the token of an agent that was let in on a page, and it works only at /api/mcp; use an API key here"
                .to_owned()
        }
        Refusal::Key(_) => {
            "the API key is not valid: it is mistyped, revoked, expired or not yet approved; check it in \
                            your settings"
                .to_owned()
        }
        Refusal::Scope { has, needs_any_of } => {
            format!("this key has the scopes {has}, the call needs one of {needs_any_of}; create a key with that scope")
        }
        Refusal::TooFast(RateLimitExceeded { retry_after_sec, left, window }) => {
            let (limit, window) = match window {
                RateWindow::Minute => (left.limits.per_minute, "minute"),
                RateWindow::Day => (left.limits.per_day, "day"),
            };
            format!("the limit of {limit} calls a {window} is reached; wait {retry_after_sec} seconds")
        }
        Refusal::Credits { cost, remaining } => format!(
            "the call costs {}; {} are left in the wallet and {} in this month's allotment; buy a pack at \
             upgradeUrl or wait for the 1st of the month",
            Credits::in_words(cost.0),
            remaining.wallet.max(0),
            remaining.allotment
        ),
        Refusal::Budget { cost, spent: BudgetSpent { is_own, window, limit, left, .. } } => {
            let whose = if *is_own { "the budget of this key" } else { "the budget of the key that created this one" };
            let renewal = match window {
                SpendingWindow::Total => "ask its owner for more",
                SpendingWindow::Month(_) => "wait for the 1st of the month, or ask its owner for more",
                SpendingWindow::Day(_) => "wait until midnight UTC, or ask its owner for more",
            };
            let (cost, window) = (Credits::in_words(cost.0), window.name());
            format!("the call costs {cost}, and {whose} has {left} of {limit} left {window}; {renewal}")
        }
        Refusal::OtherRequest => {
            "this Idempotency-Key was used for another request; use a new one for a new request".to_owned()
        }
        Refusal::SameRequestInProgress => {
            "the first request with this Idempotency-Key is still being answered; try again in 1 second".to_owned()
        }
        Refusal::TooManyReplays => format!(
            "this Idempotency-Key has reached its limit of {REPLAYS_MAX} repeated answers; use a new one for a new \
             request"
        ),
        Refusal::Ledger(error) => error.to_string(),
    }
}

impl From<LedgerError> for ApiError {
    fn from(error: LedgerError) -> Self {
        let (code, seconds) = match error {
            LedgerError::Overloaded | LedgerError::Overtaken => (ErrorCode::Overloaded, 1),
            LedgerError::StorageFull => (ErrorCode::StorageFull, 30),
            LedgerError::Unavailable | LedgerError::OutcomeUnknown | LedgerError::Closed => {
                (ErrorCode::LedgerUnavailable, 2)
            }
        };
        let message = match error {
            LedgerError::OutcomeUnknown => format!(
                "{error}; try again in {seconds} seconds: with the same Idempotency-Key the call is charged once at most"
            ),
            _ => format!("{error}; you were not charged, try again in {seconds} seconds"),
        };
        Self { retry_after_sec: Some(seconds), ..Self::new(code, message) }
    }
}

/// The JSON body of an error response.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Error")]
pub struct ErrorObject<'e> {
    /// The code of the error, for programs.
    pub error: &'e str,
    /// What is wrong and what to do next, for people.
    pub message: &'e str,
    /// Where to buy credits. Only with status 402.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade_url: Option<&'e str>,
    /// Seconds to wait before trying again. Only with status 429 or 503.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_sec: Option<u64>,
    /// The parameters that are wrong, at most 16; for an intake all fields that are wrong. Only with
    /// status 422.
    #[serde(skip_serializing_if = "<[Violation]>::is_empty")]
    pub details: &'e [Violation],
    /// Identifies the request in the log. Only with status 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<&'e str>,
}

/// Turns a panic in one call into an error of that call, so that the service goes on.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> Result<T, ApiError>) -> Result<T, ApiError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        Err(ApiError::internal(format!("panicked: {text}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hornbook_accounts::balance::Remaining;
    use hornbook_accounts::rate_limit::{RateLimits, RateRemaining};
    use hornbook_accounts::scope::{Scope, ScopeSet};

    #[test]
    fn a_refusal_lists_sixteen_violations_and_counts_the_others() {
        let wrong =
            |count: usize| ApiError::invalid((0..count).map(|n| Violation::new("x", format!("m{n}"))).collect());
        assert_eq!(wrong(1).message, "m0");
        assert_eq!(wrong(3).message, "m0; m1; m2");
        assert_eq!((wrong(16).message.as_str(), wrong(16).details.len()), ("m0; m1; m2; and 13 more problems", 16));
        let many = wrong(64);
        assert_eq!(many.details.len(), 16);
        assert_eq!(many.message, "m0; m1; m2; and 61 more problems; details lists the first 13 of these");
    }

    #[test]
    fn long_text_of_a_client_is_cut_between_characters() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"é".repeat(24)), "é".repeat(24));
        assert_eq!(shortened(&format!("a{}", "é".repeat(24))), format!("a{}…", "é".repeat(23)));
    }

    /// The status and code of each refusal, as the API contract lists them.
    #[test]
    fn each_refusal_has_the_status_and_code_of_the_contract() {
        let remaining = Remaining { wallet: 0, allotment: 0 };
        let left = RateRemaining {
            limits: RateLimits { per_minute: 30, per_day: 1000 },
            in_minute: 0,
            minute_reset_sec: 7,
            in_day: 970,
            day_reset_sec: 900,
        };
        let too_fast = RateLimitExceeded { retry_after_sec: 7, left, window: RateWindow::Minute };
        let scope = Refusal::Scope { has: ScopeSet::of(&[Scope::Node]), needs_any_of: ScopeSet::of(&[Scope::Gis]) };
        let expected: [(Refusal, u16, &str, Option<u64>); 14] = [
            (Refusal::Key(BadKey::Missing), 401, "invalid_api_key", None),
            (Refusal::Key(BadKey::AccountNotApproved), 401, "invalid_api_key", None),
            (Refusal::Credits { cost: Credits(5), remaining }, 402, "insufficient_credits", None),
            (scope, 403, "insufficient_scope", None),
            (Refusal::OtherRequest, 422, "validation_error", None),
            (Refusal::TooManyReplays, 422, "validation_error", None),
            (Refusal::TooFast(too_fast), 429, "rate_limited", Some(7)),
            (Refusal::SameRequestInProgress, 503, "overloaded", Some(1)),
            (Refusal::Ledger(LedgerError::Overloaded), 503, "overloaded", Some(1)),
            (Refusal::Ledger(LedgerError::Overtaken), 503, "overloaded", Some(1)),
            (Refusal::Ledger(LedgerError::Unavailable), 503, "ledger_unavailable", Some(2)),
            (Refusal::Ledger(LedgerError::OutcomeUnknown), 503, "ledger_unavailable", Some(2)),
            (Refusal::Ledger(LedgerError::Closed), 503, "ledger_unavailable", Some(2)),
            (Refusal::Ledger(LedgerError::StorageFull), 503, "storage_full", Some(30)),
        ];
        for (refusal, status, code, retry_after_sec) in expected {
            let error = ApiError::from(&refusal);
            assert_eq!((error.code.status(), error.code.code()), (status, code), "{refusal:?}");
            assert_eq!(error.retry_after_sec, retry_after_sec, "{refusal:?}");
        }
    }

    #[test]
    fn all_bad_keys_get_the_same_message() {
        let reported = |why| ApiError::from(&Refusal::Key(why)).message;
        let bad = [BadKey::Malformed, BadKey::Unknown, BadKey::RevokedOrExpired, BadKey::AccountNotApproved];
        for why in bad {
            assert_eq!(reported(why), reported(BadKey::Malformed));
        }
        assert!(reported(BadKey::Missing).contains("Authorization"));
    }

    #[test]
    fn a_panic_is_an_error_of_its_call_and_its_text_is_for_the_log() {
        let error = catch_panic::<()>(|| panic!("index 7")).unwrap_err();
        assert_eq!(error.code, ErrorCode::Internal);
        assert!(error.internal.unwrap().contains("index 7") && !error.message.contains("index 7"));
    }
}
