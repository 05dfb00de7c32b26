//! Visitors: people without an account who use the web pages. The operator decides whether they may read
//! and search, and how often. Their requests cost no credits, but count against the rate limits of their
//! address, of their network, and of all visitors together. Programs need a key: only the web pages use a
//! [`VisitorPass`].
//!
//! The parts of a zoning map belong to its page. If visitors may read, the parts need nothing more.
//! Otherwise an account has paid for the page, and the page contains a map pass, which gives this account
//! access to the parts of this map.

use std::net::IpAddr;

use hornbook_accounts::admission::MeteringReceipt;
use hornbook_accounts::ids::AccountId;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_base::clock::SteadyMicros;
use hornbook_base::hex;
use ring::hmac;
use ring::rand::SystemRandom;

use super::error::{ApiError, ErrorCode};
use crate::token_buckets::{ClientRate, RateExceeded};

/// Requests per minute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VisitorRates {
    /// Of each address; 0: none.
    pub reads_per_minute: u32,
    /// Of each address; 0: none.
    pub searches_per_minute: u32,
    /// Of all visitors together; 0: no limit.
    pub all_reads_per_minute: u32,
    /// Of all visitors together; 0: no limit.
    pub all_searches_per_minute: u32,
}

/// Map parts per minute for each address. A map on a large screen needs about twenty parts at each zoom.
const MAP_PARTS_PER_MINUTE: u32 = 2_400;

/// Pictures of whole maps per minute for each address. A page shows one.
const MAP_PICTURES_PER_MINUTE: u32 = 120;

/// What a visitor wants to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VisitorAction {
    /// Open a provision, the contents of a code or the list of what is available.
    Read,
    Search,
    /// Run one of the sample searches that a page offers. It counts as reading.
    Sample,
    /// Get completions while typing, or a spelling correction. People with an account use it in the same
    /// way as visitors.
    Complete,
    /// Open the page of a zoning map. It counts as reading.
    Map,
    /// Get a part of a map whose page is open: a tile or the list of its zones.
    MapPart,
}

/// Completions per minute for each address, with or without an account.
const COMPLETIONS_PER_MINUTE: u32 = 240;

impl VisitorAction {
    const fn scopes(self) -> ScopeSet {
        match self {
            Self::Read => ScopeSet::of(&[Scope::Node, Scope::Browse]),
            Self::Search | Self::Sample | Self::Complete => ScopeSet::of(&[Scope::Search]),
            Self::Map | Self::MapPart => ScopeSet::of(&[Scope::Gis]),
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Read | Self::Map => "reading",
            Self::MapPart => "looking at maps",
            Self::Search | Self::Sample => "searching",
            Self::Complete => "completing",
        }
    }
}

/// Decides which visitors to admit.
pub struct Visitors {
    reads: Option<ClientRate>,
    searches: Option<ClientRate>,
    completions: ClientRate,
    map_parts: ClientRate,
    map_pictures: ClientRate,
    /// The key that signs map passes. It is random, so a pass is invalid after this process ends.
    pass_key: hmac::Key,
}

/// None if there is no access.
fn unless_zero(per_minute: u32, all_per_minute: u32) -> Option<ClientRate> {
    let for_all = (all_per_minute > 0).then_some(all_per_minute);
    (per_minute > 0).then(|| ClientRate::new(per_minute, for_all))
}

/// Proof that the operator admits a visitor who is within the limit. It is for one call.
#[derive(Debug)]
pub struct VisitorPass {
    wish: VisitorAction,
}

impl Visitors {
    pub fn new(rates: VisitorRates) -> Self {
        let VisitorRates { reads_per_minute, searches_per_minute, all_reads_per_minute, all_searches_per_minute } =
            rates;
        let pass_key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Self {
            reads: unless_zero(reads_per_minute, all_reads_per_minute),
            searches: unless_zero(searches_per_minute, all_searches_per_minute),
            completions: ClientRate::in_proportion(COMPLETIONS_PER_MINUTE),
            map_parts: ClientRate::in_proportion(MAP_PARTS_PER_MINUTE),
            map_pictures: ClientRate::in_proportion(MAP_PICTURES_PER_MINUTE),
            pass_key: pass_key.expect("the system has random bytes"),
        }
    }

    fn rate(&self, wish: VisitorAction) -> Option<&ClientRate> {
        match wish {
            VisitorAction::Read | VisitorAction::Sample | VisitorAction::Map => self.reads.as_ref(),
            VisitorAction::Search => self.searches.as_ref(),
            VisitorAction::Complete => Some(&self.completions),
            // The web pages count it with `pace_map_part`, whether it succeeds or not.
            VisitorAction::MapPart => None,
        }
    }

    /// Whether the operator lets visitors do this.
    pub fn is_allowed(&self, wish: VisitorAction) -> bool {
        match wish {
            VisitorAction::MapPart => self.is_allowed(VisitorAction::Map),
            wish => self.rate(wish).is_some(),
        }
    }

    /// Counts a call against an address. The error is 401 if an account is needed, 429 if the address is
    /// over its limit.
    pub fn admit_visitor(
        &self,
        wish: VisitorAction,
        address: IpAddr,
        now: SteadyMicros,
    ) -> Result<VisitorPass, ApiError> {
        if !self.is_allowed(wish) {
            return Err(needs_account(wish));
        }
        self.rate(wish).map_or(Ok(()), |rate| rate.take(address, now)).map_err(|exceeded| too_fast(wish, exceeded))?;
        Ok(VisitorPass { wish })
    }

    /// Counts a request for a part of a map against an address.
    pub fn pace_map_part(&self, address: IpAddr, now: SteadyMicros) -> Result<(), ApiError> {
        self.map_parts.take(address, now).map_err(|exceeded| too_fast(VisitorAction::MapPart, exceeded))
    }

    /// Counts a request for the picture of a whole map against an address.
    pub fn pace_map_picture(&self, address: IpAddr, now: SteadyMicros) -> Result<(), ApiError> {
        self.map_pictures.take(address, now).map_err(|exceeded| too_fast(VisitorAction::MapPart, exceeded))
    }

    /// The pass that gives an account access to the parts of a map. The receipt is that of the call for
    /// the map's page.
    pub fn map_pass(&self, _paid: &MeteringReceipt, account: AccountId, map: &str) -> String {
        hex::encode(hmac::sign(&self.pass_key, signed_text(account, map).as_bytes()).as_ref())
    }

    /// Admits the account that opened the page of a map to the parts of that map.
    pub fn admit_to_map(&self, pass: Option<&str>, account: AccountId, map: &str) -> Result<VisitorPass, ApiError> {
        let given = pass.and_then(hex::decode::<32>).unwrap_or_default();
        if hmac::verify(&self.pass_key, signed_text(account, map).as_bytes(), &given).is_err() {
            return Err(ApiError::new(ErrorCode::InsufficientScope, "open the page of the map again"));
        }
        Ok(VisitorPass { wish: VisitorAction::MapPart })
    }
}

fn signed_text(account: AccountId, map: &str) -> String {
    format!("{account} {map}")
}

fn needs_account(wish: VisitorAction) -> ApiError {
    ApiError::new(ErrorCode::InvalidApiKey, format!("{} needs an account on this server", wish.as_str()))
}

fn too_fast(wish: VisitorAction, exceeded: RateExceeded) -> ApiError {
    let RateExceeded { limit, is_of_all, wait_seconds } = exceeded;
    let what = wish.as_str();
    let whom = if is_of_all { "for all visitors" } else { "from one address" };
    let unit = if wait_seconds == 1 { "second" } else { "seconds" };
    let message = format!(
        "without an account, {what} is limited to {limit} pages a minute {whom}; try again in {wait_seconds} {unit}, or \
         sign in"
    );
    ApiError { retry_after_sec: Some(wait_seconds), ..ApiError::new(ErrorCode::RateLimited, message) }
}

impl VisitorPass {
    /// The scopes of this pass, if one of `any_of` is among them.
    pub(super) fn require(&self, any_of: ScopeSet) -> Result<ScopeSet, ApiError> {
        let scopes = self.wish.scopes();
        let refused = || ApiError::new(ErrorCode::InsufficientScope, "this needs an account on this server");
        if scopes.has_any_of(any_of) { Ok(scopes) } else { Err(refused()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SteadyMicros = SteadyMicros(3_600_000_000);

    fn without_common_limit(reads_per_minute: u32, searches_per_minute: u32) -> Visitors {
        Visitors::new(VisitorRates { reads_per_minute, searches_per_minute, ..VisitorRates::default() })
    }

    #[test]
    fn all_visitors_together_and_each_site_are_limited() {
        let rates = VisitorRates { reads_per_minute: 5, all_reads_per_minute: 12, ..VisitorRates::default() };
        let visitors = Visitors::new(rates);
        let read = |from: String| visitors.admit_visitor(VisitorAction::Read, from.parse().unwrap(), NOW);
        let admitted = (0..40).filter(|n| read(format!("192.0.2.{n}")).is_ok()).count();
        assert_eq!(admitted, 12);
        let refused = read("192.0.2.99".to_owned()).unwrap_err();
        assert_eq!((refused.code, refused.retry_after_sec), (ErrorCode::RateLimited, Some(5)));
        assert!(refused.message.contains("12 pages a minute for all visitors"), "{}", refused.message);

        let visitors = without_common_limit(5, 0);
        let read = |from: String| visitors.admit_visitor(VisitorAction::Read, from.parse().unwrap(), NOW);
        // One customer's 48 bits, in as many networks of 64 bits as it likes.
        let admitted = (0..100).filter(|n| read(format!("2001:db8:7:{n:x}::1")).is_ok()).count();
        assert_eq!(admitted, 20);
        assert!(read("2001:db8:8::1".to_owned()).is_ok(), "another site has its own");
    }

    #[test]
    fn reading_and_searching_are_limited_separately_per_address() {
        let visitors = without_common_limit(3, 2);
        let taken = |wish, from: &str| {
            (0..9).filter(|_| visitors.admit_visitor(wish, from.parse().unwrap(), NOW).is_ok()).count()
        };
        assert_eq!((taken(VisitorAction::Read, "192.0.2.1"), taken(VisitorAction::Search, "192.0.2.1")), (3, 2));
        assert_eq!(taken(VisitorAction::Read, "192.0.2.2"), 3);
        let refused = visitors.admit_visitor(VisitorAction::Read, "192.0.2.1".parse().unwrap(), NOW).unwrap_err();
        assert_eq!((refused.code, refused.retry_after_sec), (ErrorCode::RateLimited, Some(20)));
    }

    #[test]
    fn map_parts_are_limited_separately_and_allowed_with_reading() {
        let visitors = without_common_limit(1, 0);
        let address = "192.0.2.1".parse().unwrap();
        assert!(visitors.admit_visitor(VisitorAction::Map, address, NOW).is_ok());
        assert!(visitors.admit_visitor(VisitorAction::Read, address, NOW).is_err(), "a map counts as reading");
        let parts = (0..3_000).filter(|_| visitors.pace_map_part(address, NOW).is_ok()).count();
        assert_eq!(parts, MAP_PARTS_PER_MINUTE as usize);
        assert!(visitors.admit_visitor(VisitorAction::MapPart, address, NOW).is_ok(), "its door has counted it");
        let closed = without_common_limit(0, 9);
        assert!(
            !closed.is_allowed(VisitorAction::MapPart)
                && closed.admit_visitor(VisitorAction::MapPart, address, NOW).is_err()
        );
    }

    #[test]
    fn a_rate_of_zero_admits_no_visitor() {
        let visitors = without_common_limit(1, 0);
        assert!(visitors.is_allowed(VisitorAction::Read) && !visitors.is_allowed(VisitorAction::Search));
        let refused = visitors.admit_visitor(VisitorAction::Search, "192.0.2.1".parse().unwrap(), NOW).unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidApiKey);
    }

    #[test]
    fn a_pass_has_only_the_scopes_of_its_action() {
        let pass = |wish| VisitorPass { wish };
        assert!(pass(VisitorAction::Read).require(ScopeSet::of(&[Scope::Node])).is_ok());
        assert!(pass(VisitorAction::Read).require(ScopeSet::of(&[Scope::Search])).is_err());
        assert!(pass(VisitorAction::Search).require(ScopeSet::of(&[Scope::Node])).is_err());
        assert!(pass(VisitorAction::Read).require(ScopeSet::of(&[Scope::Gis])).is_err());
        assert!(pass(VisitorAction::MapPart).require(ScopeSet::of(&[Scope::Gis])).is_ok());
        assert!(pass(VisitorAction::Search).require(ScopeSet::of(&[Scope::Gis, Scope::Formation])).is_err());
    }
}
