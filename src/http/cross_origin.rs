//! CORS: only web pages of the configured origins may read responses.

use hyper::HeaderMap;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderValue, ORIGIN, VARY,
};

use crate::api::headers::HEADERS;
use crate::door::Methods;

const REQUEST_HEADERS: &str = "Authorization, Accept, Content-Type, Idempotency-Key, If-None-Match";

pub(super) struct Origins {
    allowed: Vec<HeaderValue>,
    /// The headers that their pages may read: all of the table.
    exposed: Option<HeaderValue>,
}

impl Origins {
    pub(super) fn new(origins: &[String]) -> Self {
        let allowed = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect();
        let names: Vec<&str> = HEADERS.iter().map(|header| header.name).collect();
        Self { allowed, exposed: HeaderValue::try_from(names.join(", ")).ok() }
    }

    /// Adds what a browser needs before it hands the answer to the page that asked with these headers.
    pub(super) fn allow(&self, head: &mut HeaderMap, asked: &HeaderMap) {
        if self.allowed.is_empty() {
            return;
        }
        head.append(VARY, HeaderValue::from_static("Origin"));
        let Some(origin) = asked.get(ORIGIN).filter(|origin| self.allowed.contains(origin)) else { return };
        head.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        if let Some(exposed) = &self.exposed {
            head.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
        }
        head.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(Methods::GetAndPost.allow()));
        head.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
        head.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
}
