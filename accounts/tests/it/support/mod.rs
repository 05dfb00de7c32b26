//! Shared by the tests of accounts: a state in memory, a manual clock, and calls like those of a client.

pub(crate) mod disk;
pub(crate) mod drafts;

use std::sync::Arc;

use hornbook_accounts::actor::Actor;
use hornbook_accounts::admission::{MeteringReceipt, Reserved};
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{LedgerError, Refusal};
use hornbook_accounts::idempotency::Idempotency;
use hornbook_accounts::ids::{AccountId, Credits, KeyId};
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::state::{State, StateStorage};
use hornbook_accounts::tier::Tariff;
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{Clock, ManualClock, Now, UnixDay};

/// Noon of an ordinary day.
pub(crate) fn clock_at_noon() -> ManualClock {
    ManualClock::at(UnixDay::from_civil(2026, 5, 14).start().plus_millis(12 * 3_600_000))
}

pub(crate) fn act(now: Now) -> ActContext {
    ActContext { actor: Actor::program("test"), at: now.wall }
}

/// The contract's tariff without rate limits, which tests of charging would exceed. Each call waits for the ledger.
pub(crate) fn fast_settings(durability: Durability, monthly_units: u32) -> Settings {
    let mut tariff = Tariff::CONTRACT;
    tariff.free.limits.per_minute = u32::MAX;
    tariff.free.limits.per_day = u32::MAX;
    tariff.free.monthly_units = monthly_units;
    Settings { tariff, durability, lease_millis: 0, ..Settings::default() }
}

#[expect(clippy::needless_pass_by_value, reason = "callers make the medium in the call")]
pub(crate) fn start_accounts(medium: Arc<dyn StateStorage>, settings: Settings, now: Now) -> Accounts {
    Accounts::start(State::open_medium(&medium).unwrap(), settings, now).unwrap()
}

pub(crate) struct Customer {
    pub(crate) account: AccountId,
    pub(crate) keys: Vec<String>,
    pub(crate) key_ids: Vec<KeyId>,
}

/// Creates an approved account with this many credits and keys.
pub(crate) fn create_customer(accounts: &Accounts, credits: u32, keys: usize, now: Now) -> Customer {
    let act = act(now);
    let account = accounts.create_account("test".to_owned(), &act).unwrap().id;
    accounts.approve_account(account, &act).unwrap();
    if credits > 0 {
        accounts.grant(account, Credits(credits), "for the test".to_owned(), &act).unwrap();
    }
    let mut customer = Customer { account, keys: Vec::new(), key_ids: Vec::new() };
    for number in 0..keys {
        let mut entropy = SeededEntropy(u64::from(account.0) << 32 | number as u64);
        let wish = NewKey {
            account,
            name: "key".to_owned(),
            kind: KeyKind::Test,
            scopes: ScopeSet::ALL,
            expires_at: None,
            budget: Budget::default(),
        };
        let issued = accounts.create_key(wish, &act, &mut entropy).unwrap();
        customer.keys.push(issued.secret.reveal());
        customer.key_ids.push(issued.record.id);
    }
    customer
}

/// The same with a budget for each key that no test spends, so that the ledger's check compares their spending.
pub(crate) fn create_customer_with_budgets(accounts: &Accounts, credits: u32, keys: usize, now: Now) -> Customer {
    let customer = create_customer(accounts, credits, keys, now);
    for id in &customer.key_ids {
        let limits = Budget { total: Some(u32::MAX), ..Budget::default() };
        accounts.set_key_budget(*id, limits, &act(now)).unwrap();
    }
    customer
}

/// A complete call of this cost whose work succeeds.
pub(crate) fn make_call(
    accounts: &Accounts,
    key: &str,
    cost: u32,
    retry: Option<Idempotency>,
    now: Now,
) -> Result<MeteringReceipt, Refusal> {
    let paced = accounts.authenticate(Some(key), now)?.require(ScopeSet::ALL)?.check_rate(now)?;
    match paced.reserve("search", Credits(cost), retry, now)? {
        Reserved::Fresh(reservation) => Ok(reservation.begin()?.settle_blocking()?),
        Reserved::Replay(replay) => Ok(replay.begin().settle()),
    }
}

/// The same for a call whose work fails after the debit began.
pub(crate) fn failing_call(accounts: &Accounts, key: &str, cost: u32, now: Now) -> Result<(), Refusal> {
    let paced = accounts.authenticate(Some(key), now)?.require(ScopeSet::ALL)?.check_rate(now)?;
    match paced.reserve("search", Credits(cost), None, now)? {
        Reserved::Fresh(reservation) => Ok(reservation.begin()?.refund_blocking()?),
        Reserved::Replay(_) => unreachable!("no idempotency key was given"),
    }
}

/// Waits until the writer has recovered from a fault.
pub(crate) fn wait_until_healthy(accounts: &Accounts) -> Result<(), LedgerError> {
    for _ in 0..2000 {
        if accounts.health().is_ok() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    accounts.health()
}

pub(crate) fn now_of(clock: &ManualClock) -> Now {
    clock.now()
}
