//! How often one address may ask for what needs no key: documents, open operations, paths that lead nowhere.
//!
//! Each [`ClientNetwork`] has a bucket that holds a minute's worth of requests and refills steadily. The buckets lie in a
//! table of fixed size: a network finds its own among the eight of its row, and a new one takes the place of the fullest,
//! which forgets the least.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use super::client_network::ClientNetwork;
use crate::api::error::{ApiError, ErrorCode};
use crate::clock::SteadyMicros;

const MINUTE_MICROS: u64 = 60 * 1_000_000;

/// Together 32,768 addresses in a megabyte.
const ROWS: usize = 4096;
const BUCKETS_PER_ROW: usize = 8;

pub(super) struct OpenRate {
    per_minute: u32,
    rows: Mutex<Vec<[Bucket; BUCKETS_PER_ROW]>>,
    /// Keyed at random, so that nobody can choose addresses that share a row.
    hasher: RandomState,
}

#[derive(Clone, Copy, Default)]
struct Bucket {
    network: Option<ClientNetwork>,
    /// When it is full again, in steady microseconds.
    full_at: u64,
}

impl OpenRate {
    pub(super) fn new(per_minute: u32) -> Self {
        let rows = Mutex::new(vec![[Bucket::default(); BUCKETS_PER_ROW]; ROWS]);
        Self { per_minute: per_minute.max(1), rows, hasher: RandomState::new() }
    }

    /// Counts a request of this address, or refuses it.
    pub(super) fn take(&self, address: IpAddr, now: SteadyMicros) -> Result<(), ApiError> {
        let network = ClientNetwork::of(address);
        let row = self.hasher.hash_one(network) as usize % ROWS;
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let row = &mut rows[row];
        let place = row.iter().position(|bucket| bucket.network == Some(network));
        let place = place.or_else(|| (0..BUCKETS_PER_ROW).min_by_key(|place| row[*place].full_at)).unwrap_or(0);
        let bucket = &mut row[place];
        if bucket.network != Some(network) {
            *bucket = Bucket { network: Some(network), full_at: 0 };
        }
        // Each request makes the bucket full later by its share of the minute.
        let share = MINUTE_MICROS / u64::from(self.per_minute);
        let full_at = bucket.full_at.max(now.0).saturating_add(share);
        match full_at.saturating_sub(now.0.saturating_add(MINUTE_MICROS)) {
            0 => {
                bucket.full_at = full_at;
                Ok(())
            }
            too_early => Err(self.too_fast(too_early.div_ceil(1_000_000))),
        }
    }

    fn too_fast(&self, seconds: u64) -> ApiError {
        let message = format!(
            "this address sent more than {} requests a minute that need no key; try again in {seconds} seconds, and keep \
             documents by their ETag: they change only with the snapshot",
            self.per_minute
        );
        ApiError { retry_after_sec: Some(seconds), ..ApiError::new(ErrorCode::RateLimited, message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 3_600_000_000;

    fn at(seconds: u64) -> SteadyMicros {
        SteadyMicros(START + seconds * 1_000_000)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn taken(rate: &OpenRate, from: &str, now: SteadyMicros, tries: usize) -> usize {
        (0..tries).filter(|_| rate.take(address(from), now).is_ok()).count()
    }

    #[test]
    fn a_minutes_worth_at_once_and_then_as_many_a_minute() {
        let rate = OpenRate::new(30);
        assert_eq!(taken(&rate, "192.0.2.1", at(0), 100), 30);
        let refused = rate.take(address("192.0.2.1"), at(0)).unwrap_err();
        assert_eq!((refused.code, refused.retry_after_sec), (ErrorCode::RateLimited, Some(2)));
        assert!(refused.message.contains("30 requests a minute"));
        assert_eq!(taken(&rate, "192.0.2.1", at(1), 100), 0);
        assert_eq!(taken(&rate, "192.0.2.1", at(2), 100), 1, "waiting as long as was said helps");
        assert_eq!(taken(&rate, "192.0.2.1", at(62), 100), 30);
        assert_eq!(taken(&rate, "192.0.2.2", at(62), 100), 30, "another address has its own");
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_and_mapped_ones_are_ipv4() {
        let rate = OpenRate::new(10);
        assert_eq!(taken(&rate, "2001:db8:1:2::1", at(0), 6), 6);
        assert_eq!(taken(&rate, "2001:db8:1:2:ffff::9", at(0), 6), 4);
        assert_eq!(taken(&rate, "2001:db8:1:3::1", at(0), 6), 6);
        assert_eq!(taken(&rate, "192.0.2.1", at(0), 6), 6);
        assert_eq!(taken(&rate, "::ffff:192.0.2.1", at(0), 6), 4);
    }

    #[test]
    fn the_table_does_not_grow_and_a_busy_address_keeps_its_bucket() {
        let rate = OpenRate::new(60);
        assert_eq!(taken(&rate, "198.51.100.1", at(0), 100), 60);
        // As many addresses as the table holds, each with one request, which is forgotten first.
        for number in 0..(ROWS * BUCKETS_PER_ROW) as u32 {
            let other = IpAddr::from(0x0a00_0000_u32.wrapping_add(number).to_be_bytes());
            rate.take(other, at(0)).unwrap();
        }
        assert_eq!(taken(&rate, "198.51.100.1", at(0), 1), 0);
        assert_eq!(rate.rows.lock().unwrap().len(), ROWS);
    }
}
