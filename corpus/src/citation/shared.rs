//! Names that more than one code goes by: `I.C.` is Idaho's and Indiana's, `FAR` is said of two titles of federal regulations.
//!
//! Each reading of such a name says which numbers it takes. A number that fits one reading alone decides; for one that
//! fits several, only what a snapshot holds can.

use super::number::Shape;
use super::tail::Entry;
use super::value::{BodyRef, Unit};

/// The most readings that a name has.
pub(super) const READINGS_MAX: usize = 2;

/// A shared name, by its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SharedName(pub(super) u16);

/// How the letters in a code's numbers are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Letters {
    Any,
    Lower,
    Upper,
}

/// One of the codes that a shared name means.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) body: BodyRef,
    /// The title that the name includes.
    pub(super) title: Option<&'static str>,
    /// The numbers that sections begin with, as inclusive runs; empty where any number will do.
    pub(super) parts: Vec<(u16, u16)>,
    pub(super) shape: Shape,
    pub(super) letters: Letters,
}

impl Reading {
    /// Whether a number that has the shape is one of this code.
    pub(super) fn takes(&self, entry: &Entry, unit: Unit) -> bool {
        let number = entry.first.as_str();
        let letters = match self.letters {
            Letters::Any => true,
            Letters::Lower => !number.bytes().any(|sign| sign.is_ascii_uppercase()),
            Letters::Upper => !number.bytes().any(|sign| sign.is_ascii_lowercase()),
        };
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let part = number.get(..digits).and_then(|part| part.parse::<u16>().ok());
        let in_parts = |part: u16| self.parts.iter().any(|&(first, last)| first <= part && part <= last);
        let has_part = self.parts.is_empty() || part.is_some_and(in_parts);
        // A part has a plain number.
        letters && has_part && (unit == Unit::Section || digits == number.len())
    }
}
