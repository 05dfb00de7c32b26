//! Gathers the nodes of the importers, which arrive in any order, into trees in code order.
//!
//! Only the structure of each node (its keys, its position in the source, and where its content is
//! in the spool) stays in memory. Headings, texts and notes go to a spool file at once, and are
//! read back one by one when the snapshot is written. Memory therefore grows with the number of
//! nodes, not with the length of the law.

mod former_numbers;
mod named_sunsets;
mod repeats;
mod sunsets;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use hornbook_corpus::outline::DEPTH_MAX;
use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::account::{CREDIT_LABELS, SourceWords};
use crate::content::{Content, NewNode, NodeHandle, OnRepeat};
use crate::effect::{self, Effect};
use crate::former_number::FormerNumber;
use crate::includes::{Include, Includes};
use crate::mistakes::Mistakes;
use crate::named_sunset::NamedSunset;
use crate::naming::NameParts;
use crate::order::SortKey;
use crate::plan_fit::PlanFitStats;
use crate::report::{SourcePosition, WarningKind, Warnings};
use crate::spool::{Spool, SpoolError, SpoolSpan};
use crate::sunset::ContainerSunset;

/// Reason for leaving out the words of a container.
const IN_SEVERAL_DOCUMENTS: &str = "containers that several documents contain";

#[derive(Clone, Debug)]
struct NodeStructure {
    parent: Option<NodeHandle>,
    key: String,
    sort: SortKey,
    on_repeat: OnRepeat,
    is_provision: bool,
    file: u32,
    line: Option<u32>,
    content: SpoolSpan,
    names: Option<Box<NameParts>>,
    /// For a container: the effective time that its heading, or a provision in it, states for everything in it.
    effect: Option<Box<Effect>>,
}

/// Collects the nodes of one code body after another.
#[derive(Debug)]
pub struct Gatherer {
    spool: Spool,
    files: Vec<String>,
    nodes: Vec<NodeStructure>,
    seen: HashMap<NodeHandle, u32>,
    /// The first provision with each citation, for sources that number their nodes themselves.
    cited: HashMap<NodeHandle, u32>,
    /// Containers that are added when the code body ends, unless the source states them.
    inferred: IndexMap<NodeHandle, NewNode>,
    /// Whether an effective time is stated for any container.
    has_effects: bool,
    /// The provisions that end a container around them.
    sunsets: Vec<(u32, ContainerSunset)>,
    /// The provisions that end other law by its number.
    named_sunsets: Vec<(u32, NamedSunset)>,
    former_numbers: Vec<FormerNumber>,
    /// The former citations of provisions that tables state.
    former_of: HashMap<u32, Vec<String>>,
    includes: Includes,
    provisions: u64,
    /// Words of nodes that are not kept because another node contains them, by source.
    left_out: BTreeMap<u16, SourceWords>,
    fits: PlanFitStats,
}

/// One node of a finished tree, in depth-first order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheredNode {
    pub key: String,
    pub parent: Option<u32>,
    pub subtree_end: u32,
    pub depth: u8,
    pub is_provision: bool,
    pub content: GatheredContent,
    /// Further nodes with the same citation that are other wordings of this node.
    pub wordings: Vec<GatheredContent>,
    /// Nodes that repeat one of its wordings. Their notes and citations are kept.
    pub repeats: Vec<GatheredContent>,
    /// The names that complete its citation, if the importer did not know them all.
    pub names: Option<Box<NameParts>>,
}

/// Content in the spool, and what is stated about it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheredContent {
    span: SpoolSpan,
    /// The effective time that is stated for its containers.
    container: Option<Box<Effect>>,
    /// The former citations that a table states.
    former_citations: Option<Box<[String]>>,
}

impl GatheredContent {
    pub fn bytes(&self) -> usize {
        self.span.bytes()
    }

    pub fn read(&self, spool: &Spool) -> Result<Content, SpoolError> {
        let mut content = Content { container: self.container.clone(), ..spool.read(self.span)? };
        content.former_citations.extend(self.former_citations.iter().flatten().cloned());
        Ok(content)
    }
}

impl Gatherer {
    pub fn new(spool_dir: &Path) -> Result<Self, SpoolError> {
        Ok(Self {
            spool: Spool::create(spool_dir)?,
            files: Vec::new(),
            nodes: Vec::new(),
            seen: HashMap::new(),
            cited: HashMap::new(),
            inferred: IndexMap::new(),
            has_effects: false,
            sunsets: Vec::new(),
            named_sunsets: Vec::new(),
            former_numbers: Vec::new(),
            former_of: HashMap::new(),
            includes: Includes::default(),
            provisions: 0,
            left_out: BTreeMap::new(),
            fits: PlanFitStats::default(),
        })
    }

    /// Whether a node with this handle was already added. Importers that make containers from paths call this.
    pub fn has(&self, handle: NodeHandle) -> bool {
        self.seen.contains_key(&handle)
    }

    /// Records where a document says another document belongs.
    pub fn include(&mut self, include: Include, mistakes: &mut Mistakes) {
        self.includes.add(include, mistakes);
    }

    /// Adds a container that the source implies but does not state. If nothing states it, the first
    /// one with this handle is used, with the notes of all.
    pub fn infer(&mut self, node: NewNode) {
        let NewNode { handle, mut content, position, .. } = match self.inferred.entry(node.handle) {
            Entry::Vacant(place) => {
                place.insert(node);
                return;
            }
            Entry::Occupied(_) => node,
        };
        let Some(first) = self.inferred.get_mut(&handle) else { return };
        let is_same_file = first.position.file == position.file;
        let are_known = first.content.notes.starts_with(&content.notes) && !is_same_file;
        if first.content.source == content.source && !are_known {
            first.content.notes.append(&mut content.notes);
        }
        // A document infers a container for each section in it, but contains the heading only once.
        if is_same_file {
            content.heading.clear();
        }
        self.leave_out(IN_SEVERAL_DOCUMENTS, &content);
    }

    fn add_inferred(&mut self, mistakes: &mut Mistakes) -> Result<(), SpoolError> {
        for (handle, node) in std::mem::take(&mut self.inferred) {
            if self.has(handle) {
                self.leave_out(IN_SEVERAL_DOCUMENTS, &node.content);
            } else {
                self.add(node, mistakes)?;
            }
        }
        Ok(())
    }

    /// The node that a parent handle refers to. A cycle of includes has no parent.
    fn parent_of(&self, node: u32) -> Result<Option<u32>, ParentMissing> {
        let Some(mut handle) = self.nodes[node as usize].parent else { return Ok(None) };
        for _ in 0..=DEPTH_MAX {
            match (self.seen.get(&handle), self.includes.place_of(handle)) {
                (Some(&parent), _) => return Ok(Some(parent)),
                (None, Some(Some(next))) => handle = next,
                (None, Some(None)) => return Ok(None),
                (None, None) => return Err(ParentMissing),
            }
        }
        Err(ParentMissing)
    }

    /// Counts a provision for the statistics that show whether the plan of its source fits.
    pub fn count_fit(&mut self, content: &Content, position: &SourcePosition) {
        self.fits.count(content, position);
    }

    /// The number of provisions added so far, in all code bodies.
    pub fn provisions(&self) -> u64 {
        self.provisions
    }

    /// Adds a node. A repeated handle is a mistake of the source, unless the node may be shared.
    pub fn add(&mut self, node: NewNode, mistakes: &mut Mistakes) -> Result<(), SpoolError> {
        let NewNode { handle, parent, key, sort, on_repeat, mut content, position } = node;
        if let Some(&first) = self.seen.get(&handle) {
            if on_repeat == OnRepeat::Share {
                self.leave_out(IN_SEVERAL_DOCUMENTS, &content);
                return Ok(());
            }
            mistakes.add(position, repeated_key(&key, &self.position(first)));
            return Ok(());
        }
        if self.files.last() != Some(&position.file) {
            self.files.push(position.file);
        }
        self.seen.insert(handle, self.nodes.len() as u32);
        let is_provision = content.text.is_some();
        self.provisions += u64::from(is_provision);
        let names = content.name_parts.take().map(Box::new);
        let (of_heading, _) = if is_provision { Default::default() } else { effect::of_heading(&content.heading) };
        let effect = of_heading.has_limits().then(|| Box::new(of_heading));
        self.has_effects |= effect.is_some();
        if let Some(law) = content.text_of_law() {
            let node = self.nodes.len() as u32;
            self.sunsets.extend(ContainerSunset::in_text(law).map(|sunset| (node, sunset)));
            self.named_sunsets.extend(NamedSunset::all_in(law).into_iter().map(|sunset| (node, sunset)));
        }
        let content = self.spool.push(&content)?;
        let file = self.files.len() as u32 - 1;
        let line = position.line;
        self.nodes.push(NodeStructure {
            parent,
            key,
            sort,
            on_repeat,
            is_provision,
            file,
            line,
            content,
            names,
            effect,
        });
        Ok(())
    }

    /// Where the citation of the next node already occurs in this code body, if it does.
    pub fn earlier_citation_position(&mut self, citation: &str) -> Option<SourcePosition> {
        let folded = citation.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let next = self.nodes.len() as u32;
        let first = *self.cited.entry(NodeHandle::new("citation", &folded)).or_insert(next);
        (first < next).then(|| self.position(first))
    }

    fn position(&self, node: u32) -> SourcePosition {
        let skeleton = &self.nodes[node as usize];
        SourcePosition { file: self.files[skeleton.file as usize].clone(), line: skeleton.line }
    }

    /// Ends a code body and returns its nodes as one tree in code order, numbered from zero. If the
    /// nodes do not form a tree, the reasons are added to `mistakes` and the tree is empty.
    pub fn finish_body(
        &mut self,
        warnings: &mut Warnings,
        mistakes: &mut Mistakes,
    ) -> Result<Vec<GatheredNode>, SpoolError> {
        self.add_inferred(mistakes)?;
        self.spool.flush()?;
        self.fits.report(warnings);
        self.check_includes(mistakes);
        self.complete_names();
        self.apply_former_numbers(warnings);
        self.end_containers(warnings)?;
        self.end_named_law(warnings)?;
        let outcomes = self.reconcile_repeats(warnings, mistakes)?;
        let tree = self.order_tree(&outcomes, mistakes)?;
        self.warn_of_unknown_effects(warnings)?;
        self.discard_body();
        Ok(tree)
    }

    fn warn_of_unknown_effects(&self, warnings: &mut Warnings) -> Result<(), SpoolError> {
        for (node, skeleton) in (0_u32..).zip(&self.nodes) {
            if let Some(remark) =
                skeleton.effect.as_ref().filter(|effect| effect.uncertain).map(|effect| &effect.remark)
            {
                let heading = self.spool.read(skeleton.content)?.heading;
                let what = format!(
                    "'{heading}': '{}' does not show when its sections are law; their validity is marked as uncertain",
                    remark.as_deref().unwrap_or_default()
                );
                warnings.add(WarningKind::UncertainValidity, self.position(node), what);
            }
        }
        Ok(())
    }

    /// Discards the nodes of the current code body.
    pub fn discard_body(&mut self) {
        self.nodes.clear();
        self.seen.clear();
        self.cited.clear();
        self.inferred.clear();
        self.has_effects = false;
        self.sunsets.clear();
        self.named_sunsets.clear();
        self.former_numbers.clear();
        self.former_of.clear();
        self.includes.clear();
        self.files.clear();
    }

    fn leave_out(&mut self, reason: &'static str, content: &Content) {
        let words = self.left_out.entry(content.source).or_default();
        for content in std::iter::once(content).chain(&content.wordings) {
            let own = [Some(&content.heading), content.text.as_ref(), content.source_credit.as_ref()];
            let notes = content.notes.iter().flat_map(|note| [&note.topic, &note.text]);
            for text in own.into_iter().flatten().chain(notes) {
                words.leave_out(reason, text);
            }
            if content.source_credit.is_some() {
                CREDIT_LABELS.iter().for_each(|lead| words.leave_out(reason, lead));
            }
        }
    }

    /// Returns and clears the words of nodes that were not kept because another node contains them, by source.
    pub(crate) fn take_left_out(&mut self) -> BTreeMap<u16, SourceWords> {
        std::mem::take(&mut self.left_out)
    }

    pub fn into_spool(self) -> Spool {
        self.spool
    }

    fn check_includes(&self, mistakes: &mut Mistakes) {
        if !self.includes.is_empty() {
            let named: HashSet<NodeHandle> = self.nodes.iter().filter_map(|node| node.parent).collect();
            self.includes.check(&named, mistakes);
        }
    }

    /// Completes keys and numbers with the names of the containers around each node.
    fn complete_names(&mut self) {
        let whole: Vec<Option<NameParts>> = (0..self.nodes.len() as u32)
            .map(|node| self.nodes[node as usize].names.as_ref().map(|names| names.completed(self.names_above(node))))
            .collect();
        for (node, names) in self.nodes.iter_mut().zip(whole) {
            if let Some(names) = names {
                node.key = names.key(&node.key);
                if node.sort.is_empty() {
                    node.sort = names.sort();
                }
                node.names = Some(Box::new(names));
            }
        }
    }

    /// The names that the containers around a node add, outermost first. The number of steps is
    /// limited, so a cycle ends.
    fn names_above(&self, node: u32) -> impl Iterator<Item = &NameParts> {
        let above = std::iter::successors(Some(node), |&node| self.parent_of(node).ok().flatten());
        let mut chain: Vec<u32> = above.skip(1).take(usize::from(DEPTH_MAX)).collect();
        chain.reverse();
        chain.into_iter().filter_map(|node| self.nodes[node as usize].names.as_deref())
    }

    /// The content of a node with what its containers and tables state.
    fn content(&self, node: u32) -> GatheredContent {
        GatheredContent {
            span: self.nodes[node as usize].content,
            container: if self.has_effects { self.effect_of_containers(node) } else { None },
            former_citations: self.former_of.get(&node).map(|citations| citations.clone().into()),
        }
    }

    /// The effective time that the containers around a node state. The number of steps is limited, so a cycle ends.
    fn effect_of_containers(&self, node: u32) -> Option<Box<Effect>> {
        let above = std::iter::successors(Some(node), |&node| self.parent_of(node).ok().flatten());
        let effects = above.take(usize::from(DEPTH_MAX)).filter_map(|node| self.nodes[node as usize].effect.clone());
        effects.reduce(|inner, outer| Box::new(inner.within(&outer)))
    }
}

fn repeated_key(key: &str, first: &SourcePosition) -> String {
    format!("the key '{key}' is already used at {first}; give every node a key of its own")
}

/// No node has the handle that a node names as its parent.
struct ParentMissing;
