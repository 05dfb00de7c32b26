//! The endpoint over HTTP: one URL, one POST for each message, one JSON response.

use std::sync::Arc;

use ::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::{HeaderMap, Response, StatusCode};
use bytes::Bytes;
use hornbook_accounts::error::{BadKey, Refusal};
use hornbook_accounts::key::KeyDigest;
use serde_json::{Value, json};

use super::headers::{McpTransport, version_by_header, version_of};
use super::jsonrpc::{self, INVALID_REQUEST, Incoming, Message, RejectedMessage, RpcError, RpcRequest};
use super::limit::{FreeMessageLimit, RateKey};
use super::origin::AllowedOrigins;
use super::results::{Answered, CallMetadata, as_rpc_error};
use super::server::{Mcp, RequestSender};
use super::tools::ToolNameStyle;
use crate::api::call::Progress;
use crate::api::error::{ApiError, ErrorCode, ErrorObject, Violation};
use crate::api::headers::CORPUS_SNAPSHOT;
use crate::api::idempotency_key::IdempotencyKey;
use crate::mount::{
    Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy, bearer, idempotency_key, media_type,
    snapshot_pin,
};
use crate::web_origin::WebOrigin;

pub const MCP_PATH: &str = "/api/mcp";

/// The operator's settings.
#[derive(Clone, Debug, Default)]
pub struct McpSettings {
    /// The form of the names that `tools/list` shows, unless the URL asks for the other one.
    pub names: ToolNameStyle,
    /// Additional hosts under which clients may reach the server. This machine's own names and the base
    /// URL's host are always allowed.
    pub hosts: Vec<String>,
    /// Additional origins whose web pages may call the server.
    pub origins: Vec<WebOrigin>,
    /// Messages per minute that cost nothing, for each key or address. `None`: no limit.
    pub free_per_minute: Option<u32>,
    /// Where clients find out how to sign in. `None`: they need an API key.
    pub sign_in_metadata: Option<String>,
    /// No message is answered without a key or a token, not even a handshake.
    pub needs_key: bool,
}

pub struct McpMount {
    mcp: Arc<Mcp>,
    names: ToolNameStyle,
    allowed: AllowedOrigins,
    limit: Option<FreeMessageLimit>,
    challenges: Challenges,
    needs_key: bool,
}

/// The values of `WWW-Authenticate`.
struct Challenges {
    without_key: HeaderValue,
    with_bad_key: HeaderValue,
}

impl Challenges {
    fn new(metadata: Option<&str>) -> Self {
        // Without sign-in no metadata is named, because clients would look for it.
        let bearer = HeaderValue::from_static("Bearer");
        let value = |text: String| HeaderValue::try_from(text).unwrap_or_else(|_| bearer.clone());
        match metadata {
            None => Self { without_key: bearer.clone(), with_bad_key: bearer },
            Some(url) => Self {
                without_key: value(format!("Bearer resource_metadata=\"{url}\"")),
                with_bad_key: value(format!("Bearer error=\"invalid_token\", resource_metadata=\"{url}\"")),
            },
        }
    }

    /// Adds the challenge to a refusal, so that a client can sign in.
    fn add(&self, answer: &mut MountResponse, headers: &HeaderMap) {
        if answer.response.status() == StatusCode::UNAUTHORIZED {
            let has_key = headers.contains_key(AUTHORIZATION);
            let challenge = if has_key { &self.with_bad_key } else { &self.without_key };
            answer.response.headers_mut().insert(WWW_AUTHENTICATE, challenge.clone());
        }
    }
}

impl McpMount {
    pub fn new(mcp: Arc<Mcp>, settings: &McpSettings) -> Self {
        let allowed = AllowedOrigins::new(mcp.service.base_url(), &settings.hosts, &settings.origins);
        let challenges = Challenges::new(settings.sign_in_metadata.as_deref());
        let limit = settings.free_per_minute.map(FreeMessageLimit::new);
        Self { names: settings.names, allowed, limit, challenges, needs_key: settings.needs_key, mcp }
    }
}

impl Mount for McpMount {
    fn matches_path(&self, path: &str) -> bool {
        path == MCP_PATH
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::Post
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::Own
    }

    fn answer<'a>(&'a self, http_request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(async move {
            let mut answer = self.receive(&http_request).await;
            self.challenges.add(&mut answer, http_request.headers);
            answer
        })
    }
}

impl McpMount {
    async fn receive(&self, http_request: &MountRequest<'_>) -> MountResponse {
        let key = bearer(http_request.headers);
        let now = self.mcp.service.now();
        let counted = RateKey::of(self.mcp.service.accounts(), key, http_request.client, now);
        if let Err(error) = self.limit.as_ref().map_or(Ok(()), |limit| limit.take_request(counted, now)) {
            return refuse_call(None, error);
        }
        if let Err(why) = self.allowed.check(http_request.origin) {
            return refuse(None, &RpcError { status: 403, ..RpcError::new(INVALID_REQUEST, why) });
        }
        if self.needs_key && key.is_none() {
            return self.count(counted, true).map_or_else(
                |too_many| refuse_call(None, too_many),
                |()| refuse_call(None, ApiError::from(&Refusal::Key(BadKey::Missing))),
            );
        }
        let names = match names(http_request.query, self.names) {
            Ok(names) => names,
            Err(error) => return refuse(None, &error),
        };
        if let Err(error) = is_json(http_request) {
            return refuse(None, &error);
        }
        let incoming = match jsonrpc::read(http_request.body) {
            Ok(incoming) => incoming,
            Err(RejectedMessage { id, error }) => {
                return match self.count(counted, true) {
                    Ok(()) => refuse(id.as_ref(), &error),
                    Err(error) => refuse_call(id.as_ref(), error),
                };
            }
        };
        let (idempotency_key, pin) =
            (idempotency_key(http_request.headers), snapshot_pin(http_request.headers, std::iter::empty()));
        let progress = http_request.progress;
        let sender = RequestSender {
            key,
            idempotency_key: &idempotency_key,
            pin: &pin,
            names,
            request_id: http_request.id,
            progress,
            is_listed: false,
        };
        match incoming {
            Incoming::One(message) => self.one(http_request, message, sender, counted).await,
            Incoming::Several(messages) => self.several(http_request, messages, sender, counted).await,
        }
    }

    async fn one(
        &self,
        http_request: &MountRequest<'_>,
        message: Message,
        sender: RequestSender<'_>,
        counted: RateKey,
    ) -> MountResponse {
        let request = match message {
            Message::Request(request) => request,
            // No notification matters over HTTP, because a client ends a call by closing its connection.
            Message::Notification(_) | Message::Response => {
                return match self.count(counted, true) {
                    Err(error) => refuse_call(None, error),
                    Ok(()) => match version_by_header(McpTransport::Http(http_request.headers)) {
                        Ok(_) => accepted(),
                        Err(error) => refuse(None, &error),
                    },
                };
            }
        };
        match self.request(http_request, &request, sender, (counted, true)).await {
            Ok(answered) => respond(&request.id, answered),
            Err(too_many) => refuse_call(Some(&request.id), too_many),
        }
    }

    /// Answers a list of messages, which only one protocol version has. Its requests are answered one
    /// after the other.
    async fn several(
        &self,
        http_request: &MountRequest<'_>,
        messages: Vec<Result<Message, RejectedMessage>>,
        sender: RequestSender<'_>,
        counted: RateKey,
    ) -> MountResponse {
        match version_by_header(McpTransport::Http(http_request.headers)) {
            Ok(version) if version.has_batches() => {}
            Ok(_) => {
                return refuse(None, &RpcError::bad_request(INVALID_REQUEST, "send one message at a time, not a list"));
            }
            Err(error) => return refuse(None, &error),
        }
        let mut responses: Vec<String> = Vec::new();
        let mut bill = CallMetadata::default();
        for (place, message) in messages.into_iter().enumerate() {
            let counted = (counted, place == 0);
            let request = match message {
                Ok(Message::Request(request)) => request,
                Ok(Message::Notification(_) | Message::Response) => {
                    if let Err(too_many) = self.count(counted.0, counted.1) {
                        return refuse_call(None, too_many);
                    }
                    continue;
                }
                Err(RejectedMessage { id, error }) => {
                    let error = self.count(counted.0, counted.1).map_or_else(RpcError::from, |()| error);
                    responses.push(error.response(id.as_ref()));
                    continue;
                }
            };
            let progress = Progress::default();
            // An idempotency key is for one call. Each call of a list gets a key made from the list's key
            // and its place in the list.
            let key = of_place(sender.idempotency_key, place);
            let key = key
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|key| IdempotencyKey::read(key.iter().map(|key| key.as_bytes())));
            let sender = RequestSender { progress: &progress, idempotency_key: &key, is_listed: true, ..sender };
            let answered = match request.method.as_str() {
                "initialize" => Err(RpcError::new(INVALID_REQUEST, "initialize cannot be part of a list")).into(),
                _ => match self.request(http_request, &request, sender, counted).await {
                    Ok(answered) => answered,
                    Err(too_many) => Err(RpcError::from(too_many)).into(),
                },
            };
            http_request.progress.include(&progress);
            responses.push(match &answered.result {
                Ok(result) => jsonrpc::response(&request.id, result),
                Err(error) => error.response(Some(&request.id)),
            });
            bill = bill.and(answered.bill);
        }
        match responses.is_empty() {
            true => accepted(),
            false => billed(json_response(200, format!("[{}]", responses.join(","))), bill),
        }
    }

    /// Answers a request, unless its sender is over the limit for messages that cost nothing.
    async fn request(
        &self,
        http_request: &MountRequest<'_>,
        request: &RpcRequest,
        sender: RequestSender<'_>,
        (counted, is_first): (RateKey, bool),
    ) -> Result<Answered, ApiError> {
        // Paid requests have the limits of their key.
        let is_metered =
            matches!(counted, RateKey::Key(_)) && matches!(request.method.as_str(), "tools/call" | "resources/read");
        if !is_metered {
            self.count(counted, is_first)?;
        }
        let answered = match version_of(request, McpTransport::Http(http_request.headers)) {
            Ok(version) => self.mcp.answer(request, version, sender).await,
            Err(error) => Err(error).into(),
        };
        if is_metered && answered.bill.receipt.is_none() && answered.bill.left.is_none() {
            self.count(counted, is_first)?;
        }
        Ok(answered)
    }

    /// Counts a message that costs nothing.
    fn count(&self, sender: RateKey, is_first: bool) -> Result<(), ApiError> {
        let Some(limit) = &self.limit else { return Ok(()) };
        limit.take_message(sender, is_first, self.mcp.service.now())
    }
}

/// The idempotency key of a call in a list, if the list has a key. It has a valid length, whatever the
/// length of the list's key.
fn of_place(
    of_list: &Result<Option<IdempotencyKey<'_>>, Violation>,
    place: usize,
) -> Result<Option<String>, Violation> {
    let of_list = of_list.clone()?;
    Ok(of_list.map(|key| format!("list {} {place}", KeyDigest::of_secret(key.as_str()).to_hex())))
}

/// Reads `?names=snake`, for clients that do not accept dots in names.
fn names(query: Option<&str>, preset: ToolNameStyle) -> Result<ToolNameStyle, RpcError> {
    match query {
        None | Some("") => Ok(preset),
        Some("names=snake") => Ok(ToolNameStyle::Snake),
        Some("names=dotted") => Ok(ToolNameStyle::Dotted),
        Some(_) => {
            let message = "the URL accepts no query except names=dotted or names=snake";
            Err(RpcError::bad_request(INVALID_REQUEST, message))
        }
    }
}

/// Requires JSON, because web pages may send other types to any server without a preflight request.
fn is_json(http_request: &MountRequest<'_>) -> Result<(), RpcError> {
    match media_type(http_request.headers).is_some_and(|given| given.eq_ignore_ascii_case("application/json")) {
        true => Ok(()),
        false => {
            let message = "send messages as Content-Type: application/json";
            Err(RpcError { status: 415, ..RpcError::new(INVALID_REQUEST, message) })
        }
    }
}

fn respond(id: &Value, Answered { result, bill }: Answered) -> MountResponse {
    let response = match &result {
        Ok(result) => json_response(200, jsonrpc::response(id, result)),
        Err(error) => json_response(error.status, error.response(Some(id))),
    };
    billed(response, bill)
}

fn billed(mut response: Response<Bytes>, bill: CallMetadata) -> MountResponse {
    let CallMetadata { receipt, left, unread, error, retry_after_sec, internal, stages, snapshots } = bill;
    // One header cannot name several snapshots; then each result does.
    if let Some(id) = snapshots.first().filter(|first| snapshots.iter().all(|id| id == *first))
        && let Ok(id) = HeaderValue::try_from(id)
    {
        response.headers_mut().insert(CORPUS_SNAPSHOT.field, id);
    }
    if let Some(seconds) = retry_after_sec {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    let error = error.map(ErrorCode::code);
    MountResponse { response, rest: None, receipt, left, unread, error, internal, stages }
}

fn refuse(id: Option<&Value>, error: &RpcError) -> MountResponse {
    MountResponse { error: Some("bad_request"), ..json_response(error.status, error.response(id)).into() }
}

fn refuse_call(id: Option<&Value>, error: ApiError) -> MountResponse {
    let ApiError { code, message, retry_after_sec, .. } = error;
    let object = ErrorObject {
        error: code.code(),
        message: &message,
        upgrade_url: None,
        retry_after_sec,
        details: &[],
        request_id: None,
    };
    let error = RpcError { status: code.status(), ..as_rpc_error(json!(object), code) };
    let bill = CallMetadata { error: Some(code), retry_after_sec, ..CallMetadata::default() };
    billed(json_response(error.status, error.response(id)), bill)
}

/// The response to messages that need no answer.
fn accepted() -> MountResponse {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::ACCEPTED;
    response.into()
}

fn json_response(status: u16, body: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let head = response.headers_mut();
    head.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
