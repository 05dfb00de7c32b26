//! Drafts and orders of company formations: sealed at rest, accepted once whatever happens, paid once, wiped in time.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Barrier;

use hornbook::accounts::changes::{
    Acceptance, DraftContent, DraftView, OPEN_DRAFTS_MAX, OpenedDraft, UNPAID_ORDERS_MAX,
};
use hornbook::accounts::entropy::SeededEntropy;
use hornbook::accounts::error::ChangeError;
use hornbook::accounts::ids::{AccountId, OrderId};
use hornbook::accounts::key::{KeyDigest, LinkToken};
use hornbook::accounts::records::OrderStage;
use hornbook::accounts::tier::PackName;
use hornbook::accounts::{Accounts, Durability, Settings};
use hornbook::clock::{ManualClock, Now};
use serde_json::json;
use support::disk::{Disk, EIO, Fault, FaultOn};
use support::{act, customer, fast_settings, noon, read, start, wait_until_healthy};

const DAY_MILLIS: u64 = 86_400_000;
const HOUR_MILLIS: u64 = 3_600_000;

/// Words that stand nowhere else.
const PRIVATE: [&str; 4] =
    ["Quillibrant Ondarza", "77 Vexley Terrace", "q.ondarza@mail.example", "Ondarza Holdings LLC"];

fn content(name: &str) -> DraftContent {
    DraftContent {
        entity_name: name.to_owned(),
        entity_type: "llc".to_owned(),
        jurisdiction: "DE".to_owned(),
        price_cents: Some(21_900),
        intake: json!({
            "names": [name],
            "people": [{ "name": PRIVATE[0], "address": { "street": PRIVATE[1] }, "email": PRIVATE[2] }],
        }),
    }
}

fn open(accounts: &Accounts, owner: AccountId, now: Now, seed: u64) -> Result<OpenedDraft, ChangeError> {
    accounts.open_draft(owner, &content("Ondarza Holdings LLC"), now.wall, &mut SeededEntropy(seed))
}

fn accept(accounts: &Accounts, token: &LinkToken, now: Now, seed: u64) -> Result<Option<Acceptance>, ChangeError> {
    accounts.accept_draft(token, &act(now), &mut SeededEntropy(seed))
}

fn look(accounts: &Accounts, token: &LinkToken, now: Now) -> Option<DraftView> {
    accounts.draft(token, now.wall, &mut SeededEntropy(0)).unwrap()
}

fn standing(clock: &ManualClock, settings: Settings) -> (Disk, Accounts, AccountId) {
    let disk = Disk::with_schema();
    let accounts = start(disk.medium(), settings, read(clock));
    let owner = customer(&accounts, 0, 1, read(clock)).account;
    (disk, accounts, owner)
}

#[test]
fn a_draft_becomes_an_order_that_is_paid_moved_and_completed() {
    let clock = noon();
    let (_, accounts, owner) = standing(&clock, Settings::default());
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    assert_eq!(draft.expires_at, read(&clock).wall.plus_millis(14 * DAY_MILLIS as i64));
    let Some(DraftView::Open { content: shown, expires_at }) = look(&accounts, &draft.token, read(&clock)) else {
        panic!("the draft is open");
    };
    assert_eq!((shown, expires_at), (content("Ondarza Holdings LLC"), draft.expires_at));
    clock.advance_millis(5000);
    let accepted = accept(&accounts, &draft.token, read(&clock), 2).unwrap().unwrap();
    let token = accepted.tracking_token.clone().unwrap();
    let id = accepted.order.id;
    assert!(accepted.is_new && token.starts_with("hb_order_"));
    assert_eq!((accepted.order.stage(), accepted.order.price_cents), (OrderStage::Payment, Some(21_900)));
    assert!(accepted.order.token.matches(&KeyDigest::of_secret(&token)));
    assert!(
        matches!(look(&accounts, &draft.token, read(&clock)), Some(DraftView::Accepted { order, .. }) if order.id == id)
    );

    clock.advance_millis(5000);
    let operator = hornbook::accounts::changes::Act { actor: "jane".to_owned(), at: read(&clock).wall };
    assert_eq!(accounts.pay_order(id, Some("wire 7".to_owned()), &operator).unwrap().stage(), OrderStage::Setup);
    assert_eq!(accounts.account(owner, read(&clock)).unwrap().remaining.allotment, 1000);
    for stage in [OrderStage::FinalReview, OrderStage::Filing, OrderStage::Completed] {
        clock.advance_millis(1000);
        let operator = hornbook::accounts::changes::Act { actor: "jane".to_owned(), at: read(&clock).wall };
        accounts.advance_order(id, stage, &operator).unwrap();
    }
    assert_eq!(accounts.account(owner, read(&clock)).unwrap().remaining.allotment, 5000);
    let order = accounts.order(id).unwrap().unwrap();
    let moves: Vec<_> = order
        .stages
        .iter()
        .map(|reached| (reached.stage.name(), (reached.at.0 - noon_millis()) / 1000, reached.actor.clone().unwrap()))
        .collect();
    let expected = [
        ("details", 5, "test"),
        ("payment", 5, "test"),
        ("setup", 10, "jane"),
        ("final_review", 11, "jane"),
        ("filing", 12, "jane"),
        ("completed", 13, "jane"),
    ];
    assert_eq!(moves, expected.map(|(stage, at, actor)| (stage, at, actor.to_owned())));
    let tracked = accounts.track_order(id, &token).unwrap().unwrap();
    assert_eq!(tracked.state, OrderStage::Completed);
    assert!(accounts.track_order(id, &token.replace("hb_order_", "hb_ordex_")).unwrap().is_none());
    let intake = accounts.order_intake(id, &operator, &mut SeededEntropy(3)).unwrap().unwrap();
    assert_eq!(intake, content("Ondarza Holdings LLC").intake);
    let acts: Vec<_> = accounts.acts(9).unwrap().into_iter().map(|act| act.act).collect();
    let orders: Vec<_> = acts.iter().filter(|act| act.starts_with("order")).map(String::as_str).collect();
    let advance = "order advance";
    assert_eq!(orders, ["order accept", "order confirm-payment", advance, advance, advance, "order show --intake"]);
}

fn noon_millis() -> i64 {
    read(&noon()).wall.0
}

#[test]
fn nothing_of_an_intake_is_in_any_file_in_plain_text() {
    let clock = noon();
    let data = tempfile::tempdir().unwrap();
    let accounts = Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let owner = customer(&accounts, 0, 1, read(&clock)).account;
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    let secret = draft.token.reveal();
    let (token, intake) = (secret.as_str(), serde_json::to_string(&content("Ondarza Holdings LLC").intake).unwrap());
    drop(accounts);
    let mut hidden = PRIVATE.to_vec();
    hidden.extend([token, &intake[1..20], "21900"]);
    assert_hidden(data.path(), &hidden);
    // The key opens nothing without the token, of which a hash is stored.
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(data.path().join("state.key")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);

    let accounts = Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let accepted = accept(&accounts, &draft.token, read(&clock), 2).unwrap().unwrap();
    drop(accounts);
    let tracking_token = accepted.tracking_token.unwrap();
    // An order has the name of the company, which is about to be public; the rest stays sealed.
    hidden.retain(|word| *word != "Ondarza Holdings LLC" && *word != "21900");
    hidden.push(&tracking_token);
    assert_hidden(data.path(), &hidden);
    let accounts = Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let intake = accounts.order_intake(accepted.order.id, &act(read(&clock)), &mut SeededEntropy(3)).unwrap();
    assert_eq!(intake.unwrap()["people"][0]["name"], PRIVATE[0]);
}

/// In no file of the directory, as text or in hexadecimal digits.
fn assert_hidden(data: &Path, words: &[&str]) {
    let mut files = 0;
    for entry in std::fs::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        files += 1;
        for word in words {
            let digits = hornbook::hex::encode(word.as_bytes());
            for wanted in [word.as_bytes(), digits.as_bytes()] {
                let found = bytes.windows(wanted.len()).any(|window| window == wanted);
                assert!(!found, "{} has '{word}'", path.display());
            }
        }
    }
    assert!(files >= 4, "state, key, lock, mark");
}

#[test]
fn another_key_opens_nothing_and_says_which_file_is_missing() {
    let clock = noon();
    let data = tempfile::tempdir().unwrap();
    let open_accounts = || Accounts::open(data.path(), Settings::default(), read(&clock)).unwrap();
    let accounts = open_accounts();
    let owner = customer(&accounts, 0, 1, read(&clock)).account;
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    drop(accounts);
    let key = data.path().join("state.key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let accounts = open_accounts();
    let other = open(&accounts, owner, read(&clock), 7).unwrap();
    let refused = accounts.draft(&draft.token, read(&clock).wall, &mut SeededEntropy(0)).unwrap_err().to_string();
    assert!(refused.contains("state.key") && refused.contains("put the file back"), "{refused}");
    assert!(look(&accounts, &other.token, read(&clock)).is_some());
    drop(accounts);
    std::fs::write(&key, kept).unwrap();
    assert!(look(&open_accounts(), &draft.token, read(&clock)).is_some());
}

#[test]
fn a_draft_is_gone_at_its_hour_and_wiped_at_the_next_sweep() {
    let clock = noon();
    let (disk, accounts, owner) = standing(&clock, Settings { draft_days: 2, ..Settings::default() });
    let first = open(&accounts, owner, read(&clock), 1).unwrap();
    let accepted = open(&accounts, owner, read(&clock), 2).unwrap();
    let order = accept(&accounts, &accepted.token, read(&clock), 3).unwrap().unwrap().order;
    clock.advance_millis(DAY_MILLIS);
    let second = open(&accounts, owner, read(&clock), 4).unwrap();
    clock.advance_millis(DAY_MILLIS - 1);
    accounts.maintain(read(&clock)).unwrap();
    assert!(look(&accounts, &first.token, read(&clock)).is_some());
    assert_eq!(accounts.open_draft_count().unwrap(), 2);
    clock.advance_millis(1);
    assert!(look(&accounts, &first.token, read(&clock)).is_none());
    assert!(accept(&accounts, &first.token, read(&clock), 5).unwrap().is_none());
    assert!(look(&accounts, &accepted.token, read(&clock)).is_none());
    accounts.maintain(read(&clock)).unwrap();
    assert_eq!(accounts.open_draft_count().unwrap(), 1);
    assert!(look(&accounts, &second.token, read(&clock)).is_some());
    // Also for a clock that went back: it is not there any more.
    clock.set_wall(first.expires_at.plus_millis(-(DAY_MILLIS as i64)));
    assert!(look(&accounts, &first.token, read(&clock)).is_none());
    assert!(look(&accounts, &accepted.token, read(&clock)).is_none());
    assert!(accounts.order(order.id).unwrap().is_some(), "the order stays");
    drop(accounts);
    drop(start(disk.medium(), Settings::default(), read(&clock)));
}

#[test]
fn acceptances_at_once_make_one_order_and_get_one_token() {
    let clock = noon();
    let (_, accounts, owner) = standing(&clock, fast_settings(Durability::Strict, 0));
    for round in 0..8 {
        let draft = open(&accounts, owner, read(&clock), 100 + round).unwrap();
        let before = accounts.orders().unwrap().len();
        let barrier = Barrier::new(8);
        let accepted: Vec<Acceptance> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|seed| {
                    let (accounts, token, barrier, now) = (&accounts, &draft.token, &barrier, read(&clock));
                    scope.spawn(move || {
                        barrier.wait();
                        accept(accounts, token, now, round * 8 + seed).unwrap().unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(accounts.orders().unwrap().len(), before + 1);
        assert_eq!(accepted.iter().filter(|accepted| accepted.is_new).count(), 1);
        let first = &accepted[0];
        assert!(accepted.iter().all(|other| other.order.id == first.order.id));
        assert!(accepted.iter().all(|other| other.tracking_token == first.tracking_token));
        let token = first.tracking_token.as_deref().unwrap();
        assert!(accounts.track_order(first.order.id, token).unwrap().is_some());
        accounts.pay_order(first.order.id, None, &act(read(&clock))).unwrap();
    }
}

/// At each write and sync of the commit in turn, the disk fails once, and the caller does not know what became of it.
#[test]
fn an_acceptance_that_a_failing_disk_interrupts_makes_one_order_at_the_second_try() {
    let clock = noon();
    let mut interrupted = 0;
    for on in [FaultOn::Write, FaultOn::Sync] {
        for after in 0..12 {
            let (disk, accounts, owner) = standing(&clock, Settings::default());
            let draft = open(&accounts, owner, read(&clock), 1).unwrap();
            disk.fail(Some(Fault { after, on, error: EIO, lasting: false, everywhere: false }));
            let first = accept(&accounts, &draft.token, read(&clock), 2);
            disk.fail(None);
            wait_until_healthy(&accounts).unwrap();
            let second = accept(&accounts, &draft.token, read(&clock), 3).unwrap().unwrap();
            assert_eq!(accounts.orders().unwrap().len(), 1, "{on:?} {after}");
            if let Ok(first) = &first {
                let first = first.as_ref().unwrap();
                assert_eq!((first.order.id, &first.tracking_token), (second.order.id, &second.tracking_token));
            } else {
                interrupted += 1;
            }
            let token = second.tracking_token.unwrap();
            // As after a kill: the file as it is, without a word of goodbye.
            let again = start(disk.medium(), Settings::default(), read(&clock));
            assert!(again.track_order(second.order.id, &token).unwrap().is_some());
            let third = accept(&again, &draft.token, read(&clock), 4).unwrap().unwrap();
            assert_eq!((third.order.id, third.tracking_token, third.is_new), (second.order.id, Some(token), false));
        }
    }
    assert!(interrupted >= 4, "only {interrupted} faults hit a commit");
}

#[test]
fn the_tracking_token_is_shown_again_for_an_hour_and_no_longer() {
    let clock = noon();
    let (_, accounts, owner) = standing(&clock, Settings::default());
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    let first = accept(&accounts, &draft.token, read(&clock), 2).unwrap().unwrap();
    clock.advance_millis(HOUR_MILLIS - 1);
    let again = accept(&accounts, &draft.token, read(&clock), 3).unwrap().unwrap();
    assert_eq!((again.tracking_token.as_ref(), again.is_new), (first.tracking_token.as_ref(), false));
    clock.advance_millis(1);
    let late = accept(&accounts, &draft.token, read(&clock), 4).unwrap().unwrap();
    assert_eq!((late.order.id, late.tracking_token), (first.order.id, None));
}

#[test]
fn who_has_no_link_or_no_account_any_more_sees_nothing() {
    let clock = noon();
    let (_, accounts, owner) = standing(&clock, Settings::default());
    let draft = open(&accounts, owner, read(&clock), 1).unwrap();
    let other = LinkToken::parse(&"A".repeat(32)).unwrap();
    assert!(look(&accounts, &other, read(&clock)).is_none());
    assert!(accept(&accounts, &other, read(&clock), 2).unwrap().is_none());
    accounts.disable_account(owner, &act(read(&clock))).unwrap();
    assert!(look(&accounts, &draft.token, read(&clock)).is_none());
    assert!(accept(&accounts, &draft.token, read(&clock), 3).unwrap().is_none());
    accounts.approve_account(owner, &act(read(&clock))).unwrap();
    assert!(look(&accounts, &draft.token, read(&clock)).is_some());
    assert!(open(&accounts, AccountId(99), read(&clock), 4).unwrap_err().to_string().contains("acct-99"));
}

#[test]
fn drafts_and_unpaid_orders_of_an_account_are_bounded() {
    let clock = noon();
    let (_, accounts, owner) = standing(&clock, Settings::default());
    let drafts: Vec<_> =
        (0..OPEN_DRAFTS_MAX).map(|n| open(&accounts, owner, read(&clock), n as u64).unwrap()).collect();
    let refused = open(&accounts, owner, read(&clock), 999).unwrap_err().to_string();
    assert!(refused.contains("100 drafts"), "{refused}");
    let neighbour = customer(&accounts, 0, 1, read(&clock)).account;
    open(&accounts, neighbour, read(&clock), 1000).unwrap();

    let mut orders: Vec<OrderId> = Vec::new();
    for (seed, draft) in drafts[..UNPAID_ORDERS_MAX].iter().enumerate() {
        orders.push(accept(&accounts, &draft.token, read(&clock), seed as u64).unwrap().unwrap().order.id);
    }
    let next = &drafts[UNPAID_ORDERS_MAX].token;
    let refused = accept(&accounts, next, read(&clock), 1).unwrap_err().to_string();
    assert!(refused.contains("20 orders"), "{refused}");
    // Those that were accepted are open no longer.
    open(&accounts, owner, read(&clock), 1001).unwrap();
    accounts.discard_order(orders[0], &act(read(&clock))).unwrap();
    assert!(accounts.order(orders[0]).unwrap().is_none());
    assert!(look(&accounts, &drafts[0].token, read(&clock)).is_none(), "its link leads nowhere");
    assert!(accept(&accounts, &drafts[0].token, read(&clock), 1).unwrap().is_none());
    accept(&accounts, next, read(&clock), 101).unwrap().unwrap();
    accounts.pay_order(orders[1], None, &act(read(&clock))).unwrap();
    let refused = accounts.discard_order(orders[1], &act(read(&clock))).unwrap_err().to_string();
    assert!(refused.contains("at setup"), "{refused}");
    accept(&accounts, &drafts[UNPAID_ORDERS_MAX + 1].token, read(&clock), 102).unwrap().unwrap();
}

#[test]
fn a_payment_counts_once_for_orders_and_purchases_together() {
    let clock = noon();
    let now = read(&clock);
    let (_, accounts, owner) = standing(&clock, Settings::default());
    let accepted = |seed| {
        let draft = open(&accounts, owner, now, seed).unwrap();
        accept(&accounts, &draft.token, now, seed).unwrap().unwrap().order.id
    };
    let (first, second) = (accepted(1), accepted(2));
    let pay = |order, reference: &str| accounts.pay_order(order, Some(reference.to_owned()), &act(now));
    let paid = pay(first, "pi_1").unwrap();
    assert_eq!(pay(first, "pi_1").unwrap().stages, paid.stages, "the same payment, reported again");
    assert!(pay(first, "pi_2").unwrap_err().to_string().contains("paid already"));
    let refused = pay(second, "pi_1").unwrap_err().to_string();
    assert!(refused.contains(&format!("paid order {first} already")), "{refused}");
    let [one, other] = [(), ()].map(|()| accounts.request_purchase(owner, PackName::Pro, &act(now)).unwrap().id);
    assert!(accounts.pay_purchase(one, Some("pi_1".to_owned()), &act(now)).is_err());
    accounts.pay_purchase(one, Some("pi_3".to_owned()), &act(now)).unwrap();
    assert!(pay(second, "pi_3").unwrap_err().to_string().contains("paid buy-1 already"));
    assert!(pay(second, " ").is_err());
    accounts.advance_order(second, OrderStage::Filing, &act(now)).unwrap();
    assert_eq!(pay(second, "pi_4").unwrap().stage(), OrderStage::Filing, "a late confirmation moves nothing back");
    accounts.pay_purchase(other, None, &act(now)).unwrap();
}

/// What the state should hold, kept in the simplest way.
#[derive(Default)]
struct Model {
    /// By their place, with what became of them.
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
    for seed in 0..24 {
        play(seed);
    }
}

fn play(seed: u64) {
    let clock = noon();
    let disk = Disk::with_schema();
    let settings = Settings { draft_days: 3, ..Settings::default() };
    let mut accounts = start(disk.medium(), settings, read(&clock));
    let owners = [0, 1].map(|_| customer(&accounts, 0, 1, read(&clock)).account);
    let (mut random, mut model) = (SeededEntropy(seed), Model::default());
    for step in 0..120 {
        let context = format!("seed {seed}, step {step}");
        let now = read(&clock);
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
                accounts = start(disk.medium(), settings, now);
            }
        }
        compare(&accounts, &model, owners, read(&clock), &context);
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
        let seen = match look(accounts, &draft.opened.token, now) {
            None => None,
            Some(DraftView::Open { .. }) => Some(None),
            Some(DraftView::Accepted { order, .. }) => Some(Some(order.id)),
        };
        let is_live = now.wall < draft.opened.expires_at && !draft.is_swept;
        let leads_somewhere = draft.order.is_none_or(|order| model.orders.contains_key(&order));
        assert_eq!(seen, (is_live && leads_somewhere).then_some(draft.order), "{context}");
    }
    for (owner, formed) in owners.into_iter().zip(model.formed) {
        let allotment = accounts.account(owner, now).unwrap().remaining.allotment;
        assert_eq!(allotment, if formed { 5000 } else { 1000 }, "{context}");
    }
}
