//! The places where a text cites provisions in the snapshot. They become links with previews.

use std::ops::Range;

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::layout::anchor_name;
use hornbook_corpus::nodes::NodeRecord;
use hornbook_corpus::outline::Status;
use hornbook_corpus::validity::ShownWording;
use hornbook_search::LawOnDay;

use super::dated_provision::DatedProvision;
use crate::api::corpus::{Corpus, NodeLink};
use crate::api::error::ApiError;
use crate::api::page_links::PageLinks;

/// Maximum number of links in a text, and of previews.
const MENTIONS_MAX: usize = 2_000;
const PREVIEWS_MAX: usize = 40;

/// Maximum length of a preview, in characters.
const BEGINNING_CHARS: usize = 220;

/// The citations in a text, in order and without overlaps.
#[derive(Debug, Default)]
pub(super) struct CitationLinks {
    places: Vec<CitationLink>,
    previews: Vec<Preview>,
}

#[derive(Debug)]
pub(super) struct CitationLink {
    pub(super) bytes: Range<usize>,
    pub(super) address: String,
    /// The anchor of the subdivision, such as `#a-1`; empty if there is none.
    pub(super) anchor: String,
    /// The status and days of the provision if it is not in force, such as `repealed`.
    pub(super) standing: Option<String>,
    /// The index into the previews.
    pub(super) preview: Option<usize>,
}

/// The preview of a cited provision.
#[derive(Debug)]
pub(super) struct Preview {
    node: NodeOrdinal,
    pub(super) citation: String,
    pub(super) heading: String,
    pub(super) status: Status,
    pub(super) effective_from: Option<Day>,
    pub(super) effective_to: Option<Day>,
    pub(super) beginning: String,
}

impl CitationLinks {
    pub(super) fn of(
        corpus: &Corpus,
        law: &LawOnDay,
        pages: &PageLinks,
        provision: &DatedProvision<'_>,
    ) -> Result<Self, ApiError> {
        let mut mentions = Self::default();
        if provision.references.out.total == 0 {
            return Ok(mentions);
        }
        for (bytes, node, subdivision) in
            corpus.engine().mentions(&provision.citation, &provision.text, MENTIONS_MAX)?
        {
            let anchor = if subdivision.is_empty() { String::new() } else { format!("#{}", anchor_name(&subdivision)) };
            let address = pages.page_of(corpus.snapshot(), node)?;
            let preview = mentions.preview(corpus, law, pages, node)?;
            let standing = standing(&law.shown(node));
            mentions.places.push(CitationLink { bytes, address, anchor, standing, preview });
        }
        Ok(mentions)
    }

    /// The index of a provision's preview, which is created at the first mention.
    fn preview(
        &mut self,
        corpus: &Corpus,
        law: &LawOnDay,
        pages: &PageLinks,
        node: NodeOrdinal,
    ) -> Result<Option<usize>, ApiError> {
        let known = self.previews.iter().position(|preview| preview.node == node);
        if known.is_some() || self.previews.len() == PREVIEWS_MAX {
            return Ok(known);
        }
        let NodeLink { citation, heading, status, effective_from, effective_to, .. } = corpus.link(law, pages, node)?;
        let record: NodeRecord = corpus.snapshot().nodes.get(node)?;
        let text = corpus.snapshot().texts.get(record.wording(law.shown(node).place).text)?;
        let (citation, heading) = (citation.to_string(), heading.chars().take(BEGINNING_CHARS).collect());
        let beginning = beginning(text);
        self.previews.push(Preview { node, citation, heading, status, effective_from, effective_to, beginning });
        Ok(Some(self.previews.len() - 1))
    }

    pub(super) fn previews(&self) -> &[Preview] {
        &self.previews
    }

    /// The mentions within a byte range of the text.
    pub(super) fn within(&self, bytes: Range<usize>) -> &[CitationLink] {
        let from = self.places.partition_point(|mention| mention.bytes.start < bytes.start);
        let to = self.places.partition_point(|mention| mention.bytes.end <= bytes.end);
        self.places.get(from..to).unwrap_or_default()
    }
}

/// For the tooltip of a link: what a reader must know before following it.
fn standing(shown: &ShownWording) -> Option<String> {
    let ShownWording { status, from, to, .. } = shown;
    if *status == Status::InForce && to.is_none() {
        return None;
    }
    let from = from.filter(|_| *status != Status::InForce).map(|day| format!(" from {day}"));
    let to = to.map(|day| format!(" until {day}"));
    Some(format!("{}{}{}", status.as_str(), from.unwrap_or_default(), to.unwrap_or_default()))
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(BEGINNING_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => {
            let words = &text[..end];
            format!("{}…", words.rsplit_once(' ').map_or(words, |(words, _)| words))
        }
    }
}
