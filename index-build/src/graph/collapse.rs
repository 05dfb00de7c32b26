//! Finds equal and nearly equal vectors, so that each cluster becomes one point of the graph.
//!
//! Statutes repeat themselves. If the only neighbours of a point were its own copies, no link would
//! lead into or out of the group. The first chunk of a cluster represents it. Equal rows are found
//! by their hash, nearly equal ones by the signs of their codes: vectors with a cosine of 0.999
//! differ in about four of 256 signs, so at least one run of 32 signs is the same in both. The
//! tables have a fixed size. A forgotten entry costs an extra point, but never a result.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hasher};

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::vectors::NEAR_MAX;

use super::rows::ShardRows;

/// The length of a run of signs. Two vectors are compared if all signs of a run agree.
const BAND_LEN: usize = 32;
const BANDS_MAX: usize = 8;
/// Leaders remembered per slot. A new leader replaces the oldest.
const WAYS: usize = 4;
const VACANT: u32 = u32::MAX;

/// The clusters of a shard.
pub(super) struct Clusters {
    /// The leaders, ascending.
    pub(super) points: Vec<u32>,
    near: BTreeMap<u32, Vec<u32>>,
    equal: BTreeMap<u32, Vec<u32>>,
}

impl Clusters {
    pub(super) fn near(&self, chunk: u32) -> &[u32] {
        self.near.get(&chunk).map_or(&[], Vec::as_slice)
    }

    pub(super) fn equal(&self, chunk: u32) -> &[u32] {
        self.equal.get(&chunk).map_or(&[], Vec::as_slice)
    }
}

impl Clusters {
    /// For each chunk, by its place in the shard: the point that it belongs to.
    pub(super) fn points_by_chunk(&self, chunks: OrdinalRange) -> Vec<u32> {
        let place = |chunk: u32| (chunk - chunks.start) as usize;
        let mut point_of: Vec<u32> = chunks.iter().collect();
        for &point in &self.points {
            for &member in std::iter::once(&point).chain(self.near(point)) {
                point_of[place(member)] = point;
                self.equal(member).iter().for_each(|&equal| point_of[place(equal)] = point);
            }
        }
        point_of
    }
}

pub(super) fn collapse(shard: &ShardRows<'_>, near_cosine_min: f32) -> Clusters {
    let mut clusters = Clusters { points: Vec::new(), near: BTreeMap::new(), equal: BTreeMap::new() };
    // The map is used for lookups only, so its iteration order cannot affect any file.
    let mut first_with_hash = HashMap::new();
    let mut leaders = LeaderTable::new(shard);
    for chunk in shard.chunks.iter() {
        let first = *first_with_hash.entry(hash_of_row(shard, chunk)).or_insert(chunk);
        if first != chunk && shard.rows.are_equal(first, chunk) {
            clusters.equal.entry(first).or_default().push(chunk);
            continue;
        }
        let has_room = |leader: &u32| clusters.near(*leader).len() < NEAR_MAX;
        let nearest = leaders
            .candidates(shard, chunk)
            .filter(has_room)
            .map(|leader| (shard.cosine(leader, chunk), leader))
            .filter(|(cosine, _)| *cosine >= near_cosine_min)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        match nearest {
            Some((_, leader)) => clusters.near.entry(leader).or_default().push(chunk),
            None => {
                leaders.insert(shard, chunk);
                clusters.points.push(chunk);
            }
        }
    }
    clusters
}

fn hash_of_row(shard: &ShardRows<'_>, chunk: u32) -> u64 {
    hash_of_codes(shard.rows.codes(chunk))
}

pub(super) fn hash_of_codes(codes: &[i8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytemuck::cast_slice(codes));
    hasher.finish()
}

/// Leaders by the signs of their codes: one table of fixed size per band.
struct LeaderTable {
    bands: usize,
    slots_per_band: usize,
    leaders: Vec<[u32; WAYS]>,
}

impl LeaderTable {
    fn new(shard: &ShardRows<'_>) -> Self {
        let bands = (shard.rows.dims() / BAND_LEN).min(BANDS_MAX);
        let slots_per_band = (shard.chunks.len() as usize / 2).next_power_of_two();
        Self { bands, slots_per_band, leaders: vec![[VACANT; WAYS]; bands * slots_per_band] }
    }

    fn slot(&self, band: usize, codes: &[i8]) -> usize {
        let signs =
            codes[band * BAND_LEN..][..BAND_LEN].iter().fold(0u32, |signs, &code| signs << 1 | u32::from(code < 0));
        let mixed = u64::from(signs).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        band * self.slots_per_band + (mixed as usize & (self.slots_per_band - 1))
    }

    fn candidates<'a>(&'a self, shard: &'a ShardRows<'_>, chunk: u32) -> impl Iterator<Item = u32> + 'a {
        let codes = shard.rows.codes(chunk);
        (0..self.bands).flat_map(move |band| self.leaders[self.slot(band, codes)]).filter(|&leader| leader != VACANT)
    }

    fn insert(&mut self, shard: &ShardRows<'_>, leader: u32) {
        let codes = shard.rows.codes(leader);
        for band in 0..self.bands {
            let slot = self.slot(band, codes);
            self.leaders[slot].rotate_right(1);
            self.leaders[slot][0] = leader;
        }
    }
}
