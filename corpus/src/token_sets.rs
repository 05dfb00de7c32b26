//! The token sets, `tokens.bin`: for each chunk the sorted, unique tokens of its text, and for each node those of
//! its context (its heading and the headings above it). Late-interaction reranking looks up which of a query's
//! tokens, or of their nearest tokens, a passage contains.

use std::path::Path;

use crate::embed::TokenId;
use crate::ids::{ChunkOrdinal, NodeOrdinal};
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};
use crate::vectors::prefetch;

pub const FILE_NAME: &str = "tokens.bin";

const KIND: FileKind = FileKind { magic: *b"HBTOKENS", version: 2 };

/// Sorts tokens and removes duplicates, in place.
pub fn sort_unique(tokens: &mut Vec<TokenId>) {
    tokens.sort_unstable();
    tokens.dedup();
}

/// Writes the sets. Those of chunks are written to the file at once; those of contexts, about seventy bytes per
/// node, are kept until the end.
#[derive(Debug)]
pub struct TokenSetWriter {
    file: SectionWriter,
    starts: Vec<u64>,
    contexts: Vec<TokenId>,
    context_starts: Vec<u64>,
}

impl TokenSetWriter {
    pub fn create(dir: &Path) -> Result<Self, SectionFileError> {
        let mut file = SectionWriter::create(&dir.join(FILE_NAME), KIND, 4)?;
        file.begin("tokens")?;
        Ok(Self { file, starts: vec![0], contexts: Vec::new(), context_starts: vec![0] })
    }

    /// Adds the set of the next chunk, which must be sorted and unique.
    pub fn push_chunk(&mut self, tokens: &[TokenId]) -> Result<(), SectionFileError> {
        check_set(tokens);
        self.file.write_slice(tokens)?;
        self.starts.push(self.starts[self.starts.len() - 1] + tokens.len() as u64);
        Ok(())
    }

    /// Adds the set of the next node's context, which must be sorted and unique. It is empty if the node is not a
    /// provision.
    pub fn push_context(&mut self, tokens: &[TokenId]) {
        check_set(tokens);
        self.contexts.extend_from_slice(tokens);
        self.context_starts.push(self.contexts.len() as u64);
    }

    pub fn finish(mut self) -> Result<(), SectionFileError> {
        self.file.section("starts", &self.starts)?;
        self.file.section("contexts", &self.contexts)?;
        self.file.section("ctxstart", &self.context_starts)?;
        self.file.finish()
    }
}

fn check_set(tokens: &[TokenId]) {
    assert!(tokens.is_sorted_by(|a, b| a < b), "a token set must be sorted and unique: call sort_unique first");
}

/// The mapped sets. A damaged set is empty, or contains tokens that are not in the vocabulary.
#[derive(Clone, Debug)]
pub struct TokenSets {
    chunks: Sets,
    contexts: Sets,
}

impl TokenSets {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let (chunks, contexts) = (Sets::open(&file, "tokens", "starts")?, Sets::open(&file, "contexts", "ctxstart")?);
        Ok(Self { chunks, contexts })
    }

    pub fn chunk_count(&self) -> usize {
        self.chunks.count()
    }

    pub fn node_count(&self) -> usize {
        self.contexts.count()
    }

    /// Prefetches a set that will be read soon.
    pub fn prefetch_set(set: &[TokenId]) {
        prefetch(set);
    }

    /// The tokens of a chunk, sorted and unique. Empty if the chunk has none or does not exist.
    pub fn of_chunk(&self, chunk: ChunkOrdinal) -> &[TokenId] {
        self.chunks.get(chunk.index())
    }

    /// The tokens of a node's context, sorted and unique. Empty if the node has none or does not exist.
    pub fn of_context(&self, node: NodeOrdinal) -> &[TokenId] {
        self.contexts.get(node.index())
    }
}

/// Sets, stored one after another.
#[derive(Clone, Debug)]
struct Sets {
    tokens: Column<TokenId>,
    /// The start of each set, followed by the number of tokens.
    starts: Column<u64>,
}

impl Sets {
    fn open(file: &SectionFile, tokens: &'static str, starts: &'static str) -> Result<Self, SectionFileError> {
        let sets = Self { tokens: file.column(tokens)?, starts: file.column(starts)? };
        let counted = sets.starts.last().copied();
        if sets.starts.first() != Some(&0) || counted != Some(sets.tokens.len() as u64) {
            let what = format!(
                "section {tokens} contains {} tokens, but section {starts} counts {counted:?}",
                sets.tokens.len()
            );
            return Err(file.damaged(what));
        }
        Ok(sets)
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn get(&self, place: usize) -> &[TokenId] {
        let bounds = self.starts.get(place).zip(place.checked_add(1).and_then(|next| self.starts.get(next)));
        bounds.and_then(|(&start, &end)| self.tokens.get(start as usize..end as usize)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn written(chunks: &[Vec<TokenId>], contexts: &[Vec<TokenId>]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = TokenSetWriter::create(dir.path()).unwrap();
        for place in 0..chunks.len().max(contexts.len()) {
            contexts.get(place).into_iter().for_each(|set| writer.push_context(set));
            chunks.get(place).into_iter().for_each(|set| writer.push_chunk(set).unwrap());
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
    fn a_list_that_is_not_a_set_panics() {
        let dir = tempfile::tempdir().unwrap();
        TokenSetWriter::create(dir.path()).unwrap().push_context(&[TokenId(3), TokenId(3)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn sets_read_back_as_written(
            chunks in prop::collection::vec(set(), 0..20), contexts in prop::collection::vec(set(), 0..20),
        ) {
            let found = TokenSets::open(written(&chunks, &contexts).path()).unwrap();
            prop_assert_eq!((found.chunk_count(), found.node_count()), (chunks.len(), contexts.len()));
            for (place, set) in (0..).zip(&chunks) {
                prop_assert_eq!(found.of_chunk(ChunkOrdinal(place)), &set[..]);
            }
            for (place, set) in (0..).zip(&contexts) {
                prop_assert_eq!(found.of_context(NodeOrdinal(place)), &set[..]);
            }
            for beyond in [20, u32::MAX] {
                prop_assert_eq!(found.of_chunk(ChunkOrdinal(beyond)), &[]);
                prop_assert_eq!(found.of_context(NodeOrdinal(beyond)), &[]);
            }
        }

        #[test]
        fn damaged_bytes_are_refused_or_answered_without_panic(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let dir = written(&[vec![TokenId(4), TokenId(7)], vec![], vec![TokenId(1)]], &[vec![TokenId(2)]]);
            let path = dir.path().join(FILE_NAME);
            let mut bytes = fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            fs::write(&path, &bytes).unwrap();
            let Ok(sets) = TokenSets::open(dir.path()) else { return Ok(()) };
            for place in 0..6 {
                prop_assert!(sets.of_chunk(ChunkOrdinal(place)).len() <= 3);
                prop_assert!(sets.of_context(NodeOrdinal(place)).len() <= 1);
            }
        }
    }
}
