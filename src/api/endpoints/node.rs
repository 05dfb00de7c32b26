//! `node`: one provision or container, whole.

use std::sync::Arc;

use hornbook_corpus::catalogue::Source;
use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal, ShortCode};
use hornbook_corpus::layout::LayoutRef;
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
    /// The address that the text was read from, which may be that of a copy.
    pub(super) source_url: Option<String>,
    /// The address of the provision at its publisher, if that has one for each.
    pub(super) official_url: Option<String>,
    publisher: Option<&'s str>,
    edition: Option<&'s str>,
    current_through: Option<String>,
    retrieved_at: Option<&'s str>,
    license: Option<&'s str>,
    /// SHA-256 of the text, in hexadecimal.
    content_hash: String,
    snapshot: &'s str,
}

/// The edition of a form: a number that is raised with every change of how it is written, because a client that holds an
/// older one must get the new one. The version is told before anything is written, so it cannot be a hash of that.
const fn edition(format: Format) -> u32 {
    match format {
        Format::Json | Format::Markdown | Format::Text => 2,
    }
}

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<Prepared, ApiError> {
    let node = call.corpus.node(call.get(&ID))?;
    let format = call.format;
    let hash = hex::encode(&call.corpus.snapshot().cards.get(node)?.text_sha256_start);
    // Text, snapshot and form: everything else in the answer follows from these.
    let version = format!("{hash}-{}-{}{}", call.corpus.id(), format.name(), edition(format));
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
        self.set_as_markdown(|part| corpus.snapshot().layouts.of_part(self.node, part))
    }

    fn set_as_markdown<'l>(&self, layout: impl Fn(usize) -> Option<LayoutRef<'l>>) -> String {
        let Self { citation, heading, .. } = self;
        // Layouts are numbered like this: the text, then wordings, then notes.
        let mut part = 0..;
        let mut set = |text| law_markdown::of(text, layout(part.next().unwrap_or(0)));
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
        let Provenance { publisher, edition, current_through, source_url, official_url, content_hash, .. } =
            &self.provenance;
        let through = current_through.as_ref().map(|date| format!("current through {date}"));
        let known = [
            publisher.map(str::to_owned),
            edition.map(str::to_owned),
            through,
            official_url.clone(),
            source_url.clone(),
        ];
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
    let own_citation = corpus.snapshot().grammar().parse(&record.citation).ok();
    Provenance {
        source_url: record.source_url.clone().or_else(|| source.map(|source| source.url.clone())),
        official_url: source.zip(own_citation).and_then(|(source, citation)| source.official_url(&citation)),
        publisher: source.map(|source| source.publisher.as_str()),
        edition: source.map(|source| source.edition.as_str()),
        current_through: through.or_else(|| source.and_then(|source| source.current_through.clone())),
        retrieved_at: source.map(|source| source.retrieved.as_str()),
        license: source.map(|source| source.license.as_str()),
        content_hash: format!("sha256:{}", hex::encode(&record.text_sha256)),
        snapshot: corpus.id(),
    }
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::{Layout, Line, LineKind};
    use sha2::{Digest, Sha256};
    use uuid::Uuid;

    use super::*;

    /// A provision with everything that a form can write.
    fn whole() -> NodeReply<'static> {
        let link = || NodeLink { id: NodeId(Uuid::from_u128(2)), citation: "Title 9", heading: "Lights" };
        let dated = |date: &str| Some(date.to_owned());
        NodeReply {
            node: NodeOrdinal(0),
            id: NodeId(Uuid::from_u128(1)),
            citation: "Test Code § 9.1".into(),
            heading: "Lamps".into(),
            text: "(a) As follows:\nLamp\tWatts\nRed|blue\t40",
            breadcrumb: vec!["Test Code", "Lights"],
            jurisdiction: None,
            code_body: Some("Test Code"),
            code_body_id: None,
            level: "section".into(),
            number: Some("9.1".into()),
            status: Status::Repealed,
            path: vec![link()],
            parent: Some(link()),
            previous: None,
            next: Some(link()),
            child_count: 0,
            tags: vec!["statute"],
            notes: vec![NoteReply { topic: "Amendments".into(), text: "2020: All." }],
            source_credit: Some("(1999, c. 1.)"),
            effective_from: dated("2020-01-01"),
            effective_to: dated("2021-01-01"),
            wordings: vec![WordingReply {
                label: "Effective later".into(),
                effective_from: dated("2022-01-01"),
                effective_to: None,
                text: "None.",
            }],
            former_citations: vec!["Test Code § 8.1".into()],
            parallel_citations: Vec::new(),
            references: NodeReferences::default(),
            provenance: Provenance {
                source_url: dated("https://example.org"),
                official_url: dated("https://example.org/1"),
                publisher: Some("Publisher"),
                edition: Some("2021"),
                current_through: dated("2021-06-30"),
                retrieved_at: Some("2021-07-01"),
                license: Some("CC0 1.0"),
                content_hash: "sha256:00".into(),
                snapshot: "s",
            },
        }
    }

    /// Raise the edition of a form whose bytes change, and write its new hash here.
    #[test]
    fn a_form_that_is_written_otherwise_has_another_edition() {
        let node = whole();
        let row = |kind| Line::in_table(kind, 0, 0);
        let lines = vec![Line::labelled(LineKind::Paragraph, 0, 3), row(LineKind::TableHead), row(LineKind::TableRow)];
        let layout = Layout { lines, marks: Vec::new() };
        assert_eq!(layout.mistake_for(node.text), None);
        let written = [
            (Format::Json, serde_json::to_string(&node).unwrap()),
            (Format::Markdown, node.set_as_markdown(|part| (part == 0).then(|| layout.as_ref()))),
            (Format::Text, node.as_text()),
        ];
        let now = written
            .each_ref()
            .map(|(format, written)| (format.name(), edition(*format), hex::encode(&Sha256::digest(written)[..8])));
        let then = [("json", 2, "6ad109adb9eec8c7"), ("md", 2, "9eba978f8e7407ff"), ("txt", 2, "77ee0d627978d2c0")];
        assert_eq!(now, then.map(|(format, edition, hash)| (format, edition, hash.to_owned())), "{written:#?}");
    }
}
