//! Compares word by word a quotation with the passage of the law that it resembles most.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHasher};

use super::difference::{Difference, DifferenceKind};
use super::marks::MarkedQuotation;

/// A passage is an altered copy if at least this share of its words is the law's.
const SHARE_MIN: f64 = 0.6;

/// Words in a row that a quotation and the law share, at least.
const RUN_MIN: usize = 3;

/// In a quotation of at most this many words, two words in a row are enough.
const SHORT_WORDS: usize = 8;

/// What a quoted word that the law does not have costs, where a word of the law that is left out costs 1: a quotation that
/// leaves out a phrase without a sign is still a copy of what is on both sides of it.
const ONLY_QUOTED_COST: u32 = 3;

/// A quotation is compared with at most this many parts of a text.
const WINDOWS_MAX: usize = 4;

/// Maximum number of steps of one comparison.
const CELLS_MAX: u64 = 16_000_000;

/// The longest quotation that is compared word by word.
const QUOTED_WORDS_MAX: usize = 2_000;

/// A word: its hash without case and hyphens, and its bytes.
#[derive(Clone, Debug)]
struct Word {
    hash: u64,
    range: Range<usize>,
}

fn words_of(text: &str, within: Range<usize>) -> Vec<Word> {
    let mut words = Vec::new();
    let mut open: Option<(usize, FxHasher)> = None;
    let mut signs = text[within.clone()].char_indices().peekable();
    while let Some((at, letter)) = signs.next() {
        let at = at + within.start;
        if letter.is_alphanumeric() {
            let (_, hasher) = open.get_or_insert_with(|| (at, FxHasher::default()));
            letter.to_lowercase().for_each(|lower| lower.hash(hasher));
            continue;
        }
        let joins = matches!(letter, '-' | '‐' | '‑' | '–' | '\u{ad}' | '’' | '\'')
            && signs.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !joins && let Some((start, hasher)) = open.take() {
            words.push(Word { hash: hasher.finish(), range: start..at });
        }
    }
    if let Some((start, hasher)) = open {
        words.push(Word { hash: hasher.finish(), range: start..within.end });
    }
    words
}

/// The words of a text of the law, with the places of each pair of neighbours.
pub(crate) struct LawWords<'t> {
    text: &'t str,
    words: Vec<Word>,
    pairs: FxHashMap<(u64, u64), Vec<u32>>,
}

impl<'t> LawWords<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let words = words_of(text, 0..text.len());
        let mut pairs: FxHashMap<(u64, u64), Vec<u32>> = FxHashMap::default();
        for (place, pair) in (0..).zip(words.windows(2)) {
            pairs.entry((pair[0].hash, pair[1].hash)).or_default().push(place);
        }
        Self { text, words, pairs }
    }
}

/// A quotation compared with the passage that it resembles.
pub(crate) struct WordComparison {
    /// The share of the quoted words that are the law's, in order.
    pub(crate) share: f64,
    pub(crate) differences: Vec<Difference>,
    /// Whether every word is the law's, so that only punctuation differs.
    pub(crate) has_same_words: bool,
}

/// Compares a quotation with the law. None if the law has no passage that resembles it, or if the comparison would take
/// more than `budget` steps, of which it takes away what it used; then `is_cut` is set.
pub(crate) fn compare_words(
    quotation: &MarkedQuotation<'_>,
    law: &LawWords<'_>,
    budget: &mut u64,
    is_cut: &mut bool,
) -> Option<WordComparison> {
    let mut quoted: Vec<QuotedWord> = Vec::new();
    for part in &quotation.parts {
        if part.before.is_some() && !quoted.is_empty() {
            quoted.push(QuotedWord::Gap);
        }
        quoted.extend(words_of(quotation.text, part.range.clone()).into_iter().map(QuotedWord::Word));
    }
    let count = quoted.iter().filter(|word| matches!(word, QuotedWord::Word(_))).count();
    *is_cut |= count > QUOTED_WORDS_MAX;
    if !(RUN_MIN..=QUOTED_WORDS_MAX).contains(&count) {
        return None;
    }
    let compared = windows_of(&quoted, law).into_iter().filter_map(|window| {
        let cells = (quoted.len() as u64 + 1) * (window.len() as u64 + 1);
        let left = budget.checked_sub(cells).filter(|_| cells <= CELLS_MAX);
        if left.is_none() {
            *is_cut = true;
        }
        *budget = left?;
        compare_in(&quoted, count, window, quotation.text, law)
    });
    compared.max_by(|a, b| a.share.total_cmp(&b.share))
}

/// Compares the quotation with a part of the law.
fn compare_in(
    quoted: &[QuotedWord],
    count: usize,
    window: Range<usize>,
    text: &str,
    law: &LawWords<'_>,
) -> Option<WordComparison> {
    let steps = align(quoted, &law.words[window.clone()]);
    let same = steps.iter().filter(|step| matches!(step, Step::Same(..))).count();
    let left_out = steps.iter().filter(|step| matches!(step, Step::OnlyLaw(_))).count();
    let share = same as f64 / count.max(same + left_out / 2) as f64;
    let run = if count <= SHORT_WORDS { RUN_MIN - 1 } else { RUN_MIN };
    let has_same_words = same == count && left_out == 0;
    if share < SHARE_MIN || longest_run(&steps) < run {
        return None;
    }
    let differences = differences(&with_ends(steps, window.len()), quoted, text, law, window.start);
    Some(WordComparison { share, has_same_words, differences })
}

enum QuotedWord {
    Word(Word),
    /// An ellipsis or words in brackets.
    Gap,
}

/// The parts of the law in which the quotation may lie: around the diagonals with most common pairs of words, of which
/// rare ones weigh more. If the quotation has gaps, one part from the first to the last of them.
fn windows_of(quoted: &[QuotedWord], law: &LawWords<'_>) -> Vec<Range<usize>> {
    let count = quoted.len();
    let slack = count / 2 + 8;
    let width = slack.max(1) as i64;
    let mut votes: FxHashMap<i64, f64> = FxHashMap::default();
    let (mut first, mut last) = (usize::MAX, 0);
    for (place, pair) in quoted.windows(2).enumerate() {
        let [QuotedWord::Word(one), QuotedWord::Word(other)] = pair else { continue };
        let Some(places) = law.pairs.get(&(one.hash, other.hash)) else { continue };
        // A pair that is everywhere shows nothing.
        for &found in places.iter().take(64) {
            let bucket = (i64::from(found) - place as i64).div_euclid(width);
            *votes.entry(bucket).or_default() += 1.0 / places.len() as f64;
            (first, last) = (first.min(found as usize), last.max(found as usize));
        }
    }
    if votes.is_empty() {
        return Vec::new();
    }
    let part = |start: usize, end: usize| start.saturating_sub(slack)..end.min(law.words.len());
    if quoted.iter().any(|word| matches!(word, QuotedWord::Gap)) {
        return vec![part(first, last + slack)];
    }
    let score = |bucket: i64| {
        let of = |bucket: i64| votes.get(&bucket).copied().unwrap_or(0.0);
        of(bucket) + of(bucket + 1)
    };
    let mut buckets: Vec<(f64, i64)> = votes.keys().map(|&bucket| (score(bucket), bucket)).collect();
    buckets.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let windows = buckets.into_iter().take(WINDOWS_MAX).map(|(_, bucket)| {
        let start = usize::try_from((bucket * width).max(0)).unwrap_or(0);
        part(start, start + count + 3 * slack)
    });
    windows.filter(|window| !window.is_empty()).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Same(usize, usize),
    OnlyQuoted(usize),
    OnlyLaw(usize),
    /// Words of the law that a gap of the quotation announces.
    Announced,
}

/// Aligns the quotation with a part of the law, by the fewest words that differ. Words of the law before and after it,
/// and in gaps, cost nothing.
fn align(quoted: &[QuotedWord], law: &[Word]) -> Vec<Step> {
    let width = law.len() + 1;
    let mut costs: Vec<u32> = vec![0; width];
    // 0: same; 1: only law; 2: only quoted; 3: in a gap; 4: begins a gap. Of equal costs the lowest is chosen, from the end
    // on: quoted words then come before those of the law.
    let mut choices: Vec<u8> = vec![0; width * quoted.len()];
    for (row, word) in quoted.iter().enumerate() {
        let mut next = vec![u32::MAX; width];
        let choice = &mut choices[row * width..(row + 1) * width];
        match word {
            QuotedWord::Gap => {
                let mut best = u32::MAX;
                for place in 0..width {
                    let is_here = costs[place] <= best;
                    best = best.min(costs[place]);
                    next[place] = best;
                    choice[place] = if is_here { 4 } else { 3 };
                }
            }
            QuotedWord::Word(word) => {
                next[0] = costs[0] + ONLY_QUOTED_COST;
                choice[0] = 2;
                for place in 1..width {
                    let mut best = (next[place - 1] + 1, 1);
                    best = best.min((costs[place] + ONLY_QUOTED_COST, 2));
                    if law[place - 1].hash == word.hash {
                        best = best.min((costs[place - 1], 0));
                    }
                    (next[place], choice[place]) = best;
                }
            }
        }
        costs = next;
    }
    let mut place = (0..width).min_by_key(|&place| costs[place]).unwrap_or(0);
    let mut row = quoted.len();
    let mut steps = Vec::with_capacity(quoted.len());
    while row > 0 {
        match choices[(row - 1) * width + place] {
            0 => {
                (row, place) = (row - 1, place - 1);
                steps.push(Step::Same(row, place));
            }
            1 => {
                place -= 1;
                steps.push(Step::OnlyLaw(place));
            }
            2 => {
                row -= 1;
                steps.push(Step::OnlyQuoted(row));
            }
            3 => place -= 1,
            _ => {
                row -= 1;
                steps.push(Step::Announced);
            }
        }
    }
    steps.reverse();
    steps
}

fn longest_run(steps: &[Step]) -> usize {
    let runs = steps.split(|step| !matches!(step, Step::Same(..)));
    runs.map(<[Step]>::len).max().unwrap_or(0)
}

/// Adds, where the quotation begins or ends with other words than the law, as many words of the law in their place.
fn with_ends(mut steps: Vec<Step>, law_words: usize) -> Vec<Step> {
    let is_quoted = |step: &Step| matches!(step, Step::OnlyQuoted(_));
    let law_place = |step: &Step| match *step {
        Step::Same(_, place) | Step::OnlyLaw(place) => Some(place),
        _ => None,
    };
    let at_end = steps.iter().rev().take_while(|step| is_quoted(step)).count();
    if let Some(last) = steps.iter().rev().find_map(law_place) {
        steps.extend((last + 1..(last + 1 + at_end).min(law_words)).map(Step::OnlyLaw));
    }
    let at_start = steps.iter().take_while(|step| is_quoted(step)).count();
    if let Some(first) = steps.iter().find_map(law_place) {
        let before = (first.saturating_sub(at_start)..first).map(Step::OnlyLaw);
        steps.splice(at_start..at_start, before);
    }
    steps
}

/// The parts of a comparison, each with its words as they are written.
fn differences(steps: &[Step], quoted: &[QuotedWord], text: &str, law: &LawWords<'_>, start: usize) -> Vec<Difference> {
    let mut found: Vec<(DifferenceKind, Vec<&str>)> = Vec::new();
    let word = |place: usize| match &quoted[place] {
        QuotedWord::Word(word) => &text[word.range.clone()],
        QuotedWord::Gap => "",
    };
    for step in steps {
        let (kind, word) = match *step {
            Step::Same(place, _) => (DifferenceKind::Same, word(place)),
            Step::OnlyQuoted(place) => (DifferenceKind::OnlyQuoted, word(place)),
            Step::OnlyLaw(place) => (DifferenceKind::OnlyLaw, &law.text[law.words[start + place].range.clone()]),
            Step::Announced => (DifferenceKind::Same, "…"),
        };
        match found.last_mut().filter(|(last, _)| *last == kind) {
            Some((_, words)) => words.push(word),
            None => found.push((kind, vec![word])),
        }
    }
    found.into_iter().map(|(kind, words)| Difference { kind, text: words.join(" ") }).collect()
}
