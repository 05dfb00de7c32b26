//! The addresses of the web pages on which people read what an answer contains.
//!
//! The page of a node has its source key as its path, such as `/us/usc/t17/s107`. A key that begins like
//! another path of the server, and one that a path cannot contain, has its page at `/law/ID`, which
//! redirects to the readable path everywhere else.

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeId, NodeOrdinal, is_source_key};
use hornbook_corpus::snapshot::Snapshot;

use super::error::ApiError;

/// The parameter that names a day, in the addresses of pages and of the API.
pub const AS_OF_NAME: &str = "asOf";

/// The beginning of the path of a page that is found by the id of its node.
pub(crate) const LAW_PATH: &str = "/law/";

/// The first parts of all other paths of the server.
const RESERVED: [&str; 27] = [
    ".well-known",
    "api",
    "assets",
    "billing",
    "browse",
    "changes",
    "changes.atom",
    "channel",
    "check",
    "cite",
    "coverage",
    "docs",
    "formation",
    "healthz",
    "law",
    "llms.txt",
    "oauth",
    "operator",
    "readyz",
    "robots.txt",
    "search",
    "settings",
    "sitemap",
    "sitemap.xml",
    "suggest",
    "zoning",
    "zoning-parts",
];

/// The path of a node's page.
pub(crate) fn page_path(snapshot: &Snapshot, node: NodeOrdinal) -> Result<String, ApiError> {
    let key = snapshot.cards.get(node)?.source_key;
    if is_readable(key) {
        return Ok(format!("/{key}"));
    }
    let id = snapshot.outline.id(node);
    let id = id.ok_or_else(|| ApiError::internal(format!("the outline has no id for node {node}")))?;
    Ok(format!("{LAW_PATH}{id}"))
}

/// The node whose page has this path, without the slash at its beginning.
pub(crate) fn node_at(snapshot: &Snapshot, path: &str) -> Option<NodeOrdinal> {
    let node = if is_readable(path) { NodeId::from_source_key(path) } else { return None };
    snapshot.ordinal(node)
}

fn is_readable(key: &str) -> bool {
    let first = key.split('/').next().unwrap_or_default();
    is_source_key(key) && !RESERVED.contains(&first)
}

/// Makes the addresses of the pages for the answers of one call.
#[derive(Clone, Debug)]
pub(crate) struct PageLinks {
    /// Empty for links within the site.
    base_url: String,
    /// The day that the call named: the page then shows the same wording.
    named_day: Option<Day>,
}

impl PageLinks {
    pub(crate) fn new(base_url: &str, named_day: Option<Day>) -> Self {
        Self { base_url: base_url.to_owned(), named_day }
    }

    /// The same for the law of another day.
    pub(crate) fn on(&self, day: Day) -> Self {
        Self { base_url: self.base_url.clone(), named_day: Some(day) }
    }

    pub(crate) fn page_of(&self, snapshot: &Snapshot, node: NodeOrdinal) -> Result<String, ApiError> {
        let page = format!("{}{}", self.base_url, page_path(snapshot, node)?);
        Ok(match self.named_day {
            Some(day) => format!("{page}?{AS_OF_NAME}={day}"),
            None => page,
        })
    }
}
