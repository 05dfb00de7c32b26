//! The parts of a comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of the comparison of a quotation with the law, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    pub kind: DifferenceKind,
    pub text: String,
}

/// Where the words of a part are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    Same,
    /// Only in the quotation.
    OnlyQuoted,
    /// Only in the law.
    OnlyLaw,
}

/// A comparison as one line: `[-words that only the quotation has-] {+words that only the law has+}`.
pub fn compared_text(differences: &[Difference]) -> String {
    let parts = differences.iter().map(|Difference { kind, text }| match kind {
        DifferenceKind::Same => text.clone(),
        DifferenceKind::OnlyQuoted => format!("[-{text}-]"),
        DifferenceKind::OnlyLaw => format!("{{+{text}+}}"),
    });
    parts.collect::<Vec<_>>().join(" ")
}
