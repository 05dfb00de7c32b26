//! Finds provisions of one edition among those of another by their words, for provisions whose numbers changed.

use std::cmp::Reverse;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::words::tokens;

/// Texts of fewer words are too much alike: "Definitions apply."
const WORDS_MIN: usize = 12;

/// The words of a passage by which texts are compared.
const PASSAGE_WORDS: usize = 5;

/// A passage that more texts have shows nothing.
const BEARERS_MAX: usize = 16;

/// Two texts are one provision if at least this share of the passages of the longer one is in both.
pub(crate) const SHARE_MIN: f64 = 0.5;

/// The words of a provision, for comparing it with others.
pub(crate) struct TextPrint {
    whole: u64,
    /// Hashes of its passages, each once, in ascending order.
    passages: Vec<u64>,
}

impl TextPrint {
    /// None for a text that is too short.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let words: Vec<u64> = tokens(text).map(|token| token.hash).collect();
        if words.len() < WORDS_MIN {
            return None;
        }
        let hash = |words: &[u64]| {
            let mut hasher = FxHasher::default();
            words.hash(&mut hasher);
            hasher.finish()
        };
        let mut passages: Vec<u64> = words.windows(PASSAGE_WORDS).map(hash).collect();
        passages.sort_unstable();
        passages.dedup();
        Some(Self { whole: hash(&words), passages })
    }
}

/// The share of the passages of the longer text that both texts have; 0 if one is too short.
pub(crate) fn shared_passages(one: &str, other: &str) -> f64 {
    let (Some(one), Some(other)) = (TextPrint::of(one), TextPrint::of(other)) else { return 0.0 };
    let shared = one.passages.iter().filter(|passage| other.passages.binary_search(passage).is_ok()).count();
    shared as f64 / one.passages.len().max(other.passages.len()) as f64
}

/// Pairs the texts of two lists, at most one of each: first equal texts, in order, then those most alike.
pub(crate) fn match_by_content(old: &[TextPrint], new: &[TextPrint]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut is_free = (vec![true; old.len()], vec![true; new.len()]);
    let mut take = |one: usize, other: usize| {
        let both = is_free.0[one] && is_free.1[other];
        if both {
            (is_free.0[one], is_free.1[other]) = (false, false);
            pairs.push((one, other));
        }
    };
    let mut whole: FxHashMap<u64, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
    for (place, print) in old.iter().enumerate() {
        whole.entry(print.whole).or_default().0.push(place);
    }
    for (place, print) in new.iter().enumerate() {
        whole.entry(print.whole).or_default().1.push(place);
    }
    for (olds, news) in whole.into_values() {
        // Several equal texts are only paired if none is left over: which one it would be is not known.
        if olds.len() == news.len() {
            olds.into_iter().zip(news).for_each(|(one, other)| take(one, other));
        }
    }
    let mut alike = alike(old, new);
    alike.sort_unstable_by_key(|&(share, one, other)| (Reverse(share), one, other));
    alike.into_iter().for_each(|(_, one, other)| take(one, other));
    pairs.sort_unstable();
    pairs
}

/// The texts that share enough passages, with the share in thousandths.
fn alike(old: &[TextPrint], new: &[TextPrint]) -> Vec<(u32, usize, usize)> {
    let mut bearers: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (place, print) in new.iter().enumerate() {
        for &passage in &print.passages {
            let bearers = bearers.entry(passage).or_default();
            if bearers.len() <= BEARERS_MAX {
                bearers.push(place);
            }
        }
    }
    let mut found = Vec::new();
    let mut shared: FxHashMap<usize, usize> = FxHashMap::default();
    for (one, print) in old.iter().enumerate() {
        shared.clear();
        for passage in &print.passages {
            let Some(bearers) = bearers.get(passage).filter(|bearers| bearers.len() <= BEARERS_MAX) else { continue };
            bearers.iter().for_each(|&other| *shared.entry(other).or_default() += 1);
        }
        for (&other, &count) in &shared {
            let share = count as f64 / print.passages.len().max(new[other].passages.len()) as f64;
            if share >= SHARE_MIN {
                found.push(((share * 1000.0) as u32, one, other));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str) -> TextPrint {
        TextPrint::of(text).unwrap()
    }

    fn text(from: usize, count: usize) -> String {
        (from..from + count).map(|number| format!("word{number} ")).collect()
    }

    #[test]
    fn equal_and_similar_texts_are_paired_once() {
        let old = [print(&text(0, 40)), print(&text(100, 40)), print(&text(200, 40))];
        let new = [print(&text(100, 44)), print(&text(300, 40)), print(&text(0, 40))];
        assert_eq!(match_by_content(&old, &new), [(0, 2), (1, 0)]);
    }

    #[test]
    fn the_most_similar_text_is_taken() {
        let old = [print(&text(0, 60))];
        let new = [print(&text(20, 60)), print(&text(4, 60))];
        assert_eq!(match_by_content(&old, &new), [(0, 1)]);
    }

    #[test]
    fn short_texts_and_doubtful_copies_are_not_paired() {
        assert!(TextPrint::of("Repealed in the year of 1990 by law").is_none());
        let copies = [print(&text(0, 40)), print(&text(0, 40))];
        // It is paired with one of them by its passages, in order.
        assert_eq!(match_by_content(&copies, &[print(&text(0, 40))]), [(0, 0)]);
        assert!(match_by_content(&[print(&text(0, 40))], &[print(&text(30, 40))]).is_empty());
    }
}
