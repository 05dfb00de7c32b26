//! A change as readers see it: what the provision is called, when it changed, and what made the change.

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use hornbook_corpus::snapshot::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{ChangeKind, LawChange};
use crate::compare::CompareError;
use crate::credit::acts_added;
use crate::edition::CodeEdition;

/// Maximum number of acts that are named for one change.
const ACTS_MAX: usize = 12;

/// A change between two editions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedChange {
    pub kind: ChangeKind,
    /// What differs: text, heading, place, status, wordings, notes. Empty if only one edition has it.
    pub differs: Vec<String>,
    /// The provision or container as the newer edition has it, or as the older one had it if it is gone.
    #[serde(flatten)]
    pub node: ListedNode,
    /// What it was before, if it had another number or id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formerly: Option<ListedNode>,
    pub date: ChangeDate,
    /// What the newer edition's source credit names and the older one's does not: the acts that made the change.
    pub acts: Vec<String>,
}

/// A node by its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedNode {
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    pub citation: String,
    pub heading: String,
}

/// The day of a change, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeDate {
    pub is: ChangeDateKind,
    /// The day; none if neither edition states one.
    #[schemars(with = "Option<String>")]
    pub day: Option<Day>,
    /// The day through which the older edition is current: the change came after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub after: Option<Day>,
}

/// What the day of a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeDateKind {
    /// The first day of the changed law, as its publisher states it.
    Effective,
    /// The day through which the newer edition is current: the change came by that day.
    Edition,
    /// The day on which the newer edition was retrieved; its publisher states no other.
    FirstSeen,
}

impl ChangeDateKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Effective => "effective",
            Self::Edition => "edition",
            Self::FirstSeen => "first_seen",
        }
    }
}

impl ChangeDate {
    fn of(change: &LawChange, old: &CodeEdition, new: &CodeEdition) -> Self {
        let after = old.current_through;
        // A day outside the time between the editions is not the day of this change.
        let is_between = |day: &Day| {
            after.is_none_or(|after| after < *day) && new.current_through.is_none_or(|through| *day <= through)
        };
        if let Some(day) = change.effective.filter(is_between) {
            return Self { is: ChangeDateKind::Effective, day: Some(day), after: None };
        }
        match new.current_through {
            Some(through) => Self { is: ChangeDateKind::Edition, day: Some(through), after },
            None => Self { is: ChangeDateKind::FirstSeen, day: new.retrieved_at, after },
        }
    }

    /// As words: `effective 2023-01-01`, `between 2016-09-14 and 2025-07-30`.
    pub fn sentence(&self) -> String {
        match (self.is, self.after, self.day) {
            (ChangeDateKind::Effective, _, Some(day)) => format!("effective {day}"),
            (ChangeDateKind::Edition, Some(after), Some(day)) => format!("after {after}, by {day}"),
            (ChangeDateKind::Edition, None, Some(day)) => format!("by {day}"),
            (ChangeDateKind::FirstSeen, Some(after), Some(day)) => format!("after {after}, first seen {day}"),
            (ChangeDateKind::FirstSeen, None, Some(day)) => format!("first seen {day}"),
            (_, _, None) => "on a day that neither edition states".to_owned(),
        }
    }
}

/// Describes a change between two snapshots.
pub fn listed(
    change: &LawChange,
    old: (&Snapshot, &CodeEdition),
    new: (&Snapshot, &CodeEdition),
) -> Result<ListedChange, CompareError> {
    let before = change.old.map(|node| listed_node(old.0, node)).transpose()?;
    let now = change.new.map(|node| listed_node(new.0, node)).transpose()?;
    let is_other = |before: &ListedNode, now: &ListedNode| before.node_id != now.node_id;
    let formerly = match (&before, &now) {
        (Some(before), Some(now)) if is_other(before, now) => Some(before.clone()),
        _ => None,
    };
    let acts = match change.kind {
        ChangeKind::Missing => Vec::new(),
        _ => new_acts(change, old.0, new.0)?,
    };
    let node = now.or(before);
    let Some(node) = node else { unreachable!("a change has a node") };
    Ok(ListedChange {
        kind: change.kind,
        differs: change.parts.names().map(str::to_owned).collect(),
        node,
        formerly,
        date: ChangeDate::of(change, old.1, new.1),
        acts,
    })
}

fn listed_node(snapshot: &Snapshot, node: NodeOrdinal) -> Result<ListedNode, CompareError> {
    let card = snapshot.cards.get(node)?;
    let node_id = snapshot.outline.id(node).unwrap_or(NodeId(uuid::Uuid::nil()));
    Ok(ListedNode { node_id, citation: card.citation.to_owned(), heading: card.heading.to_owned() })
}

fn new_acts(change: &LawChange, old: &Snapshot, new: &Snapshot) -> Result<Vec<String>, CompareError> {
    let before = change.old.map(|node| credit(old, node)).transpose()?.flatten();
    let now = change.new.map(|node| credit(new, node)).transpose()?.flatten();
    let acts = acts_added(before.unwrap_or_default(), now.unwrap_or_default());
    Ok(acts.take(ACTS_MAX).map(str::to_owned).collect())
}

fn credit(snapshot: &Snapshot, node: NodeOrdinal) -> Result<Option<&str>, CompareError> {
    let span = snapshot.nodes.get(node)?.wordings[0].source_credit;
    Ok(span.map(|span| snapshot.texts.get(span)).transpose()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    fn edition(through: Option<&str>, retrieved: &str) -> CodeEdition {
        CodeEdition {
            snapshot: String::new(),
            edition: String::new(),
            current_through: through.map(day),
            retrieved_at: Some(day(retrieved)),
        }
    }

    #[test]
    fn a_day_says_who_states_it() {
        let old = edition(Some("2016-09-14"), "2026-10-01");
        let change = |effective: Option<&str>| LawChange {
            kind: ChangeKind::Reworded,
            old: Some(NodeOrdinal(1)),
            new: Some(NodeOrdinal(1)),
            parts: crate::ChangedParts::TEXT,
            effective: effective.map(day),
        };
        let of = |effective, new: &CodeEdition| ChangeDate::of(&change(effective), &old, new).sentence();
        let new = edition(Some("2025-07-30"), "2026-10-02");
        assert_eq!(of(Some("2023-01-01"), &new), "effective 2023-01-01");
        assert_eq!(of(None, &new), "after 2016-09-14, by 2025-07-30");
        assert_eq!(of(Some("2010-01-01"), &new), "after 2016-09-14, by 2025-07-30", "it was so before");
        assert_eq!(of(None, &edition(None, "2026-10-02")), "after 2016-09-14, first seen 2026-10-02");
    }
}
