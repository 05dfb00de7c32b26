//! Finds the words near a typed one, with letters deleted, inserted, replaced or swapped with a neighbour.
//!
//! The words are sorted, so the rows of the edit-distance table for a common prefix are kept from one word to the
//! next. If no word with a certain prefix can be near, all words with this prefix are skipped.

use super::reader::Suggestions;
use super::words::NearRun;
use crate::edits::EditDistanceTable;

impl Suggestions {
    /// The words within `edits_max` edits of a typed one or, if it is open, the words with a prefix within
    /// `edits_max` edits. The ranges are ascending and disjoint. A word that begins with a digit is a number, which
    /// is never guessed.
    pub(super) fn near(&self, typed: &str, edits_max: u8, is_open: bool) -> Vec<NearRun> {
        let typed: Vec<char> = typed.chars().collect();
        let mut table = EditDistanceTable::new(&typed, edits_max);
        let mut found = Vec::new();
        let common = self.common_beginnings();
        let mut number = self.first_without_digit();
        'words: while let Some(&shared) = common.get(number as usize) {
            table.truncate(usize::from(shared).min(table.len()));
            for letter in self.word(number).chars().skip(table.len()) {
                let may_be_near = table.push(letter);
                let near = if is_open { table.distance() } else { None };
                if near.is_some() || !may_be_near {
                    let behind = &common[number as usize + 1..];
                    let depth = table.len();
                    let end = behind.iter().position(|&shared| usize::from(shared) < depth).unwrap_or(behind.len());
                    let end = number + 1 + end as u32;
                    found.extend(near.map(|edits| NearRun { words: number..end, edits }));
                    number = end;
                    continue 'words;
                }
            }
            let near = if is_open { None } else { table.distance() };
            found.extend(near.map(|edits| NearRun { words: number..number + 1, edits }));
            number += 1;
        }
        found
    }
}
