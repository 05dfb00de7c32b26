//! What a document has cited before a short form: its codes, the names that it defines for them, and its latest sources.

use std::collections::HashMap;

use hornbook_corpus::citation::{BodyRef, Citation, Grammar, MentionedContainer};

/// Maximum number of codes and of defined names that are remembered.
const CODES_MAX: usize = 64;

/// A code and, in a code whose numbers restart in each title, the title.
pub(crate) type Series = (BodyRef, Option<Box<str>>);

pub(crate) fn series_of(citation: &Citation) -> Series {
    (citation.body, citation.title.clone())
}

/// A citation that names its code.
pub(crate) enum FullCitation {
    Provision(Citation),
    Container(MentionedContainer),
}

/// A source that `Id.` may mean.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum LatestSource {
    Provision(Citation),
    Container(MentionedContainer),
    /// A case or another paper.
    Other,
}

impl LatestSource {
    pub(crate) fn provision(&self) -> Option<&Citation> {
        match self {
            Self::Provision(citation) => Some(citation),
            Self::Container(_) | Self::Other => None,
        }
    }

    pub(crate) fn series(&self, grammar: &Grammar) -> Option<Series> {
        match self {
            Self::Provision(citation) => Some(series_of(citation)),
            Self::Container(container) => Some(series_of_container(container, grammar)),
            Self::Other => None,
        }
    }
}

pub(crate) fn series_of_container(container: &MentionedContainer, grammar: &Grammar) -> Series {
    let title = container.title().filter(|_| grammar.has_titles(container.body()));
    (container.body(), title.map(Into::into))
}

/// What the document has cited so far.
#[derive(Default)]
pub(crate) struct BriefContext {
    /// The codes that were cited in full, each once, the latest last, with the separators of their cited numbers.
    pub(crate) series: Vec<(Series, Vec<String>)>,
    /// The code of each number that was cited in full.
    pub(crate) numbers: HashMap<Box<str>, Series>,
    /// The names that the document defines for a code or an act, the latest last.
    pub(crate) defined: Vec<(String, Series)>,
    /// The sources of the latest sentence that has any.
    pub(crate) latest: Vec<LatestSource>,
    /// The statutes that the paragraph before cites.
    pub(crate) in_block_before: Vec<Citation>,
}

impl BriefContext {
    pub(crate) fn cite(&mut self, source: LatestSource, begins_sentence: bool) {
        if begins_sentence {
            self.latest.clear();
        }
        self.latest.push(source);
    }

    pub(crate) fn define(&mut self, name: &str, series: Series) {
        self.defined.retain(|(other, _)| other != name);
        self.defined.push((name.to_owned(), series));
        if self.defined.len() > CODES_MAX {
            self.defined.remove(0);
        }
    }

    pub(crate) fn add_citation(&mut self, citation: &Citation) {
        let series = series_of(citation);
        if let Some(number) = citation.number() {
            self.numbers.insert(number.into(), series.clone());
        }
        self.add_series(series, Some(citation.number().map(separators).unwrap_or_default()));
    }

    /// Adds a code, with the separators of a number of a section of it.
    pub(crate) fn add_series(&mut self, series: Series, shape: Option<String>) {
        let known = self.series.iter().position(|(other, _)| *other == series);
        let mut shapes = known.map_or_else(Vec::new, |known| self.series.remove(known).1);
        shapes.extend(shape.filter(|shape| !shapes.contains(shape)));
        self.series.push((series, shapes));
        if self.series.len() > CODES_MAX {
            self.series.remove(0);
        }
    }

    /// The only code that the latest sentence with sources cites.
    pub(crate) fn only_series(&self, before_in_sentence: Option<&LatestSource>, grammar: &Grammar) -> Option<Series> {
        if let Some(before) = before_in_sentence {
            return before.series(grammar);
        }
        let mut series = self.latest.iter().map(|source| source.series(grammar));
        let first = series.next()??;
        series.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    /// The only source that the latest sentence with sources cites. The error says why it is not clear.
    pub(crate) fn meant_by_id(&self, before_in_sentence: Option<&LatestSource>) -> Result<LatestSource, &'static str> {
        if let Some(before) = before_in_sentence {
            return Ok(before.clone());
        }
        match self.latest.split_first() {
            None => Err("nothing is cited before it"),
            Some((first, others)) if others.iter().all(|other| other == first) => Ok(first.clone()),
            Some(_) => Err("the sentence before it cites several sources"),
        }
    }
}

/// The signs between the parts of a number: `-` and `-` in `24-3-104`.
pub(crate) fn separators(number: &str) -> String {
    number
        .chars()
        .filter(|sign| !sign.is_ascii_alphanumeric())
        .map(|sign| if sign == '–' { '-' } else { sign })
        .collect()
}
