//! The paths of sign-in.

/// Where people are asked. The page is in `web`.
pub const AUTHORIZE_PATH: &str = "/oauth/authorize";

pub(super) const REGISTER_PATH: &str = "/oauth/register";
pub(super) const TOKEN_PATH: &str = "/oauth/token";
pub(super) const REVOKE_PATH: &str = "/oauth/revoke";

/// The path of the endpoint for agents.
pub(super) const RESOURCE_PATH: &str = "/api/mcp";

/// The document about `/api/mcp`. Clients look for it under both paths.
pub(super) const RESOURCE_METADATA_PATHS: [&str; 2] =
    ["/.well-known/oauth-protected-resource/api/mcp", "/.well-known/oauth-protected-resource"];

pub(super) const SERVER_METADATA_PATH: &str = "/.well-known/oauth-authorization-server";

/// The paths for programs. Web pages of other origins may call them if they may call `/api/mcp`.
pub const CROSS_ORIGIN_PATHS: [&str; 6] = [
    RESOURCE_METADATA_PATHS[0],
    RESOURCE_METADATA_PATHS[1],
    SERVER_METADATA_PATH,
    REGISTER_PATH,
    TOKEN_PATH,
    REVOKE_PATH,
];
