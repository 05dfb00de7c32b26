//! The reply of the operation `resolve`: what a citation refers to.

use hornbook_corpus::layout::anchor_name;
use serde::Deserialize;
use uuid::Uuid;

use super::address::path_on;

/// The anchor of the notes on a page.
const NOTES: &str = "notes";

#[derive(Deserialize)]
pub(super) struct ResolutionView {
    pub(super) answers: Vec<CitationAnswerView>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::web) struct CitationAnswerView {
    pub(in crate::web) subdivision: Vec<String>,
    pub(in crate::web) notes: bool,
    pub(in crate::web) node_id: Option<Uuid>,
    pub(in crate::web) candidates: Vec<CandidateView>,
    pub(in crate::web) message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::web) struct CandidateView {
    pub(in crate::web) node_id: Uuid,
    pub(in crate::web) citation: String,
    pub(in crate::web) heading: String,
    pub(in crate::web) status: String,
}

impl CitationAnswerView {
    /// The message for people. If there are candidates, the part after the semicolon is for
    /// programs and is left out.
    pub(in crate::web) fn message_for_people(&self) -> &str {
        let end = if self.candidates.is_empty() { None } else { self.message.find(';') };
        end.map_or(&*self.message, |end| &self.message[..end])
    }

    /// The path of the one page that the citation refers to, if there is one.
    pub(in crate::web) fn target_path(&self, named_day: Option<&str>) -> Option<String> {
        let id = self.node_id?;
        let anchor = if self.notes { NOTES.to_owned() } else { anchor_name(&self.subdivision) };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_anchor = !anchor.is_empty() && anchor.bytes().all(is_plain);
        let path = path_on(&id.to_string(), named_day);
        Some(if is_anchor { format!("{path}#{anchor}") } else { path })
    }
}
