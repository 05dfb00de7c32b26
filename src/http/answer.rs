//! Outcomes as responses.

use bytes::Bytes;
use hornbook_corpus::zoning::catalogue::Encoding;
use http_body_util::Full;
use hyper::body::Body as _;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Method, Response, StatusCode};
use serde_json::json;

use super::{Reply, accept, headers};
use crate::accounts::pace::PaceLeft;
use crate::api::call::{Answer, Failure};
use crate::api::error::{ApiError, ErrorCode, ErrorObject};
use crate::api::reply::{Body, Format, StoredLayer};

const METHODS: &str = "GET, HEAD, OPTIONS";

/// The path and the query of a request, for links to other pages.
type Address<'a> = (&'a str, &'a [(String, String)]);

pub(super) fn answered(answer: Answer, asked: &HeaderMap, is_metered: bool, address: Address<'_>) -> Reply {
    let Answer { reply, receipt, version } = answer;
    let (body, encoding) = match reply.body {
        Body::Bytes(bytes) => (bytes, Encoding::Identity),
        Body::Stored(layer) => {
            let encoding = accept::encoding(asked);
            (Bytes::from_owner(EncodedLayer { layer, encoding }), encoding)
        }
    };
    let mut response = respond(StatusCode::OK, content_type(reply.format), body);
    let head = response.headers_mut();
    if let Some(name) = content_encoding(encoding) {
        headers::set(head, "content-encoding", name);
    }
    if let Some(receipt) = &receipt {
        headers::paid(head, receipt);
    }
    if let Some(version) = version {
        tag(head, &version, encoding);
    }
    headers::timing(head, &reply.stages);
    if let Some(pages) = reply.pages {
        headers::paging(head, pages, address.0, address.1);
    }
    let cache = if is_metered { "private, no-cache" } else { "public, max-age=300" };
    headers::set(head, "cache-control", cache);
    vary(head);
    response
}

/// Mapped bytes, sent from where they lie.
struct EncodedLayer {
    layer: StoredLayer,
    encoding: Encoding,
}

impl AsRef<[u8]> for EncodedLayer {
    fn as_ref(&self) -> &[u8] {
        self.layer.bytes(self.encoding)
    }
}

fn content_encoding(encoding: Encoding) -> Option<&'static str> {
    match encoding {
        Encoding::Identity => None,
        Encoding::Zstd => Some("zstd"),
        Encoding::Gzip => Some("gzip"),
    }
}

fn content_type(format: Format) -> &'static str {
    match format {
        Format::Json => "application/json",
        Format::Markdown => "text/markdown; charset=utf-8",
        Format::Text => "text/plain; charset=utf-8",
    }
}

/// A strong tag where the bytes are those of the version, a weak one where they are packed.
fn tag(head: &mut HeaderMap, version: &str, encoding: Encoding) {
    let weak = if encoding == Encoding::Identity { "" } else { "W/" };
    headers::set(head, "etag", &format!("{weak}\"{version}\""));
}

fn vary(head: &mut HeaderMap) {
    head.append("vary", HeaderValue::from_static("Authorization, Accept, Accept-Encoding"));
}

pub(super) fn unchanged(version: &str, left: Option<PaceLeft>) -> Reply {
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    let head = response.headers_mut();
    tag(head, version, Encoding::Identity);
    headers::set(head, "cache-control", "private, no-cache");
    vary(head);
    if let Some(left) = left {
        headers::pace(head, &left);
    }
    response
}

pub(super) fn failed(failure: &Failure, id: &str, upgrade_url: Option<&str>) -> Reply {
    let Failure { error, left } = failure;
    let object = ErrorObject {
        error: error.code.code(),
        message: &error.message,
        upgrade_url: upgrade_url.filter(|_| error.code == ErrorCode::InsufficientCredits),
        retry_after_sec: error.retry_after_sec,
        details: &error.details,
        request_id: (error.code == ErrorCode::Internal).then_some(id),
    };
    let body = serde_json::to_vec(&object).unwrap_or_default();
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = respond(status, content_type(Format::Json), body.into());
    let head = response.headers_mut();
    headers::set(head, "cache-control", "no-store");
    if let Some(seconds) = error.retry_after_sec {
        headers::set(head, "retry-after", &seconds.to_string());
    }
    if let Some(left) = left {
        headers::pace(head, left);
    }
    match error.code {
        ErrorCode::InvalidApiKey => headers::set(head, "www-authenticate", "Bearer realm=\"hornbook\""),
        ErrorCode::MethodNotAllowed => headers::set(head, "allow", METHODS),
        _ => {}
    }
    response
}

pub(super) fn method_not_allowed(method: &Method, id: &str) -> Reply {
    let message = format!("{method} is not known here; the service is read-only, use GET");
    failed(&ApiError::new(ErrorCode::MethodNotAllowed, message).into(), id, None)
}

pub(super) fn options() -> Reply {
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    headers::set(response.headers_mut(), "allow", METHODS);
    response
}

pub(super) fn document(body: Bytes) -> Reply {
    let mut response = respond(StatusCode::OK, content_type(Format::Json), body);
    headers::set(response.headers_mut(), "cache-control", "public, max-age=300");
    response
}

pub(super) fn probe(status: StatusCode, word: &str) -> Reply {
    let mut response = respond(status, content_type(Format::Json), json!({ "status": word }).to_string().into());
    headers::set(response.headers_mut(), "cache-control", "no-store");
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers::set(response.headers_mut(), "retry-after", "2");
    }
    response
}

/// HEAD tells how long the body would be.
pub(super) fn drop_body(response: &mut Reply) {
    let length = response.body().size_hint().exact().unwrap_or(0);
    if response.status() != StatusCode::NOT_MODIFIED && response.status() != StatusCode::NO_CONTENT {
        headers::set(response.headers_mut(), "content-length", &length.to_string());
    }
    *response.body_mut() = Full::new(Bytes::new());
}

fn respond(status: StatusCode, content_type: &'static str, body: Bytes) -> Reply {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    headers::set(response.headers_mut(), "content-type", content_type);
    headers::set(response.headers_mut(), "x-content-type-options", "nosniff");
    response
}
