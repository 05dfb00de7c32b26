//! A cache of parts of zoning maps, for one snapshot: tiles and lists of zones, in the form in which they
//! are sent.
//!
//! If several calls ask for a part at the same time, one call makes it and the others wait (see `makers`).

use std::sync::Arc;

use bytes::Bytes;
use hornbook_base::byte_cache::ByteCache;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::tiles::address::TileAddress;

use super::error::ApiError;
use crate::single_flight::{FlightGuard, SingleFlight};

/// Maximum size of one generation of the cache.
const BYTES_MAX: usize = 24 << 20;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum MapPart {
    Zones(ShortCode),
    Tile(ShortCode, TileAddress),
}

pub(super) struct MapCache {
    made: ByteCache<MapPart>,
    makers: Arc<SingleFlight<MapPart>>,
}

impl MapCache {
    pub(super) fn new() -> Self {
        Self { made: ByteCache::new(BYTES_MAX), makers: SingleFlight::new() }
    }

    pub(super) fn get(&self, part: &MapPart) -> Option<Bytes> {
        self.made.get(part)
    }

    pub(super) fn put(&self, part: MapPart, made: Bytes) {
        self.made.put(part, made);
    }

    /// Empties the cache for good.
    pub(super) fn release_memory(&self) {
        self.made.close();
    }

    /// Waits for the turn to make a part. Returns `None` if another call has made it by then.
    pub(super) async fn turn(&self, part: &MapPart) -> Result<Option<FlightGuard<MapPart>>, ApiError> {
        let turn = self.makers.turn(part.clone()).await.ok_or_else(ApiError::overloaded)?;
        Ok(self.get(part).is_none().then_some(turn))
    }
}
