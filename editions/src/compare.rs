//! Compares a code body of two snapshots, node by node.
//!
//! Nodes are matched by their ids, which come from their places in the code, then by their words. The wording that is
//! compared is the one in force on the last day of each edition; the others are compared as `wordings`.

use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::nodes::{NodeRecord, NodesError, Wording};
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::texts::{Span, TextDamaged};
use rustc_hash::FxHashMap;

use crate::change::{ChangeKind, ChangedParts, LawChange};
use crate::changes_file::BodyChanges;
use crate::content_match::{TextPrint, match_by_content};
use crate::words::{has_same_words, tokens};

/// Why editions could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("{0}")]
    Nodes(#[from] NodesError),
    #[error("{0}")]
    Text(#[from] TextDamaged),
}

/// Compares the code bodies that two snapshots share, in the order of the newer one. `progress` receives the number of
/// nodes that were compared.
pub fn compare(
    old: &Snapshot,
    new: &Snapshot,
    mut progress: impl FnMut(u64),
) -> Result<Vec<BodyChanges>, CompareError> {
    let mut all = Vec::new();
    for body in &new.catalogue.code_bodies {
        let Some(old_body) = old.catalogue.code_body(body.id) else { continue };
        let pair = BodyPair { old, new, old_body: old_body.nodes, new_body: body.nodes };
        all.push(BodyChanges { body: body.id, changes: pair.changes(&mut progress)? });
    }
    Ok(all)
}

/// The code bodies that only one of two snapshots has.
pub fn without_counterpart<'s>(of: &'s Snapshot, other: &'s Snapshot) -> impl Iterator<Item = &'s CodeBody> {
    of.catalogue.code_bodies.iter().filter(|body| other.catalogue.code_body(body.id).is_none())
}

struct BodyPair<'s> {
    old: &'s Snapshot,
    new: &'s Snapshot,
    old_body: OrdinalRange,
    new_body: OrdinalRange,
}

impl BodyPair<'_> {
    fn changes(&self, progress: &mut impl FnMut(u64)) -> Result<Vec<LawChange>, CompareError> {
        let mut changes = Vec::new();
        for node in self.new_body.iter().map(NodeOrdinal) {
            changes.extend(self.change_of(node)?);
            progress(1);
        }
        for node in self.old_body.iter().map(NodeOrdinal) {
            if self.in_new(node).is_none() {
                let parts = ChangedParts::default();
                changes.push(LawChange {
                    kind: ChangeKind::Missing,
                    old: Some(node),
                    new: None,
                    parts,
                    effective: None,
                });
            }
        }
        let mut changes = self.joined(changes)?;
        self.leave_out_what_is_in_missing(&mut changes);
        self.order(&mut changes);
        Ok(changes)
    }

    /// The node of the older edition with the id of a node of the newer one.
    fn in_old(&self, node: NodeOrdinal) -> Option<NodeOrdinal> {
        let found = self.old.ordinal(self.new.outline.id(node)?)?;
        self.old_body.contains(found.0).then_some(found)
    }

    fn in_new(&self, node: NodeOrdinal) -> Option<NodeOrdinal> {
        let found = self.new.ordinal(self.old.outline.id(node)?)?;
        self.new_body.contains(found.0).then_some(found)
    }

    fn change_of(&self, node: NodeOrdinal) -> Result<Option<LawChange>, CompareError> {
        let Some(before) = self.in_old(node) else {
            let effective = self.new.nodes.get(node)?.wordings[0].validity.from;
            let parts = ChangedParts::default();
            return Ok(Some(LawChange { kind: ChangeKind::Added, old: None, new: Some(node), parts, effective }));
        };
        let (old, new) = (self.old.nodes.get(before)?, self.new.nodes.get(node)?);
        let parts = self.parts((before, &old), (node, &new))?;
        let (was, is) = (self.old.outline.status(before), self.new.outline.status(node));
        let kind = kind_of(parts, was, is);
        let effective = effective_day(&old.wordings[0], &new.wordings[0], is);
        Ok(kind.map(|kind| LawChange { kind, old: Some(before), new: Some(node), parts, effective }))
    }

    fn parts(
        &self,
        old: (NodeOrdinal, &NodeRecord),
        new: (NodeOrdinal, &NodeRecord),
    ) -> Result<ChangedParts, CompareError> {
        let ((old_node, old), (new_node, new)) = (old, new);
        let (before, now) = (&old.wordings[0], &new.wordings[0]);
        let is_moved = !self.has_same_place(old_node, new_node)?;
        let has_same_text = before.text_sha256 == now.text_sha256
            || has_same_words(self.old.texts.get(before.text)?, self.new.texts.get(now.text)?);
        Ok(ChangedParts::default()
            .with(ChangedParts::TEXT, !has_same_text)
            .with(ChangedParts::HEADING, !has_same_heading(&before.heading, &now.heading))
            .with(ChangedParts::PLACE, is_moved)
            .with(ChangedParts::STATUS, self.old.outline.status(old_node) != self.new.outline.status(new_node))
            .with(ChangedParts::WORDINGS, !self.has_same_wordings(old, new)?)
            .with(ChangedParts::NOTES, !self.has_same_notes(before, now)?))
    }

    /// Whether two nodes are in the same container: by its id, or by its name if its id changed with its own place.
    fn has_same_place(&self, old_node: NodeOrdinal, new_node: NodeOrdinal) -> Result<bool, CompareError> {
        let parents = (self.old.outline.parent(old_node), self.new.outline.parent(new_node));
        Ok(match parents {
            (None, None) => true,
            (Some(before), Some(now)) => {
                self.old.outline.id(before) == self.new.outline.id(now)
                    || container_name(self.old, before)? == container_name(self.new, now)?
            }
            _ => false,
        })
    }

    /// Whether the wordings for other days are the same.
    fn has_same_wordings(&self, old: &NodeRecord, new: &NodeRecord) -> Result<bool, CompareError> {
        let (before, now) = (&old.wordings[1..], &new.wordings[1..]);
        if before.len() != now.len() {
            return Ok(false);
        }
        for (one, other) in before.iter().zip(now) {
            let has_same_days = one.validity == other.validity;
            if !has_same_days || !has_same_words(self.old.texts.get(one.text)?, self.new.texts.get(other.text)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether notes and the source credit are the same.
    fn has_same_notes(&self, before: &Wording, now: &Wording) -> Result<bool, CompareError> {
        let is_same = |one: Option<Span>, other: Option<Span>| -> Result<bool, TextDamaged> {
            let text = |of: &'_ Snapshot, span: Option<Span>| -> Result<String, TextDamaged> {
                Ok(span.map(|span| of.texts.get(span)).transpose()?.unwrap_or_default().to_owned())
            };
            Ok(has_same_words(&text(self.old, one)?, &text(self.new, other)?))
        };
        if before.notes.len() != now.notes.len() || !is_same(before.source_credit, now.source_credit)? {
            return Ok(false);
        }
        for (one, other) in before.notes.iter().zip(&now.notes) {
            if !is_same(Some(one.text), Some(other.text))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Joins provisions that went with those that came, where their words are the same or alike.
    fn joined(&self, mut changes: Vec<LawChange>) -> Result<Vec<LawChange>, CompareError> {
        let (mut gone, mut came) = (Vec::new(), Vec::new());
        for (place, change) in changes.iter().enumerate() {
            let is_gone = matches!(
                change.kind,
                ChangeKind::Missing | ChangeKind::Renumbered | ChangeKind::Ended | ChangeKind::Repealed
            );
            if let Some(print) =
                change.old.filter(|_| is_gone).map(|old| print_of(self.old, old)).transpose()?.flatten()
            {
                gone.push((place, print));
            }
            let is_new = matches!(change.kind, ChangeKind::Added | ChangeKind::Restored);
            if let Some(print) = change.new.filter(|_| is_new).map(|new| print_of(self.new, new)).transpose()?.flatten()
            {
                came.push((place, print));
            }
        }
        let (gone_places, gone): (Vec<usize>, Vec<TextPrint>) = gone.into_iter().unzip();
        let (came_places, came): (Vec<usize>, Vec<TextPrint>) = came.into_iter().unzip();
        let mut is_joined = vec![false; changes.len()];
        let alike = match_by_content(&gone, &came).into_iter();
        let alike = alike.map(|(one, other)| (gone_places[one], came_places[other]));
        for (gone, came) in alike.chain(self.same_containers(&changes)?) {
            is_joined[gone] = true;
            changes[came] = self.renumbered(changes[gone], changes[came])?;
        }
        let mut is_joined = is_joined.into_iter();
        changes.retain(|_| !is_joined.next().unwrap_or(false));
        Ok(changes)
    }

    /// The containers that went and came under the same name, which no other has.
    fn same_containers(&self, changes: &[LawChange]) -> Result<Vec<(usize, usize)>, CompareError> {
        let mut names: FxHashMap<ContainerName, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
        for (place, change) in changes.iter().enumerate() {
            match (change.kind, change.old, change.new) {
                (ChangeKind::Missing, Some(old), _) if !self.old.outline.is_provision(old) => {
                    names.entry(container_name(self.old, old)?).or_default().0.push(place);
                }
                (ChangeKind::Added, _, Some(new)) if !self.new.outline.is_provision(new) => {
                    names.entry(container_name(self.new, new)?).or_default().1.push(place);
                }
                _ => {}
            }
        }
        let mut pairs: Vec<(usize, usize)> = names
            .into_values()
            .filter_map(|(gone, came)| match (&*gone, &*came) {
                ([gone], [came]) => Some((*gone, *came)),
                _ => None,
            })
            .collect();
        pairs.sort_unstable();
        Ok(pairs)
    }

    /// One change for a provision that is found under another id.
    fn renumbered(&self, gone: LawChange, came: LawChange) -> Result<LawChange, CompareError> {
        let (Some(before), Some(now)) = (gone.old, came.new) else { return Ok(came) };
        let (old, new) = (self.old.nodes.get(before)?, self.new.nodes.get(now)?);
        let parts = self.parts((before, &old), (now, &new))?;
        // The citation of a container names all that it is in.
        let is_moved = !self.new.outline.is_provision(now) || has_same_words(&old.citation, &new.citation);
        let kind = if is_moved { ChangeKind::Moved } else { ChangeKind::Renumbered };
        let effective = came.effective.or(gone.effective);
        Ok(LawChange { kind, old: Some(before), new: Some(now), parts, effective })
    }

    /// If a whole title or chapter is missing, only that is listed.
    fn leave_out_what_is_in_missing(&self, changes: &mut Vec<LawChange>) {
        let missing = |change: &LawChange| change.old.filter(|_| change.kind == ChangeKind::Missing);
        let mut gone: Vec<NodeOrdinal> = changes.iter().filter_map(missing).collect();
        gone.sort_unstable();
        let is_gone = |node: NodeOrdinal| gone.binary_search(&node).is_ok();
        changes.retain(|change| match missing(change) {
            Some(node) => self.old.outline.parent(node).is_none_or(|parent| !is_gone(parent)),
            None => true,
        });
    }

    /// Code order of the newer edition; what it does not have comes behind what was before it.
    fn order(&self, changes: &mut [LawChange]) {
        let mut behind = 0;
        let places: Vec<u32> = self
            .old_body
            .iter()
            .map(|node| {
                if let Some(now) = self.in_new(NodeOrdinal(node)) {
                    behind = now.0;
                }
                behind
            })
            .collect();
        changes.sort_by_key(|change| match (change.new, change.old) {
            (Some(new), _) => (new.0, 0),
            (None, Some(old)) => (places.get((old.0 - self.old_body.start) as usize).copied().unwrap_or(0), old.0 + 1),
            (None, None) => (0, 0),
        });
    }
}

/// The level of a container, and the words of its heading.
type ContainerName = (String, Vec<u64>);

/// The name of a container, for comparing it with those of another edition.
fn container_name(of: &Snapshot, container: NodeOrdinal) -> Result<ContainerName, CompareError> {
    let NodeRecord { level, wordings, .. } = of.nodes.get(container)?;
    let words = tokens(&wordings[0].heading.to_lowercase()).map(|token| token.hash).collect();
    Ok((level.to_lowercase(), words))
}

/// Publishers print headings now in capitals, now not.
fn has_same_heading(one: &str, other: &str) -> bool {
    has_same_words(one, other) || has_same_words(&one.to_lowercase(), &other.to_lowercase())
}

fn print_of(snapshot: &Snapshot, node: NodeOrdinal) -> Result<Option<TextPrint>, CompareError> {
    if !snapshot.outline.is_provision(node) {
        return Ok(None);
    }
    let span = snapshot.nodes.get(node)?.wordings[0].text;
    Ok(TextPrint::of(snapshot.texts.get(span)?))
}

/// What happened to a node that both editions have.
fn kind_of(parts: ChangedParts, was: Status, is: Status) -> Option<ChangeKind> {
    let kind = match (was.may_be_in_force(), is.may_be_in_force()) {
        (true, false) => match is {
            Status::Repealed => ChangeKind::Repealed,
            Status::Renumbered | Status::Transferred => ChangeKind::Renumbered,
            Status::NotYetEffective => ChangeKind::Restated,
            _ => ChangeKind::Ended,
        },
        (false, true) if matches!(was, Status::Reserved | Status::NotYetEffective) => ChangeKind::Added,
        (false, true) => ChangeKind::Restored,
        // What a publisher says about law that is gone is a note.
        (false, false) if parts.is_empty() => return None,
        (false, false) if parts.has(ChangedParts::STATUS) => ChangeKind::Restated,
        (false, false) => ChangeKind::Notes,
        (true, true) if parts.has(ChangedParts::TEXT) => ChangeKind::Reworded,
        (true, true) if parts.has(ChangedParts::PLACE) => ChangeKind::Moved,
        (true, true) if parts.has(ChangedParts::HEADING) => ChangeKind::Retitled,
        (true, true) if parts.has(ChangedParts::STATUS) || parts.has(ChangedParts::WORDINGS) => ChangeKind::Restated,
        (true, true) if parts.has(ChangedParts::NOTES) => ChangeKind::Notes,
        (true, true) => return None,
    };
    Some(kind)
}

/// The day from which the newer edition says that its wording is law, or that the law ended, if the older one did not
/// say so.
fn effective_day(before: &Wording, now: &Wording, is: Status) -> Option<Day> {
    let began = now.validity.from.filter(|_| now.validity.from != before.validity.from);
    let ended = now.validity.to.filter(|_| !is.may_be_in_force() && now.validity.to != before.validity.to);
    ended.or(began)
}
