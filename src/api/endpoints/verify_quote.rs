//! `verify`: whether a quotation has the words of the law that it cites, or which law has these words.

use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_check::{CitedProvision, QuoteAnswer, verify_quote};
use hornbook_search::QUERY_CHARS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{NamedEdition, link, write_differences};
use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::error::ApiError;
use crate::api::fields::FIELDS;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{CostUnit, LawCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedText, Param};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, law, law_tool, route};
use crate::api::subject::Subject;
use crate::api::view::VIEW;

/// Maximum number of characters of a quotation.
const QUOTE_CHARS_MAX: usize = 4_000;

pub(in crate::api) const QUOTE: Param<BoundedText<QUOTE_CHARS_MAX>> =
    Param::required("quote", "the quoted words; brackets and ellipses announce changes");

pub(in crate::api) const CITATION: Param<Option<BoundedText<QUERY_CHARS_MAX>>> =
    Param::optional("citation", "what they are attributed to, 17 USC 107; without it, law with these words is found");

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuotationCheck")]
pub struct VerifyReply {
    #[serde(flatten)]
    pub answer: QuoteAnswer,
    /// What the editions do not know about the requested day, by code body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The editions of the provisions in `foundIn`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub editions: Vec<NamedEdition>,
}

impl ForModel for VerifyReply {
    fn for_model(&self) -> ModelText {
        let mut shown = ModelText::default();
        let QuoteAnswer { verdict, message, found_in, differences, .. } = &self.answer;
        let _ = writeln!(shown.text, "{}: {message}", verdict.as_str());
        shown.notes(&self.notices);
        write_differences(&mut shown, differences);
        for CitedProvision { node_id, citation, heading, status, .. } in found_in {
            let (status, currency) = (status.as_str(), NamedEdition::currency_of(&self.editions, *node_id));
            let _ = writeln!(shown.text, "- {citation} {heading} ({status}{currency}, id {node_id})");
            shown.link(*node_id, citation, heading);
        }
        shown
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "verify",
    subject: Subject::Checks,
    summary: "Whether a quotation has the words of the law that it cites, or which law has these words",
    details: None,
    route: route("/api/v1/verify", "/api/v1/verify?citation={citation}&quote={words}"),
    tool: law_tool(
        "law.verify_quote",
        "law_verify_quote",
        "Use it for one quotation, with or without its citation. For a whole text, use law.check.",
        &[],
    ),
    parameters: &[QUOTE.rule, CITATION.rule, FIELDS.rule, VIEW.rule, AS_OF.rule],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<VerifyReply>(),
    model_text: Some(|json| written_for_model::<VerifyReply>(json)),
    access: law(&[Scope::Search, Scope::Node], 1, CostUnit::Call, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let (quote, citation) = (call.get(&QUOTE).to_owned(), call.get(&CITATION).map(str::to_owned));
    let (corpus, asked) = (Arc::clone(call.corpus), RequestedDay::of(call));
    Ok(PreparedWork::heavy(move |_| {
        let mut answer = verify_quote(corpus.engine(), &asked.law, citation.as_deref(), &quote)?;
        let (notices, editions) = link(&corpus, &asked, answer.found_in.iter_mut())?;
        Reply::json(&VerifyReply { answer, notices, editions })
    }))
}
