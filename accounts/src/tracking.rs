//! What may be seen of a formation order: by the holder of its tracking token, and by the account that handed its
//! intake over.

use hornbook_base::clock::UnixMillis;

use super::Accounts;
use super::changes::OPEN_DRAFTS_MAX;
use super::error::ChangeError;
use super::ids::{AccountId, DraftId, OrderId};
use super::key::KeyDigest;
use super::records::{DraftRecord, OrderRecord, OrderStage, all_from_json};
use super::state::Index;

#[derive(Clone, Debug)]
pub struct OrderView {
    pub order_id: OrderId,
    pub state: OrderStage,
    pub entity_name: String,
    pub entity_type: String,
    pub jurisdiction: String,
    /// All stages in order, whether reached or not.
    pub stages: Vec<StageView>,
    pub created_at: UnixMillis,
    pub updated_at: UnixMillis,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageView {
    pub stage: OrderStage,
    pub status: StageStatus,
    /// When the stage was reached; None if it was not, or was skipped.
    pub at: Option<UnixMillis>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StageStatus {
    Completed,
    Current,
    Pending,
}

impl OrderView {
    fn of(record: OrderRecord) -> Self {
        let state = record.stage();
        let reached = |stage| record.stages.iter().find(|reached| reached.stage == stage).map(|reached| reached.at);
        let status = |stage| match stage {
            // Nothing follows the last stage: reaching it completes it.
            _ if stage < state || state == OrderStage::Completed => StageStatus::Completed,
            _ if stage == state => StageStatus::Current,
            _ => StageStatus::Pending,
        };
        let view = |stage| StageView { stage, status: status(stage), at: reached(stage) };
        // An order reaches its first stage when it is opened.
        let first = record.stages.first().map_or(UnixMillis(0), |reached| reached.at);
        let last = record.stages.last().map_or(first, |reached| reached.at);
        Self {
            order_id: record.id,
            state,
            stages: OrderStage::ALL.map(view).to_vec(),
            created_at: first,
            updated_at: last,
            entity_name: record.entity_name.into(),
            entity_type: record.entity_type,
            jurisdiction: record.jurisdiction,
        }
    }
}

/// An intake that an account handed over. Nothing in it is about people.
#[derive(Clone, Debug)]
pub enum HandoffView {
    /// A person has not accepted it yet.
    InReview {
        created_at: UnixMillis,
        expires_at: UnixMillis,
    },
    Ordered(OrderView),
}

impl Accounts {
    /// What became of an intake. None for one that another account handed over, that expired, or whose order was discarded.
    pub fn handoff(
        &self,
        account: AccountId,
        id: DraftId,
        now: UnixMillis,
    ) -> Result<Option<HandoffView>, ChangeError> {
        let open = self.shared.with_reading(|reading| {
            let found = reading.newest_owned_by(Index::OpenDrafts, &account.to_string(), OPEN_DRAFTS_MAX)?;
            all_from_json::<DraftRecord>(Index::OpenDrafts, &found)
        })?;
        if let Some(draft) = open.into_iter().find(|draft| draft.id == id && now < draft.expires_at) {
            let DraftRecord { created_at, expires_at, .. } = draft;
            return Ok(Some(HandoffView::InReview { created_at, expires_at }));
        }
        let ordered = self.order(OrderId(id.0))?.filter(|order| order.account == account);
        Ok(ordered.map(|order| HandoffView::Ordered(OrderView::of(order))))
    }

    /// The order of a tracking token. None for an unknown order and for a wrong token, so that
    /// guessing does not even reveal which orders exist.
    pub fn track_order(&self, id: OrderId, token: &str) -> Result<Option<OrderView>, ChangeError> {
        let token = KeyDigest::of_secret(token);
        Ok(self.order(id)?.filter(|order| order.token.matches(&token)).map(OrderView::of))
    }
}
