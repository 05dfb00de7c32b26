//! Reads the head of an HTTP/1 request byte by byte, and checks syntax, framing, and the
//! [`rules`](super::rules) for every request.
//!
//! hyper's parser is as lenient as RFC 9112 allows. Requests can be smuggled where one program is lenient
//! and the next one is not. Therefore this parser is strict: it refuses a head that two programs could
//! read differently. hyper accepts every head that passes, and so never sends a refusal itself.

use memchr::memchr;

use super::rules::{
    BODY_BYTES_MAX, URI_BYTES_MAX, bad, body_bytes_max, body_too_large, check_body, check_headers, check_hosts,
    check_uri, is_authority, no_expectation, no_proxy,
};
use crate::api::error::{ApiError, ErrorCode};

const METHOD_BYTES_MAX: usize = 32;

/// The target, with the method, two spaces and the version.
const REQUEST_LINE_BYTES_MAX: usize = URI_BYTES_MAX + METHOD_BYTES_MAX + " HTTP/1.1".len() + 1;

/// A head, as far as it has arrived. It is checked line by line, so that a bad one is refused at once.
#[derive(Default)]
pub(super) struct Head {
    /// How many bytes were searched for line ends.
    scanned: usize,
    /// Start of the current line.
    line: usize,
    blank_lines: usize,
    request: Option<RequestLine>,
    headers: usize,
    header_bytes: usize,
    hosts: Vec<Vec<u8>>,
    content_lengths: Vec<u64>,
    has_transfer_encoding: bool,
    expectation: Option<Expectation>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expectation {
    /// `100-continue`: the client waits for a response before it sends the body.
    Continue,
    Other,
}

/// A complete head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WholeHead {
    /// The length of the head, including the empty line.
    pub(super) bytes: usize,
    /// The length of the body after it.
    pub(super) body: BodyLength,
    /// The limit for the body.
    pub(super) body_bytes_max: usize,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(super) expects_continue: bool,
}

/// The length of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BodyLength {
    Known(usize),
    /// The chunks state the length.
    Chunked,
}

struct RequestLine {
    method: Vec<u8>,
    version: HttpVersion,
    /// The authority, if the target contains one.
    authority: Option<Vec<u8>>,
    /// The limit for the body.
    body_bytes_max: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HttpVersion {
    Http10,
    Http11,
}

impl Head {
    /// Checks the new bytes. Returns the lengths of head and body once the head is complete.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Option<WholeHead>, ApiError> {
        while let Some(found) = bytes.get(self.scanned..).and_then(|new| memchr(b'\n', new)) {
            let end = self.scanned + found;
            let line = &bytes[self.line..end];
            self.scanned = end + 1;
            self.line = end + 1;
            let Some(line) = line.strip_suffix(b"\r") else {
                return Err(bad("a line ends without a carriage return; end every line of the head with CR and LF"));
            };
            if self.take_line(line)? {
                let body = self.check_whole()?;
                let has_body = body != BodyLength::Known(0);
                let is_to_be_asked = has_body && self.expectation == Some(Expectation::Continue) && !self.is_old();
                let body_bytes_max = self.request.as_ref().map_or(BODY_BYTES_MAX, |request| request.body_bytes_max);
                return Ok(Some(WholeHead { bytes: end + 1, body, body_bytes_max, expects_continue: is_to_be_asked }));
            }
        }
        self.scanned = bytes.len();
        self.check_unfinished(&bytes[self.line..])?;
        Ok(None)
    }

    /// Returns whether the line is the empty one that ends the head.
    fn take_line(&mut self, line: &[u8]) -> Result<bool, ApiError> {
        if self.request.is_none() {
            if line.is_empty() {
                self.blank_lines += 1;
                // Old clients send one empty line after a body. No client sends more.
                return if self.blank_lines > 1 {
                    Err(bad("there are empty lines before the request; remove them"))
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
        if name.is_empty() || !name.iter().all(|byte| TOKEN[usize::from(*byte)]) {
            return Err(bad("a header name contains an invalid character; use letters, digits and hyphens"));
        }
        // Checks all bytes, without stopping early, so that the compiler can compare many at once.
        if !value.iter().fold(true, |all, byte| all & matches!(byte, b'\t' | b' '..=b'~' | 0x80..)) {
            return Err(bad("a header value contains a control character; remove it"));
        }
        let value = value.trim_ascii();
        match () {
            () if name.eq_ignore_ascii_case(b"host") => self.hosts.push(value.to_vec()),
            () if name.eq_ignore_ascii_case(b"content-length") => self.content_lengths.push(content_length(value)?),
            () if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                if !value.eq_ignore_ascii_case(b"chunked") || self.has_transfer_encoding {
                    return Err(bad("this Transfer-Encoding is not supported; send the body with Content-Length"));
                }
                self.has_transfer_encoding = true;
            }
            () if name.eq_ignore_ascii_case(b"expect") => {
                let is_known = value.eq_ignore_ascii_case(b"100-continue") && self.expectation.is_none();
                self.expectation = Some(if is_known { Expectation::Continue } else { Expectation::Other });
            }
            () => {}
        }
        Ok(())
    }

    fn is_old(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.version == HttpVersion::Http10)
    }

    /// Does the checks that need the complete head. Returns the length of the body.
    fn check_whole(&self) -> Result<BodyLength, ApiError> {
        let Some(request) = &self.request else { return Err(bad("there is no request line")) };
        let is_old = self.is_old();
        check_hosts(&self.hosts, request.authority.as_deref(), is_old)?;
        if self.content_lengths.len() > 1 {
            return Err(bad("Content-Length is given more than once; send it once"));
        }
        let length = match self.content_lengths.first() {
            Some(_) if self.has_transfer_encoding => {
                return Err(bad("Content-Length and Transfer-Encoding exclude each other; send only Content-Length"));
            }
            _ if self.has_transfer_encoding && is_old => {
                return Err(bad("HTTP/1.0 has no Transfer-Encoding; send Content-Length"));
            }
            Some(length) => *length,
            None => 0,
        };
        if length > 0 || self.has_transfer_encoding {
            check_body(&request.method, length, request.body_bytes_max)?;
        }
        if self.expectation == Some(Expectation::Other) && (length > 0 || self.has_transfer_encoding) {
            return Err(no_expectation());
        }
        if self.has_transfer_encoding {
            return Ok(BodyLength::Chunked);
        }
        usize::try_from(length).map(BodyLength::Known).map_err(|_| body_too_large(request.body_bytes_max))
    }

    /// Checks an incomplete line, so that no client can make the server keep more than the limits.
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

/// The method of a request, even if the rest of the request is wrong. `-` if there is no method.
pub(super) fn method_of(bytes: &[u8]) -> &str {
    let method = bytes.trim_ascii_start().split(|byte| *byte == b' ').next().unwrap_or_default();
    let is_method =
        !method.is_empty() && method.len() <= METHOD_BYTES_MAX && method.iter().all(|byte| TOKEN[usize::from(*byte)]);
    str::from_utf8(method).ok().filter(|_| is_method).unwrap_or("-")
}

fn request_line(line: &[u8]) -> Result<RequestLine, ApiError> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(bad("the first line is not 'METHOD URL HTTP/1.1' with single spaces; correct it"));
    };
    if method.is_empty() || method.len() > METHOD_BYTES_MAX || !method.iter().all(|byte| TOKEN[usize::from(*byte)]) {
        return Err(no_such_method());
    }
    let version = match version {
        b"HTTP/1.1" => HttpVersion::Http11,
        b"HTTP/1.0" => HttpVersion::Http10,
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => {
            let message = "this HTTP version is not supported; use HTTP/1.1, or HTTP/2 with its own preface";
            return Err(ApiError::new(ErrorCode::VersionNotSupported, message));
        }
        _ => return Err(bad("the first line does not end with HTTP/1.1; add the version after the URL")),
    };
    let (authority, path) = check_target(method, target)?;
    Ok(RequestLine { method: method.to_vec(), version, authority, body_bytes_max: body_bytes_max(path) })
}

/// Checks the target. Returns the authority if the target is an absolute URL, and the path.
fn check_target<'t>(method: &[u8], target: &'t [u8]) -> Result<AuthorityAndPath<'t>, ApiError> {
    if method == b"CONNECT" {
        return Err(no_proxy());
    }
    check_uri(target.len())?;
    if target == b"*" {
        return match method {
            b"OPTIONS" => Ok((None, target)),
            _ => Err(bad("the target '*' is valid only with OPTIONS; send a path that begins with a slash")),
        };
    }
    let (authority, path) = match target {
        [b'/', ..] => (None, target),
        _ => absolute_url(target)?,
    };
    let (path, query) = match memchr(b'?', path) {
        Some(mark) => path.split_at(mark),
        None => (path, &[][..]),
    };
    if !path.iter().all(|byte| IN_PATH[usize::from(*byte)]) || !query.iter().all(|byte| IN_QUERY[usize::from(*byte)]) {
        return Err(bad("the URL contains a character that must be percent-encoded; encode it"));
    }
    Ok((authority, path))
}

type AuthorityAndPath<'t> = (Option<Vec<u8>>, &'t [u8]);

fn absolute_url(target: &[u8]) -> Result<AuthorityAndPath<'_>, ApiError> {
    let behind = |scheme: &str| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme.as_bytes()).then_some(rest)
    };
    let Some(rest) = behind("http://").or_else(|| behind("https://")) else {
        return Err(bad("the URL begins neither with a slash nor with http:// or https://; send the path"));
    };
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if !is_authority(authority) {
        return Err(bad("the URL has no host, or has a user name; send only the path"));
    }
    Ok((Some(authority.to_vec()), path))
}

fn content_length(value: &[u8]) -> Result<u64, ApiError> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(value).ok().filter(|_| is_number).and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| bad("Content-Length is not a whole number; send the number of bytes of the body"))
}

/// A table of the bytes that follow a rule. It makes the check fast, because a head has hundreds of bytes.
macro_rules! table {
    ($rule:ident) => {{
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < table.len() {
            table[byte] = $rule(byte as u8);
            byte += 1;
        }
        table
    }};
}

static TOKEN: [bool; 256] = table!(is_token);
static IN_PATH: [bool; 256] = table!(is_path_byte);
static IN_QUERY: [bool; 256] = table!(is_query_byte);

/// A character of a token, as RFC 9110 defines it.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

const fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'[' | b'\\' | b']' | b'^' | b'`' | b'{' | b'|' | b'}')
}

/// The characters that browsers do not encode in a query.
const fn is_query_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'<' | b'>')
}

fn no_such_method() -> ApiError {
    bad("the request does not begin with an HTTP method; use GET")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u8] = b"GET /api/v1/search?q=a|b HTTP/1.1\r\nHost: a:80\r\nX-Name: \xc3\xa9\r\n\r\n";

    #[test]
    fn a_head_gives_the_same_result_in_one_piece_and_byte_by_byte() {
        let whole = Some(WholeHead {
            bytes: GOOD.len(),
            body: BodyLength::Known(0),
            body_bytes_max: BODY_BYTES_MAX,
            expects_continue: false,
        });
        assert_eq!(Head::default().read(GOOD).unwrap(), whole);
        let mut head = Head::default();
        for end in 0..GOOD.len() {
            assert_eq!(head.read(&GOOD[..end]).unwrap(), None, "{end}");
        }
        assert_eq!(head.read(GOOD).unwrap(), whole);
    }

    fn of_body(method: &str, headers: &str) -> Result<(BodyLength, bool), u16> {
        let head = format!("{method} / HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
        let read = Head::default().read(head.as_bytes()).map_err(|error| error.code.status())?;
        let WholeHead { body, expects_continue: is_to_be_asked, .. } = read.unwrap();
        Ok((body, is_to_be_asked))
    }

    #[test]
    fn only_post_has_a_body() {
        let known = |bytes| Ok((BodyLength::Known(bytes), false));
        for (method, headers, expected) in [
            ("GET", "", known(0)),
            ("POST", "", known(0)),
            ("GET", "Content-Length: 0\r\n", known(0)),
            ("POST", "Content-Length: 65536\r\n", known(65_536)),
            ("POST", "Content-Length: 65537\r\n", Err(413)),
            ("POST", "Content-Length: 18446744073709551615\r\n", Err(413)),
            ("GET", "Content-Length: 1\r\n", Err(413)),
            ("PUT", "Content-Length: 1\r\n", Err(405)),
            ("TRACE", "Content-Length: 1\r\n", Err(405)),
            ("POST", "Transfer-Encoding: chunked\r\n", Ok((BodyLength::Chunked, false))),
            ("POST", "Transfer-Encoding: chunked\r\nExpect: 100-Continue\r\n", Ok((BodyLength::Chunked, true))),
            ("GET", "Transfer-Encoding: chunked\r\n", Err(413)),
            ("POST", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", Err(400)),
            ("POST", "Content-Length: 1\r\nContent-Length: 1\r\n", Err(400)),
            ("POST", "Content-Length: +1\r\n", Err(400)),
            ("POST", "Content-Length: 1\r\nExpect: 100-continue\r\n", Ok((BodyLength::Known(1), true))),
            ("POST", "Content-Length: 1\r\nExpect: 200-ok\r\n", Err(417)),
            ("POST", "Content-Length: 1\r\nExpect: 100-continue\r\nExpect: 100-continue\r\n", Err(417)),
            ("POST", "Expect: 100-continue\r\n", known(0)),
        ] {
            assert_eq!(of_body(method, headers), expected, "{method} {headers}");
        }
    }

    #[test]
    fn bytes_after_a_head_are_not_checked() {
        let two = [GOOD, b"\n\n"].concat();
        assert_eq!(Head::default().read(&two).unwrap().map(|head| head.bytes), Some(GOOD.len()));
    }

    #[test]
    fn a_bad_line_is_refused_before_the_head_is_complete() {
        for bad in
            [&b"GET /\r\n"[..], b"GET / HTTP/1.1\n", b"GET / HTTP/1.1\r\nHost : a\r\n", b"GET / HTTP/1.1\r\n a\r\n"]
        {
            assert!(Head::default().read(bad).is_err(), "{}", bad.escape_ascii());
        }
    }
}
