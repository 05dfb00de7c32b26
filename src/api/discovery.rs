//! The discovery document: the table as a client's first look at the service.

use serde_json::{Value, json};

use super::corpus::Corpus;
use super::operations::{Access, OPERATIONS, Operation, Per};
use super::parameters::{Need, Parameter, Place};
use super::{API_VERSION, OPENAPI_VERSION, Service};
use crate::accounts::scope::Scope;

/// Endpoints, parameters, scopes and costs.
pub fn document(service: &Service, corpus: &Corpus) -> Value {
    let base = service.base_url();
    json!({
        "name": "Hornbook",
        "description": "US federal and state law as uniform, citable records.",
        "version": API_VERSION,
        "baseUrl": base,
        "openapi": format!("{base}/api/v1/openapi.json"),
        "openapiVersion": OPENAPI_VERSION,
        "authentication": {
            "scheme": "bearer",
            "header": "Authorization: Bearer <API_KEY>",
            "scopes": Scope::ALL.map(Scope::name),
        },
        "upgradeUrl": service.checkout_url(),
        "snapshot": corpus.id(),
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

impl Per {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Node => "node found",
        }
    }
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
