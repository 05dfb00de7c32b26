//! People who sign in: their names, passwords, sessions and one-time links.
//!
//! An account may have one person: a name, a password of which only a hash is stored, and a role. What a person does on
//! pages is metered on the account by a key of its own that no text opens (`KeyKind::Web`), so that limits, credits and
//! the ledger are those of every other call. How the records change is in `changes/people`, `changes/sessions` and
//! `changes/links`.

mod login;
mod password;
mod records;
pub(super) mod register;

pub use login::{LOGIN_CHARS_MAX, Login};
pub(crate) use password::StoredPassword;
pub use password::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, Password, PasswordWork};
pub use records::{LinkPurpose, LinkRecord, PersonRecord, Role, SessionRecord, SignUpPolicy};

/// The page at which one-time links are used; the token follows. Commands print it, pages serve it, and no log has what
/// follows it.
pub const LINK_PATH: &str = "/settings/link/";
