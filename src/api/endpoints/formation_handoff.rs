//! `formation-handoff`: checks a whole intake, stores it encrypted, and returns a link where a person
//! reviews it.

use std::sync::Arc;

use hornbook_accounts::changes::DraftContent;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::{ChangeError, Refusal};
use hornbook_accounts::ids::DraftId;
use hornbook_accounts::scope::Scope;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::me::accounts_error;
use crate::api::error::{ApiError, ErrorCode, Violation};
use crate::api::operation::{BodySpec, CostUnit, MeteredCall, Method, Operation, PreparedWork, Route};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, metered, tool};
use crate::api::subject::Subject;
use crate::formation::REVIEW_PATH;
use crate::formation::intake::{self, FieldError, Intake, IntakeContext};
use crate::formation::requirements::Requirements;
use crate::formation::requirements_file::requirements;
use crate::formation::{naics, price};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormationHandoff")]
pub(in crate::api) struct HandoffReply {
    /// With this id the same account sees what becomes of the intake, with the tool formation.status.
    #[schemars(with = "uuid::Uuid")]
    handoff_id: DraftId,
    /// A page where the person who orders reviews the intake, accepts it and pays. Anyone who has the
    /// link can do this.
    review_url: String,
    /// When the link stops working and the intake is deleted. A time in UTC, in the format of RFC 3339.
    expires_at: String,
    /// The price of the order in US cents, including the state's fee; null if it is not known yet.
    price_cents: Option<u32>,
    /// What to do with the link.
    next: &'static str,
}

/// A valid intake.
pub(in crate::api) const EXAMPLE: &str = r#"{"state": "DE", "entityType": "llc", "names": ["Elm Street Tools LLC"], "naics": "541511",
    "people": [{"name": "Ada Example", "roles": ["organizer", "member"], "address": {"street": "12 Elm Street", "city": "Dover", "state": "DE", "zip": "19901"}}],
    "registeredAgent": {"name": "Example Agents Inc.", "address": {"street": "1 Main Street", "city": "Wilmington", "state": "DE", "zip": "19801"}},
    "management": "members", "contact": {"name": "Ada Example", "email": "ada@example.com"}}"#;

const NEXT: &str = "Give reviewUrl to the person who orders, and to nobody else. Nothing is ordered until they accept it there. The \
                    page then shows an order id and a tracking token for them. Follow the order with formation.status and handoffId.";

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "formation-handoff",
    subject: Subject::FormationOrders,
    summary: "Check the intake of a company formation, and get a link on which a person reviews, accepts and pays it",
    details: Some(
        "All faults are reported at once, each with the path of its field. The intake is stored encrypted, and deleted if nobody \
         accepts it. Call formation-requirements first to learn what the state requires.",
    ),
    route: Some(Route {
        method: Method::Post,
        path: "/api/v1/formation/handoff",
        example: "/api/v1/formation/handoff",
    }),
    tool: tool(
        "formation.handoff",
        "formation_handoff",
        "Use it when you have all facts; faults are listed. It files and pays nothing: a person does, at the link.",
    ),
    parameters: &[],
    body: Some(BodySpec {
        schema: |generator| generator.subschema_for::<Intake>(),
        takes_documents: false,
        is_stored: true,
        example: EXAMPLE,
    }),
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<HandoffReply>(),
    model_text: None,
    access: metered(&[Scope::Formation], 0, CostUnit::Call, prepare),
};

fn prepare(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let book = requirements().map_err(|fault| ApiError::internal(fault.to_string()))?;
    let of = |state, entity_type| book.of(state)?.of(entity_type);
    let known = IntakeContext {
        requirements: &of,
        is_naics_code: &|code| code.len() == 6 && naics::find(code).is_some(),
        today: call.now.wall.day(),
    };
    let intake = intake::read(call.body, &known).map_err(invalid)?;
    let service_fee = call.accounts.settings().tariff.formation_fee_cents;
    let content = content(&intake, of(intake.state, intake.entity_type), service_fee)?;
    let (accounts, account, at) = (Arc::clone(call.accounts), call.caller.account, call.now.wall);
    let review_page = format!("{}{REVIEW_PATH}", call.base_url);
    let retry = call.idempotency_key.map(str::to_owned);
    Ok(PreparedWork::heavy(move |_| {
        let opened = accounts.open_draft(account, &content, retry.as_deref(), at, &mut SystemEntropy);
        let opened = opened.map_err(draft_error)?.ok_or_else(|| ApiError::from(&Refusal::OtherRequest))?;
        Reply::json(&HandoffReply {
            handoff_id: opened.id,
            review_url: review_page + &opened.token.reveal(),
            expires_at: opened.expires_at.to_string(),
            price_cents: content.price_cents,
            next: NEXT,
        })
    }))
}

fn content(
    intake: &Intake,
    requirements: Option<&Requirements>,
    service_fee_cents: u32,
) -> Result<DraftContent, ApiError> {
    let price_cents = requirements.and_then(|found| price::total_cents(found, intake, service_fee_cents));
    let stored: Value = serde_json::to_value(intake).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(DraftContent {
        entity_name: intake.names.first().cloned().unwrap_or_default(),
        entity_type: intake.entity_type.name().to_owned(),
        jurisdiction: intake.state.code().to_owned(),
        price_cents,
        service_fee_cents: price_cents.map(|_| service_fee_cents),
        intake: stored,
    })
}

/// Reports all faults at once. Otherwise a client would have to ask a person once for each fault.
fn invalid(faults: Vec<FieldError>) -> ApiError {
    let violation = |FieldError { field, message }: FieldError| {
        let reported = if field.is_empty() { message } else { format!("`{field}` {message}") };
        Violation { parameter: field, message: reported }
    };
    ApiError::invalid_form(faults.into_iter().map(violation).collect())
}

fn draft_error(error: ChangeError) -> ApiError {
    match error {
        ChangeError::Refused(why) => ApiError::new(ErrorCode::ValidationError, why),
        other => accounts_error(&other),
    }
}
