//! Working examples: fills the example URLs of the operations table with ids, citations and words of the
//! served snapshot.

use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange, ShortCode};
use hornbook_corpus::zoning::layer::LayerStatus;
use hornbook_corpus::zoning::shape::Position;
use hornbook_corpus::zoning::tiles::grid;

use super::super::corpus::Corpus;
use crate::percent;

/// How many provisions are considered as examples.
const PROVISIONS_CONSIDERED_MAX: u32 = 20_000;

/// How many words a heading may have to be a good search query.
const HEADING_WORDS: std::ops::RangeInclusive<usize> = 2..=6;

/// Decimal places of a coordinate, precise to a tenth of a meter.
const DECIMALS: usize = 6;

/// Zoom of an example tile, which covers a few streets.
const TILE_ZOOM: u8 = 15;

/// Values for the placeholders in example URLs. A placeholder without a value in the snapshot becomes a
/// word in capitals.
#[derive(Clone, Debug)]
pub struct Examples {
    values: Vec<(&'static str, String)>,
}

impl Examples {
    /// Chooses values from the snapshot. The same snapshot always gives the same values.
    pub fn of(corpus: &Corpus) -> Self {
        let mut values = provision(corpus).map_or_else(Vec::new, |node| of_provision(corpus, node));
        values.extend(layer(corpus).into_iter().flat_map(|(short_code, point)| {
            let degrees = |degrees: f64| format!("{degrees:.DECIMALS$}");
            let tile = grid::tile_at(TILE_ZOOM, point);
            [
                ("short_code", short_code.to_string()),
                ("lat", degrees(point.lat)),
                ("lon", degrees(point.lon)),
                ("z", tile.z().to_string()),
                ("x", tile.x().to_string()),
                ("y", tile.y().to_string()),
            ]
        }));
        Self { values }
    }

    /// Fills the `{placeholders}` of an example URL.
    pub(crate) fn fill(&self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            let (place, behind) = behind.split_once('}').unwrap_or((behind, ""));
            out += before;
            match self.values.iter().find(|(name, _)| *name == place) {
                Some((_, value)) => out += &percent::encoded(value),
                None => out += &place.to_uppercase(),
            }
            rest = behind;
        }
        out + rest
    }

    /// The value that an example gives a parameter, not percent-encoded. `None` if the snapshot has none.
    pub(crate) fn value(&self, template: &str) -> Option<String> {
        let Some(place) = template.strip_prefix('{').and_then(|place| place.strip_suffix('}')) else {
            // The table percent-encodes nothing but spaces.
            return Some(template.replace("%20", " "));
        };
        self.values.iter().find(|(name, _)| *name == place).map(|(_, value)| value.clone())
    }
}

fn of_provision(corpus: &Corpus, node: NodeOrdinal) -> Vec<(&'static str, String)> {
    let mut values = Vec::new();
    let id = |node: NodeOrdinal| corpus.node_id(node).ok().map(|NodeId(id)| id.to_string());
    let (before, behind) = corpus.neighbours(node);
    let named = [("node", Some(node)), ("other_node", behind.or(before))];
    values.extend(named.into_iter().filter_map(|(name, node)| Some((name, id(node?)?))));
    if let Ok(card) = corpus.snapshot().cards.get(node) {
        let typed = card.heading.chars().take(card.heading.chars().count() * 2 / 3).collect::<String>();
        values.push(("citation", card.citation.to_owned()));
        values.push(("words", card.heading.to_lowercase()));
        values.push(("typed", typed.trim().to_lowercase()));
    }
    if let Some(body) = corpus.snapshot().code_body_of(node) {
        values.push(("jurisdiction", body.jurisdiction.to_string()));
        values.push(("code_body", body.id.0.to_string()));
    }
    values
}

/// The best example provision: one in force, with a short heading, that other provisions cite.
fn provision(corpus: &Corpus) -> Option<NodeOrdinal> {
    let snapshot = corpus.snapshot();
    let outline = &snapshot.outline;
    let all = OrdinalRange { start: 0, end: outline.len() };
    let provisions =
        (all.start..all.end.min(PROVISIONS_CONSIDERED_MAX)).map(NodeOrdinal).filter(|node| outline.is_provision(*node));
    let merit = |node: &NodeOrdinal| {
        let words = snapshot.cards.get(*node).map_or(0, |card| card.heading.split_whitespace().count());
        let is_cited = snapshot.references.incoming(*node).len() > 0;
        u8::from(outline.status(*node).may_be_in_force()) * 4
            + u8::from(HEADING_WORDS.contains(&words)) * 2
            + u8::from(is_cited)
    };
    // `max_by_key` returns the last maximum, so this is the first of the best.
    provisions.rev().max_by_key(merit)
}

/// The smallest published layer, and a point in one of its zones.
fn layer(corpus: &Corpus) -> Option<(&ShortCode, Position)> {
    let layers = corpus.snapshot().zoning.iter().filter(|layer| layer.entry().status == LayerStatus::Published);
    let layer = layers.min_by_key(|layer| layer.entry().vertex_count)?;
    let point = layer.places().ok()?.point_in_a_zone()?;
    Some((&layer.entry().short_code, point))
}
