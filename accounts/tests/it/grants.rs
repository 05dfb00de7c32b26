//! Agents that people let in: their tokens, what ends them, and that they are keys in all other respects.

use hornbook_accounts::actor::Actor;
use hornbook_accounts::admission::Reserved;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{
    ACCESS_MILLIS, AgentLimits, AllowedAgent, CODE_MILLIS, CODES_MAX, IssuedGrant, NewChildKey, NewGrant,
};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{BadKey, ChangeError, Refusal};
use hornbook_accounts::grant::RefreshToken;
use hornbook_accounts::ids::{AccountId, Credits, KeyId};
use hornbook_accounts::key::{KeyDigest, KeyKind, LinkToken, PlainKey};
use hornbook_accounts::ledger::verify::VerifyError;
use hornbook_accounts::records::AuditRecord;
use hornbook_accounts::restore::restore;
use hornbook_accounts::scope::{Scope, ScopeSet};
use hornbook_accounts::state::StateError;
use hornbook_accounts::{Accounts, Durability};
use hornbook_base::clock::{ManualClock, Now, UnixMillis};

use crate::TestState;
use crate::support::{act, clock_at_noon, create_customer, fast_settings, now_of, start_accounts};

const DAY_MILLIS: u64 = 86_400_000;

fn client() -> KeyDigest {
    KeyDigest::of_secret("a client")
}

fn allow(accounts: &Accounts, account: AccountId, budget: Budget, now: Now) -> Result<IssuedGrant, ChangeError> {
    let expires_at = Some(now.wall.plus_millis(90 * DAY_MILLIS as i64));
    let seed = now.wall.0 as u64 + accounts.keys(None).len() as u64;
    let code = code_for(accounts, allowed(account, budget, expires_at), seed, now).unwrap();
    let issued = accounts.redeem_code(&code, |_| true, now.wall, &mut SeededEntropy(seed))?;
    Ok(issued.expect("a fresh code works"))
}

fn allowed(account: AccountId, budget: Budget, expires_at: Option<UnixMillis>) -> AllowedAgent {
    AllowedAgent {
        grant: NewGrant {
            account,
            name: "an assistant".to_owned(),
            returns_to: "assistant.example".to_owned(),
            client: client(),
            limits: AgentLimits { scopes: ScopeSet::ALL, budget, expires_at },
        },
        redirect: "https://assistant.example/".to_owned(),
        challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned(),
    }
}

fn code_for(accounts: &Accounts, allowed: AllowedAgent, seed: u64, now: Now) -> Option<LinkToken> {
    accounts.allow_agent(allowed, now.wall, &mut SeededEntropy(seed)).unwrap()
}

/// Presents a code with the right proof.
fn redeem(accounts: &Accounts, code: &LinkToken, seed: u64, now: Now) -> Option<IssuedGrant> {
    accounts.redeem_code(code, |_| true, now.wall, &mut SeededEntropy(seed)).unwrap()
}

fn refresh(accounts: &Accounts, token: &RefreshToken, seed: u64, now: Now) -> Option<IssuedGrant> {
    accounts.refresh_grant(token, client(), &act(now), &mut SeededEntropy(seed)).unwrap()
}

fn works(accounts: &Accounts, access: &PlainKey, now: Now) -> bool {
    accounts.authenticate_agent(Some(&access.reveal()), now).is_ok()
}

fn acts(accounts: &Accounts) -> Vec<String> {
    accounts.acts(100).unwrap().into_iter().map(|act| format!("{} {}", act.act, act.on)).collect()
}

fn opened(state: &TestState, clock: &ManualClock) -> Accounts {
    start_accounts(state.medium(), fast_settings(Durability::Strict, 100), now_of(clock))
}

#[test]
fn a_code_works_once_for_a_minute_and_after_a_restart() {
    let clock = clock_at_noon();
    let state = TestState::fresh();
    let accounts = opened(&state, &clock);
    let owner = create_customer(&accounts, 10, 1, now_of(&clock)).account;
    let wish = || allowed(owner, Budget::default(), None);
    let codes: Vec<LinkToken> =
        (1..=4).map(|seed| code_for(&accounts, wish(), seed, now_of(&clock)).unwrap()).collect();
    drop(accounts);
    let accounts = opened(&state, &clock);
    clock.advance_millis(CODE_MILLIS as u64 - 1);
    let issued = redeem(&accounts, &codes[0], 10, now_of(&clock)).expect("it works, and knows what was allowed");
    assert_eq!((issued.record.account, &*issued.record.name), (owner, "an assistant"));
    let refused = accounts.redeem_code(&codes[1], |_| false, now_of(&clock).wall, &mut SeededEntropy(11)).unwrap();
    assert!(refused.is_none() && redeem(&accounts, &codes[1], 12, now_of(&clock)).is_none(), "it was used up");
    clock.advance_millis(1);
    assert!(redeem(&accounts, &codes[2], 13, now_of(&clock)).is_none(), "it has expired");
    let unknown = LinkToken::parse(&"a".repeat(32)).unwrap();
    assert!(redeem(&accounts, &unknown, 14, now_of(&clock)).is_none());
    // Presented again, it was stolen: its grant ends.
    assert!(works(&accounts, &issued.access, now_of(&clock)));
    assert!(redeem(&accounts, &codes[0], 15, now_of(&clock)).is_none());
    assert!(!works(&accounts, &issued.access, now_of(&clock)));
    assert!(acts(&accounts).iter().any(|act| act.ends_with(", because its code was used again")));
    assert!(redeem(&accounts, &codes[0], 16, now_of(&clock)).is_none(), "and no new one begins");
}

#[test]
fn codes_are_bounded_and_used_ones_make_room() {
    let clock = clock_at_noon();
    let accounts = opened(&TestState::fresh(), &clock);
    let owner = create_customer(&accounts, 10, 1, now_of(&clock)).account;
    let code = |seed| code_for(&accounts, allowed(owner, Budget::default(), None), seed, now_of(&clock));
    let first = code(1).unwrap();
    (1..CODES_MAX as u64).for_each(|number| assert!(code(1_000 + number).is_some()));
    assert!(code(2).is_none());
    assert!(redeem(&accounts, &first, 3, now_of(&clock)).is_some());
    assert!(code(4).is_some() && code(5).is_none());
    clock.advance_millis(CODE_MILLIS as u64);
    assert!(code(6).is_some(), "the others have expired");
}

#[test]
fn an_access_token_works_for_an_hour_and_only_where_agents_call() {
    let clock = clock_at_noon();
    let accounts = opened(&TestState::fresh(), &clock);
    let owner = create_customer(&accounts, 10, 1, now_of(&clock));
    let issued = allow(&accounts, owner.account, Budget::default(), now_of(&clock)).unwrap();
    let access = issued.access.reveal();
    assert!(access.starts_with("hb_auth_") && issued.refresh.reveal().starts_with("hb_refr_2_"));
    assert_eq!(accounts.authenticate_agent(Some(&access), now_of(&clock)).unwrap().key(), issued.record.id);
    let elsewhere = accounts.authenticate(Some(&access), now_of(&clock)).err();
    assert_eq!(elsewhere, Some(Refusal::Key(BadKey::ForAgentsOnly)));
    assert!(accounts.authenticate_agent(Some(&owner.keys[0]), now_of(&clock)).is_ok(), "API keys work there too");
    clock.advance_millis(ACCESS_MILLIS as u64 - 1);
    assert!(works(&accounts, &issued.access, now_of(&clock)));
    clock.advance_millis(1);
    assert!(!works(&accounts, &issued.access, now_of(&clock)));
    let shown = format!("{issued:?} {:?}", accounts.keys(None));
    assert!(!shown.contains(&access) && !shown.contains(&issued.refresh.reveal()), "secrets print themselves: {shown}");
    assert!(!shown.contains(&access[..12]), "the record names the agent and not its token");
}

#[test]
fn a_refresh_replaces_both_tokens_and_keeps_the_key() {
    let clock = clock_at_noon();
    let state = TestState::fresh();
    let accounts = opened(&state, &clock);
    let owner = create_customer(&accounts, 0, 0, now_of(&clock));
    let budget = Budget { total: Some(3), ..Budget::default() };
    let first = allow(&accounts, owner.account, budget, now_of(&clock)).unwrap();
    agent_call(&accounts, &first.access, 2, now_of(&clock)).unwrap();
    clock.advance_millis(2 * ACCESS_MILLIS as u64);
    let second = refresh(&accounts, &first.refresh, 2, now_of(&clock)).unwrap();
    assert_eq!(second.record.id, first.record.id);
    assert!(works(&accounts, &second.access, now_of(&clock)) && !works(&accounts, &first.access, now_of(&clock)));
    let refused = agent_call(&accounts, &second.access, 2, now_of(&clock)).unwrap_err();
    assert!(matches!(refused, Refusal::Budget { .. }), "the budget goes on: {refused:?}");
    agent_call(&accounts, &second.access, 1, now_of(&clock)).unwrap();
    accounts.verify_ledger().unwrap();
    accounts.close();

    let accounts = opened(&state, &clock);
    assert!(works(&accounts, &second.access, now_of(&clock)) && !works(&accounts, &first.access, now_of(&clock)));
    let third = refresh(&accounts, &second.refresh, 3, now_of(&clock)).unwrap();
    assert!(!works(&accounts, &second.access, now_of(&clock)), "the old access token stops at once");
    let entries = accounts.recent_entries(owner.account, 1).unwrap();
    assert_eq!(entries[0].key_prefix.as_deref(), Some("agent key-1"));
    clock.advance_millis(90 * DAY_MILLIS);
    assert!(refused_refresh(&accounts, &third.refresh, now_of(&clock)), "the grant has ended");
}

#[test]
fn a_refresh_token_that_was_used_before_ends_the_grant_however_old_it_is() {
    let clock = clock_at_noon();
    let accounts = opened(&TestState::fresh(), &clock);
    let owner = create_customer(&accounts, 0, 0, now_of(&clock));
    for rounds in [1, 3] {
        let first = allow(&accounts, owner.account, Budget::default(), now_of(&clock)).unwrap();
        let mut last = refresh(&accounts, &first.refresh, 1, now_of(&clock)).unwrap();
        for round in 1..rounds {
            last = refresh(&accounts, &last.refresh, round, now_of(&clock)).unwrap();
        }
        assert!(refresh(&accounts, &first.refresh, 99, now_of(&clock)).is_none());
        assert!(!works(&accounts, &last.access, now_of(&clock)));
        assert!(refused_refresh(&accounts, &last.refresh, now_of(&clock)));
        let why = format!(
            "agent revoke {} of {}, because an earlier refresh token was used again",
            last.record.id, owner.account
        );
        assert!(acts(&accounts).contains(&why), "{:?}", acts(&accounts));
    }
}

#[test]
fn nobody_ends_or_refreshes_a_grant_without_one_of_its_tokens() {
    let clock = clock_at_noon();
    let accounts = opened(&TestState::fresh(), &clock);
    let owner = create_customer(&accounts, 0, 1, now_of(&clock));
    let issued = allow(&accounts, owner.account, Budget::default(), now_of(&clock)).unwrap();
    let (id, secret) = (issued.record.id.0, "a".repeat(64));
    for guess in
        [format!("hb_refr_{id}_{secret}"), format!("hb_refr_{}_{secret}", id - 1), format!("hb_refr_900_{secret}")]
    {
        let token = RefreshToken::parse(&guess).unwrap();
        assert!(refresh(&accounts, &token, 1, now_of(&clock)).is_none());
        assert_eq!(accounts.revoke_grant(&guess, &act(now_of(&clock))).unwrap(), None);
    }
    let other = KeyDigest::of_secret("another client");
    let of_other = accounts.refresh_grant(&issued.refresh, other, &act(now_of(&clock)), &mut SeededEntropy(1)).unwrap();
    assert!(of_other.is_none(), "another client");
    assert_eq!(accounts.revoke_grant(&owner.keys[0], &act(now_of(&clock))).unwrap(), None, "an API key is no token");
    assert!(accounts.authenticate(Some(&owner.keys[0]), now_of(&clock)).is_ok());
    assert!(works(&accounts, &issued.access, now_of(&clock)));
}

#[test]
fn every_way_of_ending_a_grant_ends_its_tokens_at_once() {
    let clock = clock_at_noon();
    let accounts = opened(&TestState::fresh(), &clock);
    let owner = create_customer(&accounts, 0, 0, now_of(&clock));
    let now = now_of(&clock);
    let by_access = |issued: &IssuedGrant| accounts.revoke_grant(&issued.access.reveal(), &act(now)).unwrap();
    let by_refresh = |issued: &IssuedGrant| accounts.revoke_grant(&issued.refresh.reveal(), &act(now)).unwrap();
    let by_owner = |issued: &IssuedGrant| Some(accounts.revoke_key(issued.record.id, &act(now)).unwrap().id);
    let by_operator = |issued: &IssuedGrant| {
        accounts.disable_account(owner.account, &act(now)).unwrap();
        Some(issued.record.id)
    };
    for end in [&by_access as &dyn Fn(&IssuedGrant) -> Option<KeyId>, &by_refresh, &by_owner, &by_operator] {
        let issued = allow(&accounts, owner.account, Budget::default(), now).unwrap();
        assert!(works(&accounts, &issued.access, now));
        assert_eq!(end(&issued), Some(issued.record.id));
        assert!(!works(&accounts, &issued.access, now) && refused_refresh(&accounts, &issued.refresh, now));
    }
    let refused = allow(&accounts, owner.account, Budget::default(), now).unwrap_err().to_string();
    assert!(refused.contains("not approved"), "{refused}");
    let revoked = acts(&accounts).iter().filter(|line| line.starts_with("agent revoke")).count();
    assert_eq!(revoked, 3);
    assert!(acts(&accounts).contains(&format!(
        "agent allow key-1 of {}, {}, without a budget",
        owner.account,
        ScopeSet::ALL
    )));
}

#[test]
fn the_key_of_an_agent_is_not_replaced_and_creates_no_keys() {
    let clock = clock_at_noon();
    let accounts = opened(&TestState::fresh(), &clock);
    let owner = create_customer(&accounts, 0, 0, now_of(&clock));
    let issued = allow(&accounts, owner.account, Budget::default(), now_of(&clock)).unwrap();
    let (id, now) = (issued.record.id, now_of(&clock));
    let rotated = accounts.rotate_key(id, 0, &act(now), &mut SeededEntropy(1)).unwrap_err().to_string();
    let wish =
        NewChildKey { name: "below".to_owned(), scopes: Some(ScopeSet::of(&[Scope::Node])), ..NewChildKey::default() };
    let below = accounts.create_child_key(id, wish, &act(now), &mut SeededEntropy(1)).unwrap_err().to_string();
    for refused in [rotated, below] {
        assert!(refused.contains("the access of the agent an assistant"), "{refused}");
    }
    let limits = Budget { per_day: Some(1), ..Budget::default() };
    accounts.set_key_budget(id, limits, &act(now)).unwrap();
    assert!(works(&accounts, &issued.access, now), "a new budget keeps the tokens");
    assert!(refresh(&accounts, &issued.refresh, 5, now).is_some());
    assert_eq!(accounts.keys(None)[0].record.kind, KeyKind::Agent);
}

/// The tokens of the backup are older than those that the agent has. So its next refresh ends the grant.
#[test]
fn a_restore_brings_no_ended_grant_back_and_recognizes_a_refreshed_one() {
    let clock = clock_at_noon();
    let folder = tempfile::tempdir().unwrap();
    let (data, backup) = (folder.path().join("data"), folder.path().join("backup.redb"));
    let open = || Accounts::open(&data, fast_settings(Durability::Strict, 100), now_of(&clock)).unwrap();
    let accounts = open();
    let owner = create_customer(&accounts, 0, 0, now_of(&clock));
    let kept = allow(&accounts, owner.account, Budget::default(), now_of(&clock)).unwrap();
    let ended = allow(&accounts, owner.account, Budget::default(), now_of(&clock)).unwrap();
    accounts.back_up(&backup).unwrap();
    let ended_later = refresh(&accounts, &ended.refresh, 1, now_of(&clock)).unwrap();
    let kept_later = refresh(&accounts, &kept.refresh, 2, now_of(&clock)).unwrap();
    accounts.revoke_key(ended.record.id, &act(now_of(&clock))).unwrap();
    drop(accounts);

    let (at, actor, what) = (now_of(&clock).wall.to_string(), Actor::program("test"), "restore".to_owned());
    let record = AuditRecord { at, actor, act: what, on: "the backup".to_owned() };
    let mut shown = Vec::new();
    let confirm = |lines: &[String]| {
        shown = lines.to_vec();
        Ok::<(), RestoreError>(())
    };
    restore(&data, &backup, now_of(&clock).wall, record, confirm).unwrap();
    let line = format!(
        "key {} of {} (agent {}...) stays revoked (in the backup it works)",
        ended.record.id, owner.account, ended.record.id
    );
    assert_eq!(shown, [line]);
    let accounts = open();
    for token in [&ended.refresh, &ended_later.refresh] {
        assert!(refused_refresh(&accounts, token, now_of(&clock)));
    }
    assert!(!works(&accounts, &ended.access, now_of(&clock)) && !works(&accounts, &kept_later.access, now_of(&clock)));
    assert!(refresh(&accounts, &kept_later.refresh, 3, now_of(&clock)).is_none());
    assert!(!works(&accounts, &kept.access, now_of(&clock)));
}

#[derive(Debug)]
struct RestoreError;

impl From<StateError> for RestoreError {
    fn from(_: StateError) -> Self {
        Self
    }
}

impl From<VerifyError> for RestoreError {
    fn from(_: VerifyError) -> Self {
        Self
    }
}

fn refused_refresh(accounts: &Accounts, token: &RefreshToken, now: Now) -> bool {
    let refreshed = accounts.refresh_grant(token, client(), &act(now), &mut SeededEntropy(6));
    matches!(refreshed, Ok(None) | Err(ChangeError::Refused(_)))
}

fn agent_call(accounts: &Accounts, access: &PlainKey, cost: u32, now: Now) -> Result<(), Refusal> {
    let text = access.reveal();
    let paced = accounts.authenticate_agent(Some(&text), now)?.require(ScopeSet::ALL)?.check_rate(now)?;
    match paced.reserve("search", Credits(cost), None, now)? {
        Reserved::Fresh(reservation) => reservation.begin()?.settle_blocking().map(|_| ()).map_err(Refusal::from),
        Reserved::Replay(_) => unreachable!("no idempotency key was given"),
    }
}
