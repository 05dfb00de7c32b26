//! The real law that the country is generated from: the provisions of one or more snapshots,
//! grouped by subject.
//!
//! Texts and headings stay in the mapped snapshots. Only the numbers of the provisions are in memory.

use hornbook_base::random::SplitMix64;
use hornbook_corpus::chunks::sentence_ends;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::jurisdictions::GovernmentLevel;
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;

use crate::places::Kind;

/// The least number of provisions of a group, unless the code ends before.
const GROUP_PROVISIONS_MIN: usize = 6;
/// Provisions with a shorter text are not used.
const TEXT_BYTES_MIN: usize = 40;

/// A provision of one of the snapshots.
#[derive(Clone, Copy)]
pub(crate) struct Provision {
    snapshot: u16,
    node: NodeOrdinal,
}

/// The provisions of one container, or of several small containers that follow each other.
pub(crate) struct Group {
    pub(crate) provisions: Vec<Provision>,
    kind: Kind,
    is_federal: bool,
}

/// All snapshots and the groups of their provisions.
pub(crate) struct RealLaw {
    snapshots: Vec<Snapshot>,
    groups: Vec<Group>,
}

impl RealLaw {
    /// Takes all provisions of the snapshots whose text is long enough.
    pub(crate) fn of(snapshots: Vec<Snapshot>) -> Self {
        let groups: Vec<Group> =
            (0..).zip(&snapshots).flat_map(|(number, snapshot)| groups_of(number, snapshot)).collect();
        assert!(!groups.is_empty(), "the snapshots contain no provisions to generate law from");
        Self { snapshots, groups }
    }

    /// The groups for a code of this kind, in code order; groups of all kinds if the snapshots have
    /// none of this kind.
    pub(crate) fn groups_for(&self, kind: Kind, federal: bool) -> Vec<&Group> {
        let chosen = |exact: bool| -> Vec<&Group> {
            let fits = |group: &&Group| group.kind == kind && (!exact || group.is_federal == federal);
            self.groups.iter().filter(fits).collect()
        };
        [chosen(true), chosen(false)]
            .into_iter()
            .find(|groups| !groups.is_empty())
            .unwrap_or_else(|| self.groups.iter().collect())
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn snapshot(&self, provision: Provision) -> &Snapshot {
        &self.snapshots[usize::from(provision.snapshot)]
    }

    pub(crate) fn text(&self, provision: Provision) -> &str {
        let snapshot = self.snapshot(provision);
        let span = snapshot.cards.text(provision.node).unwrap_or_default();
        snapshot.texts.get(span).unwrap_or_default()
    }

    pub(crate) fn heading(&self, provision: Provision) -> &str {
        heading(self.snapshot(provision), provision.node)
    }

    pub(crate) fn status(&self, provision: Provision) -> Status {
        self.snapshot(provision).outline.status(provision.node)
    }

    /// The headings above a group, outermost first.
    pub(crate) fn headings_above(&self, group: &Group) -> Vec<&str> {
        let Some(&first) = group.provisions.first() else { return Vec::new() };
        let snapshot = self.snapshot(first);
        let mut above: Vec<&str> = snapshot.outline.ancestors(first.node).map(|node| heading(snapshot, node)).collect();
        above.reverse();
        above
    }

    /// The names of the jurisdictions that the snapshots have law of, without the federal one.
    pub(crate) fn place_names(&self) -> Vec<String> {
        let all = self.snapshots.iter().flat_map(|snapshot| &snapshot.catalogue.jurisdictions);
        let held = all.filter(|place| !place.nodes.is_empty() && place.level != GovernmentLevel::Federal);
        held.map(|place| place.name.clone()).collect()
    }

    /// A random sentence of a random provision of the group. Its chance is proportional to its length.
    pub(crate) fn some_sentence(&self, group: &Group, random: &mut SplitMix64) -> &str {
        let text = self.text(group.provisions[random.index(group.provisions.len())]);
        let at = floor(text, random.index(text.len().max(1)));
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let line = &text[start..end];
        let mut from = 0;
        for to in sentence_ends(line) {
            if start + to > at {
                return line[from..to].trim();
            }
            from = to;
        }
        line.trim()
    }

    /// A random word of a random provision of the group.
    pub(crate) fn some_word(&self, group: &Group, random: &mut SplitMix64) -> &str {
        let text = self.text(group.provisions[random.index(group.provisions.len())]);
        let at = floor(text, random.index(text.len().max(1)));
        let is_other = |c: char| !c.is_ascii_alphabetic();
        let start = text[..at].rfind(is_other).unwrap_or(0);
        let rest = text[start..].trim_start_matches(is_other);
        &rest[..rest.find(is_other).unwrap_or(rest.len())]
    }
}

/// The start of the character that contains this byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn heading(snapshot: &Snapshot, node: NodeOrdinal) -> &str {
    snapshot.cards.get(node).map(|card| card.heading).unwrap_or_default()
}

fn groups_of(number: u16, snapshot: &Snapshot) -> Vec<Group> {
    let mut groups = Vec::new();
    for body in &snapshot.catalogue.code_bodies {
        let level = snapshot.catalogue.jurisdiction(&body.jurisdiction).map(|jurisdiction| jurisdiction.level);
        let is_federal = level == Some(GovernmentLevel::Federal);
        let has_text = |node: &NodeOrdinal| {
            let long = snapshot.cards.text(*node).is_some_and(|span| span.length as usize >= TEXT_BYTES_MIN);
            snapshot.outline.is_provision(*node) && long
        };
        let mut provisions = body.nodes.iter().map(NodeOrdinal).filter(has_text).peekable();
        let Some(&first) = provisions.peek() else { continue };
        let kind = kind_of(snapshot, first, level);
        let empty = || Group { provisions: Vec::new(), kind, is_federal };
        let (mut group, mut parent) = (empty(), None);
        for node in provisions {
            let above = snapshot.outline.parent(node);
            if above != parent && group.provisions.len() >= GROUP_PROVISIONS_MIN {
                groups.push(std::mem::replace(&mut group, empty()));
            }
            parent = above;
            group.provisions.push(Provision { snapshot: number, node });
        }
        groups.push(group);
    }
    groups
}

/// The kind of a code body, by the tags of one of its provisions.
fn kind_of(snapshot: &Snapshot, provision: NodeOrdinal, level: Option<GovernmentLevel>) -> Kind {
    if matches!(level, Some(GovernmentLevel::City | GovernmentLevel::County)) {
        return Kind::Municipal;
    }
    let is_regulation =
        |tag: &u16| snapshot.catalogue.tags.get(usize::from(*tag)).is_some_and(|tag| tag == "regulation");
    if snapshot.tags.of(provision).iter().any(is_regulation) { Kind::Regulation } else { Kind::Statute }
}
