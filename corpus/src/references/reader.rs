//! Reads the file: two tables of lists. Every bound is checked.

use std::path::Path;

use super::file::{FILE_NAME, KIND};
use crate::ids::NodeOrdinal;
use crate::section_file::{Column, SectionFile, SectionFileError};

/// The mapped references. A damaged list is empty or contains wrong nodes.
#[derive(Clone, Debug)]
pub struct References {
    outgoing: AdjacencyLists,
    incoming: AdjacencyLists,
}

impl References {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let references = Self {
            outgoing: AdjacencyLists::open(&file, "out", "outat")?,
            incoming: AdjacencyLists::open(&file, "in", "inat")?,
        };
        let Self { outgoing, incoming } = &references;
        if outgoing.starts.len() != incoming.starts.len() || outgoing.nodes.len() != incoming.nodes.len() {
            let what = format!(
                "it has {} outgoing references of {} nodes, but {} incoming references of {} nodes",
                outgoing.nodes.len(),
                outgoing.starts.len() - 1,
                incoming.nodes.len(),
                incoming.starts.len() - 1
            );
            return Err(file.damaged(what));
        }
        Ok(references)
    }

    pub fn node_count(&self) -> usize {
        self.outgoing.starts.len() - 1
    }

    /// The total number of references.
    pub fn count(&self) -> usize {
        self.outgoing.nodes.len()
    }

    /// The provisions that a node's text cites, in order of mention.
    pub fn outgoing(&self, node: NodeOrdinal) -> impl ExactSizeIterator<Item = NodeOrdinal> + '_ {
        self.outgoing.of(node)
    }

    /// The provisions whose text cites a node, in the order of the code.
    pub fn incoming(&self, node: NodeOrdinal) -> impl ExactSizeIterator<Item = NodeOrdinal> + '_ {
        self.incoming.of(node)
    }
}

/// The lists of all nodes, one after another.
#[derive(Clone, Debug)]
struct AdjacencyLists {
    nodes: Column<u32>,
    /// The start of each list, followed by the end of the last one.
    starts: Column<u64>,
}

impl AdjacencyLists {
    fn open(file: &SectionFile, nodes: &'static str, starts: &'static str) -> Result<Self, SectionFileError> {
        let lists = Self { nodes: file.column(nodes)?, starts: file.column(starts)? };
        let counted = lists.starts.last().copied();
        if lists.starts.first() != Some(&0) || counted != Some(lists.nodes.len() as u64) {
            let what = format!(
                "section {nodes} contains {} references, but section {starts} counts {counted:?}",
                lists.nodes.len()
            );
            return Err(file.damaged(what));
        }
        Ok(lists)
    }

    fn of(&self, node: NodeOrdinal) -> impl ExactSizeIterator<Item = NodeOrdinal> + '_ {
        let place = node.index();
        let bounds = self.starts.get(place).zip(place.checked_add(1).and_then(|next| self.starts.get(next)));
        let list =
            bounds.and_then(|(&start, &end)| self.nodes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
        list.unwrap_or_default().iter().map(|&node| NodeOrdinal(node))
    }
}
