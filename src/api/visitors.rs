//! Visitors: people without an account who look at pages. The operator decides whether they may read and search, and how
//! often; what they do costs nothing but a place in the bucket of their address. Programs need a key: no transport but the
//! pages asks for a [`VisitorPass`].

use std::net::IpAddr;

use super::error::{ApiError, ErrorCode};
use crate::accounts::scope::{Scope, ScopeSet};
use crate::clock::SteadyMicros;
use crate::network::ClientNetwork;
use crate::rate::Buckets;

/// How often one address may, each minute; 0: not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VisitorRates {
    pub reads_per_minute: u32,
    pub searches_per_minute: u32,
}

/// What a visitor does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Open a provision, the contents of a code or the list of what there is.
    Read,
    Search,
    /// Make one of the searches that stand on the page as samples. It counts as reading.
    Sample,
    /// See what may be meant while it is typed, or where it was mistyped. People with an account do it as visitors do.
    Complete,
}

/// So often a minute from one address, whoever types.
const COMPLETIONS_PER_MINUTE: u32 = 240;

impl Wish {
    const fn scopes(self) -> ScopeSet {
        match self {
            Self::Read => ScopeSet::of(&[Scope::Node, Scope::Browse]),
            Self::Search | Self::Sample | Self::Complete => ScopeSet::of(&[Scope::Search]),
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "reading",
            Self::Search | Self::Sample => "searching",
            Self::Complete => "completing",
        }
    }
}

/// Lets visitors in.
pub struct Visitors {
    reads: Option<Rate>,
    searches: Option<Rate>,
    completions: Option<Rate>,
}

struct Rate {
    per_minute: u32,
    buckets: Buckets<ClientNetwork>,
}

impl Rate {
    fn new(per_minute: u32) -> Option<Self> {
        (per_minute > 0).then(|| Self { per_minute, buckets: Buckets::new(per_minute) })
    }
}

/// Proof that the operator lets a visitor in, who is within the limit. It is for one call.
#[derive(Debug)]
pub struct VisitorPass {
    wish: Wish,
}

impl Visitors {
    pub fn new(rates: VisitorRates) -> Self {
        let VisitorRates { reads_per_minute, searches_per_minute } = rates;
        Self {
            reads: Rate::new(reads_per_minute),
            searches: Rate::new(searches_per_minute),
            completions: Rate::new(COMPLETIONS_PER_MINUTE),
        }
    }

    fn rate(&self, wish: Wish) -> Option<&Rate> {
        match wish {
            Wish::Read | Wish::Sample => self.reads.as_ref(),
            Wish::Search => self.searches.as_ref(),
            Wish::Complete => self.completions.as_ref(),
        }
    }

    /// Whether the operator lets anybody do this.
    pub fn may(&self, wish: Wish) -> bool {
        self.rate(wish).is_some()
    }

    /// Counts a call against an address. 401 where an account is needed, 429 where the address is too fast.
    pub fn let_in(&self, wish: Wish, address: IpAddr, now: SteadyMicros) -> Result<VisitorPass, ApiError> {
        let Some(Rate { per_minute, buckets }) = self.rate(wish) else {
            let message = format!("{} needs an account on this server", wish.as_str());
            return Err(ApiError::new(ErrorCode::InvalidApiKey, message));
        };
        let too_fast = |seconds| {
            let message = format!(
                "without an account, {} is limited to {per_minute} pages a minute from one address; try again in \
                 {seconds} seconds",
                wish.as_str()
            );
            ApiError { retry_after_sec: Some(seconds), ..ApiError::new(ErrorCode::RateLimited, message) }
        };
        buckets.take(ClientNetwork::of(address), now).map_err(too_fast)?;
        Ok(VisitorPass { wish })
    }
}

impl VisitorPass {
    /// The scopes that it stands for, if one of these is among them.
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

    #[test]
    fn reading_and_searching_have_buckets_of_their_own_by_address() {
        let visitors = Visitors::new(VisitorRates { reads_per_minute: 3, searches_per_minute: 2 });
        let taken =
            |wish, from: &str| (0..9).filter(|_| visitors.let_in(wish, from.parse().unwrap(), NOW).is_ok()).count();
        assert_eq!((taken(Wish::Read, "192.0.2.1"), taken(Wish::Search, "192.0.2.1")), (3, 2));
        assert_eq!(taken(Wish::Read, "192.0.2.2"), 3);
        let refused = visitors.let_in(Wish::Read, "192.0.2.1".parse().unwrap(), NOW).unwrap_err();
        assert_eq!((refused.code, refused.retry_after_sec), (ErrorCode::RateLimited, Some(20)));
    }

    #[test]
    fn zero_lets_nobody_in() {
        let visitors = Visitors::new(VisitorRates { reads_per_minute: 1, searches_per_minute: 0 });
        assert!(visitors.may(Wish::Read) && !visitors.may(Wish::Search));
        let refused = visitors.let_in(Wish::Search, "192.0.2.1".parse().unwrap(), NOW).unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidApiKey);
    }

    #[test]
    fn a_pass_opens_what_it_was_asked_for_alone() {
        let pass = |wish| VisitorPass { wish };
        assert!(pass(Wish::Read).require(ScopeSet::of(&[Scope::Node])).is_ok());
        assert!(pass(Wish::Read).require(ScopeSet::of(&[Scope::Search])).is_err());
        assert!(pass(Wish::Search).require(ScopeSet::of(&[Scope::Node])).is_err());
        assert!(pass(Wish::Search).require(ScopeSet::of(&[Scope::Gis, Scope::Formation])).is_err());
    }
}
