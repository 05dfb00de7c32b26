//! The snapshot as operations use it: search, lookups, and answers that are serialized once and kept.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use hornbook_corpus::catalogue::Catalogue;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange};
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::texts::TextDamaged;
use hornbook_corpus::validity::ShownWording;
use hornbook_editions::{CodeEdition, CompareError};
use hornbook_search::{Engine, LawOnDay, SearchError, SynonymTable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::error::ApiError;
use super::examples::Examples;
use super::map_cache::MapCache;
use super::page_links::{AS_OF_NAME, PageLinks};
use super::reply_text::ReplyText;
use super::shelf::Shelf;

/// One snapshot with its search engine.
pub struct Corpus {
    engine: Engine,
    /// The answers of `coverage` for today, with and without the jurisdictions that have no law.
    pub(super) coverage: DayCache,
    pub(super) coverage_of_law: DayCache,
    /// The answer of `code-bodies` for today.
    pub(super) code_bodies: DayCache,
    /// The day on which each source was retrieved, by its number.
    retrieved: Vec<Option<Day>>,
    /// Chosen when they are first shown.
    examples: OnceCell<Arc<Examples>>,
    pub(super) maps: MapCache,
    /// The other editions that are kept beside this snapshot.
    pub(super) shelf: Shelf<Self>,
}

impl fmt::Debug for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engine.fmt(f)
    }
}

/// A cached answer that depends only on the day. It keeps one day at a time.
#[derive(Default)]
pub(super) struct DayCache(Mutex<Option<(Day, Bytes)>>);

impl DayCache {
    pub(super) fn get(&self, day: Day) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(of, _)| *of == day).map(|(_, bytes)| bytes.clone())
    }

    /// Replaces the answer of any other day.
    pub(super) fn keep(&self, day: Day, bytes: &Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((day, bytes.clone()));
    }
}

/// A link to a node, with its data as of the requested day.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 's"))]
#[schemars(rename = "NodeLink")]
pub struct NodeLink<'s> {
    #[schemars(with = "uuid::Uuid")]
    pub id: NodeId,
    /// The web page on which people read it.
    pub url: String,
    pub citation: ReplyText<'s>,
    pub heading: ReplyText<'s>,
    #[schemars(with = "String")]
    pub status: Status,
    /// The first day on which this wording is law, if the source states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub effective_from: Option<Day>,
    /// The first day on which this wording is no longer law, if the source states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub effective_to: Option<Day>,
    /// The day through which the edition is current, if the source states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    /// The day on which the copy was retrieved; present only if its source does not state `currentThrough`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
}

impl Corpus {
    /// A snapshot without a shelf.
    pub fn new(snapshot: Arc<Snapshot>) -> Result<Self, SearchError> {
        Self::with_synonyms(snapshot, Arc::default())
    }

    /// A snapshot without a shelf, with synonyms of the operator's own.
    pub fn with_synonyms(snapshot: Arc<Snapshot>, synonyms: Arc<SynonymTable>) -> Result<Self, SearchError> {
        let shelf = Shelf::alone(&snapshot);
        Self::with_shelf(snapshot, synonyms, shelf)
    }

    pub(super) fn with_shelf(
        snapshot: Arc<Snapshot>,
        synonyms: Arc<SynonymTable>,
        shelf: Shelf<Self>,
    ) -> Result<Self, SearchError> {
        let sources = snapshot.catalogue.sources.iter();
        Ok(Self {
            retrieved: sources.map(|source| source.retrieved.parse().ok()).collect(),
            engine: Engine::with_synonyms(snapshot, synonyms)?,
            coverage: DayCache::default(),
            coverage_of_law: DayCache::default(),
            code_bodies: DayCache::default(),
            examples: OnceCell::new(),
            maps: MapCache::new(),
            shelf,
        })
    }

    /// Empties its caches for good, once another snapshot is served.
    pub(super) fn release_memory(&self) {
        self.engine.release_memory();
        self.maps.release_memory();
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn snapshot(&self) -> &Snapshot {
        self.engine.snapshot()
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.snapshot().catalogue
    }

    /// The snapshot's id.
    pub fn id(&self) -> &str {
        &self.snapshot().manifest.snapshot
    }

    /// Examples from this snapshot. They are chosen once, on a thread that may block.
    pub async fn examples(self: &Arc<Self>) -> Result<Arc<Examples>, ApiError> {
        let choose = || async {
            let corpus = Arc::clone(self);
            let chosen = tokio::task::spawn_blocking(move || Arc::new(Examples::of(corpus.engine()))).await;
            chosen.map_err(|error| ApiError::internal(format!("choose the examples: {error}")))
        };
        self.examples.get_or_try_init(choose).await.cloned()
    }

    /// The day through which the edition of a node is current. If its source does not state one, the day on which the copy
    /// was retrieved.
    pub(super) fn edition_days(&self, node: NodeOrdinal) -> Result<(Option<Day>, Option<Day>), SearchError> {
        let through = self.engine.current_through(node)?;
        Ok((through, if through.is_none() { self.retrieved(node) } else { None }))
    }

    /// The day on which the copy that a node was read from was retrieved.
    fn retrieved(&self, node: NodeOrdinal) -> Option<Day> {
        let source = self.snapshot().cards.source(node)?;
        self.retrieved.get(usize::from(source)).copied().flatten()
    }

    /// The oldest of these days in a range of nodes.
    pub(super) fn oldest_retrieved(&self, nodes: OrdinalRange) -> Option<Day> {
        nodes.iter().filter_map(|node| self.retrieved(NodeOrdinal(node))).min()
    }

    /// Finds the node with a requested id.
    pub(super) fn node(&self, id: NodeId) -> Result<NodeOrdinal, ApiError> {
        self.snapshot().ordinal(id).ok_or_else(|| self.no_node(id))
    }

    /// The error for an id that this snapshot does not have.
    pub(super) fn no_node(&self, id: NodeId) -> ApiError {
        match self.last_edition_with(id) {
            Some(CodeEdition { edition, current_through: Some(day), .. }) => ApiError::not_found(format!(
                "the served edition has no node {id}, but an older one ({edition}) has it: ask with {AS_OF_NAME}={day}"
            )),
            _ => ApiError::not_found(format!("there is no node {id}; take ids from search results, browse or resolve")),
        }
    }

    pub fn node_id(&self, node: NodeOrdinal) -> Result<NodeId, ApiError> {
        let id = self.snapshot().outline.id(node);
        id.ok_or_else(|| ApiError::internal(format!("the outline has no id for node {node}; run 'hornbook verify'")))
    }

    pub(crate) fn link(&self, law: &LawOnDay, pages: &PageLinks, node: NodeOrdinal) -> Result<NodeLink<'_>, ApiError> {
        let citation = self.snapshot().cards.get(node)?.citation;
        let ShownWording { status, from, to, .. } = law.shown(node);
        let (current_through, retrieved_at) = self.edition_days(node)?;
        Ok(NodeLink {
            id: self.node_id(node)?,
            url: pages.page_of(self.snapshot(), node)?,
            citation: citation.into(),
            heading: self.engine.heading_on(law, node)?.into(),
            status,
            effective_from: from,
            effective_to: to,
            current_through,
            retrieved_at,
        })
    }

    /// The previous and the next node, for reading on. For a provision: the nearest provisions of its
    /// code body. For a container: its siblings.
    pub fn neighbours(&self, node: NodeOrdinal) -> (Option<NodeOrdinal>, Option<NodeOrdinal>) {
        let outline = &self.snapshot().outline;
        let body = self.snapshot().code_body_of(node).map_or(OrdinalRange::default(), |body| body.nodes);
        if outline.is_provision(node) {
            let is_provision = |node: &u32| outline.is_provision(NodeOrdinal(*node));
            let before = (body.start..node.0).rev().find(is_provision);
            let behind = (node.0 + 1..body.end).find(is_provision);
            return (before.map(NodeOrdinal), behind.map(NodeOrdinal));
        }
        let siblings = match outline.parent(node) {
            Some(parent) => outline.children(parent),
            None => outline.top_level(body),
        };
        let mut before = None;
        let mut siblings = siblings.skip_while(|sibling| {
            let is_before = sibling.0 < node.0;
            if is_before {
                before = Some(*sibling);
            }
            is_before
        });
        let behind = siblings.nth(1);
        (before, behind)
    }
}

impl AsRef<Snapshot> for Corpus {
    fn as_ref(&self) -> &Snapshot {
        self.snapshot()
    }
}

impl From<NodesError> for ApiError {
    fn from(error: NodesError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<CompareError> for ApiError {
    fn from(error: CompareError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<TextDamaged> for ApiError {
    fn from(error: TextDamaged) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<SearchError> for ApiError {
    fn from(error: SearchError) -> Self {
        Self::internal(error.to_string())
    }
}
