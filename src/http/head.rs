//! What the head of an HTTP/1 request must be, byte by byte: syntax and framing, and the [`rules`](super::rules) that
//! hold for every request.
//!
//! hyper's parser forgives what RFC 9112 forgives, and what one program forgives and the next does not is how requests
//! are smuggled. Nothing is forgiven here: a head that two programs might read in two ways is refused. Whatever passes
//! is well-formed for hyper too, so that it never has to refuse anything in words of its own.

use memchr::memchr;

use super::rules::{URI_BYTES_MAX, bad, check_headers, check_hosts, check_uri, is_authority, no_body, no_proxy};
use crate::api::error::{ApiError, ErrorCode};

const METHOD_BYTES_MAX: usize = 32;

/// Method, two spaces and version stand beside the target.
const REQUEST_LINE_BYTES_MAX: usize = URI_BYTES_MAX + METHOD_BYTES_MAX + " HTTP/1.1".len() + 1;

/// A head as far as it is there. It is read line by line as it comes, so that a bad one is refused at once.
#[derive(Default)]
pub(super) struct Head {
    /// How many bytes were looked at.
    looked_at: usize,
    /// Where the line under way begins.
    line: usize,
    blank_lines: usize,
    request: Option<RequestLine>,
    headers: usize,
    header_bytes: usize,
    hosts: Vec<Vec<u8>>,
    content_lengths: Vec<u64>,
    has_transfer_encoding: bool,
}

struct RequestLine {
    version: Version,
    /// Where the target names one.
    authority: Option<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Http10,
    Http11,
}

impl Head {
    /// Looks at what came since the last time. The length of the head once it is whole.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Option<usize>, ApiError> {
        while let Some(found) = bytes.get(self.looked_at..).and_then(|new| memchr(b'\n', new)) {
            let end = self.looked_at + found;
            let line = &bytes[self.line..end];
            self.looked_at = end + 1;
            self.line = end + 1;
            let Some(line) = line.strip_suffix(b"\r") else {
                return Err(bad("a line ends without a carriage return; end every line of the head with CR and LF"));
            };
            if self.take_line(line)? {
                self.check_whole()?;
                return Ok(Some(end + 1));
            }
        }
        self.looked_at = bytes.len();
        self.check_unfinished(&bytes[self.line..])?;
        Ok(None)
    }

    /// True for the empty line that ends the head.
    fn take_line(&mut self, line: &[u8]) -> Result<bool, ApiError> {
        if self.request.is_none() {
            if line.is_empty() {
                self.blank_lines += 1;
                // Old clients send one behind a body; more are nobody's habit.
                return if self.blank_lines > 1 {
                    Err(bad("empty lines precede the request; leave them out"))
                } else {
                    Ok(false)
                };
            }
            self.request = Some(request_line(line)?);
            return Ok(false);
        }
        if line.is_empty() {
            return Ok(true);
        }
        self.headers += 1;
        self.header_bytes += line.len() + 2;
        check_headers(self.headers, self.header_bytes)?;
        self.take_header(line)?;
        Ok(false)
    }

    fn take_header(&mut self, line: &[u8]) -> Result<(), ApiError> {
        if matches!(line[0], b' ' | b'\t') {
            return Err(bad("a header is continued on the next line; write each on one line"));
        }
        let Some(colon) = memchr(b':', line) else { return Err(bad("a header has no colon; write 'Name: value'")) };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        if name.is_empty() || !name.iter().copied().all(is_token) {
            return Err(bad(
                "the name of a header has a character that none may have; use letters, digits and hyphens",
            ));
        }
        if !value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~' | 0x80..)) {
            return Err(bad("the value of a header has a control character; leave it out"));
        }
        let value = value.trim_ascii();
        match () {
            () if name.eq_ignore_ascii_case(b"host") => self.hosts.push(value.to_vec()),
            () if name.eq_ignore_ascii_case(b"content-length") => self.content_lengths.push(content_length(value)?),
            () if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                if !value.eq_ignore_ascii_case(b"chunked") || self.has_transfer_encoding {
                    return Err(bad("the body is encoded in a way that is not known here; send no body at all"));
                }
                self.has_transfer_encoding = true;
            }
            () => {}
        }
        Ok(())
    }

    /// What only the whole of a head tells.
    fn check_whole(&self) -> Result<(), ApiError> {
        let Some(request) = &self.request else { return Err(bad("there is no request line")) };
        let is_old = request.version == Version::Http10;
        check_hosts(&self.hosts, request.authority.as_deref(), is_old)?;
        if self.content_lengths.len() > 1 {
            return Err(bad("Content-Length was sent more than once; send no body and no length"));
        }
        match self.content_lengths.first() {
            Some(_) if self.has_transfer_encoding => {
                Err(bad("Content-Length and Transfer-Encoding exclude each other; send no body at all"))
            }
            _ if self.has_transfer_encoding && is_old => Err(bad("HTTP/1.0 knows no Transfer-Encoding; send no body")),
            Some(1..) => Err(no_body()),
            _ if self.has_transfer_encoding => Err(no_body()),
            _ => Ok(()),
        }
    }

    /// What can be told of a line before its end is there, so that nobody makes us keep more than we would take.
    fn check_unfinished(&self, line: &[u8]) -> Result<(), ApiError> {
        if self.request.is_some() {
            return check_headers(self.headers, self.header_bytes + line.len());
        }
        match memchr(b' ', line) {
            None if line.len() > METHOD_BYTES_MAX => Err(no_such_method()),
            _ if line.len() > REQUEST_LINE_BYTES_MAX => check_uri(line.len()),
            _ => Ok(()),
        }
    }
}

/// The method of a request, whatever else is wrong with it; `-` where there is none.
pub(super) fn method_of(bytes: &[u8]) -> &str {
    let method = bytes.trim_ascii_start().split(|byte| *byte == b' ').next().unwrap_or_default();
    let is_method = !method.is_empty() && method.len() <= METHOD_BYTES_MAX && method.iter().copied().all(is_token);
    str::from_utf8(method).ok().filter(|_| is_method).unwrap_or("-")
}

fn request_line(line: &[u8]) -> Result<RequestLine, ApiError> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(bad("the first line is not 'METHOD address HTTP/1.1' with single spaces"));
    };
    if method.is_empty() || method.len() > METHOD_BYTES_MAX || !method.iter().copied().all(is_token) {
        return Err(no_such_method());
    }
    let version = match version {
        b"HTTP/1.1" => Version::Http11,
        b"HTTP/1.0" => Version::Http10,
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => {
            let message = "this version of HTTP is not spoken here; use HTTP/1.1, or HTTP/2 with its own preface";
            return Err(ApiError::new(ErrorCode::VersionNotSupported, message));
        }
        _ => return Err(bad("the first line does not end in HTTP/1.1; send the version behind the address")),
    };
    let authority = check_target(method, target)?;
    Ok(RequestLine { version, authority })
}

/// The authority, where the target is a whole address.
fn check_target(method: &[u8], target: &[u8]) -> Result<Option<Vec<u8>>, ApiError> {
    if method == b"CONNECT" {
        return Err(no_proxy());
    }
    check_uri(target.len())?;
    if target == b"*" {
        return match method {
            b"OPTIONS" => Ok(None),
            _ => Err(bad("'*' is an address for OPTIONS alone; send a path that begins with a slash")),
        };
    }
    let (authority, path) = match target {
        [b'/', ..] => (None, target),
        _ => whole_address(target)?,
    };
    let (path, query) = match memchr(b'?', path) {
        Some(mark) => path.split_at(mark),
        None => (path, &[][..]),
    };
    if !path.iter().copied().all(is_path_byte) || !query.iter().copied().all(is_query_byte) {
        return Err(bad("the address has a character that must be written as %XX; encode it"));
    }
    Ok(authority)
}

type AuthorityAndPath<'t> = (Option<Vec<u8>>, &'t [u8]);

fn whole_address(target: &[u8]) -> Result<AuthorityAndPath<'_>, ApiError> {
    let behind = |scheme: &str| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme.as_bytes()).then_some(rest)
    };
    let Some(rest) = behind("http://").or_else(|| behind("https://")) else {
        return Err(bad("the address neither begins with a slash nor with http:// or https://; send the path"));
    };
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if !is_authority(authority) {
        return Err(bad("the address names no host, or a user; send the path alone"));
    }
    Ok((Some(authority.to_vec()), path))
}

fn content_length(value: &[u8]) -> Result<u64, ApiError> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(value).ok().filter(|_| is_number).and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| bad("Content-Length is not one whole number; send no body and no length"))
}

/// As RFC 9110 has it.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'[' | b'\\' | b']' | b'^' | b'`' | b'{' | b'|' | b'}')
}

/// What browsers leave as it is in a query.
fn is_query_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'<' | b'>')
}

fn no_such_method() -> ApiError {
    bad("the request does not begin with a method; the service is read-only, use GET")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u8] = b"GET /api/v1/search?q=a|b HTTP/1.1\r\nHost: a:80\r\nX-Name: \xc3\xa9\r\n\r\n";

    #[test]
    fn a_head_is_read_alike_in_one_piece_and_byte_by_byte() {
        assert_eq!(Head::default().read(GOOD).unwrap(), Some(GOOD.len()));
        let mut head = Head::default();
        for end in 0..GOOD.len() {
            assert_eq!(head.read(&GOOD[..end]).unwrap(), None, "{end}");
        }
        assert_eq!(head.read(GOOD).unwrap(), Some(GOOD.len()));
    }

    #[test]
    fn what_follows_a_head_is_not_looked_at() {
        let two = [GOOD, b"\n\n"].concat();
        assert_eq!(Head::default().read(&two).unwrap(), Some(GOOD.len()));
    }

    #[test]
    fn a_bad_line_is_refused_before_the_head_is_whole() {
        for bad in
            [&b"GET /\r\n"[..], b"GET / HTTP/1.1\n", b"GET / HTTP/1.1\r\nHost : a\r\n", b"GET / HTTP/1.1\r\n a\r\n"]
        {
            assert!(Head::default().read(bad).is_err(), "{}", bad.escape_ascii());
        }
    }
}
