//! Examples that work, chosen from the served snapshot: values for the example URLs of the operations table, and
//! searches, a citation and a jurisdiction for the pages.
//!
//! The engine checks each of them before anyone sees it: the words of an example search find the provision first
//! whose heading they are, and an example citation leads to its provision.

use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange, ShortCode};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::zoning::layer::LayerStatus;
use hornbook_corpus::zoning::shape::Position;
use hornbook_corpus::zoning::tiles::grid;
use hornbook_search::{Engine, Filter, SearchRequest, SuggestRequest};

use crate::percent;

/// The snapshot is divided into this many parts of equal size, with an example search from each, so that the
/// examples show different law.
const PARTS: u32 = 4;

/// How many provisions of a part are considered as examples.
const PROVISIONS_CONSIDERED_MAX: usize = 5_000;

/// How many of these the engine checks.
const PROVISIONS_CHECKED_MAX: usize = 8;

/// How many words a heading may have to be a search, and how many make a good one.
const HEADING_WORDS: std::ops::RangeInclusive<usize> = 1..=12;
const GOOD_HEADING_WORDS: std::ops::RangeInclusive<usize> = 3..=6;

/// Decimal places of a coordinate, precise to a tenth of a meter.
const DECIMALS: usize = 6;

/// Zoom of an example tile, which covers a few streets.
const TILE_ZOOM: u8 = 15;

/// Placeholders for what only the reader has. They become words in capitals.
const VALUES_OF_THE_READER: &[&str] = &["order_id", "token"];

/// Values for the placeholders in example URLs, and example searches.
#[derive(Clone, Debug)]
pub struct Examples {
    values: Vec<(&'static str, String)>,
    searches: Vec<String>,
}

/// A search for the words of a provision's heading, which finds that provision first.
struct HeadingSearch {
    node: NodeOrdinal,
    words: String,
}

impl Examples {
    /// Chooses examples from the snapshot. The same snapshot always gives the same examples.
    pub fn of(engine: &Engine) -> Self {
        let snapshot = engine.snapshot();
        let candidates: Vec<Vec<NodeOrdinal>> = (0..PARTS).map(|part| candidates(snapshot, part)).collect();
        let mut searches: Vec<HeadingSearch> = Vec::new();
        for part in &candidates {
            let is_new = |found: &HeadingSearch| searches.iter().all(|earlier| earlier.words != found.words);
            searches.extend(part.iter().find_map(|node| heading_search(engine, *node).filter(is_new)));
        }
        let searched = searches.iter().map(|search| search.node);
        let preferred: Vec<NodeOrdinal> = searched.chain(candidates.into_iter().flatten()).collect();
        let of_layer = layer(snapshot).into_iter().flat_map(|(short_code, point)| of_layer(short_code, point));
        let values = of_law(engine, &searches, &preferred).chain(of_layer).collect();
        Self { values, searches: searches.into_iter().map(|search| search.words).collect() }
    }

    /// Searches without a filter.
    pub(crate) fn searches(&self) -> &[String] {
        &self.searches
    }

    /// Fills the `{placeholders}` of an example URL. `None` if the snapshot has no value for one of them.
    pub(crate) fn fill(&self, template: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, behind) = behind.split_once('}').unwrap_or((behind, ""));
            out += before;
            match self.get(name) {
                Some(value) => out += &percent::encoded(value),
                None if VALUES_OF_THE_READER.contains(&name) => out += &name.to_uppercase(),
                None => return None,
            }
            rest = behind;
        }
        Some(out + rest)
    }

    /// The value that an example gives a parameter, not percent-encoded. `None` if the snapshot has none.
    pub(crate) fn value(&self, template: &str) -> Option<String> {
        match template.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => self.get(name).map(str::to_owned),
            // The table percent-encodes nothing but spaces.
            None => Some(template.replace("%20", " ")),
        }
    }

    /// The value of a placeholder.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Whether a text is exactly one citation. Instead of searching for one, pages open its provision.
pub(crate) fn is_citation(snapshot: &Snapshot, text: &str) -> bool {
    let grammar = snapshot.grammar();
    grammar.parse(text).is_ok() || grammar.parse_container(text).is_some() || grammar.parse_popular(text).is_some()
}

/// The best provisions of a part of the snapshot: in force, with a heading of a few words, cited by others.
fn candidates(snapshot: &Snapshot, part: u32) -> Vec<NodeOrdinal> {
    let outline = &snapshot.outline;
    let start_of = |part: u32| (u64::from(outline.len()) * u64::from(part) / u64::from(PARTS)) as u32;
    let provisions = (start_of(part)..start_of(part + 1)).map(NodeOrdinal).filter(|node| outline.is_provision(*node));
    let mut candidates: Vec<NodeOrdinal> = provisions.take(PROVISIONS_CONSIDERED_MAX).collect();
    // The sort is stable: of equally good ones, the first comes first.
    candidates.sort_by_cached_key(|node| {
        let words = snapshot.cards.get(*node).map_or(0, |card| card.heading.split_whitespace().count());
        let is_cited = snapshot.references.incoming(*node).len() > 0;
        let merits = [outline.status(*node).may_be_in_force(), GOOD_HEADING_WORDS.contains(&words), is_cited];
        merits.map(|merit| !merit)
    });
    candidates.truncate(PROVISIONS_CHECKED_MAX);
    candidates
}

/// The values that come from provisions, each from the first one with which it works.
fn of_law(
    engine: &Engine,
    searches: &[HeadingSearch],
    provisions: &[NodeOrdinal],
) -> impl Iterator<Item = (&'static str, String)> {
    let snapshot = engine.snapshot();
    let id = |node: NodeOrdinal| snapshot.outline.id(node).map(|NodeId(id)| id.to_string());
    let body = |node: NodeOrdinal| snapshot.code_body_of(node);
    let node = provisions.first().copied();
    let in_its_jurisdiction = searches.iter().find_map(|search| {
        let jurisdiction = &body(search.node)?.jurisdiction;
        let filter = Filter::within(Some(snapshot.catalogue.jurisdiction(jurisdiction)?.subtree));
        is_first(engine, &search.words, &filter, search.node).then(|| (search.words.clone(), jurisdiction.to_string()))
    });
    let (words, jurisdiction) = in_its_jurisdiction.unzip();
    [
        ("node", node.and_then(id)),
        ("other_node", node.and_then(|node| beside(snapshot, node)).and_then(id)),
        ("code_body", node.and_then(body).map(|body| body.id.0.to_string())),
        ("words", words),
        ("jurisdiction", jurisdiction.or_else(|| node.and_then(body).map(|body| body.jurisdiction.to_string()))),
        ("citation", provisions.iter().find_map(|node| citation(engine, *node))),
        ("typed", provisions.iter().find_map(|node| beginning(engine, *node))),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}

/// The next provision of the same code, or else the previous one.
fn beside(snapshot: &Snapshot, node: NodeOrdinal) -> Option<NodeOrdinal> {
    let OrdinalRange { start, end } = snapshot.code_body_of(node)?.nodes;
    let mut others = (node.0 + 1..end).chain((start..node.0).rev()).map(NodeOrdinal);
    others.find(|other| snapshot.outline.is_provision(*other))
}

fn heading_search(engine: &Engine, node: NodeOrdinal) -> Option<HeadingSearch> {
    let heading = engine.snapshot().cards.get(node).ok()?.heading.trim_end_matches('.');
    // Other characters may mean something in a query.
    let is_plain = |letter: char| letter.is_alphabetic() || matches!(letter, ' ' | ',' | '’');
    let is_query = HEADING_WORDS.contains(&heading.split_whitespace().count()) && heading.chars().all(is_plain);
    let words = is_query.then(|| heading.to_lowercase())?;
    let is_found = !is_citation(engine.snapshot(), &words) && is_first(engine, &words, Filter::NONE, node);
    is_found.then_some(HeadingSearch { node, words })
}

/// Whether a search finds this provision first. It searches on no day, because examples do not change with time.
fn is_first(engine: &Engine, query: &str, filter: &Filter, node: NodeOrdinal) -> bool {
    let found = engine.search(&SearchRequest { limit: 1, filter, ..SearchRequest::new(query) });
    found.is_ok_and(|found| found.hits.first().is_some_and(|hit| hit.node == node))
}

/// The citation of a provision, if it leads to that provision and no other.
fn citation(engine: &Engine, node: NodeOrdinal) -> Option<String> {
    let citation = engine.snapshot().cards.get(node).ok()?.citation;
    let answers = engine.resolve(citation).ok()?;
    let [answer] = answers.as_slice() else { return None };
    (answer.node_id == engine.snapshot().outline.id(node)).then(|| citation.to_owned())
}

/// The beginning of a provision's heading, if the first completion is that provision.
fn beginning(engine: &Engine, node: NodeOrdinal) -> Option<String> {
    let heading = engine.snapshot().cards.get(node).ok()?.heading;
    let typed: String = heading.chars().take(heading.chars().count() * 2 / 3).collect();
    let typed = typed.trim().to_lowercase();
    let completed = engine.suggest(&SuggestRequest { limit: 1, ..SuggestRequest::new(&typed) }).ok()?;
    let first = completed.suggestions.first()?;
    (!typed.is_empty() && first.node == node).then_some(typed)
}

/// The smallest published layer, and a point in one of its zones.
fn layer(snapshot: &Snapshot) -> Option<(&ShortCode, Position)> {
    let layers = snapshot.zoning.iter().filter(|layer| layer.entry().status == LayerStatus::Published);
    let layer = layers.min_by_key(|layer| layer.entry().vertex_count)?;
    let point = layer.places().ok()?.point_in_a_zone()?;
    Some((&layer.entry().short_code, point))
}

fn of_layer(short_code: &ShortCode, point: Position) -> [(&'static str, String); 6] {
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
}
