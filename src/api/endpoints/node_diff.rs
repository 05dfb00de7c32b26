//! `diff`: the words of a provision on two days, compared.

use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use hornbook_editions::{CodeEdition, TextDifference, TextDifferenceKind, marked_text, text_difference};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_id::ID;
use crate::api::as_of::today;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::node_history::NodeHistory;
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::Param;
use crate::api::reply::Reply;
use crate::api::rows::{JSON, NOT_FOUND, law, route};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

pub(in crate::api) const FROM: Param<Option<Day>> =
    Param::optional("from", "the earlier day, 2020-01-31; default: before its last change");

pub(in crate::api) const TO: Param<Option<Day>> = Param::optional("to", "the later day; default: today");

/// Two wordings of a provision, compared word by word.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WordingDifference")]
pub struct DiffReply {
    #[schemars(with = "uuid::Uuid")]
    pub id: NodeId,
    pub from: DatedWording,
    pub to: DatedWording,
    /// Whether they have the same words; typography and spacing make no difference.
    pub is_same: bool,
    /// The parts in order. What is same or added is the later wording; what is same or removed, the earlier one.
    pub differences: Vec<TextDifference>,
}

/// The wording of a provision on a day.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DatedWording")]
pub struct DatedWording {
    /// The day that was asked about.
    #[schemars(with = "String")]
    pub day: Day,
    #[serde(flatten)]
    pub edition: CodeEdition,
    pub citation: String,
    pub heading: String,
    #[schemars(with = "String")]
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub effective_from: Option<Day>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub effective_to: Option<Day>,
}

impl ForModel for DiffReply {
    fn for_model(&self) -> ModelText {
        let Self { from, to, is_same, differences, .. } = self;
        let head = format!("{} on {} and {} on {}", from.citation, from.day, to.citation, to.day);
        ModelText::of(match is_same {
            true => format!("{head}: the words are the same.\n"),
            false => format!("{head}, [-removed-] {{+added+}}:\n{}\n", marked_text(differences)),
        })
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "diff",
    subject: Subject::Changes,
    summary: "The words of a provision on two days, compared",
    details: Some(
        "Each day is answered by the edition that is current on it, and by the wording that is law on that day in it.",
    ),
    route: route("/api/v1/node/{id}/diff", "/api/v1/node/{node}/diff"),
    tool: None,
    parameters: &[ID.rule, FROM.rule, TO.rule, FIELDS.rule, VIEW.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<DiffReply>(),
    model_text: Some(|json| written_for_model::<DiffReply>(json)),
    access: law(&[Scope::Node], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let (id, corpus) = (call.get(&ID), Arc::clone(call.corpus));
    if corpus.body_of_id(id).is_none() {
        return Err(corpus.no_node(id));
    }
    let (from, to) = (call.get(&FROM), call.get(&TO).unwrap_or_else(|| today(call.now)));
    if from.is_some_and(|from| from > to) {
        return Err(ApiError::invalid_parameter(FROM.rule.name, format!("it is after {to}; give the earlier day")));
    }
    Ok(PreparedWork::heavy(move |_| {
        let history = NodeHistory::of(&corpus, id).ok_or_else(|| corpus.no_node(id))?;
        let from = from.or_else(|| day_before_last_change(&corpus, &history)).unwrap_or(to);
        let (old, old_text) = wording_on(&corpus, &history, from)?;
        let (new, new_text) = wording_on(&corpus, &history, to)?;
        let differences = text_difference(&old_text, &new_text);
        let is_same = differences.iter().all(|part| part.kind == TextDifferenceKind::Same);
        Reply::json(&DiffReply { id, from: old, to: new, is_same, differences })
    }))
}

/// The last day of the edition before the newest change of its words.
fn day_before_last_change(corpus: &Arc<Corpus>, history: &NodeHistory<'_>) -> Option<Day> {
    let edition = history.last_rewording().map(|change| change.old.0);
    let first = || history.editions.iter().map(|(edition, _)| *edition).find(|edition| edition.snapshot != corpus.id());
    edition.or_else(first)?.current_through
}

fn wording_on(corpus: &Arc<Corpus>, history: &NodeHistory<'_>, day: Day) -> Result<(DatedWording, String), ApiError> {
    let Some((edition, at)) = history.on(corpus, day) else {
        let kept: Vec<&str> = history.editions.iter().map(|(edition, _)| edition.edition.as_str()).collect();
        return Err(ApiError::not_found(format!(
            "the edition for {day} does not have this provision; these have it: {}",
            kept.join(", ")
        )));
    };
    let of = corpus.at(at.place);
    let (snapshot, shown) = (of.snapshot(), of.engine().law_on(Some(day)).shown(at.node));
    let record = snapshot.nodes.get(at.node)?;
    let wording = record.wording(shown.place);
    let text = snapshot.texts.get_verified(wording.text, &wording.text_sha256)?.to_owned();
    let dated = DatedWording {
        day,
        edition: edition.clone(),
        citation: record.citation.clone(),
        heading: wording.heading.clone(),
        status: shown.status,
        effective_from: shown.from,
        effective_to: shown.to,
    };
    Ok((dated, text))
}
