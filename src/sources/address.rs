//! URLs of files: parsing, mirrors, and allowed redirects.

use std::fmt;

use http::Uri;

/// An `http` or `https` address without user name, password or fragment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DownloadUrl {
    is_encrypted: bool,
    /// Host and port, as in the Host header.
    authority: String,
    /// With the query, beginning with a slash.
    path: String,
}

/// The reason why a text is not an acceptable URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' {what}")]
pub struct NoAddress {
    text: String,
    what: &'static str,
}

impl fmt::Display for DownloadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.server(), self.path)
    }
}

impl DownloadUrl {
    pub fn parse(text: &str) -> Result<Self, NoAddress> {
        let refused = |what| NoAddress { text: text.to_owned(), what };
        let without_fragment = text.split('#').next().unwrap_or_default();
        let uri: Uri = without_fragment.parse().map_err(|_| refused("is not an address"))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(refused("is not an address that begins with https://"));
        };
        if authority.as_str().contains('@') {
            return Err(refused("has a user name or password in it"));
        }
        let is_encrypted = scheme == "https";
        let default_port = if is_encrypted { ":443" } else { ":80" };
        let authority = authority.as_str().to_ascii_lowercase();
        let authority = authority.strip_suffix(default_port).map_or(authority.clone(), str::to_owned);
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { is_encrypted, authority, path })
    }

    /// The server's URL, without a path.
    pub fn server(&self) -> String {
        format!("{}://{}", if self.is_encrypted { "https" } else { "http" }, self.authority)
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// Another path on the same server.
    pub fn with_path(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Plain http is allowed only to this machine: elsewhere somebody could replace a file unnoticed.
    pub fn is_safe(&self) -> bool {
        let host = self.authority.rsplit_once(':').map_or(self.authority.as_str(), |(host, port)| {
            if port.bytes().all(|byte| byte.is_ascii_digit()) { host } else { &self.authority }
        });
        let host = host.trim_matches(['[', ']']);
        self.is_encrypted || host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
    }

    /// The same file at a mirror: `https://law.example/a` is `BASE/law.example/a`.
    pub fn at_mirror(&self, base: &Self) -> Self {
        let folder = base.path.trim_end_matches('/');
        Self { path: format!("{folder}/{}{}", self.authority, self.path), ..base.clone() }
    }

    /// The target of a redirect. It must be on the same host and must not drop encryption.
    pub fn redirected(&self, location: &str) -> Result<Self, NoAddress> {
        let refused = |what| NoAddress { text: location.to_owned(), what };
        let target = self.joined(location)?;
        if self.is_encrypted && !target.is_encrypted {
            return Err(refused("gives up encryption"));
        }
        if target.server() != self.server() {
            return Err(refused("is on another host"));
        }
        Ok(target)
    }

    fn joined(&self, location: &str) -> Result<Self, NoAddress> {
        let location = location.trim();
        if location.starts_with("//") {
            return Self::parse(&format!("{}{location}", if self.is_encrypted { "https:" } else { "http:" }));
        }
        let scheme_end = location.find("://");
        if scheme_end.is_some_and(|end| location[..end].bytes().all(|byte| byte.is_ascii_alphanumeric())) {
            return Self::parse(location);
        }
        let own = self.path.split('?').next().unwrap_or("/");
        let path = match location.as_bytes().first() {
            Some(b'/') => location.to_owned(),
            Some(b'?') => format!("{own}{location}"),
            _ => format!("{}{location}", &own[..own.rfind('/').map_or(0, |slash| slash + 1)]),
        };
        Self::parse(&format!("{}{}", self.server(), without_dots(&path)))
    }
}

/// A path without `.` and `..`.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let path = format!("/{}", parts.join("/"));
    query.map_or(path.clone(), |query| format!("{path}?{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> DownloadUrl {
        DownloadUrl::parse(text).unwrap()
    }

    #[test]
    fn addresses_are_read_and_others_refused() {
        for (text, expected) in [
            ("https://Law.Example:443/a?b#c", "https://law.example/a?b"),
            ("http://127.0.0.1:80", "http://127.0.0.1/"),
            ("https://law.example:444/x@y.zip", "https://law.example:444/x@y.zip"),
        ] {
            assert_eq!(address(text).to_string(), expected);
        }
        for bad in ["ftp://a/b", "law.example/a", "https://u:p@law.example/", "", "https://law example/"] {
            assert!(DownloadUrl::parse(bad).is_err(), "{bad}");
        }
        for (text, is_safe) in [
            ("https://law.example/", true),
            ("http://127.0.0.1:80/", true),
            ("http://[::1]:8080/", true),
            ("http://localhost/", true),
            ("http://law.example/", false),
            ("http://127.0.0.1.law.example/", false),
        ] {
            assert_eq!(address(text).is_safe(), is_safe, "{text}");
        }
    }

    #[test]
    fn a_mirror_has_the_files_of_each_host_in_a_folder() {
        let file = address("https://law.example/a/b@c.zip?d");
        assert_eq!(
            file.at_mirror(&address("http://127.0.0.1:9/m/")).to_string(),
            "http://127.0.0.1:9/m/law.example/a/b@c.zip?d"
        );
        assert_eq!(file.at_mirror(&address("http://127.0.0.1:9")).path(), "/law.example/a/b@c.zip?d");
    }

    #[test]
    fn redirects_stay_on_their_host_and_keep_encryption() {
        let from = address("https://law.example/a/b?c");
        for (location, expected) in [
            ("/x", "https://law.example/x"),
            ("x/y?z", "https://law.example/a/x/y?z"),
            ("../x", "https://law.example/x"),
            ("../../../x", "https://law.example/x"),
            ("./", "https://law.example/a/"),
            ("?q", "https://law.example/a/b?q"),
            ("https://LAW.example:443/z", "https://law.example/z"),
            ("//law.example/z#f", "https://law.example/z"),
        ] {
            assert_eq!(from.redirected(location).unwrap().to_string(), expected, "{location}");
        }
        for (location, what) in [
            ("http://law.example/a", "gives up encryption"),
            ("https://other.example/", "on another host"),
            ("https://law.example:444/", "on another host"),
            ("//other.example/a", "on another host"),
            ("file:///etc/passwd", "is not an address"),
            ("https://law.example@other.example/", "user name"),
        ] {
            let refused = from.redirected(location).unwrap_err().to_string();
            assert!(refused.contains(what), "{location}: {refused}");
        }
        assert!(address("http://law.example/").redirected("https://law.example/").is_err());
    }
}
