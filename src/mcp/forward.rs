//! Forwards messages from standard input to another server. Each one is posted with the headers that its
//! protocol version requires, and with the key. If a request is dropped, its connection is closed, which
//! cancels the request on the server.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::headers::{META_VERSION, encoded, name_of};
use super::jsonrpc::{RpcError, RpcRequest};
use super::version::ProtocolVersion;
use crate::client::{ClientError, ClientResponse, Request as Post, RequestLimits, ReusedConnection, ServerAddress};

/// Maximum length of an answer. It allows long provisions, and the coverage of all jurisdictions.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Maximum number of connections that are kept open for later requests.
const IDLE_CONNECTIONS_MAX: usize = 8;

const LIMITS: RequestLimits = RequestLimits {
    connect: Duration::from_secs(10),
    total: Duration::from_secs(60),
    body_bytes_max: ANSWER_BYTES_MAX,
};

/// The code of an error for which the server gave no answer. It is outside of the reserved codes.
const NO_ANSWER: i32 = 503;

/// A server and how to reach it.
pub struct Forward {
    server: ServerAddress,
    path: String,
    key: Option<String>,
    idle: Mutex<Vec<ReusedConnection>>,
}

impl Forward {
    pub fn new(server: ServerAddress, path: String, key: Option<String>) -> Self {
        Self { server, path, key, idle: Mutex::default() }
    }

    /// The line to answer with. `None` if the server has no answer for this message.
    pub(super) async fn answer(&self, request: &RpcRequest, line: &[u8], agreed: ProtocolVersion) -> Option<String> {
        let failed = |error: RpcError| Some(error.response(Some(&request.id)));
        match self.post(request, line, agreed).await {
            Ok(answer) if answer.status == 202 => None,
            Ok(answer) => match one_line(&answer) {
                Some(line) => Some(line),
                None => failed(not_a_message(&answer)),
            },
            Err(error) => {
                let message = format!("the server {} gave no answer: {error}", self.server.address());
                failed(RpcError::new(NO_ANSWER, message))
            }
        }
    }

    async fn post(
        &self,
        request: &RpcRequest,
        line: &[u8],
        agreed: ProtocolVersion,
    ) -> Result<ClientResponse, ClientError> {
        let mut post = Post::post(self.path.clone(), "application/json", line.to_vec())
            .header("accept", "application/json, text/event-stream");
        if let Some(key) = &self.key {
            post = post.header("authorization", format!("Bearer {key}"));
        }
        let named = request.params.get("_meta").and_then(|meta| meta.get(META_VERSION)).and_then(Value::as_str);
        match named {
            Some(version) => {
                post = post.header("mcp-protocol-version", version).header("mcp-method", encoded(&request.method));
                if let Some(name) = name_of(request) {
                    post = post.header("mcp-name", encoded(name));
                }
            }
            None if request.method == "initialize" => {}
            None => post = post.header("mcp-protocol-version", agreed.as_str()),
        }
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = idle.unwrap_or_else(|| ReusedConnection::new(self.server.clone(), LIMITS));
        let answer = connection.send(post).await?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_CONNECTIONS_MAX {
            idle.push(connection);
        }
        Ok(answer)
    }
}

/// The protocol message in an answer, if there is one.
fn one_line(answer: &ClientResponse) -> Option<String> {
    let message: Value = serde_json::from_slice(&answer.body).ok()?;
    (message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")).then(|| message.to_string())
}

/// The error for an answer that is no protocol message, such as the page of a proxy.
fn not_a_message(answer: &ClientResponse) -> RpcError {
    let object: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
    let message = object["message"].as_str().map_or_else(
        || format!("the server answered with the status {} and no message of the protocol", answer.status),
        str::to_owned,
    );
    RpcError::new(i32::from(answer.status), message).with_data(json!({ "status": answer.status }))
}
