//! Splits a description, a title or a plain phrase into words: in lower case, without accents, stemmed.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use hornbook_corpus::analyzer::{Analyzer, TokenRole};

/// A word of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TermWord {
    /// The word as written, in lower case.
    pub(super) written: String,
    /// The stem, which other forms of the word share.
    pub(super) term: String,
    /// The position in the text, in bytes.
    pub(super) bytes: std::ops::Range<usize>,
}

/// The words of a text without stop words, unless it has no others. The parts of a compound are
/// separate words: `t-shirt` is also `tshirt`.
pub(super) fn words_of(text: &str) -> Vec<TermWord> {
    let all = all_words_of(text);
    let telling: Vec<TermWord> = all.iter().filter(|word| !STOP_TERMS.contains(&word.term)).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

fn all_words_of(text: &str) -> Vec<TermWord> {
    thread_local! {
        static ANALYZER: RefCell<Analyzer> = RefCell::new(Analyzer::new());
    }
    let mut words = Vec::new();
    ANALYZER.with_borrow_mut(|analyzer| {
        analyzer.analyze(text, |token| {
            let bytes = token.bytes.range();
            let written = match token.role {
                // In the text, a compound has marks between its parts; in its term it has none.
                TokenRole::Whole => token.text.to_owned(),
                TokenRole::Word | TokenRole::Part => text[bytes.clone()].to_lowercase(),
            };
            words.push(TermWord { written, term: token.text.to_owned(), bytes });
        });
    });
    words
}

static STOP_TERMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| all_words_of(STOP_WORDS).into_iter().map(|word| word.term).collect());

/// Common English words, and words that people put around a business when they describe it.
const STOP_WORDS: &str = "a about all also am an and any are as at be been but by can do does doing for from get has have \
    he her his i if in into is it its like me mine more my no not of on one or other our out over own she so some such \
    than that the their them then there these they this those through to up us very via want was we what when where \
    which while who whose will with without would you your business businesses company companies firm startup llc inc \
    corporation corp provide provides providing offer offers offering based called named mainly mostly etc";
