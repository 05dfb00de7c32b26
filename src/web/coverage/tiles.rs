//! A map of the states as tiles of equal size at their approximate positions, so small states are
//! as visible as large ones.

use hornbook_base::thousands::grouped;
use hornbook_corpus::jurisdictions::GovernmentLevel;
use maud::{Markup, html};

use crate::api::replies::JurisdictionReply;

/// The short code, the column and the row of each state.
const TILES: &[(&str, u32, u32)] = &[
    ("AK", 0, 0),
    ("ME", 11, 0),
    ("VT", 10, 1),
    ("NH", 11, 1),
    ("WA", 1, 2),
    ("ID", 2, 2),
    ("MT", 3, 2),
    ("ND", 4, 2),
    ("MN", 5, 2),
    ("IL", 6, 2),
    ("WI", 7, 2),
    ("MI", 8, 2),
    ("NY", 9, 2),
    ("RI", 10, 2),
    ("MA", 11, 2),
    ("OR", 1, 3),
    ("NV", 2, 3),
    ("WY", 3, 3),
    ("SD", 4, 3),
    ("IA", 5, 3),
    ("IN", 6, 3),
    ("OH", 7, 3),
    ("PA", 8, 3),
    ("NJ", 9, 3),
    ("CT", 10, 3),
    ("CA", 1, 4),
    ("UT", 2, 4),
    ("CO", 3, 4),
    ("NE", 4, 4),
    ("MO", 5, 4),
    ("KY", 6, 4),
    ("WV", 7, 4),
    ("VA", 8, 4),
    ("MD", 9, 4),
    ("DE", 10, 4),
    ("AZ", 2, 5),
    ("NM", 3, 5),
    ("KS", 4, 5),
    ("AR", 5, 5),
    ("TN", 6, 5),
    ("NC", 7, 5),
    ("SC", 8, 5),
    ("DC", 9, 5),
    ("OK", 4, 6),
    ("LA", 5, 6),
    ("MS", 6, 6),
    ("AL", 7, 6),
    ("GA", 8, 6),
    ("HI", 0, 7),
    ("TX", 4, 7),
    ("FL", 9, 7),
    ("PR", 11, 7),
];

/// Positions for other jurisdictions of the same level, which have no fixed tile.
const FREE_POSITIONS: &[(u32, u32)] = &[(1, 7), (2, 7), (3, 7), (5, 7), (6, 7), (7, 7), (8, 7), (10, 7)];

/// The distance between tiles and the side of a tile, in pixels.
const STEP: u32 = 52;
const SIDE: u32 = 48;

const COLUMNS: u32 = 12;
const ROWS: u32 = 8;

/// The law that the snapshot contains for a state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeldLaw {
    /// The law of the state itself.
    State,
    /// Only the law of counties or cities in the state.
    LocalOnly,
    Nothing,
}

impl HeldLaw {
    const ALL: [Self; 3] = [Self::State, Self::LocalOnly, Self::Nothing];

    const fn class(self) -> &'static str {
        match self {
            Self::State => "tile held",
            Self::LocalOnly => "tile within",
            Self::Nothing => "tile none",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::State => "law of the state",
            Self::LocalOnly => "law of its cities or counties only",
            Self::Nothing => "text not loaded",
        }
    }
}

pub(super) fn map(jurisdictions: &[JurisdictionReply<'_>]) -> Markup {
    let federal = jurisdictions.iter().find(|one| one.level == GovernmentLevel::Federal);
    let is_other = |one: &&JurisdictionReply<'_>| {
        matches!(one.level, GovernmentLevel::State | GovernmentLevel::District | GovernmentLevel::Territory)
            && !one.placeholder
            && !TILES.iter().any(|(code, ..)| *code == one.short_code.as_str())
    };
    let others = jurisdictions.iter().filter(is_other).zip(FREE_POSITIONS);
    html! {
        figure.states {
            svg role="group" aria-label="The states, and whether their law is here" viewBox={ "0 0 " (COLUMNS * STEP) " " (ROWS * STEP) } {
                @if let Some(federal) = federal { (wide_tile(federal)) }
                @for (code, column, row) in TILES { (tile(code, *column, *row, jurisdictions)) }
                @for (other, (column, row)) in others { (tile(other.short_code.as_str(), *column, *row, jurisdictions)) }
            }
            figcaption { @for held in HeldLaw::ALL { span.key { svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" { rect class=(held.class()) width="12" height="12" rx="2" {} } (held.meaning()) } } }
        }
    }
}

/// The tile for federal law, in the free space at the top.
fn wide_tile(federal: &JurisdictionReply<'_>) -> Markup {
    let held = if federal.placeholder { HeldLaw::Nothing } else { HeldLaw::State };
    let content = html! {
        rect class=(held.class()) x=(2 * STEP) y="0" width=(3 * STEP - (STEP - SIDE)) height=(SIDE) rx="5" {}
        text x=(2 * STEP + (3 * STEP - (STEP - SIDE)) / 2) y=(SIDE / 2 + 6) { "Federal" }
    };
    let reported = tile_label("Federal", &federal.name, federal.node_count);
    linked(federal.short_code.as_str(), &reported, held, &content)
}

fn tile(code: &str, column: u32, row: u32, jurisdictions: &[JurisdictionReply<'_>]) -> Markup {
    let state = jurisdictions.iter().find(|one| one.short_code.as_str() == code);
    let is_within = |one: &&JurisdictionReply<'_>| {
        one.parent.as_deref().is_some_and(|parent| parent.as_str() == code) && !one.placeholder
    };
    let within = jurisdictions.iter().find(is_within);
    let held = match (state, within) {
        (Some(state), _) if !state.placeholder => HeldLaw::State,
        (_, Some(_)) => HeldLaw::LocalOnly,
        _ => HeldLaw::Nothing,
    };
    let (x, y) = (column * STEP, row * STEP);
    let content = html! {
        rect class=(held.class()) x=(x) y=(y) width=(SIDE) height=(SIDE) rx="5" {}
        text x=(x + SIDE / 2) y=(y + SIDE / 2 + 6) { (code) }
    };
    let name = state.map_or(code, |state| &state.name);
    let reported = tile_label(code, name, state.map_or(0, |state| state.node_count));
    match held {
        HeldLaw::LocalOnly => {
            linked(within.map_or(code, |within| within.short_code.as_str()), &reported, held, &content)
        }
        _ => linked(code, &reported, held, &content),
    }
}

/// The label of a tile. It begins with the visible text, so that people who use voice control can
/// say that text.
fn tile_label(shown: &str, name: &str, nodes: u32) -> String {
    match nodes {
        0 => format!("{shown}, {name}: {}", HeldLaw::Nothing.meaning()),
        nodes => format!("{shown}, {name}: {} entries", grouped(nodes)),
    }
}

/// Links a tile with law to its codes in the table below.
fn linked(code: &str, reported: &str, held: HeldLaw, content: &Markup) -> Markup {
    html! {
        @match held {
            HeldLaw::Nothing => { g { title { (reported) } (content) } }
            _ => { a href={ "#" (code) } aria-label=(reported) { title { (reported) } (content) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hornbook_corpus::jurisdictions::BUILT_IN_JURISDICTIONS;

    use super::*;

    #[test]
    fn every_state_has_its_own_position() {
        let places: BTreeSet<(u32, u32)> = TILES.iter().map(|(_, column, row)| (*column, *row)).collect();
        assert_eq!(places.len(), TILES.len());
        assert!(places.iter().all(|(column, row)| *column < COLUMNS && *row < ROWS));
        for one in BUILT_IN_JURISDICTIONS
            .iter()
            .filter(|one| matches!(one.level, GovernmentLevel::State | GovernmentLevel::District))
        {
            assert!(TILES.iter().any(|(code, ..)| *code == one.code), "{} has no tile", one.code);
        }
        assert!(FREE_POSITIONS.iter().all(|free| !places.contains(free)));
    }
}
