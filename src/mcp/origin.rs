//! Checks which web pages may reach the server, and under which host names. A page of any origin can send
//! requests to this machine after making its own name resolve to this machine (DNS rebinding). The
//! browser still sends the origin of the page and the host that it believes to call.

use crate::web_origin::{RequestOrigin, SendingPage, WebOrigin};

pub(super) struct AllowedOrigins {
    /// Host names in lower case, without a port.
    hosts: Vec<String>,
    origins: Vec<WebOrigin>,
}

impl AllowedOrigins {
    /// Allows the base URL and what the operator lists, in addition to this machine's own names.
    pub(super) fn new(base_url: &str, hosts: &[String], origins: &[WebOrigin]) -> Self {
        let own = WebOrigin::of_url(base_url);
        let own_host = own.iter().map(|own| own.host().to_owned());
        let hosts = hosts.iter().map(|host| host.to_ascii_lowercase()).chain(own_host).collect();
        let origins = origins.iter().cloned().chain(own).collect();
        Self { hosts, origins }
    }

    /// Checks the host and the page. The error says what is wrong.
    pub(super) fn check(&self, origin: &RequestOrigin<'_>) -> Result<(), &'static str> {
        if !origin.host().is_none_or(|host| self.is_host(host)) {
            return Err("this host name is not allowed; set mcp.hosts or server.base_url to allow it");
        }
        let may_call = match &origin.page {
            SendingPage::NotStated => true,
            SendingPage::Known(page) => is_this_machine(page.host()) || self.origins.contains(page),
            SendingPage::Hidden | SendingPage::Invalid => false,
        };
        if may_call {
            return Ok(());
        }
        Err("web pages of this origin may not call this server; set mcp.origins to allow them")
    }

    fn is_host(&self, name: &str) -> bool {
        is_this_machine(name) || self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
    }
}

fn is_this_machine(name: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|own| own.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn allowed(host: &'static str, origin: Option<&'static str>) -> bool {
        let hosts = ["mcp.example".to_owned()];
        let listed = WebOrigin::of_url("https://app.example").unwrap();
        let allowed = AllowedOrigins::new("https://Law.example:8443/x", &hosts, &[listed]);
        let mut headers = HeaderMap::new();
        headers.insert("host", HeaderValue::from_static(host));
        if let Some(origin) = origin {
            headers.insert("origin", HeaderValue::from_static(origin));
        }
        allowed.check(&RequestOrigin::of(&headers)).is_ok()
    }

    #[test]
    fn this_machine_the_base_url_and_the_listed_are_allowed_and_no_others() {
        for host in
            ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "[::1]", "law.example", "mcp.example:9"]
        {
            assert!(allowed(host, None), "{host}");
        }
        for host in [
            "evil.example",
            "law.example.evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "127.0.0.2",
            "[::2]",
            "",
        ] {
            assert!(!allowed(host, None), "{host}");
        }
        for origin in ["http://localhost:3000", "https://127.0.0.1", "https://app.example", "https://law.example:8443"]
        {
            assert!(allowed("localhost", Some(origin)), "{origin}");
        }
        for origin in [
            "null",
            "https://law.example",
            "http://app.example",
            "https://evil.example",
            "file://localhost",
            "http://localhost.evil",
            "https://app.example/path",
            "",
        ] {
            assert!(!allowed("localhost", Some(origin)), "{origin}");
        }
    }
}
