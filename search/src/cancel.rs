//! Stops searches whose client has disconnected.

use std::fmt;

use super::error::SearchError;

/// Tells a search whether its client has disconnected. The search checks this between its stages and
/// stops if so.
#[derive(Clone, Copy, Default)]
pub struct CancelCheck<'a>(Option<&'a (dyn Fn() -> bool + Sync)>);

impl<'a> CancelCheck<'a> {
    pub fn when(is_abandoned: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(Some(is_abandoned))
    }

    pub fn check(self) -> Result<(), SearchError> {
        if self.0.is_some_and(|is_abandoned| is_abandoned()) { Err(SearchError::Abandoned) } else { Ok(()) }
    }
}

impl fmt::Debug for CancelCheck<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Abandoned(checked)" } else { "Abandoned(never)" })
    }
}
