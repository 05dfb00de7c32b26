//! Every wording of a provision with what its source says of its days, joined as a build joins them: for those who ask what
//! importers hand over, without a snapshot.

use hornbook_corpus::validity::Validity;

use crate::content::Content;
use crate::wordings::{in_order_of_time, validity};

/// The wordings of a provision in the order of time, for `hornbook_corpus::validity::on`.
pub fn wordings_of(provision: Content) -> Vec<(Validity, Content)> {
    let wordings = in_order_of_time(provision, Vec::new());
    wordings.into_iter().map(|wording| (validity(&wording), wording)).collect()
}
