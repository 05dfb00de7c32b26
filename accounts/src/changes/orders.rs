//! Formation orders: created with a tracking token, paid, advanced stage by stage.

use serde_json::Value;

use super::act::{ActContext, audit};
use super::payments::{self, ConfirmedByHand};
use super::run::{account, no_memory_effect, put_account, update_account_after};
use crate::Accounts;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::formation;
use crate::ids::{AccountId, OrderId};
use crate::key::{KeyDigest, KeyKind, PlainKey};
use crate::ledger::poster::LedgerTransaction;
use crate::records::{
    CheckoutRecord, OrderPayment, OrderRecord, OrderStage, Payable, StageReached, get_json, owned_json, put_json,
};
use crate::sealing::Owner;
use crate::state::{Index, StateError, StateTable};
use crate::visible_text::VisibleText;

/// The details of a formation order that the operator opens.
#[derive(Clone, Debug)]
pub struct NewOrder {
    pub account: AccountId,
    pub entity_name: String,
    pub entity_type: String,
    pub jurisdiction: String,
}

impl Accounts {
    /// Opens a formation order and returns its tracking token, which is shown once.
    pub fn create_order(
        &self,
        order: NewOrder,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<(OrderRecord, String), ChangeError> {
        let entity_name = VisibleText::new("entity name", order.entity_name)?;
        let entity_type = formation::entity_type(&order.entity_type).map_err(ChangeError::Refused)?;
        let jurisdiction = formation::state(&order.jurisdiction).map_err(ChangeError::Refused)?;
        let id = OrderId(random_uuid(entropy)?);
        let token = tracking_token(entropy)?;
        let record = OrderRecord {
            id,
            account: order.account,
            entity_name,
            entity_type,
            jurisdiction,
            stages: vec![reached(OrderStage::Details, act)],
            token: KeyDigest::of_secret(&token),
            intake: None,
            price_cents: None,
            payment: None,
        };
        let act = act.clone();
        let record = self.change(move |poster| {
            account(poster, record.account)?;
            put_order(poster, &record)?;
            audit(poster, &act, "order create", &[&record.id, &" of ", &record.account])?;
            Ok((record, no_memory_effect()))
        })?;
        Ok((record, token))
    }

    /// Moves an order to a later stage. Completing it raises the account's allotment for good and
    /// removes the intake, which is no longer needed.
    pub fn advance_order(&self, id: OrderId, to: OrderStage, act: &ActContext) -> Result<OrderRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = order(poster, id)?;
            let from = record.stage();
            if to <= from {
                let (from, to) = (from.name(), to.name());
                return Err(ChangeError::Refused(format!("order {id} is at stage {from}; it cannot go back to {to}")));
            }
            record.stages.push(reached(to, &act));
            if to == OrderStage::Completed {
                record.intake = None;
            }
            put_order(poster, &record)?;
            audit(poster, &act, "order advance", &[&id, &" of ", &record.account, &" to ", &to.name()])?;
            if to != OrderStage::Completed {
                return Ok((record, no_memory_effect()));
            }
            let mut account = account(poster, record.account)?;
            account.company_formed = true;
            put_account(poster, &account)?;
            Ok((record, update_account_after(account, 0)))
        })
    }

    /// Records the payment of an order and moves the order on if it waited for that. The same
    /// payment reported again changes nothing. An order with a payment page needs a reference.
    pub fn pay_order(
        &self,
        id: OrderId,
        payment_reference: Option<String>,
        act: &ActContext,
    ) -> Result<OrderRecord, ChangeError> {
        let confirmed = ConfirmedByHand::new(payment_reference)?;
        let act = act.clone();
        self.change(move |poster| {
            let mut record = order(poster, id)?;
            if let Some(payment) = &record.payment {
                if confirmed.repeats(payment.reference.as_deref()) {
                    return Ok((record, no_memory_effect()));
                }
                return Err(ChangeError::Refused(format!("order {id} was already paid, on {}", payment.at)));
            }
            let has_page = !owned_json::<CheckoutRecord>(&poster.writing, Index::CheckoutsByOrder, &id)?.is_empty();
            let reference = confirmed.reference_for(Payable::Order(id), has_page)?;
            settle(poster, &mut record, reference, &act)?;
            put_order(poster, &record)?;
            audit(poster, &act, "order confirm-payment", &[&id, &" of ", &record.account])?;
            Ok((record, no_memory_effect()))
        })
    }

    /// Removes an order that will not be paid, with its intake.
    pub fn discard_order(&self, id: OrderId, act: &ActContext) -> Result<OrderRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let record = order(poster, id)?;
            if !is_unpaid(&record) {
                return Err(ChangeError::Refused(format!(
                    "order {id} is at stage {}; only unpaid orders can be discarded",
                    record.stage().name()
                )));
            }
            poster.writing.remove(StateTable::Orders, id.0.as_bytes())?;
            audit(poster, &act, "order discard", &[&id, &" of ", &record.account])?;
            Ok((record, no_memory_effect()))
        })
    }

    /// The intake of an order. It contains names and addresses of people, so reading it is recorded as an act.
    pub fn order_intake(
        &self,
        id: OrderId,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<Value>, ChangeError> {
        let record = self.order(id)?.ok_or_else(|| ChangeError::not_found("order", id))?;
        let Some(sealed) = &record.intake else { return Ok(None) };
        let json = self.shared.seal_key(entropy)?.open(owner_of_order(&id), sealed)?;
        let intake = serde_json::from_slice(&json);
        let intake = intake.map_err(|_| StateError::bad_record(StateTable::Orders.name(), id.0.as_bytes()))?;
        self.record_act(act, "order show --intake", &[&id, &" of ", &record.account])?;
        Ok(Some(intake))
    }
}

/// Records the payment of the order, and moves the order on if it waited for that.
pub(super) fn settle(
    poster: &mut LedgerTransaction<'_>,
    record: &mut OrderRecord,
    reference: String,
    act: &ActContext,
) -> Result<(), ChangeError> {
    payments::count(poster, &reference, Payable::Order(record.id))?;
    record.payment = Some(OrderPayment { at: act.at, actor: act.actor.clone(), reference: Some(reference) });
    if record.stage() <= OrderStage::Payment {
        record.stages.push(reached(OrderStage::Setup, act));
    }
    Ok(())
}

fn reached(stage: OrderStage, act: &ActContext) -> StageReached {
    StageReached { stage, at: act.at, actor: Some(act.actor.clone()) }
}

pub(super) fn random_uuid(entropy: &mut dyn Entropy) -> Result<uuid::Uuid, ChangeError> {
    let mut random = [0; 16];
    entropy.fill(&mut random).map_err(ChangeError::Entropy)?;
    Ok(uuid::Builder::from_random_bytes(random).into_uuid())
}

/// The owner of an order's sealed intake.
pub(super) fn owner_of_order(id: &OrderId) -> Owner<'_> {
    Owner { kind: "order", id: id.0, secret: id.0.as_bytes() }
}

/// A new tracking token, as hard to guess as a key.
pub(super) fn tracking_token(entropy: &mut dyn Entropy) -> Result<String, ChangeError> {
    let token = PlainKey::generate(KeyKind::Live, entropy).map_err(ChangeError::Entropy)?;
    Ok(token.reveal().replacen("hb_live_", "hb_order_", 1))
}

fn order(poster: &LedgerTransaction<'_>, id: OrderId) -> Result<OrderRecord, ChangeError> {
    let found = get_json(&poster.writing, StateTable::Orders, id.0.as_bytes())?;
    found.ok_or_else(|| ChangeError::not_found("order", id))
}

pub(super) fn put_order(poster: &mut LedgerTransaction<'_>, record: &OrderRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, StateTable::Orders, record.id.0.as_bytes(), record)?)
}

/// Removes the intake of an order; the order stays.
pub(super) fn remove_intake(poster: &mut LedgerTransaction<'_>, id: OrderId) -> Result<(), ChangeError> {
    let record = order(poster, id)?;
    put_order(poster, &OrderRecord { intake: None, ..record })
}

fn is_unpaid(record: &OrderRecord) -> bool {
    record.payment.is_none() && record.stage() <= OrderStage::Payment
}

pub(super) fn unpaid_orders(poster: &LedgerTransaction<'_>, account: AccountId) -> Result<usize, ChangeError> {
    Ok(orders_under_way(poster, account)?.iter().filter(|record| is_unpaid(record)).count())
}

/// The orders of an account that are not completed.
pub(super) fn orders_under_way(
    poster: &LedgerTransaction<'_>,
    account: AccountId,
) -> Result<Vec<OrderRecord>, StateError> {
    owned_json(&poster.writing, Index::OpenOrders, &account)
}
