//! The names of the places and codes of a snapshot, by their first words.

use std::collections::HashMap;

use hornbook_corpus::catalogue::{Catalogue, CodeBody, Jurisdiction};
use hornbook_corpus::ids::{OrdinalRange, ShortCode};
use hornbook_corpus::jurisdictions::Level;

use super::words::keys_of;

/// A jurisdiction or a code.
#[derive(Clone, Debug)]
pub(in crate::search) struct Place {
    pub jurisdiction: ShortCode,
    pub name: String,
    /// Also those of what lies in it; empty if its law is not loaded.
    pub nodes: OrdinalRange,
    /// The jurisdictions that it lies in; of a code, its own first.
    within: Vec<ShortCode>,
    is_code: bool,
}

impl Place {
    #[cfg(test)]
    pub(super) fn is_code(&self) -> bool {
        self.is_code
    }

    pub(super) fn lies_in(&self, other: &Self) -> bool {
        !other.is_code && self.within.contains(&other.jurisdiction)
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.jurisdiction == other.jurisdiction && self.is_code == other.is_code && self.name == other.name
    }
}

/// What kind of name it is, which decides how much its surroundings must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The name of a state, a territory, a county, or of a city in several words.
    Full,
    /// The name of a city that is one word, which may be a word of everyday: Mobile, Orange.
    City,
    /// Two capitals: `NY`.
    Postal,
    /// Two capitals that also mean something else: `VA` is a department, `MD` a doctor.
    AmbiguousPostal,
    /// Two capitals that make an English word: `IN`, `OR`.
    WordPostal,
    /// `DC`, also in small letters.
    District,
    /// The United States.
    Country,
    /// The word `federal`.
    Federal,
    Code,
}

/// One name of a place.
#[derive(Clone, Debug)]
pub(super) struct Name {
    /// Its words behind the first.
    pub rest: Vec<String>,
    pub form: Form,
    pub place: usize,
}

/// The table of names.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_first: HashMap<String, Vec<Name>>,
}

const AMBIGUOUS_POSTAL: &[&str] = &[
    "al", "ar", "as", "ct", "co", "de", "ga", "gu", "id", "la", "ma", "md", "mi", "mo", "ms", "mt", "ne", "nd", "oh",
    "pa", "pr", "sc", "sd", "va", "vi", "wa",
];

const WORD_POSTAL: &[&str] = &["hi", "in", "me", "ok", "or"];

/// What cities and others are called in full.
const STYLES: &[&str] = &[
    "City of ",
    "City and County of ",
    "Town of ",
    "Village of ",
    "Borough of ",
    "State of ",
    "Commonwealth of ",
    "Territory of ",
];

/// Short names of codes that neither their names nor their citations give, by the keys of the codes.
const SHORT_NAMES: &[(&str, &[&str])] = &[
    ("us/usc", &["U.S.C.", "U.S. Code", "United States Code"]),
    ("us/cfr", &["C.F.R.", "Code of Federal Regulations"]),
    ("md/comar", &["COMAR"]),
    ("wa/rcw", &["RCW"]),
    ("sd/sdcl", &["SDCL"]),
];

/// A name that is one short word means too much else.
const CODE_WORD_BYTES_MIN: usize = 3;

impl Names {
    /// The names that begin with a word.
    pub(super) fn beginning_with(&self, first: &str) -> &[Name] {
        self.by_first.get(first).map_or(&[], Vec::as_slice)
    }

    /// The places of a catalogue with their names: the states first, so that a city of the same name does not take theirs.
    pub(super) fn of(catalogue: &Catalogue) -> (Vec<Place>, Self) {
        let (mut places, mut names) = (Vec::new(), Self::default());
        for jurisdiction in &catalogue.jurisdictions {
            names.add_jurisdiction(jurisdiction, places.len());
            places.push(Place {
                jurisdiction: jurisdiction.short_code.clone(),
                name: bare(&jurisdiction.name).to_owned(),
                nodes: jurisdiction.subtree,
                within: around(catalogue, jurisdiction.parent.as_ref()),
                is_code: false,
            });
        }
        for body in &catalogue.code_bodies {
            names.add_code(body, places.len());
            places.push(Place {
                jurisdiction: body.jurisdiction.clone(),
                name: body.name.clone(),
                nodes: body.nodes,
                within: around(catalogue, Some(&body.jurisdiction)),
                is_code: true,
            });
        }
        (places, names)
    }

    fn add_jurisdiction(&mut self, jurisdiction: &Jurisdiction, place: usize) {
        let Jurisdiction { short_code, name, level, .. } = jurisdiction;
        let short = bare(name);
        let is_one_word = keys_of(short).len() == 1;
        let form = match level {
            Level::Federal => Form::Country,
            Level::City | Level::County if is_one_word => Form::City,
            _ => Form::Full,
        };
        self.add(short, form, place);
        self.add(name, form, place);
        match (level, short_code.as_str()) {
            (Level::Federal, _) => {
                for name in ["US", "USA", "United States of America"] {
                    self.add(name, Form::Country, place);
                }
                self.add("federal", Form::Federal, place);
            }
            (Level::District, "DC") => {
                self.add("DC", Form::District, place);
                self.add("Washington DC", Form::Full, place);
            }
            (Level::State | Level::Territory, code) if code.len() == 2 => self.add(code, postal(code), place),
            (Level::City, _) => self.add(&format!("{short} City"), Form::Full, place),
            _ => {}
        }
    }

    fn add_code(&mut self, body: &CodeBody, place: usize) {
        self.add(without_edition(&body.name), Form::Code, place);
        let cited = body.citation.as_deref().and_then(|template| template.split(['{', '§']).next()).unwrap_or_default();
        let short = SHORT_NAMES.iter().filter(|(key, _)| *key == body.key).flat_map(|(_, names)| names.iter().copied());
        for name in short.chain([cited]) {
            self.add(name, Form::Code, place);
        }
    }

    /// The first place that claims a name has it.
    fn add(&mut self, name: &str, form: Form, place: usize) {
        let mut keys = keys_of(name).into_iter();
        let Some(first) = keys.next() else { return };
        let rest: Vec<String> = keys.collect();
        if form == Form::Code && rest.is_empty() && first.len() < CODE_WORD_BYTES_MIN {
            return;
        }
        let names = self.by_first.entry(first).or_default();
        if !names.iter().any(|known| known.rest == rest) {
            names.push(Name { rest, form, place });
            // The longest that fits is the one that is meant.
            names.sort_by_key(|name| std::cmp::Reverse(name.rest.len()));
        }
    }
}

fn postal(code: &str) -> Form {
    let is_in = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(code));
    match () {
        () if is_in(WORD_POSTAL) => Form::WordPostal,
        () if is_in(AMBIGUOUS_POSTAL) => Form::AmbiguousPostal,
        () => Form::Postal,
    }
}

/// A name without what kind of place it is.
fn bare(name: &str) -> &str {
    STYLES.iter().find_map(|style| name.strip_prefix(style)).unwrap_or(name)
}

/// `San Mateo Municipal Code of 2024-01-08`, `Code of Federal Regulations: titles 1, 12`, `Code of Virginia, converted`.
fn without_edition(name: &str) -> &str {
    let name = name.split([':', '(']).next().unwrap_or(name).trim_end();
    let name = name.strip_suffix(", converted").unwrap_or(name);
    match name.rsplit_once(" of ") {
        Some((code, year)) if year.starts_with(|first: char| first.is_ascii_digit()) => code,
        _ => name,
    }
}

/// A jurisdiction and those that it lies in.
fn around(catalogue: &Catalogue, innermost: Option<&ShortCode>) -> Vec<ShortCode> {
    let mut around: Vec<ShortCode> = Vec::new();
    let mut next = innermost;
    // A catalogue whose jurisdictions lie in each other would lead round and round.
    while let Some(code) = next.filter(|code| !around.contains(code)) {
        around.push(code.clone());
        next = catalogue.jurisdiction(code).and_then(|jurisdiction| jurisdiction.parent.as_ref());
    }
    around
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_kinds_and_editions() {
        assert_eq!(bare("City of Port Arden"), "Port Arden");
        assert_eq!(bare("Hollis County"), "Hollis County");
        for (name, expected) in [
            ("San Mateo Municipal Code of 2024-01-08", "San Mateo Municipal Code"),
            ("Code of Federal Regulations: titles 1, 12 and 47 in part", "Code of Federal Regulations"),
            ("Code of Virginia, converted", "Code of Virginia"),
            ("Maryland Code, Insurance", "Maryland Code, Insurance"),
            ("Hornbook Sample Federal Code (fictional)", "Hornbook Sample Federal Code"),
        ] {
            assert_eq!(without_edition(name), expected);
        }
    }
}
