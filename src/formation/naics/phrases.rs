//! The names of industries: their titles, and the plain words of `words.tsv` that people use instead.
//!
//! `words.tsv` was written for this program. Each of its lines has a six-digit code, a tab, and
//! phrases with `; ` between them.

use super::industries::{self, Industry};

/// One name of an industry.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndustryPhrase<'t> {
    /// The position of the industry in the table.
    pub(super) industry: usize,
    pub(super) text: &'t str,
    /// Whether it is the official title.
    pub(super) is_title: bool,
}

pub(super) const PLAIN_WORDS: &str = include_str!("words.tsv");

/// The titles and plain words of every industry that can be found by words, industry by industry.
/// An industry whose only subdivision has the same title is left out, because the subdivision is
/// more specific.
pub(super) fn phrases<'t>(plain_words: &'t str) -> Vec<IndustryPhrase<'t>> {
    let mut phrases = Vec::new();
    let mut plain = plain_words.lines().filter_map(|line| line.split_once('\t')).peekable();
    for (at, industry) in industries::all().iter().enumerate() {
        if !is_repeated_below(at, industry) {
            phrases.push(IndustryPhrase { industry: at, text: industry.title, is_title: true });
        }
        if let Some((_, texts)) = plain.next_if(|(code, _)| *code == industry.code) {
            phrases.extend(texts.split("; ").map(|text| IndustryPhrase { industry: at, text, is_title: false }));
        }
    }
    phrases
}

/// Whether the first subdivision has the same title. It is in the next line of the table, if there is any.
fn is_repeated_below(at: usize, industry: &Industry) -> bool {
    industries::all().get(at + 1).is_some_and(|next| next.title == industry.title && industry.contains(next.code))
}

/// A title without its exceptions: `Oilseed (except Soybean) Farming` must not match a grower of soybeans.
pub(super) fn without_exceptions(title: &str) -> String {
    let mut kept = String::with_capacity(title.len());
    let mut rest = title;
    while let Some((before, excluded)) = rest.split_once("(except ") {
        kept.push_str(before);
        rest = excluded.split_once(')').map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_of_plain_words_has_the_code_of_a_national_industry_and_phrases_that_differ() {
        let mut codes = Vec::new();
        for line in PLAIN_WORDS.lines() {
            let (code, texts) = line.split_once('\t').expect(line);
            let industry = industries::find(code).expect(code);
            assert_eq!(industry.level(), industries::IndustryLevel::NationalIndustry, "{code}");
            let texts: Vec<&str> = texts.split("; ").collect();
            assert!(texts.iter().all(|text| !text.is_empty() && *text == text.trim()), "{code}");
            assert_eq!(texts.iter().collect::<HashSet<_>>().len(), texts.len(), "{code} repeats a phrase");
            codes.push(code);
        }
        assert!(codes.is_sorted_by(|one, next| one < next), "the codes are in order, each once");
        let plain = phrases(PLAIN_WORDS).iter().filter(|phrase| !phrase.is_title).count();
        assert_eq!(plain, PLAIN_WORDS.lines().map(|line| line.split("; ").count()).sum::<usize>());
    }

    #[test]
    fn exceptions_are_removed_from_titles() {
        for (title, kept) in [
            ("Oilseed (except Soybean) Farming", "Oilseed  Farming"),
            ("Nonferrous Metal (except Copper and Aluminum) Rolling", "Nonferrous Metal  Rolling"),
            ("Other Millwork (including Flooring)", "Other Millwork (including Flooring)"),
            ("Poultry (except Eggs", "Poultry "),
        ] {
            assert_eq!(without_exceptions(title), kept);
        }
    }
}
