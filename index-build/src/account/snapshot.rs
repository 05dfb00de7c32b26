//! Reads the words of a finished snapshot back from its files, by source.

use std::collections::HashMap;
use std::path::Path;

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::{Nodes, NodesError};
use hornbook_corpus::outline::{Outline, Status};
use hornbook_corpus::section_file::SectionFileError;
use hornbook_corpus::texts::{TextDamaged, Texts};
use rayon::prelude::*;

use super::words::WordMultiset;
use crate::effect;

/// Words before source credits that only announce a credit.
pub(crate) const CREDIT_LABELS: [&str; 3] = ["Source", "History", "HISTORY"];

/// Words between the numbers of a range.
pub(super) const RANGE_WORDS: &str = "through to and inclusive";

pub(super) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The words of a source in the snapshot.
#[derive(Debug, Default)]
pub(crate) struct SnapshotWords {
    /// Words of texts, headings, notes and credits.
    pub(super) words: WordMultiset,
    pub(super) law: u64,
    pub(super) headings: u64,
    pub(super) notes: u64,
    pub(super) credits: u64,
    /// Words of numbers, citations, topics, remarks and statuses. The source contains some of them as words.
    pub(super) names: WordMultiset,
}

impl SnapshotWords {
    fn merge(&mut self, other: Self) {
        self.words.merge(other.words);
        self.names.merge(other.names);
        self.law += other.law;
        self.headings += other.headings;
        self.notes += other.notes;
        self.credits += other.credits;
    }
}

/// Why a finished snapshot could not be read back.
#[derive(Debug)]
pub enum ReadBackError {
    File(SectionFileError),
    Nodes(NodesError),
    Text(TextDamaged),
}

impl From<SectionFileError> for ReadBackError {
    fn from(error: SectionFileError) -> Self {
        Self::File(error)
    }
}

impl From<NodesError> for ReadBackError {
    fn from(error: NodesError) -> Self {
        Self::Nodes(error)
    }
}

impl From<TextDamaged> for ReadBackError {
    fn from(error: TextDamaged) -> Self {
        Self::Text(error)
    }
}

/// Reads back every node of the snapshot in `dir`, by the number of its source.
pub(super) fn read(dir: &Path) -> Result<HashMap<u16, SnapshotWords>, ReadBackError> {
    let law = SnapshotLaw { outline: Outline::open(dir)?, nodes: Nodes::open(dir)?, texts: Texts::open(dir)? };
    let total = law.outline.len();
    // One part per thread: merging many small parts takes longer than counting.
    let part = total.div_ceil(rayon::current_num_threads() as u32).max(1);
    let starts: Vec<u32> = (0..total).step_by(part as usize).collect();
    let read = starts.into_par_iter().map(|start| law.part(start, total.min(start.saturating_add(part))));
    read.try_reduce(HashMap::new, |mut all, part| {
        for (source, held) in part {
            all.entry(source).or_insert_with(SnapshotWords::default).merge(held);
        }
        Ok(all)
    })
}

struct SnapshotLaw {
    outline: Outline,
    nodes: Nodes,
    texts: Texts,
}

impl SnapshotLaw {
    fn part(&self, start: u32, end: u32) -> Result<HashMap<u16, SnapshotWords>, ReadBackError> {
        let mut by_source: HashMap<u16, SnapshotWords> = HashMap::new();
        for node in start..end {
            self.add(NodeOrdinal(node), &mut by_source)?;
        }
        Ok(by_source)
    }

    /// A remark without the remarks of its containers, which the source contains only once. A remark
    /// that equals one of them may be the provision's own, so it stays.
    fn own_remark(&self, node: NodeOrdinal, remark: &str) -> Result<String, ReadBackError> {
        let mut own = remark.to_owned();
        for container in self.outline.ancestors(node).filter(|&above| above != node) {
            let headings = self.nodes.get(container)?.wordings;
            let said = headings.iter().filter_map(|wording| effect::of_heading(&wording.heading).0.remark);
            for said in said.filter(|said| said != remark) {
                own = own.replacen(&said, "", 1);
            }
        }
        Ok(own)
    }

    fn add(&self, node: NodeOrdinal, by_source: &mut HashMap<u16, SnapshotWords>) -> Result<(), ReadBackError> {
        let record = self.nodes.get(node)?;
        let held = by_source.entry(record.source).or_default();
        for wording in &record.wordings {
            held.headings += held.words.add(&wording.heading);
            held.law += held.words.add(self.texts.get(wording.text)?);
            for note in &wording.notes {
                held.notes += held.words.add(self.texts.get(note.text)?);
                held.names.add(&note.topic);
            }
            if let Some(credit) = wording.source_credit {
                held.credits += held.words.add(self.texts.get(credit)?);
                for lead in CREDIT_LABELS {
                    held.names.add(lead);
                }
            }
            if let Some(remark) = &wording.remark {
                held.names.add(&self.own_remark(node, remark)?);
            }
            // Importers turn words such as "Repealed" into a status, and the word before a credit
            // into its topic.
            let ends_as = wording.validity.then.into_iter();
            for status in ends_as.chain([wording.validity.status]).filter(|status| *status != Status::InForce) {
                let status = status.as_str();
                held.names.add(&format!("{} {}", capitalized(status), status.to_uppercase()));
            }
        }
        let citations = [&record.former_citations, &record.parallel_citations].into_iter().flatten();
        for name in [&record.citation, &record.level].into_iter().chain(&record.number).chain(citations) {
            held.names.add(name);
        }
        held.names.add(&capitalized(&record.level));
        if !record.parallel_citations.is_empty() {
            held.names.add(RANGE_WORDS);
        }
        Ok(())
    }
}
