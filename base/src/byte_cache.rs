//! A cache of computed values, bounded by their total size in bytes.
//!
//! It has two generations. New entries, and entries that are read again, go to the young
//! generation. When the young generation is full, it becomes the old one, and the previous old
//! generation is dropped.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// Size counted for each entry in addition to its bytes, so that the number of empty entries is bounded too.
const ENTRY_BYTES: usize = 256;

/// A value that knows its size in bytes.
pub trait ByteSize {
    fn byte_size(&self) -> usize;
}

impl ByteSize for Bytes {
    fn byte_size(&self) -> usize {
        self.len()
    }
}

impl<T: ByteSize> ByteSize for Arc<T> {
    fn byte_size(&self) -> usize {
        (**self).byte_size()
    }
}

pub struct ByteCache<K, V = Bytes> {
    /// The limit of one generation.
    bytes_max: usize,
    generations: Mutex<Generations<K, V>>,
}

struct Generations<K, V> {
    young: HashMap<K, V>,
    young_bytes: usize,
    old: HashMap<K, V>,
    is_closed: bool,
}

impl<K: Eq + Hash + Clone, V: Clone + ByteSize> ByteCache<K, V> {
    /// Holds at most `2 * bytes_max` bytes plus one entry.
    pub fn new(bytes_max: usize) -> Self {
        let generations = Generations { young: HashMap::new(), young_bytes: 0, old: HashMap::new(), is_closed: false };
        Self { bytes_max, generations: Mutex::new(generations) }
    }

    /// Holds at most this many bytes for each document of a corpus, and at most `bytes_max` in all.
    pub fn for_documents(document_count: u32, bytes_per_document: usize, bytes_max: usize) -> Self {
        // Two generations share the limit.
        Self::new(bytes_max.min(document_count as usize * bytes_per_document) / 2)
    }

    pub fn get(&self, key: &K) -> Option<V> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = generations.young.get(key) {
            return Some(found.clone());
        }
        let found = generations.old.remove(key)?;
        generations.put(key.clone(), found.clone(), self.bytes_max);
        Some(found)
    }

    pub fn put(&self, key: K, value: V) {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner).put(key, value, self.bytes_max);
    }

    /// Drops all entries. Later ones are not kept.
    pub fn close(&self) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        *generations = Generations { young: HashMap::new(), young_bytes: 0, old: HashMap::new(), is_closed: true };
    }

    /// The number of values that are held.
    pub fn entries(&self) -> usize {
        let generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.young.len() + generations.old.len()
    }
}

impl<K: Eq + Hash, V: ByteSize> Generations<K, V> {
    fn put(&mut self, key: K, value: V, bytes_max: usize) {
        if self.is_closed {
            return;
        }
        let size = value.byte_size() + ENTRY_BYTES;
        if self.young_bytes + size > bytes_max {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += size;
        if let Some(replaced) = self.young.insert(key, value) {
            self.young_bytes -= replaced.byte_size() + ENTRY_BYTES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES_MAX: usize = 24 << 20;

    #[test]
    fn it_stays_within_its_bound_and_keeps_what_is_used() {
        let cache = ByteCache::new(BYTES_MAX);
        let bytes = Bytes::from(vec![0; 1 << 20]);
        cache.put(1_000, Bytes::from_static(b"used with every other"));
        for key in 0..200 {
            cache.put(key, bytes.clone());
            assert!(cache.get(&1_000).is_some());
            let held = cache.generations.lock().unwrap();
            let all =
                held.young.values().chain(held.old.values()).map(|bytes| bytes.len() + ENTRY_BYTES).sum::<usize>();
            assert!(all <= 2 * BYTES_MAX && held.young_bytes <= BYTES_MAX + bytes.len(), "{all}");
        }
        assert!(cache.get(&199).is_some() && cache.get(&0).is_none());
    }

    #[test]
    fn a_closed_cache_keeps_nothing() {
        let cache = ByteCache::new(BYTES_MAX);
        cache.put(1, Bytes::from_static(b"before"));
        cache.close();
        cache.put(2, Bytes::from_static(b"after"));
        assert_eq!((cache.get(&1), cache.get(&2), cache.entries()), (None, None, 0));
    }

    #[test]
    fn the_size_for_documents_has_a_maximum() {
        let bytes_max = |documents| ByteCache::<u32>::for_documents(documents, 320, 1 << 20).bytes_max;
        assert_eq!((bytes_max(1_000), bytes_max(10_000_000)), (160_000, 1 << 19));
    }

    #[test]
    fn putting_the_same_twice_counts_it_once() {
        let cache = ByteCache::new(BYTES_MAX);
        for _ in 0..3 {
            cache.put("tile", Bytes::from_static(b"tile"));
        }
        assert_eq!(cache.generations.lock().unwrap().young_bytes, 4 + ENTRY_BYTES);
    }
}
