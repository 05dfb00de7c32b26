//! The rules for every request, over HTTP/1 and HTTP/2. Each limit and each message is defined once.
//!
//! [`head`](super::head) applies them to HTTP/1 while the bytes arrive, so that no client can make the
//! server keep more than the limits. [`check_http2`] applies them to what h2 has decoded. A request that
//! breaks a rule is refused before anything else reads it.

use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_LENGTH, HOST};
use hyper::{Method, Request};
use memchr::memchr;

use crate::api::DOCUMENT_BODY_BYTES_MAX;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::json::JSON_BYTES_MAX;
use crate::api::operation::{CHECK_PAGE_PATH, CHECK_PATH};

pub(super) const URI_BYTES_MAX: usize = 8 << 10;
const HEADER_BYTES_MAX: usize = 16 << 10;

/// The same limit as for JSON.
pub(super) const BODY_BYTES_MAX: usize = JSON_BYTES_MAX;

/// The limit for the body of a request to a path.
pub(super) fn body_bytes_max(path: &[u8]) -> usize {
    let is_document = [CHECK_PATH, CHECK_PAGE_PATH].iter().any(|document| document.as_bytes() == path);
    if is_document { DOCUMENT_BODY_BYTES_MAX } else { BODY_BYTES_MAX }
}

/// The number of headers that hyper accepts over HTTP/1.
const HEADERS_MAX: usize = 100;

/// Checks a request that h2 has decoded.
pub(super) fn check_http2(request: &Request<Incoming>) -> Result<(), ApiError> {
    let (uri, headers) = (request.uri(), request.headers());
    check_uri(uri.path().len() + uri.query().map_or(0, |query| query.len() + 1))?;
    let bytes = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    check_headers(headers.len(), bytes)?;
    let hosts: Vec<&[u8]> = headers.get_all(HOST).iter().map(|host| host.as_bytes()).collect();
    check_hosts(&hosts, uri.authority().map(|authority| authority.as_str().as_bytes()), true)?;
    if !request.body().is_end_stream() {
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let bytes_max = body_bytes_max(uri.path().as_bytes());
        check_body(request.method().as_str().as_bytes(), length.unwrap_or(0), bytes_max)?;
    }
    match uri.authority() {
        Some(authority) if !is_authority(authority.as_str().as_bytes()) => {
            return Err(bad(
                "the authority is not a host name or address with an optional port; send the host of the URL",
            ));
        }
        None if hosts.is_empty() => return Err(bad("the request names no host; send :authority")),
        _ => {}
    }
    if *request.method() == Method::CONNECT {
        return Err(no_proxy());
    }
    Ok(())
}

pub(super) fn check_uri(bytes: usize) -> Result<(), ApiError> {
    if bytes <= URI_BYTES_MAX {
        return Ok(());
    }
    let message = format!("the URL has at least {bytes} bytes, and the limit is {URI_BYTES_MAX}; shorten the query");
    Err(ApiError::new(ErrorCode::UriTooLong, message))
}

/// Checks the number of headers that have arrived, and their total length.
pub(super) fn check_headers(count: usize, bytes: usize) -> Result<(), ApiError> {
    let message = if bytes > HEADER_BYTES_MAX {
        format!("the headers have at least {bytes} bytes, and the limit is {HEADER_BYTES_MAX}; send fewer")
    } else if count > HEADERS_MAX {
        format!("there are more than {HEADERS_MAX} headers; send fewer")
    } else {
        return Ok(());
    };
    Err(ApiError::new(ErrorCode::HeadersTooLarge, message))
}

/// With two hosts, a request could be smuggled past a proxy that reads the other one.
pub(super) fn check_hosts(
    hosts: &[impl AsRef<[u8]>],
    authority: Option<&[u8]>,
    is_optional: bool,
) -> Result<(), ApiError> {
    let host = match hosts {
        [host] => host.as_ref(),
        [] if is_optional => return Ok(()),
        hosts => return Err(bad(format!("there are {} Host headers; send one", hosts.len()))),
    };
    if !is_authority(host) {
        return Err(bad(
            "the Host header is not a host name or address with an optional port; send the host of the URL",
        ));
    }
    match authority {
        Some(authority) if !authority.eq_ignore_ascii_case(host) => {
            Err(bad("the URL and the Host header name different hosts; send only the path"))
        }
        _ => Ok(()),
    }
}

/// Whether it is a host name or an address, with or without a port.
pub(super) fn is_authority(text: &[u8]) -> bool {
    let (host, port) = match text {
        [b'[', rest @ ..] => {
            let Some(end) = memchr(b']', rest) else { return false };
            let is_address = rest[..end].iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
            if !is_address {
                return false;
            }
            (&rest[..end], &rest[end + 1..])
        }
        _ => {
            let end = memchr(b':', text).unwrap_or(text.len());
            let is_name =
                text[..end].iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
            if !is_name {
                return false;
            }
            text.split_at(end)
        }
    };
    let is_port = match port {
        [] => true,
        [b':', digits @ ..] => matches!(digits.len(), 1..=5) && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    !host.is_empty() && is_port
}

/// Checks the length that a request declares for its body.
pub(super) fn check_body(method: &[u8], bytes: u64, bytes_max: usize) -> Result<(), ApiError> {
    match method {
        b"POST" if bytes > bytes_max as u64 => Err(body_too_large(bytes_max)),
        b"POST" => Ok(()),
        b"GET" | b"HEAD" | b"OPTIONS" => {
            let message = "only POST requests have a body; send the parameters in the URL";
            Err(ApiError::new(ErrorCode::BodyTooLarge, message))
        }
        _ => Err(ApiError::new(ErrorCode::MethodNotAllowed, "this method is not allowed anywhere; use GET or POST")),
    }
}

pub(super) fn body_too_large(bytes_max: usize) -> ApiError {
    let message = format!("the body is longer than {bytes_max} bytes, which is the limit; send less");
    ApiError::new(ErrorCode::BodyTooLarge, message)
}

/// The error for an `Expect` header that is not supported.
pub(super) fn no_expectation() -> ApiError {
    let message = "the header Expect has a value other than 100-continue, or is sent twice; send the body without it";
    ApiError::new(ErrorCode::ExpectationFailed, message)
}

pub(super) fn no_proxy() -> ApiError {
    ApiError::new(ErrorCode::MethodNotAllowed, "CONNECT is not supported, because this is not a proxy; use GET")
}

pub(super) fn bad(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_names_or_addresses_with_an_optional_port() {
        for good in ["a", "law.example", "127.0.0.1:8080", "[::1]", "[::1]:80", "a_b"] {
            assert!(is_authority(good.as_bytes()), "{good}");
        }
        for bad in ["", ":80", "a:", "a b", "u@a", "a:b", "a:123456", "[::1", "[]", "[x]", "a/b", "a,b", "é", "[::1]a"]
        {
            assert!(!is_authority(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn there_is_one_host_and_the_url_agrees_with_it() {
        let check = |hosts: &[&str], authority: Option<&str>, is_optional| {
            check_hosts(hosts, authority.map(str::as_bytes), is_optional).map_err(|error| error.message)
        };
        assert_eq!(check(&["a"], None, false), Ok(()));
        assert_eq!(check(&["Law.example"], Some("law.EXAMPLE"), false), Ok(()));
        assert_eq!(check(&[], Some("a"), true), Ok(()));
        for (hosts, authority, reported) in [
            (&[][..], None, "are 0 Host headers"),
            (&["a", "a"], None, "2 Host headers"),
            (&["a b"], None, "not a host name"),
            (&["a"], Some("b"), "different hosts"),
        ] {
            let refused = check(hosts, authority, false).unwrap_err();
            assert!(refused.contains(reported), "{refused}");
        }
    }

    #[test]
    fn sizes_are_refused_beyond_their_limits() {
        assert!(check_uri(URI_BYTES_MAX).is_ok() && check_uri(URI_BYTES_MAX + 1).is_err());
        assert!(check_headers(HEADERS_MAX, HEADER_BYTES_MAX).is_ok());
        assert!(check_headers(HEADERS_MAX + 1, 0).is_err() && check_headers(0, HEADER_BYTES_MAX + 1).is_err());
    }
}
