//! `handoff-status`: what became of an intake, for the account that handed it over.

use std::fmt::Write as _;
use std::sync::Arc;

use hornbook_accounts::ids::DraftId;
use hornbook_accounts::scope::Scope;
use hornbook_accounts::tracking::HandoffView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formation_status::{StageReply, stages};
use super::me::accounts_error;
use crate::api::error::ApiError;
use crate::api::model_text::{ForModel, ModelText, written_for_model};
use crate::api::operation::{CostUnit, MeteredCall, Operation, PreparedWork};
use crate::api::parameters::Param;
use crate::api::reply::Reply;
use crate::api::rows::{JSON, NOT_FOUND, metered, tool};
use crate::api::subject::Subject;

pub(in crate::api) const HANDOFF_ID: Param<DraftId> =
    Param::required("handoffId", "the id that formation.handoff returned to this account");

/// The state of an intake that nobody has accepted yet.
const IN_REVIEW: &str = "review";

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "HandoffStatus")]
pub(in crate::api) struct HandoffStatusReply {
    #[schemars(with = "uuid::Uuid")]
    handoff_id: DraftId,
    /// `review` until a person accepts the intake at its link, then the stage of the order.
    state: String,
    /// All stages of the order, whether reached or not; empty before it is accepted.
    stages: Vec<StageReply>,
    /// When the link stops working, if nobody has accepted the intake. A time in UTC, in the format of RFC 3339.
    expires_at: Option<String>,
    created_at: String,
    updated_at: String,
}

impl ForModel for HandoffStatusReply {
    fn for_model(&self) -> ModelText {
        let mut text = match &self.expires_at {
            Some(expires_at) => format!(
                "Nobody has accepted it yet. The link works until {expires_at}; then hand the intake over again.\n"
            ),
            None => format!("The order is at the stage {}, since {}.\n", self.state, self.updated_at),
        };
        for stage in &self.stages {
            let _ = writeln!(text, "- {stage}");
        }
        ModelText::of(text)
    }
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "handoff-status",
    subject: Subject::FormationOrders,
    summary: "What became of an intake that this account handed over: waiting for a person, or the stage of its order",
    details: None,
    route: None,
    tool: tool(
        "formation.status",
        "formation_status",
        "Use it after formation.handoff, with the id that it returned. It knows no other orders.",
    ),
    parameters: &[HANDOFF_ID.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<HandoffStatusReply>(),
    model_text: Some(|json| written_for_model::<HandoffStatusReply>(json)),
    access: metered(&[Scope::Formation], 0, CostUnit::Call, prepare),
};

fn prepare(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let (handoff_id, account, now) = (call.get(&HANDOFF_ID), call.caller.account, call.now.wall);
    let accounts = Arc::clone(call.accounts);
    Ok(PreparedWork::heavy(move |_| {
        let found = accounts.handoff(account, handoff_id, now).map_err(|error| accounts_error(&error))?;
        let found = found.ok_or_else(|| {
            ApiError::not_found(
                "this account has no such hand-over; it may have expired or been discarded, or another account made it",
            )
        })?;
        Reply::json(&HandoffStatusReply::of(handoff_id, found))
    }))
}

impl HandoffStatusReply {
    fn of(handoff_id: DraftId, found: HandoffView) -> Self {
        match found {
            HandoffView::InReview { created_at, expires_at } => Self {
                handoff_id,
                state: IN_REVIEW.to_owned(),
                stages: Vec::new(),
                expires_at: Some(expires_at.to_string()),
                created_at: created_at.to_string(),
                updated_at: created_at.to_string(),
            },
            HandoffView::Ordered(order) => Self {
                handoff_id,
                state: order.state.name().to_owned(),
                expires_at: None,
                created_at: order.created_at.to_string(),
                updated_at: order.updated_at.to_string(),
                stages: stages(order.stages),
            },
        }
    }
}
