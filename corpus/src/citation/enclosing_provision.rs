//! The position of a provision in its own code. It decides what `this title` and a bare number mean in its text.

use super::value::{BodyRef, Citation};

/// The code, title and number of the provision that contains a text. They are needed to read `this title`, bare
/// numbers (`§ 13.1-345`) and the last parts of numbers (`.03`).
#[derive(Clone, Copy, Debug)]
pub struct EnclosingProvision<'h> {
    pub body: BodyRef,
    /// The title (or chapter) of a titled form.
    pub title: Option<&'h str>,
    /// The number of the provision itself.
    pub number: Option<&'h str>,
}

impl<'h> EnclosingProvision<'h> {
    /// The position of the provision with this citation. `None` in an appendix, where `this title` means a title of
    /// the act that is printed there.
    pub fn of(citation: &'h Citation) -> Option<Self> {
        let home = Self { body: citation.body, title: citation.title.as_deref(), number: citation.number() };
        (!citation.appendix).then_some(home)
    }
}
