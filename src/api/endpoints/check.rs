//! `check`: the citations and quotations of a document, each compared with the law.

use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::scope::Scope;
use hornbook_base::base64::Base64;
use hornbook_check::{
    BRIEF_BYTES_MAX, Brief, BriefFormat, CheckOptions, CheckReport, CitedProvision, Difference, Finding,
    FindingSeverity, Found, compared_text,
};
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::as_of::{AS_OF, RequestedDay};
use crate::api::corpus::Corpus;
use crate::api::currency::Currency;
use crate::api::edition_freshness::{EditionFreshness, EditionNotices};
use crate::api::error::ApiError;
use crate::api::json::JsonObject;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{
    BodySpec, CHECK_PATH, CostUnit, LawCall, Method, Operation, PreparedWork, Route, WorkClass,
};
use crate::api::parameters::Param;
use crate::api::reply::Reply;
use crate::api::rows::{JSON, law, law_tool};
use crate::api::subject::Subject;

/// The number of findings for which one credit is charged.
const FINDINGS_PER_CREDIT: usize = 10;

/// Maximum number of findings in the text for models.
const SHOWN_TO_MODELS: usize = 60;

pub(in crate::api) const SINCE: Param<Option<Day>> =
    Param::optional("since", "report wordings that took effect after this day, 2025-01-31");

/// A valid body.
pub(in crate::api) const EXAMPLE: &str =
    r#"{"text": "A deposit “shall be returned within thirty days.” 42 U.S.C. § 1983(b)."}"#;

/// A document to check: `text`, or `document` with its `format`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DocumentToCheck")]
pub(in crate::api) struct CheckRequest {
    /// The document as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The document as a file in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    /// How the document is written: text if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<BriefFormat>,
}

/// The JSON body of a document that is sent as it is. None if its media type is not that of a document.
pub fn body_of_document(media_type: &str, bytes: &[u8]) -> Option<Result<JsonObject, ApiError>> {
    let format = BriefFormat::of_media_type(media_type)?;
    let content = match format {
        BriefFormat::Docx | BriefFormat::Pdf => ("document", Ok(Base64::Standard.encode(bytes))),
        _ => ("text", String::from_utf8(bytes.to_vec())),
    };
    Some(match content {
        (name, Ok(content)) => {
            let mut body = JsonObject::new();
            body.insert(name.to_owned(), content.into());
            body.insert("format".to_owned(), json!(format));
            Ok(body)
        }
        (_, Err(error)) => {
            let at = error.utf8_error().valid_up_to();
            Err(invalid(format!("byte {at} of the document is not UTF-8; save it as UTF-8 text")))
        }
    })
}

/// The answer: what was found, in the order of the document.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DocumentCheck")]
pub struct CheckReply {
    #[serde(flatten)]
    pub report: CheckReport,
    /// What the editions do not know about the requested day, by code body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The editions of the provisions that the findings name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub editions: Vec<NamedEdition>,
}

/// An edition, and which of the named provisions are from it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamedEdition {
    /// Name of the code body.
    pub code_body: Option<String>,
    /// The day through which it is current, if the source states it.
    #[schemars(with = "Option<String>")]
    pub current_through: Option<Day>,
    /// The day on which the copy was retrieved; present only if its source does not state `currentThrough`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retrieved_at: Option<Day>,
    /// Whether that day is more than a year before the requested day.
    pub is_outdated: bool,
    #[schemars(with = "Vec<uuid::Uuid>")]
    pub node_ids: Vec<NodeId>,
}

impl NamedEdition {
    /// `, current through 2022-09-30`, for the edition of a provision.
    pub(super) fn currency_of(editions: &[Self], id: NodeId) -> String {
        let edition = editions.iter().find(|edition| edition.node_ids.contains(&id));
        edition.map_or_else(String::new, |edition| {
            let Self { current_through: through, retrieved_at: retrieved, is_outdated, .. } = *edition;
            Currency { through, retrieved, is_outdated }.after(", ")
        })
    }
}

impl ForModel for CheckReply {
    fn for_model(&self) -> ModelText {
        let mut shown = ModelText::default();
        let summary = &self.report.summary;
        let _ = writeln!(
            shown.text,
            "{} citations, {} quotations: {} wrong, {} to look at, {} right, by the law of {}.",
            summary.citations, summary.quotations, summary.wrong, summary.doubtful, summary.right, self.report.as_of
        );
        for signs in &self.report.unreadable {
            let _ = writeln!(shown.text, "UNREADABLE: {}", signs.message);
        }
        shown.notes(&self.notices);
        let (wrong, others): (Vec<_>, Vec<_>) =
            self.report.findings.iter().partition(|finding| finding.severity() == FindingSeverity::Wrong);
        for finding in wrong.iter().chain(&others).take(SHOWN_TO_MODELS) {
            write_finding(&mut shown, finding, &self.editions);
        }
        let left = self.report.findings.len().saturating_sub(SHOWN_TO_MODELS);
        if left > 0 {
            let _ = writeln!(shown.text, "{left} more are in the JSON (view=full), those that are wrong first here.");
        }
        shown
    }
}

fn write_finding(shown: &mut ModelText, finding: &Finding, editions: &[NamedEdition]) {
    let _ =
        writeln!(shown.text, "- {}: {}: {}: {}", finding.place(), finding.verdict(), finding.text(), finding.message());
    let named = match finding {
        Finding::Citation(citation) => &citation.provisions,
        Finding::Quotation(quotation) => {
            write_differences(shown, &quotation.differences);
            &quotation.found_in
        }
    };
    for CitedProvision { node_id, citation, heading, status, .. } in named.iter().take(3) {
        let (status, currency) = (status.as_str(), NamedEdition::currency_of(editions, *node_id));
        let _ = writeln!(shown.text, "  {citation} {heading} ({status}{currency}, id {node_id})");
        shown.link(*node_id, citation, heading);
    }
}

/// Adds the comparison of a quotation with the law, if words differ.
pub(super) fn write_differences(shown: &mut ModelText, differences: &[Difference]) {
    if !differences.is_empty() {
        let compared = compared_text(differences);
        let _ = writeln!(shown.text, "  compared, [-only quoted-] {{+only in the law+}}: {compared}");
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "check",
    subject: Subject::Checks,
    summary: "The citations and quotations of a document, each compared with the law",
    details: Some(
        "The body is JSON, or the document itself with its media type: text/plain, text/markdown, text/html, .docx or application/pdf, at most 1 MB. \
         Short forms (`id.`, `§ 12(b)`) are followed where only one provision can be meant. A quotation is compared with the \
         citation near it; typography makes no difference, and brackets and ellipses may announce changes. `dryRun=true` says the price.",
    ),
    route: Some(Route { method: Method::Post, path: CHECK_PATH, example: CHECK_PATH }),
    tool: law_tool(
        "law.check",
        "law_check",
        "Use it before you hand out a text that cites or quotes law. For one quotation, use law.verify_quote.",
        &[],
    ),
    parameters: &[AS_OF.rule, SINCE.rule],
    body: Some(BodySpec {
        schema: |generator| generator.subschema_for::<CheckRequest>(),
        takes_documents: true,
        is_stored: false,
        example: EXAMPLE,
    }),
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<CheckReply>(),
    model_text: Some(|json| written_for_model::<CheckReply>(json)),
    access: law(&[Scope::Search, Scope::Node], 1, CostUnit::TenFindings, prepare),
};

fn prepare(call: &LawCall<'_>) -> Result<PreparedWork, ApiError> {
    let body: CheckRequest = serde_json::from_value(Value::Object(call.body.clone()))
        .map_err(|error| invalid(format!("the body is not valid: {error}; send {EXAMPLE}")))?;
    let (corpus, asked) = (Arc::clone(call.corpus), RequestedDay::of(call));
    let options = CheckOptions { since: call.get(&SINCE) };
    // What is found decides the price: it is found before the call is paid for, without a look at the law.
    Ok(PreparedWork::of_document(move |_| {
        let brief = read(body)?;
        let found = Found::in_document(&brief, corpus.snapshot().grammar());
        let found = found.map_err(|error| invalid(error.to_string()))?;
        let units = found.count().div_ceil(FINDINGS_PER_CREDIT).max(1);
        let work = PreparedWork::new(WorkClass::Document, move |_| {
            let report = found.check(corpus.engine(), &asked.law, &brief, asked.day, &options)?;
            Reply::json(&linked(&corpus, &asked, report)?)
        });
        Ok(PreparedWork { units: u32::try_from(units).unwrap_or(u32::MAX), ..work })
    }))
}

fn read(body: CheckRequest) -> Result<Brief, ApiError> {
    let CheckRequest { text, document, format } = body;
    let format = format.unwrap_or(BriefFormat::Text);
    let bytes = match (text, document) {
        (Some(text), None) if !format.is_text() => {
            return Err(invalid(format!(
                "{} characters of text are no .{} file; send it as document, in base64",
                text.len(),
                format.as_str()
            )));
        }
        (Some(text), None) => text.into_bytes(),
        (None, Some(document)) => Base64::Standard
            .decode(&document)
            .ok_or_else(|| invalid("document is not base64 with padding; encode the file in base64"))?,
        _ => return Err(invalid("send either text, or document with its format")),
    };
    Brief::read(&bytes, format).map_err(|error| invalid(error.to_string()))
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::invalid_parameter("body", message)
}

/// The report with the page of every provision.
fn linked(corpus: &Corpus, asked: &RequestedDay, mut report: CheckReport) -> Result<CheckReply, ApiError> {
    let provisions = report.findings.iter_mut().flat_map(|finding| finding.provisions_mut());
    let (notices, editions) = link(corpus, asked, provisions)?;
    Ok(CheckReply { report, notices, editions })
}

/// Adds their pages to provisions, and returns what their editions do not know, and these editions.
pub(super) fn link<'p>(
    corpus: &Corpus,
    asked: &RequestedDay,
    provisions: impl Iterator<Item = &'p mut CitedProvision>,
) -> Result<(Vec<String>, Vec<NamedEdition>), ApiError> {
    let (mut notices, mut editions) = (EditionNotices::default(), Vec::<NamedEdition>::new());
    for provision in provisions {
        let id = provision.node_id;
        let node = corpus.node(id)?;
        provision.url = Some(asked.pages.page_of(corpus.snapshot(), node)?);
        let freshness = notices.add(corpus, node, &asked.law.shown(node), asked)?;
        let code_body = corpus.snapshot().code_body_of(node).map(|body| body.name.as_str());
        add_edition(&mut editions, code_body, &freshness, id);
    }
    Ok((notices.into_vec(), editions))
}

fn add_edition(editions: &mut Vec<NamedEdition>, code_body: Option<&str>, freshness: &EditionFreshness, id: NodeId) {
    let EditionFreshness { through, retrieved, .. } = *freshness;
    let is_same = |edition: &&mut NamedEdition| {
        let days = (edition.current_through, edition.retrieved_at);
        edition.code_body.as_deref() == code_body && days == (through, retrieved)
    };
    match editions.iter_mut().find(is_same) {
        Some(edition) if edition.node_ids.contains(&id) => {}
        Some(edition) => edition.node_ids.push(id),
        None => editions.push(NamedEdition {
            code_body: code_body.map(str::to_owned),
            current_through: through,
            retrieved_at: retrieved,
            is_outdated: freshness.is_outdated(),
            node_ids: vec![id],
        }),
    }
}

/// The most that a body with a document may have: base64 and JSON are longer than the document itself.
pub const DOCUMENT_BODY_BYTES_MAX: usize = BRIEF_BYTES_MAX / 2 * 3;
