//! A section of an entry, divided into its wordings.

use crate::effect::{self, Effect};
use crate::report::WarningKind;

/// A section, divided into its wordings.
#[derive(Debug, Default)]
pub(super) struct StateJsonSection {
    pub(super) number: String,
    /// The last number of the range that it represents.
    pub(super) last_number: Option<String>,
    /// The wordings that the source prints, each complete, in its order. There is at least one.
    pub(super) wordings: Vec<PrintedWording>,
    /// The entry name under which it was found, if that is not its number.
    pub(super) found_as: Option<String>,
    pub(super) faults: Vec<(WarningKind, String)>,
    /// Words of the source that are not in any wording, with the reason.
    pub(super) left_out: Vec<(&'static str, String)>,
}

/// A wording as the source prints it.
#[derive(Debug, Default)]
pub(super) struct PrintedWording {
    pub(super) heading: String,
    /// The effective time stated outside its heading: `Effective January 1, 2026`.
    pub(super) effect: Effect,
    pub(super) law: Vec<String>,
    pub(super) credit: Option<String>,
    pub(super) notes: Vec<String>,
}

/// The effect of a remark that is known to be about effective time.
pub(super) fn effect_of(remark: String) -> Effect {
    effect::read(&remark).unwrap_or_else(|| Effect::unknown(remark))
}
