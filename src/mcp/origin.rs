//! Checks which web pages may reach the server, and under which host names. A page of any origin can send
//! requests to this machine after making its own name resolve to this machine (DNS rebinding). The
//! browser still sends the origin of the page and the host that it believes to call.

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

pub(super) struct AllowedOrigins {
    /// Host names without a port.
    hosts: Vec<String>,
    /// Origins in the form in which browsers send them.
    origins: Vec<String>,
}

impl AllowedOrigins {
    /// Allows the base URL and what the operator lists, in addition to this machine's own names.
    pub(super) fn new(base_url: &str, hosts: &[String], origins: &[String]) -> Self {
        let (scheme, rest) = base_url.split_once("://").unwrap_or(("", base_url));
        let authority = rest.split('/').next().unwrap_or_default();
        let own_host = name_of(authority).to_owned();
        let own_origin = format!("{scheme}://{authority}");
        let hosts = hosts.iter().cloned().chain([own_host]).map(|host| host.to_ascii_lowercase());
        let origins = origins.iter().cloned().chain([own_origin]).map(|origin| origin.to_ascii_lowercase());
        Self { hosts: hosts.collect(), origins: origins.collect() }
    }

    /// Checks `Host` and `Origin`. The error says what is wrong.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let text = |value: &http::HeaderValue| value.to_str().unwrap_or("?").to_ascii_lowercase();
        if !headers.get_all(HOST).iter().map(text).all(|host| self.is_host(name_of(&host))) {
            return Err("this host name is not allowed; set mcp.hosts or server.base_url to allow it");
        }
        if !headers.get_all(ORIGIN).iter().map(text).all(|origin| self.is_origin(&origin)) {
            return Err("web pages of this origin may not call this server; set mcp.origins to allow them");
        }
        Ok(())
    }

    fn is_host(&self, name: &str) -> bool {
        is_this_machine(name) || self.hosts.iter().any(|host| host == name)
    }

    fn is_origin(&self, origin: &str) -> bool {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| is_this_machine(name_of(authority)))
            || self.origins.iter().any(|allowed| allowed == origin)
    }
}

fn is_this_machine(name: &str) -> bool {
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// A host without its port.
fn name_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn allowed(host: &'static str, origin: Option<&'static str>) -> bool {
        let hosts = ["mcp.example".to_owned()];
        let allowed = AllowedOrigins::new("https://Law.example:8443/x", &hosts, &["https://app.example".to_owned()]);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static(host));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
        }
        allowed.check(&headers).is_ok()
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
            "",
        ] {
            assert!(!allowed("localhost", Some(origin)), "{origin}");
        }
    }
}
