//! Words that are nearly a typed one: letters left out, put in, exchanged or swapped with a neighbour.
//!
//! The words are sorted, so the rows of the edit-distance table are kept from one word to the next as far as they share
//! their beginnings, and where no ending could bring a word near any more, all words with that beginning are passed over.

use std::ops::Range;

use super::reader::Suggestions;

/// One word's table: a row for each of its letters, a column for each typed one.
struct Table<'t> {
    typed: &'t [char],
    letters: Vec<char>,
    /// Row after row, the one of no letters first.
    cells: Vec<u8>,
}

impl<'t> Table<'t> {
    fn new(typed: &'t [char]) -> Self {
        let first = (0..=typed.len()).map(|column| u8::try_from(column).unwrap_or(u8::MAX)).collect();
        Self { typed, letters: Vec::new(), cells: first }
    }

    fn width(&self) -> usize {
        self.typed.len() + 1
    }

    /// Goes back to what the table has in common with a word; how many letters that are.
    fn keep_common(&mut self, word: &[char]) -> usize {
        let common = self.letters.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.letters.truncate(common);
        self.cells.truncate((common + 1) * self.width());
        common
    }

    fn push(&mut self, letter: char) {
        let width = self.width();
        let above = self.cells.len() - width;
        self.cells.push(self.cells[above].saturating_add(1));
        for (column, &typed) in self.typed.iter().enumerate() {
            let exchanged = self.cells[above + column] + u8::from(typed != letter);
            let left_out = self.cells[above + column + 1] + 1;
            let mut least = exchanged.min(left_out).min(self.cells[above + width + column] + 1);
            let swaps = column > 0 && self.typed[column - 1] == letter && self.letters.last() == Some(&typed);
            if swaps {
                least = least.min(self.cells[above - width + column - 1] + 1);
            }
            self.cells.push(least);
        }
        self.letters.push(letter);
    }

    fn last(&self) -> &[u8] {
        &self.cells[self.cells.len() - self.width()..]
    }

    fn distance(&self) -> u8 {
        self.cells[self.cells.len() - 1]
    }
}

/// The words within so many edits of a typed one or, if it is open, of which a beginning is; ascending, apart.
pub(super) fn near(words: &Suggestions, typed: &str, edits: u8, is_open: bool) -> Vec<Range<u32>> {
    let typed: Vec<char> = typed.chars().collect();
    let mut table = Table::new(&typed);
    let mut found: Vec<Range<u32>> = Vec::new();
    let mut number = 0;
    let mut letters: Vec<char> = Vec::new();
    'words: while number < words.word_count() {
        letters.clear();
        letters.extend(words.word(number).chars());
        for at in table.keep_common(&letters)..letters.len() {
            table.push(letters[at]);
            let is_near = is_open && table.distance() <= edits;
            let is_hopeless = table.last().iter().all(|&distance| distance > edits);
            if is_near || is_hopeless {
                let beginning: String = letters[..=at].iter().collect();
                let end = words.end_of_prefix(&beginning).max(number + 1);
                if is_near {
                    found.push(number..end);
                }
                number = end;
                continue 'words;
            }
        }
        if !is_open && table.distance() <= edits {
            found.push(number..number + 1);
        }
        number += 1;
    }
    found
}
