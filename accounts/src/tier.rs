//! The tables of packs, limits and free-tier profiles. The configuration can override each value.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::Credits;
use super::rate_limit::RateLimits;

/// The tier of an account: the highest pack it ever bought.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Tier {
    Free,
    Starter,
    Pro,
    Bulk,
}

impl Tier {
    pub const ALL: [Self; 4] = [Self::Free, Self::Starter, Self::Pro, Self::Bulk];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Starter => "starter",
            Self::Pro => "pro",
            Self::Bulk => "bulk",
        }
    }

    pub(crate) fn from_index(index: u8) -> Self {
        Self::ALL.get(usize::from(index)).copied().unwrap_or(Self::Free)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A pack of credits that can be bought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PackName {
    Starter,
    Pro,
    Bulk,
}

impl PackName {
    pub const ALL: [Self; 3] = [Self::Starter, Self::Pro, Self::Bulk];

    pub const fn tier(self) -> Tier {
        match self {
            Self::Starter => Tier::Starter,
            Self::Pro => Tier::Pro,
            Self::Bulk => Tier::Bulk,
        }
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|pack| pack.tier().name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(|pack| pack.tier().name()).join(", ");
            format!("'{text}' is not a pack; the packs are {names}")
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pack {
    pub price_cents: u32,
    pub credits: Credits,
    pub limits: RateLimits,
}

/// The contract states the free tier in two ways; an operator chooses one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreeTier {
    pub limits: RateLimits,
    /// Free units that renew each month.
    pub monthly_units: u32,
    /// Credits given once, when the account is approved.
    pub credits_on_approval: Credits,
}

/// All prices and limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tariff {
    pub free: FreeTier,
    /// Free units per month after a company was formed through the service.
    pub monthly_units_after_formation: u32,
    /// The price of an order in addition to the fees of the state.
    pub formation_fee_cents: u32,
    pub packs: [Pack; 3],
}

const fn pack(price_cents: u32, credits: u32, per_minute: u32, per_day: u32) -> Pack {
    Pack { price_cents, credits: Credits(credits), limits: RateLimits { per_minute, per_day } }
}

impl FreeTier {
    pub const MONTHLY: Self = Self {
        limits: RateLimits { per_minute: 30, per_day: 1000 },
        monthly_units: 1000,
        credits_on_approval: Credits(0),
    };
    /// The contract names no daily limit here, so the limit of the other profile is used.
    pub const GRANT: Self = Self {
        limits: RateLimits { per_minute: 10, per_day: 1000 },
        monthly_units: 0,
        credits_on_approval: Credits(500),
    };
}

impl Tariff {
    pub const CONTRACT: Self = Self {
        free: FreeTier::MONTHLY,
        monthly_units_after_formation: 5000,
        formation_fee_cents: 0,
        packs: [pack(500, 1000, 60, 10_000), pack(2000, 5000, 120, 20_000), pack(5000, 15_000, 300, 50_000)],
    };

    pub const fn pack(&self, name: PackName) -> &Pack {
        &self.packs[name as usize]
    }

    pub const fn pack_mut(&mut self, name: PackName) -> &mut Pack {
        &mut self.packs[name as usize]
    }

    pub fn limits(&self, tier: Tier) -> RateLimits {
        match tier {
            Tier::Free => self.free.limits,
            Tier::Starter => self.pack(PackName::Starter).limits,
            Tier::Pro => self.pack(PackName::Pro).limits,
            Tier::Bulk => self.pack(PackName::Bulk).limits,
        }
    }

    /// Buying a pack does not take the free units away.
    pub const fn monthly_units(&self, company_formed: bool) -> u32 {
        if company_formed { self.monthly_units_after_formation } else { self.free.monthly_units }
    }
}

// A higher pack must not be worse than a lower one.
const _: () = {
    let packs = Tariff::CONTRACT.packs;
    let mut at = 1;
    while at < packs.len() {
        assert!(packs[at].price_cents > packs[at - 1].price_cents);
        assert!(packs[at].credits.0 > packs[at - 1].credits.0);
        assert!(packs[at].limits.per_minute > packs[at - 1].limits.per_minute);
        assert!(packs[at].limits.per_day > packs[at - 1].limits.per_day);
        at += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_contract() {
        let row = |name| {
            let pack = Tariff::CONTRACT.pack(name);
            (pack.price_cents, pack.credits.0, pack.limits.per_minute)
        };
        assert_eq!(PackName::ALL.map(row), [(500, 1000, 60), (2000, 5000, 120), (5000, 15_000, 300)]);
        let free = |tier: FreeTier| (tier.limits.per_minute, tier.monthly_units, tier.credits_on_approval.0);
        assert_eq!([FreeTier::MONTHLY, FreeTier::GRANT].map(free), [(30, 1000, 0), (10, 0, 500)]);
        assert_eq!(Tariff::CONTRACT.monthly_units(false), 1000);
        assert_eq!(Tariff::CONTRACT.monthly_units(true), 5000);
        assert_eq!(Tariff::CONTRACT.limits(Tier::Free).per_day, 1000);
        assert!(Tier::Free < Tier::Starter && Tier::Pro < Tier::Bulk);
    }
}
