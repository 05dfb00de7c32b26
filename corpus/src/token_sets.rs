//! The token sets, `tokens.bin`: for each node the sorted, unique tokens of its text, its heading and the headings above
//! it. The late-interaction rerank asks them which of a query's tokens, or of the tokens near those, a provision has.

use std::path::Path;

use crate::embed::TokenId;
use crate::ids::NodeOrdinal;
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

pub const FILE_NAME: &str = "tokens.bin";

const KIND: FileKind = FileKind { magic: *b"HBTOKENS", version: 1 };

/// Makes a set of a list, in place.
pub fn sort_unique(tokens: &mut Vec<TokenId>) {
    tokens.sort_unstable();
    tokens.dedup();
}

/// Writes the sets, node after node. Tokens go straight to the file; eight bytes a node are held until the end.
#[derive(Debug)]
pub struct TokenSetWriter {
    file: SectionWriter,
    starts: Vec<u64>,
}

impl TokenSetWriter {
    pub fn create(dir: &Path) -> Result<Self, SectionFileError> {
        let mut file = SectionWriter::create(&dir.join(FILE_NAME), KIND, 2)?;
        file.begin("tokens")?;
        Ok(Self { file, starts: vec![0] })
    }

    /// The set of the next node, sorted and unique; empty for a node without one.
    pub fn push(&mut self, tokens: &[TokenId]) -> Result<(), SectionFileError> {
        assert!(tokens.is_sorted_by(|a, b| a < b), "a token set is sorted and unique: call sort_unique first");
        self.file.write_slice(tokens)?;
        let end = self.starts[self.starts.len() - 1] + tokens.len() as u64;
        self.starts.push(end);
        Ok(())
    }

    pub fn finish(mut self) -> Result<(), SectionFileError> {
        self.file.section("starts", &self.starts)?;
        self.file.finish()
    }
}

/// The mapped sets. A damaged set is empty, or holds tokens that no table knows.
#[derive(Clone, Debug)]
pub struct TokenSets {
    tokens: Column<TokenId>,
    /// Where the set of each node starts, and the number of tokens.
    starts: Column<u64>,
}

impl TokenSets {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let sets = Self { tokens: file.column("tokens")?, starts: file.column("starts")? };
        let counted = sets.starts.last().copied();
        if sets.starts.first() != Some(&0) || counted != Some(sets.tokens.len() as u64) {
            let what = format!("it holds {} tokens, its nodes count {counted:?} of them", sets.tokens.len());
            return Err(file.damaged(what));
        }
        Ok(sets)
    }

    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Sorted and unique; empty for a node that has none or does not exist.
    pub fn get(&self, node: NodeOrdinal) -> &[TokenId] {
        let bounds = self.starts.get(node.index()).zip(self.starts.get(node.index() + 1));
        bounds.and_then(|(&start, &end)| self.tokens.get(start as usize..end as usize)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn written(sets: &[Vec<TokenId>]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = TokenSetWriter::create(dir.path()).unwrap();
        for set in sets {
            writer.push(set).unwrap();
        }
        writer.finish().unwrap();
        dir
    }

    fn set() -> impl Strategy<Value = Vec<TokenId>> {
        prop::collection::btree_set(any::<u16>(), 0..50).prop_map(|set| set.into_iter().map(TokenId).collect())
    }

    #[test]
    fn lists_become_sets() {
        let mut tokens = [5, 3, 5, 9, 3].map(TokenId).to_vec();
        sort_unique(&mut tokens);
        assert_eq!(tokens, [3, 5, 9].map(TokenId));
    }

    #[test]
    #[should_panic(expected = "call sort_unique first")]
    fn a_list_that_is_no_set_is_noticed_at_once() {
        let dir = tempfile::tempdir().unwrap();
        drop(TokenSetWriter::create(dir.path()).unwrap().push(&[TokenId(3), TokenId(3)]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn sets_read_back_as_written(sets in prop::collection::vec(set(), 0..20)) {
            let found = TokenSets::open(written(&sets).path()).unwrap();
            prop_assert_eq!(found.node_count(), sets.len());
            for (node, set) in sets.iter().enumerate() {
                prop_assert_eq!(found.get(NodeOrdinal(node as u32)), &set[..]);
            }
            prop_assert_eq!(found.get(NodeOrdinal(sets.len() as u32)), &[]);
            prop_assert_eq!(found.get(NodeOrdinal(u32::MAX)), &[]);
        }

        #[test]
        fn damaged_bytes_are_refused_or_answered_without_panic(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let dir = written(&[vec![TokenId(4), TokenId(7)], vec![], vec![TokenId(1)]]);
            let path = dir.path().join(FILE_NAME);
            let mut bytes = fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            fs::write(&path, &bytes).unwrap();
            let Ok(sets) = TokenSets::open(dir.path()) else { return Ok(()) };
            for node in 0..6 {
                prop_assert!(sets.get(NodeOrdinal(node)).len() <= 3);
            }
        }
    }
}
