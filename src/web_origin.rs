//! The host that a request names and the web page that sent it, read once from its head, the same over
//! HTTP/1 and HTTP/2. Code that checks which pages may send a request uses this, and never the headers.

use ::http::HeaderMap;
use ::http::header::{HOST, ORIGIN};

/// The scheme, host and port of a web page: in lower case and without a default port, so that it has one
/// form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebOrigin(String);

impl WebOrigin {
    /// The origin of an address. None for schemes other than http and https.
    pub fn of_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "https" => ":443",
            "http" => ":80",
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        let authority = authority.strip_suffix(default_port).unwrap_or(&authority);
        (!authority.is_empty()).then(|| Self(format!("{scheme}://{authority}")))
    }

    /// Reads what browsers send: an origin without a path.
    fn parse(text: &str) -> Option<Self> {
        let (_, authority) = text.split_once("://")?;
        if authority.contains(['/', '?', '#']) { None } else { Self::of_url(text) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The host without its port.
    pub fn host(&self) -> &str {
        host_of(self.0.split_once("://").map_or("", |(_, authority)| authority))
    }

    /// Whether a page of this origin has its own server at this host and port.
    fn is_at(&self, authority: &str) -> bool {
        let scheme = if self.is_https() { "https" } else { "http" };
        Self::of_url(&format!("{scheme}://{authority}")).as_ref() == Some(self)
    }
}

/// A host and port without the port.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// The page that sent a request.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum SendingPage {
    /// The browser states none, or the sender is not a browser.
    #[default]
    NotStated,
    /// The browser hides it (`null`).
    Hidden,
    Known(WebOrigin),
    /// What is stated is not an origin of the web, or is stated twice.
    Invalid,
}

/// How the page that sent a request is related to this service, by the browser's own judgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteRelation {
    SameOrigin,
    /// A person opened the address.
    Direct,
    /// Another page, or a word that is not known.
    Other,
}

/// Where a request comes from.
#[derive(Default, Debug)]
pub struct RequestOrigin<'r> {
    authority: Option<&'r str>,
    pub page: SendingPage,
    /// None if the browser does not state it.
    pub relation: Option<SiteRelation>,
}

impl<'r> RequestOrigin<'r> {
    pub fn of(headers: &'r HeaderMap) -> Self {
        // Two of them were refused before.
        let authority = headers.get(HOST).and_then(|host| host.to_str().ok());
        let mut stated = headers.get_all(ORIGIN).iter().map(|origin| origin.to_str().unwrap_or_default());
        let page = match (stated.next(), stated.next()) {
            (None, _) => SendingPage::NotStated,
            (Some(stated), None) if stated.eq_ignore_ascii_case("null") => SendingPage::Hidden,
            (Some(stated), None) => WebOrigin::parse(stated).map_or(SendingPage::Invalid, SendingPage::Known),
            (Some(_), Some(_)) => SendingPage::Invalid,
        };
        let relation = headers.get("sec-fetch-site").map(|relation| match relation.as_bytes() {
            b"same-origin" => SiteRelation::SameOrigin,
            b"none" => SiteRelation::Direct,
            _ => SiteRelation::Other,
        });
        Self { authority, page, relation }
    }

    /// The host that the request names, without its port. HTTP/1.0 may name none.
    pub fn host(&self) -> Option<&'r str> {
        self.authority.map(host_of)
    }

    /// Whether the browser states that the page is of the service `own`, or of the name under which the
    /// browser called it. Every current browser states this with a form; a request that states nothing
    /// does not come from a form.
    pub fn is_of(&self, own: Option<&WebOrigin>) -> bool {
        let is_of_page = match &self.page {
            SendingPage::NotStated => self.relation.is_some(),
            SendingPage::Known(page) => {
                let has_called_name = self.authority.is_some_and(|authority| page.is_at(authority));
                // A page served over http is never one of a service over https, even with the same host.
                let is_as_safe = page.is_https() || own.is_none_or(|own| !own.is_https());
                own == Some(page) || (has_called_name && is_as_safe)
            }
            SendingPage::Hidden | SendingPage::Invalid => false,
        };
        is_of_page && self.relation.is_none_or(|relation| relation == SiteRelation::SameOrigin)
    }
}

#[cfg(test)]
mod tests {
    use ::http::HeaderValue;

    use super::*;

    #[test]
    fn the_origin_of_an_address_has_one_form() {
        for (url, origin) in [
            ("https://law.example/hornbook", "https://law.example"),
            ("https://law.example", "https://law.example"),
            ("HTTPS://Law.Example:443/a/b", "https://law.example"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://box:80?x", "http://box"),
        ] {
            assert_eq!(WebOrigin::of_url(url).unwrap().as_str(), origin);
        }
        for none in ["law.example", "ftp://law.example", "file://localhost", "https://", "http:///x", ""] {
            assert_eq!(WebOrigin::of_url(none), None, "{none}");
        }
        let host = |url: &str| WebOrigin::of_url(url).unwrap().host().to_owned();
        assert_eq!([host("http://[::1]:8080"), host("https://a.b"), host("http://[::1]")], ["[::1]", "a.b", "[::1]"]);
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn only_pages_of_the_same_origin_are_of_the_service() {
        let own = WebOrigin::of_url("https://law.example");
        let is_ours = |pairs: &[(&'static str, &'static str)]| RequestOrigin::of(&headers(pairs)).is_of(own.as_ref());
        for ours in [
            &[("sec-fetch-site", "same-origin"), ("origin", "https://law.example")][..],
            &[("origin", "https://law.example")],
            &[("origin", "https://LAW.example:443")],
            &[("sec-fetch-site", "same-origin")],
            &[("origin", "https://other.name"), ("host", "other.name")],
            &[("origin", "https://other.name:8443"), ("host", "Other.Name:8443")],
        ] {
            assert!(is_ours(ours), "{ours:?}");
        }
        for foreign in [
            &[][..],
            &[("sec-fetch-site", "cross-site"), ("origin", "https://law.example")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")],
            &[("origin", "null")],
            &[("origin", "null"), ("sec-fetch-site", "same-origin")],
            &[("origin", "https://law.example"), ("origin", "https://law.example")],
            &[("origin", "https://law.example/")],
            &[("origin", "https://law.example.evil.example")],
            &[("origin", "https://evil.example"), ("host", "law.example")],
            &[("origin", "http://law.example"), ("host", "law.example")],
        ] {
            assert!(!is_ours(foreign), "{foreign:?}");
        }
        let local = headers(&[("origin", "http://localhost:8080"), ("host", "localhost:8080")]);
        assert!(RequestOrigin::of(&local).is_of(WebOrigin::of_url("http://127.0.0.1:8080").as_ref()));
    }
}
