//! The addresses to which a person's browser returns after the answer. Anyone may register a client, so an address
//! is only accepted if a browser may be sent there: a site over https, a program on the person's device, or a native
//! app with its own scheme.

use crate::percent;

/// Longer addresses are refused.
const BYTES_MAX: usize = 400;

/// The names of the person's own device, where http is safe.
const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// Schemes that are not those of an app: browsers and systems run, read or send something for them.
const REFUSED_SCHEMES: &[&str] = &[
    "about",
    "blob",
    "callto",
    "chrome",
    "chrome-extension",
    "data",
    "edge",
    "facetime",
    "file",
    "filesystem",
    "ftp",
    "ftps",
    "geo",
    "gopher",
    "help",
    "intent",
    "jar",
    "javascript",
    "ldap",
    "ldaps",
    "mailto",
    "moz-extension",
    "nfs",
    "resource",
    "search-ms",
    "sftp",
    "sip",
    "sips",
    "smb",
    "sms",
    "ssh",
    "tel",
    "telnet",
    "vbscript",
    "view-source",
    "wyciwyg",
];

/// A checked address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RedirectUri(String);

impl RedirectUri {
    /// The error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.len() > BYTES_MAX {
            return Err("a redirect URI is longer than 400 characters");
        }
        if !text.bytes().all(is_uri_byte) {
            return Err("a redirect URI has a character that is not allowed, such as a fragment");
        }
        let (scheme, rest) = text.split_once(':').ok_or("a redirect URI has no scheme")?;
        match scheme {
            "https" => check_authority(rest, |_| true),
            "http" => check_authority(rest, |host| LOOPBACK_HOSTS.contains(&host)),
            app => check_app(app, rest),
        }?;
        Ok(Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a request may name this address. It must be the registered one. A program on the person's device may
    /// listen on any port (RFC 8252).
    pub(super) fn allows(&self, asked: &Self) -> bool {
        if self == asked {
            return true;
        }
        match (self.loopback(), asked.loopback()) {
            (Some(registered), Some(asked)) => registered == asked,
            _ => false,
        }
    }

    /// Where the answer goes, for the person: the host of a site, or the kind of program.
    pub(super) fn shown(&self) -> String {
        let (scheme, rest) = self.0.split_once(':').unwrap_or((&self.0, ""));
        if self.loopback().is_some() {
            return "a program on this device".to_owned();
        }
        match scheme {
            "https" => authority_of(rest).unwrap_or_default().to_ascii_lowercase(),
            app => format!("the app that opens {app}: links on this device"),
        }
    }

    /// The address with further parameters.
    pub(super) fn with(&self, parameters: &[(&str, &str)]) -> String {
        let mut address = self.0.clone();
        for (name, value) in parameters {
            let joint = match address.contains('?') {
                false => "?",
                true if address.ends_with(['?', '&']) => "",
                true => "&",
            };
            address.push_str(joint);
            address.push_str(name);
            address.push('=');
            percent::push(&mut address, value);
        }
        address
    }

    /// Host and path of an address on the person's device, without the port.
    fn loopback(&self) -> Option<(&str, &str)> {
        let rest = self.0.strip_prefix("http:")?;
        let authority = authority_of(rest)?;
        let (host, _) = host_and_port(authority)?;
        Some((host, &rest[2 + authority.len()..]))
    }
}

/// The characters of a URI without those that start a fragment or that programs treat differently.
const fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')
}

/// The part between `//` and the path.
fn authority_of(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix("//")?;
    Some(&rest[..rest.find(['/', '?']).unwrap_or(rest.len())])
}

fn check_authority(rest: &str, may_be: impl Fn(&str) -> bool) -> Result<(), &'static str> {
    let (host, port) = authority_of(rest).and_then(host_and_port).ok_or("a redirect URI has no valid host")?;
    if port.is_some_and(|port| port.parse::<u16>().is_err() || !port.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err("a redirect URI has no valid port");
    }
    if may_be(host) {
        Ok(())
    } else {
        Err("a redirect URI with http must name this machine, such as 127.0.0.1; use https")
    }
}

/// A host of letters, digits, hyphens and points, or an IPv6 address; then maybe a port. Names of users are refused,
/// because they look like hosts.
fn host_and_port(authority: &str) -> Option<(&str, Option<&str>)> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let is_name = |host: &str| {
        host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
            && host.split('.').all(|label| !label.is_empty())
    };
    let is_address = |host: &str| host.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = inner.map_or_else(|| is_name(host), is_address);
    let port = if port.is_empty() { Some(None) } else { port.strip_prefix(':').map(Some) };
    port.filter(|_| is_host && !host.is_empty()).map(|port| (host, port))
}

fn check_app(scheme: &str, rest: &str) -> Result<(), &'static str> {
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'-' | b'.'));
    let is_of_system = scheme.starts_with("ms-") || scheme.starts_with("ws") && scheme.len() <= 3;
    if !is_scheme || is_of_system || REFUSED_SCHEMES.contains(&scheme) || !rest.starts_with('/') {
        return Err("a redirect URI has a scheme that is not allowed; use https, or the scheme of your own app");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> RedirectUri {
        RedirectUri::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn sites_programs_on_the_device_and_apps_are_accepted_and_shown() {
        for (address, shown) in [
            ("https://claude.ai/api/mcp/auth_callback", "claude.ai"),
            ("https://Assistant.example:8443/cb?tenant=1", "assistant.example:8443"),
            ("https://assistant.example", "assistant.example"),
            ("https://[2001:db8::1]/cb", "[2001:db8::1]"),
            ("http://127.0.0.1:33418/", "a program on this device"),
            ("http://localhost/callback", "a program on this device"),
            ("http://[::1]:5/x?y=%20", "a program on this device"),
            ("cursor://anysphere.cursor-retrieval/oauth/cb", "the app that opens cursor: links on this device"),
            ("com.example.app:/oauth", "the app that opens com.example.app: links on this device"),
        ] {
            assert_eq!(uri(address).shown(), shown, "{address}");
        }
    }

    #[test]
    fn addresses_to_which_no_browser_may_be_sent_are_refused() {
        let long = format!("https://a.example/{}", "a".repeat(BYTES_MAX));
        for bad in [
            "",
            "/callback",
            "//evil.example/",
            "claude.ai/callback",
            "http://evil.example/cb",
            "http://127.0.0.1.evil.example/",
            "http://localhost.evil.example/",
            "http://127.0.0.1@evil.example/",
            "http://127.0.0.2/",
            "http://[::2]/",
            "http:/127.0.0.1/",
            "https:evil.example",
            "https:///cb",
            "https://",
            "https://user@evil.example/",
            "https://good.example@evil.example/",
            "https://good.example:80:90/",
            "https://good.example:port/",
            "https://good.example:+80/",
            "https://good.example:99999/",
            "https://good.example:/",
            "https://good..example/",
            "https://.example/",
            "https://good.example\\@evil.example/",
            "https://g\u{f6}\u{f6}d.example/",
            "https://good%2eexample/",
            "https://good.example/#fragment",
            "https://good.example/a b",
            "https://good.example/\"onload=",
            "https://[::1/",
            "https://[::1]x/",
            "HTTPS://good.example/",
            "javascript:alert(1)",
            "javascript:/alert(1)",
            "javascript://%0aalert(1)",
            "JavaScript://a",
            "data:/text/html,x",
            "data:text/html,x",
            "vbscript://x",
            "file:///etc/passwd",
            "blob:https://a.example/1",
            "about:/blank",
            "view-source://a",
            "filesystem:/a",
            "ws://a.example/",
            "wss://a.example/",
            "ftp://a.example/",
            "intent://a",
            "mailto:a@b.example",
            "ms-msdt:/id",
            "search-ms:/query",
            "app:callback",
            "1app://x",
            "-app://x",
            "a\u{0}pp://x",
            "a pp://x",
            &long,
        ] {
            assert!(RedirectUri::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_request_names_the_registered_address_and_only_on_the_device_another_port() {
        let allows = |registered: &str, asked: &str| uri(registered).allows(&uri(asked));
        assert!(allows("https://a.example/cb", "https://a.example/cb"));
        assert!(allows("http://127.0.0.1/cb?a=1", "http://127.0.0.1:5000/cb?a=1"));
        assert!(allows("http://[::1]:1/", "http://[::1]:2/"));
        assert!(allows("http://localhost:1", "http://localhost:2"));
        for (registered, asked) in [
            ("https://a.example/cb", "https://a.example/cb/"),
            ("https://a.example/cb", "https://a.example/cb?x=1"),
            ("https://a.example/cb", "https://A.example/cb"),
            ("https://a.example/cb", "https://a.example:444/cb"),
            ("https://a.example/cb", "https://b.example/cb"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/other"),
            ("http://127.0.0.1:1/cb", "http://localhost:1/cb"),
            ("http://127.0.0.1:1/cb", "https://127.0.0.1:1/cb"),
            ("cursor://a/cb", "cursor://a:1/cb"),
        ] {
            assert!(!allows(registered, asked), "{registered} {asked}");
        }
    }

    #[test]
    fn parameters_are_added_to_those_of_the_address() {
        for (address, with) in [
            ("https://a.example/cb", "https://a.example/cb?code=x%26y&state=%3D"),
            ("https://a.example/cb?a=1", "https://a.example/cb?a=1&code=x%26y&state=%3D"),
            ("https://a.example/cb?", "https://a.example/cb?code=x%26y&state=%3D"),
            ("https://a.example", "https://a.example?code=x%26y&state=%3D"),
        ] {
            assert_eq!(uri(address).with(&[("code", "x&y"), ("state", "=")]), with);
        }
    }

    /// What is accepted never leads a browser to another place than the one shown.
    #[test]
    fn no_accepted_text_hides_its_host() {
        let parts = [
            "https",
            "http",
            ":",
            "/",
            "//",
            "@",
            "\\",
            "?",
            "#",
            "%2f",
            "a.example",
            "127.0.0.1",
            "[::1]",
            ".",
            "8",
            "\t",
        ];
        let mut random = hornbook_base::random::SplitMix64(7);
        let mut accepted = 0;
        for _ in 0..200_000 {
            let start = ["https://", "http://", "https:", ""][random.index(4)];
            let text: String = std::iter::once(start)
                .chain((0..1 + random.index(6)).map(|_| parts[random.index(parts.len())]))
                .collect();
            let Ok(uri) = RedirectUri::parse(&text) else { continue };
            accepted += 1;
            assert!(!text.contains(['#', '\\', '\t']), "{text}");
            if let Some(rest) = text.strip_prefix("https://") {
                let host = rest.split(['/', '?']).next().unwrap();
                assert!(uri.shown() == host && !host.contains(['@', '%']) && !host.is_empty(), "{text}");
            } else if text.starts_with("http:") {
                assert!(["http://127.0.0.1", "http://[::1]"].iter().any(|start| text.starts_with(start)), "{text}");
            }
        }
        assert!(accepted > 500, "{accepted}");
    }
}
