//! Gathers the nodes of the importers, which come in any order, into trees in code order.
//!
//! Only the structure of each node (its keys, its position in the source, and where its content is in the spool) stays
//! in memory. Headings, texts and notes go to a spool file at once, and are read back one by one when the snapshot is
//! written. Memory therefore grows with the number of nodes, never with the length of the law.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use hornbook_corpus::outline::{DEPTH_MAX, Status};
use serde::{Deserialize, Serialize};

use crate::order::SortKey;
use crate::report::{Place, WarningKind, Warnings};
use crate::wordings;

/// What an importer knows of a node; everything but the skeleton's share goes to the spool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    pub citation: String,
    pub heading: String,
    pub level: String,
    pub number: Option<String>,
    pub status: Option<Status>,
    /// Absent on a pure container.
    pub text: Option<String>,
    pub notes: Vec<ContentNote>,
    pub source_credit: Option<String>,
    pub tags: Vec<String>,
    pub former_citations: Vec<String>,
    pub parallel_citations: Vec<String>,
    pub effective_from: Option<String>,
    pub effective_to: Option<String>,
    pub wordings: Vec<ContentWording>,
    pub source_url: Option<String>,
    pub current_through: Option<String>,
    /// Where in the source's own files it stands, to order what is otherwise alike.
    pub reference: String,
    /// Index into the catalogue's sources.
    pub source: u16,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentNote {
    pub topic: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentWording {
    pub label: String,
    pub effective_from: Option<String>,
    pub effective_to: Option<String>,
    pub text: String,
}

/// What a node is called while its tree is not complete: a hash, so that millions of handles cost little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u128);

impl Handle {
    /// `name` must be unique within its code body.
    pub fn new(body_key: &str, name: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(body_key.as_bytes());
        hasher.update(&[0]);
        hasher.update(name.as_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        Self(u128::from_le_bytes(bytes))
    }
}

/// How a source wants two nodes of one key to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRepeat {
    /// The source numbers its nodes itself: a second one is an error.
    Refuse,
    /// The key was made from a citation, which real sources repeat: wordings are joined, others kept apart.
    Reconcile,
}

/// A node as an importer hands it over.
#[derive(Debug)]
pub struct NewNode {
    pub handle: Handle,
    pub parent: Option<Handle>,
    /// The stable key its id is made from.
    pub key: String,
    /// How it sorts among its siblings; an empty key lets what is below it decide.
    pub sort: SortKey,
    pub on_repeat: OnRepeat,
    pub content: Content,
    pub place: Place,
}

/// Why nodes do not make a corpus.
#[derive(Debug)]
pub enum GatherError {
    Spool(io::Error),
    SpoolDamaged(serde_json::Error),
    DuplicateKey { place: Place, key: String, first: Place },
    NoParent { place: Place, key: String },
    Cycle { place: Place, key: String },
    TooDeep { place: Place, key: String },
}

impl fmt::Display for GatherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spool(error) => write!(f, "cannot use the spool file in the output folder: {error}"),
            Self::SpoolDamaged(error) => write!(f, "the spool file does not read back: {error}"),
            Self::DuplicateKey { place, key, first } => {
                write!(f, "{place}: the key '{key}' stands already at {first}; give every node a key of its own")
            }
            Self::NoParent { place, key } => {
                write!(
                    f,
                    "{place}: the parent of '{key}' is in none of the code body's sources; add it or correct 'parent'"
                )
            }
            Self::Cycle { place, key } => {
                write!(f, "{place}: '{key}' is its own ancestor; follow its parents and break the circle")
            }
            Self::TooDeep { place, key } => write!(f, "{place}: '{key}' lies deeper than {DEPTH_MAX} levels"),
        }
    }
}

impl std::error::Error for GatherError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Spool(error) => Some(error),
            Self::SpoolDamaged(error) => Some(error),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
struct Skeleton {
    parent: Option<Handle>,
    key: String,
    sort: SortKey,
    on_repeat: OnRepeat,
    is_provision: bool,
    file: u32,
    line: Option<u32>,
    content: SpoolSpan,
}

/// Where a node's content lies in the spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpoolSpan {
    offset: u64,
    length: u32,
}

impl SpoolSpan {
    pub fn bytes(self) -> usize {
        self.length as usize
    }
}

/// Contents on disk: appended while importing, read back in code order.
#[derive(Debug)]
pub struct Spool {
    out: BufWriter<File>,
    position: u64,
}

impl Spool {
    fn create(dir: &Path) -> Result<Self, GatherError> {
        let file = tempfile::tempfile_in(dir).map_err(GatherError::Spool)?;
        Ok(Self { out: BufWriter::with_capacity(1 << 20, file), position: 0 })
    }

    fn push(&mut self, content: &Content) -> Result<SpoolSpan, GatherError> {
        let bytes = serde_json::to_vec(content).map_err(GatherError::SpoolDamaged)?;
        self.out.write_all(&bytes).map_err(GatherError::Spool)?;
        let span = SpoolSpan { offset: self.position, length: bytes.len() as u32 };
        self.position += bytes.len() as u64;
        Ok(span)
    }

    fn flush(&mut self) -> Result<(), GatherError> {
        self.out.flush().map_err(GatherError::Spool)
    }

    pub fn read(&self, span: SpoolSpan) -> Result<Content, GatherError> {
        let mut bytes = vec![0; span.length as usize];
        self.out.get_ref().read_exact_at(&mut bytes, span.offset).map_err(GatherError::Spool)?;
        serde_json::from_slice(&bytes).map_err(GatherError::SpoolDamaged)
    }
}

/// Takes nodes of one code body after another.
#[derive(Debug)]
pub struct Gatherer {
    spool: Spool,
    files: Vec<String>,
    nodes: Vec<Skeleton>,
    seen: HashMap<Handle, u32>,
}

/// One node of a finished tree, in depth-first order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheredNode {
    pub key: String,
    pub parent: Option<u32>,
    pub subtree_end: u32,
    pub depth: u8,
    pub is_provision: bool,
    pub content: SpoolSpan,
    /// Further nodes of the same citation that are wordings of this one.
    pub wordings: Vec<SpoolSpan>,
}

impl Gatherer {
    pub fn new(spool_dir: &Path) -> Result<Self, GatherError> {
        Ok(Self { spool: Spool::create(spool_dir)?, files: Vec::new(), nodes: Vec::new(), seen: HashMap::new() })
    }

    /// Whether a node of this handle was added already: importers that make containers from paths ask.
    pub fn has(&self, handle: Handle) -> bool {
        self.seen.contains_key(&handle)
    }

    pub fn add(&mut self, node: NewNode) -> Result<(), GatherError> {
        let NewNode { handle, parent, key, sort, on_repeat, content, place } = node;
        if let Some(&first) = self.seen.get(&handle) {
            let first = self.place(first);
            return Err(GatherError::DuplicateKey { place, key, first });
        }
        if self.files.last() != Some(&place.file) {
            self.files.push(place.file);
        }
        self.seen.insert(handle, self.nodes.len() as u32);
        let is_provision = content.text.is_some();
        let content = self.spool.push(&content)?;
        let file = self.files.len() as u32 - 1;
        self.nodes.push(Skeleton { parent, key, sort, on_repeat, is_provision, file, line: place.line, content });
        Ok(())
    }

    fn place(&self, node: u32) -> Place {
        let skeleton = &self.nodes[node as usize];
        Place { file: self.files[skeleton.file as usize].clone(), line: skeleton.line }
    }

    /// Ends a code body: its nodes as one tree in code order, numbered from zero.
    pub fn finish_body(&mut self, warnings: &mut Warnings) -> Result<Vec<GatheredNode>, GatherError> {
        self.spool.flush()?;
        let joined = self.reconcile_repeats(warnings)?;
        let tree = self.order_tree(&joined)?;
        self.nodes.clear();
        self.seen.clear();
        self.files.clear();
        Ok(tree)
    }

    pub fn into_spool(self) -> Spool {
        self.spool
    }

    /// Nodes that share a key: joins wordings, drops exact repeats, gives the rest keys of their own. Returns, for
    /// every node, what became of it.
    fn reconcile_repeats(&mut self, warnings: &mut Warnings) -> Result<Vec<Fate>, GatherError> {
        let mut by_key: Vec<u32> = (0..self.nodes.len() as u32).collect();
        by_key.sort_by(|&a, &b| self.nodes[a as usize].key.cmp(&self.nodes[b as usize].key));
        let mut fates = vec![Fate::Kept { wordings: Vec::new() }; self.nodes.len()];
        let groups: Vec<Vec<u32>> = by_key
            .chunk_by(|&a, &b| self.nodes[a as usize].key == self.nodes[b as usize].key)
            .filter(|group| group.len() > 1)
            .map(<[u32]>::to_vec)
            .collect();
        for group in groups {
            let refusing = group.iter().copied().filter(|&n| self.nodes[n as usize].on_repeat == OnRepeat::Refuse);
            if let Some(second) = refusing.max() {
                let first = group.iter().copied().filter(|&n| n != second).min().unwrap_or(second);
                let key = self.nodes[second as usize].key.clone();
                return Err(GatherError::DuplicateKey { place: self.place(second), key, first: self.place(first) });
            }
            self.reconcile_group(&group, &mut fates, warnings)?;
        }
        Ok(fates)
    }

    fn reconcile_group(
        &mut self,
        group: &[u32],
        fates: &mut [Fate],
        warnings: &mut Warnings,
    ) -> Result<(), GatherError> {
        let mut members = Vec::with_capacity(group.len());
        for &node in group {
            let skeleton = &self.nodes[node as usize];
            members.push(wordings::Member {
                node,
                parent: skeleton.parent,
                content: self.spool.read(skeleton.content)?,
            });
        }
        let resolved = wordings::reconcile(members);
        for (rank, entry) in resolved.kept.iter().enumerate() {
            fates[entry.node as usize] =
                Fate::Kept { wordings: entry.wordings.iter().map(|&n| self.nodes[n as usize].content).collect() };
            for &wording in &entry.wordings {
                fates[wording as usize] = Fate::Joined;
                let what = format!("joined as another wording of '{}' at {}", entry.citation, self.place(entry.node));
                warnings.add(WarningKind::SecondWording, self.place(wording), what);
            }
            if rank > 0 {
                let key = format!("{}~{}", self.nodes[entry.node as usize].key, rank + 1);
                if entry.is_provision {
                    let first = self.place(resolved.kept[0].node);
                    let what = format!("'{}' names another provision too, at {first}; both are kept", entry.citation);
                    warnings.add(WarningKind::SharedCitation, self.place(entry.node), what);
                }
                self.nodes[entry.node as usize].key = key;
            }
        }
        for &(dropped, first) in &resolved.repeats {
            fates[dropped as usize] = Fate::Dropped;
            let what = format!("repeats {} word for word; kept once", self.place(first));
            warnings.add(WarningKind::RepeatedProvision, self.place(dropped), what);
        }
        Ok(())
    }

    fn order_tree(&self, fates: &[Fate]) -> Result<Vec<GatheredNode>, GatherError> {
        let stays = |node: u32| matches!(fates[node as usize], Fate::Kept { .. });
        let all = || (0..self.nodes.len() as u32).filter(|&node| stays(node));
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for node in all() {
            match self.nodes[node as usize].parent {
                None => roots.push(node),
                Some(parent) => match self.seen.get(&parent) {
                    Some(&parent) => children[parent as usize].push(node),
                    None => {
                        let key = self.nodes[node as usize].key.clone();
                        return Err(GatherError::NoParent { place: self.place(node), key });
                    }
                },
            }
        }
        let reached = preorder(&roots, &children);
        if let Some(lost) = all().find(|&node| !reached.contains(&node)) {
            let key = self.nodes[lost as usize].key.clone();
            return Err(GatherError::Cycle { place: self.place(lost), key });
        }
        let sort = self.sort_keys(&reached, &children);
        let in_code_order = |a: &u32, b: &u32| {
            let key = |n: u32| (&sort[n as usize], &self.nodes[n as usize].sort, &self.nodes[n as usize].key);
            key(*a).cmp(&key(*b))
        };
        roots.sort_by(in_code_order);
        children.iter_mut().for_each(|siblings| siblings.sort_by(in_code_order));
        self.number(&preorder(&roots, &children), fates)
    }

    /// A container without a key of its own sorts as the first provision in it.
    fn sort_keys(&self, reached: &indexmap::IndexSet<u32>, children: &[Vec<u32>]) -> Vec<SortKey> {
        let mut sort: Vec<SortKey> = self.nodes.iter().map(|node| node.sort.clone()).collect();
        // Parents come before children, so backwards every child is settled before its parent asks.
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

    fn number(&self, preorder: &indexmap::IndexSet<u32>, fates: &[Fate]) -> Result<Vec<GatheredNode>, GatherError> {
        let mut tree: Vec<GatheredNode> = Vec::with_capacity(preorder.len());
        for (ordinal, &node) in (0_u32..).zip(preorder) {
            let skeleton = &self.nodes[node as usize];
            let parent =
                skeleton.parent.and_then(|parent| self.seen.get(&parent)).and_then(|p| preorder.get_index_of(p));
            let depth = parent.map_or(0, |parent: usize| tree[parent].depth + 1);
            if depth > DEPTH_MAX {
                return Err(GatherError::TooDeep { place: self.place(node), key: skeleton.key.clone() });
            }
            let wordings = match &fates[node as usize] {
                Fate::Kept { wordings } => wordings.clone(),
                Fate::Joined | Fate::Dropped => Vec::new(),
            };
            tree.push(GatheredNode {
                key: skeleton.key.clone(),
                parent: parent.map(|parent| parent as u32),
                subtree_end: ordinal + 1,
                depth,
                is_provision: skeleton.is_provision,
                content: skeleton.content,
                wordings,
            });
        }
        for node in (0..tree.len()).rev() {
            if let Some(parent) = tree[node].parent {
                tree[parent as usize].subtree_end = tree[parent as usize].subtree_end.max(tree[node].subtree_end);
            }
        }
        Ok(tree)
    }
}

/// What becomes of a node that an importer added.
#[derive(Clone, Debug)]
enum Fate {
    Kept { wordings: Vec<SpoolSpan> },
    Joined,
    Dropped,
}

/// Nodes reachable from the roots, each before what is below it.
fn preorder(roots: &[u32], children: &[Vec<u32>]) -> indexmap::IndexSet<u32> {
    let mut order = indexmap::IndexSet::with_capacity(children.len());
    let mut open: Vec<u32> = roots.iter().rev().copied().collect();
    while let Some(node) = open.pop() {
        order.insert(node);
        open.extend(children[node as usize].iter().rev());
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn node(name: &str, parent: Option<&str>, number: &str, is_provision: bool) -> NewNode {
        NewNode {
            handle: Handle::new("b", name),
            parent: parent.map(|parent| Handle::new("b", parent)),
            key: format!("b/{name}"),
            sort: if is_provision { SortKey::of_number(number) } else { SortKey::default() },
            on_repeat: OnRepeat::Refuse,
            content: Content { text: is_provision.then(|| format!("Text of {name}.")), ..Content::default() },
            place: Place { file: "f.jsonl".into(), line: Some(7) },
        }
    }

    fn keys(nodes: Vec<NewNode>) -> Result<Vec<String>, String> {
        let dir = tempfile::tempdir().unwrap();
        let mut gatherer = Gatherer::new(dir.path()).unwrap();
        for node in nodes {
            gatherer.add(node).map_err(|error| error.to_string())?;
        }
        let tree = gatherer.finish_body(&mut Warnings::default()).map_err(|error| error.to_string())?;
        Ok(tree.into_iter().map(|node| node.key).collect())
    }

    #[test]
    fn containers_stand_where_their_first_provision_stands() {
        let nodes = vec![
            node("ch-two", None, "", false),
            node("s2-1", Some("ch-two"), "2-1", true),
            node("ch-one", None, "", false),
            node("s1-10", Some("ch-one"), "1-10", true),
            node("s1-9", Some("ch-one"), "1-9", true),
        ];
        assert_eq!(keys(nodes).unwrap(), ["b/ch-one", "b/s1-9", "b/s1-10", "b/ch-two", "b/s2-1"]);
    }

    #[test]
    fn broken_trees_are_told_with_their_place() {
        let twice = vec![node("a", None, "1", true), node("a", None, "1", true)];
        assert!(keys(twice).unwrap_err().contains("f.jsonl:7: the key 'b/a' stands already at f.jsonl:7"));
        assert!(keys(vec![node("a", Some("nobody"), "1", true)]).unwrap_err().contains("the parent of 'b/a'"));
        let circle = vec![node("a", Some("b"), "", false), node("b", Some("a"), "", false)];
        assert!(keys(circle).unwrap_err().contains("its own ancestor"));
        let deep: Vec<_> = (0..70)
            .map(|n| node(&format!("n{n}"), (n > 0).then(|| format!("n{}", n - 1)).as_deref(), "", false))
            .collect();
        assert!(keys(deep).unwrap_err().contains("deeper than 64"));
    }

    proptest! {
        #[test]
        fn the_order_nodes_arrive_in_changes_nothing(
            parents in proptest::collection::vec(any::<prop::sample::Index>(), 1..40),
            shuffle in any::<u64>(),
        ) {
            let build = |order: Vec<usize>| {
                let nodes = order.into_iter().map(|n| {
                    let parent = (n > 0).then(|| parents[n].index(n + 1)).filter(|&p| p < n && p % 3 != 0);
                    let parent = parent.map(|p| format!("n{p}"));
                    node(&format!("n{n}"), parent.as_deref(), &format!("{}", (n * 7) % 11), n % 3 == 0)
                });
                keys(nodes.collect()).unwrap()
            };
            let straight: Vec<usize> = (0..parents.len()).collect();
            let mut shuffled = straight.clone();
            shuffled.sort_by_key(|&n| (n as u64 + 1).wrapping_mul(shuffle | 1).rotate_left(17));
            prop_assert_eq!(build(straight), build(shuffled));
        }
    }
}
