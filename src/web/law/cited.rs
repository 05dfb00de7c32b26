//! What pages show of the answer to a citation.

use hornbook_corpus::layout::anchor_name;
use hornbook_search::CitationAnswer;

use crate::api::replies::LinkedCandidate;

/// The anchor of the notes on a page.
const NOTES: &str = "notes";

/// The message for people. If there are candidates, the part after the semicolon is for programs and is
/// left out.
pub(in crate::web) fn message_for_people(answer: &CitationAnswer<LinkedCandidate>) -> &str {
    let end = if answer.candidates.is_empty() { None } else { answer.message.find(';') };
    end.map_or(&*answer.message, |end| &answer.message[..end])
}

/// The path of the one page that the citation refers to, if there is one.
pub(in crate::web) fn target_path(answer: &CitationAnswer<LinkedCandidate>) -> Option<String> {
    let target = answer.candidates.iter().find(|candidate| Some(candidate.cited.node_id) == answer.node_id)?;
    let anchor = if answer.notes { NOTES.to_owned() } else { anchor_name(&answer.subdivision) };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_anchor = !anchor.is_empty() && anchor.bytes().all(is_plain);
    let url = &target.url;
    Some(if is_anchor { format!("{url}#{anchor}") } else { url.clone() })
}
