//! Every wording of a provision with its stated validity, joined as a build joins them. For callers
//! that inspect the output of importers without a snapshot.

use hornbook_corpus::day::Day;
use hornbook_corpus::validity::Validity;

use crate::content::Content;
use crate::wordings::{in_chronological_order, validity};

/// The wordings of a provision in chronological order, for `hornbook_corpus::validity::state_on`.
/// `last_known` is the last day that their edition covers.
pub fn wordings_of(provision: Content, last_known: Day) -> Vec<(Validity, Content)> {
    let wordings = in_chronological_order(provision, Vec::new());
    wordings.into_iter().map(|wording| (validity(&wording, last_known), wording)).collect()
}
