//! A string in a reply: borrowed from the snapshot while the reply is written, and from the JSON when a page
//! or a test reads it. It is copied only if its JSON contains escapes.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// Without a doc comment, which would become a description in every schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ReplyText<'s>(#[serde(borrow)] pub Cow<'s, str>);

impl Deref for ReplyText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ReplyText<'_> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for ReplyText<'_> {
    fn borrow(&self) -> &str {
        self
    }
}

impl fmt::Display for ReplyText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl<'s> From<&'s str> for ReplyText<'s> {
    fn from(text: &'s str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl<'s> From<&'s String> for ReplyText<'s> {
    fn from(text: &'s String) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for ReplyText<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl<'s> From<Cow<'s, str>> for ReplyText<'s> {
    fn from(text: Cow<'s, str>) -> Self {
        Self(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_copied_only_if_it_has_escapes() {
        let read = |json| serde_json::from_str::<ReplyText<'_>>(json).unwrap();
        assert!(matches!(read(r#""§ 1""#).0, Cow::Borrowed("§ 1")));
        assert!(matches!(read(r#""\"a\"""#).0, Cow::Owned(text) if text == "\"a\""));
    }
}
