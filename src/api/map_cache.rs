//! Parts of zoning maps that were made already, for one snapshot: tiles and lists of zones, written as they are sent.

use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::tiles::address::TileAddress;

use crate::byte_cache::ByteCache;

/// Of one generation.
const BYTES_MAX: usize = 24 << 20;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum MapPart {
    Zones(ShortCode),
    Tile(ShortCode, TileAddress),
}

pub(super) type MapCache = ByteCache<MapPart>;

pub(super) fn empty() -> MapCache {
    ByteCache::new(BYTES_MAX)
}
