//! Words with too little meaning to affect the ranking.

use std::collections::HashSet;
use std::sync::LazyLock;

use hornbook_corpus::analyzer::Analyzer;

/// Whether a term has too little meaning to affect the ranking. The list below has words, which are
/// analysed to get their terms.
pub(crate) fn is_stop_word(term: &str) -> bool {
    static TERMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let mut terms = HashSet::new();
        // A new analyzer, because the thread's own one may be in use: callers check terms while they
        // analyse a text.
        Analyzer::new().analyze(STOP_WORDS, |token| {
            terms.insert(token.text.to_owned());
        });
        terms
    });
    TERMS.contains(term)
}

/// The same for a word as typed in lower case, behind another word. "will" is a verb without meaning only in this
/// spelling, and not where it is a noun: `wills`, `willful` and `contest a will` speak of something.
pub(crate) fn is_stop_word_as_typed(term: &str, typed: &str, previous: Option<&str>) -> bool {
    is_stop_word(term) && !(term == "will" && (typed != "will" || previous.is_some_and(is_before_noun)))
}

/// Whether "will" behind this word is a noun.
fn is_before_noun(word: &str) -> bool {
    const BEFORE: [&str; 27] = [
        "a",
        "the",
        "my",
        "his",
        "her",
        "their",
        "our",
        "your",
        "any",
        "no",
        "this",
        "of",
        "with",
        "without",
        "by",
        "under",
        "in",
        "living",
        "last",
        "handwritten",
        "holographic",
        "valid",
        "new",
        "old",
        "joint",
        "contest",
        "probate",
    ];
    BEFORE.contains(&word) || word.ends_with("'s") || word.ends_with("’s")
}

const STOP_WORDS: &str = "a about after all also am an and any are as at be been before being both but by can cannot \
    could did do does doing done don't each either else etc ever for from get gets getting give given gives go goes \
    going got had has have having he her here hers him his how i if i'm in into is it it's its just like long make \
    makes making many may me might more most much must my need needs no nor not of off on one or other our out over own \
    really shall she should so some someone somebody something such take takes than that the their them then there \
    these they this those through to too under until up upon us use used very want wants was way we were what when \
    where whether which while who whom whose why will with within without would you your yours happen happens allowed \
    required require law laws legal illegal legally section sections";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_will_is_a_noun_behind_an_article_and_a_verb_elsewhere() {
        let is_stop = |typed: &str, previous| is_stop_word_as_typed("will", typed, previous);
        assert!(is_stop("will", None) && is_stop("will", Some("landlord")));
        assert!(!is_stop("wills", None) && !is_stop("willful", Some("by")));
        assert!(!is_stop("will", Some("a")) && !is_stop("will", Some("mother's")));
        assert!(is_stop_word_as_typed("the", "the", Some("of")) && !is_stop_word_as_typed("deed", "deed", Some("a")));
    }
}
