//! Who looks at a page.

use maud::{Markup, html};

use crate::door::Visit;

/// Who asks for a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Visitor {
    /// Somebody without an account, or not signed in.
    Anonymous,
}

impl Visitor {
    pub(super) const fn of(_visit: &Visit<'_>) -> Self {
        Self::Anonymous
    }

    /// The last entry of the navigation.
    pub(super) fn link(self) -> Markup {
        match self {
            Self::Anonymous => html! {},
        }
    }

    /// Pages of visitors with different names here are different pages.
    pub(super) const fn tag(self) -> &'static str {
        match self {
            Self::Anonymous => "a",
        }
    }
}
