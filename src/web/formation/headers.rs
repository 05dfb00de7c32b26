//! Responses with the review page. Their headers keep the secret address out of caches, referrer
//! logs and search engines.

use ::http::StatusCode;
use ::http::header::{HeaderName, HeaderValue, REFERRER_POLICY};

use super::html::ReviewHtmlPage;
use crate::mount::MountResponse;
use crate::web::response::{self, CachePolicy};

const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

pub(super) fn page(status: StatusCode, page: &ReviewHtmlPage) -> MountResponse {
    let mut response = response::page(status, page.html(), CachePolicy::NoStore);
    let headers = response.headers_mut();
    // The address is a secret, so no link or form may send it as the referrer.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_ROBOTS_TAG, HeaderValue::from_static("noindex, nofollow, noarchive"));
    response.into()
}
