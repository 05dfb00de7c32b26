//! The names of the places and codes of a snapshot, indexed by their first word.

use std::collections::HashMap;

use hornbook_corpus::catalogue::{Catalogue, CodeBody, Jurisdiction};
use hornbook_corpus::ids::{OrdinalRange, ShortCode};
use hornbook_corpus::jurisdictions::GovernmentLevel;

use super::words::keys_of;

/// A jurisdiction or a code.
#[derive(Clone, Debug)]
pub(crate) struct KnownPlace {
    pub jurisdiction: ShortCode,
    pub name: String,
    /// The nodes of the place and of the places within it; empty if its law is not loaded.
    pub nodes: OrdinalRange,
    /// The jurisdictions that contain it, innermost first. For a code, the first one is its own jurisdiction.
    within: Vec<ShortCode>,
    is_code: bool,
}

impl KnownPlace {
    #[cfg(test)]
    pub(super) fn is_code(&self) -> bool {
        self.is_code
    }

    pub(super) fn is_within_place(&self, other: &Self) -> bool {
        !other.is_code && self.within.contains(&other.jurisdiction)
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.jurisdiction == other.jurisdiction && self.is_code == other.is_code && self.name == other.name
    }
}

/// The form of a name. It decides how clear the words around the name must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameForm {
    /// The name of a state, a territory, or of a city or county in several words.
    Full,
    /// The name of a city or county in one word, which may also be a common word: Mobile, Orange.
    City,
    /// Two capital letters: `NY`.
    Postal,
    /// Two capital letters that also mean something else: `VA` is a department, `MD` a doctor.
    AmbiguousPostal,
    /// Two capital letters that form an English word: `IN`, `OR`.
    WordPostal,
    /// `DC`, in capital or small letters.
    District,
    /// A name of the United States.
    Country,
    /// The word `federal`.
    Federal,
    Code,
}

/// One name of a place.
#[derive(Clone, Debug)]
pub(super) struct PlaceName {
    /// The words after the first one.
    pub rest: Vec<String>,
    pub form: NameForm,
    pub place: usize,
}

/// All names.
#[derive(Debug, Default)]
pub(super) struct PlaceNames {
    by_first: HashMap<String, Vec<PlaceName>>,
}

const AMBIGUOUS_POSTAL: &[&str] = &[
    "al", "ar", "as", "ct", "co", "de", "ga", "gu", "id", "la", "ma", "md", "mi", "mo", "ms", "mt", "ne", "nd", "oh",
    "pa", "pr", "sc", "sd", "va", "vi", "wa",
];

const WORD_POSTAL: &[&str] = &["hi", "in", "me", "ok", "or"];

/// Prefixes of the full names of cities, states and other places.
const NAME_KIND_PREFIXES: &[&str] = &[
    "City of ",
    "City and County of ",
    "Town of ",
    "Village of ",
    "Borough of ",
    "State of ",
    "Commonwealth of ",
    "Territory of ",
];

/// Short names of codes that appear neither in the code's name nor in its citations, by code key.
const SHORT_NAMES: &[(&str, &[&str])] = &[
    ("us/usc", &["U.S.C.", "U.S. Code", "United States Code"]),
    ("us/cfr", &["C.F.R.", "Code of Federal Regulations"]),
    ("md/comar", &["COMAR"]),
    ("wa/rcw", &["RCW"]),
    ("sd/sdcl", &["SDCL"]),
];

/// A code name of one word needs at least this many bytes: shorter words have too many other meanings.
const CODE_WORD_BYTES_MIN: usize = 3;

impl PlaceNames {
    /// The names that begin with a word, longest first.
    pub(super) fn beginning_with(&self, first: &str) -> &[PlaceName] {
        self.by_first.get(first).map_or(&[], Vec::as_slice)
    }

    /// The places of a catalogue and their names. States come first, so that a city does not take the
    /// name of a state.
    pub(super) fn of(catalogue: &Catalogue) -> (Vec<KnownPlace>, Self) {
        let (mut places, mut names) = (Vec::new(), Self::default());
        for jurisdiction in &catalogue.jurisdictions {
            names.add_jurisdiction(jurisdiction, places.len());
            places.push(KnownPlace {
                jurisdiction: jurisdiction.short_code.clone(),
                name: without_kind_prefix(&jurisdiction.name).to_owned(),
                nodes: jurisdiction.subtree,
                within: enclosing_jurisdictions(catalogue, jurisdiction.parent.as_ref()),
                is_code: false,
            });
        }
        for body in &catalogue.code_bodies {
            names.add_code(body, places.len());
            places.push(KnownPlace {
                jurisdiction: body.jurisdiction.clone(),
                name: body.name.clone(),
                nodes: body.nodes,
                within: enclosing_jurisdictions(catalogue, Some(&body.jurisdiction)),
                is_code: true,
            });
        }
        (places, names)
    }

    fn add_jurisdiction(&mut self, jurisdiction: &Jurisdiction, place: usize) {
        let Jurisdiction { short_code, name, level, .. } = jurisdiction;
        let short = without_kind_prefix(name);
        let is_one_word = keys_of(short).len() == 1;
        let form = match level {
            GovernmentLevel::Federal => NameForm::Country,
            GovernmentLevel::City | GovernmentLevel::County if is_one_word => NameForm::City,
            _ => NameForm::Full,
        };
        self.add(short, form, place);
        self.add(name, form, place);
        match (level, short_code.as_str()) {
            (GovernmentLevel::Federal, _) => {
                for name in ["US", "USA", "United States of America"] {
                    self.add(name, NameForm::Country, place);
                }
                self.add("federal", NameForm::Federal, place);
            }
            (GovernmentLevel::District, "DC") => {
                self.add("DC", NameForm::District, place);
                self.add("Washington DC", NameForm::Full, place);
            }
            (GovernmentLevel::State | GovernmentLevel::Territory, code) if code.len() == 2 => {
                self.add(code, postal(code), place);
            }
            (GovernmentLevel::City, _) => self.add(&format!("{short} City"), NameForm::Full, place),
            _ => {}
        }
    }

    fn add_code(&mut self, body: &CodeBody, place: usize) {
        self.add(without_edition(&body.name), NameForm::Code, place);
        let cited = body.citation.as_deref().and_then(|template| template.split(['{', '§']).next()).unwrap_or_default();
        let short = SHORT_NAMES.iter().filter(|(key, _)| *key == body.key).flat_map(|(_, names)| names.iter().copied());
        for name in short.chain([cited]) {
            self.add(name, NameForm::Code, place);
        }
    }

    /// Adds a name. If several places have the same name, it belongs to the first of them.
    fn add(&mut self, name: &str, form: NameForm, place: usize) {
        let mut keys = keys_of(name).into_iter();
        let Some(first) = keys.next() else { return };
        let rest: Vec<String> = keys.collect();
        if form == NameForm::Code && rest.is_empty() && first.len() < CODE_WORD_BYTES_MIN {
            return;
        }
        let names = self.by_first.entry(first).or_default();
        if !names.iter().any(|known| known.rest == rest) {
            names.push(PlaceName { rest, form, place });
            // The longest name that matches is the one that is meant.
            names.sort_by_key(|name| std::cmp::Reverse(name.rest.len()));
        }
    }
}

fn postal(code: &str) -> NameForm {
    let is_in = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(code));
    match () {
        () if is_in(WORD_POSTAL) => NameForm::WordPostal,
        () if is_in(AMBIGUOUS_POSTAL) => NameForm::AmbiguousPostal,
        () => NameForm::Postal,
    }
}

/// A name without its prefix for the kind of place.
fn without_kind_prefix(name: &str) -> &str {
    NAME_KIND_PREFIXES.iter().find_map(|style| name.strip_prefix(style)).unwrap_or(name)
}

/// Removes the edition from the name of a code, as in `San Mateo Municipal Code of 2024-01-08`,
/// `Code of Federal Regulations: titles 1, 12` and `Code of Virginia, converted`.
fn without_edition(name: &str) -> &str {
    let name = name.split([':', '(']).next().unwrap_or(name).trim_end();
    let name = name.strip_suffix(", converted").unwrap_or(name);
    match name.rsplit_once(" of ") {
        Some((code, year)) if year.starts_with(|first: char| first.is_ascii_digit()) => code,
        _ => name,
    }
}

/// A jurisdiction and those that contain it, innermost first.
fn enclosing_jurisdictions(catalogue: &Catalogue, innermost: Option<&ShortCode>) -> Vec<ShortCode> {
    let mut around: Vec<ShortCode> = Vec::new();
    let mut next = innermost;
    // This check prevents an endless loop if the jurisdictions of a catalogue contain each other.
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
        assert_eq!(without_kind_prefix("City of Port Arden"), "Port Arden");
        assert_eq!(without_kind_prefix("Hollis County"), "Hollis County");
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
