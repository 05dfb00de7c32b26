//! What a browser brings: cookies, and proof that a form was ours.
//!
//! A form is accepted if the browser says that it was sent from this origin (`Sec-Fetch-Site`, `Origin`) and if it has the
//! token of its cookie. Both cookies are `__Host-`: no other host, path or plain connection can set them.

use ::http::header::{COOKIE, HOST, HeaderValue, ORIGIN, SET_COOKIE};
use ::http::{HeaderMap, Response};
use bytes::Bytes;

use crate::accounts::key::{KeyDigest, LinkToken};

/// The session of a person.
const SESSION: &str = "__Host-hornbook-session";

/// Ties a form to a browser in which nobody is signed in.
const FORM: &str = "__Host-hornbook-form";

pub(super) struct Browser {
    pub(super) session: Option<LinkToken>,
    form: Option<LinkToken>,
}

impl Browser {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self { session: cookie(headers, SESSION), form: cookie(headers, FORM) }
    }

    /// What forms of this browser must send, from its session or its cookie for forms.
    pub(super) fn form_token(&self) -> Option<String> {
        self.session.as_ref().or(self.form.as_ref()).map(form_token)
    }

    pub(super) fn accepts(&self, token: &str) -> bool {
        let matches = |expected: String| KeyDigest::of_secret(&expected).matches(&KeyDigest::of_secret(token));
        self.form_token().is_some_and(matches)
    }
}

/// Follows from the cookie, and leads not back to it.
pub(super) fn form_token(cookie: &LinkToken) -> String {
    KeyDigest::of_secret(&format!("hornbook form {}", cookie.reveal())).to_hex()
}

/// None if it is there twice: two cookies of one name are somebody's trick.
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

/// Whether the browser says that its page is of this origin. Every browser of the last years says it in at least one of
/// the two headers; a request without both is none of a form.
pub(super) fn is_from_here(headers: &HeaderMap, own_origin: &str) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("other").to_ascii_lowercase());
    let (site, origin) = (text("sec-fetch-site"), text(ORIGIN.as_str()));
    if site.is_none() && origin.is_none() {
        return false;
    }
    // The address by which the browser reached us, where that is not the one of the configuration.
    let host = text(HOST.as_str());
    let is_ours = |origin: &str| {
        let of_host = host.as_ref().is_some_and(|host| {
            origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://")) == Some(host.as_str())
        });
        // A page over http is none of a service over https, whatever its host.
        origin == own_origin || (of_host && (origin.starts_with("https://") || own_origin.starts_with("http://")))
    };
    site.is_none_or(|site| site == "same-origin") && origin.is_none_or(|origin| is_ours(&origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_form_is_from_here_if_the_browser_says_so_and_nothing_else() {
        let own = "https://law.example";
        let from_here = |pairs: &[(&'static str, &'static str)]| is_from_here(&headers(pairs), own);
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
        assert!(is_from_here(&local, "http://127.0.0.1:8080"));
    }

    #[test]
    fn a_cookie_counts_once_and_its_token_fits_it_alone() {
        let (a, b) = ("a".repeat(32), "b".repeat(32));
        let of = |line: String| {
            let mut headers = HeaderMap::new();
            headers.append(COOKIE, HeaderValue::from_str(&line).unwrap());
            Browser::of(&headers)
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
