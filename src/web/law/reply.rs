//! The fields of the reply of `node` that the page uses.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProvisionView<'b> {
    pub(super) id: &'b str,
    #[serde(borrow)]
    pub(super) citation: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) heading: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) text: Cow<'b, str>,
    pub(super) jurisdiction: Option<&'b str>,
    #[serde(borrow)]
    pub(super) code_body: Option<Cow<'b, str>>,
    pub(super) code_body_id: Option<&'b str>,
    #[serde(borrow)]
    pub(super) level: Cow<'b, str>,
    pub(super) status: &'b str,
    #[serde(borrow)]
    pub(super) path: Vec<Link<'b>>,
    #[serde(borrow)]
    pub(super) previous: Option<Link<'b>>,
    #[serde(borrow)]
    pub(super) next: Option<Link<'b>>,
    pub(super) child_count: usize,
    #[serde(borrow)]
    pub(super) tags: Vec<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) notes: Vec<NoteView<'b>>,
    #[serde(borrow)]
    pub(super) source_credit: Option<Cow<'b, str>>,
    pub(super) effective_from: Option<&'b str>,
    pub(super) effective_to: Option<&'b str>,
    #[serde(borrow)]
    pub(super) validity_remark: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) notice: Option<Cow<'b, str>>,
    pub(super) is_outdated: bool,
    #[serde(borrow)]
    pub(super) successors: Vec<Link<'b>>,
    #[serde(borrow)]
    pub(super) wordings: Vec<WordingView<'b>>,
    #[serde(borrow)]
    pub(super) former_citations: Vec<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) parallel_citations: Vec<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) references: ReferencesView<'b>,
    #[serde(borrow)]
    pub(super) provenance: ProvenanceView<'b>,
    /// The day in the page's address, if there is one. Links keep it, so they lead to the law of
    /// the same day.
    #[serde(skip)]
    pub(super) named_day: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::web) struct Link<'b> {
    pub(in crate::web) id: &'b str,
    #[serde(borrow)]
    pub(in crate::web) citation: Cow<'b, str>,
    #[serde(borrow)]
    pub(in crate::web) heading: Cow<'b, str>,
    pub(in crate::web) status: &'b str,
}

#[derive(Debug, Deserialize)]
pub(super) struct NoteView<'b> {
    #[serde(borrow)]
    pub(super) topic: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) text: Cow<'b, str>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WordingView<'b> {
    #[serde(borrow)]
    pub(super) label: Cow<'b, str>,
    pub(super) status: &'b str,
    pub(super) effective_from: Option<&'b str>,
    pub(super) effective_to: Option<&'b str>,
    #[serde(borrow)]
    pub(super) text: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) source_credit: Option<Cow<'b, str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReferencesView<'b> {
    #[serde(borrow)]
    pub(super) out: List<'b>,
    #[serde(borrow)]
    pub(super) r#in: List<'b>,
}

#[derive(Debug, Deserialize)]
pub(super) struct List<'b> {
    pub(super) total: usize,
    #[serde(borrow)]
    pub(super) nodes: Vec<Link<'b>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProvenanceView<'b> {
    #[serde(borrow)]
    pub(super) source_url: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) official_url: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) publisher: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) edition: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) current_through: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) retrieved_at: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) license: Option<Cow<'b, str>>,
    pub(super) content_hash: &'b str,
    pub(super) snapshot: &'b str,
}
