//! Resources: a guide and the prices, which are free, and coverage and provisions, which cost as much as
//! their operations.

use serde_json::{Value, json};

use super::jsonrpc::{INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError};
use super::results::{
    Answered, ResultCaching, ResultContext, ResultWriter, as_rpc_error, into_parts, refused, unexpected,
};
use super::server::{Mcp, RequestSender};
use super::text_parts::{CharWindow, cut_text};
use super::texts::NODE_URI;
use super::version::ProtocolVersion;
use crate::api::as_of::AS_OF_NAME;
use crate::api::call::{Failure, Outcome};
use crate::api::corpus::Corpus;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::json::JsonObject;
use crate::api::operation::Operation;
use crate::api::operations::OPERATIONS;
use crate::api::page_links::node_at;
use crate::api::parameters::Arguments;
use crate::api::reply::Format;

const GUIDE: &str = include_str!("guide.md");
const GUIDE_URI: &str = "hornbook://guide";

/// Before the address of a page.
const ADDRESS_URI: &str = "law://";

/// A resource whose content is the answer of an operation without arguments.
struct DocumentResource {
    uri: &'static str,
    name: &'static str,
    description: &'static str,
    operation: &'static str,
}

const DOCUMENTS: [DocumentResource; 2] = [
    DocumentResource {
        uri: "hornbook://pricing",
        name: "pricing",
        description: "The packs of credits and how to buy one. Free.",
        operation: "checkout",
    },
    DocumentResource {
        uri: "hornbook://coverage",
        name: "coverage",
        description: "All jurisdictions with the number of provisions of each. Costs what law.list_coverage costs.",
        operation: "coverage",
    },
];

/// All resources. The guide is the first, because it is free.
pub(super) fn all() -> Vec<Value> {
    let guide = json!({
        "uri": GUIDE_URI, "name": "guide", "title": "Guide", "mimeType": "text/markdown",
        "description": "How to use these tools well. Free.",
    });
    let documents = DOCUMENTS.iter().map(|DocumentResource { uri, name, description, .. }| {
        json!({ "uri": uri, "name": name, "description": description, "mimeType": "application/json" })
    });
    std::iter::once(guide).chain(documents).collect()
}

pub(super) fn templates() -> Vec<Value> {
    let provision = |uri: String, name: &str, title: &str, by: &str| {
        json!({
            "uriTemplate": uri,
            "name": name,
            "title": title,
            "description": format!(
                "One provision or container as Markdown, by {by}; long ones in parts. Costs what law.get_node costs."
            ),
            "mimeType": "text/markdown",
        })
    };
    vec![
        provision(format!("{NODE_URI}{{id}}{{?offset,asOf}}"), "provision", "Provision", "the id of a search result"),
        provision(
            format!("{ADDRESS_URI}{{+address}}{{?offset,asOf}}"),
            "law",
            "Law by its address",
            "the address of its page, such as us/usc/t17/s107",
        ),
    ]
}

/// What a URI names.
enum ResourceKind {
    Guide,
    Document(&'static Operation),
    Node(NodeResource),
}

/// A provision or container, on a day.
struct NodeResource {
    id: String,
    as_of: Option<String>,
    window: CharWindow,
}

pub(super) async fn read(
    mcp: &Mcp,
    params: &JsonObject,
    version: ProtocolVersion,
    sender: RequestSender<'_>,
) -> Answered {
    let Some(uri) = params.get("uri").and_then(Value::as_str) else {
        return Err(RpcError::invalid_params("params.uri must be the URI of a resource")).into();
    };
    let (operation, arguments, format, window) = match named(uri, &mcp.service.pinned_or_served(sender.pin)) {
        None => return Err(not_found(uri, version, "there is no such resource")).into(),
        Some(ResourceKind::Guide) => {
            return Ok(contents(uri, Format::Markdown, GUIDE, ResultCaching::Public, version)).into();
        }
        Some(ResourceKind::Document(operation)) => (operation, Arguments::default(), Format::Json, None),
        Some(ResourceKind::Node(NodeResource { id, as_of, window })) => {
            let Some(operation) = operation("node") else {
                return Err(not_found(uri, version, "the operation is missing")).into();
            };
            let path = operation.parameters.iter().filter(|parameter| parameter.name == "id");
            let path = path.map(|parameter| (parameter.name, id.clone())).collect();
            let query: Vec<_> = as_of.map(|day| (AS_OF_NAME.to_owned(), day)).into_iter().collect();
            let arguments = Arguments { path, query_count: query.len(), query, ..Arguments::default() };
            (operation, arguments, Format::Markdown, Some(window))
        }
    };
    let keep = if operation.metering().is_some() { ResultCaching::Private } else { ResultCaching::Public };
    let (outcome, corpus) = mcp.call(operation, arguments, format, params, sender).await;
    let failure: Failure = match outcome {
        Outcome::Answered(answer) => {
            let (bytes, bill) = into_parts(answer);
            let text = String::from_utf8_lossy(&bytes);
            let text = window.map_or_else(|| text.to_string(), |window| part(uri, &text, window));
            let result = Ok(contents(uri, format, &text, keep, version));
            return Answered { result, bill }.with_snapshot(&corpus);
        }
        Outcome::Failed(failure) => failure,
        Outcome::Unchanged { .. } | Outcome::Priced(_) => unexpected().into(),
    };
    let checkout_url = mcp.service.checkout_url();
    let context = ResultContext { version, request_id: sender.request_id, checkout_url: &checkout_url };
    let code = failure.error.code;
    let (object, bill) = refused(failure, &context);
    let error = match code {
        ErrorCode::NotFound => not_found(uri, version, object["message"].as_str().unwrap_or_default()),
        code => as_rpc_error(object, code),
    };
    Answered { result: Err(error), bill }
}

fn named(uri: &str, corpus: &Corpus) -> Option<ResourceKind> {
    if uri == GUIDE_URI {
        return Some(ResourceKind::Guide);
    }
    if let Some(document) = DOCUMENTS.iter().find(|document| document.uri == uri) {
        return operation(document.operation).map(ResourceKind::Document);
    }
    let (of_node, query) = uri.split_once('?').unwrap_or((uri, ""));
    let id = match of_node.strip_prefix(ADDRESS_URI) {
        Some(address) => corpus.node_id(node_at(corpus.snapshot(), address)?).ok()?.to_string(),
        None => of_node.strip_prefix(NODE_URI)?.to_owned(),
    };
    let mut node = NodeResource { id, as_of: None, window: CharWindow::default() };
    for (name, value) in
        query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=')).collect::<Option<Vec<_>>>()?
    {
        match name {
            "offset" => node.window.offset = value.parse().ok()?,
            AS_OF_NAME => node.as_of = Some(value.to_owned()),
            _ => return None,
        }
    }
    Some(ResourceKind::Node(node))
}

fn operation(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

/// A part of a text, with the URI of the next part.
fn part(uri: &str, text: &str, window: CharWindow) -> String {
    let (mut shown, part) = cut_text(text, window);
    if let Some(next) = part.next_offset {
        let (base, query) = uri.split_once('?').unwrap_or((uri, ""));
        let day = query.split('&').find(|pair| pair.starts_with(AS_OF_NAME)).map(|day| format!("&{day}"));
        let (offset, total, day) = (part.offset, part.total_chars, day.unwrap_or_default());
        shown +=
            &format!("\n\n[Characters {offset} to {next} of {total}. Read {base}?offset={next}{day} for the next.]\n");
    }
    shown
}

fn contents(uri: &str, format: Format, text: &str, keep: ResultCaching, version: ProtocolVersion) -> String {
    let mut result = ResultWriter::new(version);
    result.value("contents", &[json!({ "uri": uri, "mimeType": format.media_type(), "text": text })]);
    result.keep(keep);
    result.end()
}

fn not_found(uri: &str, version: ProtocolVersion, message: &str) -> RpcError {
    let code = if version.is_stateless() { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
    RpcError::new(code, format!("resource not found: {message}")).with_data(json!({ "uri": uri }))
}

impl From<ApiError> for RpcError {
    /// For an error that comes from no operation. It has the message and the status of the Error object.
    fn from(error: ApiError) -> Self {
        let status = error.code.status();
        Self { status, ..Self::new(i32::from(status), error.message) }
    }
}
