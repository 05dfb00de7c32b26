//! Compares a code body of two snapshots, node by node.
//!
//! Nodes are matched by their ids, which come from their places in the code, then by their words (`renumbering`). The wording that is
//! compared is the one in force on the last day of each edition; the others are compared as `wordings`.

use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::layout::{Line, LineKind};
use hornbook_corpus::nodes::{NodeRecord, NodesError, Wording};
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::texts::{Span, TextDamaged};

use crate::change::{ChangeKind, ChangedParts, LawChange};
use crate::changes_file::BodyChanges;
use crate::container_name::container_name;
use crate::content_match::{SHARE_MIN, shared_passages};
use crate::credit::{acts, acts_added, is_of_earlier_year, is_older_than};
use crate::edition::CodeEdition;
use crate::words::{
    has_same_letters, has_same_lines, has_same_words, has_same_words_but_capitals, has_same_words_but_footnote_signs,
};

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
        let old_through = CodeEdition::of(old, old_body).current_through;
        let new_through = CodeEdition::of(new, body).current_through;
        let pair = BodyPair { old, new, old_body: old_body.nodes, new_body: body.nodes, old_through, new_through };
        all.push(BodyChanges { body: body.id, changes: pair.changes(&mut progress)? });
    }
    Ok(all)
}

/// The code bodies that only one of two snapshots has.
pub fn without_counterpart<'s>(of: &'s Snapshot, other: &'s Snapshot) -> impl Iterator<Item = &'s CodeBody> {
    of.catalogue.code_bodies.iter().filter(|body| other.catalogue.code_body(body.id).is_none())
}

/// A code body of two snapshots.
pub(crate) struct BodyPair<'s> {
    pub(crate) old: &'s Snapshot,
    pub(crate) new: &'s Snapshot,
    old_body: OrdinalRange,
    new_body: OrdinalRange,
    /// The day through which the older edition is current.
    old_through: Option<Day>,
    new_through: Option<Day>,
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
                changes.push(self.gone(node));
            }
        }
        let mut changes = self.joined(&changes)?;
        self.name_ended(&mut changes)?;
        self.name_old_containers(&mut changes);
        self.name_left_containers(&mut changes);
        self.name_ended_containers(&mut changes);
        self.leave_out_what_is_in_missing(&mut changes);
        self.order(&mut changes);
        Ok(changes)
    }

    pub(crate) fn new_nodes(&self) -> impl Iterator<Item = NodeOrdinal> + use<> {
        self.new_body.iter().map(NodeOrdinal)
    }

    /// What the older edition says will end before the newer one, or an entry for several numbers says is repealed or
    /// ended, is not missing, nor is the second entry of a number that has one entry now.
    fn name_ended(&self, changes: &mut [LawChange]) -> Result<(), CompareError> {
        let ranges = self.ended_ranges()?;
        for change in changes.iter_mut().filter(|change| change.kind == ChangeKind::Missing) {
            let Some(old) = change.old else { continue };
            if let Some((day, status)) = self.announced_end(old)? {
                change.kind = kind_of(ChangedParts::default(), Status::InForce, status).unwrap_or(ChangeKind::Missing);
                change.effective = Some(day);
            } else if let Some(status) = self.ended_in(&ranges, old)?.or(self.ended_with_others(old)?) {
                change.kind = kind_of(ChangedParts::default(), Status::InForce, status).unwrap_or(ChangeKind::Missing);
            } else if self.has_other_entry(old)? {
                change.kind = ChangeKind::Notes;
            }
        }
        Ok(())
    }

    /// The day on which a provision of the older edition ends, and its status from then on, if the newer edition is
    /// current through that day.
    fn announced_end(&self, node: NodeOrdinal) -> Result<Option<(Day, Status)>, CompareError> {
        if !self.old.outline.is_provision(node) {
            return Ok(None);
        }
        let validity = self.old.nodes.get(node)?.wordings[0].validity;
        let day = validity.to.filter(|day| self.new_through.is_some_and(|through| *day <= through));
        let status = validity.then.unwrap_or(Status::Expired);
        Ok(day.map(|day| (day, status)).filter(|_| is_gone(status)))
    }

    /// The status of an entry of the newer edition for several numbers that are no longer law, of which the provision's
    /// is not the first: `§§ 30-326 through 30-329. (Expired)`.
    fn ended_with_others(&self, node: NodeOrdinal) -> Result<Option<Status>, CompareError> {
        if !self.old.outline.is_provision(node) {
            return Ok(None);
        }
        let found = self.new.nodes_with_citation(self.old.cards.get(node)?.citation)?;
        let entries = found.into_iter().filter(|(_, kind)| *kind == CitationKind::Parallel);
        let mut statuses = entries.map(|(entry, _)| self.new.outline.status(entry));
        Ok(statuses.find(|status| is_gone(*status)))
    }

    /// Whether the newer edition has law with the citation of a provision in the same place, as another entry.
    fn has_other_entry(&self, node: NodeOrdinal) -> Result<bool, CompareError> {
        if !self.old.outline.is_provision(node) || self.in_new(node).is_some() {
            return Ok(false);
        }
        for (found, kind) in self.new.nodes_with_citation(self.old.cards.get(node)?.citation)? {
            let is_own = kind == CitationKind::Canonical && self.new_body.contains(found.0);
            if is_own && self.has_same_place(node, found)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The node of the older edition with the id of a node of the newer one.
    fn in_old(&self, node: NodeOrdinal) -> Option<NodeOrdinal> {
        let found = self.old.ordinal(self.new.outline.id(node)?)?;
        self.old_body.contains(found.0).then_some(found)
    }

    pub(crate) fn in_new(&self, node: NodeOrdinal) -> Option<NodeOrdinal> {
        let found = self.new.ordinal(self.old.outline.id(node)?)?;
        self.new_body.contains(found.0).then_some(found)
    }

    fn change_of(&self, node: NodeOrdinal) -> Result<Option<LawChange>, CompareError> {
        let Some(before) = self.in_old(node) else { return Ok(Some(self.new_law(node, None)?)) };
        let (old, new) = (self.old.nodes.get(before)?, self.new.nodes.get(node)?);
        let parts = self.parts((before, &old), (node, &new))?;
        let (was, is) = (self.old.outline.status(before), self.new.outline.status(node));
        let kind = match kind_of(parts, was, is) {
            Some(ChangeKind::Restored) if !self.is_same_law(&old, &new)? => Some(ChangeKind::Added),
            // It was announced. If its credit names acts from before, that is another wording of law in force.
            Some(ChangeKind::Added)
                if was == Status::NotYetEffective && self.is_older_than_old_edition(node, &new, None)? =>
            {
                Some(ChangeKind::Restated)
            }
            // The older copy has no notes, so that it could not be uncertain.
            Some(ChangeKind::Restated) if is == Status::Uncertain && has_no_notes(&old.wordings[0]) => {
                Some(ChangeKind::Notes)
            }
            kind => kind,
        };
        let effective = effective_day(&old.wordings[0], &new.wordings[0], is);
        Ok(kind.map(|kind| LawChange { kind, old: Some(before), new: Some(node), parts, effective }))
    }

    /// A node that only the newer edition has. `earlier` is the one that had its number and is other law: publishers
    /// credit acts to numbers, so the acts of that one say nothing about this one.
    pub(crate) fn new_law(&self, node: NodeOrdinal, earlier: Option<NodeOrdinal>) -> Result<LawChange, CompareError> {
        let record = self.new.nodes.get(node)?;
        let wording = &record.wordings[0];
        let status = self.new.outline.status(node);
        let kind = if !status.may_be_in_force() && status != Status::NotYetEffective {
            ChangeKind::Notes
        } else if self.is_older_than_old_edition(node, &record, earlier)? {
            ChangeKind::Found
        } else {
            ChangeKind::Added
        };
        let parts = ChangedParts::default();
        Ok(LawChange { kind, old: None, new: Some(node), parts, effective: wording.validity.from })
    }

    /// A node that only the older edition has. What was no longer law then is not missing.
    pub(crate) fn gone(&self, node: NodeOrdinal) -> LawChange {
        let was_law = self.old.outline.status(node).may_be_in_force();
        let kind = if was_law { ChangeKind::Missing } else { ChangeKind::Notes };
        LawChange { kind, old: Some(node), new: None, parts: ChangedParts::default(), effective: None }
    }

    /// Whether the citation or the source credit of a provision shows that it is older than the older edition. Without a
    /// credit, what is in a title that only the newer copy has is not shown to be new.
    fn is_older_than_old_edition(
        &self,
        node: NodeOrdinal,
        record: &NodeRecord,
        earlier: Option<NodeOrdinal>,
    ) -> Result<bool, CompareError> {
        let Some(through) = self.old_through else { return Ok(false) };
        let credit = credit_of(self.new, record)?;
        let known = earlier.map(|node| self.old.nodes.get(node)).transpose()?;
        let known = known.as_ref().map(|record| credit_of(self.old, record)).transpose()?.unwrap_or_default();
        let is_older = match known {
            "" => is_older_than(acts(credit), through),
            known => is_older_than(acts_added(known, credit), through),
        };
        let is_unknown = || credit.is_empty() && !self.has_title_of(node);
        Ok(is_older || is_of_earlier_year(&record.citation, through) || is_unknown())
    }

    /// Whether the older edition has the title in which a provision of the newer one is. Containers have no credits, and some
    /// codes have no titles.
    fn has_title_of(&self, node: NodeOrdinal) -> bool {
        let title = self.new.outline.ancestors(node).last();
        !self.new.outline.is_provision(node) || title.is_none_or(|title| self.in_old(title).is_some())
    }

    /// Whether law that was not in force and law that is now have the same heading or similar words.
    fn is_same_law(&self, old: &NodeRecord, new: &NodeRecord) -> Result<bool, CompareError> {
        let (before, now) = (&old.wordings[0], &new.wordings[0]);
        let has_heading = !now.heading.is_empty() && has_same_heading(&before.heading, &now.heading);
        Ok(has_heading || shared_passages(self.old.texts.get(before.text)?, self.new.texts.get(now.text)?) >= SHARE_MIN)
    }

    pub(crate) fn parts(
        &self,
        old: (NodeOrdinal, &NodeRecord),
        new: (NodeOrdinal, &NodeRecord),
    ) -> Result<ChangedParts, CompareError> {
        let ((old_node, old), (new_node, new)) = (old, new);
        let (before, now) = (&old.wordings[0], &new.wordings[0]);
        let is_moved = !self.has_same_place(old_node, new_node)?;
        let footnotes = footnotes_of(before).max(footnotes_of(now));
        let (old_text, new_text) = (self.old.texts.get(before.text)?, self.new.texts.get(now.text)?);
        let has_same_text = before.text_sha256 == now.text_sha256
            || has_same_words(old_text, new_text)
            || (self.names_no_new_act(old, new)?
                && (has_same_lines(old_text, new_text) || has_same_words_but_capitals(old_text, new_text)))
            || (footnotes > 0 && has_same_words_but_footnote_signs(old_text, new_text, footnotes))
            || self.is_only_image((old_node, before), (new_node, now))?;
        let are_appendices = !self.new.outline.is_provision(new_node)
            && [&before.heading, &now.heading].into_iter().all(|heading| heading.to_lowercase().contains("appendix"));
        // `Title 5A—Employees (Appendix)`, `Title 5—APPENDIX`
        let is_same_title = has_same_heading(&before.heading, &now.heading) || are_appendices;
        Ok(ChangedParts::default()
            .with(ChangedParts::TEXT, !has_same_text)
            .with(ChangedParts::HEADING, !is_same_title)
            .with(ChangedParts::PLACE, is_moved)
            .with(ChangedParts::STATUS, self.old.outline.status(old_node) != self.new.outline.status(new_node))
            .with(ChangedParts::WORDINGS, !self.has_same_wordings(old, new)?)
            .with(ChangedParts::NOTES, !self.has_same_notes(before, now)?))
    }

    /// Whether no source credit names an act that could have meant other capitals, or lines in another order.
    fn names_no_new_act(&self, old: &NodeRecord, new: &NodeRecord) -> Result<bool, TextDamaged> {
        Ok(acts_added(credit_of(self.old, old)?, credit_of(self.new, new)?).next().is_none())
    }

    /// Whether texts differ only by names of images that one of the two copies lacks.
    fn is_only_image(&self, old: (NodeOrdinal, &Wording), new: (NodeOrdinal, &Wording)) -> Result<bool, TextDamaged> {
        if has_images(self.old, old.0) == has_images(self.new, new.0) {
            return Ok(false);
        }
        Ok(has_same_words(&without_images(self.old, old)?, &without_images(self.new, new)?))
    }

    /// Whether two nodes are in the same container: by its id, or by its name if its id changed with its own place. Where
    /// one copy names a part between them that the other does not, the place is the same.
    fn has_same_place(&self, old_node: NodeOrdinal, new_node: NodeOrdinal) -> Result<bool, CompareError> {
        let (before, now) = match (self.old.outline.parent(old_node), self.new.outline.parent(new_node)) {
            (None, None) => return Ok(true),
            (Some(before), Some(now)) => (before, now),
            _ => return Ok(false),
        };
        if self.is_same_container(before, now)? {
            return Ok(true);
        }
        for above in self.new.outline.ancestors(now) {
            if self.is_same_container(before, above)? {
                return Ok(true);
            }
        }
        for above in self.old.outline.ancestors(before) {
            if self.is_same_container(above, now)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_same_container(&self, before: NodeOrdinal, now: NodeOrdinal) -> Result<bool, CompareError> {
        Ok(self.old.outline.id(before) == self.new.outline.id(now)
            || container_name(self.old, before)? == container_name(self.new, now)?)
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

    /// If a whole title or chapter is missing, only that is listed.
    fn leave_out_what_is_in_missing(&self, changes: &mut Vec<LawChange>) {
        let missing = |change: &LawChange| change.old.filter(|_| change.new.is_none());
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

fn has_images(of: &Snapshot, node: NodeOrdinal) -> bool {
    layout_of_text(of, node).iter().any(|line| line.kind() == Some(LineKind::Image))
}

fn layout_of_text(of: &Snapshot, node: NodeOrdinal) -> &[Line] {
    of.layouts.of_text(node).map_or(&[], |layout| layout.lines)
}

/// The text of a provision without the names of images.
fn without_images(of: &Snapshot, (node, wording): (NodeOrdinal, &Wording)) -> Result<String, TextDamaged> {
    let lines = layout_of_text(of, node);
    let is_image = |place: usize| lines.get(place).is_some_and(|line| line.kind() == Some(LineKind::Image));
    let kept = of.texts.get(wording.text)?.split('\n').enumerate().filter(|&(place, _)| !is_image(place));
    Ok(kept.map(|(_, line)| line).collect::<Vec<_>>().join("\n"))
}

/// The topic of footnotes among the notes.
const FOOTNOTE: &str = "Footnote";

fn footnotes_of(wording: &Wording) -> usize {
    wording.notes.iter().filter(|note| note.topic == FOOTNOTE).count()
}

fn has_no_notes(wording: &Wording) -> bool {
    wording.notes.is_empty() && wording.source_credit.is_none()
}

/// The source credit of a provision; empty if it has none.
fn credit_of<'s>(of: &'s Snapshot, record: &NodeRecord) -> Result<&'s str, TextDamaged> {
    record.wordings[0].source_credit.map_or(Ok(""), |span| of.texts.get(span))
}

/// Publishers print headings now in capitals, now not, with other signs, and with remarks such as `[Repealed]`.
fn has_same_heading(one: &str, other: &str) -> bool {
    let (one, other) = (without_remark(one), without_remark(other));
    has_same_words(one, other) || has_same_letters(&one.to_lowercase(), &other.to_lowercase())
}

/// A heading without the remark in brackets at its end. A heading that is only a remark keeps it.
fn without_remark(heading: &str) -> &str {
    let cut = heading.trim_end().strip_suffix(']').and_then(|inner| inner.rsplit_once('['));
    cut.map(|(before, _)| before.trim_end()).filter(|before| !before.is_empty()).unwrap_or(heading)
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
        // What a publisher says about law that is gone is a note, also if it calls it omitted now, and repealed before.
        (false, false) if parts.is_empty() => return None,
        (false, false) if parts.has(ChangedParts::STATUS) && !(is_gone(was) && is_gone(is)) => ChangeKind::Restated,
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

/// Whether law has ended. What is reserved or announced has not.
fn is_gone(status: Status) -> bool {
    !status.may_be_in_force() && !matches!(status, Status::Reserved | Status::NotYetEffective)
}

/// The day from which the newer edition says that its wording is law, or that the law ended, if the older one did not
/// say so.
fn effective_day(before: &Wording, now: &Wording, is: Status) -> Option<Day> {
    let began = now.validity.from.filter(|_| now.validity.from != before.validity.from);
    let ended = now.validity.to.filter(|_| !is.may_be_in_force() && now.validity.to != before.validity.to);
    ended.or(began)
}
