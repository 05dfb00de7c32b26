//! The reader of a page.

use std::sync::Arc;

use hornbook_accounts::Accounts;
use hornbook_accounts::changes::SignedIn;
use hornbook_accounts::people::PersonRole;
use hornbook_base::clock::Now;

use super::form_security::BrowserCookies;
use crate::mount::MountRequest;

/// The reader of a page.
#[derive(Clone, Debug)]
pub(super) enum Visitor {
    /// A person without an account, or one who is not signed in.
    Anonymous,
    Person(Arc<SignedIn>),
}

impl Visitor {
    /// Finds the session in memory, so it never blocks.
    pub(super) fn of(request: &MountRequest<'_>, accounts: &Accounts, now: Now) -> Self {
        let session = BrowserCookies::of(request.headers).session;
        let person = session.and_then(|token| accounts.session(&token, now));
        person.map_or(Self::Anonymous, |person| Self::Person(Arc::new(person)))
    }

    pub(super) fn is_operator(&self) -> bool {
        matches!(self, Self::Person(person) if person.role == PersonRole::Operator)
    }

    /// A short text for page versions: visitors with different tags get different pages.
    pub(super) fn page_variant(&self) -> &'static str {
        match self {
            Self::Anonymous => "a",
            Self::Person(_) if self.is_operator() => "o",
            Self::Person(_) => "p",
        }
    }
}
