//! Limits how often one address, or the IPv6 network around it, may request what needs no key: documents, open operations,
//! unknown paths.

use std::net::IpAddr;

use hornbook_base::clock::SteadyMicros;

use crate::api::error::{ApiError, ErrorCode};
use crate::token_buckets::{ClientRate, RateExceeded};

pub(super) struct OpenRate {
    rate: ClientRate,
}

impl OpenRate {
    pub(super) fn new(per_minute: u32) -> Self {
        Self { rate: ClientRate::new(per_minute, None) }
    }

    /// Counts a request from this address, or refuses it.
    pub(super) fn take(&self, address: IpAddr, now: SteadyMicros) -> Result<(), ApiError> {
        self.rate.take(address, now).map_err(too_fast)
    }
}

fn too_fast(RateExceeded { limit, wait_seconds, .. }: RateExceeded) -> ApiError {
    let message = format!(
        "this address sent more than {limit} requests a minute that need no key; try again in {wait_seconds} seconds, and \
         cache documents by their ETag: they change only with the snapshot"
    );
    ApiError { retry_after_sec: Some(wait_seconds), ..ApiError::new(ErrorCode::RateLimited, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SteadyMicros = SteadyMicros(3_600_000_000);

    fn taken(rate: &OpenRate, from: &str, tries: usize) -> usize {
        (0..tries).filter(|_| rate.take(from.parse().unwrap(), NOW).is_ok()).count()
    }

    #[test]
    fn the_refusal_states_the_limit_and_the_wait() {
        let rate = OpenRate::new(30);
        assert_eq!(taken(&rate, "192.0.2.1", 100), 30);
        let refused = rate.take("192.0.2.1".parse().unwrap(), NOW).unwrap_err();
        assert_eq!((refused.code, refused.retry_after_sec), (ErrorCode::RateLimited, Some(2)));
        assert!(refused.message.contains("30 requests a minute"));
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_and_mapped_ones_are_ipv4() {
        let rate = OpenRate::new(10);
        assert_eq!(taken(&rate, "2001:db8:1:2::1", 6), 6);
        assert_eq!(taken(&rate, "2001:db8:1:2:ffff::9", 6), 4);
        assert_eq!(taken(&rate, "2001:db8:1:3::1", 6), 6);
        assert_eq!(taken(&rate, "192.0.2.1", 6), 6);
        assert_eq!(taken(&rate, "::ffff:192.0.2.1", 6), 4);
    }
}
