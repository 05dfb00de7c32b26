//! Cookies of browsers, and protection against forged forms (CSRF).
//!
//! A form is accepted if the browser states that it comes from this origin
//! ([`RequestOrigin::is_of`](crate::web_origin::RequestOrigin::is_of)), and if it contains the token that belongs to the cookie. Both cookies have the
//! prefix `__Host-`, so no other host, path or unencrypted connection can set them.

use ::http::header::{COOKIE, HeaderValue, SET_COOKIE};
use ::http::{HeaderMap, Response};
use bytes::Bytes;
use hornbook_accounts::Accounts;
use hornbook_accounts::key::{KeyDigest, LinkToken};

/// The cookie with a person's session.
const SESSION: &str = "__Host-hornbook-session";

/// The cookie that ties a form to a browser without a session.
const FORM: &str = "__Host-hornbook-form";

pub(super) struct BrowserCookies {
    pub(super) session: Option<LinkToken>,
    form: Option<LinkToken>,
}

impl BrowserCookies {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self { session: cookie(headers, SESSION), form: cookie(headers, FORM) }
    }

    /// Whether the browser has a session that this server has not heard of.
    pub(super) fn is_unknown_to(&self, accounts: &Accounts) -> bool {
        self.session.as_ref().is_some_and(|session| !accounts.knows_session(session))
    }

    /// The token that forms of this browser must contain. It is derived from the session cookie or
    /// the form cookie.
    pub(super) fn form_token(&self) -> Option<String> {
        self.session.as_ref().or(self.form.as_ref()).map(form_token)
    }

    pub(super) fn accepts(&self, token: &str) -> bool {
        let matches = |expected: String| KeyDigest::of_secret(&expected).matches(&KeyDigest::of_secret(token));
        self.form_token().is_some_and(matches)
    }
}

/// The token for a cookie. It is a hash, so it does not reveal the cookie.
pub(super) fn form_token(cookie: &LinkToken) -> String {
    KeyDigest::of_secret(&format!("hornbook form {}", cookie.reveal())).to_hex()
}

/// Returns None if the cookie occurs twice: a duplicate name indicates an attack.
fn cookie(headers: &HeaderMap, name: &str) -> Option<LinkToken> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut found = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
    match (found.next(), found.next()) {
        (Some(value), None) => LinkToken::parse(value),
        _ => None,
    }
}

pub(super) fn set_session(response: &mut Response<Bytes>, token: &LinkToken, seconds: i64) {
    set(response, SESSION, &token.reveal(), seconds);
    set(response, FORM, "", 0);
}

pub(super) fn end_session(response: &mut Response<Bytes>) {
    set(response, SESSION, "", 0);
}

pub(super) fn set_form_cookie(response: &mut Response<Bytes>, token: &LinkToken) {
    set(response, FORM, &token.reveal(), 3600);
}

fn set(response: &mut Response<Bytes>, name: &str, value: &str, seconds: i64) {
    let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
