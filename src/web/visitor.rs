//! Who looks at a page.

use std::sync::Arc;

use maud::{Markup, html};

use super::browser::Browser;
use super::frame::Section;
use crate::accounts::Accounts;
use crate::accounts::changes::SignedIn;
use crate::accounts::people::Role;
use crate::clock::Now;
use crate::door::Visit;

/// Who asks for a page.
#[derive(Clone, Debug)]
pub(super) enum Visitor {
    /// Somebody without an account, or not signed in.
    Anonymous,
    Person(Arc<SignedIn>),
}

impl Visitor {
    /// In memory: a page does not wait for the state.
    pub(super) fn of(visit: &Visit<'_>, accounts: &Accounts, now: Now) -> Self {
        let session = Browser::of(visit.headers).session;
        let person = session.and_then(|token| accounts.session(&token, now));
        person.map_or(Self::Anonymous, |person| Self::Person(Arc::new(person)))
    }

    /// The last entries of the navigation.
    pub(super) fn link(&self, shown: Section) -> Markup {
        let entry = |section: Section, path: &str, name: &str| {
            html! { a href=(path) aria-current=[(section == shown).then_some("page")] { (name) } }
        };
        match self {
            Self::Anonymous => entry(Section::Account, "/settings", "Sign in"),
            Self::Person(person) => html! {
                @if person.role == Role::Operator { (entry(Section::Operator, "/operator", "Operator")) }
                (entry(Section::Account, "/settings", "Account"))
            },
        }
    }

    /// Pages of visitors with different names here are different pages.
    pub(super) fn tag(&self) -> &'static str {
        match self {
            Self::Anonymous => "a",
            Self::Person(person) if person.role == Role::Operator => "o",
            Self::Person(_) => "p",
        }
    }
}
