//! `formation-status`: the status of a company-formation order, for the holder of its token.

use std::fmt;
use std::sync::Arc;

use hornbook_accounts::ids::OrderId;
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::scope::Scope;
use hornbook_accounts::tracking::{OrderView, StageStatus, StageView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::me::accounts_error;
use crate::api::error::ApiError;
use crate::api::operation::{ChargeTiming, CostUnit, MeteredCall, Operation, PreparedWork};
use crate::api::parameters::{BoundedText, Param};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, NOT_FOUND, metered, route};
use crate::api::subject::Subject;

pub(in crate::api) const ORDER_ID: Param<OrderId> = Param::in_path("orderId", "id of the order");

pub(in crate::api) const TOKEN: Param<BoundedText<256>> =
    Param::required("token", "the order's tracking token, issued when it was created");

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormationStatus")]
pub(in crate::api) struct OrderReply {
    #[schemars(with = "uuid::Uuid")]
    order_id: OrderId,
    state: OrderStage,
    entity_name: String,
    entity_type: String,
    jurisdiction: String,
    /// All stages in order, whether reached or not.
    stages: Vec<StageReply>,
    /// When the order was created. A time in UTC, in the format of RFC 3339.
    created_at: String,
    /// When the order was last updated. A time in UTC, in the format of RFC 3339.
    updated_at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FormationStage")]
pub(super) struct StageReply {
    stage: OrderStage,
    status: StatusReply,
    /// When the stage was reached; null if it was not reached or was skipped.
    at: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "StageStatus")]
enum StatusReply {
    Completed,
    Current,
    Pending,
}

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "formation-status",
    subject: Subject::FormationOrders,
    summary: "The status of a company-formation order",
    details: None,
    route: route("/api/v1/formation/status/{orderId}", "/api/v1/formation/status/{order_id}?token={token}"),
    tool: None,
    parameters: &[ORDER_ID.rule, TOKEN.rule],
    body: None,
    formats: JSON,
    errors: NOT_FOUND,
    has_version: false,
    reply: |generator| generator.subschema_for::<OrderReply>(),
    model_text: None,
    access: metered(&[Scope::Formation], 1, CostUnit::Call, prepare),
};

fn prepare(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let order = call.get(&ORDER_ID);
    let token = call.get(&TOKEN).to_owned();
    let accounts = Arc::clone(call.accounts);
    let work = PreparedWork::heavy(move |_| {
        let tracked = accounts.track_order(order, &token).map_err(|error| accounts_error(&error))?;
        // The same message for a wrong token and an unknown order, so that guessing reveals nothing.
        let order = tracked.ok_or_else(|| {
            ApiError::not_found("there is no such order with this token; check both the order id and the token")
        })?;
        Reply::json(&OrderReply::from(order))
    });
    // Charged only if the order is found. Most failed lookups are mistakes, and they cost nothing.
    Ok(PreparedWork { charge: ChargeTiming::AfterWork, ..work })
}

impl From<OrderView> for OrderReply {
    fn from(order: OrderView) -> Self {
        Self {
            order_id: order.order_id,
            state: order.state,
            entity_name: order.entity_name,
            entity_type: order.entity_type,
            jurisdiction: order.jurisdiction,
            stages: stages(order.stages),
            created_at: order.created_at.to_string(),
            updated_at: order.updated_at.to_string(),
        }
    }
}

pub(super) fn stages(views: Vec<StageView>) -> Vec<StageReply> {
    views.into_iter().map(StageReply::from).collect()
}

impl fmt::Display for StageReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match self.status {
            StatusReply::Completed => "completed",
            StatusReply::Current => "current",
            StatusReply::Pending => "pending",
        };
        write!(f, "{}: {status}", self.stage.name())?;
        self.at.as_ref().map_or(Ok(()), |at| write!(f, " ({at})"))
    }
}

impl From<StageView> for StageReply {
    fn from(StageView { stage, status, at }: StageView) -> Self {
        let status = match status {
            StageStatus::Completed => StatusReply::Completed,
            StageStatus::Current => StatusReply::Current,
            StageStatus::Pending => StatusReply::Pending,
        };
        Self { stage, status, at: at.map(|at| at.to_string()) }
    }
}
