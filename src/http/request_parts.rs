//! Decodes the path, the query and the JSON body of a request whose head has passed the
//! [`rules`](super::rules).

use std::borrow::Cow;

use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};
use serde_json::Value;

use crate::api::error::{ApiError, ErrorCode};
use crate::api::json::{self, JsonObject};
use crate::api::parameters::{Arguments, PARAMETERS_MAX};
use crate::percent::{Plus, decoded};

/// A request that has passed these checks.
pub(super) struct CheckedRequest<'r> {
    pub(super) headers: &'r HeaderMap,
    /// The path as it was sent.
    pub(super) path: &'r str,
    /// The segments of the path, decoded.
    pub(super) segments: Vec<Cow<'r, str>>,
    pub(super) arguments: Arguments,
}

pub(super) fn check(head: &Parts) -> Result<CheckedRequest<'_>, ApiError> {
    let headers = &head.headers;
    if head.method == Method::TRACE {
        return Err(ApiError::new(ErrorCode::MethodNotAllowed, "TRACE is not supported; use GET"));
    }
    let coding = header_text(headers, "content-encoding").unwrap_or(if headers.contains_key("content-encoding") {
        "?"
    } else {
        "identity"
    });
    if head.method == Method::POST && !coding.trim().eq_ignore_ascii_case("identity") {
        let message = "the body has a Content-Encoding, which is not supported; send it without one";
        return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message));
    }
    let path = head.uri.path();
    let segments = path.split('/').skip(1).map(|segment| decoded(segment, Plus::Stays));
    let segments = segments.collect::<Option<_>>().ok_or_else(|| not_well_formed("path"))?;
    let arguments = query(head.uri.query()).ok_or_else(|| not_well_formed("query"))?;
    Ok(CheckedRequest { headers, path, segments, arguments })
}

fn not_well_formed(what: &str) -> ApiError {
    let message =
        format!("the {what} is not percent-encoded UTF-8 without control characters; encode it and try again");
    ApiError::new(ErrorCode::BadRequest, message)
}

/// The parameters of the query. All are counted, but only the first [`PARAMETERS_MAX`] are decoded.
fn query(text: Option<&str>) -> Option<Arguments> {
    let mut arguments = Arguments::default();
    for pair in pairs(text) {
        arguments.query_count += 1;
        if arguments.query_count <= PARAMETERS_MAX {
            let (name, value) = pair.decoded()?;
            arguments.query.push((name.into_owned(), value.into_owned()));
        }
    }
    Some(arguments)
}

/// The parts of a query, separated by ampersands.
pub(super) fn pairs(query: Option<&str>) -> impl Iterator<Item = Pair<'_>> {
    query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()).map(Pair)
}

/// A name, with or without a value.
pub(super) struct Pair<'r>(&'r str);

impl<'r> Pair<'r> {
    pub(super) fn decoded(&self) -> Option<(Cow<'r, str>, Cow<'r, str>)> {
        let (name, value) = self.0.split_once('=').unwrap_or((self.0, ""));
        Some((decoded(name, Plus::IsSpace)?, decoded(value, Plus::IsSpace)?))
    }
}

/// Parses a body, which must be a JSON object.
pub(super) fn object(body: &[u8]) -> Result<JsonObject, ApiError> {
    let value = json::read(body).map_err(|error| {
        ApiError::new(ErrorCode::BadRequest, format!("the body is not valid JSON: {error}; send one JSON object"))
    })?;
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(ApiError::new(ErrorCode::ValidationError, "the body is JSON but not an object; send one JSON object")),
    }
}

pub(super) fn header_text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_pairs_and_a_name_may_stand_alone() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let read = query(Some("q=a%26b&facets&x=1=2&&")).unwrap();
        assert_eq!(read.query, [pair("q", "a&b"), pair("facets", ""), pair("x", "1=2")]);
        assert_eq!(read.query_count, 3);
        assert_eq!(query(None).unwrap().query, []);
    }

    #[test]
    fn of_too_many_parameters_the_first_are_decoded_and_all_counted() {
        let read = query(Some(&"a=1&".repeat(2_000))).unwrap();
        assert_eq!((read.query.len(), read.query_count), (PARAMETERS_MAX, 2_000));
    }
}
