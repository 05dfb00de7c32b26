//! `formation-status`: how an order stands, for whoever holds its token.

use std::sync::Arc;

use super::me::unreadable;
use crate::accounts::ids::OrderId;
use crate::api::error::ApiError;
use crate::api::operation::{Asked, Prepared, Weight};
use crate::api::reply::Reply;

pub(in crate::api) fn prepare(asked: &Asked<'_>) -> Result<Prepared, ApiError> {
    let order = OrderId(asked.arguments.uuid("orderId"));
    let token = asked.arguments.text("token").to_owned();
    let accounts = Arc::clone(asked.accounts);
    Ok(Prepared::new(Weight::Heavy, move || {
        let tracked = accounts.track_order(order, &token).map_err(|error| unreadable(&error))?;
        // The same words for a wrong token and an unknown order: who guesses learns nothing.
        let view = tracked.ok_or_else(|| {
            ApiError::not_found("there is no such order under this token; check both as they were handed out")
        })?;
        Reply::json(&view)
    }))
}
