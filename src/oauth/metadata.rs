//! The documents by which clients find out how to sign in: about `/api/mcp` (RFC 9728), and about this service as its
//! authorization server (RFC 8414).

use hornbook_accounts::scope::ScopeSet;
use serde_json::{Value, json};

use super::paths::{AUTHORIZE_PATH, REGISTER_PATH, RESOURCE_METADATA_PATHS, RESOURCE_PATH, REVOKE_PATH, TOKEN_PATH};
use crate::api::subject::DOCS_PATH;

/// The URL that a refusal at `/api/mcp` names.
pub fn metadata_url(base_url: &str) -> String {
    format!("{base_url}{}", RESOURCE_METADATA_PATHS[0])
}

pub(super) fn resource(base_url: &str) -> Value {
    json!({
        "resource": format!("{base_url}{RESOURCE_PATH}"),
        "authorization_servers": [base_url],
        "scopes_supported": ScopeSet::ALL.names().collect::<Vec<_>>(),
        "bearer_methods_supported": ["header"],
        "resource_name": "Hornbook",
        "resource_documentation": format!("{base_url}{DOCS_PATH}/agents"),
    })
}

pub(super) fn server(base_url: &str) -> Value {
    let url = |path: &str| format!("{base_url}{path}");
    json!({
        "issuer": base_url,
        "authorization_endpoint": url(AUTHORIZE_PATH),
        "token_endpoint": url(TOKEN_PATH),
        "registration_endpoint": url(REGISTER_PATH),
        "revocation_endpoint": url(REVOKE_PATH),
        "scopes_supported": ScopeSet::ALL.names().collect::<Vec<_>>(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "service_documentation": url(&format!("{DOCS_PATH}/agents")),
    })
}
