//! Counts the words of nodes as importers deliver them, for a check that writes no snapshot.

use super::snapshot::{CREDIT_LABELS, RANGE_WORDS, SnapshotWords, capitalized};
use crate::content::Content;

impl SnapshotWords {
    /// Adds the words of one wording of a node.
    pub(crate) fn add_content(&mut self, content: &Content) {
        self.headings += self.words.add(&content.heading);
        self.law += self.words.add(content.text.as_deref().unwrap_or_default());
        for note in &content.notes {
            self.notes += self.words.add(&note.text);
            self.names.add(&note.topic);
        }
        if let Some(credit) = &content.source_credit {
            self.credits += self.words.add(credit);
            for lead in CREDIT_LABELS {
                self.names.add(lead);
            }
        }
        let citations = content.former_citations.iter().chain(&content.parallel_citations);
        let names = [&content.citation, &content.level].into_iter().chain(&content.number).chain(citations);
        for name in names.chain(&content.effect.remark) {
            self.names.add(name);
        }
        self.names.add(&capitalized(&content.level));
        if !content.parallel_citations.is_empty() {
            self.names.add(RANGE_WORDS);
        }
        if let Some(status) = content.status {
            self.names.add(&format!("{} {}", capitalized(status.as_str()), status.as_str().to_uppercase()));
        }
    }
}
