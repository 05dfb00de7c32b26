//! Finds a node by anything that names it: its id, a citation, its page's address, or its source key.

use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use hornbook_search::QUERY_CHARS_MAX;
use uuid::Uuid;

use super::corpus::Corpus;
use super::error::ApiError;
use super::page_links::{AS_OF_NAME, node_at};

/// `base_url` is the address of this service.
pub(crate) fn find(corpus: &Corpus, wanted: &str, base_url: &str) -> Result<NodeOrdinal, ApiError> {
    let wanted = wanted.trim();
    if let Some(id) = node_id(wanted) {
        return corpus.node(id);
    }
    if wanted.contains("://") {
        let below = wanted.strip_prefix(base_url).and_then(|rest| rest.strip_prefix('/'));
        let below = below.or_else(|| wanted.strip_prefix("hornbook://"));
        let below = below.ok_or_else(|| ApiError::not_found(format!("only URLs below {base_url} are supported")))?;
        let path = below.split(['?', '#']).next().unwrap_or(below);
        if let Some(id) = path.split('/').find_map(node_id) {
            return corpus.node(id);
        }
        return node_at(corpus.snapshot(), path)
            .ok_or_else(|| ApiError::not_found("there is no provision at this address"));
    }
    let path = wanted.split(['?', '#']).next().unwrap_or(wanted);
    if let Some(node) = node_at(corpus.snapshot(), path.trim_start_matches('/')) {
        return Ok(node);
    }
    if wanted.chars().count() > QUERY_CHARS_MAX {
        return Err(ApiError::not_found(format!("a citation has at most {QUERY_CHARS_MAX} characters")));
    }
    let answers = corpus.engine().resolve(wanted)?;
    let [answer] = answers.as_slice() else {
        return Err(ApiError::not_found(format!("this is not one citation but {}; give one", answers.len())));
    };
    match answer.node_id.and_then(|id| corpus.snapshot().ordinal(id)) {
        Some(node) => Ok(node),
        None => Err(ApiError::not_found(answer.message.clone())),
    }
}

/// The day that the address of a page names.
pub(crate) fn day_of(wanted: &str) -> Option<&str> {
    let (_, query) = wanted.split_once('?').filter(|(path, _)| path.contains('/'))?;
    query.split(['&', '#']).find_map(|parameter| parameter.strip_prefix(AS_OF_NAME)?.strip_prefix('='))
}

/// An id as answers write it.
pub(crate) fn node_id(text: &str) -> Option<NodeId> {
    Uuid::try_parse(text).ok().filter(|_| text.len() == 36).map(NodeId)
}
