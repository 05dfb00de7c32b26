//! Completion of arguments: short codes of jurisdictions, and names of code bodies.

use serde_json::{Value, json};

use super::jsonrpc::RpcError;
use super::prompts;
use super::results::ResultWriter;
use super::version::ProtocolVersion;
use crate::api::corpus::Corpus;
use crate::api::json::JsonObject;

/// The maximum that the protocol allows.
const VALUES_MAX: usize = 100;

pub(super) fn complete(corpus: &Corpus, params: &JsonObject, version: ProtocolVersion) -> Result<String, RpcError> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let reference = params.get("ref").unwrap_or(&Value::Null);
    let argument = params.get("argument").unwrap_or(&Value::Null);
    let (Some(name), Some(typed)) = (text(argument.get("name")), text(argument.get("value"))) else {
        return Err(RpcError::invalid_params("params.argument has a name and a value, which are text"));
    };
    let all = match reference["type"].as_str() {
        Some("ref/prompt") => {
            let prompt = reference["name"].as_str().unwrap_or_default();
            if !prompts::is_known(prompt) {
                return Err(RpcError::invalid_params("params.ref names no prompt of this server"));
            }
            if prompts::has_argument(prompt, &name) { values(corpus, &name, &typed) } else { Vec::new() }
        }
        Some("ref/resource") if reference["uri"].is_string() => values(corpus, &name, &typed),
        _ => {
            return Err(RpcError::invalid_params(
                "params.ref is a ref/prompt with a name or a ref/resource with a uri",
            ));
        }
    };
    let total = all.len();
    let values: Vec<String> = all.into_iter().take(VALUES_MAX).collect();
    let mut result = ResultWriter::new(version);
    result.value("completion", &json!({ "values": values, "total": total, "hasMore": total > VALUES_MAX }));
    Ok(result.end())
}

fn values(corpus: &Corpus, argument: &str, typed: &str) -> Vec<String> {
    let catalogue = corpus.catalogue();
    let typed = typed.to_lowercase();
    match argument {
        "jurisdiction" => catalogue
            .jurisdictions
            .iter()
            .filter(|jurisdiction| {
                let code = jurisdiction.short_code.to_string().to_lowercase();
                code.starts_with(&typed) || jurisdiction.name.to_lowercase().starts_with(&typed)
            })
            .map(|jurisdiction| jurisdiction.short_code.to_string())
            .collect(),
        "codeBody" => catalogue
            .code_bodies
            .iter()
            .map(|body| body.name.clone())
            .filter(|name| name.to_lowercase().contains(&typed))
            .collect(),
        _ => Vec::new(),
    }
}
