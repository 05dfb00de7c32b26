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

use hornbook_base::client_network::ClientNetwork;
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

    fn row_of(&self, owner: K) -> usize {
        self.hasher.hash_one(owner) as usize % ROWS
    }

    fn level(&self, owner: K, now: SteadyMicros) -> BucketLevel {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = rows[self.row_of(owner)].iter().find(|bucket| bucket.owner == Some(owner));
        let full_at = bucket.map_or(0, |bucket| bucket.full_at);
        match full_at_after_call(full_at, self.per_minute, MINUTE_MICROS, now) {
            Err(_) => BucketLevel::Empty,
            Ok(_) if full_at > now.0 => BucketLevel::Used,
            Ok(_) => BucketLevel::Full,
        }
    }

    /// Takes one call from the owner's bucket. The error is the number of seconds to wait.
    pub(crate) fn take(&self, owner: K, now: SteadyMicros) -> Result<(), u64> {
        let row = self.row_of(owner);
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let row = &mut rows[row];
        let place = row.iter().position(|bucket| bucket.owner == Some(owner));
        let place = place.or_else(|| (0..BUCKETS_PER_ROW).min_by_key(|place| row[*place].full_at)).unwrap_or(0);
        let bucket = &mut row[place];
        if bucket.owner != Some(owner) {
            *bucket = Bucket { owner: Some(owner), full_at: 0 };
        }
        bucket.full_at = full_at_after_call(bucket.full_at, self.per_minute, MINUTE_MICROS, now)?;
        Ok(())
    }
}

/// How much a bucket holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BucketLevel {
    Empty,
    Used,
    Full,
}

/// One bucket for all owners together.
struct SharedBucket {
    per_minute: u32,
    /// It holds the calls of this time.
    holds_micros: u64,
    /// When the bucket is full again, in steady microseconds.
    full_at: Mutex<u64>,
}

impl SharedBucket {
    fn new(per_minute: u32, holds_micros: u64) -> Self {
        Self { per_minute: per_minute.max(1), holds_micros, full_at: Mutex::new(0) }
    }

    /// Takes one call from the bucket. The error is the number of seconds to wait.
    fn take(&self, now: SteadyMicros) -> Result<(), u64> {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        *full_at = full_at_after_call(*full_at, self.per_minute, self.holds_micros, now)?;
        Ok(())
    }
}

impl SharedBucket {
    fn is_empty(&self, now: SteadyMicros) -> bool {
        let full_at = *self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        full_at_after_call(full_at, self.per_minute, self.holds_micros, now).is_err()
    }
}

/// How many times the limit of one address an IPv6 network of 48 bits may use. It contains 65,536 networks that count as
/// addresses.
const SITE_FACTOR: u32 = 4;

/// How many times the limit of one address all clients may use together, if they have such a limit.
const ALL_FACTOR: u32 = 20;

/// All clients together may use that limit of this time at once.
const BURST_OF_ALL_MICROS: u64 = MINUTE_MICROS / 6;

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
            all: for_all.map(|per_minute| SharedBucket::new(per_minute, MINUTE_MICROS)),
        }
    }

    /// With a limit for all that is a multiple of that for one address, and of which a burst may use only a part.
    pub(crate) fn in_proportion(per_minute: u32) -> Self {
        let all = SharedBucket::new(per_minute.saturating_mul(ALL_FACTOR), BURST_OF_ALL_MICROS);
        Self { all: Some(all), ..Self::new(per_minute, None) }
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

    /// Whether a further request of this address would exceed a limit. That of all clients together counts only for an
    /// address with requests in the last minute.
    pub(crate) fn is_exceeded_by(&self, address: IpAddr, now: SteadyMicros) -> bool {
        let network = ClientNetwork::of(address);
        let own = self.networks.level(network, now);
        own == BucketLevel::Empty
            || self.sites.level(network.site(), now) == BucketLevel::Empty
            || own == BucketLevel::Used && self.all.as_ref().is_some_and(|all| all.is_empty(now))
    }
}

/// When a bucket that holds the calls of some time is full again after a call: each call moves that time by its share of
/// the minute. The error is the number of seconds to wait.
fn full_at_after_call(full_at: u64, per_minute: u32, holds_micros: u64, now: SteadyMicros) -> Result<u64, u64> {
    let share = MINUTE_MICROS / u64::from(per_minute);
    let full_at = full_at.max(now.0).saturating_add(share);
    match full_at.saturating_sub(now.0.saturating_add(holds_micros)) {
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
    fn a_limit_in_proportion_allows_bursts_of_ten_seconds_to_all_together() {
        let rate = ClientRate::in_proportion(60);
        let taken = |seconds| {
            let addresses = (0..=255).map(|last| format!("192.0.2.{last}").parse::<IpAddr>().unwrap());
            addresses.filter(|address| rate.take(*address, at(seconds)).is_ok()).count()
        };
        let burst = 60 * ALL_FACTOR as usize / 6;
        assert_eq!([taken(0), taken(5), taken(5), taken(60)], [burst, burst / 2, 0, burst]);
    }

    #[test]
    fn who_has_exceeded_a_limit_is_known_without_a_call_and_nobody_answers_for_others() {
        let rate = ClientRate::new(2, Some(3));
        let [one, other, quiet] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|text| text.parse::<IpAddr>().unwrap());
        let exceeded = |seconds| [one, other, quiet].map(|address| rate.is_exceeded_by(address, at(seconds)));
        assert_eq!(exceeded(0), [false; 3]);
        rate.take(one, at(0)).unwrap();
        assert_eq!(exceeded(0), [false; 3]);
        rate.take(one, at(0)).unwrap();
        assert_eq!(exceeded(0), [true, false, false]);
        rate.take(other, at(0)).unwrap();
        assert_eq!(exceeded(0), [true, true, false], "the limit of all is used up");
        assert_eq!(exceeded(30), [false; 3]);
        let site = ClientRate::new(1, None);
        for network in 0..4 {
            site.take(format!("2001:db8:1:{network}::1").parse().unwrap(), at(0)).unwrap();
        }
        assert!(site.is_exceeded_by("2001:db8:1:9::1".parse().unwrap(), at(0)));
        assert!(!site.is_exceeded_by("2001:db8:2::1".parse().unwrap(), at(0)));
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
