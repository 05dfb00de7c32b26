//! The token endpoint (RFC 6749 §3.2) and the end of a grant (RFC 7009).

use std::sync::Arc;

use hornbook_accounts::actor::Actor;
use hornbook_accounts::changes::{ActContext, AllowedAgent, IssuedGrant};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::grant::RefreshToken;
use hornbook_accounts::key::LinkToken;
use hornbook_base::clock::UnixMillis;
use serde_json::{Value, json};

use super::client::digest_of;
use super::error::{OAuthError, OAuthErrorCode};
use super::parameters::OAuthParameters;
use super::pkce::Challenge;
use super::request::{check_resource, scopes};
use super::sign_in::SignIn;

/// The actor in the audit log, where no person acted.
const AGENT: &str = "agent";

/// Answers the token endpoint.
pub(super) async fn exchange(sign_in: &Arc<SignIn>, fields: OAuthParameters<'_>) -> Result<Value, OAuthError> {
    let grant_type = fields.required("grant_type")?;
    let client_id = fields.required("client_id")?;
    if sign_in.clients.read(client_id).is_none() {
        return Err(OAuthError::new(
            OAuthErrorCode::InvalidClient,
            "this service did not issue the client_id; register",
        ));
    }
    check_resource(fields, sign_in.service.base_url())?;
    scopes(fields.one("scope")?)?;
    match grant_type {
        "authorization_code" => by_code(sign_in, fields, client_id).await,
        "refresh_token" => by_refresh(sign_in, fields, client_id).await,
        _ => {
            let message = "grant_type must be authorization_code or refresh_token";
            Err(OAuthError::new(OAuthErrorCode::UnsupportedGrantType, message))
        }
    }
}

async fn by_code(sign_in: &Arc<SignIn>, fields: OAuthParameters<'_>, client_id: &str) -> Result<Value, OAuthError> {
    // Read before the code is used up, so that a form with a mistake does not cost the person another click.
    let (code, verifier) = (fields.required("code")?, fields.required("code_verifier")?);
    let redirect = fields.one("redirect_uri")?;
    let code = LinkToken::parse(code).ok_or_else(bad_code)?;
    let (client, verifier) = (digest_of(client_id), verifier.to_owned());
    let redirect = redirect.map(str::to_owned);
    let is_proven = move |allowed: &AllowedAgent| {
        // OAuth 2.1 leaves the address out of this request.
        let is_same_address = redirect.is_none_or(|redirect| redirect == allowed.redirect);
        let is_of_verifier = Challenge::parse(&allowed.challenge).is_some_and(|challenge| challenge.is_of(&verifier));
        allowed.grant.client.matches(&client) && is_same_address && is_of_verifier
    };
    let now = sign_in.service.now().wall;
    let issued = sign_in.change(move |accounts| accounts.redeem_code(&code, is_proven, now, &mut SystemEntropy));
    refused_as_bad_grant(issued.await?)?.map(|issued| tokens(&issued, now)).ok_or_else(bad_code)
}

async fn by_refresh(sign_in: &SignIn, fields: OAuthParameters<'_>, client_id: &str) -> Result<Value, OAuthError> {
    let bad = || OAuthError::new(OAuthErrorCode::InvalidGrant, "the refresh token does not work; ask the person again");
    let token = RefreshToken::parse(fields.required("refresh_token")?).ok_or_else(bad)?;
    let (client, at) = (digest_of(client_id), sign_in.service.now().wall);
    let act = ActContext { actor: Actor::program(AGENT), at };
    let issued =
        sign_in.change(move |accounts| accounts.refresh_grant(&token, client, &act, &mut SystemEntropy)).await?;
    refused_as_bad_grant(issued)?.map(|issued| tokens(&issued, at)).ok_or_else(bad)
}

/// Ends the grant of a token. A token that is unknown or has ended is no error.
pub(super) async fn revoke(sign_in: &SignIn, fields: OAuthParameters<'_>) -> Result<(), OAuthError> {
    let token = fields.required("token")?.to_owned();
    let act = ActContext { actor: Actor::program(AGENT), at: sign_in.service.now().wall };
    let ended = sign_in.change(move |accounts| accounts.revoke_grant(&token, &act)).await?;
    ended.map(drop).map_err(|error| OAuthError::unavailable(error.to_string()))
}

/// The same error for every reason, so that nobody learns which part of a stolen code was right.
fn bad_code() -> OAuthError {
    let message = "the code does not work: it was used, is older than a minute, or belongs to another client, address \
                   or code_verifier";
    OAuthError::new(OAuthErrorCode::InvalidGrant, message)
}

fn refused_as_bad_grant<T>(result: Result<T, ChangeError>) -> Result<T, OAuthError> {
    result.map_err(|error| match error {
        ChangeError::Refused(why) => OAuthError::new(OAuthErrorCode::InvalidGrant, why),
        error => OAuthError::unavailable(error.to_string()),
    })
}

fn tokens(issued: &IssuedGrant, now: UnixMillis) -> Value {
    let IssuedGrant { record, access, refresh } = issued;
    let access_ends_at = record.grant.as_ref().map(|grant| grant.access_ends_at);
    let ends_at = [access_ends_at, record.expires_at].into_iter().flatten().min().unwrap_or(now);
    json!({
        "access_token": access.reveal(),
        "token_type": "Bearer",
        "expires_in": ends_at.0.saturating_sub(now.0).max(0) / 1000,
        "refresh_token": refresh.reveal(),
        "scope": record.scopes.names().collect::<Vec<_>>().join(" "),
    })
}
