//! CORS: only web pages of the configured origins may read responses. Some paths may be open to more origins.

use hyper::HeaderMap;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderValue, VARY,
};

use crate::api::headers::HEADERS;
use crate::mount::Methods;
use crate::web_origin::{RequestOrigin, SendingPage, WebOrigin};

const REQUEST_HEADERS: &str = "Authorization, Accept, Content-Type, Idempotency-Key, If-None-Match, X-Corpus-Snapshot, \
                               Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID";

pub(super) struct Origins {
    allowed: Vec<WebOrigin>,
    /// Paths, and the origins whose pages may call them, including those in `allowed`.
    at_paths: (Vec<&'static str>, Vec<WebOrigin>),
    /// The headers that these pages may read: all headers of the table, and the challenge of a 401.
    exposed: Option<HeaderValue>,
}

impl Origins {
    pub(super) fn new(origins: &[WebOrigin], (paths, more): &(Vec<&'static str>, Vec<WebOrigin>)) -> Self {
        let allowed = origins.to_vec();
        let at_paths = (paths.clone(), [origins, more].concat());
        // The last one contains the address of the sign-in metadata.
        let names: Vec<&str> = HEADERS.iter().map(|header| header.name).chain(["WWW-Authenticate"]).collect();
        Self { allowed, at_paths, exposed: HeaderValue::try_from(names.join(", ")).ok() }
    }

    /// Adds the headers that a browser needs before it gives the response to a page.
    pub(super) fn allow(&self, path: &str, head: &mut HeaderMap, origin: &RequestOrigin<'_>) {
        let allowed = if self.at_paths.0.contains(&path) { &self.at_paths.1 } else { &self.allowed };
        if allowed.is_empty() {
            return;
        }
        head.append(VARY, HeaderValue::from_static("Origin"));
        let SendingPage::Known(page) = &origin.page else { return };
        let Ok(value) = HeaderValue::from_str(page.as_str()) else { return };
        if !allowed.contains(page) {
            return;
        }
        head.insert(ACCESS_CONTROL_ALLOW_ORIGIN, value);
        if let Some(exposed) = &self.exposed {
            head.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
        }
        head.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(Methods::GetAndPost.allow()));
        head.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
        head.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
}
