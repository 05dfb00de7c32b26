//! The options that restrict a search to a part of the snapshot.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hornbook_corpus::ids::{NodeId, OrdinalRange, ShortCode};
use hornbook_corpus::outline::Status;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{FILTER_VALUES_MAX, Filter};

/// Values of the same option are alternatives. Different options must all match.
#[derive(Debug, Args)]
pub(super) struct Filters {
    /// Search only these jurisdictions and the jurisdictions in them; up to 10, comma-separated or
    /// repeated
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    jurisdiction: Vec<ShortCode>,

    /// Search only this code body, by key, id or name; up to 10, repeated
    #[arg(long, value_name = "BODY")]
    code_body: Vec<String>,

    /// Search only this title, chapter or other node, by id
    #[arg(long, value_name = "NODE")]
    subtree: Option<NodeId>,

    /// Search only provisions with this tag; up to 10, comma-separated or repeated
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    tag: Vec<String>,

    /// Search only provisions with this status; comma-separated or repeated
    #[arg(long, value_delimiter = ',', value_parser = status_parser())]
    status: Vec<Status>,

    /// Return only results with at least this score, from 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = 0.0)]
    min_score: f32,
}

/// Also accepts `current` for law in force.
fn status_parser() -> impl TypedValueParser<Value = Status> {
    let named = |status: Status| match status {
        Status::InForce => PossibleValue::new(status.as_str()).alias("current"),
        status => PossibleValue::new(status.as_str()),
    };
    let status = |name: String| Status::ALL.into_iter().find(|status| status.as_str() == name);
    PossibleValuesParser::new(Status::ALL.map(named)).map(move |name| status(name).unwrap_or(Status::InForce))
}

impl Filters {
    pub(super) fn read(&self, snapshot: &Snapshot) -> Result<Filter, String> {
        let counts = [
            ("--jurisdiction", self.jurisdiction.len()),
            ("--code-body", self.code_body.len()),
            ("--tag", self.tag.len()),
        ];
        if let Some((option, count)) = counts.into_iter().find(|&(_, count)| count > FILTER_VALUES_MAX) {
            return Err(format!("{option} has {count} values; at most {FILTER_VALUES_MAX} are allowed"));
        }
        if !(0.0..=1.0).contains(&self.min_score) {
            return Err(format!("--min-score {} is not a score; scores go from 0 to 1", self.min_score));
        }
        Ok(Filter {
            ranges: self.ranges(snapshot)?,
            tags: self.tags(snapshot)?,
            statuses: (!self.status.is_empty()).then(|| self.status.clone()),
            min_score: self.min_score,
        })
    }

    fn ranges(&self, snapshot: &Snapshot) -> Result<Option<OrdinalRanges>, String> {
        let jurisdictions: Result<Vec<OrdinalRange>, String> =
            self.jurisdiction.iter().map(|code| subtree_of(snapshot, code)).collect();
        let bodies: Result<Vec<OrdinalRange>, String> =
            self.code_body.iter().map(|wanted| code_body(snapshot, wanted)).collect();
        let below = self.subtree.map(|id| {
            let node = snapshot.outline.ordinal(id).ok_or_else(|| format!("the snapshot contains no node {id}"));
            node.map(|node| vec![snapshot.outline.subtree(node)])
        });
        let given = [jurisdictions?, bodies?].into_iter().filter(|ranges| !ranges.is_empty()).chain(below.transpose()?);
        Ok(given.map(OrdinalRanges::union).reduce(|one, other| one.intersect(&other)))
    }

    fn tags(&self, snapshot: &Snapshot) -> Result<Option<Vec<u16>>, String> {
        let known = &snapshot.catalogue.tags;
        let place = |tag: &String| {
            let place = known.iter().position(|known| known == tag).and_then(|place| u16::try_from(place).ok());
            place.ok_or_else(|| format!("the snapshot has no tag '{tag}'; its tags are {}", known.join(", ")))
        };
        let places: Result<Vec<u16>, String> = self.tag.iter().map(place).collect();
        Ok((!self.tag.is_empty()).then_some(places?))
    }
}

fn code_body(snapshot: &Snapshot, wanted: &str) -> Result<OrdinalRange, String> {
    let bodies = &snapshot.catalogue.code_bodies;
    let found = bodies
        .iter()
        .find(|body| body.key == wanted || body.name.eq_ignore_ascii_case(wanted) || body.id.to_string() == wanted);
    let missing = || format!("the snapshot has no code body '{wanted}'; 'hornbook inspect' lists them");
    Ok(found.ok_or_else(missing)?.nodes)
}

/// A jurisdiction with the jurisdictions in it.
pub(super) fn subtree_of(snapshot: &Snapshot, code: &ShortCode) -> Result<OrdinalRange, String> {
    let jurisdiction = snapshot.catalogue.jurisdiction(code);
    let message = || format!("the snapshot has no jurisdiction {code}; 'hornbook inspect' lists them");
    Ok(jurisdiction.ok_or_else(message)?.subtree)
}
