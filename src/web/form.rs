//! Parses form bodies: `application/x-www-form-urlencoded`, with limits and strict rules. Bodies
//! that no browser would send are refused, not repaired.

use ::http::HeaderMap;

use crate::mount::media_type;
use crate::percent;

const FORM_BYTES_MAX: usize = 16 << 10;
const FIELDS_MAX: usize = 32;

const MEDIA_TYPE: &str = "application/x-www-form-urlencoded";

/// The decoded fields of a form.
#[derive(Debug)]
pub(super) struct FormFields {
    fields: Vec<(String, String)>,
}

impl FormFields {
    pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Self, &'static str> {
        if !media_type(headers).is_some_and(|given| given.eq_ignore_ascii_case(MEDIA_TYPE)) {
            return Err("this is not a form; send it from the page");
        }
        if body.len() > FORM_BYTES_MAX {
            return Err("the form is too long");
        }
        let fields = percent::form_fields(body, FIELDS_MAX);
        fields.map(|fields| Self { fields }).ok_or("the form has too many fields or is not encoded correctly")
    }

    /// The value of a field; empty if the field is missing or occurs more than once.
    pub(super) fn text(&self, name: &str) -> &str {
        let mut found = self.all(name);
        match (found.next(), found.next()) {
            (Some(value), None) => value,
            _ => "",
        }
    }

    /// All values of a field that may occur several times, such as checkboxes.
    pub(super) fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        self.fields.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use ::http::HeaderValue;
    use ::http::header::CONTENT_TYPE;

    use super::*;

    fn read(body: &str) -> Result<FormFields, &'static str> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE))]);
        FormFields::read(&headers, body.as_bytes())
    }

    #[test]
    fn fields_are_decoded_once() {
        let form = read("name=Jane+Roe&note=a%26b%3D%2541%C3%A9&scopes=node&scopes=gis&empty=").unwrap();
        assert_eq!((form.text("name"), form.text("note"), form.text("empty")), ("Jane Roe", "a&b=%41é", ""));
        assert_eq!(form.all("scopes").collect::<Vec<_>>(), ["node", "gis"]);
        assert_eq!((form.text("scopes"), form.text("other")), ("", ""), "a field that should be there once");
    }

    #[test]
    fn what_no_browser_sends_is_refused() {
        for wrong in ["name", "a=%4", "a=%zz", "a=%ff", "a=%00", &"a=b&".repeat(33), &"a".repeat(20_000)] {
            assert!(read(wrong).is_err(), "{wrong:.20}");
        }
        assert!(FormFields::read(&HeaderMap::new(), b"a=b").is_err());
        let json = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("text/plain"))]);
        assert!(FormFields::read(&json, b"a=b").is_err(), "what other sites may send without being asked");
    }
}
