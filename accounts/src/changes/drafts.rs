//! Drafts of formation orders: created by a program, reviewed by a person, then accepted once or removed.

use hornbook_base::clock::{MILLIS_PER_DAY, UnixMillis};
use hornbook_base::hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::act::{ActContext, audit};
use super::orders::{owner_of_order, put_order, random_uuid, tracking_token, unpaid_orders};
use super::run::{account, no_memory_effect};
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::{AccountId, DraftId, OrderId};
use crate::key::{KeyDigest, LinkToken};
use crate::records::{DraftRecord, DraftState, OrderRecord, OrderStage, StageReached, get_json, put_json, read_json};
use crate::sealing::{Owner, SealKey};
use crate::state::{Index, StateError, StateReader, StateTable, StateWriter};
use crate::visible_text::VisibleText;
use crate::{Accounts, formation};

/// The maximum number of open drafts of an account: more than people review in two weeks.
pub const OPEN_DRAFTS_MAX: usize = 100;

/// The maximum number of orders of an account that wait for their payment.
pub const UNPAID_ORDERS_MAX: usize = 20;

/// How long the response to an acceptance is given again, because it may be lost. Later the link
/// shows no token.
const TOKEN_SHOWN_AGAIN_MILLIS: i64 = 3_600_000;

/// The content of a draft, which the order takes over.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftContent {
    pub entity_name: String,
    pub entity_type: String,
    pub jurisdiction: String,
    /// The price of the order, in US cents; None if it is not known.
    pub price_cents: Option<u32>,
    /// The part of the price that this service keeps, in US cents; the rest goes to the state. Older drafts do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_fee_cents: Option<u32>,
    /// The whole intake, as `formation` represents it.
    pub intake: Value,
}

/// A new draft, as returned to the program that created it. Its token is stored nowhere.
#[derive(Debug)]
pub struct OpenedDraft {
    pub id: DraftId,
    pub token: LinkToken,
    pub expires_at: UnixMillis,
}

/// What a link leads to.
#[derive(Clone, Debug)]
pub enum DraftView {
    Open { content: DraftContent, expires_at: UnixMillis },
    Accepted { order: OrderRecord, at: UnixMillis },
}

/// The result of accepting a draft.
#[derive(Clone, Debug)]
pub struct Acceptance {
    pub order: OrderRecord,
    /// None if the order was accepted too long ago to show the token again, or with another key of
    /// the directory.
    pub tracking_token: Option<String>,
    /// False if it was accepted before.
    pub is_new: bool,
}

fn owner_of_draft(id: DraftId, token: &LinkToken) -> Owner<'_> {
    Owner { kind: "draft", id: id.0, secret: token.bytes() }
}

/// The owner of data that is derived from a request and found by it.
fn owner_of_retry(secret: &[u8]) -> Owner<'_> {
    Owner { kind: "draft link", id: Uuid::nil(), secret }
}

/// Recognizes an intake, and reveals nothing about it to anyone without the key.
fn fingerprint(key: &SealKey, content: &[u8]) -> Result<String, ChangeError> {
    let mut bytes = [0; 16];
    let owner = Owner { kind: "draft request", ..owner_of_retry(content) };
    key.derived(owner).fill(&mut bytes).map_err(ChangeError::Entropy)?;
    Ok(hex::encode(&bytes))
}

impl Accounts {
    /// Stores an intake for the person who gets the link. The same intake, sent again with its
    /// idempotency key, returns the existing draft. None if the idempotency key belongs to another
    /// intake.
    pub fn open_draft(
        &self,
        owner: AccountId,
        content: &DraftContent,
        retry: Option<&str>,
        at: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<OpenedDraft>, ChangeError> {
        VisibleText::check("entity name", &content.entity_name)?;
        formation::entity_type(&content.entity_type).map_err(ChangeError::Refused)?;
        formation::state(&content.jurisdiction).map_err(ChangeError::Refused)?;
        let key = self.shared.seal_key(entropy)?;
        let json = to_json(content)?;
        let token = match retry {
            None => LinkToken::generate(entropy),
            // Derived from the idempotency key, so that the link can be returned again although
            // only its hash is stored.
            Some(retry) => {
                LinkToken::generate(&mut key.derived(owner_of_retry(format!("{owner}\0{retry}").as_bytes())))
            }
        };
        let token = token.map_err(ChangeError::Entropy)?;
        let request = retry.map(|_| fingerprint(&key, &json)).transpose()?;
        let id = DraftId(random_uuid(entropy)?);
        let sealed = key.seal(owner_of_draft(id, &token), &json, entropy)?;
        let expires_at = at.plus_millis(i64::from(self.settings().draft_days) * MILLIS_PER_DAY);
        let state = DraftState::Open(sealed);
        let record = DraftRecord { id, account: owner, created_at: at, expires_at, state, request };
        let digest = token.digest();
        let kept = self.change(move |poster| {
            account(poster, owner)?;
            let known: Option<DraftRecord> = get_json(&poster.writing, StateTable::Drafts, digest.bytes())?;
            if let Some(known) = known {
                if at < known.expires_at {
                    let is_the_same = known.request == record.request;
                    return Ok((is_the_same.then_some((known.id, known.expires_at)), no_memory_effect()));
                }
                // The known draft expired. The cleanup that would find it by its age must not
                // remove the new draft.
                poster.writing.remove(StateTable::DraftAges, &age_key(known.expires_at, &digest))?;
            }
            let open = open_drafts(&poster.writing, owner)?;
            if open >= OPEN_DRAFTS_MAX {
                return Err(ChangeError::Refused(format!(
                    "{open} drafts of this account wait for review, which is the maximum; accept some at \
                     their links, or wait until they expire"
                )));
            }
            put_json(&mut poster.writing, StateTable::Drafts, digest.bytes(), &record)?;
            poster.writing.put(StateTable::DraftAges, &age_key(expires_at, &digest), &owner.to_key())?;
            Ok((Some((id, expires_at)), no_memory_effect()))
        })?;
        Ok(kept.map(|(id, expires_at)| OpenedDraft { id, token, expires_at }))
    }

    /// What the holder of a link sees. None for an unknown link, an expired draft, or a disabled account.
    pub fn draft(
        &self,
        token: &LinkToken,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<DraftView>, ChangeError> {
        let digest = token.digest();
        let found = self.shared.with_reading(|reading| live_draft(reading, &digest, now))?;
        let Some(record) = found.filter(|record| self.may_have_drafts(record.account)) else { return Ok(None) };
        Ok(match record.state {
            DraftState::Open(_) => {
                let content = self.open_content(&record, token, entropy)?;
                Some(DraftView::Open { content, expires_at: record.expires_at })
            }
            DraftState::Accepted { order, at } => self.order(order)?.map(|order| DraftView::Accepted { order, at }),
        })
    }

    /// Turns the draft of a link into an order that waits for its payment. This happens once: a
    /// second acceptance returns the same order.
    pub fn accept_draft(
        &self,
        token: &LinkToken,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<Option<Acceptance>, ChangeError> {
        let digest = token.digest();
        let found = self.shared.with_reading(|reading| live_draft(reading, &digest, act.at))?;
        let Some(draft) = found.filter(|record| self.may_have_drafts(record.account)) else { return Ok(None) };
        // Derived from the link, so that the token can be returned again although only its hash is stored.
        let tracking_token = {
            let key = self.shared.seal_key(entropy)?;
            let owner = Owner { kind: "tracking token", ..owner_of_draft(draft.id, token) };
            tracking_token(&mut key.derived(owner))?
        };
        let accepted = match draft.state {
            DraftState::Accepted { order, at } => self.order(order)?.map(|order| (order, at, false)),
            DraftState::Open(_) => {
                let order = self.order_of(&draft, token, &tracking_token, act, entropy)?;
                self.take_over(digest, order, act)?
            }
        };
        Ok(accepted.map(|(order, at, is_new)| {
            // With another key of the directory, the derived token is a different one, which opens nothing.
            let is_its_own = order.token.matches(&KeyDigest::of_secret(&tracking_token));
            let is_shown = is_its_own && act.at < at.plus_millis(TOKEN_SHOWN_AGAIN_MILLIS);
            Acceptance { order, tracking_token: is_shown.then_some(tracking_token), is_new }
        }))
    }

    fn may_have_drafts(&self, account: AccountId) -> bool {
        let directory = self.shared.directory();
        directory.account(account).is_some_and(|account| account.record().status.is_open())
    }

    fn open_content(
        &self,
        draft: &DraftRecord,
        token: &LinkToken,
        entropy: &mut dyn Entropy,
    ) -> Result<DraftContent, ChangeError> {
        let damaged = || StateError::bad_record(StateTable::Drafts.name(), token.digest().bytes());
        let DraftState::Open(sealed) = &draft.state else { return Err(damaged().into()) };
        let content = self.shared.seal_key(entropy)?.open(owner_of_draft(draft.id, token), sealed)?;
        serde_json::from_slice(&content).map_err(|_| damaged().into())
    }

    /// Builds the order that the draft becomes.
    fn order_of(
        &self,
        draft: &DraftRecord,
        token: &LinkToken,
        tracking_token: &str,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<OrderRecord, ChangeError> {
        let DraftContent { entity_name, entity_type, jurisdiction, price_cents, intake, service_fee_cents: _ } =
            self.open_content(draft, token, entropy)?;
        // The account that handed the intake over follows the order with the id of the draft.
        let id = OrderId(draft.id.0);
        let intake = self.shared.seal_key(entropy)?.seal(owner_of_order(&id), &to_json(&intake)?, entropy)?;
        let reached = |stage| StageReached { stage, at: act.at, actor: Some(act.actor.clone()) };
        Ok(OrderRecord {
            id,
            account: draft.account,
            entity_name: VisibleText::new("entity name", entity_name)?,
            entity_type,
            jurisdiction,
            stages: vec![reached(OrderStage::Details), reached(OrderStage::Payment)],
            token: KeyDigest::of_secret(tracking_token),
            intake: Some(intake),
            price_cents,
            payment: None,
        })
    }

    /// Replaces the draft with the order, unless another acceptance was first or the draft is gone.
    fn take_over(
        &self,
        digest: KeyDigest,
        order: OrderRecord,
        act: &ActContext,
    ) -> Result<Option<(OrderRecord, UnixMillis, bool)>, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let found: Option<DraftRecord> = get_json(&poster.writing, StateTable::Drafts, digest.bytes())?;
            let Some(mut draft) = found.filter(|draft| act.at < draft.expires_at) else {
                return Ok((None, no_memory_effect()));
            };
            if let DraftState::Accepted { order, at } = draft.state {
                let first: Option<OrderRecord> = get_json(&poster.writing, StateTable::Orders, order.0.as_bytes())?;
                return Ok((first.map(|first| (first, at, false)), no_memory_effect()));
            }
            let unpaid = unpaid_orders(poster, draft.account)?;
            if unpaid >= UNPAID_ORDERS_MAX {
                return Err(ChangeError::Refused(format!(
                    "{unpaid} orders of this account wait for payment, which is the maximum; ask the \
                     operator to discard those that will not be paid"
                )));
            }
            draft.state = DraftState::Accepted { order: order.id, at: act.at };
            put_json(&mut poster.writing, StateTable::Drafts, digest.bytes(), &draft)?;
            // The draft is no longer open, so it is no longer counted as open.
            poster.writing.put(StateTable::DraftAges, &age_key(draft.expires_at, &digest), &[])?;
            put_order(poster, &order)?;
            audit(poster, &act, "order accept", &[&order.id, &" of ", &order.account])?;
            Ok((Some((order, act.at, true)), no_memory_effect()))
        })
    }

    /// The number of drafts that wait for a review.
    pub fn open_draft_count(&self) -> Result<usize, ChangeError> {
        Ok(self.shared.with_reading(|reading| {
            let mut open = 0;
            reading.scan(StateTable::DraftAges, &[], &mut |_, account| {
                open += usize::from(!account.is_empty());
                Ok(true)
            })?;
            Ok(open)
        })?)
    }
}

fn to_json(content: &impl Serialize) -> Result<Vec<u8>, ChangeError> {
    serde_json::to_vec(content).map_err(|_| StateError::bad_record(StateTable::Drafts.name(), b"").into())
}

fn live_draft(reading: &StateReader, digest: &KeyDigest, now: UnixMillis) -> Result<Option<DraftRecord>, StateError> {
    let found: Option<DraftRecord> = read_json(reading, StateTable::Drafts, digest.bytes())?;
    Ok(found.filter(|draft| now < draft.expires_at))
}

fn open_drafts(writing: &StateWriter, owner: AccountId) -> Result<usize, StateError> {
    Ok(writing.owned_by(Index::OpenDrafts, &owner.to_string())?.len())
}

/// Removes a draft and its entry in the table of expiry times.
pub(super) fn remove_draft(writing: &mut StateWriter, digest: &[u8], expires_at: UnixMillis) -> Result<(), StateError> {
    writing.remove(StateTable::DraftAges, &[&age(expires_at)[..], digest].concat())?;
    writing.remove(StateTable::Drafts, digest)
}

const AGE_BYTES: usize = 8;

fn age_key(expires_at: UnixMillis, digest: &KeyDigest) -> Vec<u8> {
    [&age(expires_at)[..], digest.bytes()].concat()
}

/// Bytes that sort by time, including times before 1970.
fn age(at: UnixMillis) -> [u8; AGE_BYTES] {
    (at.0 as u64 ^ 1 << 63).to_be_bytes()
}

/// Removes up to `most` drafts that expired by `now`. Returns true if more may be left.
pub(crate) fn expire(writing: &mut StateWriter, now: UnixMillis, most: usize) -> Result<bool, StateError> {
    let end = [&age(now)[..], &[0xff; 64]].concat();
    let expired = writing.keys_before(StateTable::DraftAges, &end, most)?;
    for key in &expired {
        writing.remove(StateTable::DraftAges, key)?;
        writing.remove(StateTable::Drafts, key.get(AGE_BYTES..).unwrap_or_default())?;
    }
    Ok(expired.len() == most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_the_order_of_time() {
        let times = [-5, -1, 0, 1, 255, 256, 1_790_000_000_000].map(UnixMillis);
        assert!(times.map(age).is_sorted());
    }
}
