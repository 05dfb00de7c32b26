//! Rate limits per minute for many owners: client addresses, or keys.
//!
//! Each owner has a bucket that holds the calls of one minute and refills steadily. The buckets are
//! in a table of fixed size. The hash of an owner selects a row of eight buckets. A new owner
//! replaces the fullest bucket of its row, because that one loses the least information. A
//! [`SharedBucket`] is one bucket for all.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, PoisonError};

use hornbook_base::clock::SteadyMicros;

const MINUTE_MICROS: u64 = 60 * 1_000_000;

/// 4096 rows of 8 are 32,768 buckets, about one megabyte.
const ROWS: usize = 4096;
const BUCKETS_PER_ROW: usize = 8;

pub(crate) struct TokenBuckets<K> {
    per_minute: u32,
    rows: Mutex<Vec<[Bucket<K>; BUCKETS_PER_ROW]>>,
    /// Keyed randomly, so that nobody can choose owners that share a row.
    hasher: RandomState,
}

#[derive(Clone, Copy)]
struct Bucket<K> {
    owner: Option<K>,
    /// When the bucket is full again, in steady microseconds.
    full_at: u64,
}

impl<K: Copy + Eq + Hash> TokenBuckets<K> {
    pub(crate) fn new(per_minute: u32) -> Self {
        let rows = vec![[Bucket { owner: None, full_at: 0 }; BUCKETS_PER_ROW]; ROWS];
        Self { per_minute: per_minute.max(1), rows: Mutex::new(rows), hasher: RandomState::new() }
    }

    /// Takes one call from the owner's bucket. The error is the number of seconds to wait.
    pub(crate) fn take(&self, owner: K, now: SteadyMicros) -> Result<(), u64> {
        let row = self.hasher.hash_one(owner) as usize % ROWS;
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let row = &mut rows[row];
        let place = row.iter().position(|bucket| bucket.owner == Some(owner));
        let place = place.or_else(|| (0..BUCKETS_PER_ROW).min_by_key(|place| row[*place].full_at)).unwrap_or(0);
        let bucket = &mut row[place];
        if bucket.owner != Some(owner) {
            *bucket = Bucket { owner: Some(owner), full_at: 0 };
        }
        bucket.full_at = full_at_after_call(bucket.full_at, self.per_minute, now)?;
        Ok(())
    }
}

/// One bucket for all owners together.
pub(crate) struct SharedBucket {
    per_minute: u32,
    /// When the bucket is full again, in steady microseconds.
    full_at: Mutex<u64>,
}

impl SharedBucket {
    pub(crate) fn new(per_minute: u32) -> Self {
        Self { per_minute: per_minute.max(1), full_at: Mutex::new(0) }
    }

    /// Takes one call from the bucket. The error is the number of seconds to wait.
    pub(crate) fn take(&self, now: SteadyMicros) -> Result<(), u64> {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        *full_at = full_at_after_call(*full_at, self.per_minute, now)?;
        Ok(())
    }
}

/// When a bucket is full again after a call: each call moves that time by its share of the minute. The error is the
/// number of seconds to wait.
fn full_at_after_call(full_at: u64, per_minute: u32, now: SteadyMicros) -> Result<u64, u64> {
    let share = MINUTE_MICROS / u64::from(per_minute);
    let full_at = full_at.max(now.0).saturating_add(share);
    match full_at.saturating_sub(now.0.saturating_add(MINUTE_MICROS)) {
        0 => Ok(full_at),
        too_early => Err(too_early.div_ceil(1_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 3_600_000_000;

    fn at(seconds: u64) -> SteadyMicros {
        SteadyMicros(START + seconds * 1_000_000)
    }

    fn taken(buckets: &TokenBuckets<u32>, owner: u32, now: SteadyMicros, tries: usize) -> usize {
        (0..tries).filter(|_| buckets.take(owner, now).is_ok()).count()
    }

    #[test]
    fn a_full_bucket_at_once_then_a_steady_rate() {
        let buckets = TokenBuckets::new(30);
        assert_eq!(taken(&buckets, 1, at(0), 100), 30);
        assert_eq!(buckets.take(1, at(0)), Err(2));
        assert_eq!(taken(&buckets, 1, at(1), 100), 0);
        assert_eq!(taken(&buckets, 1, at(2), 100), 1, "waiting as long as was said helps");
        assert_eq!(taken(&buckets, 1, at(62), 100), 30);
        assert_eq!(taken(&buckets, 2, at(62), 100), 30, "another has its own");
    }

    #[test]
    fn a_shared_bucket_counts_everybody() {
        let bucket = SharedBucket::new(30);
        assert_eq!((0..100).filter(|_| bucket.take(at(0)).is_ok()).count(), 30);
        assert_eq!(bucket.take(at(0)), Err(2));
        assert_eq!((0..100).filter(|_| bucket.take(at(2)).is_ok()).count(), 1);
    }

    #[test]
    fn the_table_does_not_grow_and_a_busy_owner_keeps_its_bucket() {
        let buckets = TokenBuckets::new(60);
        assert_eq!(taken(&buckets, 0, at(0), 100), 60);
        // As many owners as the table has buckets. Each took one call, so their buckets are fuller
        // and are replaced first.
        for owner in 1..=(ROWS * BUCKETS_PER_ROW) as u32 {
            buckets.take(owner, at(0)).unwrap();
        }
        assert_eq!(taken(&buckets, 0, at(0), 1), 0);
        assert_eq!(buckets.rows.lock().unwrap().len(), ROWS);
    }
}
