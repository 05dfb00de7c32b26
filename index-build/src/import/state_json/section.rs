//! A section as an entry has it, taken apart into its wordings.

use crate::effect::{self, Effect};
use crate::report::WarningKind;

/// A section, taken apart.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) number: String,
    /// It also stands for the numbers up to this one.
    pub(super) last_number: Option<String>,
    /// The wordings that the source prints, each whole, in its order. There is at least one.
    pub(super) wordings: Vec<Wording>,
    /// It was found under another name than its number.
    pub(super) found_as: Option<String>,
    pub(super) faults: Vec<(WarningKind, String)>,
    /// Words of the source that are in no wording, and why.
    pub(super) left_out: Vec<(&'static str, String)>,
}

/// A wording as the source prints it.
#[derive(Debug, Default)]
pub(super) struct Wording {
    pub(super) heading: String,
    /// What the source says of its time beside its heading: `Effective January 1, 2026`.
    pub(super) effect: Effect,
    pub(super) law: Vec<String>,
    pub(super) credit: Option<String>,
    pub(super) notes: Vec<String>,
}

/// What a remark says that is known to be about the time in which a wording is law.
pub(super) fn effect_of(remark: String) -> Effect {
    effect::read(&remark).unwrap_or_else(|| Effect::unknown(remark))
}
