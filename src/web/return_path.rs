//! The page of this site to which a person returns after signing in.

use maud::{Markup, html};

use super::form::FormFields;
use super::page_request::PageRequest;
use crate::percent;

/// The name of the parameter and of the form field.
const NAME: &str = "return";

const BYTES_MAX: usize = 4 << 10;

/// A path of this site with its query, encoded as in a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ReturnPath(String);

impl ReturnPath {
    /// Reads a path that a browser sent. A path that would lead to another site, or back to a form of this one, is none.
    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('/')?;
        let is_here = !rest.starts_with(['/', '\\']) && !text.starts_with("/settings/");
        let is_encoded = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        (is_here && is_encoded && text.len() <= BYTES_MAX).then(|| Self(text.to_owned()))
    }

    /// The path in the address of a page.
    pub(super) fn of_page(seen: &PageRequest<'_>) -> Option<Self> {
        let parameters = &seen.request.parameters;
        parameters.iter().find(|(name, _)| name == NAME).and_then(|(_, value)| Self::parse(value))
    }

    /// The path in a form.
    pub(super) fn of_form(form: &FormFields) -> Option<Self> {
        Self::parse(form.text(NAME))
    }

    /// The path itself, for a redirect.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The field that a form hands on.
    pub(super) fn field(&self) -> Markup {
        html! { input type="hidden" name=(NAME) value=(self.0); }
    }
}

/// A link to a page that hands a path on, such as the sign-in page.
pub(super) fn link_with_return(page: &str, back: &str) -> String {
    let joint = if page.contains('?') { '&' } else { '?' };
    format!("{page}{joint}{NAME}={}", percent::encoded(back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_of_this_site_is_returned_to() {
        for good in ["/", "/?q=security%20deposit&jurisdiction=XA", "/law/57d72ae6-2545-5592-8cc9-e2f5f767585a"] {
            assert_eq!(ReturnPath::parse(good).unwrap().as_str(), good);
        }
        let long = format!("/{}", "a".repeat(BYTES_MAX));
        for bad in [
            "",
            "law",
            "//law.example/",
            "/\\law.example",
            "/a\\b",
            "https://law.example/",
            "javascript:alert(1)",
            "/settings/sign-out",
            "/?q=a b",
            "/?q=a\r\nSet-Cookie: a=b",
            "/?q=é",
            &long,
        ] {
            assert_eq!(ReturnPath::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_link_hands_the_path_on() {
        assert_eq!(link_with_return("/settings/sign-in", "/?q=a%20b"), "/settings/sign-in?return=%2F%3Fq%3Da%2520b");
        assert_eq!(link_with_return("/settings?signed-in", "/"), "/settings?signed-in&return=%2F");
    }
}
