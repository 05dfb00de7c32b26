//! `node`: one provision or container, with all its data.

use std::sync::Arc;

use hornbook_corpus::catalogue::Source;
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeId, NodeOrdinal, ShortCode};
use hornbook_corpus::layout::LayoutRef;
use hornbook_corpus::nodes::{NodeRecord, Wording};
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::Serialize;

use super::law_markdown;
use super::node_id::ID;
use super::references::NodeReferences;
use crate::api::as_of::RequestedDay;
use crate::api::corpus::{Corpus, NodeLink};
use crate::api::edition_freshness::{EditionCertainty, EditionFreshness};
use crate::api::error::ApiError;
use crate::api::operation::{LawCall, PreparedWork};
use crate::api::reply::{Format, Reply};
use crate::hex;
use crate::search::LawOnDay;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Node")]
pub(in crate::api) struct NodeReply<'s> {
    #[serde(skip)]
    node: NodeOrdinal,
    /// The index of the shown wording in the record. `first_note` is the index of its first note among
    /// the parts that have layouts.
    #[serde(skip)]
    place: usize,
    #[serde(skip)]
    first_note: usize,
    #[schemars(with = "uuid::Uuid")]
    pub(super) id: NodeId,
    /// Quote it word for word.
    pub(super) citation: String,
    pub(super) heading: String,
    /// The full text; empty for a container.
    text: &'s str,
    /// The code body and the headings of the ancestors, outermost first.
    breadcrumb: Vec<String>,
    #[schemars(with = "Option<String>")]
    jurisdiction: Option<&'s ShortCode>,
    pub(super) code_body: Option<&'s str>,
    #[schemars(with = "Option<uuid::Uuid>")]
    code_body_id: Option<CodeBodyId>,
    /// What the publisher calls this level, such as title, chapter or section.
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
    /// The first day on which this wording is law, if the source states it.
    #[schemars(with = "Option<String>")]
    effective_from: Option<Day>,
    /// The first day on which this wording is no longer law, if the source states it.
    #[schemars(with = "Option<String>")]
    effective_to: Option<Day>,
    /// The publisher's words on when this wording is law.
    validity_remark: Option<String>,
    /// What the edition does not know about the requested day; null if there is nothing to say.
    notice: Option<String>,
    /// Whether the edition ended more than a year before that day.
    is_outdated: bool,
    /// Where the law is now, if this provision was renumbered or transferred and its new place is known.
    successors: Vec<NodeLink<'s>>,
    /// The wordings for other days.
    wordings: Vec<WordingReply<'s>>,
    former_citations: Vec<String>,
    parallel_citations: Vec<String>,
    references: NodeReferences<'s>,
    pub(super) provenance: Provenance<'s>,
}

/// Typical size of a provision's data in addition to its text.
const METADATA_BYTES: usize = 2 << 10;

/// A note by the publisher.
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
    /// Its index in the record, which identifies its layout.
    #[serde(skip)]
    place: usize,
    /// The publisher's words on when it is law, or its heading if there are none.
    label: String,
    heading: String,
    /// Its status on the days on which it is law.
    #[schemars(with = "String")]
    status: Status,
    #[schemars(with = "Option<String>")]
    effective_from: Option<Day>,
    #[schemars(with = "Option<String>")]
    effective_to: Option<Day>,
    text: &'s str,
    source_credit: Option<&'s str>,
    notes: Vec<NoteReply<'s>>,
}

/// The source of the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Provenance<'s> {
    /// The URL that the text was read from. It may be the URL of a copy.
    pub(super) source_url: Option<String>,
    /// The URL of the provision at its publisher, if the publisher has one for each provision.
    pub(super) official_url: Option<String>,
    publisher: Option<&'s str>,
    edition: Option<&'s str>,
    #[schemars(with = "Option<String>")]
    pub(super) current_through: Option<Day>,
    retrieved_at: Option<&'s str>,
    license: Option<&'s str>,
    /// SHA-256 of the text, in hexadecimal.
    content_hash: String,
    snapshot: &'s str,
}

/// The edition of a format. Raise it whenever the output of the format changes, because a client that
/// holds the older output must get the new one. The version of an answer is computed before the answer is
/// written, so it cannot be a hash of the output.
const fn format_version(format: Format) -> u32 {
    match format {
        Format::Json | Format::Markdown | Format::Text => 3,
    }
}

pub(in crate::api) fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let node = call.corpus.node(call.get(&ID))?;
    let format = call.format;
    let asked = RequestedDay::of(call);
    let hash = hex::encode(&call.corpus.snapshot().cards.get(node)?.text_sha256_start);
    let currency = EditionFreshness::of(call.corpus, node, &asked.law.shown(node), asked.day)?;
    // The text, the snapshot, the format, and what depends on the day determine everything in the answer.
    let stretch = asked.law.stretch().unwrap_or_default();
    let day = format!("{stretch}{}", currency.knowledge.letter());
    let version = format!("{hash}-{}-{}{}-{day}", call.corpus.id(), format.name(), format_version(format));
    let corpus = Arc::clone(call.corpus);
    let work = move || {
        let reply = NodeReply::of(&corpus, node, &asked)?;
        match format {
            Format::Json => Reply::json_with_capacity(&reply, reply.text.len() + METADATA_BYTES),
            Format::Markdown => Ok(Reply::of(format, reply.as_markdown(&corpus).into())),
            Format::Text => Ok(Reply::of(format, reply.as_text().into())),
        }
    };
    Ok(PreparedWork { version: Some(version), ..PreparedWork::light(work) })
}

impl<'s> NodeReply<'s> {
    pub(in crate::api) fn of(corpus: &'s Corpus, node: NodeOrdinal, asked: &RequestedDay) -> Result<Self, ApiError> {
        let snapshot = corpus.snapshot();
        let law = &*asked.law;
        let record = snapshot.nodes.get(node)?;
        let shown = law.shown(node);
        let currency = EditionFreshness::of(corpus, node, &shown, asked.day)?;
        let body = snapshot.code_body_of(node);
        let ancestors: Vec<NodeOrdinal> = snapshot.outline.ancestors(node).collect();
        let path: Vec<NodeLink<'_>> =
            ancestors.into_iter().rev().map(|above| corpus.link(law, above)).collect::<Result<_, _>>()?;
        let mut breadcrumb: Vec<String> = body.map(|body| body.name.clone()).into_iter().collect();
        breadcrumb.extend(path.iter().map(|above| above.heading.clone().into_owned()));
        let (previous, next) = corpus.neighbours(node);
        let link = |node: Option<NodeOrdinal>| node.map(|node| corpus.link(law, node)).transpose();
        let tag = |tag: &u16| catalogue_tag(corpus, *tag);
        let wording = record.wording(shown.place);
        Ok(Self {
            node,
            place: shown.place,
            first_note: record.first_note_of(shown.place),
            id: corpus.node_id(node)?,
            text: snapshot.texts.get_verified(wording.text, &wording.text_sha256)?,
            breadcrumb,
            jurisdiction: body.map(|body| &body.jurisdiction),
            code_body: body.map(|body| body.name.as_str()),
            code_body_id: body.map(|body| body.id),
            status: shown.status,
            parent: path.last().cloned(),
            path,
            previous: link(previous)?,
            next: link(next)?,
            child_count: snapshot.outline.children(node).count(),
            tags: record.tags.iter().filter_map(tag).collect(),
            notes: notes(corpus, wording)?,
            source_credit: wording.source_credit.map(|credit| snapshot.texts.get(credit)).transpose()?,
            effective_from: shown.from,
            effective_to: shown.to,
            validity_remark: wording.remark.clone(),
            notice: currency.notice(),
            is_outdated: currency.knowledge == EditionCertainty::LongPast,
            successors: successors(corpus, law, node, shown.status)?,
            wordings: other_wordings(corpus, &record, shown.place)?,
            references: NodeReferences::of(corpus, law, node)?,
            provenance: provenance(corpus, &record, wording, currency.through),
            heading: wording.heading.clone(),
            citation: record.citation,
            level: record.level,
            number: record.number,
            former_citations: record.former_citations,
            parallel_citations: record.parallel_citations,
        })
    }

    /// Everything that a person who quotes the law must know. Before the text it states whether the law
    /// is in force.
    pub(super) fn as_markdown(&self, corpus: &Corpus) -> String {
        self.markdown_with_layout(|part| corpus.snapshot().layouts.of_part(self.node, part))
    }

    fn markdown_with_layout<'l>(&self, layout: impl Fn(usize) -> Option<LayoutRef<'l>>) -> String {
        let Self { citation, heading, .. } = self;
        let set = |text, part| law_markdown::of(text, layout(part));
        let mut out = format!("# {citation} {heading}\n\n*{}*\n\n", self.breadcrumb.join(" > "));
        for line in self.status_lines() {
            out += &format!("**{line}**\n\n");
        }
        out += &format!("{}\n", set(self.text, self.place));
        if let Some(credit) = self.source_credit {
            out += &format!("\n{credit}\n");
        }
        for wording in &self.wordings {
            let WordingReply { label, text, source_credit, .. } = wording;
            out += &format!("\n## {label}\n\n*{}*\n\n{}\n", wording.days(), set(*text, wording.place));
            if let Some(credit) = source_credit {
                out += &format!("\n{credit}\n");
            }
        }
        for (NoteReply { topic, text }, part) in self.notes.iter().zip(self.first_note..) {
            out += &format!("\n## {topic}\n\n{}\n", set(*text, part));
        }
        out + &format!("\n---\n{}\n", self.source_line())
    }

    /// Only the law, with its citation, heading, status lines and source.
    fn as_text(&self) -> String {
        let standing: String = self.status_lines().into_iter().map(|line| line + "\n").collect();
        format!(
            "{}\n{}\n{}\n{standing}\n{}\n\n{}\n",
            self.citation,
            self.heading,
            self.breadcrumb.join(" > "),
            self.text,
            self.source_line()
        )
    }

    /// What a reader must know before the text: status, days, successors, and what the edition does not know.
    fn status_lines(&self) -> Vec<String> {
        let mut facts = vec![format!("Status: {}", self.status.as_str())];
        facts.extend(self.effective_from.map(|day| format!("from {day}")));
        facts.extend(self.effective_to.map(|day| format!("until {day}")));
        let mut lines = vec![facts.join(", ")];
        if self.status == Status::Uncertain {
            lines.extend(self.validity_remark.as_ref().map(|remark| format!("The publisher says: {remark}")));
        }
        let successors: Vec<&str> = self.successors.iter().map(|successor| successor.citation).collect();
        if !successors.is_empty() {
            lines.push(format!("Now: {}", successors.join("; ")));
        }
        lines.extend(self.notice.clone());
        lines
    }

    /// Publisher, edition, URLs and hash, as far as they are known.
    fn source_line(&self) -> String {
        let Provenance { publisher, edition, current_through, source_url, official_url, content_hash, .. } =
            &self.provenance;
        let through = current_through.map(|date| format!("current through {date}"));
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

fn notes<'s>(corpus: &'s Corpus, wording: &Wording) -> Result<Vec<NoteReply<'s>>, ApiError> {
    let texts = &corpus.snapshot().texts;
    let notes = wording.notes.iter();
    notes.map(|note| Ok(NoteReply { topic: note.topic.clone(), text: texts.get(note.text)? })).collect()
}

/// All wordings except the shown one, in the order of the record.
fn other_wordings<'s>(
    corpus: &'s Corpus,
    record: &NodeRecord,
    shown: usize,
) -> Result<Vec<WordingReply<'s>>, ApiError> {
    let texts = &corpus.snapshot().texts;
    let others = record.wordings.iter().enumerate().filter(|(place, _)| *place != shown);
    let replies = others.map(|(place, wording)| {
        Ok(WordingReply {
            place,
            label: wording.remark.clone().unwrap_or_else(|| wording.heading.clone()),
            heading: wording.heading.clone(),
            status: wording.validity.status,
            effective_from: wording.validity.from,
            effective_to: wording.validity.to,
            text: texts.get_verified(wording.text, &wording.text_sha256)?,
            source_credit: wording.source_credit.map(|credit| texts.get(credit)).transpose()?,
            notes: notes(corpus, wording)?,
        })
    });
    replies.collect()
}

impl WordingReply<'_> {
    /// Its status and its days, as far as the source states them.
    fn days(&self) -> String {
        let mut facts = vec![self.status.as_str().to_owned()];
        facts.extend(self.effective_from.map(|day| format!("from {day}")));
        facts.extend(self.effective_to.map(|day| format!("until {day}")));
        facts.join(", ")
    }
}

/// The provisions that list this citation as a former one. If there are none, the only provision that
/// this one refers to.
fn successors<'s>(
    corpus: &'s Corpus,
    law: &LawOnDay,
    node: NodeOrdinal,
    status: Status,
) -> Result<Vec<NodeLink<'s>>, ApiError> {
    if !matches!(status, Status::Renumbered | Status::Transferred) {
        return Ok(Vec::new());
    }
    let snapshot = corpus.snapshot();
    let bearers = snapshot.nodes_with_citation(snapshot.cards.get(node)?.citation)?;
    let mut found: Vec<NodeOrdinal> =
        bearers.into_iter().filter(|(_, kind)| *kind == CitationKind::Former).map(|(bearer, _)| bearer).collect();
    if found.is_empty() {
        found.extend(snapshot.references.outgoing(node).take(2));
        // If it refers to several provisions, its text says more than where the provision went, so none
        // is used.
        found.truncate(if found.len() == 1 { 1 } else { 0 });
    }
    found.into_iter().filter(|&other| other != node).map(|other| corpus.link(law, other)).collect()
}

fn provenance<'s>(
    corpus: &'s Corpus,
    record: &NodeRecord,
    wording: &Wording,
    current_through: Option<Day>,
) -> Provenance<'s> {
    let source: Option<&Source> = corpus.catalogue().sources.get(usize::from(record.source));
    let own_citation = corpus.snapshot().grammar().parse(&record.citation).ok();
    Provenance {
        source_url: wording.source_url.clone().or_else(|| source.map(|source| source.url.clone())),
        official_url: source.zip(own_citation).and_then(|(source, citation)| source.official_url(&citation)),
        publisher: source.map(|source| source.publisher.as_str()),
        edition: source.map(|source| source.edition.as_str()),
        current_through,
        retrieved_at: source.map(|source| source.retrieved.as_str()),
        license: source.map(|source| source.license.as_str()),
        content_hash: format!("sha256:{}", hex::encode(&wording.text_sha256)),
        snapshot: corpus.id(),
    }
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::{Layout, Line, LineKind};
    use sha2::{Digest, Sha256};
    use uuid::Uuid;

    use super::*;

    /// A provision with every field that a format can write.
    fn whole() -> NodeReply<'static> {
        let link = || NodeLink {
            id: NodeId(Uuid::from_u128(2)),
            citation: "Title 9",
            heading: "Lights".into(),
            status: Status::InForce,
            effective_from: None,
            effective_to: None,
        };
        let dated = |date: &str| Some(date.parse().unwrap());
        let said = |words: &str| Some(words.to_owned());
        NodeReply {
            node: NodeOrdinal(0),
            place: 0,
            first_note: 2,
            id: NodeId(Uuid::from_u128(1)),
            citation: "Test Code § 9.1".into(),
            heading: "Lamps".into(),
            text: "(a) As follows:\nLamp\tWatts\nRed|blue\t40",
            breadcrumb: vec!["Test Code".into(), "Lights".into()],
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
            validity_remark: said("Expires soon"),
            notice: said("This edition is current through 2021-06-30. It does not have later changes."),
            is_outdated: false,
            successors: vec![link()],
            wordings: vec![WordingReply {
                place: 1,
                label: "Effective later".into(),
                heading: "Lamps".into(),
                status: Status::InForce,
                effective_from: dated("2022-01-01"),
                effective_to: None,
                text: "None.",
                source_credit: Some("(2021, c. 2.)"),
                notes: vec![NoteReply { topic: "Editor's note".into(), text: "Later." }],
            }],
            former_citations: vec!["Test Code § 8.1".into()],
            parallel_citations: Vec::new(),
            references: NodeReferences::default(),
            provenance: Provenance {
                source_url: said("https://example.org"),
                official_url: said("https://example.org/1"),
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

    /// If the bytes of a format change, raise its edition and write its new hash here.
    #[test]
    fn changed_output_needs_a_new_format_version() {
        let node = whole();
        let row = |kind| Line::in_table(kind, 0, 0);
        let lines = vec![Line::labelled(LineKind::Paragraph, 0, 3), row(LineKind::TableHead), row(LineKind::TableRow)];
        let layout = Layout { lines, marks: Vec::new() };
        assert_eq!(layout.check_against_text(node.text), None);
        let written = [
            (Format::Json, serde_json::to_string(&node).unwrap()),
            (Format::Markdown, node.markdown_with_layout(|part| (part == 0).then(|| layout.as_ref()))),
            (Format::Text, node.as_text()),
        ];
        let now = written.each_ref().map(|(format, written)| {
            (format.name(), format_version(*format), hex::encode(&Sha256::digest(written)[..8]))
        });
        let then = [("json", 3, "9d74b231962b5d34"), ("md", 3, "ec77d060439ba090"), ("txt", 3, "2f2135a53e7f3fa3")];
        assert_eq!(now, then.map(|(format, edition, hash)| (format, edition, hash.to_owned())), "{written:#?}");
    }
}
