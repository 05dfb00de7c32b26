//! Entries of the newer edition for a range of numbers that is no longer law: `§§ 475a to 490. Repealed.`

use std::cmp::Ordering;

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::outline::Status;
use rustc_hash::FxHashMap;

use crate::compare::{BodyPair, CompareError};

/// The entries for several numbers, by what the keys of these numbers begin with.
#[derive(Default)]
pub(crate) struct EndedRanges(FxHashMap<String, Vec<EndedRange>>);

struct EndedRange {
    first: String,
    last: String,
    status: Status,
}

impl BodyPair<'_> {
    pub(crate) fn ended_ranges(&self) -> Result<EndedRanges, CompareError> {
        let mut ranges = EndedRanges::default();
        for node in self.new_nodes() {
            let status = self.new.outline.status(node);
            if status.may_be_in_force() || !self.new.outline.is_provision(node) {
                continue;
            }
            let record = self.new.nodes.get(node)?;
            let Some((first, last)) = record.number.as_deref().and_then(|number| number.split_once(" to ")) else {
                continue;
            };
            let range = EndedRange { first: first.to_owned(), last: last.to_owned(), status };
            ranges.0.entry(place_of(&record.source_key).to_owned()).or_default().push(range);
        }
        Ok(ranges)
    }

    /// The status of the entry in whose range the number of a provision of the older edition is.
    pub(crate) fn ended_in(&self, ranges: &EndedRanges, node: NodeOrdinal) -> Result<Option<Status>, CompareError> {
        if ranges.0.is_empty() || !self.old.outline.is_provision(node) {
            return Ok(None);
        }
        let record = self.old.nodes.get(node)?;
        let (Some(number), Some(ranges)) = (&record.number, ranges.0.get(place_of(&record.source_key))) else {
            return Ok(None);
        };
        let is_in = |range: &&EndedRange| {
            by_number(&range.first, number) != Ordering::Greater && by_number(number, &range.last) != Ordering::Greater
        };
        Ok(ranges.iter().find(is_in).map(|range| range.status))
    }
}

/// What the keys of the provisions of one code, title or act begin with.
fn place_of(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(place, _)| place)
}

/// The order of two numbers: `8`, `8A`, `8B`, `9`, `10`.
fn by_number(one: &str, other: &str) -> Ordering {
    parts(one).cmp(parts(other))
}

/// The digits of a number as values, and its other letters; digits come first.
fn parts(number: &str) -> impl Iterator<Item = (u64, char)> + '_ {
    let mut rest = number;
    std::iter::from_fn(move || {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        if digits > 0 {
            let value = rest[..digits].parse().unwrap_or(u64::MAX);
            rest = &rest[digits..];
            return Some((value, ' '));
        }
        let letter = rest.chars().next()?;
        rest = &rest[letter.len_utf8()..];
        Some((u64::MAX, letter.to_ascii_lowercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_an_order() {
        let numbers = ["8", "8A", "8b", "8b-1", "9", "10", "475a", "476"];
        for pair in numbers.windows(2) {
            assert_eq!(by_number(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(by_number("8b", "8B"), Ordering::Equal);
    }
}
