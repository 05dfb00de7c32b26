//! A parsed citation: a code body, a location in it, and the subdivision inside the provision.

use std::cmp::Ordering;

use super::number;

/// A code body, as its row in a grammar. The built-in rows come first and in the same order in every grammar of a
/// program, so references to them are valid in all of these. A reference to an added body is valid only in the
/// grammar that added it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BodyRef(pub(super) u16);

impl BodyRef {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The description of a code body in a grammar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrammarBody<'g> {
    /// The jurisdiction's short code, such as `VA`.
    pub jurisdiction: &'g str,
    /// The key that begins every citation key of this body, such as `us/usc`.
    pub key: &'g str,
    /// The full name, such as `Code of Virginia`.
    pub name: &'g str,
}

/// One citation. Different spellings of the same citation give equal values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Citation {
    pub body: BodyRef,
    /// The title or chapter that a titled form needs before the section: `42`, `17-A`, `93A`.
    pub title: Option<Box<str>>,
    /// Whether the section is in the title's appendix (`5 U.S.C. App.`).
    pub appendix: bool,
    pub place: Locator,
    /// The subdivisions inside the provision, outermost first: `(b)(2)(A)` is `b`, `2`, `A`.
    pub subdivisions: Vec<Box<str>>,
    /// Whether the notes printed with the section are meant: `17 U.S.C. § 101 note`.
    pub note: bool,
}

/// The location in the body (or title) that a citation names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Locator {
    Numbered {
        unit: Unit,
        /// The exact number with its letters, dots and dashes. Dashes are plain hyphens.
        number: Box<str>,
        /// The last number of a range that is cited as a whole.
        last: Option<Box<str>>,
        wording: Option<WordingKind>,
    },
    /// The parts of a constitution, outermost first. Roman numerals are stored as digits. Empty for the whole
    /// constitution.
    Constitution(Vec<(ConstitutionUnit, Box<str>)>),
}

/// The kind of unit that the number of a citation identifies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// The body's ordinary unit: a section, in some codes an article or a rule.
    Section,
    Part,
    Chapter,
}

/// Which of two wordings of one section is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WordingKind {
    /// The permanent wording next to a temporary one, written `(Perm)`.
    Permanent,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConstitutionUnit {
    Preamble,
    DeclarationOfRights,
    BillOfRights,
    Part,
    Chapter,
    Article,
    Amendment,
    Section,
    Clause,
    Paragraph,
}

impl Citation {
    /// The section number, or the first one of a range. `None` for a constitution.
    pub fn number(&self) -> Option<&str> {
        match &self.place {
            Locator::Numbered { number, .. } => Some(number),
            Locator::Constitution(_) => None,
        }
    }

    /// Whether this citation names the same provision as the other one, or a range that contains it. Subdivisions
    /// are ignored.
    pub fn covers(&self, other: &Self) -> bool {
        if self.body != other.body || self.appendix != other.appendix || !same_title(&self.title, &other.title) {
            return false;
        }
        match (&self.place, &other.place) {
            (
                Locator::Numbered { unit, number, last, wording },
                Locator::Numbered { unit: other_unit, number: first_inside, last: last_inside, wording: other_wording },
            ) => {
                let end = last.as_ref().unwrap_or(number);
                let end_inside = last_inside.as_ref().unwrap_or(first_inside);
                unit == other_unit
                    && wording == other_wording
                    && number::compare(number, first_inside) != Ordering::Greater
                    && number::compare(end_inside, end) != Ordering::Greater
            }
            (a, b) => a == b,
        }
    }
}

fn same_title(a: &Option<Box<str>>, b: &Option<Box<str>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        (None, None) => true,
        _ => false,
    }
}
