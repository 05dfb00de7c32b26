//! The citation formats of a provision, ready to copy.

use super::dated_provision::DatedProvision;
use crate::api::replies::NodeReply;

const YEAR_DIGITS: usize = 4;

/// A citation format with its name.
pub(super) struct CitationForm {
    pub(super) name: &'static str,
    pub(super) text: String,
}

/// All citation formats, the plain citation first.
pub(super) fn forms(provision: &DatedProvision<'_>, address: &str) -> Vec<CitationForm> {
    let NodeReply { citation, heading, provenance, .. } = &provision.reply;
    let edition = provenance.edition.as_deref().map(|edition| format!(" ({edition})")).unwrap_or_default();
    let retrieved = provenance.retrieved_at.as_deref();
    let retrieved = retrieved.map(|date| format!(" (retrieved {date})")).unwrap_or_default();
    // Rule 12: the publisher of this version, and the year through which it is current.
    let year = provenance.current_through.map(|day| day.to_string()[..YEAR_DIGITS].to_owned());
    let bluebook = provenance.publisher.as_deref().zip(year);
    let form = |name, text| CitationForm { name, text };
    let mut forms = vec![form("Citation", citation.to_string())];
    forms.extend(bluebook.map(|(publisher, year)| form("Bluebook", format!("{citation} ({publisher} {year})"))));
    forms.extend([
        form("With heading", format!("{citation}, {heading}")),
        form("With edition and address", format!("{citation}{edition}, {address}{retrieved}")),
        form("Markdown", format!("[{}]({address})", in_brackets(citation))),
        form("Address", address.to_owned()),
    ]);
    forms
}

/// Escapes text so that it cannot close a bracket in Markdown.
fn in_brackets(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}
