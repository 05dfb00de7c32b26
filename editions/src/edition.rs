//! The editions of one code body: of which day each is, and which of them answers for a day.

use hornbook_corpus::catalogue::{CodeBody, Source};
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The edition of a code body in one snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Edition")]
pub struct CodeEdition {
    /// The snapshot that contains it.
    pub snapshot: String,
    /// The publisher's name of the edition.
    pub edition: String,
    /// The day through which it is current, of its newest part, if its sources state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    /// The day on which its newest part was retrieved from its publisher.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
}

impl CodeEdition {
    /// The edition of a code body of a snapshot.
    pub fn of(snapshot: &Snapshot, body: &CodeBody) -> Self {
        let mut places: Vec<u16> =
            body.nodes.iter().filter_map(|node| snapshot.cards.source(NodeOrdinal(node))).collect();
        places.sort_unstable();
        places.dedup();
        let sources: Vec<&Source> =
            places.iter().filter_map(|&place| snapshot.catalogue.sources.get(usize::from(place))).collect();
        let through = |source: &&Source| source.current_through.as_deref().and_then(|day| day.parse::<Day>().ok());
        let newest = sources.iter().max_by_key(|source| through(source));
        Self {
            snapshot: snapshot.manifest.snapshot.clone(),
            edition: newest.map(|source| source.edition.clone()).unwrap_or_default(),
            current_through: newest.and_then(through),
            retrieved_at: sources.iter().filter_map(|source| source.retrieved.get(..10)?.parse().ok()).max(),
        }
    }

    /// The day by which editions are ordered: a copy whose publisher states no day is at most of the day on which it
    /// was retrieved.
    fn day(&self) -> Option<Day> {
        self.current_through.or(self.retrieved_at)
    }
}

/// The editions of one code body, the oldest first. Each has a value, such as its place among open snapshots.
#[derive(Clone, Debug, Default)]
pub struct BodyEditions<T>(Vec<(CodeEdition, T)>);

impl<T: Copy> BodyEditions<T> {
    /// Orders editions by the day through which they are current; editions of the same day, or of an unknown one, stay
    /// in the given order.
    pub fn new(mut editions: Vec<(CodeEdition, T)>) -> Self {
        editions.sort_by_key(|(edition, _)| edition.day());
        Self(editions)
    }

    /// The edition that answers for a day: the newest one that is current through that day, so that no later law is
    /// shown as earlier law. Before the first edition it is the first.
    pub fn on(&self, day: Day) -> Option<T> {
        let is_of_the_day = |(edition, _): &&(CodeEdition, T)| edition.day().is_some_and(|through| through <= day);
        self.0.iter().rev().find(is_of_the_day).or(self.0.first()).map(|&(_, value)| value)
    }

    /// All editions, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &(CodeEdition, T)> {
        self.0.iter()
    }

    /// Each edition with the one before it, the oldest first.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = (&(CodeEdition, T), &(CodeEdition, T))> {
        self.0.windows(2).map(|pair| (&pair[0], &pair[1]))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edition(through: Option<u32>) -> CodeEdition {
        let day = through.and_then(|day| Day::from_parts(2020, 1, day));
        CodeEdition { snapshot: String::new(), edition: String::new(), current_through: day, retrieved_at: None }
    }

    proptest! {
        /// The plain model: of the editions current through the day or earlier the latest, else the earliest.
        #[test]
        fn the_newest_edition_that_is_not_later_than_the_day_answers(
            days in prop::collection::vec(prop::option::of(1_u32..29), 1..8),
            asked in 1_u32..29,
        ) {
            let editions = BodyEditions::new(days.iter().map(|&day| edition(day)).zip(0..).collect());
            let found = editions.on(Day::from_parts(2020, 1, asked).unwrap()).unwrap();
            let known: Vec<u32> = days.iter().flatten().copied().collect();
            match known.iter().filter(|&&day| day <= asked).max() {
                Some(&latest) => prop_assert_eq!(days[found], Some(latest)),
                None => prop_assert_eq!(days[found], days.iter().copied().min().unwrap()),
            }
            let order: Vec<_> = editions.iter().map(|(edition, _)| edition.current_through).collect();
            prop_assert!(order.is_sorted());
        }
    }
}
