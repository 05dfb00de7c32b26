//! The texts of provisions, and the provisions that contain a passage, for comparing quotations with the law.

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::layout::layout_lines;
use hornbook_corpus::nodes::Wording;
use hornbook_corpus::outline::Status;
use hornbook_corpus::validity::ShownWording;

use super::engine::Engine;
use super::error::SearchError;
use super::law_on_day::LawOnDay;
use super::understand::{PhraseTerms, terms_in_sequence};

/// The number of words in a row by which a passage is looked up. The words of a longer passage are not all needed:
/// what is found is compared word by word.
const WORDS_LOOKED_UP: usize = 12;

/// The text of one wording of a provision.
#[derive(Clone, Copy, Debug)]
pub struct WordingText<'s> {
    pub text: &'s str,
    /// Its place in the record of the provision.
    pub place: usize,
    pub status: Status,
    /// The first day on which it is law, if the source states it.
    pub from: Option<Day>,
    /// The first day on which it is no longer law, if the source states it.
    pub to: Option<Day>,
}

/// An enumerated paragraph of a provision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledParagraph {
    /// Its labels as they follow the citation: `(a)(1)(A)`.
    pub path: String,
    /// Where it begins in the text.
    pub start: usize,
}

impl Engine {
    /// The wordings of a provision: first the one that is shown on the day, then the others. Fails if a text does
    /// not match its hash.
    pub fn wordings_on(&self, law: &LawOnDay, node: NodeOrdinal) -> Result<Vec<WordingText<'_>>, SearchError> {
        let snapshot = self.snapshot();
        let record = snapshot.nodes.get(node)?;
        let shown = law.shown(node);
        let text = |wording: &Wording| snapshot.texts.get_verified(wording.text, &wording.text_sha256);
        let wording = record.wording(shown.place);
        let ShownWording { place, status, from, to } = shown;
        let mut found = vec![WordingText { text: text(wording)?, place, status, from, to }];
        for (place, other) in record.wordings.iter().enumerate().filter(|(place, _)| *place != shown.place) {
            let validity = other.validity;
            let (status, from, to) = (validity.status, validity.from, validity.to);
            found.push(WordingText { text: text(other)?, place, status, from, to });
        }
        Ok(found)
    }

    /// The enumerated paragraphs of a wording, in order.
    pub fn paragraphs_of(&self, node: NodeOrdinal, wording: &WordingText<'_>) -> Vec<LabelledParagraph> {
        let layout = self.snapshot().layouts.of_part(node, wording.place);
        let lines = layout_lines(wording.text, layout).into_iter();
        lines.filter_map(|line| Some(LabelledParagraph { path: line.anchor?.path, start: line.range.start })).collect()
    }

    /// The provisions that contain the rarest words of a passage in a row, in any wording; at most `most`. None
    /// for a passage of fewer than two words, or of words that nearly every provision contains.
    pub fn provisions_with(&self, passage: &str, most: usize) -> Result<Option<Vec<NodeOrdinal>>, SearchError> {
        self.guarded(|| {
            let terms = terms_in_sequence(passage);
            let phrase = self.rarest_words_in_a_row(&terms)?;
            if phrase.len() < 2 || !super::keyword::is_selective(&phrase) {
                return Ok(None);
            }
            let constraints = self.keyword.constraints(&[phrase], &[], &self.all_nodes().into())?;
            let found = constraints.required.unwrap_or_default().into_iter().map(NodeOrdinal);
            Ok(Some(found.filter(|&node| self.snapshot().outline.is_provision(node)).take(most).collect()))
        })
    }

    /// The words around the rarest of some terms.
    fn rarest_words_in_a_row(&self, terms: &[String]) -> Result<PhraseTerms, SearchError> {
        let mut rarest = (u32::MAX, 0);
        for (place, term) in terms.iter().enumerate() {
            rarest = rarest.min((self.keyword.documents_with(term)?, place));
        }
        let start = rarest.1.saturating_sub(WORDS_LOOKED_UP / 2).min(terms.len().saturating_sub(WORDS_LOOKED_UP));
        let end = terms.len().min(start + WORDS_LOOKED_UP);
        Ok(terms[start..end].to_vec())
    }
}
