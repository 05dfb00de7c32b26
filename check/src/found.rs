//! Finds the citations and quotations of a document, without a look at the law.

use std::cmp::Reverse;
use std::ops::Range;

use hornbook_corpus::citation::{Citation, Grammar, Locator, Unit};
use hornbook_corpus::day::Day;
use hornbook_search::{Engine, LawOnDay, SearchError};

use crate::attribution::attribute;
use crate::brief::{Brief, BriefBlockKind, BriefError, FINDINGS_MAX};
use crate::brief_context::{BriefContext, FullCitation};
use crate::check_citations::{LabelCache, check_citation};
use crate::check_quotations::QuotationChecker;
use crate::other_sources::other_sources;
use crate::quotations::MarkedPassages;
use crate::report::{CheckOptions, CheckReport, Finding};
use crate::sentences::sentences;
use crate::short_forms::short_forms;
use crate::sources::{BlockItem, BriefCitation, FoundQuotation, NamedSource, ReadBlock, ShortForm, any_overlaps};

/// The citations and quotations of a document.
#[derive(Debug)]
pub struct Found {
    pub(crate) citations: Vec<BriefCitation>,
    pub(crate) quotations: Vec<FoundQuotation>,
}

impl Found {
    /// Finds them. The grammar is that of the snapshot that will be asked: a plan can add codes to it.
    ///
    /// Fails if there are more than a check answers at once.
    pub fn in_document(brief: &Brief, grammar: &Grammar) -> Result<Self, BriefError> {
        let mut citations: Vec<BriefCitation> = Vec::new();
        let mut blocks: Vec<ReadBlock> = Vec::new();
        let mut context = BriefContext::default();
        let passages = MarkedPassages::of(brief);
        for (number, block) in brief.blocks().iter().enumerate() {
            let text = &brief.text()[block.range.clone()];
            let read = read_block(text, |last| passages.in_block(number, text, last), grammar, &mut context);
            let offset = block.range.start;
            let shift = |range: Range<usize>| range.start + offset..range.end + offset;
            let mut sources = Vec::with_capacity(read.items.len());
            for item in read.items {
                let range = shift(item.range);
                let citation = item.cited.map(|cited| {
                    let ShortForm { cited, is_short, is_certain } = cited;
                    citations.push(BriefCitation { range: range.clone(), cited, is_short, is_certain });
                    citations.len() - 1
                });
                sources.push(NamedSource { range, citation });
            }
            if citations.len() > FINDINGS_MAX {
                return Err(BriefError::TooManyFindings);
            }
            let sentences = read.sentences.into_iter().map(shift).collect();
            let before = blocks.last().and_then(|last| match last.kind {
                BriefBlockKind::Quote => last.before,
                _ => Some(blocks.len() - 1),
            });
            blocks.push(ReadBlock { range: block.range.clone(), kind: block.kind, sources, sentences, before });
        }
        let mut quotations = passages.quotations(brief.text(), &blocks);
        if quotations.len() > FINDINGS_MAX {
            return Err(BriefError::TooManyFindings);
        }
        for quotation in &mut quotations {
            (quotation.sources, quotation.is_weak) = attribute(quotation, &blocks, brief);
        }
        // A quotation without a source near it may be of anything: it is not checked.
        quotations.retain(|quotation| !quotation.sources.is_empty());
        let found = Self { citations, quotations };
        if found.count() > FINDINGS_MAX { Err(BriefError::TooManyFindings) } else { Ok(found) }
    }

    /// Asks the law about everything that was found.
    pub fn check(
        &self,
        engine: &Engine,
        law: &LawOnDay,
        brief: &Brief,
        as_of: Day,
        options: &CheckOptions,
    ) -> Result<CheckReport, SearchError> {
        let mut labels = LabelCache::default();
        let citations =
            self.citations.iter().map(|found| check_citation(engine, law, &mut labels, brief, found, options));
        let citations = citations.collect::<Result<Vec<_>, SearchError>>()?;
        let mut checker = QuotationChecker::new(engine, law);
        let mut findings = Vec::with_capacity(self.count());
        for quotation in &self.quotations {
            findings.push(Finding::Quotation(checker.check(brief, quotation, &citations)?));
        }
        findings.extend(citations.into_iter().map(|checked| Finding::Citation(checked.finding)));
        Ok(CheckReport::new(findings, as_of, brief.unreadable().to_vec()))
    }

    /// The bytes of all findings in the text, in the order of a report.
    pub fn ranges(&self) -> Vec<Range<usize>> {
        let citations = self.citations.iter().map(|found| found.range.clone());
        let quotations = self.quotations.iter().map(FoundQuotation::range);
        let mut ranges: Vec<Range<usize>> = quotations.chain(citations).collect();
        ranges.sort_by_key(|range| (range.start, Reverse(range.end)));
        ranges
    }

    /// Sets the place of each finding in the text of the document, after the report was read from JSON.
    pub fn locate(&self, report: &mut CheckReport) {
        for (finding, range) in report.findings.iter_mut().zip(self.ranges()) {
            match finding {
                Finding::Citation(finding) => finding.range = range,
                Finding::Quotation(finding) => finding.range = range,
            }
        }
    }

    /// The number of findings that a check will have.
    pub fn count(&self) -> usize {
        self.citations.len() + self.quotations.len()
    }
}

struct BlockItems {
    items: Vec<BlockItem>,
    sentences: Vec<Range<usize>>,
}

/// Reads a paragraph. `quoted` gives its quoted passages, and may need its last source for that.
fn read_block(
    text: &str,
    quoted: impl Fn(Option<&Range<usize>>) -> Vec<Range<usize>>,
    grammar: &Grammar,
    context: &mut BriefContext,
) -> BlockItems {
    let mut full = full_citations(text, grammar);
    let cited: Vec<Range<usize>> = full.iter().map(|(range, _)| range.clone()).collect();
    let others: Vec<Range<usize>> = other_sources(text).filter(|range| !any_overlaps(&cited, range)).collect();
    let mut whole: Vec<Range<usize>> =
        full.iter().map(|(range, _)| range.clone()).chain(others.iter().cloned()).collect();
    whole.sort_by_key(|range| range.start);
    let sentences = sentences(text, &whole);
    let quoted = quoted(whole.last());
    // A citation within a quotation is the word of its source.
    full.retain(|(range, _)| !any_overlaps(&quoted, range));
    let others = others.into_iter().filter(|range| !any_overlaps(&quoted, range)).collect();
    let items = short_forms(text, full, others, (&sentences, &quoted), grammar, context);
    BlockItems { items, sentences }
}

/// The citations of a paragraph that name their code.
fn full_citations(text: &str, grammar: &Grammar) -> Vec<(Range<usize>, FullCitation)> {
    let mut full: Vec<(Range<usize>, Citation)> = grammar.find_in(text).collect();
    let by_codes: Vec<Range<usize>> = full.iter().map(|(range, _)| range.clone()).collect();
    full.extend(grammar.acts_in(text).into_iter().filter(|(range, _)| !any_overlaps(&by_codes, range)));
    full.sort_by_key(|(range, _)| range.start);
    let mut containers = grammar.containers_in(text);
    // A container that contains another one, `subpart B of part 61 of title 14`, counts alone. Every other citation counts
    // more than a container in it.
    let is_within = |inner: &Range<usize>, outer: &Range<usize>| {
        outer.start <= inner.start && inner.end <= outer.end && inner != outer
    };
    containers.retain(|(range, _)| {
        let first = full.partition_point(|(other, _)| other.end <= range.start);
        let mut overlapping = full[first..].iter().take_while(|(other, _)| other.start < range.end);
        overlapping.all(|(other, citation)| is_within(other, range) && is_of_container(citation))
    });
    let ranges: Vec<Range<usize>> = containers.iter().map(|(range, _)| range.clone()).collect();
    full.retain(|(range, _)| !any_overlaps(&ranges, range));
    let provisions = full.into_iter().map(|(range, citation)| (range, FullCitation::Provision(citation)));
    let containers = containers.into_iter().map(|(range, container)| (range, FullCitation::Container(container)));
    let mut all: Vec<(Range<usize>, FullCitation)> = provisions.chain(containers).collect();
    all.sort_by_key(|(range, _)| range.start);
    all
}

/// Whether a citation names a part or chapter.
fn is_of_container(citation: &Citation) -> bool {
    matches!(citation.place, Locator::Numbered { unit: Unit::Part | Unit::Chapter, .. })
        && citation.subdivisions.is_empty()
}
