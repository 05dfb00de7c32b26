//! A page as a response: its status and the headers that keep it out of caches, logs of other servers and search engines.

use std::sync::LazyLock;

use ::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use ::http::{Response, StatusCode};
use bytes::Bytes;

use super::pages::{Page, STYLE};
use crate::api::documents::style::policy_for;
use crate::door::DoorAnswer;

/// One inline style, named by its hash, and forms that lead back here. Nothing else, above all no script.
static POLICY: LazyLock<String> = LazyLock::new(|| policy_for(STYLE, "'self'"));

const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

pub(super) fn page(status: StatusCode, page: &Page) -> DoorAnswer {
    let mut response = Response::new(Bytes::from(page.html()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        // The address is a secret: no link or form may pass it on.
        (REFERRER_POLICY, "no-referrer"),
        (X_ROBOTS_TAG, "noindex, nofollow, noarchive"),
        (X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(&POLICY) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    response.into()
}
