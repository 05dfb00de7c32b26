//! Who made a change, for the ledger and the audit log, which keep it for good.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::ChangeError;
use crate::ids::{AccountId, KeyId};
use crate::visible_text::VisibleText;

/// An id, a part of the program, or the name that the operator gave on the command line. The sign-in name of a person
/// cannot be one:
///
/// ```compile_fail
/// let login: hornbook_accounts::people::Login = "jane@law.example".parse().unwrap();
/// let actor: hornbook_accounts::actor::Actor = login.into();
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Actor(VisibleText);

impl Actor {
    /// A part of the program, if no account or key acts.
    pub fn program(name: &'static str) -> Self {
        Self(VisibleText::shown(name))
    }
}

impl From<AccountId> for Actor {
    fn from(id: AccountId) -> Self {
        Self(VisibleText::shown(id.to_string()))
    }
}

impl From<KeyId> for Actor {
    fn from(id: KeyId) -> Self {
        Self(VisibleText::shown(id.to_string()))
    }
}

/// The name that the operator gave.
impl FromStr for Actor {
    type Err = ChangeError;
    fn from_str(name: &str) -> Result<Self, ChangeError> {
        Ok(Self(VisibleText::new("actor", name)?))
    }
}

impl Deref for Actor {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> Self {
        actor.0.into()
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
