//! Compares each quotation of a document with the law that it is attributed to.

use std::collections::HashMap;

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_search::{Engine, LawOnDay, SearchError, WordingText};

use crate::brief::{Brief, UNREADABLE};
use crate::check_citations::{CheckedCitation, QuotedSource};
use crate::compare::{
    Difference, DifferenceKind, FoldedLaw, FoundPassage, LawWords, MarkedQuotation, WordComparison, compare_words,
};
use crate::report::{CitedProvision, QuotationFinding, QuotationVerdict};
use crate::sources::FoundQuotation;

/// The bytes of law that all quotations of a document are compared with.
const COMPARED_BYTES_MAX: u64 = 256 << 20;

/// The steps of all comparisons word by word.
const STEPS_MAX: u64 = 150_000_000;

/// The number of quotations that are sought in the whole corpus.
const LOOKUPS_MAX: u32 = 1_000;

/// The provisions compared with a quotation that is sought in the whole corpus.
const CANDIDATES_MAX: usize = 48;

/// The provisions that an answer names.
const NAMED_MAX: usize = 5;

/// The bytes of law that are kept prepared for the next quotation. Prepared, they take some twenty times the memory.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// A wording prepared for comparisons.
struct PreparedWording<'s> {
    wording: WordingText<'s>,
    folded: FoldedLaw<'s>,
    words: Option<LawWords<'s>>,
}

/// Compares quotations, and keeps the texts that it has prepared.
pub(crate) struct QuotationChecker<'s> {
    engine: &'s Engine,
    law: &'s LawOnDay,
    kept: HashMap<NodeOrdinal, Vec<PreparedWording<'s>>>,
    kept_bytes: usize,
    bytes_left: u64,
    steps_left: u64,
    lookups_left: u32,
    /// Whether anything that the present quotation needs was left out.
    is_cut: bool,
}

/// The answer to a quotation, wherever it comes from.
pub(crate) struct QuotationResult {
    pub(crate) verdict: QuotationVerdict,
    pub(crate) message: String,
    pub(crate) found_in: Vec<CitedProvision>,
    pub(crate) differences: Vec<Difference>,
}

impl QuotationResult {
    fn new(verdict: QuotationVerdict, message: impl Into<String>) -> Self {
        Self { verdict, message: message.into(), found_in: Vec::new(), differences: Vec::new() }
    }
}

impl<'s> QuotationChecker<'s> {
    pub(crate) fn new(engine: &'s Engine, law: &'s LawOnDay) -> Self {
        Self {
            engine,
            law,
            kept: HashMap::new(),
            kept_bytes: 0,
            bytes_left: COMPARED_BYTES_MAX,
            steps_left: STEPS_MAX,
            lookups_left: LOOKUPS_MAX,
            is_cut: false,
        }
    }

    /// Checks a quotation of a document.
    pub(crate) fn check(
        &mut self,
        brief: &Brief,
        quotation: &FoundQuotation,
        citations: &[CheckedCitation],
    ) -> Result<QuotationFinding, SearchError> {
        let text = quotation.text(brief.text());
        let sources: Vec<&QuotedSource> =
            quotation.sources.iter().filter_map(|&place| citations.get(place)).map(|checked| &checked.source).collect();
        let (nearest, mut result) = match text.contains(UNREADABLE) {
            true => self.compare_unreadable(&text, &sources)?,
            false => self.compare(&MarkedQuotation::new(&text), &sources)?,
        };
        if quotation.is_weak && result.verdict == QuotationVerdict::NotFound {
            let message = "no provision of this corpus has these words, but the sentence names no source: they may be from elsewhere";
            result = QuotationResult::new(QuotationVerdict::Unchecked, message);
        }
        let QuotationResult { verdict, message, found_in, differences } = result;
        Ok(QuotationFinding {
            place: brief.place(quotation.range().start),
            text: text.into_owned(),
            verdict,
            attributed_to: nearest.and_then(|source| source.citation.clone()),
            message,
            found_in,
            differences,
            range: quotation.range(),
        })
    }

    /// Compares what can be read of a quotation with its sources. The rest may be any letter.
    fn compare_unreadable<'c>(
        &mut self,
        text: &str,
        sources: &[&'c QuotedSource],
    ) -> Result<(Option<&'c QuotedSource>, QuotationResult), SearchError> {
        let readable = text.replace(UNREADABLE, "[]");
        let quoted = MarkedQuotation::new(&readable);
        for &source in sources {
            for &node in &source.nodes {
                if self.find_in(&quoted, node, 0)?.is_some() {
                    let message = "a sign of it cannot be read in this document; the rest is word for word the law";
                    let found_in = vec![self.provision(node)?];
                    let result = QuotationResult::new(QuotationVerdict::Unreadable, message);
                    return Ok((Some(source), QuotationResult { found_in, ..result }));
                }
            }
        }
        let message =
            "a sign of it cannot be read in this document, and the rest was not found; compare it by hand with the law";
        Ok((sources.first().copied(), QuotationResult::new(QuotationVerdict::Unreadable, message)))
    }

    /// Compares a quotation with its sources, and returns the source that it belongs to.
    pub(crate) fn compare<'c>(
        &mut self,
        quoted: &MarkedQuotation<'_>,
        sources: &[&'c QuotedSource],
    ) -> Result<(Option<&'c QuotedSource>, QuotationResult), SearchError> {
        self.is_cut = false;
        let nearest = sources.first().copied();
        for &source in sources {
            for &node in &source.nodes {
                if let Some(passage) = self.find_in(quoted, node, 0)? {
                    return Ok((Some(source), self.repeated(&source.subdivision, node, &passage)?));
                }
            }
        }
        for &source in sources {
            if let Some(result) = self.in_other_wording(quoted, source)? {
                return Ok((Some(source), result));
            }
        }
        if self.bytes_left == 0 {
            return Ok((nearest, too_much()));
        }
        if !sources.iter().any(|source| source.is_here || !source.nodes.is_empty()) {
            let message = "the law that it is attributed to is not in this corpus, or not clear";
            return Ok((nearest, QuotationResult::new(QuotationVerdict::Unchecked, message)));
        }
        if let Some((source, elsewhere)) = self.in_container_or_elsewhere(quoted, sources)? {
            return Ok((source.or(nearest), elsewhere));
        }
        if let Some((source, altered)) = self.altered(quoted, sources)? {
            return Ok((Some(source), altered));
        }
        if self.is_cut || self.bytes_left == 0 {
            return Ok((nearest, too_much()));
        }
        if !sources.iter().all(|source| source.is_here) {
            let message =
                "no provision of this corpus has these words, and it may be from law that is not here or not clear";
            return Ok((nearest, QuotationResult::new(QuotationVerdict::Unchecked, message)));
        }
        Ok((nearest, not_found()))
    }

    /// The answer to a quotation that its provision has.
    fn repeated(
        &mut self,
        subdivision: &str,
        node: NodeOrdinal,
        passage: &FoundPassage,
    ) -> Result<QuotationResult, SearchError> {
        let (verdict, mut message) = match passage.is_marked {
            false => (QuotationVerdict::Verbatim, "word for word the law".to_owned()),
            true => (
                QuotationVerdict::Marked,
                "word for word the law, but for what brackets and ellipses announce".to_owned(),
            ),
        };
        if !subdivision.is_empty()
            && let Some(prepared) = self.prepared(node)?.first()
        {
            let (wording, range) = (prepared.wording, prepared.folded.range_of(passage));
            let paragraphs = self.engine.paragraphs_of(node, &wording);
            let own = paragraphs.iter().rev().find(|paragraph| paragraph.start <= range.start);
            let own = own.map_or("", |own| own.path.as_str());
            let last = paragraphs.iter().rev().find(|paragraph| paragraph.start < range.end);
            let is_inside = |path: &str| path.starts_with(subdivision) || subdivision.starts_with(path);
            if !own.is_empty() && !is_inside(own) && !last.is_some_and(|last| is_inside(&last.path)) {
                message += &format!("; it is in {own}, and the citation names {subdivision}");
            }
        }
        let found_in = vec![self.provision(node)?];
        Ok(QuotationResult { found_in, ..QuotationResult::new(verdict, message) })
    }

    fn in_other_wording(
        &mut self,
        quoted: &MarkedQuotation<'_>,
        source: &QuotedSource,
    ) -> Result<Option<QuotationResult>, SearchError> {
        for &node in &source.nodes {
            for place in 1..self.prepared(node)?.len() {
                if self.find_in(quoted, node, place)?.is_none() {
                    continue;
                }
                let wording = self.prepared(node)?[place].wording;
                let days = match (wording.from, wording.to) {
                    (Some(from), Some(to)) => format!("in effect from {from} until {to}"),
                    (Some(from), None) => format!("in effect from {from}"),
                    (None, Some(to)) => format!("in effect until {to}"),
                    (None, None) => "printed beside the one in force".to_owned(),
                };
                let message = format!("word for word another wording of the provision, {days}; quote the one in force");
                let found_in = vec![self.provision(node)?];
                return Ok(Some(QuotationResult {
                    found_in,
                    ..QuotationResult::new(QuotationVerdict::OtherWording, message)
                }));
            }
        }
        Ok(None)
    }

    /// Looks in the whole corpus. A provision within a cited container is not elsewhere.
    fn in_container_or_elsewhere<'c>(
        &mut self,
        quoted: &MarkedQuotation<'_>,
        sources: &[&'c QuotedSource],
    ) -> Result<Option<(Option<&'c QuotedSource>, QuotationResult)>, SearchError> {
        let found = self.find_anywhere(quoted)?;
        if found.is_empty() {
            return Ok(None);
        }
        let outline = &self.engine.snapshot().outline;
        for (node, passage) in &found {
            let around = sources.iter().find(|source| {
                source.nodes.iter().any(|&cited| cited != *node && outline.subtree(cited).contains(node.0))
            });
            if let Some(&source) = around {
                let result = self.repeated("", *node, passage)?;
                return Ok(Some((Some(source), result)));
            }
        }
        let (name, found_in) = self.named(&found)?;
        let message = format!("not in the cited provision, but word for word in {name}; correct the citation");
        Ok(Some((None, QuotationResult { found_in, ..QuotationResult::new(QuotationVerdict::Elsewhere, message) })))
    }

    /// The answer to a quotation without a citation.
    pub(crate) fn find_source(&mut self, quoted: &MarkedQuotation<'_>) -> Result<QuotationResult, SearchError> {
        let found = self.find_anywhere(quoted)?;
        let Some((_, passage)) = found.first() else {
            return Ok(if self.is_cut { too_much() } else { not_found() });
        };
        let (verdict, how) = match passage.is_marked {
            false => (QuotationVerdict::Verbatim, "word for word"),
            true => (QuotationVerdict::Marked, "word for word, but for what brackets and ellipses announce,"),
        };
        let (name, found_in) = self.named(&found)?;
        Ok(QuotationResult { found_in, ..QuotationResult::new(verdict, format!("{how} in {name}")) })
    }

    /// The first provision that has a passage by its citation, with the number of the others, and the first few of them.
    fn named(&self, found: &[(NodeOrdinal, FoundPassage)]) -> Result<(String, Vec<CitedProvision>), SearchError> {
        let provisions = found.iter().take(NAMED_MAX).map(|(node, _)| self.provision(*node));
        let provisions = provisions.collect::<Result<Vec<_>, SearchError>>()?;
        let first = provisions.first().map_or("", |first| first.citation.as_str());
        let name = match found.len() {
            0 | 1 => first.to_owned(),
            count => format!("{first} and {} more", count - 1),
        };
        Ok((name, provisions))
    }

    /// The provisions of the corpus that have the words of a quotation, each with the passage.
    fn find_anywhere(&mut self, quoted: &MarkedQuotation<'_>) -> Result<Vec<(NodeOrdinal, FoundPassage)>, SearchError> {
        let Some(left) = self.lookups_left.checked_sub(1) else {
            self.is_cut = true;
            return Ok(Vec::new());
        };
        self.lookups_left = left;
        let mut found = Vec::new();
        let candidates = self.engine.provisions_with(quoted.longest_part(), CANDIDATES_MAX)?;
        // Commonest words alone are in nearly every provision: they are not looked up.
        self.is_cut |= candidates.as_ref().is_none_or(|candidates| candidates.len() == CANDIDATES_MAX);
        for node in candidates.unwrap_or_default() {
            if let Some(passage) = self.find_in(quoted, node, 0)? {
                found.push((node, passage));
            }
        }
        Ok(found)
    }

    fn altered<'c>(
        &mut self,
        quoted: &MarkedQuotation<'_>,
        sources: &[&'c QuotedSource],
    ) -> Result<Option<(&'c QuotedSource, QuotationResult)>, SearchError> {
        let mut best: Option<(f64, &QuotedSource, NodeOrdinal, WordComparison)> = None;
        for &source in sources {
            for &node in &source.nodes {
                let (mut steps, mut is_cut) = (self.steps_left, false);
                let Some(prepared) = self.prepared(node)?.first_mut() else { continue };
                let text = prepared.wording.text;
                let words = prepared.words.get_or_insert_with(|| LawWords::new(text));
                let compared = compare_words(quoted, words, &mut steps, &mut is_cut);
                self.steps_left = steps;
                self.is_cut |= is_cut;
                self.spend(text.len() as u64);
                if let Some(compared) = compared
                    && best.as_ref().is_none_or(|(share, ..)| compared.share > *share)
                {
                    best = Some((compared.share, source, node, compared));
                }
            }
        }
        let Some((_, source, node, compared)) = best else { return Ok(None) };
        let (verdict, message) = match compared.has_same_words {
            true => {
                let message = "every word is the law's, but the punctuation or what a mark announces differs";
                (QuotationVerdict::Punctuation, message.to_owned())
            }
            false => {
                let has = |kind| compared.differences.iter().any(|part| part.kind == kind);
                let how = match (has(DifferenceKind::OnlyQuoted), has(DifferenceKind::OnlyLaw)) {
                    (true, false) => "the quotation adds words to the law without a sign",
                    (false, true) => "the quotation leaves out words of the law without a sign",
                    _ => "the quotation changes words of the law without a sign",
                };
                let message = format!("{how}; correct it, or mark the changes with brackets and ellipses");
                (QuotationVerdict::Altered, message)
            }
        };
        let found_in = vec![self.provision(node)?];
        let result = QuotationResult { verdict, message, found_in, differences: compared.differences };
        Ok(Some((source, result)))
    }

    /// The passage of a wording that the quotation repeats.
    fn find_in(
        &mut self,
        quoted: &MarkedQuotation<'_>,
        node: NodeOrdinal,
        place: usize,
    ) -> Result<Option<FoundPassage>, SearchError> {
        if self.bytes_left == 0 {
            return Ok(None);
        }
        let Some(prepared) = self.prepared(node)?.get(place) else { return Ok(None) };
        let found = quoted.find_in(&prepared.folded);
        let searched = prepared.folded.take_searched();
        self.spend(searched);
        Ok(found)
    }

    fn spend(&mut self, bytes: u64) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes.max(64));
    }

    /// The wordings of a provision, prepared; first the one that is shown on the day.
    fn prepared(&mut self, node: NodeOrdinal) -> Result<&mut Vec<PreparedWording<'s>>, SearchError> {
        if !self.kept.contains_key(&node) {
            if self.kept_bytes > KEPT_BYTES_MAX {
                self.kept.clear();
                self.kept_bytes = 0;
            }
            let wordings = self.engine.wordings_on(self.law, node)?;
            let prepared: Vec<PreparedWording<'s>> = wordings
                .into_iter()
                .map(|wording| PreparedWording { folded: FoldedLaw::new(wording.text), wording, words: None })
                .collect();
            let bytes: usize = prepared.iter().map(|prepared| prepared.wording.text.len()).sum();
            self.kept_bytes += bytes;
            self.spend(bytes as u64);
            self.kept.insert(node, prepared);
        }
        Ok(self.kept.entry(node).or_default())
    }

    fn provision(&self, node: NodeOrdinal) -> Result<CitedProvision, SearchError> {
        let snapshot = self.engine.snapshot();
        let citation = snapshot.cards.get(node)?.citation.to_owned();
        let heading = self.engine.heading_on(self.law, node)?.into_owned();
        let node_id = self.engine.id_of(node)?;
        Ok(CitedProvision { node_id, citation, heading, status: self.law.status(node), url: None })
    }
}

fn not_found() -> QuotationResult {
    let message = "no provision of this corpus has these words; check the source, or take away the quotation marks";
    QuotationResult::new(QuotationVerdict::NotFound, message)
}

fn too_much() -> QuotationResult {
    let message = "it was not compared with everything: it is long or of very common words, or the document has too many quotations";
    QuotationResult::new(QuotationVerdict::Unchecked, message)
}
