//! `watches`, `watch-create` and `watch-remove`: what a key watches.

use std::sync::Arc;

use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::WatchId;
use hornbook_accounts::scope::Scope;
use hornbook_accounts::watches::{SavedSearch, WATCHES_MAX, WatchRecord, WatchSubject};
use hornbook_corpus::ids::{CodeBodyId, NodeId, ShortCode};
use hornbook_search::{FILTER_VALUES_MAX, QUERY_CHARS_MAX, check_query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::body::read;
use super::filters::{code_body, subtree};
use super::me::accounts_error;
use super::paging::{LIMIT, PAGE, Paging};
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, CostUnit, MeteredCall, Method, Operation, PreparedWork, Route};
use crate::api::page_links::PageLinks;
use crate::api::reply::Reply;
use crate::api::rows::{JSON, NOT_FOUND, metered, route};
use crate::api::subject::Subject;

/// Works in every corpus.
pub(in crate::api) const NEW_WATCH_EXAMPLE: &str = r#"{"search": {"q": "security deposit"}}"#;

/// Something to watch: one of `node`, `citation` and `search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NewWatch")]
pub(in crate::api) struct NewWatchRequest {
    /// The id of a provision or container, which is watched with everything in it, under whatever number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node: Option<Uuid>,
    /// A citation: whatever has this number is watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = QUERY_CHARS_MAX))]
    citation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    search: Option<WatchedSearch>,
    /// A name to tell the watches apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
}

/// A search. Its first 50 results are watched.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "WatchedSearch")]
pub struct WatchedSearch {
    #[schemars(length(min = 1, max = QUERY_CHARS_MAX))]
    pub q: String,
    /// Short codes of up to 10 jurisdictions, with their sub-jurisdictions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = FILTER_VALUES_MAX))]
    pub jurisdictions: Vec<String>,
    /// Ids of up to 10 code bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = FILTER_VALUES_MAX))]
    pub code_bodies: Vec<Uuid>,
}

/// The watch to remove.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WatchToRemove")]
pub(in crate::api) struct WatchToRemove {
    /// The id of a watch from `GET /api/v1/watches`.
    id: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Watches")]
pub struct WatchesReply {
    pub page: u32,
    pub page_size: u32,
    /// The number of watches of the key.
    pub total: usize,
    /// The most that a key can have.
    pub maximum: usize,
    /// The watches of the calling key, the oldest first.
    pub watches: Vec<WatchReply>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Watch")]
pub struct WatchReply {
    /// The id of the watch, such as `watch-17`.
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<WatchedSearch>,
    /// What is watched, as the served edition has it. Absent for a search, and for what this edition does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<WatchedNode>,
}

/// A watched provision or container.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WatchedNode")]
pub struct WatchedNode {
    #[schemars(with = "Uuid")]
    pub node_id: NodeId,
    pub citation: String,
    pub heading: String,
    /// The web page on which people read it.
    pub url: String,
}

impl WatchReply {
    pub(crate) fn of(corpus: &Corpus, pages: &PageLinks, record: WatchRecord) -> Result<Self, ApiError> {
        let snapshot = corpus.snapshot();
        let node = match &record.subject {
            WatchSubject::Node(id) => snapshot.ordinal(NodeId(*id)),
            WatchSubject::Citation(citation) => corpus.named_by(citation)?,
            WatchSubject::Search(_) => None,
        };
        let now = |node| -> Result<WatchedNode, ApiError> {
            let card = snapshot.cards.get(node)?;
            let (citation, heading) = (card.citation.to_owned(), card.heading.to_owned());
            Ok(WatchedNode { node_id: corpus.node_id(node)?, citation, heading, url: pages.page_of(snapshot, node)? })
        };
        let now = node.map(now).transpose()?;
        let (mut node, mut citation, mut search) = (None, None, None);
        match record.subject {
            WatchSubject::Node(id) => node = Some(id),
            WatchSubject::Citation(text) => citation = Some(text),
            WatchSubject::Search(SavedSearch { q, jurisdictions, code_bodies }) => {
                search = Some(WatchedSearch { q, jurisdictions, code_bodies });
            }
        }
        let (id, created_at) = (record.id.to_string(), record.created_at.to_string());
        Ok(Self { id, name: record.name.map(String::from), created_at, node, citation, search, now })
    }
}

const WATCHES_PATH: &str = "/api/v1/watches";

pub(in crate::api) const LIST: Operation = Operation {
    name: "watches",
    subject: Subject::Watching,
    summary: "What this key watches",
    details: None,
    route: route(WATCHES_PATH, "/api/v1/watches"),
    tool: None,
    parameters: &[PAGE.rule, LIMIT.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<WatchesReply>(),
    model_text: None,
    access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, prepare_list),
};

fn prepare_list(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let paging = Paging::of(call).map_err(|violation| ApiError::invalid(vec![violation]))?;
    let (accounts, key, corpus) = (Arc::clone(call.accounts), call.caller.key, Arc::clone(call.corpus));
    let pages = PageLinks::new(call.link_base, None);
    Ok(PreparedWork::heavy(move |_| {
        let all = accounts.watches(key).map_err(|error| accounts_error(&error))?;
        let total = all.len();
        let shown = all.into_iter().skip(paging.skipped()).take(paging.limit as usize);
        let watches = shown.map(|record| WatchReply::of(&corpus, &pages, record)).collect::<Result<_, _>>()?;
        let (page, page_size) = (paging.page, paging.limit);
        let reply = WatchesReply { page, page_size, total, maximum: WATCHES_MAX, watches };
        Ok(Reply { pages: Some(paging.pages(total)), ..Reply::json(&reply)? })
    }))
}

pub(in crate::api) const CREATE: Operation = Operation {
    name: "watch-create",
    subject: Subject::Watching,
    summary: "Watch a provision, a container, a citation or a search",
    details: Some(
        "A key watches up to 1,000 things, for free. Whenever a newer edition is served, what it changed among them is \
         reported. Something that the key watches already keeps its watch.",
    ),
    route: Some(Route { method: Method::Post, path: WATCHES_PATH, example: "/api/v1/watches" }),
    tool: None,
    parameters: &[],
    body: Some(BodySpec {
        schema: |generator| generator.subschema_for::<NewWatchRequest>(),
        takes_documents: false,
        is_stored: true,
        example: NEW_WATCH_EXAMPLE,
    }),
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<WatchReply>(),
    model_text: None,
    access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, prepare_create),
};

fn prepare_create(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let wanted: NewWatchRequest = read(call.body, NEW_WATCH_EXAMPLE)?;
    let (subject, name) = (subject_of(&wanted, call.corpus)?, wanted.name);
    let (accounts, corpus, key, at) =
        (Arc::clone(call.accounts), Arc::clone(call.corpus), call.caller.key, call.now.wall);
    let pages = PageLinks::new(call.link_base, None);
    Ok(PreparedWork::external(move || {
        let added = accounts.add_watch(key, subject, name, at);
        let (record, _) = added.map_err(|error| watch_error(&error))?;
        Reply::json(&WatchReply::of(&corpus, &pages, record)?)
    }))
}

pub(in crate::api) const REMOVE: Operation = Operation {
    name: "watch-remove",
    subject: Subject::Watching,
    summary: "Stop watching something",
    details: None,
    route: Some(Route { method: Method::Post, path: "/api/v1/watches/remove", example: "/api/v1/watches/remove" }),
    tool: None,
    parameters: &[],
    body: Some(BodySpec {
        schema: |generator| generator.subschema_for::<WatchToRemove>(),
        takes_documents: false,
        is_stored: false,
        example: r#"{"id": "WATCH_ID"}"#,
    }),
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<WatchReply>(),
    model_text: None,
    access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, prepare_remove),
};

fn prepare_remove(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let WatchToRemove { id } = read(call.body, r#"{"id": "watch-17"}"#)?;
    let id: WatchId = id.parse().map_err(|message: String| ApiError::invalid_parameter("id", message))?;
    let (accounts, corpus, key) = (Arc::clone(call.accounts), Arc::clone(call.corpus), call.caller.key);
    let pages = PageLinks::new(call.link_base, None);
    Ok(PreparedWork::external(move || {
        let removed = accounts.remove_watch(&[key], id).map_err(|error| watch_error(&error))?;
        Reply::json(&WatchReply::of(&corpus, &pages, removed)?)
    }))
}

/// Checks that what shall be watched is here. A watch of nothing would stay silent.
fn subject_of(wanted: &NewWatchRequest, corpus: &Corpus) -> Result<WatchSubject, ApiError> {
    match wanted {
        NewWatchRequest { node: Some(id), citation: None, search: None, .. } => {
            corpus.node(NodeId(*id))?;
            Ok(WatchSubject::Node(*id))
        }
        NewWatchRequest { node: None, citation: Some(citation), search: None, .. } => {
            citation_subject(citation, corpus)
        }
        NewWatchRequest { node: None, citation: None, search: Some(search), .. } => search_subject(search, corpus),
        _ => Err(ApiError::invalid_parameter("body", "give exactly one of node, citation and search")),
    }
}

fn citation_subject(citation: &str, corpus: &Corpus) -> Result<WatchSubject, ApiError> {
    let invalid = |message: &str| ApiError::invalid_parameter("citation", message);
    if citation.chars().count() > QUERY_CHARS_MAX {
        return Err(invalid(&format!("a citation has at most {QUERY_CHARS_MAX} characters")));
    }
    let answers = corpus.engine().resolve(citation)?;
    match &answers[..] {
        [answer] if answer.node_id.is_some() => {
            Ok(WatchSubject::Citation(answer.citation.clone().unwrap_or_else(|| citation.to_owned())))
        }
        [answer] => Err(invalid(&answer.message)),
        _ => Err(invalid("watch one citation at a time")),
    }
}

fn search_subject(search: &WatchedSearch, corpus: &Corpus) -> Result<WatchSubject, ApiError> {
    let WatchedSearch { q, jurisdictions, code_bodies } = search.clone();
    check_query(&q).map_err(|error| ApiError::invalid_parameter("search.q", error.to_string()))?;
    let most = FILTER_VALUES_MAX;
    if jurisdictions.len() > most || code_bodies.len() > most {
        return Err(ApiError::invalid_parameter("search", format!("give at most {most} of each")));
    }
    let mut codes = Vec::with_capacity(jurisdictions.len());
    for code in &jurisdictions {
        let unknown = |message: String| ApiError::invalid_parameter("search.jurisdictions", message);
        let code: ShortCode = code.parse().map_err(|_| unknown(format!("'{code}' is not a short code")))?;
        subtree(corpus, &code).map_err(|violation| unknown(violation.message))?;
        codes.push(code.to_string());
    }
    for id in &code_bodies {
        code_body(corpus, CodeBodyId(*id), "search.codeBodies")
            .map_err(|violation| ApiError::invalid(vec![violation]))?;
    }
    Ok(WatchSubject::Search(SavedSearch { q, jurisdictions: codes, code_bodies }))
}

pub(super) fn watch_error(error: &ChangeError) -> ApiError {
    match error {
        ChangeError::Refused(message) => ApiError::invalid_parameter("body", message.clone()),
        ChangeError::NotFound { .. } => {
            ApiError::not_found(format!("{error}; GET /api/v1/watches lists the watches of this key"))
        }
        other => accounts_error(other),
    }
}
