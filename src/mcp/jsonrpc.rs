//! JSON-RPC 2.0 as the protocol uses it: requests, notifications and errors. It does not depend on HTTP
//! or on tools.

use serde_json::{Value, json};

use crate::api::json::{self, JsonObject};

/// Maximum number of messages in a list. The one version that has lists sets no limit.
pub(super) const BATCH_MAX: usize = 8;

pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;
/// Used by the older versions. The current version uses [`INVALID_PARAMS`] for this.
pub(super) const RESOURCE_NOT_FOUND: i32 = -32002;
pub(super) const HEADER_MISMATCH: i32 = -32020;
pub(super) const UNSUPPORTED_VERSION: i32 = -32022;

/// What a client sent.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Incoming {
    One(Message),
    /// Each message, or what is wrong with it.
    Several(Vec<Result<Message, RejectedMessage>>),
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Message {
    Request(RpcRequest),
    Notification(Notification),
    /// A response from the client. This server sends no requests, so the response is ignored.
    Response,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct RpcRequest {
    /// Text or an integer.
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: JsonObject,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Notification {
    pub(super) method: String,
    pub(super) params: JsonObject,
}

/// An invalid message.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RejectedMessage {
    /// The id of the message, if it could be read.
    pub(super) id: Option<Value>,
    pub(super) error: RpcError,
}

/// An error of the protocol, with its HTTP status.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcError {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
    pub status: u16,
}

impl RpcError {
    /// An error that is the answer to a well-formed request.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, status: 200 }
    }

    /// An error in the request itself.
    pub fn bad_request(code: i32, message: impl Into<String>) -> Self {
        Self { status: 400, ..Self::new(code, message) }
    }

    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The response to the request with this id. It has no id if none could be read.
    pub(super) fn response(&self, id: Option<&Value>) -> String {
        let Self { code, message, data, .. } = self;
        let mut error = json!({ "code": code, "message": message });
        if let Some(data) = data {
            error["data"] = data.clone();
        }
        match id {
            Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            None => json!({ "jsonrpc": "2.0", "error": error }),
        }
        .to_string()
    }
}

/// The response to the request with this id. `result` must be JSON.
pub(super) fn response(id: &Value, result: &str) -> String {
    let id = id.to_string();
    let mut out = String::with_capacity(result.len() + id.len() + 40);
    for part in [r#"{"jsonrpc":"2.0","id":"#, &id, r#","result":"#, result, "}"] {
        out.push_str(part);
    }
    out
}

/// Reads a message or a list of messages.
pub(super) fn read(bytes: &[u8]) -> Result<Incoming, RejectedMessage> {
    let value = json::read(bytes).map_err(|why| {
        let error = RpcError::bad_request(PARSE_ERROR, format!("the message is not valid JSON: {why}"));
        RejectedMessage { id: None, error }
    })?;
    match value {
        Value::Array(list) if list.is_empty() => Err(refused(None, "the list of messages is empty")),
        Value::Array(list) if list.len() > BATCH_MAX => {
            Err(refused(None, &format!("the list has more than {BATCH_MAX} messages; send fewer")))
        }
        Value::Array(list) => Ok(Incoming::Several(list.into_iter().map(message).collect())),
        value => message(value).map(Incoming::One),
    }
}

fn message(value: Value) -> Result<Message, RejectedMessage> {
    let Value::Object(mut message) = value else { return Err(refused(None, "a message is a JSON object")) };
    let id = message.remove("id");
    let known_id = id.clone().filter(is_id);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(refused(known_id, "a message has the member \"jsonrpc\" with the value \"2.0\""));
    }
    let method = match message.remove("method") {
        Some(Value::String(method)) => method,
        None if message.contains_key("result") || message.contains_key("error") => return Ok(Message::Response),
        _ => return Err(refused(known_id, "a request has the member \"method\", which is text")),
    };
    let params = match message.remove("params") {
        None => JsonObject::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            let error = RpcError::bad_request(INVALID_PARAMS, "\"params\" is an object with named members");
            return Err(RejectedMessage { id: known_id, error });
        }
    };
    match (id, known_id) {
        (None, _) => Ok(Message::Notification(Notification { method, params })),
        (Some(_), Some(id)) => Ok(Message::Request(RpcRequest { id, method, params })),
        (Some(_), None) => Err(refused(None, "the id of a request is text or a whole number")),
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

fn refused(id: Option<Value>, message: &str) -> RejectedMessage {
    RejectedMessage { id, error: RpcError::bad_request(INVALID_REQUEST, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Incoming, RejectedMessage> {
        read(text.as_bytes())
    }

    #[test]
    fn a_message_is_a_request_a_notification_or_a_response() {
        let request = read_text(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#).unwrap();
        let Incoming::One(Message::Request(RpcRequest { id, method, params })) = request else { panic!("{request:?}") };
        assert_eq!((id, method.as_str(), params["x"].as_i64()), (json!("a"), "m", Some(1)));
        let notification = read_text(r#"{"jsonrpc":"2.0","method":"m"}"#).unwrap();
        assert!(matches!(notification, Incoming::One(Message::Notification(_))));
        for response in [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{}}"#] {
            assert_eq!(read_text(response), Ok(Incoming::One(Message::Response)));
        }
    }

    #[test]
    fn what_is_wrong_has_the_code_for_it_and_the_id_if_there_is_one() {
        for (text, code, id) in [
            ("", PARSE_ERROR, None),
            ("{", PARSE_ERROR, None),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, PARSE_ERROR, None),
            ("7", INVALID_REQUEST, None),
            ("[]", INVALID_REQUEST, None),
            (r#"{"id":1,"method":"m"}"#, INVALID_REQUEST, Some(json!(1))),
            (r#"{"jsonrpc":"1.0","id":"x","method":"m"}"#, INVALID_REQUEST, Some(json!("x"))),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":3,"method":7}"#, INVALID_REQUEST, Some(json!(3))),
            (r#"{"jsonrpc":"2.0","id":3}"#, INVALID_REQUEST, Some(json!(3))),
            (r#"{"jsonrpc":"2.0","id":3,"method":"m","params":[1]}"#, INVALID_PARAMS, Some(json!(3))),
        ] {
            let refused = read_text(text).unwrap_err();
            assert_eq!((refused.error.code, refused.id, refused.error.status), (code, id, 400), "{text}");
        }
        let many = format!("[{}]", ["1"; BATCH_MAX + 1].join(","));
        assert_eq!(read_text(&many).unwrap_err().error.code, INVALID_REQUEST);
    }

    #[test]
    fn responses_repeat_the_id_and_errors_without_one_have_none() {
        assert_eq!(response(&json!("a\"b"), "{}"), r#"{"jsonrpc":"2.0","id":"a\"b","result":{}}"#);
        let error = RpcError::new(-1, "no").with_data(json!([1]));
        let written: Value = serde_json::from_str(&error.response(None)).unwrap();
        assert_eq!(written, json!({ "jsonrpc": "2.0", "error": { "code": -1, "message": "no", "data": [1] } }));
    }
}
