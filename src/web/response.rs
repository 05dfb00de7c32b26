//! Responses with pages: the common headers and the cache policy.

use ::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    VARY, X_FRAME_OPTIONS,
};
use ::http::{Response, StatusCode};
use bytes::Bytes;

/// The content security policy: styles, scripts and images only from this server and none inline,
/// forms only to this server, and no frames.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

/// The cache policy of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CachePolicy {
    /// Not cached: the page is for one moment or one person.
    NoStore,
    /// Cached by the browser for a few minutes.
    FiveMinutes,
    /// Cached by the browser, which revalidates it with every request.
    Revalidate,
    /// Cached by the browser for a year: the address contains the snapshot.
    Immutable,
}

pub(super) fn page(status: StatusCode, html: String, keep: CachePolicy) -> Response<Bytes> {
    text(status, "text/html; charset=utf-8", html.into(), keep)
}

/// A response with another media type than HTML, with the same headers.
pub(super) fn text(status: StatusCode, media_type: &'static str, body: Bytes, keep: CachePolicy) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let cache = match keep {
        CachePolicy::NoStore => "no-store",
        CachePolicy::FiveMinutes => "private, max-age=300",
        CachePolicy::Revalidate => "private, no-cache",
        CachePolicy::Immutable => "private, max-age=31536000, immutable",
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

/// Sets the version of a page (`ETag`).
pub(super) fn with_version(mut response: Response<Bytes>, version: &str) -> Response<Bytes> {
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// The response if the browser already has this version.
pub(super) fn not_modified(version: &str, keep: CachePolicy) -> Response<Bytes> {
    let mut response = page(StatusCode::NOT_MODIFIED, String::new(), keep);
    response.headers_mut().remove(CONTENT_TYPE);
    with_version(response, version)
}

/// Redirects to another page of this site. The path must be encoded.
pub(super) fn redirect(path: &str) -> Response<Bytes> {
    redirect_as(StatusCode::SEE_OTHER, path)
}

/// Redirects to the address that a page has now, for good.
pub(super) fn moved(path: &str) -> Response<Bytes> {
    redirect_as(StatusCode::PERMANENT_REDIRECT, path)
}

fn redirect_as(status: StatusCode, path: &str) -> Response<Bytes> {
    let mut response = page(status, String::new(), CachePolicy::NoStore);
    response.headers_mut().remove(CONTENT_TYPE);
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}
