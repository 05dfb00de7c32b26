//! `resolve`: finds the provisions that a citation names.

use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_corpus::day::Day;
use hornbook_search::{CitationAnswer, CitedNode, QUERY_CHARS_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::edition_freshness::EditionNotices;
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, Standing, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedText, Param};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, law, route, tool};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

pub(in crate::api) const CITATION: Param<BoundedText<QUERY_CHARS_MAX>> =
    Param::required("citation", "a citation or a list of them, such as 42 USC 1983(b)");

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Resolution")]
pub struct ResolveReply {
    /// One answer for each citation, in order.
    pub answers: Vec<CitationAnswer<LinkedCandidate>>,
    /// What the editions do not know about the requested day, by code body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A node that a citation may name, with its page.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CitedNode")]
pub struct LinkedCandidate {
    #[serde(flatten)]
    pub cited: CitedNode,
    /// The web page on which people read it.
    pub url: String,
    /// The day on which the copy was retrieved; present only if its source does not state `currentThrough`.
    #[serde(rename = "retrievedAt", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
}

impl ForModel for ResolveReply {
    fn for_model(&self) -> ModelText {
        let mut shown = ModelText::default();
        shown.notes(&self.notices);
        for CitationAnswer { answer, citation, candidates, message, .. } in &self.answers {
            let citation = citation.as_deref().unwrap_or("?");
            let _ = writeln!(shown.text, "{citation}: {}. {message}", answer.as_str());
            for LinkedCandidate { cited, retrieved_at, .. } in candidates {
                let CitedNode { node_id, citation, heading, .. } = cited;
                let standing = Standing {
                    status: cited.status,
                    from: cited.effective_from,
                    to: cited.effective_to,
                    through: cited.current_through,
                    retrieved: *retrieved_at,
                };
                let _ = writeln!(shown.text, "- {citation} {heading} ({standing}, id {node_id})");
                shown.link(*node_id, citation, heading);
            }
        }
        shown
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "resolve",
    subject: Subject::Law,
    summary: "The provisions that a citation names, in any spelling; one answer for each citation of a list",
    details: None,
    route: route("/api/v1/resolve", "/api/v1/resolve?citation={citation}"),
    tool: tool(
        "law.resolve",
        "law_resolve",
        "Use it to find or check citations, also many at once. To read one, use law.get_node; for words, law.search.",
    ),
    parameters: &[CITATION.rule, FIELDS.rule, VIEW.rule, AS_OF.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<ResolveReply>(),
    model_text: Some(|json| written_for_model::<ResolveReply>(json)),
    access: law(&[Scope::Node], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let citation = call.get(&CITATION).to_owned();
    let corpus = Arc::clone(call.corpus);
    let asked = RequestedDay::of(call);
    Ok(PreparedWork::heavy(move |_| {
        let mut answers = corpus.engine().resolve_on(&asked.law, &citation)?;
        answers.iter_mut().try_for_each(|answer| corpus.follow_former_number(&asked.law, answer))?;
        let candidates = answers.iter().flat_map(|answer| &answer.candidates);
        let nodes = candidates.filter_map(|cited| corpus.snapshot().ordinal(cited.node_id));
        let notices = EditionNotices::of(&corpus, nodes, &asked)?;
        let linked = |cited: CitedNode| -> Result<LinkedCandidate, ApiError> {
            let node = corpus.node(cited.node_id)?;
            let url = asked.pages.page_of(corpus.snapshot(), node)?;
            let (_, retrieved_at) = corpus.edition_days(node)?;
            Ok(LinkedCandidate { cited, url, retrieved_at })
        };
        let answers = answers.into_iter().map(|answer| answer.try_map(linked)).collect::<Result<_, _>>()?;
        Reply::json(&ResolveReply { answers, notices })
    }))
}
