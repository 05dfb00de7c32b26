//! `history`: a provision through the editions that are kept, under whatever number.

use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_base::hex;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use hornbook_editions::{CodeEdition, ListedChange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changes::write_change;
use super::node_id::ID;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::node_history::{EditionOfNode, NodeHistory};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::page_links::PageLinks;
use crate::api::reply::Reply;
use crate::api::rows::{JSON, NOT_FOUND, law, law_tool, route};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

/// What became of a provision, the latest first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "History")]
pub struct HistoryReply {
    #[schemars(with = "uuid::Uuid")]
    pub id: NodeId,
    pub changes: Vec<ListedChange>,
    /// Each kept edition that has the provision.
    pub editions: Vec<EditionReply>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// The provision in one edition.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProvisionInEdition")]
pub struct EditionReply {
    #[serde(flatten)]
    pub edition: CodeEdition,
    /// Its id there: another one if it was renumbered.
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    /// The page of the provision in this edition.
    pub url: String,
    pub citation: String,
    pub heading: String,
    /// Its status on the last day of the edition.
    #[schemars(with = "String")]
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub effective_from: Option<Day>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub effective_to: Option<Day>,
    /// SHA-256 of the text, in hexadecimal.
    pub content_hash: String,
}

impl ForModel for HistoryReply {
    fn for_model(&self) -> ModelText {
        let Self { changes, editions, notices, .. } = self;
        let mut shown =
            ModelText::of(format!("{} changes in {} editions, the latest first:\n", changes.len(), editions.len()));
        shown.notes(notices);
        changes.iter().for_each(|change| write_change(&mut shown, change));
        for edition in editions {
            let through =
                edition.edition.current_through.map_or(String::new(), |day| format!(", current through {day}"));
            let (citation, status) = (&edition.citation, edition.status.as_str());
            let _ = writeln!(shown.text, "CodeEdition {}{through}: {citation}, {status}", edition.edition.edition);
        }
        shown
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "history",
    subject: Subject::Changes,
    summary: "What became of a provision in the editions that are kept, under whatever number",
    details: None,
    route: route("/api/v1/node/{id}/history", "/api/v1/node/{node}/history"),
    tool: law_tool(
        "law.history",
        "law_history",
        "Use it for when a provision changed, and what its number was; its id may be a citation. For a whole code, use law.changes.",
        &[],
    ),
    parameters: &[ID.rule, FIELDS.rule, VIEW.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<HistoryReply>(),
    model_text: Some(|json| written_for_model::<HistoryReply>(json)),
    access: law(&[Scope::Node], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let (id, corpus) = (call.get(&ID), Arc::clone(call.corpus));
    if corpus.body_of_id(id).is_none() {
        return Err(corpus.no_node(id));
    }
    let link_base = call.link_base.to_owned();
    Ok(PreparedWork::light(move || {
        let history = NodeHistory::of(&corpus, id).ok_or_else(|| corpus.no_node(id))?;
        let changes = history.changes.iter().rev().map(|change| change.listed(&corpus));
        let editions =
            history.editions.iter().rev().map(|(edition, at)| edition_reply(&corpus, edition, *at, &link_base));
        let notices = match history.editions.as_slice() {
            [(only, _)] if !corpus.has_shelf() => vec![only_edition(only)],
            _ => Vec::new(),
        };
        Reply::json(&HistoryReply {
            id,
            changes: changes.collect::<Result<_, _>>()?,
            editions: editions.collect::<Result<_, _>>()?,
            notices,
        })
    }))
}

fn only_edition(only: &CodeEdition) -> String {
    let through = only.current_through.map_or(String::new(), |day| format!(", current through {day}"));
    format!(
        "This server keeps one edition of this law ({}{through}): what changed before it is not known.",
        only.edition
    )
}

pub(super) fn edition_reply(
    corpus: &Arc<Corpus>,
    edition: &CodeEdition,
    at: EditionOfNode,
    link_base: &str,
) -> Result<EditionReply, ApiError> {
    let of = corpus.at(at.place);
    let snapshot = of.snapshot();
    let record = snapshot.nodes.get(at.node)?;
    let wording = &record.wordings[0];
    let named_day = edition.current_through.filter(|_| at.place.is_some());
    Ok(EditionReply {
        edition: edition.clone(),
        node_id: of.node_id(at.node)?,
        url: PageLinks::new(link_base, named_day).page_of(snapshot, at.node)?,
        citation: record.citation.clone(),
        heading: wording.heading.clone(),
        status: snapshot.outline.status(at.node),
        effective_from: wording.validity.from,
        effective_to: wording.validity.to,
        content_hash: format!("sha256:{}", hex::encode(&wording.text_sha256)),
    })
}
