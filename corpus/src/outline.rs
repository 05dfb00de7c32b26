//! The outline: the structure of the whole corpus in a few mapped columns.
//!
//! Nodes are numbered depth first. A subtree is the range from a node to its `subtree_end`, children are found by
//! jumping from one subtree end to the next, and every filter is a range. Ids are found by binary search in a
//! permutation sorted by id. The contents of nodes are in `nodes`.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use crate::ids::{NodeId, NodeOrdinal, OrdinalRange};
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

pub const FILE_NAME: &str = "outline.bin";
const KIND: FileKind = FileKind { magic: *b"HBOUTLIN", version: 1 };

/// The value of `parent` for a node at the top of its code body.
const NO_PARENT: u32 = u32::MAX;

/// Maximum depth of a node. The deepest real code has nine levels, so deeper nesting is damage or an attack.
pub const DEPTH_MAX: u8 = 64;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct OutlineEntry {
    parent: u32,
    subtree_end: u32,
    depth: u8,
    flags: u8,
    status: u8,
    zero: u8,
}

const IS_PROVISION: u8 = 1;

/// The legal status of a provision.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Status {
    #[serde(rename = "in force")]
    InForce = 0,
    Repealed = 1,
    Reserved = 2,
    Omitted = 3,
    Transferred = 4,
    Renumbered = 5,
    Expired = 6,
    /// It takes effect on a later day.
    #[serde(rename = "not yet effective")]
    NotYetEffective = 7,
    /// The source states when it is in force, but not as a date.
    Uncertain = 8,
}

impl Status {
    /// The statuses that a source can state. The others depend on the day.
    pub const STATED: [Self; 7] = [
        Self::InForce,
        Self::Repealed,
        Self::Reserved,
        Self::Omitted,
        Self::Transferred,
        Self::Renumbered,
        Self::Expired,
    ];

    pub const ALL: [Self; 9] = [
        Self::InForce,
        Self::Repealed,
        Self::Reserved,
        Self::Omitted,
        Self::Transferred,
        Self::Renumbered,
        Self::Expired,
        Self::NotYetEffective,
        Self::Uncertain,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InForce => "in force",
            Self::Repealed => "repealed",
            Self::Reserved => "reserved",
            Self::Omitted => "omitted",
            Self::Transferred => "transferred",
            Self::Renumbered => "renumbered",
            Self::Expired => "expired",
            Self::NotYetEffective => "not yet effective",
            Self::Uncertain => "uncertain",
        }
    }

    /// Whether the provision is in force or may be in force.
    pub const fn may_be_in_force(self) -> bool {
        matches!(self, Self::InForce | Self::Uncertain)
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(byte as usize).copied()
    }
}

/// One node from the builder, in depth-first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineNode {
    pub id: NodeId,
    pub parent: Option<NodeOrdinal>,
    pub subtree_end: NodeOrdinal,
    pub depth: u8,
    pub status: Status,
    pub is_provision: bool,
}

/// Why an outline could not be written. Nodes that do not form an outline are a bug in the builder.
#[derive(Debug, thiserror::Error)]
pub enum OutlineError {
    #[error("{0}")]
    File(SectionFileError),
    #[error("node {ordinal} breaks depth-first order: {what}")]
    NotDepthFirst { ordinal: u32, what: &'static str },
    #[error("two nodes have the id {id}")]
    DuplicateId { id: NodeId },
}

impl From<SectionFileError> for OutlineError {
    fn from(error: SectionFileError) -> Self {
        Self::File(error)
    }
}

/// Writes the outline. Fails if the nodes are not in depth-first order.
pub fn write(dir: &Path, nodes: &[OutlineNode]) -> Result<(), OutlineError> {
    check_depth_first(nodes)?;
    let mut by_id: Vec<u32> = (0..nodes.len() as u32).collect();
    by_id.sort_unstable_by_key(|&ordinal| nodes[ordinal as usize].id);
    if let Some(twins) = by_id.windows(2).find(|pair| nodes[pair[0] as usize].id == nodes[pair[1] as usize].id) {
        return Err(OutlineError::DuplicateId { id: nodes[twins[0] as usize].id });
    }
    let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 3)?;
    out.begin("nodes")?;
    for node in nodes {
        out.write_slice(&[OutlineEntry {
            parent: node.parent.map_or(NO_PARENT, |parent| parent.0),
            subtree_end: node.subtree_end.0,
            depth: node.depth,
            flags: if node.is_provision { IS_PROVISION } else { 0 },
            status: node.status as u8,
            zero: 0,
        }])?;
    }
    out.begin("ids")?;
    for node in nodes {
        out.write(node.id.0.as_bytes())?;
    }
    out.section("by-id", &by_id)?;
    out.finish()?;
    Ok(())
}

fn check_depth_first(nodes: &[OutlineNode]) -> Result<(), OutlineError> {
    let total = nodes.len() as u32;
    // The ancestors of the current node, each with the end of its subtree.
    let mut open: Vec<(u32, u32)> = Vec::new();
    for (ordinal, node) in (0..).zip(nodes) {
        let fail = |what| Err(OutlineError::NotDepthFirst { ordinal, what });
        while open.last().is_some_and(|&(_, end)| end <= ordinal) {
            open.pop();
        }
        let expected_parent = open.last().map(|&(parent, _)| NodeOrdinal(parent));
        let enclosing_end = open.last().map_or(total, |&(_, end)| end);
        if node.parent != expected_parent {
            return fail("its parent is not the open node above it");
        }
        if node.depth as usize != open.len() || node.depth > DEPTH_MAX {
            return fail("its depth is not the number of its ancestors");
        }
        if node.subtree_end.0 <= ordinal || node.subtree_end.0 > enclosing_end {
            return fail("its subtree does not end inside its parent's");
        }
        open.push((ordinal, node.subtree_end.0));
    }
    Ok(())
}

/// The mapped outline. Damaged bytes give wrong results or none, but never a panic.
#[derive(Clone, Debug)]
pub struct Outline {
    nodes: Column<OutlineEntry>,
    ids: Column<[u8; 16]>,
    by_id: Column<u32>,
}

impl Outline {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let outline = Self { nodes: file.column("nodes")?, ids: file.column("ids")?, by_id: file.column("by-id")? };
        let lengths = [outline.nodes.len(), outline.ids.len(), outline.by_id.len()];
        if lengths.iter().any(|&length| length != lengths[0]) || u32::try_from(lengths[0]).is_err() {
            return Err(
                file.damaged(format!("its columns have {lengths:?} entries, but must all have the same number"))
            );
        }
        Ok(outline)
    }

    pub fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn id(&self, node: NodeOrdinal) -> Option<NodeId> {
        self.ids.get(node.index()).map(|bytes| NodeId(uuid::Uuid::from_bytes(*bytes)))
    }

    pub fn ordinal(&self, id: NodeId) -> Option<NodeOrdinal> {
        let key = |&ordinal: &u32| self.ids.get(ordinal as usize).copied().unwrap_or([0xff; 16]);
        let place = self.by_id.binary_search_by_key(id.0.as_bytes(), key).ok()?;
        Some(NodeOrdinal(self.by_id[place])).filter(|found| found.index() < self.nodes.len())
    }

    pub fn parent(&self, node: NodeOrdinal) -> Option<NodeOrdinal> {
        let parent = self.nodes.get(node.index())?.parent;
        // A parent comes before its children. This check also ensures that a walk upwards ends on damaged bytes.
        (parent < node.0).then_some(NodeOrdinal(parent))
    }

    /// The node and everything below it; empty for an ordinal that does not exist.
    pub fn subtree(&self, node: NodeOrdinal) -> OrdinalRange {
        let Some(entry) = self.nodes.get(node.index()) else { return OrdinalRange::default() };
        OrdinalRange::new(node.0, entry.subtree_end.clamp(node.0 + 1, self.len()))
    }

    pub fn depth(&self, node: NodeOrdinal) -> u8 {
        self.nodes.get(node.index()).map_or(0, |entry| entry.depth)
    }

    pub fn is_provision(&self, node: NodeOrdinal) -> bool {
        self.nodes.get(node.index()).is_some_and(|entry| entry.flags & IS_PROVISION != 0)
    }

    pub fn status(&self, node: NodeOrdinal) -> Status {
        self.nodes.get(node.index()).and_then(|entry| Status::from_byte(entry.status)).unwrap_or(Status::InForce)
    }

    /// Ancestors, nearest first.
    pub fn ancestors(&self, node: NodeOrdinal) -> impl Iterator<Item = NodeOrdinal> + '_ {
        std::iter::successors(self.parent(node), |&above| self.parent(above)).take(DEPTH_MAX as usize)
    }

    /// The nodes directly below a node.
    pub fn children(&self, node: NodeOrdinal) -> Siblings<'_> {
        let subtree = self.subtree(node);
        self.top_level(OrdinalRange { start: (subtree.start + 1).min(subtree.end), end: subtree.end })
    }

    /// The nodes of a range that have no ancestor in it, such as the top level of a code body.
    pub fn top_level(&self, range: OrdinalRange) -> Siblings<'_> {
        Siblings { outline: self, next: range.start, end: range.end.min(self.len()) }
    }
}

/// Iterates over siblings by jumping from one subtree end to the next.
#[derive(Clone, Debug)]
pub struct Siblings<'a> {
    outline: &'a Outline,
    next: u32,
    end: u32,
}

impl Iterator for Siblings<'_> {
    type Item = NodeOrdinal;

    fn next(&mut self) -> Option<NodeOrdinal> {
        let here = NodeOrdinal(self.next);
        if self.next >= self.end {
            return None;
        }
        self.next = self.outline.subtree(here).end;
        Some(here)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Random trees, as the parents of nodes in depth-first order. Each node is a child of some node on the current
    /// path.
    fn trees() -> impl Strategy<Value = Vec<Option<u32>>> {
        proptest::collection::vec(any::<prop::sample::Index>(), 0..200).prop_map(|picks| {
            let mut path: Vec<u32> = Vec::new();
            let mut parents = Vec::new();
            for (ordinal, pick) in (0_u32..).zip(picks) {
                path.truncate(pick.index(path.len().min(20) + 1));
                parents.push(path.last().copied());
                path.push(ordinal);
            }
            parents
        })
    }

    fn naive_subtree(parents: &[Option<u32>], root: u32) -> Vec<u32> {
        let is_below = |mut node: u32| loop {
            if node == root {
                return true;
            }
            let Some(parent) = parents[node as usize] else { return false };
            node = parent;
        };
        (0..parents.len() as u32).filter(|&node| is_below(node)).collect()
    }

    fn nodes_of(parents: &[Option<u32>]) -> Vec<OutlineNode> {
        let depth = |mut node: usize| {
            let mut depth = 0;
            while let Some(parent) = parents[node] {
                node = parent as usize;
                depth += 1;
            }
            depth
        };
        (0..parents.len())
            .map(|node| OutlineNode {
                id: NodeId::from_source_key(&format!("n{node}")),
                parent: parents[node].map(NodeOrdinal),
                subtree_end: NodeOrdinal(naive_subtree(parents, node as u32).last().unwrap() + 1),
                depth: depth(node),
                status: Status::ALL[node % Status::ALL.len()],
                is_provision: node % 3 == 0,
            })
            .collect()
    }

    proptest! {
        #[test]
        fn ranges_equal_a_naive_walk_of_the_tree(parents in trees()) {
            let dir = tempfile::tempdir().unwrap();
            let nodes = nodes_of(&parents);
            write(dir.path(), &nodes).unwrap();
            let outline = Outline::open(dir.path()).unwrap();
            prop_assert_eq!(outline.len() as usize, parents.len());
            for (ordinal, node) in (0..).zip(&nodes) {
                let here = NodeOrdinal(ordinal);
                prop_assert_eq!(outline.subtree(here).iter().collect::<Vec<_>>(), naive_subtree(&parents, ordinal));
                let children: Vec<_> = (0..parents.len() as u32).filter(|&c| parents[c as usize] == Some(ordinal)).collect();
                prop_assert_eq!(outline.children(here).map(|c| c.0).collect::<Vec<_>>(), children);
                prop_assert_eq!(outline.parent(here), node.parent);
                prop_assert_eq!(outline.depth(here), node.depth);
                prop_assert_eq!(outline.ancestors(here).count(), node.depth as usize);
                prop_assert_eq!(outline.status(here), node.status);
                prop_assert_eq!(outline.is_provision(here), node.is_provision);
                prop_assert_eq!(outline.ordinal(node.id), Some(here));
                prop_assert_eq!(outline.id(here), Some(node.id));
            }
            let roots: Vec<_> = (0..parents.len() as u32).filter(|&n| parents[n as usize].is_none()).collect();
            let all = OrdinalRange::new(0, outline.len());
            prop_assert_eq!(outline.top_level(all).map(|n| n.0).collect::<Vec<_>>(), roots);
            prop_assert_eq!(outline.ordinal(NodeId::from_source_key("absent")), None);
        }

        #[test]
        fn nodes_out_of_order_are_refused(parents in trees(), pick in any::<prop::sample::Index>()) {
            prop_assume!(parents.len() > 1);
            let mut nodes = nodes_of(&parents);
            let broken = pick.index(nodes.len());
            nodes[broken].depth += 1;
            prop_assert!(check_depth_first(&nodes).is_err());
        }
    }
}
