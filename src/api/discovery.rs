//! The discovery document: the table as a client's first look at the service.

use serde_json::{Value, json};

use super::documents::{Document, Setting};
use super::openapi::OPENAPI_VERSION;
use super::operation::{API_VERSION, Access, CHECKOUT_PATH, Operation};
use super::operations::OPERATIONS;
use super::parameters::{Need, Parameter, Place};
use crate::accounts::scope::Scope;

/// Endpoints, parameters, scopes and costs.
pub(super) fn document(setting: &Setting<'_>) -> Value {
    let base = setting.base_url;
    let at = |document: Document| format!("{base}{}", document.paths()[0]);
    json!({
        "name": "Hornbook",
        "description": "US federal and state law as uniform, citable records.",
        "version": API_VERSION,
        "baseUrl": base,
        "openapi": at(Document::OpenApi),
        "openapiVersion": OPENAPI_VERSION,
        "authentication": {
            "scheme": "bearer",
            "header": "Authorization: Bearer <API_KEY>",
            "scopes": Scope::ALL.map(Scope::name),
        },
        "docs": at(Document::Docs),
        "upgradeUrl": format!("{base}{CHECKOUT_PATH}"),
        "snapshot": setting.snapshot,
        "endpoints": OPERATIONS.iter().map(endpoint).collect::<Vec<_>>(),
    })
}

fn endpoint(operation: &Operation) -> Value {
    let (scopes, credits, per): (Vec<&str>, u32, &str) = match operation.access {
        Access::Open => (Vec::new(), 0, "call"),
        Access::Metered { any_of, cost } => (any_of.names().collect(), cost.credits, cost.per.as_str()),
    };
    json!({
        "name": operation.name,
        "method": "GET",
        "path": operation.path,
        "summary": operation.summary,
        "scopesAnyOf": scopes,
        "cost": credits,
        "costPer": per,
        "tool": operation.tool.map(|tool| tool.name),
        "parameters": operation.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "errorStatuses": statuses(operation),
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let default = if let Need::Default(default) = parameter.need { Some(default) } else { None };
    json!({
        "name": parameter.name,
        "in": if parameter.place == Place::Path { "path" } else { "query" },
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
