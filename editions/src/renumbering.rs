//! Which provisions are found under another number, by their words, and which numbers have other law now.
//!
//! A number can be given to another provision, as when a whole title is arranged anew. Two provisions with one number
//! are then not one that was reworded, if the words of one of them are found elsewhere.

use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::snapshot::Snapshot;
use rustc_hash::FxHashMap;

use crate::change::{ChangeKind, ChangedParts, LawChange};
use crate::compare::{BodyPair, CompareError};
use crate::container_name::{ContainerName, container_name};
use crate::content_match::{TextPrint, match_by_content, shared_passages};
use crate::words::has_same_words;

/// If two provisions with one number and different headings share more passages than this, it is one that was reworded.
const OTHER_LAW_SHARE_MAX: f64 = 0.2;

/// The provisions that could be one under two numbers, as places in the list of changes.
#[derive(Default)]
struct JoinCandidates {
    places: Vec<usize>,
    prints: Vec<TextPrint>,
}

impl JoinCandidates {
    fn push(&mut self, place: usize, of: &Snapshot, node: Option<NodeOrdinal>) -> Result<(), CompareError> {
        let Some(node) = node.filter(|node| of.outline.is_provision(*node)) else { return Ok(()) };
        let span = of.nodes.get(node)?.wordings[0].text;
        if let Some(print) = TextPrint::of(of.texts.get(span)?) {
            self.places.push(place);
            self.prints.push(print);
        }
        Ok(())
    }
}

impl BodyPair<'_> {
    /// Joins provisions that went with those that came, where their words are the same or alike.
    pub(crate) fn joined(&self, changes: &[LawChange]) -> Result<Vec<LawChange>, CompareError> {
        let (mut gone, mut came) = (JoinCandidates::default(), JoinCandidates::default());
        for (place, change) in changes.iter().enumerate() {
            let has_other_law = self.may_have_other_law(change)?;
            if has_other_law || is_gone(change.kind) {
                gone.push(place, self.old, change.old)?;
            }
            if has_other_law || is_new(change.kind) {
                came.push(place, self.new, change.new)?;
            }
        }
        let mut left = Unjoined::new(changes);
        let mut joined = Vec::new();
        for (one, other) in match_by_content(&gone.prints, &came.prints) {
            let (gone, came) = (gone.places[one], came.places[other]);
            let change = self.renumbered(changes[gone], changes[came])?;
            // Two entries of one number, of which one is for other days: the law under that number was reworded.
            let has_one_number = change.kind == ChangeKind::Moved;
            let is_reworded = [gone, came].iter().any(|&place| changes[place].kind == ChangeKind::Reworded);
            if gone != came && !(has_one_number && is_reworded) {
                joined.push(change);
                left.take(gone, came);
            }
        }
        for (gone, came) in self.stated_renumberings(changes, &left)? {
            joined.push(self.renumbered(changes[gone], changes[came])?);
            left.take(gone, came);
        }
        for (gone, came) in self.same_containers(changes, &joined)? {
            joined.push(self.renumbered(changes[gone], changes[came])?);
            left.take(gone, came);
        }
        for (place, change) in changes.iter().enumerate() {
            joined.extend(self.left_of(change, left.has_old[place], left.has_new[place])?);
        }
        Ok(joined)
    }

    /// Provisions that went and came, of which the newer edition says that they are one: they have other words, too.
    fn stated_renumberings(&self, changes: &[LawChange], left: &Unjoined) -> Result<Vec<(usize, usize)>, CompareError> {
        // A number that was given to other law leaves one half of its change.
        let is_left_old = |place: usize, kind| left.has_old[place] && (is_gone(kind) || !left.has_new[place]);
        let gone = changes.iter().enumerate().filter(|(place, change)| is_left_old(*place, change.kind));
        let gone: FxHashMap<NodeOrdinal, usize> =
            gone.filter_map(|(place, change)| Some((change.old?, place))).collect();
        let mut pairs = Vec::new();
        for (came, change) in changes.iter().enumerate() {
            let is_new = change.old.is_none() && (is_new(change.kind) || change.kind == ChangeKind::Found);
            let is_left = left.has_new[came] && (is_new || !left.has_old[came]);
            let Some(node) = change.new.filter(|_| is_left) else { continue };
            let mut earlier = Vec::new();
            for citation in &self.new.nodes.get(node)?.former_citations {
                let own = self.old.nodes_with_citation(citation)?.into_iter();
                earlier.extend(
                    own.filter(|(_, kind)| *kind == CitationKind::Canonical)
                        .filter_map(|(old, _)| gone.get(&old).copied()),
                );
            }
            if let [gone] = earlier[..] {
                pairs.push((gone, came));
            }
        }
        // A provision that several name was divided.
        let mut times: FxHashMap<usize, u32> = FxHashMap::default();
        pairs.iter().for_each(|&(gone, _)| *times.entry(gone).or_default() += 1);
        pairs.retain(|(gone, _)| times[gone] == 1);
        Ok(pairs)
    }

    /// What remains of a change, if its older or its newer side is part of another one.
    fn left_of(&self, change: &LawChange, has_old: bool, has_new: bool) -> Result<Option<LawChange>, CompareError> {
        let was_law = change.kind == ChangeKind::Reworded;
        Ok(match (change.old.filter(|_| has_old), change.new.filter(|_| has_new)) {
            _ if has_old && has_new => Some(*change),
            (Some(old), None) if was_law => Some(self.gone(old)),
            (None, Some(new)) if was_law => Some(self.new_law(new, change.old)?),
            _ => None,
        })
    }

    /// Whether a number may have other law in the newer edition: heading and words are different.
    fn may_have_other_law(&self, change: &LawChange) -> Result<bool, CompareError> {
        let is_different = change.kind == ChangeKind::Reworded && change.parts.has(ChangedParts::HEADING);
        let (true, Some(old), Some(new)) = (is_different, change.old, change.new) else { return Ok(false) };
        let old = self.old.nodes.get(old)?.wordings[0].text;
        let new = self.new.nodes.get(new)?.wordings[0].text;
        Ok(shared_passages(self.old.texts.get(old)?, self.new.texts.get(new)?) <= OTHER_LAW_SHARE_MAX)
    }

    /// The containers that went and came under the same name, which no other has, and whose provisions are the same.
    fn same_containers(
        &self,
        changes: &[LawChange],
        joined: &[LawChange],
    ) -> Result<Vec<(usize, usize)>, CompareError> {
        let mut names: FxHashMap<ContainerName, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
        for (place, change) in changes.iter().enumerate() {
            match (change.old, change.new) {
                (Some(old), None) if !self.old.outline.is_provision(old) => {
                    names.entry(container_name(self.old, old)?).or_default().0.push(place);
                }
                (None, Some(new)) if !self.new.outline.is_provision(new) => {
                    names.entry(container_name(self.new, new)?).or_default().1.push(place);
                }
                _ => {}
            }
        }
        let now: FxHashMap<NodeOrdinal, NodeOrdinal> =
            joined.iter().filter_map(|change| change.old.zip(change.new)).collect();
        let mut pairs: Vec<(usize, usize)> = names
            .into_values()
            .filter_map(|(gone, came)| match (&*gone, &*came) {
                ([gone], [came]) => Some((*gone, *came)),
                _ => None,
            })
            .filter(|&(gone, came)| self.has_same_provisions(changes[gone].old, changes[came].new, &now))
            .collect();
        pairs.sort_unstable();
        Ok(pairs)
    }

    /// Whether most provisions of a container that are found in the newer edition are in this container of it.
    /// `DEFINITIONS` is the name of many subchapters.
    fn has_same_provisions(
        &self,
        old: Option<NodeOrdinal>,
        new: Option<NodeOrdinal>,
        now: &FxHashMap<NodeOrdinal, NodeOrdinal>,
    ) -> bool {
        let (Some(old), Some(new)) = (old, new) else { return false };
        let target = self.new.outline.subtree(new);
        let is_empty =
            |of: &Snapshot, nodes: OrdinalRange| !nodes.iter().any(|node| of.outline.is_provision(NodeOrdinal(node)));
        if is_empty(self.old, self.old.outline.subtree(old)) && is_empty(self.new, target) {
            return self.is_in_same_title(old, new);
        }
        let provisions = self.old.outline.subtree(old).iter().map(NodeOrdinal);
        let found = provisions
            .filter(|node| self.old.outline.is_provision(*node))
            .filter_map(|node| now.get(&node).copied().or_else(|| self.in_new(node)));
        let (mut inside, mut all) = (0_u32, 0_u32);
        for node in found {
            all += 1;
            inside += u32::from(target.contains(node.0));
        }
        inside > 0 && inside * 2 >= all
    }

    /// Whether two nodes are in the same part of the code, at its top.
    fn is_in_same_title(&self, old: NodeOrdinal, new: NodeOrdinal) -> bool {
        let title = |of: &Snapshot, node| of.outline.ancestors(node).last().and_then(|title| of.outline.id(title));
        title(self.old, old).is_some_and(|before| title(self.new, new) == Some(before))
    }

    /// One change for a provision that is found under another id.
    fn renumbered(&self, gone: LawChange, came: LawChange) -> Result<LawChange, CompareError> {
        let (Some(before), Some(now)) = (gone.old, came.new) else { return Ok(came) };
        let (old, new) = (self.old.nodes.get(before)?, self.new.nodes.get(now)?);
        let parts = self.parts((before, &old), (now, &new))?;
        // The citation of a container names all that it is in.
        let kind = match self.new.outline.is_provision(now) {
            true if has_same_words(&old.citation, &new.citation) => ChangeKind::Moved,
            true => ChangeKind::Renumbered,
            false if parts.has(ChangedParts::PLACE) => ChangeKind::Moved,
            false => ChangeKind::Notes,
        };
        let effective = came.effective.or(gone.effective);
        Ok(LawChange { kind, old: Some(before), new: Some(now), parts, effective })
    }
}

/// Which sides of the changes are not yet part of a pair.
struct Unjoined {
    has_old: Vec<bool>,
    has_new: Vec<bool>,
}

impl Unjoined {
    fn new(changes: &[LawChange]) -> Self {
        Self { has_old: vec![true; changes.len()], has_new: vec![true; changes.len()] }
    }

    fn take(&mut self, gone: usize, came: usize) {
        self.has_old[gone] = false;
        self.has_new[came] = false;
    }
}

const fn is_gone(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Missing | ChangeKind::Renumbered | ChangeKind::Ended | ChangeKind::Repealed)
}

const fn is_new(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Added | ChangeKind::Found | ChangeKind::Restored)
}
