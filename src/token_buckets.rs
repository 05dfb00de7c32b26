//! Rate limits per minute for many owners: client addresses, or keys.
//!
//! Each owner has a bucket that holds the calls of one minute and refills steadily. The buckets are
//! in a table of fixed size. The hash of an owner selects a row of eight buckets. A new owner
//! replaces the fullest bucket of its row, because that one loses the least information.
//!
//! A [`ClientRate`] limits an address, the IPv6 network of 48 bits around it and, if there is such a limit, all
//! clients together.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use hornbook_base::clock::SteadyMicros;

use crate::network::ClientNetwork;

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
struct SharedBucket {
    per_minute: u32,
    /// When the bucket is full again, in steady microseconds.
    full_at: Mutex<u64>,
}

impl SharedBucket {
    fn new(per_minute: u32) -> Self {
        Self { per_minute: per_minute.max(1), full_at: Mutex::new(0) }
    }

    /// Takes one call from the bucket. The error is the number of seconds to wait.
    fn take(&self, now: SteadyMicros) -> Result<(), u64> {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        *full_at = full_at_after_call(*full_at, self.per_minute, now)?;
        Ok(())
    }
}

/// How many times the limit of one address an IPv6 network of 48 bits may use. It contains 65,536 networks that count as
/// addresses.
const SITE_FACTOR: u32 = 4;

/// How many times the limit of one address all clients may use together, if they have such a limit.
const ALL_FACTOR: u32 = 20;

pub(crate) struct ClientRate {
    per_minute: u32,
    networks: TokenBuckets<ClientNetwork>,
    sites: TokenBuckets<ClientNetwork>,
    all: Option<SharedBucket>,
}

/// A limit that is exceeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RateExceeded {
    /// The number of requests a minute.
    pub(crate) limit: u32,
    /// Whether it is the limit of all clients together.
    pub(crate) is_of_all: bool,
    pub(crate) wait_seconds: u64,
}

impl ClientRate {
    /// `for_all`: the limit of all clients together, if there is one.
    pub(crate) fn new(per_minute: u32, for_all: Option<u32>) -> Self {
        Self {
            per_minute,
            networks: TokenBuckets::new(per_minute),
            sites: TokenBuckets::new(per_minute.saturating_mul(SITE_FACTOR)),
            all: for_all.map(SharedBucket::new),
        }
    }

    /// With a limit for all that is a multiple of that for one address.
    pub(crate) fn in_proportion(per_minute: u32) -> Self {
        Self::new(per_minute, Some(per_minute.saturating_mul(ALL_FACTOR)))
    }

    /// Counts a request.
    pub(crate) fn take(&self, address: IpAddr, now: SteadyMicros) -> Result<(), RateExceeded> {
        self.take_for(ClientNetwork::of(address), now)
    }

    pub(crate) fn take_for(&self, network: ClientNetwork, now: SteadyMicros) -> Result<(), RateExceeded> {
        let own = self.networks.take(network, now).and_then(|()| self.sites.take(network.site(), now));
        own.map_err(|wait_seconds| RateExceeded { limit: self.per_minute, is_of_all: false, wait_seconds })?;
        let Some(all) = &self.all else { return Ok(()) };
        let of_all = |wait_seconds| RateExceeded { limit: all.per_minute, is_of_all: true, wait_seconds };
        all.take(now).map_err(of_all)
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
    fn a_client_has_the_limits_of_its_address_its_site_and_of_all() {
        let rate = ClientRate::new(30, Some(200));
        let take = |from: &str, seconds| rate.take(from.parse().unwrap(), at(seconds));
        let taken = |from: &str, seconds| (0..100).filter(|_| take(from, seconds).is_ok()).count();
        assert_eq!(taken("192.0.2.1", 0), 30);
        let exceeded = |limit, is_of_all, wait_seconds| Err(RateExceeded { limit, is_of_all, wait_seconds });
        assert_eq!(take("192.0.2.1", 0), exceeded(30, false, 2));
        let of_site: usize = (0..9).map(|network| taken(&format!("2001:db8:1:{network}::1"), 0)).sum();
        assert_eq!(of_site, 4 * 30);
        assert_eq!(taken("2001:db8:2::1", 0) + taken("192.0.2.2", 0), 200 - 30 - 4 * 30);
        assert_eq!(take("192.0.2.3", 0), exceeded(200, true, 1));
        assert_eq!(taken("192.0.2.4", 60), 30);
        let without = ClientRate::new(1, None);
        assert!((0..=255).all(|last| without.take(format!("192.0.2.{last}").parse().unwrap(), at(0)).is_ok()));
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
