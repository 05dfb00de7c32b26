//! Embeds queries with the encoder of a snapshot.

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::stored::StoredEncoder;
use super::transformer::{EncoderFailed, Transformer, WordRows};
use super::vector::vector_of;
use crate::embed::TokenId;

/// The encoder of a snapshot, ready to compute.
#[derive(Debug)]
pub struct QueryEncoder {
    stored: StoredEncoder,
    transformer: Transformer,
    /// A single thread: the arithmetic would spread one query over all cores, which other searches need.
    thread: ThreadPool,
}

impl QueryEncoder {
    /// Takes the weights out of their bytes; some ten milliseconds. Nothing if they cannot be computed with here.
    pub fn open(stored: StoredEncoder) -> Option<Self> {
        let mut parts = stored.read();
        // The rows of words are read one at a time.
        parts.skip(&stored.shape().words());
        let transformer = Transformer::new(stored.shape(), |part| Ok::<_, EncoderFailed>(parts.take(part))).ok()?;
        let thread = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "deep search".to_owned()).build().ok()?;
        Some(Self { stored, transformer, thread })
    }

    /// The vector of a query in the space of the passages, of length one; nothing if it has no tokens.
    pub fn vector(&self, tokens: &[TokenId]) -> Option<Vec<f32>> {
        if tokens.is_empty() {
            return None;
        }
        let inner_max = self.stored.shape().tokens_max.saturating_sub(2);
        let mut marked = vec![TokenId::CLASSIFIER];
        marked.extend(tokens.iter().take(inner_max));
        marked.push(TokenId::SEPARATOR);
        let pooled = self.thread.install(|| self.transformer.pooled(&self.stored, &[&marked])).ok()?;
        vector_of(pooled.first()?, self.stored.projection())
    }
}

impl WordRows for StoredEncoder {
    fn push_row(&self, word: TokenId, to: &mut Vec<f32>) {
        self.push_word(word.index(), to);
    }
}
