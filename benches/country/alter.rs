//! Alters a sentence: replaces words by others of the subject or the jurisdiction, names, numbers
//! and citations.

use hornbook_base::random::SplitMix64;

use crate::law::{Group, RealLaw};
use crate::names::{Names, unit};
use crate::words::{Word, Words};

/// The share of replaceable words that are replaced by a word of the same subject.
const SUBJECT_SHARE: f64 = 0.13;
/// How many random words of the subject are tried before any word of the class is taken.
const SUBJECT_TRIES: usize = 4;
/// One word in this many is always replaced by the same other word in a jurisdiction.
const FIXED_REPLACEMENT_ONE_IN: u64 = 14;
/// The share of words with a capital inside a sentence, and of rare words, that become a name of
/// the jurisdiction.
const NAME_SHARE: f64 = 0.5;

/// The state needed to alter the sentences of a code.
pub(crate) struct SentenceAlterer<'a> {
    pub(crate) law: &'a RealLaw,
    pub(crate) words: &'a Words,
    pub(crate) names: Names,
    pub(crate) random: SplitMix64,
    /// The seed of the jurisdiction's fixed replacements.
    pub(crate) replacement_seed: u64,
    /// Names of the real jurisdictions, which are replaced by `place`.
    pub(crate) place_names: &'a [String],
    pub(crate) place: &'a str,
    lower: String,
    name: String,
}

impl<'a> SentenceAlterer<'a> {
    pub(crate) fn new(
        law: &'a RealLaw,
        words: &'a Words,
        place_names: &'a [String],
        place: &'a str,
        seeds: [u64; 2],
    ) -> Self {
        let [of_code, of_place] = seeds;
        Self {
            law,
            words,
            names: Names::new(of_place),
            random: SplitMix64(of_code),
            replacement_seed: of_place,
            place_names,
            place,
            lower: String::new(),
            name: String::new(),
        }
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        unit(&mut self.random) < probability
    }

    /// Appends the altered sentence; `cite` writes the number of another provision.
    pub(crate) fn push(
        &mut self,
        sentence: &str,
        group: &Group,
        cite: &mut dyn FnMut(&mut SplitMix64, &mut String),
        out: &mut String,
    ) {
        let mut rest = sentence;
        let mut is_first = true;
        let mut after_section = false;
        while let Some(first) = rest.chars().next() {
            if first.is_ascii_alphabetic() {
                if let Some(name) = self.place_names.iter().find(|name| rest.starts_with(name.as_str())) {
                    out.push_str(self.place);
                    rest = &rest[name.len()..];
                } else {
                    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                    let (word, behind) = rest.split_at(end);
                    rest = behind;
                    after_section =
                        is_section(word) || after_section && matches!(word, "and" | "or" | "to" | "through");
                    self.push_word(word, is_first, group, out);
                }
                is_first = false;
            } else if first.is_ascii_digit() {
                let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '–' | '.' | ',' | ':');
                let end = rest.find(|c: char| !is_inside(c)).unwrap_or(rest.len());
                let number = rest[..end].trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
                rest = &rest[number.len()..];
                if after_section {
                    cite(&mut self.random, out);
                } else {
                    self.push_number(number, out);
                }
            } else {
                after_section = first == '§' || after_section && matches!(first, ' ' | ',' | '\u{a0}');
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }

    fn push_word(&mut self, word: &str, is_first: bool, group: &Group, out: &mut String) {
        self.lower.clear();
        self.lower.push_str(word);
        self.lower.make_ascii_lowercase();
        let Some(known) = self.words.find(&self.lower) else {
            out.push_str(word);
            return;
        };
        let is_capital = word.as_bytes()[0].is_ascii_uppercase();
        let is_all_capitals = word.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_name = is_capital && !is_first && !is_all_capitals && self.words.is_scarce(known);
        if (self.words.is_rare(known) || is_name) && self.chance(NAME_SHARE) {
            let mut name = std::mem::take(&mut self.name);
            name.clear();
            self.names.draw(&mut self.random, &mut name);
            push_in_case(&name, is_capital, is_all_capitals, out);
            self.name = name;
            return;
        }
        let has_habit = SplitMix64(self.replacement_seed ^ hash(&self.lower)).below(FIXED_REPLACEMENT_ONE_IN) == 0;
        let other = if has_habit {
            Some(self.words.fixed_replacement(known, self.replacement_seed))
        } else if self.chance(SUBJECT_SHARE) {
            Some(self.of_subject(known, group))
        } else {
            None
        };
        match other {
            Some(other) => push_in_case(other, is_capital, is_all_capitals, out),
            None => out.push_str(word),
        }
    }

    /// A word of the group in the class of this one; if none is found, any word of that class.
    fn of_subject(&mut self, word: Word, group: &Group) -> &'a str {
        for _ in 0..SUBJECT_TRIES {
            let candidate = self.law.some_word(group, &mut self.random);
            self.lower.clear();
            self.lower.push_str(candidate);
            self.lower.make_ascii_lowercase();
            let found = self.words.find(&self.lower).filter(|&found| found != word);
            if let Some(found) = found.filter(|&found| self.words.are_of_one_class(found, word)) {
                return self.words.text(found);
            }
        }
        self.words.random_of_class(word, &mut self.random)
    }

    /// Another number of the same form: a year near it, or other digits.
    fn push_number(&mut self, number: &str, out: &mut String) {
        let value = number.parse::<u32>().ok();
        match value {
            Some(year @ 1790..=2030) if number.len() == 4 => {
                let moved = year + self.random.below(25) as u32 - 12;
                out.push_str(&moved.min(2026).to_string());
            }
            Some(0..=9) => out.push_str(number),
            _ => {
                for (place, character) in number.chars().enumerate() {
                    match character {
                        '0' => out.push('0'),
                        '1'..='9' if place > 0 || self.random.below(2) == 0 => {
                            out.push((b'1' + self.random.below(9) as u8) as char);
                        }
                        other => out.push(other),
                    }
                }
            }
        }
    }
}

fn is_section(word: &str) -> bool {
    matches!(word, "section" | "sections" | "Section" | "Sections")
}

fn push_in_case(word: &str, is_capital: bool, is_all_capitals: bool, out: &mut String) {
    if is_all_capitals {
        out.push_str(&word.to_ascii_uppercase());
    } else if is_capital {
        out.push_str(&word[..1].to_ascii_uppercase());
        out.push_str(&word[1..]);
    } else {
        out.push_str(word);
    }
}

/// FNV-1a: the same on every machine.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
