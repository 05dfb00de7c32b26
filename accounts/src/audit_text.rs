//! What the audit log may say. It is kept for good, and the server's log repeats it, so it consists of
//! [`AuditPart`]s. Personal data and the texts of customers cannot be one.

use std::fmt;

use hornbook_base::invisible;

use super::budget::Budget;
use super::ids::{AccountId, Credits, KeyId, OrderId, PurchaseId};
use super::records::Payable;
use super::scope::ScopeSet;
use super::tier::Tier;

/// Something that may be in the audit log: an id, an amount, a word of the program, or a text of the
/// operator or the payment provider.
///
/// ```
/// let account = hornbook_accounts::ids::AccountId(17);
/// let part: &dyn hornbook_accounts::audit_text::AuditPart = &account;
/// ```
///
/// A sign-in name is not:
///
/// ```compile_fail
/// let login: hornbook_accounts::people::Login = "jane@law.example".parse().unwrap();
/// let part: &dyn hornbook_accounts::audit_text::AuditPart = &login;
/// ```
///
/// Nor is a text that is not a part of the program:
///
/// ```compile_fail
/// let name = String::from("Jane Roe");
/// let part: &dyn hornbook_accounts::audit_text::AuditPart = &name.as_str();
/// ```
pub trait AuditPart: fmt::Display {}

macro_rules! audit_parts {
    ($($part:ty),*) => {$( impl AuditPart for $part {} )*};
}
audit_parts!(
    AccountId,
    KeyId,
    PurchaseId,
    OrderId,
    Payable,
    Credits,
    Budget,
    ScopeSet,
    Tier,
    u32,
    u64,
    i64,
    usize,
    &'static str
);

/// A text that the operator or the payment provider wrote for the record.
pub struct WrittenText<'t>(pub &'t str);

impl AuditPart for WrittenText<'_> {}

impl fmt::Display for WrittenText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&invisible::escaped(self.0))
    }
}

pub(crate) fn audit_text(parts: &[&dyn AuditPart]) -> String {
    parts.iter().map(ToString::to_string).collect()
}
