//! The handler of the paths for programs: metadata, registration, tokens and their end.

use std::sync::Arc;

use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use ::http::{HeaderMap, Response, StatusCode};
use bytes::Bytes;
use hornbook_accounts::Accounts;
use serde_json::{Value, json};

use super::client::RegisteredClient;
use super::error::{OAuthError, OAuthErrorCode};
use super::metadata;
use super::parameters::{OAuthParameters, form};
use super::paths::{CROSS_ORIGIN_PATHS, REGISTER_PATH, REVOKE_PATH, SERVER_METADATA_PATH, TOKEN_PATH};
use super::sign_in::SignIn;
use super::token;
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};

const RETRY_SEC: u32 = 5;

pub struct SignInEndpoints {
    sign_in: Arc<SignIn>,
}

impl SignInEndpoints {
    pub fn new(sign_in: Arc<SignIn>) -> Self {
        Self { sign_in }
    }

    async fn answered(&self, request: &MountRequest<'_>) -> Result<Response<Bytes>, OAuthError> {
        let base_url = self.sign_in.service.base_url();
        match request.path {
            SERVER_METADATA_PATH => Ok(cached(&metadata::server(base_url))),
            REGISTER_PATH => RegisteredClient::register(request.body).map(|client| self.registered(&client)),
            TOKEN_PATH => {
                let fields = form(request.headers, request.body)?;
                let tokens = token::exchange(&self.sign_in, OAuthParameters::new(&fields)).await?;
                Ok(not_stored(200, &tokens))
            }
            REVOKE_PATH => {
                let fields = form(request.headers, request.body)?;
                token::revoke(&self.sign_in, OAuthParameters::new(&fields)).await?;
                Ok(not_stored(200, &json!({})))
            }
            _ => Ok(cached(&metadata::resource(base_url))),
        }
    }

    fn registered(&self, client: &RegisteredClient) -> Response<Bytes> {
        let redirects: Vec<&str> = client.redirects.iter().map(|uri| uri.as_str()).collect();
        let registered = json!({
            "client_id": self.sign_in.clients.id_of(client),
            "client_id_issued_at": self.sign_in.service.now().wall.0 / 1000,
            "client_name": client.name,
            "redirect_uris": redirects,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        });
        not_stored(201, &registered)
    }
}

/// The metadata changes only with the settings.
fn cached(document: &Value) -> Response<Bytes> {
    json_response(200, document, "public, max-age=3600")
}

fn not_stored(status: u16, body: &Value) -> Response<Bytes> {
    json_response(status, body, "no-store")
}

fn json_response(status: u16, body: &Value, cache: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    response
}

fn refused(error: OAuthError) -> MountResponse {
    let body = json!({ "error": error.code.name(), "error_description": error.description });
    let mut response = not_stored(error.code.status(), &body);
    let is_busy = error.code == OAuthErrorCode::TemporarilyUnavailable;
    if is_busy {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_SEC));
    }
    let code = if is_busy { "overloaded" } else { "bad_request" };
    MountResponse { error: Some(code), internal: error.internal, ..response.into() }
}

impl Mount for SignInEndpoints {
    fn matches_path(&self, path: &str) -> bool {
        CROSS_ORIGIN_PATHS.contains(&path)
    }

    fn methods(&self, path: &str) -> Methods {
        match path {
            REGISTER_PATH | TOKEN_PATH | REVOKE_PATH => Methods::Post,
            _ => Methods::Get,
        }
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn needs_newest(&self, _headers: &HeaderMap, _accounts: &Accounts) -> bool {
        true
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(async move { self.answered(&request).await.map_or_else(refused, MountResponse::from) })
    }
}
