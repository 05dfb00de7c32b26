//! Short texts that other people read later: in lists, in the audit log, on a terminal.

use std::fmt;
use std::ops::Deref;

use hornbook_base::invisible;
use serde::{Deserialize, Serialize};

use crate::error::ChangeError;

const CHARS_MAX: usize = 200;

/// One line of 1 to 200 characters that are all visible or ordinary spaces, so that it cannot look like another text or
/// control a terminal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(into = "String", from = "StoredText")]
pub struct VisibleText(String);

impl VisibleText {
    /// `what` names the text in the error.
    pub fn new(what: &str, text: impl Into<String>) -> Result<Self, ChangeError> {
        let text = text.into();
        Self::check(what, &text)?;
        Ok(Self(text))
    }

    /// Refuses what [`VisibleText::new`] refuses, for a text that is stored as it is.
    pub(crate) fn check(what: &str, text: &str) -> Result<(), ChangeError> {
        let chars = text.chars().count();
        if !(1..=CHARS_MAX).contains(&chars) || text.trim().is_empty() {
            let message = format!("the {what} has {chars} characters; give between 1 and {CHARS_MAX}");
            return Err(ChangeError::Refused(message));
        }
        match invisible::name_error(text) {
            Some(fault) => Err(ChangeError::Refused(format!("the {what} {fault}"))),
            None => Ok(()),
        }
    }

    /// A text of the program. Hidden characters are shown by their numbers.
    pub(crate) fn shown(text: impl AsRef<str>) -> Self {
        Self(invisible::escaped_name(text.as_ref()).into_owned())
    }
}

/// A text as it is stored. An older program may have accepted more than this one does.
#[derive(Deserialize)]
struct StoredText(String);

impl From<StoredText> for VisibleText {
    fn from(StoredText(text): StoredText) -> Self {
        Self::shown(text)
    }
}

impl Deref for VisibleText {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<VisibleText> for String {
    fn from(text: VisibleText) -> Self {
        text.0
    }
}

impl fmt::Display for VisibleText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_visible_line() {
        let refused = |text: &str| VisibleText::new("name", text).unwrap_err().to_string();
        assert_eq!(&*VisibleText::new("name", "Łódź & Söhne").unwrap(), "Łódź & Söhne");
        for text in ["", " ", &"x".repeat(201)] {
            assert!(refused(text).contains("give between 1 and 200"), "{text:?}");
        }
        for hidden in "\u{202e}\u{a0}\u{2003}\u{3000}\u{3164}\u{115f}\u{34f}\u{fe0f}\u{2800}\u{17b4}".chars() {
            let reported = format!("the name contains U+{:04X}, ", u32::from(hidden));
            assert!(refused(&format!("Acme{hidden} LLC")).starts_with(&reported), "{reported}");
        }
    }

    #[test]
    fn what_is_stored_cannot_bring_hidden_characters_back() {
        let stored: VisibleText = serde_json::from_str("\"Acme\\u001b[2J\\u00a0\\u3164\"").unwrap();
        assert_eq!(serde_json::to_string(&stored).unwrap(), "\"Acme<U+001B>[2J<U+00A0><U+3164>\"");
        // A record with an older name can be changed and stored again.
        assert_eq!(VisibleText::new("name", &*stored).unwrap(), stored);
    }
}
