//! What pages show of the answer to a citation.

use hornbook_corpus::layout::anchor_name;
use hornbook_search::{AnswerKind, CitationAnswer};
use maud::{Markup, html};

use crate::api::replies::LinkedCandidate;
use crate::web::untrusted_text::UntrustedText;

/// The anchor of the notes on a page.
const NOTES: &str = "notes";

/// The term for law that is listed, but whose text the snapshot does not contain. All pages use it.
pub(in crate::web) const NOT_LOADED: &str = "Text not loaded";

/// Why a citation has no page, in the terms of all pages.
pub(super) fn verdict(answer: &CitationAnswer<LinkedCandidate>) -> Option<&'static str> {
    match answer.answer {
        AnswerKind::NotHeld => Some("Not found here"),
        AnswerKind::OutsideCoverage | AnswerKind::Placeholder => Some(NOT_LOADED),
        AnswerKind::Resolved | AnswerKind::Ambiguous | AnswerKind::Malformed => None,
    }
}

/// The message for people, as a sentence after the verdict. If there are candidates, or if the verdict says
/// it, the part after the semicolon is left out.
pub(in crate::web) fn message_for_people(answer: &CitationAnswer<LinkedCandidate>) -> Markup {
    let is_short = !answer.candidates.is_empty() || answer.answer == AnswerKind::Placeholder;
    let end = answer.message.find(';').filter(|_| is_short).unwrap_or(answer.message.len());
    html! {
        @if let Some(verdict) = verdict(answer) { strong { (verdict) "." } " " }
        (UntrustedText(&answer.message[..end])) "."
    }
}

/// That the law of a place is not loaded, instead of the message for programs.
pub(in crate::web) fn place_not_loaded(message: &str) -> Markup {
    let place = message.split_once(", but ").map_or(message, |(place, _)| place);
    html! { strong { (NOT_LOADED) "." } " " (UntrustedText(place)) "." }
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
