//! Cross references: resolves every citation in the text of a provision to provisions of the snapshot.
//!
//! This runs after all nodes are written, because law cites later provisions as often as earlier
//! ones. One pass reads the citations of every provision, and a second pass searches the texts.
//! Both run on all cores and in time proportional to the length of the law.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::path::Path;

use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::citation::{
    BodyRef, Citation, CitationKey, EnclosingProvision, Grammar, Locator, ProvisionLookup, Unit,
};
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::Nodes;
use hornbook_corpus::outline::Outline;
use hornbook_corpus::references::ReferenceWriter;
use hornbook_corpus::texts::Texts;
use rayon::prelude::*;

use crate::error::BuildError;
use crate::progress::ProgressStage;
use crate::report::{ReferenceReport, WarningKind, Warnings};

/// The number of nodes read at a time.
const BATCH_NODES: u32 = 4_096;

/// So many citations of sections that are not there show that a title is not whole, if they are a third of its citations.
/// In whole titles they are under a fifth, of sections that were repealed.
const MISSED_MIN: u32 = 20;

/// Finds and writes the references of the nodes in `dir`. Also says which titles lack much of what other law cites.
pub(crate) fn write(
    dir: &Path,
    code_bodies: &[CodeBody],
    grammar: &Grammar,
    warnings: &mut Warnings,
    stage: &mut ProgressStage,
) -> Result<ReferenceReport, BuildError> {
    let (outline, nodes, texts) = (Outline::open(dir)?, Nodes::open(dir)?, Texts::open(dir)?);
    let law = SnapshotFiles { outline, nodes, texts, code_bodies, grammar };
    let cited = CitationTable::read(&law)?;
    let mut writer = ReferenceWriter::default();
    let mut report = ReferenceReport { citations: 0, references: 0, citing: 0, cited: 0 };
    let mut reached = HashSet::new();
    let mut tally = CitationTally::new(law.outline.len());
    let total = law.outline.len();
    for start in (0..total).step_by(BATCH_NODES as usize) {
        let batch = start..total.min(start.saturating_add(BATCH_NODES));
        let (first, count) = (batch.start, batch.len() as u64);
        let found: Result<Vec<FoundCitations>, BuildError> =
            batch.into_par_iter().map(|node| law.mentioned(NodeOrdinal(node), &cited)).collect();
        for (node, mentioned) in (first..).zip(found?) {
            debug_assert!(!mentioned.nodes.contains(&NodeOrdinal(node)), "node {node} cites itself");
            writer.push(&mentioned.nodes);
            report.citations += mentioned.citations;
            report.citing += u32::from(!mentioned.nodes.is_empty());
            tally.add(&mentioned);
            reached.extend(mentioned.nodes);
        }
        stage.add(count);
    }
    report.references = writer.count();
    report.cited = reached.len() as u32;
    writer.finish(dir)?;
    tally.warn_of_gaps(&cited, grammar, warnings);
    Ok(report)
}

/// How many provisions cite each provision, and how many cite sections that are not there, by title.
struct CitationTally {
    held: Vec<u32>,
    missed: HashMap<NumberingSeries, u32>,
}

impl CitationTally {
    fn new(nodes: u32) -> Self {
        Self { held: vec![0; nodes as usize], missed: HashMap::new() }
    }

    fn add(&mut self, found: &FoundCitations) {
        for node in &found.nodes {
            self.held[node.index()] += 1;
        }
        for series in &found.missed {
            *self.missed.entry(series.clone()).or_default() += 1;
        }
    }

    /// Warns of titles that are there, but lack much of what is cited. A title of which nothing is there
    /// was not promised.
    fn warn_of_gaps(&self, cited: &CitationTable, grammar: &Grammar, warnings: &mut Warnings) {
        let mut there: HashMap<NumberingSeries, (u32, u32)> = HashMap::new();
        for (citation, held) in cited.citations.iter().zip(&self.held) {
            if let Some(citation) = citation {
                let (provisions, citations) = there.entry(series(citation)).or_default();
                *provisions += 1;
                *citations += held;
            }
        }
        let mut gaps: Vec<_> = self.missed.iter().filter(|(_, missed)| **missed >= MISSED_MIN).collect();
        gaps.sort_by_key(|(series, _)| *series);
        for (series @ (body, title, _), missed) in gaps {
            let Some((provisions, held)) = there.get(series).filter(|(_, held)| missed * 2 > *held) else { continue };
            let name = grammar.body(*body).map(|body| body.name).unwrap_or_default();
            let title = title.as_ref().map(|title| format!(", title {title}")).unwrap_or_default();
            warnings.add(
                WarningKind::IncompleteCopy,
                format!("{name}{title}"),
                format!(
                    "{missed} of {} citations of its sections name one that is not among the {provisions} here; the source seems \
                     to lack a part of it",
                    missed + held
                ),
            );
        }
    }
}

/// The files written so far, opened for reading.
struct SnapshotFiles<'g> {
    outline: Outline,
    nodes: Nodes,
    texts: Texts,
    code_bodies: &'g [CodeBody],
    grammar: &'g Grammar,
}

/// The citations in the texts of one node.
#[derive(Default)]
struct FoundCitations {
    /// The number of citations read, whether or not they resolve.
    citations: u64,
    /// The cited provisions of the snapshot, in order of mention.
    nodes: Vec<NodeOrdinal>,
    /// The series of each cited section that the snapshot does not have.
    missed: Vec<NumberingSeries>,
}

impl SnapshotFiles<'_> {
    fn mentioned(&self, node: NodeOrdinal, cited: &CitationTable) -> Result<FoundCitations, BuildError> {
        let mut mentioned = FoundCitations::default();
        if !self.outline.is_provision(node) {
            return Ok(mentioned);
        }
        let home = cited.citations[node.index()].as_ref().and_then(EnclosingProvision::of);
        let record = self.nodes.get(node)?;
        let mut seen = HashSet::from([node]);
        let mut missed = HashSet::new();
        for span in record.wordings.iter().map(|wording| wording.text) {
            let text = self.texts.get(span)?;
            let found = match home {
                Some(home) => self.grammar.find_in_provision(text, home),
                None => self.grammar.find_in(text),
            };
            for (_, citation) in found {
                mentioned.citations += 1;
                let Ok(held) = self.grammar.provisions_of(&citation, cited);
                if held.is_empty() && is_section(&citation) && missed.insert(self.grammar.key(&citation)) {
                    mentioned.missed.push(series(&citation));
                }
                let meant = if held.len() > 1 && !is_range(&citation) { self.nearest(node, held) } else { held };
                mentioned.nodes.extend(meant.into_iter().filter(|&meant| seen.insert(meant)));
            }
        }
        Ok(mentioned)
    }

    /// Of several provisions with one citation, those that share the most containers with the citing one, because a number
    /// that occurs in several articles means the one of the same article. If they still are in several containers
    /// of one code body, it is not known which is meant, so none is kept. Those in one container are versions of one.
    fn nearest(&self, citing: NodeOrdinal, mut held: Vec<NodeOrdinal>) -> Vec<NodeOrdinal> {
        let body = |node: NodeOrdinal| self.code_bodies.iter().position(|body| body.nodes.contains(node.0));
        let shared = |node: NodeOrdinal| {
            let common = self.outline.ancestors(node).find(|&above| self.outline.subtree(above).contains(citing.0));
            (body(node) == body(citing)).then(|| common.map(|above| self.outline.depth(above)))
        };
        let most = held.iter().map(|&node| shared(node)).max().flatten();
        held.retain(|&node| shared(node) == most);
        let place = |node: NodeOrdinal| (body(node), self.outline.parent(node));
        let places: Vec<_> = held.iter().map(|&node| place(node)).collect();
        let is_sure = |node: NodeOrdinal| {
            let (own, container) = place(node);
            places.iter().all(|&(body, parent)| body != own || parent == container)
        };
        held.retain(|&node| is_sure(node));
        held
    }
}

/// The citations of all provisions, and the provisions that each citation means.
struct CitationTable {
    /// By ordinal; None for containers and for citations that the grammar does not know.
    citations: Vec<Option<Citation>>,
    is_provision: Vec<bool>,
    bearers: HashMap<CitationKey, CitedProvisions>,
    former: HashMap<CitationKey, Vec<NodeOrdinal>>,
    /// The provisions whose citation is a range, by the numbering series of the range.
    ranges: HashMap<NumberingSeries, Vec<NodeOrdinal>>,
}

/// The provisions with a citation of the best kind, in order.
struct CitedProvisions {
    kind: CitationKind,
    nodes: Vec<NodeOrdinal>,
}

/// One numbering series of a code: its body, the title in lower case, whether it is the appendix.
type NumberingSeries = (BodyRef, Option<String>, bool);

fn series(citation: &Citation) -> NumberingSeries {
    (citation.body, citation.title.as_deref().map(str::to_ascii_lowercase), citation.appendix)
}

/// The citation of one provision, and all its citation keys with their kinds.
type OwnCitations = (Option<Citation>, Vec<(CitationKey, CitationKind)>);

impl CitationTable {
    fn read(law: &SnapshotFiles<'_>) -> Result<Self, BuildError> {
        let total = law.outline.len();
        let read: Result<Vec<Option<OwnCitations>>, BuildError> =
            (0..total).into_par_iter().map(|node| own_citations(law, NodeOrdinal(node))).collect();
        let mut cited = Self {
            citations: Vec::with_capacity(total as usize),
            is_provision: Vec::with_capacity(total as usize),
            bearers: HashMap::with_capacity(total as usize),
            former: HashMap::new(),
            ranges: HashMap::new(),
        };
        for (node, own) in (0..).map(NodeOrdinal).zip(read?) {
            cited.is_provision.push(own.is_some());
            let (citation, keys) = own.unwrap_or_default();
            for (key, kind) in keys {
                cited.add_provision(key, kind, node);
            }
            if let Some(citation) = citation.as_ref().filter(|citation| is_range(citation)) {
                cited.ranges.entry(series(citation)).or_default().push(node);
            }
            cited.citations.push(citation);
        }
        Ok(cited)
    }

    fn add_provision(&mut self, key: CitationKey, kind: CitationKind, node: NodeOrdinal) {
        if kind == CitationKind::Former {
            self.former.entry(key).or_default().push(node);
            return;
        }
        let bearers = self.bearers.entry(key).or_insert_with(|| CitedProvisions { kind, nodes: Vec::with_capacity(1) });
        if kind < bearers.kind {
            *bearers = CitedProvisions { kind, nodes: Vec::with_capacity(1) };
        }
        if kind == bearers.kind && bearers.nodes.last() != Some(&node) {
            bearers.nodes.push(node);
        }
    }
}

/// None for a node that is not a provision.
fn own_citations(law: &SnapshotFiles<'_>, node: NodeOrdinal) -> Result<Option<OwnCitations>, BuildError> {
    if !law.outline.is_provision(node) {
        return Ok(None);
    }
    let record = law.nodes.get(node)?;
    let citation = law.grammar.parse(&record.citation).ok();
    let mut keys = Vec::with_capacity(1);
    keys.extend(citation.as_ref().map(|citation| (law.grammar.key(citation), CitationKind::Canonical)));
    for (others, kind) in
        [(&record.parallel_citations, CitationKind::Parallel), (&record.former_citations, CitationKind::Former)]
    {
        keys.extend(others.iter().filter_map(|other| Some((law.grammar.key_of_text(other)?, kind))));
    }
    Ok(Some((citation, keys)))
}

fn is_range(citation: &Citation) -> bool {
    matches!(citation.place, Locator::Numbered { last: Some(_), .. })
}

fn is_section(citation: &Citation) -> bool {
    matches!(citation.place, Locator::Numbered { unit: Unit::Section, last: None, .. })
}

impl ProvisionLookup for CitationTable {
    type Error = Infallible;

    fn provisions(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(self.bearers.get(key).map(|bearers| bearers.nodes.clone()).unwrap_or_default())
    }

    fn formerly(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, Infallible> {
        Ok(self.former.get(key).cloned().unwrap_or_default())
    }

    fn ranges_over(&self, citation: &Citation) -> Result<Vec<NodeOrdinal>, Infallible> {
        let ranges = self.ranges.get(&series(citation)).map(Vec::as_slice).unwrap_or_default();
        let covers =
            |node: &&NodeOrdinal| self.citations[node.index()].as_ref().is_some_and(|own| own.covers(citation));
        Ok(ranges.iter().filter(covers).copied().collect())
    }

    fn node_count(&self) -> u32 {
        self.citations.len() as u32
    }

    fn is_within(&self, range: &Citation, node: NodeOrdinal) -> Result<Option<bool>, Infallible> {
        let covers = self.citations[node.index()].as_ref().is_some_and(|own| range.covers(own));
        Ok(self.is_provision[node.index()].then_some(covers))
    }
}
