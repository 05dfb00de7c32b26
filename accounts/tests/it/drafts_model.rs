//! Compares drafts and orders with a simple model: random sequences of actions, with restarts and
//! sweeps in between.

use std::collections::BTreeMap;

use hornbook_accounts::changes::{DraftView, OPEN_DRAFTS_MAX, OpenedDraft, UNPAID_ORDERS_MAX};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::ids::{AccountId, OrderId};
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::tracking::HandoffView;
use hornbook_accounts::{Accounts, Settings};
use hornbook_base::clock::Now;

use crate::TestState;
use crate::support::drafts::{DAY_MILLIS, accept, open, view_draft};
use crate::support::{act, clock_at_noon, create_customer, now_of, start_accounts};

/// The expected state, in simple data structures.
#[derive(Default)]
struct Model {
    /// Drafts in the order of creation, with their state.
    drafts: Vec<ModelDraft>,
    orders: BTreeMap<OrderId, ModelOrder>,
    formed: [bool; 2],
}

struct ModelDraft {
    opened: OpenedDraft,
    owner: usize,
    order: Option<OrderId>,
    is_swept: bool,
}

struct ModelOrder {
    owner: usize,
    stage: OrderStage,
    is_paid: bool,
    token: String,
}

#[test]
fn any_sequence_of_acts_leaves_the_state_that_a_simple_model_expects() {
    for seed in 0..u64::from(24 / crate::ONE_IN) {
        play(seed);
    }
}

fn play(seed: u64) {
    let clock = clock_at_noon();
    let state = TestState::fresh();
    let settings = Settings { draft_days: 3, ..Settings::default() };
    let mut accounts = start_accounts(state.medium(), settings, now_of(&clock));
    let owners = [0, 1].map(|_| create_customer(&accounts, 0, 1, now_of(&clock)).account);
    let (mut random, mut model) = (SeededEntropy(seed), Model::default());
    for step in 0..120 {
        let context = format!("seed {seed}, step {step}");
        let now = now_of(&clock);
        match random.below(12) {
            0..=2 => {
                let owner = random.below(2) as usize;
                let is_live = |draft: &&ModelDraft| !draft.is_swept && draft.order.is_none() && draft.owner == owner;
                let open_now = model.drafts.iter().filter(is_live).count();
                let opened = open(&accounts, owners[owner], now, random.draw());
                assert_eq!(opened.is_ok(), open_now < OPEN_DRAFTS_MAX, "{context}");
                let Ok(opened) = opened else { continue };
                model.drafts.push(ModelDraft { opened, owner, order: None, is_swept: false });
            }
            3..=5 if !model.drafts.is_empty() => {
                let at = random.below(model.drafts.len() as u64) as usize;
                accept_in_model(&accounts, &mut model, at, now, random.draw(), &context);
            }
            6 if !model.orders.is_empty() => {
                let at = random.below(model.orders.len() as u64) as usize;
                let (id, order) = model.orders.iter_mut().nth(at).unwrap();
                let paid = accounts.pay_order(*id, None, &act(now));
                assert_eq!(paid.is_ok(), !order.is_paid, "{context}");
                if paid.is_ok() {
                    order.is_paid = true;
                    order.stage = order.stage.max(OrderStage::Setup);
                }
            }
            7 if !model.orders.is_empty() => {
                let at = random.below(model.orders.len() as u64) as usize;
                let to = OrderStage::ALL[random.below(6) as usize];
                let (id, order) = model.orders.iter_mut().nth(at).unwrap();
                let moved = accounts.advance_order(*id, to, &act(now));
                assert_eq!(moved.is_ok(), to > order.stage, "{context}");
                if moved.is_ok() {
                    order.stage = to;
                    model.formed[order.owner] |= to == OrderStage::Completed;
                }
            }
            8 if !model.orders.is_empty() => {
                let at = random.below(model.orders.len() as u64) as usize;
                let id = *model.orders.keys().nth(at).unwrap();
                let is_unpaid = !model.orders[&id].is_paid && model.orders[&id].stage <= OrderStage::Payment;
                assert_eq!(accounts.discard_order(id, &act(now)).is_ok(), is_unpaid, "{context}");
                if is_unpaid {
                    model.orders.remove(&id);
                }
            }
            9 => clock.advance_millis(random.below(DAY_MILLIS)),
            10 => {
                accounts.maintain(now).unwrap();
                for draft in model.drafts.iter_mut().filter(|draft| draft.opened.expires_at <= now.wall) {
                    draft.is_swept = true;
                }
            }
            _ => {
                drop(accounts);
                accounts = start_accounts(state.medium(), settings, now);
            }
        }
        compare(&accounts, &model, owners, now_of(&clock), &context);
    }
}

fn accept_in_model(accounts: &Accounts, model: &mut Model, at: usize, now: Now, seed: u64, context: &str) {
    let draft = &mut model.drafts[at];
    let accepted = accept(accounts, &draft.opened.token, now, seed);
    let is_live = now.wall < draft.opened.expires_at;
    let unpaid =
        |order: &&ModelOrder| order.owner == draft.owner && !order.is_paid && order.stage <= OrderStage::Payment;
    if !is_live {
        assert!(accepted.unwrap().is_none(), "{context}");
    } else if let Some(id) = draft.order {
        let found = accepted.unwrap().map(|accepted| (accepted.order.id, accepted.is_new));
        assert_eq!(found, model.orders.contains_key(&id).then_some((id, false)), "{context}");
    } else if model.orders.values().filter(unpaid).count() >= UNPAID_ORDERS_MAX {
        assert!(accepted.is_err(), "{context}");
    } else {
        let accepted = accepted.unwrap().unwrap();
        assert!(accepted.is_new, "{context}");
        draft.order = Some(accepted.order.id);
        let token = accepted.tracking_token.unwrap();
        let order = ModelOrder { owner: draft.owner, stage: OrderStage::Payment, is_paid: false, token };
        model.orders.insert(accepted.order.id, order);
    }
}

fn compare(accounts: &Accounts, model: &Model, owners: [AccountId; 2], now: Now, context: &str) {
    let stored: Vec<OrderId> = accounts.orders().unwrap().into_iter().map(|order| order.id).collect();
    assert_eq!(stored, model.orders.keys().copied().collect::<Vec<_>>(), "{context}");
    for (id, order) in &model.orders {
        let tracked = accounts.track_order(*id, &order.token).unwrap().unwrap();
        assert_eq!(tracked.state, order.stage, "{context}");
    }
    let open = model.drafts.iter().filter(|draft| !draft.is_swept && draft.order.is_none()).count();
    assert_eq!(accounts.open_draft_count().unwrap(), open, "{context}");
    for draft in &model.drafts {
        let seen = match view_draft(accounts, &draft.opened.token, now) {
            None => None,
            Some(DraftView::Open { .. }) => Some(None),
            Some(DraftView::Accepted { order, .. }) => Some(Some(order.id)),
        };
        let is_live = now.wall < draft.opened.expires_at && !draft.is_swept;
        let leads_somewhere = draft.order.is_none_or(|order| model.orders.contains_key(&order));
        assert_eq!(seen, (is_live && leads_somewhere).then_some(draft.order), "{context}");
        // The account that handed it over follows it, also when the link has expired; the other one never does.
        let followed = accounts.handoff(owners[draft.owner], draft.opened.id, now.wall).unwrap();
        let followed = followed.map(|view| match view {
            HandoffView::InReview { expires_at, .. } => Err(expires_at),
            HandoffView::Ordered(order) => Ok((order.order_id, order.state)),
        });
        let expected = match draft.order {
            None => is_live.then_some(Err(draft.opened.expires_at)),
            Some(id) => model.orders.get(&id).map(|order| Ok((id, order.stage))),
        };
        assert_eq!(followed, expected, "{context}");
        let other = accounts.handoff(owners[1 - draft.owner], draft.opened.id, now.wall).unwrap();
        assert!(other.is_none(), "{context}");
    }
    for (owner, formed) in owners.into_iter().zip(model.formed) {
        let allotment = accounts.account(owner, now).unwrap().remaining.allotment;
        assert_eq!(allotment, if formed { 5000 } else { 1000 }, "{context}");
    }
}
