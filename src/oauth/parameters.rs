//! Reads the parameters of requests. A parameter that is given twice is refused, because two programs might use
//! different ones.

use ::http::HeaderMap;

use super::error::{OAuthError, OAuthErrorCode};
use crate::mount::media_type;
use crate::percent;

const FORM: &str = "application/x-www-form-urlencoded";
const FORM_BYTES_MAX: usize = 16 << 10;
const FIELDS_MAX: usize = 32;

/// The decoded parameters of a query or a form.
#[derive(Clone, Copy)]
pub(super) struct OAuthParameters<'p>(&'p [(String, String)]);

impl<'p> OAuthParameters<'p> {
    pub(super) const fn new(parameters: &'p [(String, String)]) -> Self {
        Self(parameters)
    }

    /// The value of a parameter. An empty one counts as missing (RFC 6749 §3.1). The error is that there are several.
    pub(super) fn one(self, name: &str) -> Result<Option<&'p str>, OAuthError> {
        let mut found = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match (found.next(), found.next()) {
            (value, None) => Ok(value.filter(|value| !value.is_empty())),
            _ => Err(invalid(format!("{name} is given more than once"))),
        }
    }

    pub(super) fn required(self, name: &str) -> Result<&'p str, OAuthError> {
        self.one(name)?.ok_or_else(|| invalid(format!("{name} is missing")))
    }
}

/// The fields of a form.
pub(super) fn form(headers: &HeaderMap, body: &[u8]) -> Result<Vec<(String, String)>, OAuthError> {
    if !media_type(headers).is_some_and(|given| given.eq_ignore_ascii_case(FORM)) {
        return Err(invalid(format!("send the parameters as {FORM}")));
    }
    let fields = if body.len() <= FORM_BYTES_MAX { percent::form_fields(body, FIELDS_MAX) } else { None };
    fields.ok_or_else(|| invalid("the form is too long or not encoded correctly"))
}

pub(super) fn invalid(description: impl Into<std::borrow::Cow<'static, str>>) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidRequest, description)
}

#[cfg(test)]
mod tests {
    use ::http::HeaderValue;
    use ::http::header::CONTENT_TYPE;

    use super::*;

    #[test]
    fn a_parameter_is_given_once_and_an_empty_one_is_missing() {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(FORM))]);
        let fields = form(&headers, b"a=1&b=&c=x%20y+z&c=2").unwrap();
        let fields = OAuthParameters::new(&fields);
        assert_eq!(
            (fields.one("a").unwrap(), fields.one("b").unwrap(), fields.one("d").unwrap()),
            (Some("1"), None, None)
        );
        assert!(fields.one("c").unwrap_err().description.contains("more than once"));
        assert!(fields.required("b").unwrap_err().description.contains("missing"));
        assert!(form(&HeaderMap::new(), b"a=1").is_err());
        for wrong in [&b"a"[..], b"a=%zz", &b"a=1&".repeat(33), &[b'a'; FORM_BYTES_MAX + 1]] {
            assert!(form(&headers, wrong).is_err());
        }
    }
}
