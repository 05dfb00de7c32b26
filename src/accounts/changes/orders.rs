//! Formation orders: created with a tracking token, advanced stage by stage.

use super::{Act, account, check_text, nothing_more, put_account, record as audit, updated};
use crate::accounts::Accounts;
use crate::accounts::entropy::Entropy;
use crate::accounts::error::ChangeError;
use crate::accounts::formation;
use crate::accounts::ids::{AccountId, OrderId};
use crate::accounts::key::{KeyDigest, KeyKind, PlainKey};
use crate::accounts::ledger::poster::Poster;
use crate::accounts::records::{OrderRecord, OrderStage, StageReached, get_json, put_json};
use crate::state::Table;

/// What a formation order begins with.
#[derive(Clone, Debug)]
pub struct OrderWish {
    pub account: AccountId,
    pub entity_name: String,
    pub entity_type: String,
    pub jurisdiction: String,
    pub details: serde_json::Value,
}

impl Accounts {
    /// Opens a formation order and returns the tracking token, which is shown once.
    pub fn create_order(
        &self,
        order: OrderWish,
        act: &Act,
        entropy: &mut dyn Entropy,
    ) -> Result<(OrderRecord, String), ChangeError> {
        check_text("entity name", &order.entity_name)?;
        let entity_type = formation::entity_type(&order.entity_type).map_err(ChangeError::Refused)?;
        let jurisdiction = formation::state(&order.jurisdiction).map_err(ChangeError::Refused)?;
        let mut random = [0; 16];
        entropy.fill(&mut random).map_err(ChangeError::Entropy)?;
        let token = PlainKey::generate(KeyKind::Live, entropy).map_err(ChangeError::Entropy)?;
        let token = token.reveal().replacen("hb_live_", "hb_order_", 1);
        let record = OrderRecord {
            id: OrderId(uuid::Builder::from_random_bytes(random).into_uuid()),
            account: order.account,
            entity_name: order.entity_name,
            entity_type,
            jurisdiction,
            stages: vec![StageReached { stage: OrderStage::Details, at: act.at }],
            token: KeyDigest::of_secret(&token),
            details: order.details,
        };
        let act = act.clone();
        let record = self.change(move |poster| {
            account(poster, record.account)?;
            put_order(poster, &record)?;
            audit(poster, &act, "order create", format!("{} of {}", record.id, record.account))?;
            Ok((record, nothing_more()))
        })?;
        Ok((record, token))
    }

    /// Moves an order forward. Completing it raises the account's allotment for good.
    pub fn advance_order(&self, id: OrderId, to: OrderStage, act: &Act) -> Result<OrderRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let found = get_json(&poster.writing, Table::Orders, id.0.as_bytes())?;
            let mut record: OrderRecord = found.ok_or_else(|| ChangeError::not_found("order", id))?;
            let from = record.stage();
            if to <= from {
                let (from, to) = (from.name(), to.name());
                return Err(ChangeError::Refused(format!("order {id} is at {from}, it cannot go back to {to}")));
            }
            record.stages.push(StageReached { stage: to, at: act.at });
            put_order(poster, &record)?;
            audit(poster, &act, "order advance", format!("{id} of {} to {}", record.account, to.name()))?;
            if to != OrderStage::Completed {
                return Ok((record, nothing_more()));
            }
            let mut account = account(poster, record.account)?;
            account.company_formed = true;
            put_account(poster, &account)?;
            Ok((record, updated(account, 0)))
        })
    }
}

fn put_order(poster: &mut Poster<'_>, record: &OrderRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, Table::Orders, record.id.0.as_bytes(), record)?)
}
