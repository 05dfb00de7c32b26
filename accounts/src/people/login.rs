//! The name with which a person signs in: an e-mail address or another name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const LOGIN_CHARS_MIN: usize = 3;
pub const LOGIN_CHARS_MAX: usize = 100;

/// A name in lower case, so that it has one form. Only letters, digits and `.`, `_`, `-`, `+`, `@`
/// are allowed, so that no two names look alike. It is personal, so it has no `Display` and `Debug` hides it:
/// only code that asks for its text can show it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Login(String);

impl Login {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Login {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+@".contains(&byte);
        if !(LOGIN_CHARS_MIN..=LOGIN_CHARS_MAX).contains(&text.len()) {
            return Err(format!("a sign-in name must have {LOGIN_CHARS_MIN} to {LOGIN_CHARS_MAX} characters"));
        }
        if !text.bytes().all(is_allowed) {
            return Err("a sign-in name may contain only the letters a to z, digits, and . _ - + @".to_owned());
        }
        if text.parse::<crate::ids::AccountId>().is_ok() {
            return Err("a sign-in name must not be the id of an account; add a letter".to_owned());
        }
        Ok(Self(text))
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(personal)")
    }
}

impl From<Login> for String {
    fn from(login: Login) -> Self {
        login.0
    }
}

impl TryFrom<String> for Login {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_form() {
        let login = |text: &str| text.parse::<Login>().map(|login| login.0);
        assert_eq!(login(" Jane.Roe+law@Example.org "), Ok("jane.roe+law@example.org".to_owned()));
        for wrong in ["", "ab", "jane roe", "jäne", "jane\n.roe", "17", "acct-17", &"a".repeat(101)] {
            assert!(login(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(format!("{:?}", "jane.roe".parse::<Login>()), "Ok(Login(personal))");
    }
}
