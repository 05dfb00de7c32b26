//! Turns outcomes into HTTP responses.

use std::sync::Arc;

use bytes::Bytes;
use hornbook_accounts::admission::CallPrice;
use hornbook_accounts::rate_limit::RateRemaining;
use hornbook_corpus::zoning::catalogue::StoredEncoding;
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, Method, Response, StatusCode};
use serde_json::json;

use super::accept::AcceptedCodings;
use super::coding::Coding;
use super::documents::Rendered;
use super::headers::{self, ListAddress};
use super::reply::{HttpReply, ReplyBody};
use super::request_log::ResponseLog;
use super::request_parts;
use super::response_compression::{self, ResponseCompressor};
use super::unread::{AccountShare, SharedBytes};
use crate::api::call::{Answer, Failure, is_known};
use crate::api::error::{ApiError, ErrorCode, ErrorObject, shortened};
use crate::api::headers::{ALLOW, ETAG, RETRY_AFTER, WWW_AUTHENTICATE};
use crate::api::reply::{Body, CachedBody, Format, StoredLayer};
use crate::mount::{Methods, MountResponse};

pub(super) fn answered(answer: Answer, asked: &HeaderMap, is_metered: bool, address: ListAddress<'_>) -> HttpReply {
    let Answer { reply, receipt, version, unread, .. } = answer;
    let mut response = match reply.body {
        Body::Bytes(bytes) => respond(StatusCode::OK, content_type(reply.format), bytes),
        Body::Cached(bytes) => {
            let mut response = respond(StatusCode::OK, content_type(reply.format), bytes);
            response.extensions_mut().insert(CachedBody);
            response
        }
        Body::Stored(layer) => {
            let coding = AcceptedCodings::of(asked).best(&STORED_CODINGS);
            let body = Bytes::from_owner(EncodedLayer { layer, encoding: stored_encoding(coding) });
            let mut response = respond(StatusCode::OK, content_type(reply.format), body);
            response_compression::mark_encoded(&mut response, coding);
            response.extensions_mut().insert(SharedBytes);
            response
        }
    };
    if let Some(unread) = unread {
        response.extensions_mut().insert(AccountShare(Arc::new(unread)));
    }
    let head = response.headers_mut();
    if let Some(receipt) = &receipt {
        headers::paid(head, receipt);
    }
    if let Some(version) = version {
        let is_packed = head.contains_key(CONTENT_ENCODING);
        headers::set(head, ETAG, &tag(&version, is_packed));
    }
    headers::timing(head, &reply.stages);
    if let Some(pages) = reply.pages {
        headers::paging(head, pages, address);
    }
    let cache = if is_metered { "private, no-cache" } else { "public, max-age=300" };
    set_standard(head, CACHE_CONTROL, cache);
    vary(head, VARIED_BY);
    ResponseLog::of(&mut response).stages = reply.stages;
    response
}

/// The codings in which a layer is stored in addition to uncompressed bytes, the smaller one first.
const STORED_CODINGS: [Coding; 2] = [Coding::Zstd, Coding::Gzip];

fn stored_encoding(coding: Coding) -> StoredEncoding {
    match coding {
        Coding::Zstd => StoredEncoding::Zstd,
        Coding::Gzip => StoredEncoding::Gzip,
        Coding::Identity | Coding::Brotli => StoredEncoding::Identity,
    }
}

/// Memory-mapped bytes of a layer, sent without copying them.
struct EncodedLayer {
    layer: StoredLayer,
    encoding: StoredEncoding,
}

impl AsRef<[u8]> for EncodedLayer {
    fn as_ref(&self) -> &[u8] {
        self.layer.bytes(self.encoding)
    }
}

fn content_type(format: Format) -> &'static str {
    match format {
        Format::Json => "application/json",
        Format::Markdown => "text/markdown; charset=utf-8",
        Format::Text => "text/plain; charset=utf-8",
    }
}

/// A strong tag if the bytes are exactly those of the version, a weak one if they are compressed.
pub(super) fn tag(version: &str, is_packed: bool) -> String {
    let weak = if is_packed { "W/" } else { "" };
    [weak, "\"", version, "\""].concat()
}

/// The request headers that choose the answer to a call.
const VARIED_BY: &str = "Authorization, Accept, Accept-Encoding, X-Corpus-Snapshot";

fn vary(head: &mut HeaderMap, by: &'static str) {
    head.append(VARY, HeaderValue::from_static(by));
}

/// Sets a standard HTTP header that is not in the table of API headers.
fn set_standard(head: &mut HeaderMap, name: HeaderName, value: &'static str) {
    head.insert(name, HeaderValue::from_static(value));
}

pub(super) fn unchanged(version: &str, left: Option<RateRemaining>, asked: &HeaderMap) -> HttpReply {
    let mut response = not_modified(version, asked);
    let head = response.headers_mut();
    set_standard(head, CACHE_CONTROL, "private, no-cache");
    vary(head, VARIED_BY);
    if let Some(left) = left {
        headers::pace(head, &left);
    }
    response
}

/// The tag has the form that the client holds, because a cache updates only an entry with an identical tag.
fn not_modified(version: &str, asked: &HeaderMap) -> HttpReply {
    let mut response = Response::new(ReplyBody::default());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    let weak = tag(version, true);
    let held = request_parts::header_text(asked, "if-none-match").unwrap_or_default();
    let holds_weak = held.split(',').any(|held| held.trim() == weak);
    headers::set(response.headers_mut(), ETAG, &tag(version, holds_weak));
    response
}

/// The price of a call that was not made.
pub(super) fn priced(price: &CallPrice) -> HttpReply {
    let mut response = Response::new(ReplyBody::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let head = response.headers_mut();
    headers::priced(head, price);
    set_standard(head, CACHE_CONTROL, "no-store");
    response
}

pub(super) fn failed(failure: &Failure, id: &str, upgrade_url: Option<&str>) -> HttpReply {
    let Failure { error, left } = failure;
    let object = ErrorObject {
        error: error.code.code(),
        message: &error.message,
        upgrade_url: upgrade_url.filter(|_| error.code.status() == 402),
        retry_after_sec: error.retry_after_sec,
        details: &error.details,
        request_id: (error.code == ErrorCode::Internal).then_some(id),
    };
    let body = serde_json::to_vec(&object).unwrap_or_default();
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = respond(status, content_type(Format::Json), body.into());
    let head = response.headers_mut();
    set_standard(head, CACHE_CONTROL, "no-store");
    if let Some(seconds) = error.retry_after_sec {
        headers::set_number(head, RETRY_AFTER, seconds);
    }
    if let Some(left) = left {
        headers::pace(head, left);
    }
    response.extensions_mut().insert(ErrorMessage(error.message.as_str().into()));
    let note = ResponseLog::of(&mut response);
    note.error = Some(error.code.code());
    note.internal.clone_from(&error.internal);
    let head = response.headers_mut();
    match error.code {
        ErrorCode::InvalidApiKey => headers::set_fixed(head, WWW_AUTHENTICATE, "Bearer realm=\"hornbook\""),
        ErrorCode::MethodNotAllowed => headers::set_fixed(head, ALLOW, Methods::Get.allow()),
        _ => {}
    }
    response
}

/// The message of an error, kept with the response so that a page can show it.
#[derive(Clone)]
struct ErrorMessage(Arc<str>);

/// The same error as a page, if there is one. Status and headers stay, except for the headers of the body.
pub(super) fn as_page(
    response: HttpReply,
    page: impl FnOnce(&str, StatusCode) -> Option<Response<Bytes>>,
) -> HttpReply {
    let Some(ErrorMessage(message)) = response.extensions().get().cloned() else { return response };
    let Some(page) = page(&message, response.status()) else { return response };
    let (mut head, _) = response.into_parts();
    let (of_page, body) = page.into_parts();
    head.headers.extend(of_page.headers);
    Response::from_parts(head, ReplyBody::from(body))
}

pub(super) fn method_not_allowed(method: &Method, methods: Methods, id: &str) -> HttpReply {
    let (method, allowed) = (shortened(method.as_str()), methods.allow());
    let message = format!("{method} is not allowed here; use one of {allowed}");
    let mut response = failed(&ApiError::new(ErrorCode::MethodNotAllowed, message).into(), id, None);
    headers::set_fixed(response.headers_mut(), ALLOW, allowed);
    response
}

pub(super) fn options(methods: Methods) -> HttpReply {
    let mut response = Response::new(ReplyBody::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    headers::set_fixed(response.headers_mut(), ALLOW, methods.allow());
    response
}

/// Turns the answer of a mounted handler into a response.
pub(super) fn of_mount(answer: MountResponse) -> HttpReply {
    let MountResponse { response, rest, receipt, left, unread, error, internal, stages } = answer;
    let (head, body) = response.into_parts();
    let mut response = Response::from_parts(head, ReplyBody::in_parts(body, rest));
    let head = response.headers_mut();
    set_standard(head, X_CONTENT_TYPE_OPTIONS, "nosniff");
    match (&receipt, &left) {
        (Some(receipt), _) => headers::paid(head, receipt),
        (None, Some(left)) => headers::pace(head, left),
        (None, None) => {}
    }
    headers::timing(head, &stages);
    if let Some(unread) = unread {
        response.extensions_mut().insert(AccountShare(Arc::new(unread)));
    }
    *ResponseLog::of(&mut response) = ResponseLog { stages, error, internal };
    response
}

/// A document in a coding that the client accepts, or a 304 if the client has this version already.
pub(super) async fn document(rendered: &Rendered, asked: &HeaderMap, packing: &ResponseCompressor) -> HttpReply {
    let is_held = is_known(rendered.version(), request_parts::header_text(asked, "if-none-match"));
    let mut response = match is_held {
        true => not_modified(rendered.version(), asked),
        false => {
            let coding = AcceptedCodings::of(asked).best(&Coding::PREFERRED);
            let (body, coding) = match rendered.packed(coding, packing).await {
                Some(packed) => (packed, coding),
                None => (rendered.plain(), Coding::Identity),
            };
            let mut response = respond(StatusCode::OK, rendered.document().media_type(), body);
            response_compression::mark_encoded(&mut response, coding);
            response.extensions_mut().insert(SharedBytes);
            headers::set(response.headers_mut(), ETAG, &tag(rendered.version(), coding != Coding::Identity));
            response
        }
    };
    let head = response.headers_mut();
    for (name, value) in rendered.document().headers() {
        if let Ok(value) = value.try_into() {
            head.insert(name, value);
        }
    }
    set_standard(head, CACHE_CONTROL, "public, max-age=300");
    vary(head, "Accept-Encoding");
    response
}

pub(super) fn metrics(page: String) -> HttpReply {
    let mut response = respond(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", page.into());
    set_standard(response.headers_mut(), CACHE_CONTROL, "no-store");
    response
}

pub(super) fn probe(status: StatusCode, word: &str) -> HttpReply {
    let mut response = respond(status, content_type(Format::Json), json!({ "status": word }).to_string().into());
    set_standard(response.headers_mut(), CACHE_CONTROL, "no-store");
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers::set_fixed(response.headers_mut(), RETRY_AFTER, "2");
    }
    response
}

/// A response to HEAD states how long the body would be, if that is known.
pub(super) fn drop_body(response: &mut HttpReply) {
    let has_body = response.status() != StatusCode::NOT_MODIFIED && response.status() != StatusCode::NO_CONTENT;
    if let Some(length) = response.body().length().filter(|_| has_body) {
        response.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    *response.body_mut() = ReplyBody::default();
}

/// The bytes of a final HTTP/1 response, for the cases in which hyper has no request to answer.
pub(super) fn to_http1_bytes(reply: HttpReply) -> Vec<u8> {
    let (head, body) = reply.into_parts();
    let body = body.into_bytes();
    let reason = head.status.canonical_reason().unwrap_or_default();
    let mut bytes = format!("HTTP/1.1 {} {reason}\r\nconnection: close\r\n", head.status.as_str()).into_bytes();
    if !head.headers.contains_key(CONTENT_LENGTH) {
        bytes.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
    }
    for (name, value) in head.headers.iter().filter(|(name, _)| *name != CONNECTION) {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            bytes.extend_from_slice(part);
        }
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    bytes
}

fn respond(status: StatusCode, content_type: &'static str, body: Bytes) -> HttpReply {
    let mut response = Response::new(ReplyBody::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers::new_header_map();
    set_standard(response.headers_mut(), CONTENT_TYPE, content_type);
    set_standard(response.headers_mut(), X_CONTENT_TYPE_OPTIONS, "nosniff");
    response
}
