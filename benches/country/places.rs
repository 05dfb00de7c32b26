//! The jurisdictions of the synthetic country, their codes and their sizes.

use hornbook_corpus::jurisdictions::{BUILT_IN_JURISDICTIONS, GovernmentLevel};

/// The kind of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Statute,
    Regulation,
    Municipal,
}

impl Kind {
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::Statute => "statute",
            Self::Regulation => "regulation",
            Self::Municipal => "municipal",
        }
    }
}

/// A city that is not in the inventory.
pub(crate) struct City {
    pub(crate) code: &'static str,
    pub(crate) name: &'static str,
    pub(crate) parent: &'static str,
}

/// The inventory has 57 jurisdictions; with these there are 60.
pub(crate) const CITIES: [City; 3] = [
    City { code: "CA-MADE-BAY", name: "City of Made Bay", parent: "CA" },
    City { code: "IL-MADE-LAKE", name: "City of Made Lake", parent: "IL" },
    City { code: "NY-MADE-HARBOR", name: "City of Made Harbor", parent: "NY" },
];

/// The share of federal law: about that of the United States Code and the Code of Federal Regulations.
const FEDERAL_SHARE: f64 = 0.11;
/// The size of a territory as a share of the smallest state, and of a city as a share of a territory.
const TERRITORY_SHARE: f64 = 0.3;
const CITY_SHARE: f64 = 0.5;
/// The share of statutes in a jurisdiction with statutes and regulations.
const STATUTE_SHARE: f64 = 0.58;

/// One code to generate.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) jurisdiction: &'static str,
    pub(crate) place: &'static str,
    pub(crate) level: GovernmentLevel,
    pub(crate) kind: Kind,
    /// The number of chunks it should have.
    pub(crate) chunks: u64,
}

impl Code {
    pub(crate) fn key(&self) -> String {
        format!("{}/made-{}", self.jurisdiction.to_ascii_lowercase(), self.kind.tag())
    }

    pub(crate) fn name(&self) -> String {
        let what = match self.kind {
            Kind::Statute => "Made Statutes",
            Kind::Regulation => "Made Regulations",
            Kind::Municipal => "Made Ordinances",
        };
        format!("{} of {}", what, self.place)
    }

    /// The template of the citations of its provisions.
    pub(crate) fn citation(&self) -> String {
        let what = match self.kind {
            Kind::Statute => "Made Stat.",
            Kind::Regulation => "Made Regs.",
            Kind::Municipal => "Made Ord.",
        };
        format!("{} {what} § {{number}}", self.place)
    }

    pub(crate) fn file(&self) -> String {
        format!("{}.jsonl.zst", self.key().replace('/', "-"))
    }

    /// The number of a provision: `12-3-104`, or `12.03.04` in regulations.
    pub(crate) fn number(&self, title: usize, chapter: usize, section: usize) -> String {
        match self.kind {
            Kind::Regulation => format!("{title:02}.{chapter:02}.{section:02}"),
            Kind::Statute | Kind::Municipal => format!("{title}-{chapter}-{}", 100 + section),
        }
    }
}

/// The codes of all sixty jurisdictions, with this many chunks in total.
pub(crate) fn codes(chunks: u64) -> Vec<Code> {
    let mut weighed = Vec::new();
    let mut states = 0;
    let mut smallest = 1.0;
    for place in &BUILT_IN_JURISDICTIONS {
        let weight = match place.level {
            GovernmentLevel::Federal => 0.0,
            GovernmentLevel::State | GovernmentLevel::District => {
                // Some states are five times as large as others. The order does not follow the alphabet.
                let rank = (states * 23 + 7) % 51;
                states += 1;
                let weight = f64::from(rank + 6).powf(-0.6);
                smallest = f64::min(smallest, weight);
                weight
            }
            GovernmentLevel::Territory | GovernmentLevel::County | GovernmentLevel::City => smallest * TERRITORY_SHARE,
        };
        weighed.push((place.code, place.name, place.level, weight));
    }
    for city in &CITIES {
        weighed.push((city.code, city.name, GovernmentLevel::City, smallest * TERRITORY_SHARE * CITY_SHARE));
    }
    let total: f64 = weighed.iter().map(|(.., weight)| weight).sum();
    let mut codes = Vec::new();
    for (jurisdiction, place, level, weight) in weighed {
        let share =
            if level == GovernmentLevel::Federal { FEDERAL_SHARE } else { weight / total * (1.0 - FEDERAL_SHARE) };
        let kinds: &[(Kind, f64)] = match level {
            GovernmentLevel::City | GovernmentLevel::County => &[(Kind::Municipal, 1.0)],
            _ => &[(Kind::Statute, STATUTE_SHARE), (Kind::Regulation, 1.0 - STATUTE_SHARE)],
        };
        for &(kind, part) in kinds {
            let chunks = ((chunks as f64 * share * part).round() as u64).max(1);
            codes.push(Code { jurisdiction, place, level, kind, chunks });
        }
    }
    codes
}

/// The plan that builds the codes.
pub(crate) fn plan(codes: &[Code], seed: u64) -> String {
    let mut plan = format!(
        "# Synthetic law for benchmarks: sentences of real law, mixed and altered with seed {seed}. It is not law.\n\
         name = \"Made law of sixty jurisdictions\"\n"
    );
    for City { code, name, parent } in &CITIES {
        plan += &format!(
            "\n[[jurisdiction]]\ncode = \"{code}\"\nname = \"{name}\"\nlevel = \"city\"\nparent = \"{parent}\"\n"
        );
    }
    for code in codes {
        plan += &format!(
            "\n[[source]]\nformat = \"native\"\npath = \"{}\"\njurisdiction = \"{}\"\ncode_body = \"{}\"\nkey = \"{}\"\n\
             citation = \"{}\"\npublisher = \"hornbook, benches/country\"\nedition = \"seed {seed}\"\n\
             retrieved = \"2026-11-01\"\nlicense = \"as the law it was made of\"\nurl = \"https://example.org/made\"\n\
             tags = [\"{}\"]\n",
            code.file(),
            code.jurisdiction,
            code.name(),
            code.key(),
            code.citation(),
            code.kind.tag(),
        );
    }
    plan
}
