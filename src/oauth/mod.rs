//! Sign-in for agents by OAuth 2.1: a person lets an agent in on a page, and the agent gets tokens for `/api/mcp`.
//!
//! This module has the parts without pages. `metadata` lists the addresses of the endpoints (RFC 9728, RFC 8414).
//! `client` registers clients (RFC 7591) whose `redirect` addresses are checked; registrations are not stored, because
//! the id of a client is its signed registration. `request` reads what a client asks of a person; the accounts keep
//! the code that their answer becomes. `token` exchanges codes and refresh tokens (with `pkce`) and ends grants (RFC 7009).
//! `parameters` reads requests strictly, `error` has the errors of the protocol, `paths` all paths, and `endpoints` is the
//! handler.
//!
//! [`SignIn`] is what all of them share. The page for the person is `web/settings/consent`.

mod client;
mod endpoints;
mod error;
mod metadata;
mod parameters;
mod paths;
mod pkce;
mod redirect;
mod request;
mod sign_in;
mod token;

pub use endpoints::SignInEndpoints;
pub use metadata::metadata_url;
pub use paths::{AUTHORIZE_PATH, CROSS_ORIGIN_PATHS};
pub use request::{AuthorizationRequest, RequestError, ReturnAddress};
pub use sign_in::SignIn;
