//! Turns the outcome of a call into a result of the protocol.

use hornbook_accounts::admission::{CallPrice, MeteringReceipt};
use hornbook_accounts::balance::Remaining;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::rate_limit::RateRemaining;
use serde::Serialize;
use serde_json::{Value, json};

use super::jsonrpc::RpcError;
use super::text_parts::{self, CharWindow, TextPart};
use super::texts;
use super::tools::{self, ResultView};
use super::version::ProtocolVersion;
use crate::api::call::{Answer, Failure, Outcome};
use crate::api::corpus::Corpus;
use crate::api::error::{ApiError, ErrorCode, ErrorObject};
use crate::api::json::JsonObject;
use crate::api::model_text::ModelText;
use crate::api::operation::Operation;
use crate::api::reply::{Body, Reply};
use crate::api::unread::UnreadReservation;

/// The member of a result's `_meta` that names the server.
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// How long a client may cache a list, in milliseconds. Lists change only with the program.
const LIST_TTL_MS: u32 = 3_600_000;

/// How long a client may cache a resource, in milliseconds. Resources change with the snapshot.
const READ_TTL_MS: u32 = 300_000;

/// The beginning of all paths of REST.
const API_PATH: &str = "/api/v1/";

/// How the server introduces itself.
pub(super) fn server_info() -> Value {
    json!({ "name": "hornbook", "title": "Hornbook", "version": env!("CARGO_PKG_VERSION") })
}

/// The answer to a request.
pub(super) struct Answered {
    /// The result as JSON.
    pub(super) result: Result<String, RpcError>,
    pub(super) bill: CallMetadata,
}

/// What the HTTP headers, the log and the metrics report about a call, in addition to its result.
#[derive(Default)]
pub(super) struct CallMetadata {
    pub(super) receipt: Option<MeteringReceipt>,
    pub(super) left: Option<RateRemaining>,
    pub(super) unread: Option<UnreadReservation>,
    pub(super) error: Option<ErrorCode>,
    pub(super) retry_after_sec: Option<u64>,
    pub(super) internal: Option<String>,
    pub(super) stages: Vec<(&'static str, u32)>,
    /// The snapshot that answered, for each call.
    pub(super) snapshots: Vec<String>,
}

impl CallMetadata {
    /// The bill for two calls that are answered together.
    pub(super) fn and(self, later: Self) -> Self {
        let receipt = match (self.receipt, later.receipt) {
            (Some(earlier), Some(later)) => Some(earlier.and(&later)),
            (earlier, later) => later.or(earlier),
        };
        Self {
            receipt,
            left: later.left.or(self.left),
            unread: later.unread.or(self.unread),
            error: self.error.or(later.error),
            retry_after_sec: self.retry_after_sec.max(later.retry_after_sec),
            internal: self.internal.or(later.internal),
            snapshots: [self.snapshots, later.snapshots].concat(),
            stages: if later.stages.is_empty() { self.stages } else { later.stages },
        }
    }
}

impl Answered {
    pub(super) fn with_snapshot(mut self, corpus: &Corpus) -> Self {
        self.bill.snapshots.push(corpus.id().to_owned());
        self
    }
}

impl From<Result<String, RpcError>> for Answered {
    fn from(result: Result<String, RpcError>) -> Self {
        Self { result, bill: CallMetadata::default() }
    }
}

/// Writes a result member by member, so that existing JSON is not parsed again.
pub(super) struct ResultWriter {
    out: String,
    version: ProtocolVersion,
}

/// Who may cache a result, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ResultCaching {
    List,
    /// The same for every caller.
    Public,
    /// Paid for by one caller.
    Private,
}

impl ResultWriter {
    pub(super) fn new(version: ProtocolVersion) -> Self {
        let mut writer = Self { out: "{".to_owned(), version };
        if version.is_stateless() {
            writer.member("resultType", "\"complete\"");
            writer.value("_meta", &json!({ META_SERVER: server_info() }));
        }
        writer
    }

    /// Adds a member whose value is JSON already.
    pub(super) fn member(&mut self, name: &str, json: &str) {
        let comma = if self.out.len() > 1 { "," } else { "" };
        for part in [comma, "\"", name, "\":", json] {
            self.out.push_str(part);
        }
    }

    pub(super) fn value(&mut self, name: &str, value: &impl Serialize) {
        // All maps in these values have text as keys, so writing them cannot fail.
        let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.member(name, &json);
    }

    /// States how long the result may be cached, and by whom. Older versions do not have this.
    pub(super) fn keep(&mut self, keep: ResultCaching) {
        if self.version.is_stateless() {
            let (ttl_ms, scope) = match keep {
                ResultCaching::List => (LIST_TTL_MS, "public"),
                ResultCaching::Public => (READ_TTL_MS, "public"),
                ResultCaching::Private => (READ_TTL_MS, "private"),
            };
            self.value("ttlMs", &ttl_ms);
            self.value("cacheScope", &scope);
        }
    }

    pub(super) fn end(mut self) -> String {
        self.out.push('}');
        self.out
    }
}

/// Data for a result that is not in the outcome of the call.
pub(super) struct ResultContext<'c> {
    pub(super) version: ProtocolVersion,
    /// The id of the HTTP request.
    pub(super) request_id: &'c str,
    pub(super) checkout_url: &'c str,
}

/// The result of a tool call.
pub(super) fn of_tool(
    operation: &Operation,
    outcome: Outcome,
    wanted: (CharWindow, ResultView),
    context: &ResultContext<'_>,
) -> Answered {
    match outcome {
        Outcome::Answered(answer) => {
            let (body, bill) = into_parts(answer);
            match written(operation, &body, wanted, context.version) {
                Ok(result) => Answered { result: Ok(result), bill },
                Err(error) => {
                    Answered { bill: CallMetadata { unread: bill.unread, ..bill }, ..failed(error.into(), context) }
                }
            }
        }
        Outcome::Failed(failure) => failed(failure, context),
        Outcome::Priced(price) => priced(&price, context.version),
        // Tool calls list no known versions, so this is an error.
        Outcome::Unchanged { left, .. } => {
            Answered { bill: CallMetadata { left, ..CallMetadata::default() }, ..failed(unexpected().into(), context) }
        }
    }
}

/// The price of a call that was not made. Its schema is an alternative in that of every tool.
fn priced(price: &CallPrice, version: ProtocolVersion) -> Answered {
    let CallPrice { left, remaining: Remaining { wallet, allotment }, cost, .. } = price;
    let text = format!(
        "This call would cost {}; it was not made, and nothing was charged. Left: {wallet} credits and {allotment} free units of this month.",
        Credits::in_words(cost.0)
    );
    let object = json!({ "dryRun": true, "credits": cost.0, "balance": wallet, "freeUnitsLeft": allotment });
    let mut result = ResultWriter::new(version);
    result.value("content", &[json!({ "type": "text", "text": text })]);
    result.value("structuredContent", &object);
    result.member("isError", "false");
    let bill = CallMetadata { left: Some(*left), ..CallMetadata::default() };
    Answered { result: Ok(result.end()), bill }
}

/// The bytes of an answer, and its bill.
pub(super) fn into_parts(answer: Answer) -> (Vec<u8>, CallMetadata) {
    let Answer { reply: Reply { body, stages, .. }, receipt, unread, .. } = answer;
    let bytes = match body {
        Body::Bytes(bytes) | Body::Cached(bytes) => Vec::from(bytes),
        Body::Stored(layer) => layer.bytes(hornbook_corpus::zoning::catalogue::StoredEncoding::Identity).to_vec(),
    };
    (bytes, CallMetadata { receipt, unread, stages, ..CallMetadata::default() })
}

pub(super) fn unexpected() -> ApiError {
    ApiError::internal("a call was answered as unchanged or with its price, which was not asked")
}

fn written(
    operation: &Operation,
    body: &[u8],
    (window, view): (CharWindow, ResultView),
    version: ProtocolVersion,
) -> Result<String, ApiError> {
    let not_json = |why: String| ApiError::internal(format!("the answer of {} is not JSON: {why}", operation.name));
    let body = str::from_utf8(body).map_err(|error| not_json(error.to_string()))?;
    let cut = bounded(operation, body, window).map_err(|error| not_json(error.to_string()))?;
    let (body, part) = cut.as_ref().map_or((body, None), |(cut, part)| (cut.as_str(), *part));
    let ModelText { text, links } = match view {
        ResultView::Json => texts::where_the_json_is(),
        ResultView::Text | ResultView::Both => {
            texts::of_answer(operation, body, part).map_err(|error| not_json(error.to_string()))?
        }
    };
    let mut content = vec![json!({ "type": "text", "text": text })];
    if version.has_links() && view == ResultView::Both {
        content.extend(links.iter().map(texts::resource_link));
    }
    let mut result = ResultWriter::new(version);
    result.value("content", &content);
    if view != ResultView::Text {
        result.member("structuredContent", body);
    }
    result.member("isError", "false");
    Ok(result.end())
}

/// The answer with its long texts cut into parts, and the part that a node was cut to. `None` if everything
/// is short.
fn bounded(
    operation: &Operation,
    body: &str,
    window: CharWindow,
) -> serde_json::Result<Option<(String, Option<TextPart>)>> {
    // A text has at most as many characters as the body has bytes.
    if window.offset == 0 && body.len() <= window.max_chars {
        return Ok(None);
    }
    let has_nodes = operation.name == "gis-at";
    if !tools::is_sliced(operation) && !has_nodes {
        return Ok(None);
    }
    let mut node: JsonObject = serde_json::from_str(body)?;
    let (is_cut, part) = if has_nodes {
        (text_parts::cut_each(node.get_mut("provisions")), None)
    } else {
        let part = text_parts::cut(&mut node, window);
        (part.is_some(), part)
    };
    Ok(is_cut.then(|| (Value::Object(node).to_string(), part)))
}

/// The answer to a failed call. It is a result if a model can act on it. An invalid key is a protocol
/// error, for the client.
fn failed(failure: Failure, context: &ResultContext<'_>) -> Answered {
    let (object, bill) = refused(failure, context);
    if bill.error == Some(ErrorCode::InvalidApiKey) {
        return Answered { result: Err(unauthorized(object)), bill };
    }
    let mut result = ResultWriter::new(context.version);
    result.value("content", &[json!({ "type": "text", "text": text_of_error(&object) })]);
    result.value("structuredContent", &object);
    result.member("isError", "true");
    Answered { result: Ok(result.end()), bill }
}

/// The message, with the URL where credits can be bought, and every detail that the message does not have: many
/// clients show models the text alone.
fn text_of_error(object: &Value) -> String {
    let message = object["message"].as_str().unwrap_or_default();
    let details = object["details"].as_array().into_iter().flatten();
    let rest = details.filter_map(|detail| detail["message"].as_str()).filter(|detail| !message.contains(detail));
    let rest: String = rest.map(|detail| format!("\n- {detail}")).collect();
    match object["upgradeUrl"].as_str() {
        Some(url) => format!("{message} ({url}){rest}"),
        None => format!("{message}{rest}"),
    }
}

/// The Error object, and its bill.
pub(super) fn refused(failure: Failure, context: &ResultContext<'_>) -> (Value, CallMetadata) {
    let Failure { error, left } = failure;
    let ApiError { code, message, mut details, retry_after_sec, internal } = error;
    let message = in_tools(message);
    for detail in &mut details {
        detail.message = in_tools(std::mem::take(&mut detail.message));
    }
    let object = ErrorObject {
        error: code.code(),
        message: &message,
        upgrade_url: (code.status() == 402).then_some(context.checkout_url),
        retry_after_sec,
        details: &details,
        request_id: (code == ErrorCode::Internal).then_some(context.request_id),
    };
    let left = left.map(|left| *left);
    (json!(object), CallMetadata { left, error: Some(code), retry_after_sec, internal, ..CallMetadata::default() })
}

/// A message with the names of tools in place of the paths of REST.
fn in_tools(mut message: String) -> String {
    if message.contains(API_PATH) {
        for (operation, tool) in tools::all() {
            // Paths with parameters are written nowhere in messages.
            if let Some(route) = operation.route.filter(|route| !route.path.contains('{')) {
                message = message.replace(route.path, tool.name);
            }
        }
    }
    message
}

/// A failure as a protocol error, for cases in which a result cannot contain it. Its code is the HTTP
/// status that REST uses.
pub(super) fn as_rpc_error(object: Value, code: ErrorCode) -> RpcError {
    if code == ErrorCode::InvalidApiKey {
        return unauthorized(object);
    }
    let message = object["message"].as_str().unwrap_or_default().to_owned();
    RpcError::new(i32::from(code.status()), message).with_data(object)
}

fn unauthorized(object: Value) -> RpcError {
    let message = object["message"].as_str().unwrap_or_default().to_owned();
    RpcError { status: 401, ..RpcError::new(401, message) }.with_data(object)
}
