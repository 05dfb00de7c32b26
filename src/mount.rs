//! Mounts: handlers of the HTTP server for paths outside the operations table and its documents,
//! such as the endpoint for agents, pages, and webhooks called by other services.
//!
//! A mount does not handle connections: it gets a whole request and returns a whole response. The
//! server counts and logs the request, and sets the headers that every response has.

use std::borrow::Cow;
use std::net::IpAddr;
use std::pin::Pin;

use ::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use ::http::{HeaderMap, Method, Response, StatusCode};
use bytes::Bytes;
use futures_util::Stream;
use hornbook_accounts::Accounts;
use hornbook_accounts::admission::MeteringReceipt;
use hornbook_accounts::people::LINK_PATH;
use hornbook_accounts::rate_limit::RateRemaining;

use crate::api::call::Progress;
use crate::api::error::Violation;
use crate::api::headers::CORPUS_SNAPSHOT;
use crate::api::idempotency_key::{IDEMPOTENCY_KEY, IdempotencyKey};
use crate::api::pinned_snapshot::SnapshotPin;
use crate::api::unread::UnreadReservation;
use crate::formation::REVIEW_PATH;
use crate::web_origin::RequestOrigin;

/// The part of a path that may be logged. In paths of the review page and of one-time links, the
/// rest is a secret.
pub fn loggable(path: &str) -> &str {
    [REVIEW_PATH, LINK_PATH].into_iter().find(|secret| path.starts_with(secret)).unwrap_or(path)
}

/// A handler for a set of paths.
pub trait Mount: Send + Sync {
    /// Whether the mount handles this path, given as written in the request.
    fn matches_path(&self, path: &str) -> bool;

    /// The methods that the mount handles at this path. The server refuses other methods and answers
    /// OPTIONS itself.
    fn methods(&self, path: &str) -> Methods;

    fn limit(&self) -> RateLimitedBy;

    /// Whether what other servers of the same accounts changed a moment ago must be known before this request is answered.
    fn needs_newest(&self, _headers: &HeaderMap, _accounts: &Accounts) -> bool {
        false
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a>;

    /// The page that a person sees in place of the Error object that a program gets; None if the
    /// mount has no pages. The status and headers of the error stay.
    fn error_page(&self, _error: &ErrorPageInfo<'_>) -> Option<Response<Bytes>> {
        None
    }
}

/// The parts of an error that a person sees.
#[derive(Clone, Copy, Debug)]
pub struct ErrorPageInfo<'a> {
    pub status: StatusCode,
    pub message: &'a str,
    /// The request id. The log line of the request has the same id and more details.
    pub request_id: &'a str,
}

pub type MountFuture<'a> = Pin<Box<dyn Future<Output = MountResponse> + Send + 'a>>;

/// The methods of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Methods {
    /// GET and HEAD.
    Get,
    Post,
    GetAndPost,
}

impl Methods {
    /// None for a method that no mount handles.
    pub fn of(method: &Method) -> Option<Self> {
        match *method {
            Method::GET | Method::HEAD => Some(Self::Get),
            Method::POST => Some(Self::Post),
            _ => None,
        }
    }

    pub fn include(self, method: &Method) -> bool {
        Self::of(method).is_some_and(|asked| asked == self || self == Self::GetAndPost)
    }

    /// The union of both.
    pub fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::GetAndPost }
    }

    /// The value of the `Allow` header.
    pub const fn allow(self) -> &'static str {
        match self {
            Self::Get => "GET, HEAD, OPTIONS",
            Self::Post => "POST, OPTIONS",
            Self::GetAndPost => "GET, HEAD, POST, OPTIONS",
        }
    }
}

/// Who limits the rate of calls to a mount.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateLimitedBy {
    /// The server, by client address, like all requests that need no key.
    ByAddress,
    /// The mount itself.
    Own,
}

/// A request to a mount.
pub struct MountRequest<'a> {
    pub method: &'a Method,
    /// As written in the request.
    pub path: &'a str,
    /// The decoded segments of the path.
    pub segments: &'a [Cow<'a, str>],
    /// As written in the request.
    pub query: Option<&'a str>,
    /// The decoded names and values of the query.
    pub parameters: &'a [(String, String)],
    pub headers: &'a HeaderMap,
    /// The host and the page that `headers` state. Nothing else reads these headers.
    pub origin: &'a RequestOrigin<'a>,
    pub body: &'a Bytes,
    pub client: IpAddr,
    /// The request id.
    pub id: &'a str,
    /// For the log.
    pub progress: &'a Progress,
}

/// The rest of a long body. The next part is made once the client has read the ones before.
pub type RemainingBody = Pin<Box<dyn Stream<Item = Result<Bytes, BodyEndsEarly>> + Send>>;

/// A part of a body cannot be made. The connection ends, so that the client sees that the body is not whole.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a part of the response cannot be made")]
pub struct BodyEndsEarly;

/// A response, with data about it for headers, log and accounts.
pub struct MountResponse {
    pub response: Response<Bytes>,
    /// What follows the body of the response.
    pub rest: Option<RemainingBody>,
    /// Of a metered call.
    pub receipt: Option<MeteringReceipt>,
    /// Of a call that was not metered but counted against the limits of its key.
    pub left: Option<RateRemaining>,
    /// Counts the response against the account's limit of unread bytes until the client has read it.
    pub unread: Option<UnreadReservation>,
    /// The error code, if the response is an error.
    pub error: Option<&'static str>,
    /// The internal cause of an error; for the log only.
    pub internal: Option<String>,
    pub stages: Vec<(&'static str, u32)>,
}

impl From<Response<Bytes>> for MountResponse {
    fn from(response: Response<Bytes>) -> Self {
        Self {
            response,
            rest: None,
            receipt: None,
            left: None,
            unread: None,
            error: None,
            internal: None,
            stages: Vec::new(),
        }
    }
}

/// The API key, if there is exactly one `Authorization` header and its scheme is Bearer.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (given.next()?.to_str().ok()?, given.next()) else { return None };
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// The media type of the body, if there is exactly one `Content-Type` header. With two, other
/// programs may use the other one.
pub fn media_type(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    let (value, None) = (given.next()?.to_str().ok()?, given.next()) else { return None };
    value.split(';').next().map(str::trim)
}

pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey<'_>>, Violation> {
    IdempotencyKey::read(headers.get_all(IDEMPOTENCY_KEY).iter().map(HeaderValue::as_bytes))
}

/// `linked`: what the link that the caller followed names.
pub fn snapshot_pin<'c>(
    headers: &'c HeaderMap,
    linked: impl Iterator<Item = &'c str>,
) -> Result<Option<SnapshotPin<'c>>, Violation> {
    let sent = headers.get_all(CORPUS_SNAPSHOT.field).iter().map(HeaderValue::as_bytes);
    SnapshotPin::read(sent.chain(linked.map(str::as_bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_bearer_header_is_accepted() {
        let headers = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, HeaderValue::from_static(value));
            }
            headers
        };
        assert_eq!(bearer(&headers(&["Bearer hb_live_x"])), Some("hb_live_x"));
        assert_eq!(bearer(&headers(&["bearer  hb_live_x "])), Some("hb_live_x"));
        for bad in [&[][..], &["Basic abc"], &["hb_live_x"], &["Bearer a", "Bearer b"]] {
            assert_eq!(bearer(&headers(bad)), None, "{bad:?}");
        }
    }
}
