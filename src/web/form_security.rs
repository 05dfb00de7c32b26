//! Cookies of browsers, and protection against forged forms (CSRF).
//!
//! A form is accepted if the browser's headers (`Sec-Fetch-Site`, `Origin`) state that it comes
//! from this origin, and if it contains the token that belongs to the cookie. Both cookies have the
//! prefix `__Host-`, so no other host, path or unencrypted connection can set them.

use std::borrow::Cow;

use ::http::header::{COOKIE, HOST, HeaderValue, ORIGIN, SET_COOKIE};
use ::http::{HeaderMap, Response};
use bytes::Bytes;
use hornbook_accounts::key::{KeyDigest, LinkToken};

/// The cookie with a person's session.
const SESSION: &str = "__Host-hornbook-session";

/// The cookie that ties a form to a browser without a session.
const FORM: &str = "__Host-hornbook-form";

/// The scheme, host and port of a URL. A default port is left out.
pub(super) fn origin_of(url: &str) -> Cow<'_, str> {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let end = url[after_scheme..].find('/').map_or(url.len(), |at| after_scheme + at);
    let origin = &url[..end];
    let default_port = if origin.starts_with("https:") { ":443" } else { ":80" };
    Cow::Borrowed(origin.strip_suffix(default_port).unwrap_or(origin))
}

pub(super) struct BrowserCookies {
    pub(super) session: Option<LinkToken>,
    form: Option<LinkToken>,
}

impl BrowserCookies {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self { session: cookie(headers, SESSION), form: cookie(headers, FORM) }
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

/// Whether the browser states that the form's page is of this origin. Every current browser sends
/// at least one of the two headers. A request without both does not come from a form.
pub(super) fn is_same_origin(headers: &HeaderMap, own_origin: &str) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("other").to_ascii_lowercase());
    let (site, origin) = (text("sec-fetch-site"), text(ORIGIN.as_str()));
    if site.is_none() && origin.is_none() {
        return false;
    }
    // The host that the browser used. It may differ from the configured address.
    let host = text(HOST.as_str());
    let is_ours = |origin: &str| {
        let of_host = host.as_ref().is_some_and(|host| {
            origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://")) == Some(host.as_str())
        });
        // A page served over http is never accepted by a service over https, even with the same
        // host.
        origin == own_origin || (of_host && (origin.starts_with("https://") || own_origin.starts_with("http://")))
    };
    site.is_none_or(|site| site == "same-origin") && origin.is_none_or(|origin| is_ours(&origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_of_an_address_has_no_path_and_no_usual_port() {
        for (url, origin) in [
            ("https://law.example/hornbook", "https://law.example"),
            ("https://law.example", "https://law.example"),
            ("https://law.example:443/a/b", "https://law.example"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://box:80", "http://box"),
        ] {
            assert_eq!(origin_of(url), origin);
        }
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn only_same_origin_forms_are_accepted() {
        let own = "https://law.example";
        let from_here = |pairs: &[(&'static str, &'static str)]| is_same_origin(&headers(pairs), own);
        for ours in [
            &[("sec-fetch-site", "same-origin"), ("origin", "https://law.example")][..],
            &[("origin", "https://law.example")],
            &[("sec-fetch-site", "same-origin")],
            &[("origin", "https://other.name"), ("host", "other.name")],
        ] {
            assert!(from_here(ours), "{ours:?}");
        }
        for foreign in [
            &[][..],
            &[("sec-fetch-site", "cross-site"), ("origin", "https://law.example")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")],
            &[("origin", "null")],
            &[("origin", "https://law.example.evil.example")],
            &[("origin", "https://evil.example"), ("host", "law.example")],
            &[("origin", "http://law.example"), ("host", "law.example")],
        ] {
            assert!(!from_here(foreign), "{foreign:?}");
        }
        let local = headers(&[("origin", "http://localhost:8080"), ("host", "localhost:8080")]);
        assert!(is_same_origin(&local, "http://127.0.0.1:8080"));
    }

    #[test]
    fn a_duplicate_cookie_is_ignored_and_tokens_match_only_their_cookie() {
        let (a, b) = ("a".repeat(32), "b".repeat(32));
        let of = |line: String| {
            let mut headers = HeaderMap::new();
            headers.append(COOKIE, HeaderValue::from_str(&line).unwrap());
            BrowserCookies::of(&headers)
        };
        let browser = of(format!("x=1; {SESSION}={a}; {FORM}={b}"));
        assert_eq!(browser.session.as_ref().unwrap().reveal(), a);
        let token = browser.form_token().unwrap();
        assert!(browser.accepts(&token) && !browser.accepts("") && !token.contains(&a));
        assert!(!of(format!("{FORM}={b}")).accepts(&token), "the token of a session is not that of a cookie for forms");
        assert!(of(format!("{SESSION}={a}; {SESSION}={b}")).session.is_none());
        assert!(of(format!("{SESSION}=short")).session.is_none() && !of(String::new()).accepts(""));
    }
}
