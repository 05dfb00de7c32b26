//! Words that are nearly a typed one: letters left out, put in, exchanged or swapped with a neighbour.
//!
//! The words are sorted, so the rows of the edit-distance table are kept from one word to the next as far as they share
//! their beginnings, and where no ending could bring a word near any more, all words with that beginning are passed over.

use super::reader::Suggestions;
use super::words::NearRun;
use crate::edits::EditTable;

impl Suggestions {
    /// The words within so many edits of a typed one or, if it is open, of which a beginning is; ascending, apart. What begins
    /// with a digit is a number, which is never guessed.
    pub(super) fn near(&self, typed: &str, edits_max: u8, is_open: bool) -> Vec<NearRun> {
        let typed: Vec<char> = typed.chars().collect();
        let mut table = EditTable::new(&typed, edits_max);
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
