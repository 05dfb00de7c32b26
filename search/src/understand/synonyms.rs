//! Legal and everyday synonyms of the words of a query: from the tables `synonyms.tsv` and `expressions.tsv`, and from
//! a table of the operator's own.
//!
//! A synonym finds provisions like the word itself, but counts less (`synonym_share`). The tables have
//! words and short phrases. If a synonym is a phrase, the word is also found by each word of the
//! phrase, which gets a part of the share. If a phrase of the query has a synonym, the synonym is added
//! to the last word of the phrase that is not a stop word.
//!
//! What the law calls an everyday expression is also embedded and compared by late interaction, if the
//! expression has half of the query's words: embeddings know words better than expressions.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use super::stop_words::is_stop_word;
use super::words::{QueryWord, terms_in_sequence};

const TABLES: [&str; 2] = [include_str!("synonyms.tsv"), include_str!("expressions.tsv")];

/// The maximum number of words of a phrase in a table.
const PHRASE_WORDS_MAX: usize = 6;

/// The maximum number of rows of an operator's table.
const ROWS_MAX: usize = 20_000;

/// The words of a phrase as terms.
type Terms = Vec<String>;

/// A word or phrase of a table.
#[derive(PartialEq)]
struct Expression {
    terms: Terms,
    others: Vec<Terms>,
    /// What the law calls it first, as spelt; none if the row is used in both directions.
    of_law: Option<String>,
}

impl Expression {
    /// Whether it has at least half of the words of a query, and so decides what the query means.
    fn is_main_part_of(&self, query_words: usize) -> bool {
        2 * self.terms.iter().filter(|term| !is_stop_word(term)).count() >= query_words
    }
}

/// Words and phrases with their synonyms: one row a line, `what people say; or say > what the law says; or says`, or
/// `one; other` for both directions. A tab ends the row; a remark follows. Lines that begin with `#` are comments.
#[derive(Default, PartialEq)]
pub struct SynonymTable {
    /// By the first term: the words and phrases that begin with it, each with its synonyms.
    by_first: HashMap<String, Vec<Expression>>,
    /// Every word of the table, as spelt.
    words: HashSet<String>,
    rows: usize,
}

/// The faults of a table, in the order of its lines.
#[derive(Debug, PartialEq, Eq)]
pub struct SynonymFaults(pub Vec<SynonymFault>);

/// A row that cannot be used, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct SynonymFault {
    pub line: usize,
    pub what: String,
}

static BUILT_IN: LazyLock<SynonymTable> = LazyLock::new(|| {
    // The tables are part of the program, so a fault in them is a bug.
    SynonymTable::read(&TABLES.concat()).unwrap_or_else(|faults| panic!("{:?}", faults.0))
});

impl fmt::Debug for SynonymTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SynonymTable").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// Adds the synonyms of the program's tables and of `own` to the words of a query, and returns what the law calls its
/// main expressions. `row` has all terms of the query in sequence.
pub(super) fn add_synonyms<'t>(
    words: &mut [QueryWord],
    row: &[String],
    share: f32,
    own: &'t SynonymTable,
) -> Vec<&'t str> {
    if share <= 0.0 {
        return Vec::new();
    }
    let query_words = words.len();
    let mut main: Vec<(Range<usize>, &'t str)> = Vec::new();
    for (start, first) in row.iter().enumerate() {
        for expression in [own, &*BUILT_IN].into_iter().filter_map(|table| table.by_first.get(first)).flatten() {
            let terms = &expression.terms;
            let said = terms.iter().rev().find(|term| !is_stop_word(term)).or(terms.last());
            let Some(last) = said.filter(|_| row[start..].starts_with(terms)) else { continue };
            let Some(word) = words.iter_mut().find(|word| word.parts.contains(last)) else { continue };
            let of_law = expression.of_law.as_deref().filter(|_| expression.is_main_part_of(query_words));
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
    let mut of_law: Vec<&'t str> = Vec::new();
    for &(ref range, said) in &main {
        if !is_within(range) && !of_law.contains(&said) {
            of_law.push(said);
        }
    }
    of_law
}

/// Whether a table of the program contains the word. If so, it counts as correctly spelt, even if no law contains it.
pub(crate) fn has_synonym_entry(word: &str) -> bool {
    BUILT_IN.has_word(word)
}

impl SynonymTable {
    /// Reads a table, or returns every fault in it.
    pub fn read(text: &str) -> Result<Self, SynonymFaults> {
        let mut table = Self::default();
        let mut faults = Vec::new();
        for (line, row) in (1..).zip(text.lines()) {
            if row.starts_with('#') || row.trim().is_empty() {
                continue;
            }
            table.rows += 1;
            if let Err(what) = table.read_row(row) {
                faults.push(SynonymFault { line, what });
            }
            if table.rows > ROWS_MAX {
                faults.push(SynonymFault { line, what: format!("the table has more than {ROWS_MAX} rows") });
                break;
            }
        }
        if faults.is_empty() { Ok(table) } else { Err(SynonymFaults(faults)) }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.contains(&word.to_lowercase())
    }

    fn read_row(&mut self, row: &str) -> Result<(), String> {
        let words = row.split('\t').next().unwrap_or(row);
        match words.split_once('>') {
            Some((_, to)) if to.contains('>') => return Err("the row has two '>'; write two rows".into()),
            Some((from, to)) => {
                let (from, to) = (phrases(from)?, phrases(to)?);
                let of_law = to[0].0;
                let others: Vec<Terms> = to.iter().map(|(_, terms)| terms.clone()).collect();
                for (said, own) in from {
                    if others.contains(&own) {
                        return Err(format!("'{said}' is on both sides of '>'"));
                    }
                    self.add(own, others.clone(), Some(of_law));
                }
            }
            None => {
                let all = phrases(words)?;
                if all.len() < 2 {
                    return Err("the row has only one word or phrase; separate what means the same with ';'".into());
                }
                for (_, own) in &all {
                    let others = all.iter().map(|(_, other)| other).filter(|other| *other != own).cloned().collect();
                    self.add(own.clone(), others, None);
                }
            }
        }
        let spelt = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        self.words.extend(spelt.map(str::to_lowercase));
        Ok(())
    }

    fn add(&mut self, own: Terms, others: Vec<Terms>, of_law: Option<&str>) {
        let expression = Expression { others, of_law: of_law.map(str::to_owned), terms: own };
        self.by_first.entry(expression.terms[0].clone()).or_default().push(expression);
    }
}

/// The phrases of one side of a row, as spelt and as terms.
fn phrases(side: &str) -> Result<Vec<(&str, Terms)>, String> {
    side.split(';')
        .map(|phrase| {
            let (phrase, terms) = (phrase.trim(), terms_in_sequence(phrase.trim()));
            match terms.len() {
                0 if phrase.is_empty() => Err("a word is missing before or behind ';' or '>'".to_owned()),
                0 => Err(format!("'{phrase}' has no letters or digits")),
                1..=PHRASE_WORDS_MAX => Ok((phrase, terms)),
                words => Err(format!("'{phrase}' has {words} words; {PHRASE_WORDS_MAX} are the most")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::read_words;
    use super::*;

    fn synonyms(query: &str) -> Vec<(String, Vec<String>)> {
        let mut read = read_words(query);
        add_synonyms(&mut read.words, &read.in_a_row, 0.5, &SynonymTable::default());
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
        let of_law = |query: &str| -> Vec<String> {
            let mut read = read_words(query);
            let own = SynonymTable::default();
            let of_law = add_synonyms(&mut read.words, &read.in_a_row, 0.5, &own);
            of_law.into_iter().map(str::to_owned).collect()
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
        for line in rows {
            let (words, source) = line.split_once('\t').unwrap_or_else(|| panic!("'{line}' names no source"));
            assert!(!source.is_empty(), "'{words}' has no source");
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
    #[test]
    fn an_operators_table_is_used_beside_the_programs() {
        let own = SynonymTable::read(
            "# ours\n\ngranny flat; in-law unit > accessory dwelling unit\tour code\nADU; granny flat\n",
        );
        let own = own.unwrap();
        assert_eq!(own.rows(), 2);
        let mut read = read_words("granny flat");
        assert_eq!(add_synonyms(&mut read.words, &read.in_a_row, 0.5, &own), ["accessory dwelling unit"]);
        let also: Vec<&str> =
            read.words.iter().flat_map(|word| &word.alternative_terms).map(|also| &*also.term).collect();
        assert!(["accessori", "dwell", "unit", "adu"].iter().all(|term| also.contains(term)), "{also:?}");
        let mut read = read_words("prenup");
        assert_eq!(add_synonyms(&mut read.words, &read.in_a_row, 0.5, &own), ["premarital agreement"]);
        assert!(own.has_word("ADU") && !has_synonym_entry("ADU"));
        let without_remarks = "granny flat; in-law unit > accessory dwelling unit\nADU; granny flat";
        assert_eq!(own, SynonymTable::read(without_remarks).unwrap());
        assert_ne!(own, SynonymTable::default());
    }

    #[test]
    fn all_faults_of_a_table_are_returned_with_their_lines() {
        let faults = SynonymTable::read("a > b > c\nalone\n# remark\nflat; > dwelling\n-- > unit\none two three four five six seven > many\ncar > automobile; cars\n").unwrap_err();
        let shown: Vec<String> = faults.0.iter().map(|fault| format!("{}: {}", fault.line, fault.what)).collect();
        assert_eq!(
            shown,
            [
                "1: the row has two '>'; write two rows",
                "2: the row has only one word or phrase; separate what means the same with ';'",
                "4: a word is missing before or behind ';' or '>'",
                "5: '--' has no letters or digits",
                "6: 'one two three four five six seven' has 7 words; 6 are the most",
                "7: 'car' is on both sides of '>'",
            ]
        );
        assert!(SynonymTable::read(&"a; b\n".repeat(ROWS_MAX)).is_ok());
        assert!(SynonymTable::read(&"a; b\n".repeat(ROWS_MAX + 1)).is_err());
    }
}
