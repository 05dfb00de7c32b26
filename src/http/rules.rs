//! Rules that every request keeps, whichever version of HTTP carries it: each with its limit and its words, once.
//!
//! [`head`](super::head) applies them to the bytes of HTTP/1, line by line as they come, so that nobody makes the service
//! hold more than it takes, and [`check_http2`] to what h2 has decoded. A request that breaks one is refused before
//! anything else looks at it.

use hyper::body::{Body, Incoming};
use hyper::header::HOST;
use hyper::{Method, Request};
use memchr::memchr;

use crate::api::error::{ApiError, ErrorCode};

pub(super) const URI_BYTES_MAX: usize = 8 << 10;
const HEADER_BYTES_MAX: usize = 16 << 10;

/// As many as hyper takes over HTTP/1.
const HEADERS_MAX: usize = 100;

/// What HTTP/2 delivers, before it waits for its turn.
pub(super) fn check_http2(request: &Request<Incoming>) -> Result<(), ApiError> {
    let (uri, headers) = (request.uri(), request.headers());
    check_uri(uri.path().len() + uri.query().map_or(0, |query| query.len() + 1))?;
    let bytes = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    check_headers(headers.len(), bytes)?;
    let hosts: Vec<&[u8]> = headers.get_all(HOST).iter().map(|host| host.as_bytes()).collect();
    check_hosts(&hosts, uri.authority().map(|authority| authority.as_str().as_bytes()), true)?;
    if !request.body().is_end_stream() {
        return Err(no_body());
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
    let message = format!("the address has {bytes} bytes or more, {URI_BYTES_MAX} are taken; shorten the query");
    Err(ApiError::new(ErrorCode::UriTooLong, message))
}

/// Of headers as far as they are there: how many, and how long together.
pub(super) fn check_headers(count: usize, bytes: usize) -> Result<(), ApiError> {
    let message = if bytes > HEADER_BYTES_MAX {
        format!("the headers have {bytes} bytes or more, {HEADER_BYTES_MAX} are taken; send fewer")
    } else if count > HEADERS_MAX {
        format!("more than {HEADERS_MAX} headers were sent; send fewer")
    } else {
        return Ok(());
    };
    Err(ApiError::new(ErrorCode::HeadersTooLarge, message))
}

/// Two hosts are how requests are smuggled past a proxy that reads the other one.
pub(super) fn check_hosts(
    hosts: &[impl AsRef<[u8]>],
    authority: Option<&[u8]>,
    is_optional: bool,
) -> Result<(), ApiError> {
    let host = match hosts {
        [host] => host.as_ref(),
        [] if is_optional => return Ok(()),
        hosts => return Err(bad(format!("{} Host headers were sent; send one", hosts.len()))),
    };
    if !is_authority(host) {
        return Err(bad("the Host header is no name or address with an optional port; send the host of the URL"));
    }
    match authority {
        Some(authority) if !authority.eq_ignore_ascii_case(host) => {
            Err(bad("the address names another host than the Host header; send the path alone"))
        }
        _ => Ok(()),
    }
}

/// A name or an address, with a port or without.
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

pub(super) fn no_body() -> ApiError {
    let message = "no call takes a body; send the parameters in the address and none behind the headers";
    ApiError::new(ErrorCode::BodyTooLarge, message)
}

pub(super) fn no_proxy() -> ApiError {
    ApiError::new(ErrorCode::MethodNotAllowed, "CONNECT is for proxies, and this is none; use GET")
}

pub(super) fn bad(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_names_or_addresses_with_a_port_or_without() {
        for good in ["a", "law.example", "127.0.0.1:8080", "[::1]", "[::1]:80", "a_b"] {
            assert!(is_authority(good.as_bytes()), "{good}");
        }
        for bad in ["", ":80", "a:", "a b", "u@a", "a:b", "a:123456", "[::1", "[]", "[x]", "a/b", "a,b", "é", "[::1]a"]
        {
            assert!(!is_authority(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn one_host_is_sent_and_the_address_agrees_with_it() {
        let check = |hosts: &[&str], authority: Option<&str>, is_optional| {
            check_hosts(hosts, authority.map(str::as_bytes), is_optional).map_err(|error| error.message)
        };
        assert_eq!(check(&["a"], None, false), Ok(()));
        assert_eq!(check(&["Law.example"], Some("law.EXAMPLE"), false), Ok(()));
        assert_eq!(check(&[], Some("a"), true), Ok(()));
        for (hosts, authority, told) in [
            (&[][..], None, "0 Host headers"),
            (&["a", "a"], None, "2 Host headers"),
            (&["a b"], None, "no name or address"),
            (&["a"], Some("b"), "another host"),
        ] {
            let refused = check(hosts, authority, false).unwrap_err();
            assert!(refused.contains(told), "{refused}");
        }
    }

    #[test]
    fn sizes_are_refused_beyond_their_limits() {
        assert!(check_uri(URI_BYTES_MAX).is_ok() && check_uri(URI_BYTES_MAX + 1).is_err());
        assert!(check_headers(HEADERS_MAX, HEADER_BYTES_MAX).is_ok());
        assert!(check_headers(HEADERS_MAX + 1, 0).is_err() && check_headers(0, HEADER_BYTES_MAX + 1).is_err());
    }
}
