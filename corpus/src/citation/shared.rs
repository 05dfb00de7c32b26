//! Names that several codes share: `I.C.` means the code of Idaho or of Indiana, `FAR` one of two titles of the
//! federal regulations.
//!
//! Each reading of such a name defines which numbers fit it. If a number fits only one reading, that one is meant.
//! If it fits several, the contents of the snapshot decide.

use super::number::NumberShape;
use super::tail::ListedNumber;
use super::value::{BodyRef, Unit};

/// Maximum number of readings of a name.
pub(super) const READINGS_MAX: usize = 2;

/// A shared name, as an index into the list of shared names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SharedName(pub(super) u16);

/// The case of the letters in a code's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LetterCase {
    Any,
    Lower,
    Upper,
}

/// One of the codes that a shared name means.
#[derive(Clone, Debug)]
pub(super) struct SharedNameMeaning {
    pub(super) body: BodyRef,
    /// The title that the name includes.
    pub(super) title: Option<&'static str>,
    /// The numbers with which its sections begin, as inclusive ranges. If empty, any number fits.
    pub(super) parts: Vec<(u16, u16)>,
    pub(super) shape: NumberShape,
    pub(super) letters: LetterCase,
}

impl SharedNameMeaning {
    /// Whether a number that fits the shape may be one of this code.
    pub(super) fn accepts_number(&self, entry: &ListedNumber, unit: Unit) -> bool {
        let number = entry.first.as_str();
        let letters = match self.letters {
            LetterCase::Any => true,
            LetterCase::Lower => !number.bytes().any(|sign| sign.is_ascii_uppercase()),
            LetterCase::Upper => !number.bytes().any(|sign| sign.is_ascii_lowercase()),
        };
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let part = number.get(..digits).and_then(|part| part.parse::<u16>().ok());
        let in_parts = |part: u16| self.parts.iter().any(|&(first, last)| first <= part && part <= last);
        let has_part = self.parts.is_empty() || part.is_some_and(in_parts);
        // Parts and chapters have plain numbers.
        letters && has_part && (unit == Unit::Section || digits == number.len())
    }
}
