//! Legal and everyday synonyms of the words of a query, from the tables `synonyms.tsv` and `expressions.tsv`.
//!
//! A synonym finds provisions like the word itself, but counts less (`synonym_share`). The tables have
//! words and short phrases. If a synonym is a phrase, the word is also found by each word of the
//! phrase, which gets a part of the share. If a phrase of the query has a synonym, the synonym is added
//! to the last word of the phrase that is not a stop word.
//!
//! What the law calls an everyday expression is also embedded and compared by late interaction, if the
//! expression has half of the query's words: embeddings know words better than expressions.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::stop_words::is_stop_word;
use super::words::{QueryWord, terms_in_sequence};

const TABLES: [&str; 2] = [include_str!("synonyms.tsv"), include_str!("expressions.tsv")];

/// The maximum number of words of a phrase in a table.
const PHRASE_WORDS_MAX: usize = 6;

/// The words of a phrase as terms.
type Terms = Vec<String>;

/// A word or phrase of a table.
struct Expression {
    terms: Terms,
    others: Vec<Terms>,
    /// What the law calls it first, as spelt; none if the row is used in both directions.
    of_law: Option<&'static str>,
}

impl Expression {
    /// Whether it has at least half of the words of a query, and so decides what the query means.
    fn is_main_part_of(&self, query_words: usize) -> bool {
        2 * self.terms.iter().filter(|term| !is_stop_word(term)).count() >= query_words
    }
}

struct Synonyms {
    /// By the first term: the words and phrases that begin with it, each with its synonyms.
    by_first: HashMap<String, Vec<Expression>>,
    /// Every word of the tables, as spelt.
    words: HashSet<String>,
}

static SYNONYMS: LazyLock<Synonyms> = LazyLock::new(Synonyms::read);

/// Adds synonyms to the words of a query, and returns what the law calls its main expressions. `row` has all terms of
/// the query in sequence.
pub(super) fn add_synonyms(words: &mut [QueryWord], row: &[String], share: f32) -> Vec<&'static str> {
    if share <= 0.0 {
        return Vec::new();
    }
    let synonyms = &*SYNONYMS;
    let query_words = words.len();
    let mut main: Vec<(Range<usize>, &'static str)> = Vec::new();
    for (start, first) in row.iter().enumerate() {
        let Some(expressions) = synonyms.by_first.get(first) else { continue };
        for expression in expressions {
            let terms = &expression.terms;
            let said = terms.iter().rev().find(|term| !is_stop_word(term)).or(terms.last());
            let Some(last) = said.filter(|_| row[start..].starts_with(terms)) else { continue };
            let Some(word) = words.iter_mut().find(|word| word.parts.contains(last)) else { continue };
            let of_law = expression.of_law.filter(|_| expression.is_main_part_of(query_words));
            main.extend(of_law.map(|of_law| (start..start + terms.len(), of_law)));
            for other in &expression.others {
                let said = other.iter().filter(|term| !is_stop_word(term));
                let share = share / said.clone().count().max(1) as f32;
                said.for_each(|term| word.add(term, share));
            }
        }
    }
    // "squatters rights" is an expression of its own: what "squatters" alone means does not count.
    let is_within = |inner: &Range<usize>| {
        main.iter().any(|(outer, _)| outer.len() > inner.len() && outer.start <= inner.start && inner.end <= outer.end)
    };
    let mut of_law: Vec<&'static str> = Vec::new();
    for &(ref range, said) in &main {
        if !is_within(range) && !of_law.contains(&said) {
            of_law.push(said);
        }
    }
    of_law
}

/// Whether a table contains the word. If so, it counts as correctly spelt, even if no law contains it.
pub(crate) fn has_synonym_entry(word: &str) -> bool {
    SYNONYMS.words.contains(&word.to_lowercase())
}

impl Synonyms {
    /// The tables are part of the program, so an error in them is a bug and panics.
    fn read() -> Self {
        let mut synonyms = Self { by_first: HashMap::new(), words: HashSet::new() };
        for line in TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with('#')) {
            let (words, source) =
                line.split_once('\t').unwrap_or_else(|| panic!("invalid row in the table of synonyms: '{line}'"));
            assert!(!source.is_empty(), "the table of synonyms has no source for '{words}'");
            let said = words.split(|c: char| !c.is_alphanumeric());
            synonyms.words.extend(said.filter(|word| !word.is_empty()).map(str::to_lowercase));
            let terms =
                |words: &str| -> Vec<Terms> { words.split(';').map(|word| terms_in_sequence(word.trim())).collect() };
            match words.split_once('>') {
                Some((from, to)) => {
                    let others = terms(to);
                    let of_law = to.split(';').next().map(str::trim);
                    terms(from).into_iter().for_each(|own| synonyms.add(own, others.clone(), of_law));
                }
                None => {
                    let all = terms(words);
                    for own in &all {
                        let others = all.iter().filter(|other| *other != own).cloned().collect();
                        synonyms.add(own.clone(), others, None);
                    }
                }
            }
        }
        synonyms
    }

    fn add(&mut self, own: Terms, others: Vec<Terms>, of_law: Option<&'static str>) {
        assert!(
            (1..=PHRASE_WORDS_MAX).contains(&own.len()),
            "a phrase of the table of synonyms is empty or too long: {own:?}"
        );
        let first = own[0].clone();
        self.by_first.entry(first).or_default().push(Expression { terms: own, others, of_law });
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_words;
    use super::*;

    fn synonyms(query: &str) -> Vec<(String, Vec<String>)> {
        let mut read = read_words(query);
        add_synonyms(&mut read.words, &read.in_a_row, 0.5);
        let with = read.words.into_iter().filter(|word| !word.alternative_terms.is_empty());
        with.map(|word| (word.parts.join(" "), word.alternative_terms.into_iter().map(|also| also.term).collect()))
            .collect()
    }

    fn expected(pairs: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        pairs
            .iter()
            .map(|(word, also)| ((*word).to_owned(), also.iter().map(|&term| term.to_owned()).collect()))
            .collect()
    }

    #[test]
    fn words_and_phrases_find_their_synonyms() {
        assert_eq!(synonyms("landlord keeps deposit"), expected(&[("landlord", &["lessor"])]));
        assert_eq!(synonyms("DUI penalty"), expected(&[("dui", &["dwi", "drive", "intox", "influenc"])]));
        assert_eq!(synonyms("driving while intoxicated"), expected(&[("intox", &["dui", "dwi", "drive", "influenc"])]));
        assert_eq!(synonyms("limited liability company"), expected(&[("compani", &["llc"])]));
        assert_eq!(synonyms("motor vehicle"), expected(&[]), "a car is one, but not every one is a car");
        assert_eq!(synonyms("company of limited liability"), expected(&[]));
    }

    #[test]
    fn an_expression_that_is_half_of_the_query_is_also_embedded_in_the_words_of_the_law() {
        let of_law = |query: &str| {
            let mut read = read_words(query);
            add_synonyms(&mut read.words, &read.in_a_row, 0.5)
        };
        assert_eq!(of_law("prenup"), ["premarital agreement"]);
        assert_eq!(of_law("texting while driving"), ["handheld personal communications device"]);
        assert_eq!(of_law("squatters rights"), ["adverse possession"], "not what squatters alone means");
        assert_eq!(of_law("record a phone call secretly"), ["intercept communication"]);
        assert_eq!(of_law("does a prenup cover a house bought before the wedding"), [""; 0], "a word among many");
        assert_eq!(of_law("landlord and tenant"), [""; 0], "these words are the law's own");
    }

    #[test]
    fn every_row_works_for_each_alternative() {
        let rows = TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for (words, _) in rows.filter_map(|line| line.split_once('\t')) {
            let both_ways = !words.contains('>');
            let (from, to) = words.split_once('>').unwrap_or((words, words));
            for (one, other) in
                from.split(';').flat_map(|one| to.split(';').map(move |other| (one.trim(), other.trim())))
            {
                if one == other && both_ways {
                    continue;
                }
                assert_ne!(terms_in_sequence(one), terms_in_sequence(other), "'{one}' is '{other}'");
                let found = synonyms(one).into_iter().flat_map(|(own, also)| also.into_iter().chain([own]));
                let found: Vec<String> =
                    found.flat_map(|terms| terms.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
                let mut said = terms_in_sequence(other).into_iter().filter(|term| !is_stop_word(term));
                assert!(
                    said.all(|term| found.contains(&term) || terms_in_sequence(one).contains(&term)),
                    "'{one}' does not find '{other}'"
                );
            }
            count += 1;
        }
        assert!(count > 2_900);
    }

    #[test]
    fn everyday_expressions_find_legal_terms_and_count_as_spelt() {
        assert_eq!(synonyms("prenup"), expected(&[("prenup", &["premarit", "agreement", "antenupti"])]));
        let squatters = synonyms("squatters rights in a barn");
        assert!(squatters.iter().any(|(_, also)| also.contains(&"advers".to_owned())), "{squatters:?}");
        assert!(has_synonym_entry("Prenup") && has_synonym_entry("squatters") && has_synonym_entry("antenuptial"));
        assert_eq!(
            synonyms("got laid off"),
            expected(&[("laid", &["furlough", "involuntarili", "termin"])]),
            "its last word is a stop word"
        );
        assert!(!has_synonym_entry("presidant"), "only its stem is that of a word");
    }
}
