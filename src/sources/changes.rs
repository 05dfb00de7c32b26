//! The differences between two snapshots: nodes that were added, removed or amended, by code body.
//!
//! Nodes are matched by id, which is derived from their place in the code. A node is amended if the
//! heading, validity or text of any of its wordings differs. Notes and incoming references are not compared.

use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::nodes::{NodeRecord, NodesError};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::validity::Validity;
use serde::Serialize;

/// Nodes are listed up to this many of a kind and code body; all are counted.
const LISTED_MAX: usize = 20;

/// The differences of one code body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BodyChanges {
    pub key: String,
    pub name: String,
    pub added: Listed,
    pub removed: Listed,
    pub amended: Listed,
}

/// Nodes of one kind: how many, and the citations of the first of them in code order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    pub count: u64,
    pub citations: Vec<String>,
}

impl Listed {
    fn add(&mut self, record: &NodeRecord) {
        self.count += 1;
        if self.citations.len() < LISTED_MAX {
            self.citations.push(record.citation.clone());
        }
    }
}

impl BodyChanges {
    pub fn is_empty(&self) -> bool {
        self.added.count + self.removed.count + self.amended.count == 0
    }
}

/// The code bodies that differ, in the order of the new snapshot; then those that were removed.
pub fn changes(old: &Snapshot, new: &Snapshot) -> Result<Vec<BodyChanges>, NodesError> {
    let mut all = Vec::new();
    for body in &new.catalogue.code_bodies {
        let mut changes = named(body);
        for node in nodes(body.nodes) {
            compare(old, new, node, &mut changes)?;
        }
        if let Some(old_body) = old.catalogue.code_bodies.iter().find(|old_body| old_body.key == body.key) {
            add_removed(old, new, old_body, &mut changes)?;
        }
        all.push(changes);
    }
    let is_gone = |old_body: &&CodeBody| new.catalogue.code_bodies.iter().all(|body| body.key != old_body.key);
    for old_body in old.catalogue.code_bodies.iter().filter(is_gone) {
        let mut changes = named(old_body);
        add_removed(old, new, old_body, &mut changes)?;
        all.push(changes);
    }
    all.retain(|changes| !changes.is_empty());
    Ok(all)
}

fn named(body: &CodeBody) -> BodyChanges {
    BodyChanges { key: body.key.clone(), name: body.name.clone(), ..BodyChanges::default() }
}

fn nodes(range: OrdinalRange) -> impl Iterator<Item = NodeOrdinal> {
    range.iter().map(NodeOrdinal)
}

fn compare(old: &Snapshot, new: &Snapshot, node: NodeOrdinal, changes: &mut BodyChanges) -> Result<(), NodesError> {
    let record = new.nodes.get(node)?;
    match new.outline.id(node).and_then(|id| old.ordinal(id)) {
        None => changes.added.add(&record),
        Some(before) if differs(&old.nodes.get(before)?, &record) => changes.amended.add(&record),
        Some(_) => {}
    }
    Ok(())
}

fn add_removed(
    old: &Snapshot,
    new: &Snapshot,
    old_body: &CodeBody,
    changes: &mut BodyChanges,
) -> Result<(), NodesError> {
    for node in nodes(old_body.nodes) {
        if old.outline.id(node).is_some_and(|id| new.ordinal(id).is_none()) {
            changes.removed.add(&old.nodes.get(node)?);
        }
    }
    Ok(())
}

fn differs(before: &NodeRecord, after: &NodeRecord) -> bool {
    let wordings = |record: &NodeRecord| -> Vec<(String, Validity, [u8; 32])> {
        let wordings = record.wordings.iter();
        wordings.map(|wording| (wording.heading.clone(), wording.validity, wording.text_sha256)).collect()
    };
    wordings(before) != wordings(after)
}
