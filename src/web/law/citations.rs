//! The citation formats of a provision, ready to copy.

use super::dated_provision::DatedProvision;
use crate::api::replies::NodeReply;

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
    let form = |name, text| CitationForm { name, text };
    vec![
        form("Citation", citation.to_string()),
        form("With heading", format!("{citation}, {heading}")),
        form("With edition and address", format!("{citation}{edition}, {address}{retrieved}")),
        form("Markdown", format!("[{}]({address})", in_brackets(citation))),
        form("Address", address.to_owned()),
    ]
}

/// Escapes text so that it cannot close a bracket in Markdown.
fn in_brackets(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}
