//! People who sign in: their names, passwords, sessions and one-time links.
//!
//! An account may have one person: a name, a password of which only a hash is stored, and a role.
//! The calls that a person makes on pages are metered on the account by a separate key that has no
//! text (`KeyKind::Web`). So limits, credits and the ledger work as for every other call.
//! `changes/people`, `changes/sessions` and `changes/links` change the records.

mod login;
mod password;
pub(super) mod people_index;
mod records;

pub use login::{LOGIN_CHARS_MAX, Login};
pub(crate) use password::StoredPassword;
pub use password::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, Password, PasswordCost};
pub use records::{LinkPurpose, LinkRecord, PersonRecord, PersonRole, SessionRecord, SignUpPolicy};

/// The path of the page for one-time links; the token follows it. Commands print it and pages serve
/// it. No log contains what follows it.
pub const LINK_PATH: &str = "/settings/link/";
