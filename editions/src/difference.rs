//! The words that differ between two wordings.
//!
//! First the lines are compared, then the words within the lines that differ. The parts repeat both texts as they are:
//! what is the same or added makes up the new text, letter by letter.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use rustc_hash::FxHasher;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::words::{Token, tokens};

/// Fewer words that both wordings have are shown as changed too, if the changes on both sides of them have more than
/// [`CHANGED_WORDS_PER_SHARED`] times as many: single words between changes cannot be read.
const SHARED_WORDS_MIN: usize = 3;

const CHANGED_WORDS_PER_SHARED: usize = 3;

/// A passage of more words on either side is shown as replaced as a whole.
const WORDS_MAX: usize = 40_000;

/// A part of the comparison of two wordings, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextDifference {
    pub kind: TextDifferenceKind,
    pub text: String,
}

/// Where the words of a part are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextDifferenceKind {
    /// In both; as the new wording prints it.
    Same,
    /// Only in the old wording.
    Removed,
    /// Only in the new wording.
    Added,
}

/// A comparison as text: `[-removed words-]{+added words+}`.
pub fn marked_text(differences: &[TextDifference]) -> String {
    differences.iter().fold(String::new(), |mut shown, TextDifference { kind, text }| {
        let (opens, closes) = match kind {
            TextDifferenceKind::Same => ("", ""),
            TextDifferenceKind::Removed => ("[-", "-]"),
            TextDifferenceKind::Added => ("{+", "+}"),
        };
        // White space at the end stays outside, so that lines remain lines.
        let words = text.trim_end();
        shown.extend([opens, words, closes, &text[words.len()..]]);
        shown
    })
}

/// Compares two wordings.
pub fn text_difference(old: &str, new: &str) -> Vec<TextDifference> {
    let (old, new) = (TokenizedText::new(old), TokenizedText::new(new));
    let mut steps = WordSteps::default();
    for line in capture_diff_slices(Algorithm::Patience, &old.line_hashes, &new.line_hashes) {
        match line {
            DiffOp::Equal { new_index, len, .. } => steps.same(new.tokens_of(new_index, len)),
            DiffOp::Delete { old_index, old_len, .. } => steps.removed(old.tokens_of(old_index, old_len)),
            DiffOp::Insert { new_index, new_len, .. } => steps.added(new.tokens_of(new_index, new_len)),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let (old_part, new_part) = (old.tokens_of(old_index, old_len), new.tokens_of(new_index, new_len));
                compare_words(&old, old_part, &new, new_part, &mut steps);
            }
        }
    }
    steps.shown(&old, &new)
}

/// Compares the words of two passages.
fn compare_words(
    old: &TokenizedText<'_>,
    old_part: Range<usize>,
    new: &TokenizedText<'_>,
    new_part: Range<usize>,
    steps: &mut WordSteps,
) {
    if old_part.len().max(new_part.len()) > WORDS_MAX {
        steps.removed(old_part);
        steps.added(new_part);
        return;
    }
    let hashes = |tokens: &[Token]| -> Vec<u64> { tokens.iter().map(|token| token.hash).collect() };
    let (old_words, new_words) = (hashes(&old.tokens[old_part.clone()]), hashes(&new.tokens[new_part.clone()]));
    let (old_start, new_start) = (old_part.start, new_part.start);
    let of = |start: usize, index: usize, length: usize| start + index..start + index + length;
    for word in capture_diff_slices(Algorithm::Myers, &old_words, &new_words) {
        match word {
            DiffOp::Equal { old_index, new_index, len } if len < SHARED_WORDS_MIN => {
                steps.shared(of(old_start, old_index, len), of(new_start, new_index, len));
            }
            DiffOp::Equal { new_index, len, .. } => steps.same(of(new_start, new_index, len)),
            DiffOp::Delete { old_index, old_len, .. } => steps.removed(of(old_start, old_index, old_len)),
            DiffOp::Insert { new_index, new_len, .. } => steps.added(of(new_start, new_index, new_len)),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                steps.removed(of(old_start, old_index, old_len));
                steps.added(of(new_start, new_index, new_len));
            }
        }
    }
}

/// A text with its words, and its lines as hashes of their words.
struct TokenizedText<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    line_hashes: Vec<u64>,
    /// For each line, its first token; then the number of tokens.
    line_starts: Vec<usize>,
}

impl<'t> TokenizedText<'t> {
    fn new(text: &'t str) -> Self {
        let tokens: Vec<Token> = tokens(text).collect();
        let (mut line_hashes, mut line_starts) = (Vec::new(), Vec::new());
        let mut at = 0;
        let mut end_of_line = 0;
        for line in text.split_inclusive('\n') {
            end_of_line += line.len();
            let start = at;
            let mut hasher = FxHasher::default();
            while let Some(token) = tokens.get(at).filter(|token| token.range.start < end_of_line) {
                token.hash.hash(&mut hasher);
                at += 1;
            }
            if at > start {
                line_starts.push(start);
                line_hashes.push(hasher.finish());
            }
        }
        line_starts.push(tokens.len());
        Self { text, tokens, line_hashes, line_starts }
    }

    /// The tokens of some lines.
    fn tokens_of(&self, line: usize, count: usize) -> Range<usize> {
        self.line_starts[line]..self.line_starts[line + count]
    }

    /// The text of some tokens, with the white space behind them and, for the first, before them.
    fn text_of(&self, tokens: &Range<usize>) -> &'t str {
        let start = if tokens.start == 0 { 0 } else { self.tokens[tokens.start].range.start };
        let end = self.tokens.get(tokens.end).map_or(self.text.len(), |next| next.range.start);
        &self.text[start..end]
    }

    /// The white space right before a token.
    fn space_before(&self, token: usize) -> &'t str {
        let before = token.checked_sub(1).map_or(0, |last| self.tokens[last].range.end);
        let between = &self.text[before..self.tokens[token].range.start];
        if between.chars().all(char::is_whitespace) { between } else { "" }
    }
}

/// What becomes of the words, as ranges of tokens.
#[derive(Default)]
struct WordSteps(Vec<WordStep>);

enum WordStep {
    /// Tokens of the new text that both texts have.
    Same(Range<usize>),
    Removed(Range<usize>),
    Added(Range<usize>),
    /// A few tokens that both texts have, between changes.
    Shared(Range<usize>, Range<usize>),
}

/// The number of words in the change that these steps begin with.
fn changed_words<'s>(steps: impl Iterator<Item = &'s WordStep>) -> usize {
    let changed = steps.map_while(|step| match step {
        WordStep::Removed(tokens) | WordStep::Added(tokens) => Some(tokens.len()),
        WordStep::Same(_) | WordStep::Shared(..) => None,
    });
    changed.sum()
}

impl WordSteps {
    fn same(&mut self, new: Range<usize>) {
        self.0.push(WordStep::Same(new));
    }

    fn removed(&mut self, old: Range<usize>) {
        self.0.push(WordStep::Removed(old));
    }

    fn added(&mut self, new: Range<usize>) {
        self.0.push(WordStep::Added(new));
    }

    fn shared(&mut self, old: Range<usize>, new: Range<usize>) {
        self.0.push(WordStep::Shared(old, new));
    }

    /// The parts as texts, with neighbours of one kind joined.
    fn shown(self, old: &TokenizedText<'_>, new: &TokenizedText<'_>) -> Vec<TextDifference> {
        let mut parts = Parts { shown: Vec::new(), removed: String::new(), added: String::new() };
        for (place, step) in self.0.iter().enumerate() {
            match step {
                WordStep::Removed(tokens) => parts.remove(old, tokens),
                WordStep::Added(tokens) => parts.added.push_str(new.text_of(tokens)),
                WordStep::Shared(in_old, in_new)
                    if changed_words(self.0[..place].iter().rev()) + changed_words(self.0[place + 1..].iter())
                        > CHANGED_WORDS_PER_SHARED * (in_old.len() + in_new.len()) =>
                {
                    parts.remove(old, in_old);
                    parts.added.push_str(new.text_of(in_new));
                }
                WordStep::Same(tokens) | WordStep::Shared(_, tokens) => parts.same(new.text_of(tokens)),
            }
        }
        parts.end_change();
        parts.shown
    }
}

struct Parts {
    shown: Vec<TextDifference>,
    /// What a change removed and added so far.
    removed: String,
    added: String,
}

impl Parts {
    /// The white space before removed words is shown with them, if the newer text has none there.
    fn remove(&mut self, old: &TokenizedText<'_>, tokens: &Range<usize>) {
        let is_apart = self.shown.last().is_none_or(|before| before.text.ends_with(char::is_whitespace));
        if self.removed.is_empty() && !is_apart {
            self.removed.push_str(old.space_before(tokens.start));
        }
        self.removed.push_str(old.text_of(tokens));
    }

    fn same(&mut self, text: &str) {
        self.end_change();
        match self.shown.last_mut() {
            Some(TextDifference { kind: TextDifferenceKind::Same, text: before }) => before.push_str(text),
            _ => self.shown.push(TextDifference { kind: TextDifferenceKind::Same, text: text.to_owned() }),
        }
    }

    fn end_change(&mut self) {
        let parts = [
            (TextDifferenceKind::Removed, std::mem::take(&mut self.removed)),
            (TextDifferenceKind::Added, std::mem::take(&mut self.added)),
        ];
        let said = parts.into_iter().filter(|(_, text)| !text.is_empty());
        self.shown.extend(said.map(|(kind, text)| TextDifference { kind, text }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::words::has_same_words;

    fn marked(old: &str, new: &str) -> String {
        marked_text(&text_difference(old, new))
    }

    #[test]
    fn words_that_differ_are_marked() {
        assert_eq!(
            marked("A tenant may pay within 10 days.", "A tenant shall pay within 14 days."),
            "A tenant [-may-] {+shall+} pay within [-10-] {+14+} days."
        );
        assert_eq!(
            marked("(a) One.\n(b) Two.", "(a) One.\n(b) Two.\n(c) Three."),
            "(a) One.\n(b) Two.\n{+(c) Three.+}"
        );
        assert_eq!(marked("“A” means—\nb", "''A'' means -- b"), "''A'' means -- b", "typography is no difference");
        assert_eq!(marked("interest or fees are due", "interest, fees are due"), "interest[- or-] {+,+} fees are due");
        assert_eq!(marked("", "New law."), "{+New law.+}");
        assert_eq!(marked("Old law.", ""), "[-Old law.-]");
    }

    #[test]
    fn single_words_between_changes_are_part_of_the_change() {
        assert_eq!(
            marked("the Secretary of Labor and his staff", "the Director under Budget and her office"),
            "the [-Secretary of Labor and his staff-]{+Director under Budget and her office+}"
        );
    }

    #[test]
    fn long_texts_without_common_words_are_compared_in_bounded_time() {
        let text = |seed: u64| -> String {
            (0..60_000_u64).map(|at| format!("w{} ", at.wrapping_mul(seed) % 9_973)).collect()
        };
        let (old, new) = (text(7_919), text(104_729));
        assert!(text_difference(&old, &new).len() >= 2);
    }

    const WORDS: [&str; 8] = ["may", "shall", "the", "owner", "(a)", "—", "“fee”", "days."];

    fn text_of(words: &[(usize, bool)]) -> String {
        words
            .iter()
            .map(|&(word, ends_line)| format!("{}{}", WORDS[word], if ends_line { "\n" } else { " " }))
            .collect()
    }

    proptest! {
        #[test]
        fn the_parts_are_both_texts(
            old in prop::collection::vec((0..WORDS.len(), any::<bool>()), 0..40),
            new in prop::collection::vec((0..WORDS.len(), any::<bool>()), 0..40),
        ) {
            let (old, new) = (text_of(&old), text_of(&new));
            let parts = text_difference(&old, &new);
            let without = |left_out: TextDifferenceKind| -> String {
                parts.iter().filter(|part| part.kind != left_out).map(|part| part.text.as_str()).collect()
            };
            prop_assert_eq!(without(TextDifferenceKind::Removed), new.clone());
            prop_assert!(has_same_words(&without(TextDifferenceKind::Added), &old));
            let is_same = parts.iter().all(|part| part.kind == TextDifferenceKind::Same);
            prop_assert_eq!(is_same, has_same_words(&old, &new));
        }
    }
}
