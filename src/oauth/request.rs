//! What a client asks of a person (RFC 6749 §4.1.1), and how the answer returns to the client.
//!
//! A request of an unknown client, or with an address that it did not register, is answered to the person alone.

use hornbook_accounts::changes::{AgentLimits, AllowedAgent, NewGrant};
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::key::{KeyDigest, LinkToken};
use hornbook_accounts::scope::ScopeSet;

use super::client::{ClientIds, RegisteredClient, digest_of};
use super::error::{OAuthError, OAuthErrorCode};
use super::parameters::{OAuthParameters, invalid};
use super::paths::RESOURCE_PATH;
use super::pkce::Challenge;
use super::redirect::RedirectUri;

const STATE_CHARS_MAX: usize = 1_024;

/// A request that a person may answer.
pub struct AuthorizationRequest {
    client: RegisteredClient,
    client_digest: KeyDigest,
    challenge: Challenge,
    /// The scopes that the client asks for.
    pub scopes: ScopeSet,
    pub back: ReturnAddress,
}

/// Why a person is not asked.
pub enum RequestError {
    /// Only the person sees the error, because the sender of the request is unknown.
    Untrusted(&'static str),
    /// The client gets the error too, if the person follows the link back.
    Refused { why: String, back: Box<ReturnAddress>, error: &'static str },
}

/// Where the answer goes.
pub struct ReturnAddress {
    redirect: RedirectUri,
    /// How the client calls itself.
    pub name: String,
    state: Option<String>,
    issuer: String,
}

impl ReturnAddress {
    /// Host or kind of program, for the person.
    pub fn shown(&self) -> String {
        self.redirect.shown()
    }

    pub fn with_code(&self, code: &LinkToken) -> String {
        self.with("code", &code.reveal())
    }

    pub fn with_denial(&self) -> String {
        self.with_error(OAuthErrorCode::AccessDenied.name())
    }

    pub fn with_error(&self, error: &str) -> String {
        self.with("error", error)
    }

    fn with(&self, name: &str, value: &str) -> String {
        let mut parameters = vec![(name, value)];
        parameters.extend(self.state.as_deref().map(|state| ("state", state)));
        parameters.push(("iss", &self.issuer));
        self.redirect.with(&parameters)
    }
}

impl AuthorizationRequest {
    pub(super) fn read(
        parameters: &[(String, String)],
        clients: &ClientIds,
        issuer: &str,
    ) -> Result<Self, RequestError> {
        let parameters = OAuthParameters::new(parameters);
        let (client, client_digest, redirect) = sender(parameters, clients)?;
        let state = parameters.one("state");
        let back = ReturnAddress {
            redirect,
            name: client.name.clone(),
            state: state.as_ref().ok().copied().flatten().map(str::to_owned),
            issuer: issuer.to_owned(),
        };
        match state.and_then(|state| asked(parameters, state, issuer)) {
            Ok((challenge, scopes)) => Ok(Self { client, client_digest, challenge, scopes, back }),
            Err(OAuthError { code, description, .. }) => {
                let (why, back) = (description.into_owned(), Box::new(back));
                Err(RequestError::Refused { why, back, error: code.name() })
            }
        }
    }

    /// How the client calls itself. Nobody checked it.
    pub fn client_name(&self) -> &str {
        &self.client.name
    }

    /// What the person allows, for a code, and where the code is sent.
    pub fn allowed(self, account: AccountId, limits: AgentLimits) -> (ReturnAddress, AllowedAgent) {
        let Self { client, client_digest, challenge, back, .. } = self;
        let returns_to = back.shown();
        let grant = NewGrant { account, name: client.name, returns_to, client: client_digest, limits };
        let redirect = back.redirect.as_str().to_owned();
        (back, AllowedAgent { grant, redirect, challenge: challenge.into_text() })
    }
}

fn sender(
    parameters: OAuthParameters<'_>,
    clients: &ClientIds,
) -> Result<(RegisteredClient, KeyDigest, RedirectUri), RequestError> {
    let once = |name| parameters.one(name).ok().flatten();
    let id = once("client_id").ok_or(RequestError::Untrusted("the address names no client, or several"))?;
    let client = clients.read(id).ok_or(RequestError::Untrusted(
        "this service does not know the program; remove the connection in the program and add it again",
    ))?;
    let redirect = once("redirect_uri").and_then(|uri| client.redirect(uri)).ok_or(RequestError::Untrusted(
        "the program asks to send the answer to an address that it did not register; nothing was sent",
    ))?;
    Ok((client, digest_of(id), redirect))
}

fn asked(
    parameters: OAuthParameters<'_>,
    state: Option<&str>,
    base_url: &str,
) -> Result<(Challenge, ScopeSet), OAuthError> {
    if state.is_some_and(|state| state.len() > STATE_CHARS_MAX) {
        return Err(invalid("state is longer than 1,024 characters"));
    }
    if parameters.required("response_type")? != "code" {
        return Err(OAuthError::new(OAuthErrorCode::UnsupportedResponseType, "response_type must be code"));
    }
    // Without a method, a client would use the challenge as it is (RFC 7636 §4.3).
    if parameters.one("code_challenge_method")? != Some("S256") {
        return Err(invalid("code_challenge_method must be S256"));
    }
    let challenge = Challenge::parse(parameters.required("code_challenge")?)
        .ok_or_else(|| invalid("code_challenge must be the base64url of a SHA-256"))?;
    check_resource(parameters, base_url)?;
    Ok((challenge, scopes(parameters.one("scope")?)?))
}

/// Only `/api/mcp` is offered (RFC 8707).
pub(super) fn check_resource(parameters: OAuthParameters<'_>, base_url: &str) -> Result<(), OAuthError> {
    let Some(resource) = parameters.one("resource")? else { return Ok(()) };
    let path = resource.strip_prefix(base_url).map(|path| path.strip_suffix('/').unwrap_or(path));
    if path == Some(RESOURCE_PATH) {
        return Ok(());
    }
    Err(OAuthError::new(OAuthErrorCode::InvalidTarget, format!("resource must be {base_url}{RESOURCE_PATH}")))
}

/// The known scopes of a list with spaces; all if there is no list. Clients also ask for scopes of other protocols,
/// such as `offline_access`.
pub(super) fn scopes(asked: Option<&str>) -> Result<ScopeSet, OAuthError> {
    let Some(asked) = asked else { return Ok(ScopeSet::ALL) };
    let known: Vec<&str> = ScopeSet::ALL.names().filter(|name| asked.split(' ').any(|asked| asked == *name)).collect();
    known.join(",").parse().map_err(|_| {
        let offered = ScopeSet::ALL.names().collect::<Vec<_>>().join(" ");
        OAuthError::new(OAuthErrorCode::InvalidScope, format!("none of the scopes is offered; they are {offered}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://law.example";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn read(change: &[(&str, &str)]) -> Result<AuthorizationRequest, RequestError> {
        let clients = ClientIds::new(&[1; 32]);
        let body = br#"{"client_name": "A", "redirect_uris": ["https://a.example/cb", "http://127.0.0.1/cb"]}"#;
        let id = clients.id_of(&RegisteredClient::register(body).unwrap());
        let mut parameters: Vec<(String, String)> = [
            ("client_id", id.as_str()),
            ("redirect_uri", "https://a.example/cb"),
            ("response_type", "code"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", "a state&"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        for (name, value) in change {
            match name.strip_prefix('+') {
                Some(name) => parameters.push((name.to_owned(), (*value).to_owned())),
                None => {
                    parameters.retain(|(known, _)| known != name);
                    parameters.push(((*name).to_owned(), (*value).to_owned()));
                }
            }
        }
        AuthorizationRequest::read(&parameters, &clients, BASE)
    }

    #[test]
    fn a_request_is_read_and_its_answer_returns_to_the_client() {
        let Ok(request) = read(&[("scope", "node openid search"), ("resource", "https://law.example/api/mcp/")]) else {
            panic!("refused")
        };
        assert_eq!((request.client_name(), request.scopes.to_string()), ("A", "search,node".to_owned()));
        assert_eq!(request.back.shown(), "a.example");
        let denied = "https://a.example/cb?error=access_denied&state=a%20state%26&iss=https%3A%2F%2Flaw.example";
        assert_eq!(request.back.with_denial(), denied);
        let Ok(all) = read(&[("state", ""), ("redirect_uri", "http://127.0.0.1:5/cb")]) else { panic!("refused") };
        assert_eq!(all.scopes, ScopeSet::ALL);
        assert_eq!(all.back.with_error("x"), "http://127.0.0.1:5/cb?error=x&iss=https%3A%2F%2Flaw.example");
    }

    #[test]
    fn nothing_returns_to_an_address_that_is_not_registered() {
        for change in [
            ("client_id", ""),
            ("client_id", "made.up"),
            ("+client_id", "another"),
            ("redirect_uri", ""),
            ("redirect_uri", "https://evil.example/cb"),
            ("redirect_uri", "https://a.example/cb/../x"),
            ("redirect_uri", "http://127.0.0.1:5/other"),
            ("+redirect_uri", "https://a.example/cb"),
        ] {
            assert!(matches!(read(&[change]), Err(RequestError::Untrusted(_))), "{change:?}");
        }
    }

    #[test]
    fn every_other_error_has_a_code_for_the_client() {
        let long = "a".repeat(STATE_CHARS_MAX + 1);
        for (change, expected) in [
            (("response_type", "token"), "unsupported_response_type"),
            (("response_type", ""), "invalid_request"),
            (("+response_type", "code"), "invalid_request"),
            (("code_challenge", ""), "invalid_request"),
            (("code_challenge", "plain-text"), "invalid_request"),
            (("code_challenge_method", "plain"), "invalid_request"),
            (("code_challenge_method", ""), "invalid_request"),
            (("+code_challenge", CHALLENGE), "invalid_request"),
            (("+state", "again"), "invalid_request"),
            (("state", &long), "invalid_request"),
            (("scope", "openid"), "invalid_scope"),
            (("resource", "https://law.example/api/v1"), "invalid_target"),
            (("resource", "https://evil.example/api/mcp"), "invalid_target"),
            (("resource", "https://law.example/api/mcp//"), "invalid_target"),
        ] {
            let Err(RequestError::Refused { error, .. }) = read(&[change]) else { panic!("{change:?}") };
            assert_eq!(error, expected, "{change:?}");
        }
    }
}
