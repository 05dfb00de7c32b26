//! A page as a response: headers that every page has, and how long it may be kept.

use ::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    VARY, X_FRAME_OPTIONS,
};
use ::http::{Response, StatusCode};
use bytes::Bytes;

/// Styles, scripts and pictures of this server alone, none of them inline; forms that lead here; no frames.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

/// What may keep a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keep {
    /// Nothing: it is of one moment or one person.
    Nowhere,
    /// The browser, for a few minutes.
    Shortly,
    /// The browser, which asks every time whether it is still so.
    Asking,
    /// The browser, for good: its address names the snapshot.
    ForGood,
}

pub(super) fn page(status: StatusCode, html: String, keep: Keep) -> Response<Bytes> {
    text(status, "text/html; charset=utf-8", html.into(), keep)
}

/// Something else than a page, with the same headers.
pub(super) fn text(status: StatusCode, media_type: &'static str, body: Bytes, keep: Keep) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let cache = match keep {
        Keep::Nowhere => "no-store",
        Keep::Shortly => "private, max-age=300",
        Keep::Asking => "private, no-cache",
        Keep::ForGood => "private, max-age=31536000, immutable",
    };
    for (name, value) in [
        (CONTENT_TYPE, media_type),
        (CACHE_CONTROL, cache),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "same-origin"),
        (X_FRAME_OPTIONS, "DENY"),
        (PERMISSIONS_POLICY, "camera=(), geolocation=(), microphone=()"),
        (VARY, "Accept-Encoding, Cookie"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Names the version of a page.
pub(super) fn with_version(mut response: Response<Bytes>, version: &str) -> Response<Bytes> {
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// The browser has this version.
pub(super) fn not_modified(version: &str, keep: Keep) -> Response<Bytes> {
    let mut response = page(StatusCode::NOT_MODIFIED, String::new(), keep);
    response.headers_mut().remove(CONTENT_TYPE);
    with_version(response, version)
}

/// Leads to another page, here. The path is one of ours, encoded.
pub(super) fn redirect(path: &str) -> Response<Bytes> {
    let mut response = page(StatusCode::SEE_OTHER, String::new(), Keep::Nowhere);
    response.headers_mut().remove(CONTENT_TYPE);
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}
