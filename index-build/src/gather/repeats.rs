//! Nodes that share a key: wordings of one provision, exact repeats, and different provisions.

use super::{GatheredContent, Gatherer, repeated_key};
use crate::content::OnRepeat;
use crate::mistakes::Mistakes;
use crate::report::{WarningKind, Warnings};
use crate::spool::SpoolError;
use crate::wordings;

/// The result for a node that an importer added.
#[derive(Clone, Debug)]
pub(super) enum NodeOutcome {
    Kept {
        wordings: Vec<GatheredContent>,
        repeats: Vec<GatheredContent>,
    },
    /// The node is a part of another node that is kept.
    Joined,
}

impl Default for NodeOutcome {
    fn default() -> Self {
        Self::Kept { wordings: Vec::new(), repeats: Vec::new() }
    }
}

impl Gatherer {
    /// Reconciles nodes that share a key: joins wordings, drops exact repeats, and gives the rest
    /// unique keys. Returns the outcome of every node.
    pub(super) fn reconcile_repeats(
        &mut self,
        warnings: &mut Warnings,
        mistakes: &mut Mistakes,
    ) -> Result<Vec<NodeOutcome>, SpoolError> {
        let mut by_key: Vec<u32> = (0..self.nodes.len() as u32).collect();
        by_key.sort_by(|&a, &b| self.nodes[a as usize].key.cmp(&self.nodes[b as usize].key));
        let mut outcomes = vec![NodeOutcome::default(); self.nodes.len()];
        let groups: Vec<Vec<u32>> = by_key
            .chunk_by(|&a, &b| self.nodes[a as usize].key == self.nodes[b as usize].key)
            .filter(|group| group.len() > 1)
            .map(<[u32]>::to_vec)
            .collect();
        for group in groups {
            let refusing = group.iter().copied().filter(|&n| self.nodes[n as usize].on_repeat == OnRepeat::Refuse);
            if let Some(second) = refusing.max() {
                let first = group.iter().copied().filter(|&n| n != second).min().unwrap_or(second);
                mistakes
                    .add(self.position(second), repeated_key(&self.nodes[second as usize].key, &self.position(first)));
            } else {
                self.reconcile_group(&group, &mut outcomes, warnings)?;
            }
        }
        Ok(outcomes)
    }

    fn reconcile_group(
        &mut self,
        group: &[u32],
        outcomes: &mut [NodeOutcome],
        warnings: &mut Warnings,
    ) -> Result<(), SpoolError> {
        let group = self.without_contents_lines(group, outcomes, warnings)?;
        let mut members = Vec::with_capacity(group.len());
        for &node in &group {
            let skeleton = &self.nodes[node as usize];
            let mut content = self.content(node).read(&self.spool)?;
            if let Some(names) = &skeleton.names {
                content.citation = names.citation(&content.citation);
            }
            let is_wording = skeleton.on_repeat == OnRepeat::Wording;
            let time = wordings::time_of(&content);
            members.push(wordings::KeyGroupMember { node, parent: skeleton.parent, content, time, is_wording });
        }
        let resolved = wordings::reconcile(members);
        for (rank, entry) in resolved.kept.iter().enumerate() {
            let contents = |nodes: &[u32]| nodes.iter().map(|&node| self.content(node)).collect();
            outcomes[entry.node as usize] =
                NodeOutcome::Kept { wordings: contents(&entry.wordings), repeats: contents(&entry.repeats) };
            for &wording in &entry.wordings {
                outcomes[wording as usize] = NodeOutcome::Joined;
                let what = format!("kept as another wording of '{}' at {}", entry.citation, self.position(entry.node));
                warnings.add(WarningKind::SecondWording, self.position(wording), what);
            }
            for &repeat in &entry.repeats {
                outcomes[repeat as usize] = NodeOutcome::Joined;
                let content = self.spool.read(self.nodes[repeat as usize].content)?;
                self.leave_out("provisions that repeat another one word for word", &content);
                let what = format!("repeats {} word for word; kept once", self.position(entry.node));
                warnings.add(WarningKind::RepeatedProvision, self.position(repeat), what);
            }
            if rank > 0 {
                let key = format!("{}~{}", self.nodes[entry.node as usize].key, rank + 1);
                self.nodes[entry.node as usize].key = key;
            }
            // Warns only if the citations are equal too: a source may give several citations one key.
            let same_citation =
                |other: &&wordings::KeptNode| wordings::is_same_citation(&other.citation, &entry.citation);
            if let Some(first) = resolved.kept[..rank].iter().find(same_citation).filter(|_| entry.is_provision) {
                let first = self.position(first.node);
                let what = format!(
                    "'{}' is also the citation of another provision, at {first}; both are kept",
                    entry.citation
                );
                warnings.add(WarningKind::SharedCitation, self.position(entry.node), what);
            }
        }
        Ok(())
    }

    /// Drops the lines of contents pages if the group has the provision itself.
    fn without_contents_lines(
        &mut self,
        group: &[u32],
        outcomes: &mut [NodeOutcome],
        warnings: &mut Warnings,
    ) -> Result<Vec<u32>, SpoolError> {
        let gives_way = |node: &u32| self.nodes[*node as usize].on_repeat == OnRepeat::GiveWay;
        let (lines, whole): (Vec<u32>, Vec<u32>) = group.iter().copied().partition(gives_way);
        let Some(&provision) = whole.first() else { return Ok(lines) };
        for line in lines {
            outcomes[line as usize] = NodeOutcome::Joined;
            let content = self.spool.read(self.nodes[line as usize].content)?;
            self.leave_out("lines of contents pages", &content);
            let what = format!("a line of a contents page; the provision itself is at {}", self.position(provision));
            warnings.add(WarningKind::JunkEntry, self.position(line), what);
        }
        Ok(whole)
    }
}
