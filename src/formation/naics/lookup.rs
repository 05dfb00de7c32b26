//! The lookup of industries: by code in the order of the hierarchy, by words in the order of their scores.
//!
//! The score of an industry has three parts: how well its best phrase matches (the cosine of the
//! term weights), how much of the query all its phrases together cover, and how near its topic is
//! (the cosine of the embeddings).

use std::ops::Range;
use std::sync::LazyLock;

use hornbook_corpus::embed::embedder;
use schemars::JsonSchema;
use serde::Serialize;

use super::index::{IndexedPhrase, IndustryIndex, TermNumber, UnitVector};
use super::industries::{self, Industry};
use super::phrases::PLAIN_WORDS;
use super::spelling::SpellingCandidate;
use super::terms::words_of;

/// The result of a lookup.
#[derive(Debug)]
pub struct LookupResult {
    /// Best first.
    pub hits: Vec<IndustryHit>,
    /// The query with its unknown words corrected, if any could be corrected.
    pub did_you_mean: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct IndustryHit {
    pub industry: &'static Industry,
    pub found_by: FoundBy,
}

/// How an industry was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// By its code, or by the beginning of its code.
    Code,
    /// By words that people use for it.
    Words,
    /// Only because its topic is similar.
    Meaning,
}

/// The industries that a query names or describes, at most `limit`.
pub fn lookup(query: &str, limit: usize) -> LookupResult {
    static INDEX: LazyLock<IndustryIndex> = LazyLock::new(|| IndustryIndex::new(PLAIN_WORDS));
    let query = query.trim();
    if is_code(query) {
        return LookupResult { hits: hits(by_code(query), FoundBy::Code).take(limit).collect(), did_you_mean: None };
    }
    by_words(&INDEX, &TUNING, query, limit)
}

fn hits(industries: Vec<&'static Industry>, found_by: FoundBy) -> impl Iterator<Item = IndustryHit> {
    industries.into_iter().map(move |industry| IndustryHit { industry, found_by })
}

fn is_code(query: &str) -> bool {
    query.starts_with(|first: char| first.is_ascii_digit())
        && query.len() <= 6
        && query.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// An industry and all below it, or all industries whose codes begin with the given digits. A code
/// that no industry has is shortened until one has it, at most to its sector: codes of other
/// editions often differ only in their last digits.
fn by_code(code: &str) -> Vec<&'static Industry> {
    let lengths = (code.len().min(2)..=code.len()).rev();
    let found = lengths.filter_map(|length| code.get(..length)).map(industries_under).find(|found| !found.is_empty());
    found.unwrap_or_default()
}

fn industries_under(code: &str) -> Vec<&'static Industry> {
    let top = industries::find(code);
    let is_under = |industry: &&Industry| match top {
        Some(top) => industry.code == top.code || top.contains(industry.code),
        None => industry.code.starts_with(code),
    };
    industries::all().iter().filter(is_under).collect()
}

/// The maximum number of words that are read of a query; nobody needs more to describe a business.
const WORDS_MAX: usize = 32;

/// The maximum number of unknown words of a query for which similar words are searched. Each search
/// takes some 12 us.
const UNKNOWN_MAX: usize = 10;

/// The weights of the parts of a score. Chosen on `tests/naics/dev.jsonl` and on plain phrases that
/// were held back.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookupTuning {
    pub(super) covered: f32,
    pub(super) topic: f32,
    /// The factor for each level, sectors first. Forms ask for the last level, six digits.
    pub(super) levels: [f32; 5],
    /// The minimum nearness of an industry that no word of the query matches.
    pub(super) topic_min: f32,
}

pub(super) const TUNING: LookupTuning =
    LookupTuning { covered: 0.25, topic: 1.0, levels: [0.75, 0.8, 0.85, 0.9, 1.0], topic_min: 0.45 };

/// A term that a word of the query may stand for, and how likely that is.
struct TermMatch {
    term: TermNumber,
    likeness: f32,
}

/// The terms that one word of a query may stand for, the most likely first.
type TermMatches = Vec<TermMatch>;

pub(super) fn by_words(index: &IndustryIndex, tuning: &LookupTuning, query: &str, limit: usize) -> LookupResult {
    let (wanted, did_you_mean) = read(index, query);
    let ranked = ranked(index, tuning, &wanted, did_you_mean.as_deref().unwrap_or(query), limit);
    let mut hits: Vec<IndustryHit> =
        hits(codes_in(query), FoundBy::Code).chain(hits(by_exact_title(index, query), FoundBy::Words)).collect();
    for hit in ranked {
        if !hits.iter().any(|above| above.industry.code == hit.industry.code) {
            hits.push(hit);
        }
    }
    hits.truncate(limit);
    LookupResult { hits, did_you_mean }
}

/// The best industries by their scores. Those that no word matches come last, and only if there are
/// too few others: comparing a query with every topic would take longer than everything else.
fn ranked(
    index: &IndustryIndex,
    tuning: &LookupTuning,
    wanted: &[TermMatches],
    query: &str,
    limit: usize,
) -> Vec<IndustryHit> {
    let by_words = scores_by_words(index, tuning, wanted);
    let named = by_words.iter().filter(|score| **score > 0.0).count();
    let topic = UnitVector::of(&embedder().embed(query));
    let mut scored: Vec<(bool, f32, usize)> = Vec::new();
    for candidate in &index.topics {
        let at = candidate.industry as usize;
        let is_named = by_words[at] > 0.0;
        if is_named || named < limit {
            let nearness = topic.cosine(&candidate.direction);
            if is_named || nearness >= tuning.topic_min {
                let level = tuning.levels[industries::all()[at].level() as usize];
                scored.push((is_named, (by_words[at] + tuning.topic * nearness) * level, at));
            }
        }
    }
    let better = |one: &(bool, f32, usize), other: &(bool, f32, usize)| {
        other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)).then(one.2.cmp(&other.2))
    };
    if scored.len() > limit {
        scored.select_nth_unstable_by(limit, better);
        scored.truncate(limit);
    }
    scored.sort_by(better);
    let found_by = |is_named| if is_named { FoundBy::Words } else { FoundBy::Meaning };
    let hit = |(is_named, _, at): (bool, f32, usize)| IndustryHit {
        industry: &industries::all()[at],
        found_by: found_by(is_named),
    };
    scored.into_iter().map(hit).collect()
}

/// The industries whose codes are among the words of a query. Numbers of two or three digits may
/// mean anything and are ignored.
fn codes_in(query: &str) -> Vec<&'static Industry> {
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 4);
    words.take(WORDS_MAX).filter_map(industries::find).collect()
}

/// The industries whose title is the query, those with six digits first.
fn by_exact_title(index: &IndustryIndex, query: &str) -> Vec<&'static Industry> {
    let all = index.topics.iter().map(|topic| &industries::all()[topic.industry as usize]);
    let mut found: Vec<&Industry> = all.filter(|industry| industry.title.eq_ignore_ascii_case(query)).collect();
    found.sort_by_key(|industry| std::cmp::Reverse(industry.level()));
    found
}

/// The possible terms of each word of a query, and the query with corrections.
fn read(index: &IndustryIndex, query: &str) -> (Vec<TermMatches>, Option<String>) {
    let mut words = words_of(query);
    words.truncate(WORDS_MAX);
    let mut wanted: Vec<TermMatches> = Vec::with_capacity(words.len());
    let mut corrections: Vec<(Range<usize>, &str)> = Vec::new();
    let mut unknown = 0;
    for word in &words {
        if let Some(term) = index.term(&word.term) {
            wanted.push(exact_match(term));
        } else if let Some((first, second)) = index.vocabulary.split(&word.written) {
            wanted.extend([first, second].into_iter().filter_map(|part| term_of(index, part)).map(exact_match));
        } else if unknown == UNKNOWN_MAX {
            wanted.push(TermMatches::new());
        } else {
            unknown += 1;
            let candidates = index.vocabulary.candidates(&word.written);
            if let Some(better) = candidates.first().filter(|first| first.is_correction) {
                corrections.push((word.bytes.clone(), better.written));
            }
            let meant = |candidate: &SpellingCandidate<'_>| TermMatch {
                term: candidate.term,
                likeness: candidate.match_likelihood,
            };
            wanted.push(candidates.iter().map(meant).collect());
        }
    }
    let mut corrected = query.to_owned();
    // From the last to the first, so that the positions of the remaining corrections stay valid.
    for (bytes, better) in corrections.into_iter().rev() {
        corrected.replace_range(bytes, better);
    }
    // Two words may be written as one in the index: `lawn mower` and `lawnmower`.
    let joined = words.windows(2).map(|pair| format!("{}{}", pair[0].written, pair[1].written));
    wanted.extend(joined.filter_map(|word| term_of(index, &word)).map(exact_match));
    (wanted, (corrected != query).then_some(corrected))
}

fn exact_match(term: TermNumber) -> TermMatches {
    vec![TermMatch { term, likeness: 1.0 }]
}

fn term_of(index: &IndustryIndex, word: &str) -> Option<TermNumber> {
    words_of(word).first().and_then(|word| index.term(&word.term))
}

/// The part of each industry's score that comes from its phrases, by the position of the industry in the table.
fn scores_by_words(index: &IndustryIndex, tuning: &LookupTuning, wanted: &[TermMatches]) -> Vec<f32> {
    let weight_of =
        |wanted: &TermMatches| wanted.first().map_or(index.weight_max(), |meant| index.postings(meant.term).weight);
    let asked: f32 = wanted.iter().map(|wanted| weight_of(wanted).powi(2)).sum();
    let mut phrases = vec![MatchSum::default(); index.phrases.len()];
    let mut industries = vec![MatchSum::default(); industries::all().len()];
    let mut named: Vec<usize> = Vec::new();
    for (number, wanted) in (1..).zip(wanted) {
        for meant in wanted {
            let postings = index.postings(meant.term);
            let share = meant.likeness * postings.weight.powi(2);
            for phrase in postings.phrases.iter().map(|phrase| *phrase as usize) {
                if phrases[phrase].shares == 0.0 {
                    named.push(phrase);
                }
                phrases[phrase].add(number, share);
                industries[index.phrases[phrase].industry as usize].add(number, share);
            }
        }
    }
    let mut scores: Vec<f32> = industries.iter().map(|covered| tuning.covered * covered.shares / asked).collect();
    let mut best = vec![0.0_f32; scores.len()];
    for phrase in named {
        let IndexedPhrase { industry, length } = index.phrases[phrase];
        let best = &mut best[industry as usize];
        *best = best.max(phrases[phrase].shares / (asked.sqrt() * length));
    }
    scores.iter_mut().zip(best).for_each(|(score, best)| *score += best);
    scores
}

/// The part of a query that a phrase or an industry matches.
#[derive(Clone, Copy, Default)]
struct MatchSum {
    shares: f32,
    /// The word of the query that was counted last, from 1. Each word counts once, by the first
    /// term that it may mean.
    last: u8,
}

impl MatchSum {
    fn add(&mut self, word: u8, share: f32) {
        if self.last != word {
            self.last = word;
            self.shares += share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(query: &str, limit: usize) -> Vec<&'static str> {
        lookup(query, limit).hits.iter().map(|hit| hit.industry.code).collect()
    }

    #[test]
    fn every_code_finds_its_industry_and_then_what_is_below_it() {
        for industry in industries::all() {
            let found = lookup(industry.code, usize::MAX).hits;
            assert_eq!(found[0].industry.code, industry.code);
            assert!(found[1..].iter().all(|hit| industry.contains(hit.industry.code)), "{}", industry.code);
            let below = industries::all().iter().filter(|other| other.code.len() > industry.code.len());
            let below = below.filter(|other| other.code.starts_with(industry.code)).count();
            assert!(found.len() > below, "{}", industry.code);
            assert!(found.iter().all(|hit| hit.found_by == FoundBy::Code));
        }
    }

    #[test]
    fn a_code_prefix_finds_all_codes_with_it() {
        assert_eq!(codes("8129", 3), ["8129", "81291", "812910"]);
        assert_eq!(codes("4", 2), ["42", "423"]);
        assert_eq!(codes("44-45", 2), ["44-45", "441"]);
        assert_eq!(codes("45", 2), ["44-45", "441"]);
    }

    #[test]
    fn a_code_of_another_edition_finds_the_nearest_that_contains_it() {
        assert_eq!(codes("812911", 2), ["81291", "812910"]);
        assert_eq!(codes("454110", 1), ["44-45"]);
        assert!(codes("99", 5).is_empty());
        assert!(codes("2022", 5).is_empty(), "no sector begins with 20");
    }

    #[test]
    fn a_code_among_words_comes_first() {
        let found = lookup("pet care, 812910?", 3).hits;
        assert_eq!((found[0].industry.code, found[0].found_by), ("812910", FoundBy::Code));
        assert_eq!(found.iter().filter(|hit| hit.industry.code == "812910").count(), 1);
    }

    #[test]
    fn every_title_finds_an_industry_with_this_title_first() {
        for industry in industries::all() {
            let found = lookup(industry.title, 1).hits;
            assert_eq!(found[0].industry.title, industry.title);
        }
        assert_eq!(codes("all other miscellaneous manufacturing", 2), ["339999", "33999"], "six digits first");
        assert_eq!(codes("Construction", 1), ["23"]);
    }

    #[test]
    fn typing_errors_are_corrected_and_reported() {
        for (typed, meant, code) in [
            ("resturant", "restaurant", "722511"),
            ("veternarian", "veterinarian", "541940"),
            ("elecrtician for houses", "electrician for houses", "238210"),
            ("photgrapher", "photographer", "541921"),
        ] {
            let found = lookup(typed, 5);
            assert_eq!(found.did_you_mean.as_deref(), Some(meant), "{typed}");
            assert_eq!(found.hits[0].industry.code, code, "{typed}");
        }
        assert_eq!(lookup("restaurant", 5).did_you_mean, None);
    }

    #[test]
    fn words_that_are_not_complete_or_written_together_or_apart_are_found() {
        for (typed, code) in
            [("plumb", "238220"), ("lawnmowing", "561730"), ("lap top repair", "811210"), ("laptoprepair", "811210")]
        {
            let found = lookup(typed, 5);
            assert_eq!(found.hits[0].industry.code, code, "{typed}");
            assert_eq!(found.did_you_mean, None, "{typed}");
        }
    }

    #[test]
    fn nonsense_finds_nothing() {
        for query in ["qzxwv", "asdfgh qwertz", "!!!", "()", "-", "日本語", ""] {
            assert!(codes(query, 5).is_empty(), "{query:?}");
        }
    }

    #[test]
    fn similar_words_are_looked_for_up_to_a_number_of_unknown_ones() {
        let query = |unknown| format!("{} resturant", "qzxwvjkp ".repeat(unknown));
        assert!(lookup(&query(UNKNOWN_MAX - 1), 5).did_you_mean.is_some());
        assert_eq!(lookup(&query(UNKNOWN_MAX), 5).did_you_mean, None);
    }

    #[test]
    fn fewer_hits_are_the_first_of_more() {
        for query in
            ["truck", "lawnmowing", "électricien", "zookeeper of penguins", "soybean", "pet care 812910", "8129"]
        {
            let most = codes(query, 60);
            for limit in [1, 2, 5, 20] {
                assert_eq!(codes(query, limit), most[..limit.min(most.len())], "{query}");
            }
        }
    }

    #[test]
    fn no_query_makes_a_lookup_fail() {
        let long = "zz ".repeat(4000);
        let odd = [
            "\u{0}",
            "é1",
            "1-",
            "----",
            "9".repeat(70).as_str(),
            &long,
            "t-shirt-shop'n'co",
            "a",
            "ﬁsh",
            "🐕 grooming",
        ]
        .map(str::to_owned);
        for query in odd {
            lookup(&query, 5);
        }
    }
}
