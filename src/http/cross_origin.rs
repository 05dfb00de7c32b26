//! Which web pages may read our answers: those of configured origins, and no others.

use hyper::HeaderMap;
use hyper::header::{HeaderValue, ORIGIN};

/// What pages may read beside the body.
const EXPOSED: &str = "X-Credits-Remaining, X-Credits-Cost, X-Research-Allotment-Remaining, X-RateLimit-Limit, \
                       X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, X-Request-Id, \
                       X-Corpus-Snapshot, Server-Timing, ETag, Link, Retry-After, Idempotency-Replayed";

const REQUEST_HEADERS: &str = "Authorization, Accept, Idempotency-Key, If-None-Match";

pub(super) struct Origins(Vec<HeaderValue>);

impl Origins {
    pub(super) fn new(origins: &[String]) -> Self {
        Self(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect())
    }

    /// The origin that asks, if it may.
    pub(super) fn allowed<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        headers.get(ORIGIN).filter(|origin| self.0.contains(origin))
    }

    pub(super) fn dress(&self, headers: &mut HeaderMap, allowed: Option<HeaderValue>) {
        if self.0.is_empty() {
            return;
        }
        headers.append("vary", HeaderValue::from_static("Origin"));
        if let Some(origin) = allowed {
            headers.insert("access-control-allow-origin", origin);
            headers.insert("access-control-expose-headers", HeaderValue::from_static(EXPOSED));
            headers.insert("access-control-allow-methods", HeaderValue::from_static("GET, HEAD, OPTIONS"));
            headers.insert("access-control-allow-headers", HeaderValue::from_static(REQUEST_HEADERS));
            headers.insert("access-control-max-age", HeaderValue::from_static("600"));
        }
    }
}
