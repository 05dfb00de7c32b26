//! The stored records of people, sessions and links, as JSON.

use hornbook_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use super::login::Login;
use super::password::StoredPassword;
use crate::ids::{AccountId, KeyId};

/// What a signed-in person may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PersonRole {
    /// May see and change their own account.
    Customer,
    /// May also run the service: approve, confirm, move orders, swap snapshots.
    Operator,
}

impl PersonRole {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Operator => "operator",
        }
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        let found = [Self::Customer, Self::Operator].into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| format!("'{text}' is not a role; the roles are customer, operator"))
    }
}

/// Who may create an account on the pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SignUpPolicy {
    /// People whom the operator invites.
    #[default]
    Invited,
    /// Anybody, but the operator must approve the account.
    Approval,
    /// Anybody, without approval.
    Open,
}

/// The person of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonRecord {
    pub account: AccountId,
    pub login: Login,
    pub role: PersonRole,
    pub(crate) password: StoredPassword,
    /// Counts the passwords that the person has had. A new password makes all earlier proofs void.
    pub(crate) passwords: u32,
    pub password_changed_at: UnixMillis,
    /// The key on which calls from pages are metered.
    pub web_key: KeyId,
}

/// A signed-in browser, found by the hash of its token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    pub account: AccountId,
    /// The kind of browser, shown to its owner.
    pub device: String,
    pub created_at: UnixMillis,
    /// At most a minute behind.
    pub last_seen_at: UnixMillis,
    /// The session ends then, however much it is used.
    pub expires_at: UnixMillis,
}

/// The purpose of a one-time link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LinkPurpose {
    /// Creating the first operator's account.
    FirstOperator,
    /// Choosing the name and password of an account, or a new password if it has a person.
    SignIn { account: AccountId, role: PersonRole },
}

/// A one-time link, found by the hash of its token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkRecord {
    pub purpose: LinkPurpose,
    pub created_at: UnixMillis,
    pub expires_at: UnixMillis,
}
