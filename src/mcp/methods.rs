//! The methods of the protocol: answers a request of any version, over any transport.

use serde_json::{Value, json};

use super::jsonrpc::{METHOD_NOT_FOUND, RpcError, RpcRequest};
use super::results::{Answered, ResultCaching, ResultContext, ResultWriter, of_tool, server_info};
use super::server::{Mcp, RequestSender};
use super::text_parts::{self, CharWindow};
use super::tools::{self, ToolNameStyle};
use super::version::ProtocolVersion;
use super::{arguments, completion, instructions, names, prompts, resources};
use crate::api::error::shortened;
use crate::api::json::JsonObject;
use crate::api::operation::Operation;
use crate::api::reply::Format;

impl Mcp {
    /// Answers a request of this version.
    pub(super) async fn answer(
        &self,
        request: &RpcRequest,
        version: ProtocolVersion,
        sender: RequestSender<'_>,
    ) -> Answered {
        let params = &request.params;
        let method = request.method.as_str();
        if let Some(result) = self.extras.answer.and_then(|answer| answer(method, params)) {
            return result.map(|members| whole(&members, version)).into();
        }
        let is_stateless = version.is_stateless();
        match method {
            "tools/call" => self.call_tool(params, version, sender).await,
            "resources/read" => resources::read(self, params, version, sender).await,
            "tools/list" => paged(params).map(|()| self.tools(version, sender.names)).into(),
            "resources/list" => {
                paged(params).map(|()| list(version, "resources", resources::all(), &self.extras.resources)).into()
            }
            "resources/templates/list" => {
                let templates = resources::templates();
                paged(params).map(|()| list(version, "resourceTemplates", templates, &self.extras.templates)).into()
            }
            "prompts/list" => {
                paged(params).map(|()| list(version, "prompts", prompts::all(), &self.extras.prompts)).into()
            }
            "prompts/get" => prompts::get(params, version).into(),
            "completion/complete" => completion::complete(&self.service.corpus(), params, version).into(),
            "server/discover" if is_stateless => Ok(discovered(version, &instructions::of(&self.service))).into(),
            "initialize" if !is_stateless => initialized(params, &instructions::of(&self.service)).into(),
            "ping" if !is_stateless => Ok("{}".to_owned()).into(),
            _ => Err(no_such_method(method, version)).into(),
        }
    }

    fn tools(&self, version: ProtocolVersion, names: ToolNameStyle) -> String {
        let place = match names {
            ToolNameStyle::Dotted => &self.dotted,
            ToolNameStyle::Snake => &self.snake,
        };
        let tools = place.get_or_init(|| tools::list(names, &self.extras.tools));
        let mut result = ResultWriter::new(version);
        result.member("tools", tools);
        result.keep(ResultCaching::List);
        result.end()
    }

    async fn call_tool(&self, params: &JsonObject, version: ProtocolVersion, sender: RequestSender<'_>) -> Answered {
        let (operation, mut given) = match named_tool(params) {
            Ok(found) => found,
            Err(error) => return Err(error).into(),
        };
        let mut faults = Vec::new();
        let view = tools::view(operation, &mut given, &mut faults);
        let window = match tools::is_sliced(operation) {
            true => text_parts::window(&mut given, &mut faults),
            false => CharWindow::default(),
        };
        let corpus = self.service.pinned_or_served(sender.pin);
        names::replace(&corpus, self.service.base_url(), operation, &mut given, &mut faults);
        let arguments = arguments::of(operation, given, faults);
        let (outcome, corpus) = self.call(operation, arguments, Format::Json, params, sender).await;
        let checkout_url = self.service.checkout_url();
        let context = ResultContext { version, request_id: sender.request_id, checkout_url: &checkout_url };
        of_tool(operation, outcome, (window, view), &context).with_snapshot(&corpus)
    }
}

fn named_tool(params: &JsonObject) -> Result<(&'static Operation, JsonObject), RpcError> {
    let name = params.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| RpcError::invalid_params("params.name is the name of a tool"))?;
    let operation = tools::find(name)
        .ok_or_else(|| RpcError::invalid_params(format!("unknown tool: {}; tools/list has all", shortened(name))))?;
    match params.get("arguments") {
        None | Some(Value::Null) => Ok((operation, JsonObject::new())),
        Some(Value::Object(arguments)) => Ok((operation, arguments.clone())),
        Some(_) => Err(RpcError::invalid_params("params.arguments is an object")),
    }
}

/// Refuses cursors, because every list is one page.
fn paged(params: &JsonObject) -> Result<(), RpcError> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(RpcError::invalid_params("this list has only one page; send no cursor")),
    }
}

fn list(version: ProtocolVersion, name: &str, mut entries: Vec<Value>, extra: &[Value]) -> String {
    entries.extend_from_slice(extra);
    let mut result = ResultWriter::new(version);
    result.value(name, &entries);
    result.keep(ResultCaching::List);
    result.end()
}

/// A result that consists of existing members.
fn whole(members: &JsonObject, version: ProtocolVersion) -> String {
    let mut result = ResultWriter::new(version);
    for (name, value) in members {
        result.value(name, value);
    }
    result.end()
}

fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} })
}

fn discovered(version: ProtocolVersion, instructions: &str) -> String {
    let mut result = ResultWriter::new(version);
    result.value("supportedVersions", &ProtocolVersion::names());
    result.value("capabilities", &capabilities());
    result.value("instructions", &instructions);
    result.keep(ResultCaching::List);
    result.end()
}

/// The handshake of the older versions. The server keeps no state about it.
fn initialized(params: &JsonObject, instructions: &str) -> Result<String, RpcError> {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let asked = asked
        .ok_or_else(|| RpcError::invalid_params("params.protocolVersion is the version that the client speaks"))?;
    let version = agreed(asked);
    let mut result = ResultWriter::new(version);
    result.value("protocolVersion", &version.as_str());
    result.value("capabilities", &capabilities());
    result.value("serverInfo", &server_info());
    result.value("instructions", &instructions);
    Ok(result.end())
}

/// The version for a client that begins with a handshake.
pub(super) fn agreed(asked: &str) -> ProtocolVersion {
    let known = ProtocolVersion::parse(asked).filter(|version| !version.is_stateless());
    known.unwrap_or(ProtocolVersion::NEWEST_WITH_HANDSHAKE)
}

fn no_such_method(method: &str, version: ProtocolVersion) -> RpcError {
    let message = format!("there is no method {}", shortened(method));
    let status = if version.is_stateless() { 404 } else { 200 };
    RpcError { status, ..RpcError::new(METHOD_NOT_FOUND, message) }
}
