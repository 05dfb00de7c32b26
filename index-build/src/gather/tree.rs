//! The tree of a code body in code order.

use hornbook_corpus::outline::DEPTH_MAX;

use super::repeats::NodeOutcome;
use super::{GatheredNode, Gatherer, ParentMissing};
use crate::mistakes::Mistakes;
use crate::order::SortKey;
use crate::spool::SpoolError;

impl Gatherer {
    pub(super) fn order_tree(
        &self,
        outcomes: &[NodeOutcome],
        mistakes: &mut Mistakes,
    ) -> Result<Vec<GatheredNode>, SpoolError> {
        let stays = |node: u32| matches!(outcomes[node as usize], NodeOutcome::Kept { .. });
        let all = || (0..self.nodes.len() as u32).filter(|&node| stays(node));
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for node in all() {
            match self.parent_of(node) {
                Ok(None) => roots.push(node),
                Ok(Some(parent)) => children[parent as usize].push(node),
                Err(ParentMissing) => {
                    mistakes.add(self.position(node), self.missing_parent(node)?);
                    // The children of this node should not be reported as well.
                    roots.push(node);
                }
            }
        }
        let reached = preorder(&roots, &children);
        if let Some(lost) = all().find(|&node| !reached.contains(&node)) {
            let key = &self.nodes[lost as usize].key;
            let what = format!("'{key}' is its own ancestor; follow the parents from here and break the cycle");
            mistakes.add(self.position(lost), what);
        }
        if !mistakes.is_empty() {
            return Ok(Vec::new());
        }
        let sort = self.sort_keys(&reached, &children);
        let in_code_order = |a: &u32, b: &u32| {
            let key = |n: u32| (&sort[n as usize], &self.nodes[n as usize].sort, &self.nodes[n as usize].key);
            key(*a).cmp(&key(*b))
        };
        roots.sort_by(in_code_order);
        children.iter_mut().for_each(|siblings| siblings.sort_by(in_code_order));
        Ok(self.number(&preorder(&roots, &children), outcomes, mistakes))
    }

    fn missing_parent(&self, node: u32) -> Result<String, SpoolError> {
        let skeleton = &self.nodes[node as usize];
        let named = self.spool.read(skeleton.content)?.parent_key.unwrap_or_default();
        Ok(format!(
            "the parent '{named}' of '{}' does not exist; add a line with the key '{named}' to a source of this code body, \
             or correct 'parent'",
            skeleton.key
        ))
    }

    /// A container without its own sort key sorts as the first provision in it.
    fn sort_keys(&self, reached: &indexmap::IndexSet<u32>, children: &[Vec<u32>]) -> Vec<SortKey> {
        let mut sort: Vec<SortKey> = self.nodes.iter().map(|node| node.sort.clone()).collect();
        // Parents come before children, so in reverse order every child is done before its parent.
        for &node in reached.iter().rev() {
            if self.nodes[node as usize].is_provision || !sort[node as usize].is_empty() {
                continue;
            }
            let first =
                children[node as usize].iter().map(|&child| &sort[child as usize]).filter(|key| !key.is_empty()).min();
            if let Some(first) = first.cloned() {
                sort[node as usize] = first;
            }
        }
        sort
    }

    fn number(
        &self,
        preorder: &indexmap::IndexSet<u32>,
        outcomes: &[NodeOutcome],
        mistakes: &mut Mistakes,
    ) -> Vec<GatheredNode> {
        let mut tree: Vec<GatheredNode> = Vec::with_capacity(preorder.len());
        for (ordinal, &node) in (0_u32..).zip(preorder) {
            let skeleton = &self.nodes[node as usize];
            let parent = self.parent_of(node).ok().flatten().and_then(|parent| preorder.get_index_of(&parent));
            let depth = parent.map_or(0, |parent: usize| tree[parent].depth + 1);
            if depth > DEPTH_MAX {
                let what = format!("'{}' is nested more than {DEPTH_MAX} levels deep", skeleton.key);
                mistakes.add(self.position(node), what);
                return Vec::new();
            }
            let (wordings, repeats) = match &outcomes[node as usize] {
                NodeOutcome::Kept { wordings, repeats } => (wordings.clone(), repeats.clone()),
                NodeOutcome::Joined => (Vec::new(), Vec::new()),
            };
            tree.push(GatheredNode {
                key: skeleton.key.clone(),
                parent: parent.map(|parent| parent as u32),
                subtree_end: ordinal + 1,
                depth,
                is_provision: skeleton.is_provision,
                content: self.content(node),
                wordings,
                repeats,
                names: skeleton.names.clone(),
            });
        }
        for node in (0..tree.len()).rev() {
            if let Some(parent) = tree[node].parent {
                tree[parent as usize].subtree_end = tree[parent as usize].subtree_end.max(tree[node].subtree_end);
            }
        }
        tree
    }
}

/// Nodes reachable from the roots, each before its descendants.
fn preorder(roots: &[u32], children: &[Vec<u32>]) -> indexmap::IndexSet<u32> {
    let mut order = indexmap::IndexSet::with_capacity(children.len());
    let mut open: Vec<u32> = roots.iter().rev().copied().collect();
    while let Some(node) = open.pop() {
        order.insert(node);
        open.extend(children[node as usize].iter().rev());
    }
    order
}
