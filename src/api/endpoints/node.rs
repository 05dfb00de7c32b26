//! `node`: one provision or container, whole.

use std::sync::Arc;

use hornbook_corpus::catalogue::Source;
use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal, ShortCode};
use hornbook_corpus::nodes::NodeRecord;
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use super::law_markdown;
use super::node_id::ID;
use super::references::NodeReferences;
use crate::api::corpus::{Corpus, NodeLink};
use crate::api::error::ApiError;
use crate::api::operation::{LawCall, Prepared};
use crate::api::reply::{Format, Reply};
use crate::hex;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Node")]
pub(in crate::api) struct NodeReply<'s> {
    #[serde(skip)]
    node: NodeOrdinal,
    #[schemars(with = "uuid::Uuid")]
    pub(super) id: NodeId,
    /// Quote it word for word.
    pub(super) citation: String,
    pub(super) heading: String,
    /// The full text; empty for a container.
    text: &'s str,
    /// The code body and the headings of the ancestors, outermost first.
    breadcrumb: Vec<&'s str>,
    #[schemars(with = "Option<String>")]
    jurisdiction: Option<&'s ShortCode>,
    pub(super) code_body: Option<&'s str>,
    #[schemars(with = "Option<uuid::Uuid>")]
    code_body_id: Option<CodeBodyId>,
    /// What the publisher calls this level: title, chapter, section.
    level: String,
    number: Option<String>,
    #[schemars(with = "String")]
    pub(super) status: Status,
    /// The ancestors, outermost first.
    path: Vec<NodeLink<'s>>,
    parent: Option<NodeLink<'s>>,
    /// The node before it: for a provision the nearest provision of its code body, for a container its sibling.
    previous: Option<NodeLink<'s>>,
    next: Option<NodeLink<'s>>,
    child_count: usize,
    tags: Vec<&'s str>,
    notes: Vec<NoteReply<'s>>,
    source_credit: Option<&'s str>,
    effective_from: Option<String>,
    effective_to: Option<String>,
    /// Other wordings under the same citation, such as one that takes effect later.
    wordings: Vec<WordingReply<'s>>,
    former_citations: Vec<String>,
    parallel_citations: Vec<String>,
    references: NodeReferences<'s>,
    pub(super) provenance: Provenance<'s>,
}

/// What a provision usually has in addition to its text.
const BESIDE_TEXT_BYTES: usize = 2 << 10;

/// A note of the publisher.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Note")]
struct NoteReply<'s> {
    topic: String,
    text: &'s str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Wording")]
struct WordingReply<'s> {
    label: String,
    effective_from: Option<String>,
    effective_to: Option<String>,
    text: &'s str,
}

/// The source of the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Provenance<'s> {
    pub(super) source_url: Option<String>,
    publisher: Option<&'s str>,
    edition: Option<&'s str>,
    current_through: Option<String>,
    retrieved_at: Option<&'s str>,
    license: Option<&'s str>,
    /// SHA-256 of the text, in hexadecimal.
    content_hash: String,
    snapshot: &'s str,
}

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<Prepared, ApiError> {
    let node = call.corpus.node(call.get(&ID))?;
    let format = call.format;
    let hash = hex::encode(&call.corpus.snapshot().cards.get(node)?.text_sha256_start);
    // Text, snapshot and form: everything else in the answer follows from these.
    let version = format!("{hash}-{}-{}", call.corpus.id(), format.name());
    let corpus = Arc::clone(call.corpus);
    let work = move || {
        let reply = NodeReply::of(&corpus, node)?;
        match format {
            Format::Json => Reply::long_json(&reply, reply.text.len() + BESIDE_TEXT_BYTES),
            Format::Markdown => Ok(Reply::of(format, reply.as_markdown(&corpus).into())),
            Format::Text => Ok(Reply::of(format, reply.as_text().into())),
        }
    };
    Ok(Prepared { version: Some(version), ..Prepared::light(work) })
}

impl<'s> NodeReply<'s> {
    pub(in crate::api) fn of(corpus: &'s Corpus, node: NodeOrdinal) -> Result<Self, ApiError> {
        let snapshot = corpus.snapshot();
        let record = snapshot.nodes.get(node)?;
        let body = snapshot.code_body_of(node);
        let ancestors: Vec<NodeOrdinal> = snapshot.outline.ancestors(node).collect();
        let path: Vec<NodeLink<'_>> =
            ancestors.into_iter().rev().map(|above| corpus.link(above)).collect::<Result<_, _>>()?;
        let headings = path.iter().map(|above| above.heading);
        let breadcrumb = body.map(|body| body.name.as_str()).into_iter().chain(headings).collect();
        let (previous, next) = corpus.neighbours(node);
        let link = |node: Option<NodeOrdinal>| node.map(|node| corpus.link(node)).transpose();
        let tag = |tag: &u16| catalogue_tag(corpus, *tag);
        Ok(Self {
            node,
            id: corpus.node_id(node)?,
            text: snapshot.texts.hashed(record.text, &record.text_sha256)?,
            breadcrumb,
            jurisdiction: body.map(|body| &body.jurisdiction),
            code_body: body.map(|body| body.name.as_str()),
            code_body_id: body.map(|body| body.id),
            status: record.status,
            parent: path.last().copied(),
            path,
            previous: link(previous)?,
            next: link(next)?,
            child_count: snapshot.outline.children(node).count(),
            tags: record.tags.iter().filter_map(tag).collect(),
            notes: notes(corpus, &record)?,
            source_credit: record.source_credit.map(|credit| snapshot.texts.get(credit)).transpose()?,
            wordings: wordings(corpus, &record)?,
            references: NodeReferences::of(corpus, node)?,
            provenance: provenance(corpus, &record),
            citation: record.citation,
            heading: record.heading,
            level: record.level,
            number: record.number,
            effective_from: record.effective_from,
            effective_to: record.effective_to,
            former_citations: record.former_citations,
            parallel_citations: record.parallel_citations,
        })
    }

    /// Everything that who quotes it must know: what is no longer law says so before its first word.
    pub(super) fn as_markdown(&self, corpus: &Corpus) -> String {
        let Self { citation, heading, .. } = self;
        // Layouts are numbered like this: the text, then wordings, then notes.
        let mut part = 0..;
        let mut set =
            |text| law_markdown::of(text, corpus.snapshot().layouts.of_part(self.node, part.next().unwrap_or(0)));
        let mut out = format!("# {citation} {heading}\n\n*{}*\n\n", self.breadcrumb.join(" > "));
        if let Some(standing) = self.standing() {
            out += &format!("**{standing}**\n\n");
        }
        out += &format!("{}\n", set(self.text));
        if let Some(credit) = self.source_credit {
            out += &format!("\n{credit}\n");
        }
        for WordingReply { label, text, .. } in &self.wordings {
            out += &format!("\n## {label}\n\n{}\n", set(*text));
        }
        for NoteReply { topic, text } in &self.notes {
            out += &format!("\n## {topic}\n\n{}\n", set(*text));
        }
        out + &format!("\n---\n{}\n", self.origin())
    }

    /// The law and nothing beside it but its name, its standing and where it is from.
    fn as_text(&self) -> String {
        let standing = self.standing().map(|standing| format!("{standing}\n")).unwrap_or_default();
        format!(
            "{}\n{}\n{}\n{standing}\n{}\n\n{}\n",
            self.citation,
            self.heading,
            self.breadcrumb.join(" > "),
            self.text,
            self.origin()
        )
    }

    /// Unless it is simply in force.
    fn standing(&self) -> Option<String> {
        let dates = [("from", &self.effective_from), ("until", &self.effective_to)];
        let dates = dates.iter().filter_map(|(word, date)| Some(format!("{word} {}", date.as_ref()?)));
        let status = (!self.status.is_living()).then(|| self.status.as_str().to_owned());
        let told: Vec<String> = status.into_iter().chain(dates).collect();
        (!told.is_empty()).then(|| format!("Status: {}", told.join(", ")))
    }

    /// Publisher, edition, address and hash, as far as they are known.
    fn origin(&self) -> String {
        let Provenance { publisher, edition, current_through, source_url, content_hash, .. } = &self.provenance;
        let through = current_through.as_ref().map(|date| format!("current through {date}"));
        let known = [publisher.map(str::to_owned), edition.map(str::to_owned), through, source_url.clone()];
        let known: Vec<String> = known.into_iter().flatten().chain([content_hash.clone()]).collect();
        known.join("; ")
    }
}

fn catalogue_tag(corpus: &Corpus, tag: u16) -> Option<&str> {
    corpus.catalogue().tags.get(usize::from(tag)).map(String::as_str)
}

fn notes<'s>(corpus: &'s Corpus, record: &NodeRecord) -> Result<Vec<NoteReply<'s>>, ApiError> {
    let texts = &corpus.snapshot().texts;
    let notes = record.notes.iter();
    notes.map(|note| Ok(NoteReply { topic: note.topic.clone(), text: texts.get(note.text)? })).collect()
}

fn wordings<'s>(corpus: &'s Corpus, record: &NodeRecord) -> Result<Vec<WordingReply<'s>>, ApiError> {
    let texts = &corpus.snapshot().texts;
    let wordings = record.wordings.iter().map(|wording| {
        Ok(WordingReply {
            label: wording.label.clone(),
            effective_from: wording.effective_from.clone(),
            effective_to: wording.effective_to.clone(),
            text: texts.hashed(wording.text, &wording.text_sha256)?,
        })
    });
    wordings.collect()
}

fn provenance<'s>(corpus: &'s Corpus, record: &NodeRecord) -> Provenance<'s> {
    let source: Option<&Source> = corpus.catalogue().sources.get(usize::from(record.source));
    let through = record.current_through.clone();
    Provenance {
        source_url: record.source_url.clone().or_else(|| source.map(|source| source.url.clone())),
        publisher: source.map(|source| source.publisher.as_str()),
        edition: source.map(|source| source.edition.as_str()),
        current_through: through.or_else(|| source.and_then(|source| source.current_through.clone())),
        retrieved_at: source.map(|source| source.retrieved.as_str()),
        license: source.map(|source| source.license.as_str()),
        content_hash: format!("sha256:{}", hex::encode(&record.text_sha256)),
        snapshot: corpus.id(),
    }
}
