//! Embeds queries with the encoder of a snapshot.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::stored::StoredEncoder;
use super::transformer::{EncoderRunError, Transformer, WordRows};
use super::vector::vector_of;
use crate::damage::catch_panic_as_damage;
use crate::embed::TokenId;

/// The encoder of a snapshot, ready to run.
#[derive(Debug)]
pub struct QueryEncoder {
    stored: StoredEncoder,
    transformer: Transformer,
    /// Pools of one thread each, used in turn. Without them, the computation for one query would use all cores,
    /// which other searches need.
    threads: Vec<ThreadPool>,
    next: AtomicUsize,
}

/// Creates one pool for every two cores. By default this many deep searches run at once.
fn threads() -> Option<Vec<ThreadPool>> {
    let count = (available_parallelism().map_or(1, usize::from) / 2).max(1);
    let pool = |_| ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "deep search".to_owned()).build().ok();
    (0..count).map(pool).collect()
}

impl QueryEncoder {
    /// Decodes the weights, which takes some ten milliseconds. `None` if this program cannot run the encoder.
    pub fn open(stored: StoredEncoder) -> Option<Self> {
        let mut parts = stored.read();
        // The word embeddings are read one row at a time.
        parts.skip(&stored.shape().words());
        let made = catch_panic_as_damage(|| {
            Transformer::new(stored.shape(), |part| Ok::<_, EncoderRunError>(parts.take(part)))
        });
        let transformer = made.ok()?.ok()?;
        Some(Self { stored, transformer, threads: threads()?, next: AtomicUsize::new(0) })
    }

    /// The vector of a query in the space of the passages, of length one. `None` if it has no tokens, or if the
    /// encoder fails.
    pub fn vector(&self, tokens: &[TokenId]) -> Option<Vec<f32>> {
        if tokens.is_empty() {
            return None;
        }
        let inner_max = self.stored.shape().tokens_max.saturating_sub(2);
        let mut marked = vec![TokenId::CLASSIFIER];
        marked.extend(tokens.iter().take(inner_max));
        marked.push(TokenId::SEPARATOR);
        let thread = &self.threads[self.next.fetch_add(1, Ordering::Relaxed) % self.threads.len()];
        let pooled = catch_panic_as_damage(|| thread.install(|| self.transformer.pooled(&self.stored, &[&marked])))
            .ok()?
            .ok()?;
        vector_of(pooled.first()?, self.stored.projection())
    }
}

impl WordRows for StoredEncoder {
    fn push_row(&self, word: TokenId, to: &mut Vec<f32>) {
        self.push_word(word.index(), to);
    }
}
