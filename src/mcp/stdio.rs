//! The transport over standard input and output, for clients that start the server themselves: one
//! message per line.
//!
//! Requests are answered at the same time, and each answer is sent when it is ready.
//! `notifications/cancelled` ends a request in progress, which then gets no answer. The answers come from
//! this process ([`Local`]) or from another server ([`Forward`](super::Forward)).

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::forward::Forward;
use super::headers::{McpTransport, version_of};
use super::jsonrpc::{
    self, INVALID_REQUEST, Incoming, Message, Notification, PARSE_ERROR, RejectedMessage, RpcError, RpcRequest,
};
use super::methods::agreed;
use super::server::{Mcp, RequestSender};
use super::tools::ToolNameStyle;
use super::version::ProtocolVersion;
use crate::api::call::Progress;
use crate::api::json::JSON_BYTES_MAX;

/// Maximum number of requests that are answered at the same time. Others wait.
const CONCURRENT_REQUESTS_MAX: usize = 64;

/// Maximum number of answers that wait for the client to read them.
const UNREAD_MAX: usize = 256;

/// What answers requests.
#[derive(Clone)]
pub enum Backend {
    Local(Local),
    Forward(Arc<Forward>),
}

/// This process.
#[derive(Clone)]
pub struct Local {
    pub mcp: Arc<Mcp>,
    /// A key of a local account whose calls cost no money.
    pub key: String,
    pub names: ToolNameStyle,
}

/// A line of input.
enum InputLine {
    Message(Vec<u8>),
    TooLong,
}

/// Answers requests until the input ends, then finishes those in progress.
pub async fn serve(
    backend: Backend,
    input: impl BufRead + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> std::io::Result<()> {
    let (read, mut lines) = mpsc::channel(CONCURRENT_REQUESTS_MAX);
    // Reading blocks. The thread ends with the input or with the process.
    let reader = std::thread::spawn(move || read_lines(input, &read));
    let (answer, mut answers) = mpsc::channel::<String>(UNREAD_MAX);
    let writer = tokio::task::spawn_blocking(move || -> std::io::Result<()> {
        while let Some(line) = answers.blocking_recv() {
            output.write_all(line.as_bytes())?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
        Ok(())
    });
    let desk = Arc::new(StdioServer {
        backend,
        agreed: Mutex::new(ProtocolVersion::NEWEST_WITH_HANDSHAKE),
        under_way: Mutex::default(),
        permits: Arc::new(Semaphore::new(CONCURRENT_REQUESTS_MAX)),
    });
    while let Some(line) = lines.recv().await {
        if answer.is_closed() {
            break;
        }
        Arc::clone(&desk).take(line, &answer).await;
    }
    drop(answer);
    let written = writer.await;
    if reader.is_finished() {
        // The thread returns nothing. A panic in it was reported when it happened.
        let _ = reader.join();
    }
    written.unwrap_or_else(|error| Err(std::io::Error::other(error)))
}

/// Sends each line, without its end. A line that is too long is skipped up to its end.
fn read_lines(mut input: impl BufRead, lines: &mpsc::Sender<InputLine>) {
    loop {
        let mut line = Vec::new();
        let mut is_too_long = false;
        let is_end = loop {
            let Ok(buffered) = input.fill_buf() else { return };
            if buffered.is_empty() {
                break true;
            }
            let end = memchr::memchr(b'\n', buffered);
            let taken = &buffered[..end.unwrap_or(buffered.len())];
            is_too_long |= line.len() + taken.len() > JSON_BYTES_MAX;
            if !is_too_long {
                line.extend_from_slice(taken);
            }
            let used = taken.len() + usize::from(end.is_some());
            input.consume(used);
            if end.is_some() {
                break false;
            }
        };
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        let line = if is_too_long { InputLine::TooLong } else { InputLine::Message(line) };
        if (is_too_long || !is_blank) && lines.blocking_send(line).is_err() {
            return;
        }
        if is_end {
            return;
        }
    }
}

struct StdioServer {
    backend: Backend,
    /// The version that `initialize` agreed on.
    agreed: Mutex<ProtocolVersion>,
    /// The requests in progress, by their id as JSON.
    under_way: Mutex<HashMap<String, AbortHandle>>,
    permits: Arc<Semaphore>,
}

impl StdioServer {
    async fn take(self: Arc<Self>, line: InputLine, answer: &mpsc::Sender<String>) {
        let bytes = match line {
            InputLine::Message(bytes) => bytes,
            InputLine::TooLong => {
                let message = format!("a message must have at most {JSON_BYTES_MAX} bytes");
                return send(answer, RpcError::new(PARSE_ERROR, message).response(None)).await;
            }
        };
        match jsonrpc::read(&bytes) {
            Err(RejectedMessage { id, error }) => send(answer, error.response(id.as_ref())).await,
            Ok(Incoming::Several(_)) => {
                let error = RpcError::new(INVALID_REQUEST, "send one message a line, not a list");
                send(answer, error.response(None)).await;
            }
            Ok(Incoming::One(Message::Response)) => {}
            Ok(Incoming::One(Message::Notification(notification))) => self.notified(&notification),
            Ok(Incoming::One(Message::Request(request))) => self.start(request, bytes, answer.clone()).await,
        }
    }

    fn notified(&self, Notification { method, params }: &Notification) {
        if method == "notifications/cancelled"
            && let Some(id) = params.get("requestId")
            && let Some(request) = self.under_way().remove(&id.to_string())
        {
            request.abort();
        }
    }

    async fn start(self: Arc<Self>, request: RpcRequest, line: Vec<u8>, answer: mpsc::Sender<String>) {
        if request.method == "initialize"
            && let Some(asked) = request.params.get("protocolVersion").and_then(Value::as_str)
        {
            *self.agreed.lock().unwrap_or_else(PoisonError::into_inner) = agreed(asked);
        }
        let Ok(turn) = Arc::clone(&self.permits).acquire_owned().await else { return };
        let id = request.id.to_string();
        let desk = Arc::clone(&self);
        // Locked until the request is in the map, so that the request cannot finish before that.
        let mut under_way = self.under_way();
        let known = id.clone();
        let task = tokio::spawn(async move {
            let _turn = turn;
            if let Some(response) = desk.answer(&request, &line).await {
                send(&answer, response).await;
            }
            desk.under_way().remove(&known);
        });
        under_way.insert(id, task.abort_handle());
    }

    async fn answer(&self, request: &RpcRequest, line: &[u8]) -> Option<String> {
        let agreed = *self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.backend {
            Backend::Local(local) => Some(local.answer(request, agreed).await),
            Backend::Forward(forward) => forward.answer(request, line, agreed).await,
        }
    }

    fn under_way(&self) -> std::sync::MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Local {
    async fn answer(&self, request: &RpcRequest, agreed: ProtocolVersion) -> String {
        let progress = Progress::default();
        let sender = RequestSender {
            key: Some(&self.key),
            idempotency_key: &Ok(None),
            pin: &Ok(None),
            names: self.names,
            request_id: "stdio",
            progress: &progress,
            is_listed: false,
        };
        let result = match version_of(request, McpTransport::Stdio(agreed)) {
            Ok(version) => self.mcp.answer(request, version, sender).await.result,
            Err(error) => Err(error),
        };
        match result {
            Ok(result) => jsonrpc::response(&request.id, &result),
            Err(error) => error.response(Some(&request.id)),
        }
    }
}

async fn send(answer: &mpsc::Sender<String>, response: String) {
    // A client that has stopped reading needs no answer.
    let _ = answer.send(response).await;
}
