//! Parts of zoning maps that were made already, for one snapshot: tiles and lists of zones, written as they are sent.
//!
//! Bounded by bytes, in two generations: what is asked for again moves to the young one, and when that is full it becomes
//! the old one and what was old is forgotten.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::tiles::address::TileAddress;

/// Of one generation.
const BYTES_MAX: usize = 24 << 20;

/// What an entry costs in addition to its bytes, so that empty tiles are bounded too.
const ENTRY_BYTES: usize = 256;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum MapPart {
    Zones(ShortCode),
    Tile(ShortCode, TileAddress),
}

#[derive(Default)]
pub(super) struct MapCache {
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<MapPart, Bytes>,
    young_bytes: usize,
    old: HashMap<MapPart, Bytes>,
}

impl MapCache {
    pub(super) fn get(&self, part: &MapPart) -> Option<Bytes> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = generations.young.get(part) {
            return Some(found.clone());
        }
        let found = generations.old.remove(part)?;
        generations.put(part.clone(), found.clone());
        Some(found)
    }

    pub(super) fn put(&self, part: MapPart, bytes: Bytes) {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner).put(part, bytes);
    }
}

impl Generations {
    fn put(&mut self, part: MapPart, bytes: Bytes) {
        let size = bytes.len() + ENTRY_BYTES;
        if self.young_bytes + size > BYTES_MAX {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += size;
        if let Some(replaced) = self.young.insert(part, bytes) {
            self.young_bytes -= replaced.len() + ENTRY_BYTES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(x: u32) -> MapPart {
        MapPart::Tile("XA".parse().unwrap(), TileAddress::new(18, x, 0).unwrap())
    }

    #[test]
    fn it_stays_within_its_bound_and_keeps_what_is_used() {
        let cache = MapCache::default();
        let bytes = Bytes::from(vec![0; 1 << 20]);
        cache.put(MapPart::Zones("XA".parse().unwrap()), Bytes::from_static(b"zones"));
        for x in 0..200 {
            cache.put(tile(x), bytes.clone());
            assert!(cache.get(&MapPart::Zones("XA".parse().unwrap())).is_some(), "used with every tile");
            let held = cache.generations.lock().unwrap();
            let all =
                held.young.values().chain(held.old.values()).map(|bytes| bytes.len() + ENTRY_BYTES).sum::<usize>();
            assert!(all <= 2 * BYTES_MAX && held.young_bytes <= BYTES_MAX + bytes.len(), "{all}");
        }
        assert!(cache.get(&tile(199)).is_some() && cache.get(&tile(0)).is_none());
    }

    #[test]
    fn putting_the_same_twice_counts_it_once() {
        let cache = MapCache::default();
        for _ in 0..3 {
            cache.put(tile(1), Bytes::from_static(b"tile"));
        }
        assert_eq!(cache.generations.lock().unwrap().young_bytes, 4 + ENTRY_BYTES);
    }
}
