//! Doors: what the HTTP server answers beside the operations table and its documents, such as the endpoint for agents,
//! pages, and notices from other services.
//!
//! A door knows nothing of connections: it gets a whole request and returns a whole response. The server counts it,
//! logs it, and sets the headers that every response has.

use std::borrow::Cow;
use std::net::IpAddr;
use std::pin::Pin;

use ::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use ::http::{HeaderMap, Method, Response, StatusCode};
use bytes::Bytes;

use crate::accounts::admission::Receipt;
use crate::accounts::pace::PaceLeft;
use crate::accounts::people::LINK_PATH;
use crate::api::call::Progress;
use crate::api::error::Violation;
use crate::api::idempotency_key::{IDEMPOTENCY_KEY, IdempotencyKey};
use crate::api::unread::UnreadShare;
use crate::formation::REVIEW_PATH;

/// The part of a path that a log may have: what follows the address of the review page, or of
/// one-time links, is a secret.
pub fn loggable(path: &str) -> &str {
    [REVIEW_PATH, LINK_PATH].into_iter().find(|secret| path.starts_with(secret)).unwrap_or(path)
}

/// Something that answers requests to paths of its own.
pub trait Door: Send + Sync {
    /// Whether the path, as it was written, is one of its own.
    fn is_at(&self, path: &str) -> bool;

    /// What it answers there. The server refuses the rest, and answers OPTIONS.
    fn methods(&self, path: &str) -> Methods;

    fn limit(&self) -> Limit;

    fn answer<'a>(&'a self, visit: Visit<'a>) -> Answering<'a>;

    /// What a person sees in the place of an error that a program gets as an Error object; none if it has no pages. Status
    /// and headers of the error stay.
    fn error_page(&self, _error: &ToldError<'_>) -> Option<Response<Bytes>> {
        None
    }
}

/// An error as a person is told of it.
#[derive(Clone, Copy, Debug)]
pub struct ToldError<'a> {
    pub status: StatusCode,
    pub message: &'a str,
    /// Of the request, where its log line says more.
    pub request_id: &'a str,
}

pub type Answering<'a> = Pin<Box<dyn Future<Output = DoorAnswer> + Send + 'a>>;

/// The methods of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Methods {
    /// And HEAD.
    Get,
    Post,
    GetAndPost,
}

impl Methods {
    /// None for a method that no path has.
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

    /// The methods of both.
    pub fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::GetAndPost }
    }

    /// As `Allow` lists them.
    pub const fn allow(self) -> &'static str {
        match self {
            Self::Get => "GET, HEAD, OPTIONS",
            Self::Post => "POST, OPTIONS",
            Self::GetAndPost => "GET, HEAD, POST, OPTIONS",
        }
    }
}

/// Who limits how often a door is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The server, by address, as it limits whatever needs no key.
    ByAddress,
    /// The door itself.
    Own,
}

/// A request to a door.
pub struct Visit<'a> {
    pub method: &'a Method,
    /// As it was written.
    pub path: &'a str,
    /// Its parts, decoded.
    pub segments: &'a [Cow<'a, str>],
    /// As it was written.
    pub query: Option<&'a str>,
    /// Its names and values, decoded.
    pub parameters: &'a [(String, String)],
    pub headers: &'a HeaderMap,
    pub body: &'a Bytes,
    pub client: IpAddr,
    /// Of the request.
    pub id: &'a str,
    /// For the log.
    pub progress: &'a Progress,
}

/// A response, with what the server says of it in headers, log and accounts.
pub struct DoorAnswer {
    pub response: Response<Bytes>,
    /// Of a call that was metered.
    pub receipt: Option<Receipt>,
    /// Of a call that was not, but whose key was counted.
    pub left: Option<PaceLeft>,
    /// The response counts for the account until it is read.
    pub unread: Option<UnreadShare>,
    /// The code of an error.
    pub error: Option<&'static str>,
    /// What went wrong inside; for the log alone.
    pub internal: Option<String>,
    pub stages: Vec<(&'static str, u32)>,
}

impl From<Response<Bytes>> for DoorAnswer {
    fn from(response: Response<Bytes>) -> Self {
        Self { response, receipt: None, left: None, unread: None, error: None, internal: None, stages: Vec::new() }
    }
}

/// The key, if there is one `Authorization` header with the scheme Bearer.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (given.next()?.to_str().ok()?, given.next()) else { return None };
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// The type of a body, if there is one `Content-Type` header: of two, other programs may believe the other.
pub fn media_type(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    let (value, None) = (given.next()?.to_str().ok()?, given.next()) else { return None };
    value.split(';').next().map(str::trim)
}

pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey<'_>>, Violation> {
    IdempotencyKey::read(headers.get_all(IDEMPOTENCY_KEY).iter().map(HeaderValue::as_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_behind_bearer_once() {
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
