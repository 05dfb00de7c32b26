//! The way in over HTTP: one address, one POST for each message, one JSON answer.

use std::sync::Arc;

use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::{Response, StatusCode};
use bytes::Bytes;
use serde_json::{Value, json};

use super::headers::{Carrier, version_by_header, version_of};
use super::jsonrpc::{self, INVALID_REQUEST, Incoming, Message, Refused, Request, RpcError};
use super::limit::FreeLimit;
use super::origin::Allowed;
use super::results::{Answered, Bill, as_rpc_error};
use super::server::{Mcp, Sender};
use super::tools::Names;
use crate::api::call::Progress;
use crate::api::error::{ApiError, ErrorCode, ErrorObject};
use crate::door::{Answering, Door, DoorAnswer, Limit, Methods, Visit, bearer, idempotency_key};

pub const MCP_PATH: &str = "/api/mcp";

/// What an operator chooses.
#[derive(Clone, Debug, Default)]
pub struct McpSettings {
    /// The names that `tools/list` shows unless the address says otherwise.
    pub names: Names,
    /// Hosts under which clients may reach the server beside this machine's own names and the base URL's.
    pub hosts: Vec<String>,
    /// Origins whose web pages may call it beside these.
    pub origins: Vec<String>,
    /// Messages a minute that cost nothing, for each key or address. None: no limit.
    pub free_per_minute: Option<u32>,
}

pub struct McpDoor {
    mcp: Arc<Mcp>,
    names: Names,
    allowed: Allowed,
    limit: Option<FreeLimit>,
}

impl McpDoor {
    pub fn new(mcp: Arc<Mcp>, settings: &McpSettings) -> Self {
        let allowed = Allowed::new(mcp.service.base_url(), &settings.hosts, &settings.origins);
        Self { names: settings.names, allowed, limit: settings.free_per_minute.map(FreeLimit::new), mcp }
    }
}

impl Door for McpDoor {
    fn is_at(&self, path: &str) -> bool {
        path == MCP_PATH
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::Post
    }

    fn limit(&self) -> Limit {
        Limit::Own
    }

    fn answer<'a>(&'a self, visit: Visit<'a>) -> Answering<'a> {
        Box::pin(async move { self.receive(&visit).await })
    }
}

impl McpDoor {
    async fn receive(&self, visit: &Visit<'_>) -> DoorAnswer {
        if let Err(why) = self.allowed.check(visit.headers) {
            return refuse(None, &RpcError { status: 403, ..RpcError::new(INVALID_REQUEST, why) });
        }
        let names = match names(visit.query, self.names) {
            Ok(names) => names,
            Err(error) => return refuse(None, &error),
        };
        if let Err(error) = is_json(visit) {
            return refuse(None, &error);
        }
        let key = bearer(visit.headers);
        let incoming = match jsonrpc::read(visit.body) {
            Ok(incoming) => incoming,
            Err(Refused { id, error }) => {
                return match self.count(visit, key) {
                    Ok(()) => refuse(id.as_ref(), &error),
                    Err(error) => too_fast(id.as_ref(), error),
                };
            }
        };
        let idempotency_key = idempotency_key(visit.headers);
        let progress = visit.progress;
        let sender = Sender { key, idempotency_key: &idempotency_key, names, request_id: visit.id, progress };
        match incoming {
            Incoming::One(message) => self.one(visit, message, sender).await,
            Incoming::Several(messages) => self.several(visit, messages, sender).await,
        }
    }

    async fn one(&self, visit: &Visit<'_>, message: Message, sender: Sender<'_>) -> DoorAnswer {
        let request = match message {
            Message::Request(request) => request,
            // Nothing that clients notify of matters over HTTP: they end a call by closing its connection.
            Message::Notification(_) | Message::Response => {
                return match self.count(visit, sender.key) {
                    Err(error) => too_fast(None, error),
                    Ok(()) => match version_by_header(Carrier::Http(visit.headers)) {
                        Ok(_) => accepted(),
                        Err(error) => refuse(None, &error),
                    },
                };
            }
        };
        match self.request(visit, &request, sender).await {
            Ok(answered) => respond(&request.id, answered),
            Err(too_many) => too_fast(Some(&request.id), too_many),
        }
    }

    /// A list of messages, which one version has: its requests are answered one after the other.
    async fn several(
        &self,
        visit: &Visit<'_>,
        messages: Vec<Result<Message, Refused>>,
        sender: Sender<'_>,
    ) -> DoorAnswer {
        match version_by_header(Carrier::Http(visit.headers)) {
            Ok(version) if version.has_batches() => {}
            Ok(_) => {
                return refuse(None, &RpcError::bad_request(INVALID_REQUEST, "send one message at a time, not a list"));
            }
            Err(error) => return refuse(None, &error),
        }
        let mut responses: Vec<String> = Vec::new();
        let mut bill = Bill::default();
        for message in messages {
            let request = match message {
                Ok(Message::Request(request)) => request,
                Ok(Message::Notification(_) | Message::Response) => continue,
                Err(Refused { id, error }) => {
                    responses.push(error.response(id.as_ref()));
                    continue;
                }
            };
            let progress = Progress::default();
            // One key is for one call; those of a list bring their own.
            let sender = Sender { progress: &progress, idempotency_key: &Ok(None), ..sender };
            let answered = match request.method.as_str() {
                "initialize" => Err(RpcError::new(INVALID_REQUEST, "initialize cannot be part of a list")).into(),
                _ => match self.request(visit, &request, sender).await {
                    Ok(answered) => answered,
                    Err(too_many) => Err(RpcError::from(too_many)).into(),
                },
            };
            visit.progress.include(&progress);
            responses.push(match &answered.result {
                Ok(result) => jsonrpc::response(&request.id, result),
                Err(error) => error.response(Some(&request.id)),
            });
            if answered.bill.receipt.is_some() || bill.receipt.is_none() {
                bill = answered.bill;
            }
        }
        match responses.is_empty() {
            true => accepted(),
            false => billed(json_response(200, format!("[{}]", responses.join(","))), bill),
        }
    }

    /// Answers a request, unless its sender is too fast for what costs nothing.
    async fn request(&self, visit: &Visit<'_>, request: &Request, sender: Sender<'_>) -> Result<Answered, ApiError> {
        // What is paid for has the limits of its key.
        let is_metered = sender.key.is_some() && matches!(request.method.as_str(), "tools/call" | "resources/read");
        if !is_metered {
            self.count(visit, sender.key)?;
        }
        let answered = match version_of(request, Carrier::Http(visit.headers)) {
            Ok(version) => self.mcp.answer(request, version, sender).await,
            Err(error) => Err(error).into(),
        };
        if is_metered && answered.bill.receipt.is_none() && answered.bill.left.is_none() {
            self.count(visit, None)?;
        }
        Ok(answered)
    }

    fn count(&self, visit: &Visit<'_>, key: Option<&str>) -> Result<(), ApiError> {
        let Some(limit) = &self.limit else { return Ok(()) };
        limit.take(self.mcp.service.accounts(), key, visit.client, self.mcp.service.now())
    }
}

/// `?names=snake` for clients that take no dots.
fn names(query: Option<&str>, preset: Names) -> Result<Names, RpcError> {
    match query {
        None | Some("") => Ok(preset),
        Some("names=snake") => Ok(Names::Snake),
        Some("names=dotted") => Ok(Names::Dotted),
        Some(_) => {
            let message = "the address takes no query but names=dotted or names=snake";
            Err(RpcError::bad_request(INVALID_REQUEST, message))
        }
    }
}

/// Web pages may send other types to any server without asking it first.
fn is_json(visit: &Visit<'_>) -> Result<(), RpcError> {
    let given = visit.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    match essence.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => {
            let message = "send messages as Content-Type: application/json";
            Err(RpcError { status: 415, ..RpcError::new(INVALID_REQUEST, message) })
        }
    }
}

fn respond(id: &Value, Answered { result, bill }: Answered) -> DoorAnswer {
    let response = match &result {
        Ok(result) => json_response(200, jsonrpc::response(id, result)),
        Err(error) => json_response(error.status, error.response(Some(id))),
    };
    billed(response, bill)
}

fn billed(mut response: Response<Bytes>, bill: Bill) -> DoorAnswer {
    let Bill { receipt, left, unread, error, retry_after_sec, internal, stages } = bill;
    if let Some(seconds) = retry_after_sec {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    let error = error.map(ErrorCode::code);
    DoorAnswer { response, receipt, left, unread, error, internal, stages }
}

fn refuse(id: Option<&Value>, error: &RpcError) -> DoorAnswer {
    DoorAnswer { error: Some("bad_request"), ..json_response(error.status, error.response(id)).into() }
}

fn too_fast(id: Option<&Value>, error: ApiError) -> DoorAnswer {
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
    let bill = Bill { error: Some(code), retry_after_sec, ..Bill::default() };
    billed(json_response(error.status, error.response(id)), bill)
}

/// For what needs no answer.
fn accepted() -> DoorAnswer {
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
    if status == 401 {
        // Without the address of an authorization server: there is none, and clients would look for one.
        head.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
