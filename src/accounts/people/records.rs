//! What is stored of people, sessions and links, as JSON.

use serde::{Deserialize, Serialize};

use super::login::Login;
use super::password::StoredPassword;
use crate::accounts::ids::{AccountId, KeyId};
use crate::clock::UnixMillis;

/// What a signed-in person may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// See and change the own account.
    Customer,
    /// And run the service: approve, confirm, move orders, swap snapshots.
    Operator,
}

impl Role {
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

/// Who may make an account on the pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignUpPolicy {
    /// Whom the operator invites.
    Invited,
    /// Anybody, but the operator approves the account.
    Approval,
    /// Anybody, at once.
    Open,
}

/// The person of an account.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonRecord {
    pub account: AccountId,
    pub login: Login,
    pub role: Role,
    pub(crate) password: StoredPassword,
    /// Counts the passwords there were: what one proved is void once there is another.
    pub(crate) passwords: u32,
    pub password_changed_at: UnixMillis,
    /// On which calls from pages are metered.
    pub web_key: KeyId,
}

/// A signed-in browser, found by the hash of its token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    pub account: AccountId,
    /// The kind of browser, for its owner.
    pub device: String,
    pub created_at: UnixMillis,
    /// Lags at most a minute behind.
    pub last_seen_at: UnixMillis,
    /// Whatever is done with it until then.
    pub expires_at: UnixMillis,
}

/// What a one-time link is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LinkPurpose {
    /// Creating the first operator's account.
    FirstOperator,
    /// Choosing name and password of an account, or a new password where it has a person.
    SignIn { account: AccountId, role: Role },
}

/// A one-time link, found by the hash of its token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkRecord {
    pub purpose: LinkPurpose,
    pub created_at: UnixMillis,
    pub expires_at: UnixMillis,
}
