//! Corrects the misspelt words of a query before it is searched for.
//!
//! A word is misspelt if the corpus has it nowhere as it is spelt, or hardly anywhere while a word near to it is found several
//! hundred times as often, and if it is no English word that the embedder knows whole and no word of the tables of synonyms:
//! who asks for kittens or a prenup means them, whether or not a law names them. It becomes the near word that the searched range says most often, weighed against how
//! likely the slip is (`slip`) and how often it is found with the rest of the query (`context`). Where the range has none that
//! an easy slip leads to, it becomes an English word, which has a meaning to search by; then a word that a harder slip leads
//! to; and if there is none, the two words that were run together. Citations, numbers, phrases and exclusions stay as they
//! were typed, and so do words of fewer than four letters. What is corrected depends on query and range alone.

mod context;
mod slip;

use std::ops::Range;

use hornbook_corpus::embed::embedder;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::spelling::{NearWord, WORD_LETTERS_MAX};

use super::engine::Engine;
use super::error::SearchError;
use super::understand::{ParsedQuery, has_synonym_entry, is_quote, is_stop_word, term_of};
use context::{CONTEST_MARGIN, CONTESTED_MAX, Candidate, Suspect};
use slip::{cost_of_slip, sounds_like};

/// So many misspelt words of a query are looked up; what follows stays as it was typed. Each costs some 50
/// microseconds, and as much again for each other spelling of its sounds.
const LOOKED_UP_MAX: usize = 8;

/// A word that the corpus has may be misspelt only if it stands in no more than one document of so many.
const RARE_ONE_IN: u32 = 50_000;

/// And only if the word that is meant is found so many times as often.
const RARE_RATIO: u32 = 500;

/// Of the words near to a misspelt one so many are looked up in the range.
const CHOICES_MAX: usize = 12;

/// Documents are counted up to here; a word that more have is common enough.
const COUNTED_MAX: u32 = 1 << 12;

/// A slip that costs more than this must lead to a word that several documents have.
const EASY_SLIP: f32 = 1.1;
const HARD_SLIP_DOCUMENTS: u32 = 3;

/// Two slips in a word of six or seven letters cost no more than this: they are easily made, both of them.
const TWO_SLIPS: f32 = 1.35;

/// What one letter wrong takes from the likelihood of a word, against the logarithm of how often it is found.
const SLIP_WEIGHT: f32 = 5.0;

/// Of everybody's most frequent words hardly one is what a search is about: what their frequency counts.
const STOP_WORD_WEIGHT: f32 = 0.35;

/// Endings that the index does not take off, and that make a right word of any that fits.
const REGULAR_ENDINGS: [&str; 5] = ["er", "ee", "ish", "less", "like"];

/// Each half of two words run together has so many letters.
const HALF_LETTERS_MIN: usize = 3;

impl Engine {
    /// The query with its misspelt words corrected; none if it has none.
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
        // Also those of law that is not held.
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
                suspects.push(self.suspect(word, neighbours(query, &place), ranges)?);
                places.push((place, suspects.len() - 1));
            }
        }
        let meant = self.meant_by(&suspects, understood, ranges)?;
        for (place, number) in places {
            let suspect = &suspects[number];
            let meant = match meant[number] {
                Some(meant) => Some(meant.to_owned()),
                None if suspect.may_be_another => self.halves_of(&suspect.word, ranges)?,
                None => None,
            };
            if let Some(meant) = meant {
                corrected.push_str(&query[copied..place.start]);
                corrected.push_str(&in_case_of(&query[place.clone()], meant));
                copied = place.end;
            }
        }
        corrected.push_str(&query[copied..]);
        Ok((copied > 0).then_some(corrected))
    }

    /// In how many documents a misspelt word may stand.
    fn rare_documents(&self) -> u32 {
        self.snapshot().outline.len() / RARE_ONE_IN
    }

    fn may_be_misspelt(&self, word: &str) -> bool {
        self.snapshot().spelling.nodes_with(word) <= self.rare_documents()
            && !is_english(word)
            && !has_synonym_entry(word)
    }

    /// What a word may stand for that may be misspelt.
    fn suspect(
        &self,
        word: String,
        neighbours: [Option<String>; 2],
        ranges: &OrdinalRanges,
    ) -> Result<Suspect<'_>, SearchError> {
        let spelling = &self.snapshot().spelling;
        let own = spelling.nodes_with(&word);
        // `detecter` is found by the stem of `detect`: only a word very near to it is more likely meant.
        let is_found = self.keyword.documents_with(&term_of(&word))? > self.rare_documents();
        let root = self.root_of(&word);
        let mut choices = self.near(&word, if is_found { 1 } else { edits_allowed(&word) });
        choices.retain(|&Choice { word: choice, nodes, .. }| {
            // Who asks for a renter means nobody's rented home, but who asks for an inspecter means an inspector.
            let is_doer = root.is_none_or(|root| choice.strip_prefix(root).is_some_and(|end| end.starts_with("or")));
            is_doer && nodes >= own.saturating_mul(RARE_RATIO) && !(is_found && is_form(&word, choice))
        });
        choices.truncate(CHOICES_MAX);
        // Of the words that the range has, those that an easy slip leads to; those of a hard one; and English words that it
        // does not have.
        let (mut easy, mut hard, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
        for Choice { word: choice, nodes, cost } in choices {
            let stem = term_of(choice);
            let found = self.keyword.count_in(&stem, ranges, COUNTED_MAX)?;
            // The index counts all forms of a word.
            let share = nodes as f32 / self.keyword.documents_with(&stem)?.max(nodes).max(1) as f32;
            let score = likelihood(choice, found as f32 * share, cost);
            let is_easy = cost <= EASY_SLIP;
            let least = if is_easy { 1 } else { HARD_SLIP_DOCUMENTS };
            let candidate = Candidate { word: choice, stem, score, needs_row: false };
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
        // If an easy slip leads to a word of the range, a harder one needs better evidence: the word next to it.
        let mut candidates = match easy.is_empty() {
            true if elsewhere.is_empty() => hard,
            true => elsewhere,
            false => {
                hard.iter_mut().for_each(|candidate| candidate.needs_row = true);
                easy.append(&mut hard);
                easy
            }
        };
        candidates.sort_by(|a, b| a.needs_row.cmp(&b.needs_row).then(b.score.total_cmp(&a.score)));
        let best = candidates.first().map_or(0.0, |best| best.score);
        candidates.retain(|candidate| best - candidate.score < CONTEST_MARGIN);
        candidates.truncate(CONTESTED_MAX);
        Ok(Suspect { word, neighbours, candidates, may_be_another })
    }

    /// The words that a misspelt one may stand for, the likeliest first as far as can be known without looking into the index.
    fn near(&self, word: &str, edits_max: u8) -> Vec<Choice<'_>> {
        let mut choices: Vec<Choice<'_>> = Vec::new();
        for (spelt, cost) in sounds_like(word) {
            // Another spelling of the same sound is a slip already.
            let edits_max = if cost > 0.0 { edits_max - 1 } else { edits_max };
            for NearWord { word: choice, nodes, edits } in self.snapshot().spelling.near(&spelt, edits_max) {
                let cost = cost + cost_of_slip(&spelt, choice);
                if edits > 1 && word.len() < LONG_WORD && cost > TWO_SLIPS {
                    continue;
                }
                match choices.iter_mut().find(|known| known.word == choice) {
                    Some(known) => known.cost = known.cost.min(cost),
                    None if choice != word => choices.push(Choice { word: choice, nodes, cost }),
                    None => {}
                }
            }
        }
        let rough = |choice: &Choice<'_>| (choice.nodes.max(1) as f32).ln() - SLIP_WEIGHT * choice.cost;
        choices.sort_by(|a, b| rough(b).total_cmp(&rough(a)));
        choices
    }

    /// The word of the corpus that a word is regularly made of, as `renter` is of `rent`: it is rightly spelt, though no law
    /// has it.
    fn root_of<'w>(&self, word: &'w str) -> Option<&'w str> {
        let forms = [Some(word), word.strip_suffix('s')].into_iter().flatten();
        let mut roots =
            forms.flat_map(|form| REGULAR_ENDINGS.iter().filter_map(move |ending| form.strip_suffix(ending)));
        roots.find(|root| {
            let is_known = || self.snapshot().spelling.nodes_with(root) > self.rare_documents() && is_english(root);
            root.len() >= SHORT_WORD && !root.ends_with('e') && is_known()
        })
    }

    /// The two words that were run together, each an English word that the range has; of several pairs the one whose rarer
    /// word is found most often.
    fn halves_of(&self, word: &str, ranges: &OrdinalRanges) -> Result<Option<String>, SearchError> {
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

/// A word that another may stand for.
struct Choice<'s> {
    word: &'s str,
    /// How many nodes of the corpus have it.
    nodes: u32,
    /// How unlikely the slip is.
    cost: f32,
}

/// How many letters of a word may be wrong.
fn edits_allowed(word: &str) -> u8 {
    if word.len() < MIDDLE_WORD { 1 } else { 2 }
}

/// From so many letters on a word is corrected at all, from so many on in two places if both slips are easily made, and from so
/// many on in any two.
const SHORT_WORD: usize = 4;
const MIDDLE_WORD: usize = 6;
const LONG_WORD: usize = 8;

/// Whether a word is another with an ending, as `kayaks` is. A letter typed twice is none.
fn is_form(word: &str, of: &str) -> bool {
    word.strip_prefix(of).is_some_and(|ending| !of.ends_with(ending))
}

/// How likely a word was meant.
fn likelihood(word: &str, found: f32, cost: f32) -> f32 {
    let frequency = found.max(1.0).ln();
    let frequency = if is_stop_word(&term_of(word)) { frequency * STOP_WORD_WEIGHT } else { frequency };
    frequency - SLIP_WEIGHT * cost
}

/// Whether the embedder has a word in one piece: then it is rightly spelt, and has a meaning to search by.
fn is_english(word: &str) -> bool {
    let mut tokens = Vec::with_capacity(4);
    embedder().tokenize(word, &mut tokens);
    tokens.len() == 1
}

/// Where the words stand that may be misspelt: runs of English letters, not too short, in the plain parts of a query. What is
/// all capitals and short is an abbreviation, and what is behind a quote that was never closed may be meant as it stands.
fn words_in(query: &str, plain: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    for piece in plain {
        let text = &query[piece.clone()];
        if text.contains(is_quote) {
            continue;
        }
        let mut start = 0;
        for (end, sign) in text.char_indices().chain([(text.len(), ' ')]) {
            // A possessive ends a word, too: what is left of it is short.
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

/// The words before and behind a place, in small letters, if nothing but a space or a hyphen is between and they are long
/// enough to mean something.
fn neighbours(query: &str, place: &Range<usize>) -> [Option<String>; 2] {
    let is_gap = |sign: char| sign == ' ' || sign == '-';
    let is_other = |sign: char| !sign.is_alphanumeric();
    let before = query[..place.start].strip_suffix(is_gap).and_then(|rest| rest.rsplit(is_other).next());
    let behind = query[place.end..].strip_prefix(is_gap).and_then(|rest| rest.split(is_other).next());
    [before, behind].map(|word| word.filter(|word| word.len() > 2).map(str::to_ascii_lowercase))
}

/// A word in capitals where the typed one was.
fn in_case_of(typed: &str, mut meant: String) -> String {
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
    fn only_words_of_letters_are_looked_at() {
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
        assert_eq!(in_case_of("landlrod", "landlord".into()), "landlord");
        assert_eq!(in_case_of("Landlrod", "landlord".into()), "Landlord");
        assert_eq!(in_case_of("LANDLROD", "landlord".into()), "LANDLORD");
    }

    #[test]
    fn the_embedder_tells_words_from_slips() {
        for word in ["landlord", "kitten", "deposit", "tenant"] {
            assert!(is_english(word), "{word}");
        }
        for word in ["landlrod", "depositt", "evicton", "smokefree"] {
            assert!(!is_english(word), "{word}");
        }
    }
}
