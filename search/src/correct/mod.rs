//! Corrects the misspelt words of a query before the search.
//!
//! A word counts as misspelt if the corpus does not contain it in this spelling, or only in very
//! few places while a similar word is found several hundred times as often. It must also be neither
//! a known English word (`known_words`), nor one that the embedder has as one token, nor in the
//! synonym tables. So `kittens` and `prenup` are searched as typed, whether or not a law contains
//! them.
//!
//! The word is replaced by a similar word that is frequent in the searched range. The choice also
//! depends on how likely the slip (the typing or spelling error) is (`slip`) and on how often the
//! word occurs with the rest of the query (`context`). If no easy slip leads to a word in the
//! range, the replacement is, in this order: an English word that an easy slip leads to, which has
//! a meaning to search by; a word in the range that a harder slip leads to; or two words that were
//! run together.
//!
//! Citations, numbers, phrases and exclusions stay as typed, and so do words of fewer than four
//! letters. The correction depends on query and range alone.

mod context;
mod known_words;
mod typing_errors;

use std::ops::Range;

use hornbook_corpus::embed::embedder;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::spelling::{NearWord, WORD_LETTERS_MAX};

use super::engine::Engine;
use super::error::SearchError;
use super::understand::{ParsedQuery, has_synonym_entry, is_quote, is_stop_word, term_of};
use context::{COMPARED_CANDIDATES_MAX, COMPARED_SCORE_MARGIN, CorrectionCandidate, Suspect};
pub use known_words::is_known_word;
use typing_errors::{alternative_spellings, typing_error_cost};

/// At most this many misspelt words of a query are looked up; later ones stay as typed. Each costs
/// about 50 microseconds, and as much again for each alternative spelling of its sounds.
const LOOKED_UP_MAX: usize = 8;

/// A word that the corpus contains may be misspelt only if at most one in this many nodes contains
/// it.
const RARE_ONE_IN: u32 = 50_000;

/// In addition, the replacement must be found this many times as often.
const RARE_RATIO: u32 = 500;

/// At most this many similar words of a misspelt one are looked up in the range.
const CHOICES_MAX: usize = 12;

/// Documents are counted up to this number. A word in more documents is common enough.
const COUNTED_MAX: u32 = 1 << 12;

/// A slip with a higher cost than this must lead to a word in at least [`HARD_SLIP_DOCUMENTS`]
/// documents.
const EASY_SLIP: f32 = 1.1;
const HARD_SLIP_DOCUMENTS: u32 = 3;

/// Maximum cost of two slips in a word of six or seven letters, so that both must be easy ones.
const TWO_SLIPS: f32 = 1.35;

/// How much a slip of cost 1 lowers the score of a word, which is the logarithm of its frequency.
const SLIP_WEIGHT: f32 = 5.0;

/// Searches are seldom about a stop word, so the logarithm of its frequency is multiplied by this.
const STOP_WORD_WEIGHT: f32 = 0.35;

/// Endings that the stemmer does not remove, and that form a correct word from any suitable root.
const REGULAR_ENDINGS: [&str; 5] = ["er", "ee", "ish", "less", "like"];

/// Minimum number of letters in each half of two words that were run together.
const HALF_LETTERS_MIN: usize = 3;

impl Engine {
    /// The query with its misspelt words corrected; `None` if nothing was corrected.
    pub(super) fn corrected(
        &self,
        query: &str,
        understood: &ParsedQuery,
        ranges: &OrdinalRanges,
    ) -> Result<Option<String>, SearchError> {
        let words = words_in(query, &understood.plain);
        if !words.iter().any(|place| self.may_be_misspelt(&query[place.clone()].to_ascii_lowercase())) {
            return Ok(None);
        }
        let grammar = self.snapshot().grammar();
        if grammar.parse_popular(query).is_some() || grammar.parse_container(query).is_some() {
            return Ok(None);
        }
        // This includes citations of law that the snapshot does not contain.
        let cited = grammar.find_in(query).chain(grammar.acts_in(query));
        let cited: Vec<Range<usize>> = cited.map(|(bytes, _)| bytes).collect();
        let mut corrected = String::with_capacity(query.len() + 8);
        let mut copied = 0;
        let mut suspects: Vec<Suspect<'_>> = Vec::new();
        let mut places = Vec::with_capacity(words.len());
        for place in words {
            if cited.iter().any(|bytes| bytes.start < place.end && place.start < bytes.end) {
                continue;
            }
            let word = query[place.clone()].to_ascii_lowercase();
            if let Some(known) = suspects.iter().position(|suspect| suspect.word == word) {
                places.push((place, known));
            } else if self.may_be_misspelt(&word) {
                if suspects.len() == LOOKED_UP_MAX {
                    break;
                }
                suspects.push(self.find_candidates(word, neighbours(query, &place), ranges)?);
                places.push((place, suspects.len() - 1));
            }
        }
        let meant = self.resolve_suspects(&suspects, understood, ranges)?;
        for (place, number) in places {
            let suspect = &suspects[number];
            let meant = match meant[number] {
                Some(meant) => Some(meant.to_owned()),
                None if suspect.can_be_replaced => self.split_joined_words(&suspect.word, ranges)?,
                None => None,
            };
            if let Some(meant) = meant {
                corrected.push_str(&query[copied..place.start]);
                corrected.push_str(&with_case_of(&query[place.clone()], meant));
                copied = place.end;
            }
        }
        corrected.push_str(&query[copied..]);
        Ok((copied > 0).then_some(corrected))
    }

    /// The highest number of documents in which a word may occur and still count as misspelt.
    fn rare_documents(&self) -> u32 {
        self.snapshot().outline.len() / RARE_ONE_IN
    }

    fn may_be_misspelt(&self, word: &str) -> bool {
        self.snapshot().spelling.nodes_with(word) <= self.rare_documents()
            && !is_english(word)
            && !has_synonym_entry(word)
            && !self.synonyms.has_word(word)
            && !is_known_word(word)
    }

    /// Finds the candidates for a word that may be misspelt.
    fn find_candidates(
        &self,
        word: String,
        neighbours: [Option<String>; 2],
        ranges: &OrdinalRanges,
    ) -> Result<Suspect<'_>, SearchError> {
        let spelling = &self.snapshot().spelling;
        let own = spelling.nodes_with(&word);
        // `detecter` is found by the stem of `detect`, so only words one edit away are candidates.
        let is_found = self.keyword.documents_with(&term_of(&word))? > self.rare_documents();
        let root = self.root_of(&word);
        let mut choices = self.similar_words(&word, if is_found { 1 } else { edits_allowed(&word) });
        choices.retain(|&SimilarWord { word: choice, nodes, .. }| {
            // `renter` is correct, so `rented` is no candidate for it. `inspecter` may still mean
            // `inspector`.
            let is_doer = root.is_none_or(|root| choice.strip_prefix(root).is_some_and(|end| end.starts_with("or")));
            is_doer && nodes >= own.saturating_mul(RARE_RATIO) && !(is_found && is_form(&word, choice))
        });
        choices.truncate(CHOICES_MAX);
        // Words in the range that an easy slip leads to, words in the range that a hard slip leads
        // to, and English words that are not in the range.
        let (mut easy, mut hard, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
        for SimilarWord { word: choice, nodes, cost } in choices {
            let stem = term_of(choice);
            let found = self.keyword.count_in(&stem, ranges, COUNTED_MAX)?;
            // The index counts all forms of a word, so only the share of this form is used.
            let share = nodes as f32 / self.keyword.documents_with(&stem)?.max(nodes).max(1) as f32;
            let score = likelihood(choice, found as f32 * share, cost);
            let is_easy = cost <= EASY_SLIP;
            let least = if is_easy { 1 } else { HARD_SLIP_DOCUMENTS };
            let candidate = CorrectionCandidate { word: choice, stem, score, needs_adjacency: false };
            if found >= own.saturating_mul(RARE_RATIO).max(least).min(COUNTED_MAX) {
                if is_easy { &mut easy } else { &mut hard }.push(candidate);
            } else if found == 0 && is_easy && is_english(choice) {
                elsewhere.push(candidate);
            }
        }
        let may_be_another = own == 0 && !is_found && root.is_none();
        if !may_be_another {
            elsewhere.clear();
        }
        // If an easy slip leads to a word in the range, a harder one needs better evidence: the
        // word next to it.
        let mut candidates = match easy.is_empty() {
            true if elsewhere.is_empty() => hard,
            true => elsewhere,
            false => {
                hard.iter_mut().for_each(|candidate| candidate.needs_adjacency = true);
                easy.append(&mut hard);
                easy
            }
        };
        candidates.sort_by(|a, b| a.needs_adjacency.cmp(&b.needs_adjacency).then(b.score.total_cmp(&a.score)));
        let best = candidates.first().map_or(0.0, |best| best.score);
        candidates.retain(|candidate| best - candidate.score < COMPARED_SCORE_MARGIN);
        candidates.truncate(COMPARED_CANDIDATES_MAX);
        Ok(Suspect { word, neighbours, candidates, can_be_replaced: may_be_another })
    }

    /// The words that a misspelt one may stand for. Their order is a first estimate without the
    /// index, likeliest first.
    fn similar_words(&self, word: &str, edits_max: u8) -> Vec<SimilarWord<'_>> {
        let mut choices: Vec<SimilarWord<'_>> = Vec::new();
        for (spelt, cost) in alternative_spellings(word) {
            // An alternative spelling of the same sound already counts as one edit.
            let edits_max = if cost > 0.0 { edits_max - 1 } else { edits_max };
            for NearWord { word: choice, nodes, edits } in self.snapshot().spelling.near(&spelt, edits_max) {
                let cost = cost + typing_error_cost(&spelt, choice);
                if edits > 1 && word.len() < LONG_WORD && cost > TWO_SLIPS {
                    continue;
                }
                match choices.iter_mut().find(|known| known.word == choice) {
                    Some(known) => known.cost = known.cost.min(cost),
                    None if choice != word => choices.push(SimilarWord { word: choice, nodes, cost }),
                    None => {}
                }
            }
        }
        let rough = |choice: &SimilarWord<'_>| (choice.nodes.max(1) as f32).ln() - SLIP_WEIGHT * choice.cost;
        choices.sort_by(|a, b| rough(b).total_cmp(&rough(a)));
        choices
    }

    /// The root in the corpus that a word is regularly derived from, as `renter` is from `rent`.
    /// Such a word is spelt right even if no law contains it.
    fn root_of<'w>(&self, word: &'w str) -> Option<&'w str> {
        let forms = [Some(word), word.strip_suffix('s')].into_iter().flatten();
        let mut roots =
            forms.flat_map(|form| REGULAR_ENDINGS.iter().filter_map(move |ending| form.strip_suffix(ending)));
        roots.find(|root| {
            let is_known = || self.snapshot().spelling.nodes_with(root) > self.rare_documents() && is_english(root);
            root.len() >= SHORT_WORD && !root.ends_with('e') && is_known()
        })
    }

    /// The two words that were run together. Each must be an English word in the range. Of several
    /// pairs, the one whose rarer word is found most often.
    fn split_joined_words(&self, word: &str, ranges: &OrdinalRanges) -> Result<Option<String>, SearchError> {
        let mut best: Option<(u32, usize)> = None;
        for middle in HALF_LETTERS_MIN..word.len().saturating_sub(HALF_LETTERS_MIN - 1) {
            let halves = word.split_at(middle);
            if is_english(halves.0) && is_english(halves.1) {
                let first = self.keyword.count_in(&term_of(halves.0), ranges, COUNTED_MAX)?;
                let found = first.min(self.keyword.count_in(&term_of(halves.1), ranges, COUNTED_MAX)?);
                if found > best.map_or(0, |(other, _)| other) {
                    best = Some((found, middle));
                }
            }
        }
        Ok(best.map(|(_, middle)| format!("{} {}", &word[..middle], &word[middle..])))
    }
}

/// A word that a misspelt one may stand for.
struct SimilarWord<'s> {
    word: &'s str,
    /// The number of nodes of the corpus that contain it.
    nodes: u32,
    /// The cost of the slip: higher if the slip is less likely.
    cost: f32,
}

/// Maximum number of edits between a misspelt word and its candidates.
fn edits_allowed(word: &str) -> u8 {
    if word.len() < MEDIUM_WORD { 1 } else { 2 }
}

/// Minimum number of letters of a word that is corrected at all, of one that is corrected in two
/// places if both slips are easy, and of one that is corrected in any two places.
const SHORT_WORD: usize = 4;
const MEDIUM_WORD: usize = 6;
const LONG_WORD: usize = 8;

/// Whether `word` is `of` with an ending, as `kayaks` is. A doubled last letter is not an ending.
fn is_form(word: &str, of: &str) -> bool {
    word.strip_prefix(of).is_some_and(|ending| !of.ends_with(ending))
}

/// How likely it is that a word was meant.
fn likelihood(word: &str, found: f32, cost: f32) -> f32 {
    let frequency = found.max(1.0).ln();
    let frequency = if is_stop_word(&term_of(word)) { frequency * STOP_WORD_WEIGHT } else { frequency };
    frequency - SLIP_WEIGHT * cost
}

/// Whether the embedder has the word as one token. Then it is spelt right, and has a meaning to
/// search by.
fn is_english(word: &str) -> bool {
    let mut tokens = Vec::with_capacity(4);
    embedder().tokenize(word, &mut tokens);
    tokens.len() == 1
}

/// The byte ranges of the words that may be misspelt: runs of English letters of suitable length,
/// in the plain parts of a query. Short words in capitals are abbreviations and are left out. A
/// part that contains a quotation mark is left out too, because an unclosed quote may be meant
/// literally.
fn words_in(query: &str, plain: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    for piece in plain {
        let text = &query[piece.clone()];
        if text.contains(is_quote) {
            continue;
        }
        let mut start = 0;
        for (end, sign) in text.char_indices().chain([(text.len(), ' ')]) {
            // An apostrophe also ends a word. The possessive `s` after it is too short to count.
            if sign.is_alphanumeric() {
                continue;
            }
            let word = &text[start..end];
            let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic());
            let is_abbreviation = word.len() <= SHORT_WORD + 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
            if is_word && !is_abbreviation && (SHORT_WORD..=WORD_LETTERS_MAX).contains(&word.len()) {
                words.push(piece.start + start..piece.start + end);
            }
            start = end + sign.len_utf8();
        }
    }
    words
}

/// The previous and the next word in lower case, if only a space or a hyphen is between and the
/// word has more than two letters.
fn neighbours(query: &str, place: &Range<usize>) -> [Option<String>; 2] {
    let is_gap = |sign: char| sign == ' ' || sign == '-';
    let is_other = |sign: char| !sign.is_alphanumeric();
    let before = query[..place.start].strip_suffix(is_gap).and_then(|rest| rest.rsplit(is_other).next());
    let behind = query[place.end..].strip_prefix(is_gap).and_then(|rest| rest.split(is_other).next());
    [before, behind].map(|word| word.filter(|word| word.len() > 2).map(str::to_ascii_lowercase))
}

/// Writes a word in capitals, or with a first capital, if the typed word was written so.
fn with_case_of(typed: &str, mut meant: String) -> String {
    if typed.bytes().all(|byte| byte.is_ascii_uppercase()) {
        meant.make_ascii_uppercase();
    } else if typed.starts_with(|first: char| first.is_ascii_uppercase()) {
        meant[..1].make_ascii_uppercase();
    }
    meant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_letters_are_corrected() {
        let words = |query: &str, plain: Range<usize>| -> Vec<String> {
            words_in(query, std::slice::from_ref(&plain)).into_iter().map(|place| query[place].to_owned()).collect()
        };
        let all = |query: &str| words(query, 0..query.len());
        assert_eq!(all("How do landlrods' 30day b2b depositt (1395w-4, 10b-5)?"), ["landlrods", "depositt"]);
        assert_eq!(all("façade naïve ERISA HIPAA EVICTION noise-levl"), ["EVICTION", "noise", "levl"]);
        assert_eq!(all("an \"open quote"), Vec::<String>::new());
        assert_eq!(words("tenant depositt rent", 7..15), ["depositt"]);
        assert_eq!(all(&"x".repeat(33)), Vec::<String>::new());
    }

    #[test]
    fn neighbours_are_words_next_to_it() {
        let of = |query: &str| {
            let start = query.find("fone").unwrap();
            neighbours(query, &(start..start + 4)).map(Option::unwrap_or_default)
        };
        assert_eq!(of("a Cell fone call"), ["cell", "call"]);
        assert_eq!(of("cell-fone, wile driving"), ["cell", ""]);
        assert_eq!(of("fone"), ["", ""]);
        assert_eq!(of("the cell. fone § 5"), ["", ""]);
        assert_eq!(of("I'm fone of it"), ["", ""]);
    }

    #[test]
    fn corrections_keep_capitals() {
        assert_eq!(with_case_of("landlrod", "landlord".into()), "landlord");
        assert_eq!(with_case_of("Landlrod", "landlord".into()), "Landlord");
        assert_eq!(with_case_of("LANDLROD", "landlord".into()), "LANDLORD");
    }

    #[test]
    fn embedder_distinguishes_words_from_misspellings() {
        for word in ["landlord", "kitten", "deposit", "tenant"] {
            assert!(is_english(word), "{word}");
        }
        for word in ["landlrod", "depositt", "evicton", "smokefree"] {
            assert!(!is_english(word), "{word}");
        }
    }
}
