//! Where the positions of each word are in their file, for programs that compare two indexes byte by byte.

use std::ops::Range;

use super::error::KeywordError;
use super::reader::KeywordIndex;

/// The file of positions in the folder of the index.
pub const POSITIONS_FILE_NAME: &str = "segment.pos";

/// The positions of a word in a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermPlace {
    /// The field and the word: the same word in two fields has two keys.
    pub key: Vec<u8>,
    /// The bytes in the file of positions.
    pub range: Range<u64>,
}

impl KeywordIndex {
    /// The places of all words with positions of at least `bytes_min` bytes, in the order of the file.
    pub fn term_places(&self, bytes_min: u64) -> Result<Vec<TermPlace>, KeywordError> {
        self.guarded(|| {
            let mut places = Vec::new();
            // The fields follow each other in the order of the schema.
            let mut field_at = 0;
            for (number, field) in (0_u8..).zip([self.fields().heading, self.fields().text]) {
                let inverted = self.segment().inverted_index(field).map_err(|source| self.engine("read", source))?;
                let terms = inverted.terms().stream();
                let mut terms = terms.map_err(|source| self.engine("read", source.into()))?;
                let mut end = field_at;
                while let Some((term, info)) = terms.next() {
                    let range = &info.positions_range;
                    let range = field_at + range.start as u64..field_at + range.end as u64;
                    end = range.end;
                    if range.end - range.start >= bytes_min {
                        places.push(TermPlace { key: [&[number], term].concat(), range });
                    }
                }
                field_at = end;
            }
            Ok(places)
        })
    }
}
