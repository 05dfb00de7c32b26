//! Finds titles, chapters and other containers by any of their names.

use std::collections::HashMap;

use hornbook_corpus::citation::{BodyRef, Container, Level, NamedContainer};
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::snapshot::Snapshot;

/// Every container whose own citation names its levels, by the innermost of them.
pub(super) struct ContainerIndex {
    containers: Vec<(Container, NodeOrdinal)>,
    by_innermost: HashMap<(BodyRef, Level, Box<str>), Vec<usize>>,
}

impl ContainerIndex {
    pub(super) fn of(snapshot: &Snapshot) -> Result<Self, NodesError> {
        let mut index = Self { containers: Vec::new(), by_innermost: HashMap::new() };
        let grammar = snapshot.grammar();
        let nodes = (0..snapshot.outline.len()).map(NodeOrdinal);
        for node in nodes.filter(|&node| !snapshot.outline.is_provision(node)) {
            let Some(named) = grammar.parse_container(snapshot.cards.get(node)?.citation) else { continue };
            let (level, number) = named.innermost;
            let of_name = index.by_innermost.entry((named.container.body, level, number)).or_default();
            of_name.push(index.containers.len());
            index.containers.push((named.container, node));
        }
        Ok(index)
    }

    /// The containers that a name means: those with just these levels, else those that have further levels around them.
    pub(super) fn find(&self, named: &NamedContainer) -> Vec<NodeOrdinal> {
        let (level, number) = named.innermost.clone();
        let of_name = self.by_innermost.get(&(named.container.body, level, number));
        let meant = of_name.into_iter().flatten().filter_map(|&place| self.containers.get(place));
        let meant: Vec<&(Container, NodeOrdinal)> =
            meant.filter(|(container, _)| named.container.is_named_within(container)).collect();
        let exact = meant.iter().filter(|(container, _)| *container == named.container);
        let exact: Vec<NodeOrdinal> = exact.map(|&&(_, node)| node).collect();
        if exact.is_empty() { meant.iter().map(|&&(_, node)| node).collect() } else { exact }
    }
}
