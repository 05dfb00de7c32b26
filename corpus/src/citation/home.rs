//! The place of a provision in its own code. It decides what `this title` and a bare number mean there.

use super::value::{BodyRef, Citation};

/// Where a text stands, for what it cites as `this title`, by a bare number or by the end of one.
#[derive(Clone, Copy, Debug)]
pub struct Home<'h> {
    pub body: BodyRef,
    /// The title (or chapter) of a titled form.
    pub title: Option<&'h str>,
    /// The number of the provision itself.
    pub number: Option<&'h str>,
}

impl<'h> Home<'h> {
    /// Where the provision with this citation stands. None in an appendix: `this title` is one of the act printed there.
    pub fn of(citation: &'h Citation) -> Option<Self> {
        let home = Self { body: citation.body, title: citation.title.as_deref(), number: citation.number() };
        (!citation.appendix).then_some(home)
    }
}
