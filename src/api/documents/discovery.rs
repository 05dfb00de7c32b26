//! The discovery document, which a client reads first to learn about the service. It is rendered from the
//! operations table.

use hornbook_accounts::scope::Scope;
use serde_json::{Value, json};

use super::{ApiDocument, DocumentContext};
use crate::api::openapi::OPENAPI_VERSION;
use crate::api::operation::{API_VERSION, CHECKOUT_PATH, CostUnit, Operation, Route};
use crate::api::operations::OPERATIONS;
use crate::api::parameters::{Location, Need, Parameter};
use crate::api::subject::DOCS_PATH;

/// Endpoints, parameters, scopes and costs.
pub(super) fn document(setting: &DocumentContext<'_>) -> Value {
    let base = setting.base_url;
    let at = |document: ApiDocument| format!("{base}{}", document.paths()[0]);
    json!({
        "name": "Hornbook",
        "description": "US federal and state law as uniform, citable records.",
        "version": API_VERSION,
        "baseUrl": base,
        "openapi": at(ApiDocument::OpenApi),
        "openapiVersion": OPENAPI_VERSION,
        "authentication": {
            "scheme": "bearer",
            "header": "Authorization: Bearer <API_KEY>",
            "scopes": Scope::ALL.map(Scope::name),
        },
        "docs": format!("{base}{DOCS_PATH}"),
        "upgradeUrl": format!("{base}{CHECKOUT_PATH}"),
        "snapshot": setting.snapshot,
        "endpoints": OPERATIONS.iter().filter_map(endpoint).collect::<Vec<_>>(),
    })
}

fn endpoint(operation: &Operation) -> Option<Value> {
    let Route { method, path, .. } = operation.route?;
    let (scopes, credits, per): (Vec<&str>, u32, CostUnit) = match operation.metering() {
        None => (Vec::new(), 0, CostUnit::Call),
        Some(metering) => (metering.any_of.names().collect(), metering.cost.credits, metering.cost.per),
    };
    Some(json!({
        "name": operation.name,
        "method": method.as_str(),
        "path": path,
        "summary": operation.summary,
        "scopesAnyOf": scopes,
        "cost": credits,
        "costPer": per.as_str(),
        "tool": operation.tool.map(|tool| tool.name),
        "parameters": operation.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "errorStatuses": statuses(operation),
    }))
}

fn parameter(parameter: &Parameter) -> Value {
    let default = if let Need::Default(default) = parameter.need { Some(default) } else { None };
    json!({
        "name": parameter.name,
        "in": if parameter.location == Location::Path { "path" } else { "query" },
        "required": parameter.need == Need::Required,
        "default": default,
        "rule": parameter.kind.rule(),
        "meaning": parameter.meaning,
    })
}

fn statuses(operation: &Operation) -> Vec<u16> {
    let mut statuses: Vec<u16> = operation.all_errors().iter().map(|error| error.status()).collect();
    statuses.dedup();
    statuses
}
