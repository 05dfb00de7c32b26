//! `node`: one provision or container, with all its data.

use std::borrow::Cow;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_base::hex;
use hornbook_corpus::catalogue::Source;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal, ShortCode};
use hornbook_corpus::nodes::{NodeRecord, Wording};
use hornbook_corpus::outline::Status;
use hornbook_corpus::provision_url::ProvisionUrl;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::include::{INCLUDE, Included, IncludedPart, WORDING_MEMBERS, optional_in_node, optional_in_wording};
use super::node_id::ID;
use super::references::NodeReferences;
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::corpus::{Corpus, NodeLink};
use crate::api::edition_freshness::{EditionCertainty, EditionFreshness};
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::written_for_model;
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::reply::{FORMAT, Format, Reply};
use crate::api::reply_text::ReplyText;
use crate::api::rows::{NOT_FOUND, law, law_tool, route};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "Node", transform = optional_in_node)]
pub struct NodeReply<'s> {
    #[schemars(with = "uuid::Uuid")]
    pub id: NodeId,
    /// The web page on which people read it; cite it.
    pub url: String,
    /// Quote it word for word.
    pub citation: String,
    pub heading: String,
    /// The full text; empty for a container.
    pub text: ReplyText<'s>,
    /// The code body and the headings of the ancestors, outermost first.
    pub breadcrumb: Vec<String>,
    #[schemars(with = "Option<String>")]
    pub jurisdiction: Option<Cow<'s, ShortCode>>,
    pub code_body: Option<ReplyText<'s>>,
    #[schemars(with = "Option<uuid::Uuid>")]
    pub code_body_id: Option<CodeBodyId>,
    /// What the publisher calls this level, such as title, chapter or section.
    pub level: String,
    pub number: Option<String>,
    #[schemars(with = "String")]
    pub status: Status,
    /// The ancestors, outermost first.
    pub path: Vec<NodeLink<'s>>,
    pub parent: Option<NodeLink<'s>>,
    /// The node before it: for a provision the nearest provision of its code body, for a container its sibling.
    pub previous: Option<NodeLink<'s>>,
    pub next: Option<NodeLink<'s>>,
    pub child_count: usize,
    pub tags: Vec<ReplyText<'s>>,
    #[serde(default)]
    pub notes: Vec<NoteReply<'s>>,
    pub source_credit: Option<ReplyText<'s>>,
    /// The first day on which this wording is law, if the source states it.
    #[schemars(with = "Option<String>")]
    pub effective_from: Option<Day>,
    /// The first day on which this wording is no longer law, if the source states it.
    #[schemars(with = "Option<String>")]
    pub effective_to: Option<Day>,
    /// The publisher's words on when this wording is law.
    pub validity_remark: Option<String>,
    /// What the edition does not know about the requested day; null if there is nothing to say.
    pub notice: Option<String>,
    /// Whether the edition ended more than a year before that day.
    pub is_outdated: bool,
    /// The citation that its law has now, if it was renumbered or transferred and its source says where to. `successors`
    /// has the provision if this corpus contains it.
    pub now: Option<String>,
    /// Where the law is now, if this provision was renumbered or transferred and its new place is in this corpus.
    pub successors: Vec<NodeLink<'s>>,
    /// The wordings for other days.
    pub wordings: Vec<WordingReply<'s>>,
    /// The citations that this law had before it got its present number. Another provision may have such a number now.
    #[serde(default)]
    pub formerly: Vec<String>,
    #[serde(default)]
    pub parallel_citations: Vec<String>,
    #[serde(default)]
    pub references: NodeReferences<'s>,
    /// What `include` left out, of what there is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<ReplyText<'s>>,
    pub provenance: Provenance<'s>,
}

/// Typical size of a provision's data in addition to its text.
const METADATA_BYTES: usize = 2 << 10;

/// A note by the publisher.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "'de: 's"))]
#[schemars(rename = "Note")]
pub struct NoteReply<'s> {
    pub topic: String,
    pub text: ReplyText<'s>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "Wording", transform = optional_in_wording)]
pub struct WordingReply<'s> {
    /// The publisher's words on when it is law, or its heading if there are none.
    pub label: String,
    pub heading: String,
    /// Its status on the days on which it is law.
    #[schemars(with = "String")]
    pub status: Status,
    #[schemars(with = "Option<String>")]
    pub effective_from: Option<Day>,
    #[schemars(with = "Option<String>")]
    pub effective_to: Option<Day>,
    /// Absent if `include` left it out, like its credit and notes.
    #[serde(default)]
    pub text: ReplyText<'s>,
    pub source_credit: Option<ReplyText<'s>>,
    #[serde(default)]
    pub notes: Vec<NoteReply<'s>>,
    /// The URL that this wording was read from, if the source names one.
    pub source_url: Option<String>,
}

/// The source of the text.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
pub struct Provenance<'s> {
    /// The URL that the text was read from. It may be the URL of a copy.
    pub source_url: Option<String>,
    /// The URL of the provision at its publisher, if the publisher has one for each provision.
    pub official_url: Option<String>,
    pub publisher: Option<ReplyText<'s>>,
    pub edition: Option<ReplyText<'s>>,
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    pub retrieved_at: Option<ReplyText<'s>>,
    pub license: Option<ReplyText<'s>>,
    /// SHA-256 of the text, in hexadecimal.
    pub content_hash: String,
    pub snapshot: ReplyText<'s>,
}

impl Provenance<'_> {
    /// The day on which the copy was retrieved, if its source does not state through which day it is current.
    pub(super) fn day_of_copy(&self) -> Option<Day> {
        let retrieved = self.retrieved_at.as_deref().filter(|_| self.current_through.is_none());
        retrieved.and_then(|day| day.parse().ok())
    }
}

/// The edition of a format. Raise it whenever the output of the format changes, because a client that
/// holds the older output must get the new one. The version of an answer is computed before the answer is
/// written, so it cannot be a hash of the output.
pub(super) const fn format_version(format: Format) -> u32 {
    match format {
        Format::Json => 8,
        Format::Markdown | Format::Text => 5,
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "node",
    subject: Subject::Law,
    summary: "One provision or container: full text, citation, ancestors, provenance",
    details: None,
    route: route("/api/v1/node/{id}", "/api/v1/node/{node}"),
    tool: law_tool(
        "law.get_node",
        "get_law_node",
        "Use it to read law whose id, citation or address you have. To find law, use law.search.",
        &[("include", "law")],
    ),
    parameters: &[ID.rule, INCLUDE.rule, FORMAT.rule, FIELDS.rule, VIEW.rule, AS_OF.rule],
    body: None,
    formats: &Format::ALL,
    errors: NOT_FOUND,
    has_version: true,
    reply: |generator| generator.subschema_for::<NodeReply<'static>>(),
    model_text: Some(|json| written_for_model::<NodeReply<'_>>(json)),
    access: law(&[Scope::Node], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let node = call.corpus.node(call.get(&ID))?;
    let format = call.format;
    let asked = RequestedDay::of(call);
    let hash = hex::encode(&call.corpus.snapshot().cards.get(node)?.text_sha256_start);
    let currency = EditionFreshness::of(call.corpus, node, &asked.law.shown(node), asked.day)?;
    // The text, the snapshot, the format, and what depends on the day determine everything in the answer.
    let stretch = asked.law.stretch().unwrap_or_default();
    let day = format!("{stretch}{}", currency.knowledge.letter());
    let included = Included::of(call.get(&INCLUDE));
    let form = format!("{}{}{}", format.name(), format_version(format), included.mark());
    let version = format!("{hash}-{}-{form}-{day}", call.corpus.id());
    let corpus = Arc::clone(call.corpus);
    let work = move || {
        let reply = NodeReply::of(&corpus, node, &asked, included)?;
        match format {
            Format::Json if included != Included::ALL => Reply::json(&reply.without(included)?),
            Format::Json => Reply::json_with_capacity(&reply, reply.text.len() + METADATA_BYTES),
            Format::Markdown => Ok(Reply::of(format, reply.as_markdown(&corpus, &asked.law)?.into())),
            Format::Text => Ok(Reply::of(format, reply.as_text().into())),
        }
    };
    Ok(PreparedWork { version: Some(version), ..PreparedWork::light(work) })
}

impl<'s> NodeReply<'s> {
    pub(in crate::api) fn of(
        corpus: &'s Corpus,
        node: NodeOrdinal,
        asked: &RequestedDay,
        included: Included,
    ) -> Result<Self, ApiError> {
        let snapshot = corpus.snapshot();
        let law = &*asked.law;
        let record = snapshot.nodes.get(node)?;
        let shown = law.shown(node);
        let currency = EditionFreshness::of(corpus, node, &shown, asked.day)?;
        let body = snapshot.code_body_of(node);
        let ancestors: Vec<NodeOrdinal> = snapshot.outline.ancestors(node).collect();
        let link = |node| corpus.link(law, &asked.pages, node);
        let path: Vec<NodeLink<'_>> = ancestors.into_iter().rev().map(link).collect::<Result<_, _>>()?;
        let mut breadcrumb: Vec<String> = body.map(|body| body.name.clone()).into_iter().collect();
        breadcrumb.extend(path.iter().map(|above| above.heading.to_string()));
        let (previous, next) = corpus.neighbours(node);
        let tag = |tag: &u16| catalogue_tag(corpus, *tag);
        let wording = record.wording(shown.place);
        let has = |part| included.has(part);
        let references = &snapshot.references;
        let has_credits = wording.source_credit.is_some()
            || !record.former_citations.is_empty()
            || !record.parallel_citations.is_empty();
        let has_references = references.outgoing(node).len() + references.incoming(node).len() > 0;
        let existing = [
            (IncludedPart::Notes, !wording.notes.is_empty()),
            (IncludedPart::Credits, has_credits),
            (IncludedPart::References, has_references),
            (IncludedPart::Wordings, record.wordings.len() > 1),
        ];
        Ok(Self {
            id: corpus.node_id(node)?,
            url: asked.pages.page_of(corpus.snapshot(), node)?,
            text: snapshot.texts.get_verified(wording.text, &wording.text_sha256)?.into(),
            breadcrumb,
            jurisdiction: body.map(|body| Cow::Borrowed(&body.jurisdiction)),
            code_body: body.map(|body| ReplyText::from(&body.name)),
            code_body_id: body.map(|body| body.id),
            status: shown.status,
            parent: path.last().cloned(),
            path,
            previous: previous.map(link).transpose()?,
            next: next.map(link).transpose()?,
            child_count: snapshot.outline.children(node).count(),
            tags: record.tags.iter().filter_map(tag).collect(),
            notes: if has(IncludedPart::Notes) { notes(corpus, wording)? } else { Vec::new() },
            source_credit: if has(IncludedPart::Credits) { credit(corpus, wording)? } else { None },
            effective_from: shown.from,
            effective_to: shown.to,
            validity_remark: wording.remark.clone(),
            notice: currency.notice(),
            is_outdated: currency.knowledge == EditionCertainty::LongPast,
            now: corpus.engine().now(node, &record)?,
            successors: successors(corpus, asked, node, shown.status)?,
            wordings: other_wordings(corpus, &record, shown.place, has(IncludedPart::Wordings))?,
            references: match has(IncludedPart::References) {
                true => NodeReferences::of(corpus, asked, node)?,
                false => NodeReferences::default(),
            },
            left_out: included.left_out(&existing).into_iter().map(ReplyText::from).collect(),
            provenance: provenance(corpus, node, &record, wording, currency.through)?,
            heading: wording.heading.clone(),
            citation: record.citation,
            level: record.level,
            number: record.number,
            formerly: if has(IncludedPart::Credits) { record.former_citations } else { Vec::new() },
            parallel_citations: if has(IncludedPart::Credits) { record.parallel_citations } else { Vec::new() },
        })
    }

    /// Its JSON without the members that the call did not want: an empty list would say that there is nothing.
    fn without(&self, included: Included) -> Result<serde_json::Value, ApiError> {
        let written = serde_json::to_value(self);
        let mut json = written.map_err(|error| ApiError::internal(format!("write JSON: {error}")))?;
        if let Some(members) = json.as_object_mut() {
            included.members_left_out().for_each(|name| drop(members.remove(name)));
        }
        if !included.has(IncludedPart::Wordings) {
            let wordings = json["wordings"].as_array_mut().into_iter().flatten();
            for wording in wordings.filter_map(serde_json::Value::as_object_mut) {
                WORDING_MEMBERS.iter().for_each(|name| drop(wording.remove(*name)));
            }
        }
        Ok(json)
    }
}

fn catalogue_tag(corpus: &Corpus, tag: u16) -> Option<ReplyText<'_>> {
    corpus.catalogue().tags.get(usize::from(tag)).map(ReplyText::from)
}

fn credit<'s>(corpus: &'s Corpus, wording: &Wording) -> Result<Option<ReplyText<'s>>, ApiError> {
    let credit = wording.source_credit.map(|credit| corpus.snapshot().texts.get(credit)).transpose()?;
    Ok(credit.map(ReplyText::from))
}

fn notes<'s>(corpus: &'s Corpus, wording: &Wording) -> Result<Vec<NoteReply<'s>>, ApiError> {
    let texts = &corpus.snapshot().texts;
    let notes = wording.notes.iter();
    notes.map(|note| Ok(NoteReply { topic: note.topic.clone(), text: texts.get(note.text)?.into() })).collect()
}

/// All wordings except the shown one, in the order of the record.
fn other_wordings<'s>(
    corpus: &'s Corpus,
    record: &NodeRecord,
    shown: usize,
    with_texts: bool,
) -> Result<Vec<WordingReply<'s>>, ApiError> {
    let texts = &corpus.snapshot().texts;
    let others = record.wordings.iter().enumerate().filter(|(place, _)| *place != shown);
    let replies = others.map(|(_, wording)| {
        Ok(WordingReply {
            label: wording.remark.clone().unwrap_or_else(|| wording.heading.clone()),
            heading: wording.heading.clone(),
            status: wording.validity.status,
            effective_from: wording.validity.from,
            effective_to: wording.validity.to,
            text: match with_texts {
                true => texts.get_verified(wording.text, &wording.text_sha256)?.into(),
                false => ReplyText::default(),
            },
            source_credit: if with_texts { credit(corpus, wording)? } else { None },
            notes: if with_texts { notes(corpus, wording)? } else { Vec::new() },
            source_url: wording.source_url.clone(),
        })
    });
    replies.collect()
}

fn successors<'s>(
    corpus: &'s Corpus,
    asked: &RequestedDay,
    node: NodeOrdinal,
    status: Status,
) -> Result<Vec<NodeLink<'s>>, ApiError> {
    let found = corpus.engine().successors(node, status)?.into_iter();
    found.map(|other| corpus.link(&asked.law, &asked.pages, other)).collect()
}

fn provenance<'s>(
    corpus: &'s Corpus,
    node: NodeOrdinal,
    record: &NodeRecord,
    wording: &Wording,
    current_through: Option<Day>,
) -> Result<Provenance<'s>, ApiError> {
    let source: Option<&Source> = corpus.catalogue().sources.get(usize::from(record.source));
    let template = source.and_then(|source| source.provision_url.as_ref());
    Ok(Provenance {
        source_url: wording.source_url.clone().or_else(|| source.map(|source| source.url.clone())),
        official_url: template
            .map(|template| official_url(corpus, node, record, wording, template))
            .transpose()?
            .flatten(),
        publisher: source.map(|source| ReplyText::from(&source.publisher)),
        edition: source.map(|source| ReplyText::from(&source.edition)),
        current_through,
        retrieved_at: source.map(|source| ReplyText::from(&source.retrieved)),
        license: source.map(|source| ReplyText::from(&source.license)),
        content_hash: format!("sha256:{}", hex::encode(&wording.text_sha256)),
        snapshot: corpus.id().into(),
    })
}

fn official_url(
    corpus: &Corpus,
    node: NodeOrdinal,
    record: &NodeRecord,
    wording: &Wording,
    template: &ProvisionUrl,
) -> Result<Option<String>, ApiError> {
    let snapshot = corpus.snapshot();
    let Ok(citation) = snapshot.grammar().parse(&record.citation) else { return Ok(None) };
    let mut containers = Vec::new();
    if template.has_containers() {
        for above in snapshot.outline.ancestors(node) {
            let NodeRecord { level, number, .. } = snapshot.nodes.get(above)?;
            containers.push((level, number));
        }
    }
    let container = |level: &str| {
        let found = containers.iter().find(|(found, _)| found == level);
        found.and_then(|(_, number)| number.clone())
    };
    Ok(template.address(&citation, container, wording.source_url.as_deref()))
}
