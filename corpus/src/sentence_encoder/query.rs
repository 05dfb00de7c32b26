//! Embeds queries with the encoder of a snapshot.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::stored::StoredEncoder;
use super::transformer::{EncoderFailed, Transformer, WordRows};
use super::vector::vector_of;
use crate::damage::guarded;
use crate::embed::TokenId;

/// The encoder of a snapshot, ready to compute.
#[derive(Debug)]
pub struct QueryEncoder {
    stored: StoredEncoder,
    transformer: Transformer,
    /// Pools of a single thread each, taken in turn: the arithmetic would spread one query over all cores, which other
    /// searches need.
    threads: Vec<ThreadPool>,
    next: AtomicUsize,
}

/// One for every two cores: as many as deep searches run at once, unless an operator chooses another number.
fn threads() -> Option<Vec<ThreadPool>> {
    let count = (available_parallelism().map_or(1, usize::from) / 2).max(1);
    let pool = |_| ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "deep search".to_owned()).build().ok();
    (0..count).map(pool).collect()
}

impl QueryEncoder {
    /// Takes the weights out of their bytes; some ten milliseconds. Nothing if they cannot be computed with here.
    pub fn open(stored: StoredEncoder) -> Option<Self> {
        let mut parts = stored.read();
        // The rows of words are read one at a time.
        parts.skip(&stored.shape().words());
        let made = guarded(|| Transformer::new(stored.shape(), |part| Ok::<_, EncoderFailed>(parts.take(part))));
        let transformer = made.ok()?.ok()?;
        Some(Self { stored, transformer, threads: threads()?, next: AtomicUsize::new(0) })
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
        let thread = &self.threads[self.next.fetch_add(1, Ordering::Relaxed) % self.threads.len()];
        let pooled = guarded(|| thread.install(|| self.transformer.pooled(&self.stored, &[&marked]))).ok()?.ok()?;
        vector_of(pooled.first()?, self.stored.projection())
    }
}

impl WordRows for StoredEncoder {
    fn push_row(&self, word: TokenId, to: &mut Vec<f32>) {
        self.push_word(word.index(), to);
    }
}
