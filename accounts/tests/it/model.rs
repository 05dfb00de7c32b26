//! Compares random operations with a simple model of maps and lists. The model must predict every
//! answer, and after each operation every balance must be equal.
//!
//! Runs 10,000 sequences of 200 operations; `HORNBOOK_TEST_SEQUENCES` sets another number. A
//! failure prints its seed, and `HORNBOOK_TEST_SEED` runs only that one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use hornbook_accounts::admission::Reserved;
use hornbook_accounts::budget::{Budget, KEYS_IN_LINE_MAX};
use hornbook_accounts::changes::NewChildKey;
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::Refusal;
use hornbook_accounts::idempotency::Idempotency;
use hornbook_accounts::ids::{Credits, KeyId};
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::tier::{PackName, Tier};
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{ManualClock, Now, UnixMillis};

use crate::TestState;
use crate::support::{Customer, act, clock_at_noon, create_customer, now_of, start_accounts};

const OPERATIONS: u64 = 200;
const ACCOUNTS: usize = 3;
const KEYS_EACH: usize = 2;
const PER_MINUTE: u32 = 12;
const PER_DAY: u32 = 50;
const UNITS: u32 = 15;
const UNITS_AFTER_FORMATION: u32 = 40;
const HORIZON_MILLIS: i64 = 600_000;
const REPLAYS_MAX: u32 = 5;
const KEYS_MAX: usize = 12;

/// The model's status for a spent budget. Clients get 402, as for a spent wallet.
const BUDGET_SPENT: u16 = 4020;

#[test]
#[expect(clippy::disallowed_methods, reason = "the caller chooses how long to test")]
fn nothing_differs_from_the_model() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("HORNBOOK_TEST_SEED") {
        return ModelRun::new(seed).play();
    }
    let sequences = number("HORNBOOK_TEST_SEQUENCES").unwrap_or(10_000);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        // More threads than cores, because each waits for its writer half of the time.
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= sequences {
                        return;
                    }
                    ModelRun::new(seed).play();
                }
            });
        }
    });
}

/// The status code of a refusal.
fn status(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::Key(_) => 401,
        Refusal::Credits { .. } => 402,
        Refusal::Budget { .. } => BUDGET_SPENT,
        Refusal::Scope { .. } => 403,
        Refusal::OtherRequest | Refusal::TooManyReplays => 422,
        Refusal::TooFast(_) => 429,
        Refusal::SameRequestInProgress | Refusal::Ledger(_) => 503,
    }
}

#[derive(Default)]
struct ModelAccount {
    is_disabled: bool,
    wallet: i64,
    tier: u32,
    formed: bool,
    used: HashMap<i32, u32>,
}

struct ModelKey {
    owner: usize,
    id: KeyId,
    secret: String,
    /// The key that created it.
    parent: Option<usize>,
    minute: Vec<u64>,
    days: HashMap<i32, u32>,
    revoked: bool,
    budget: Option<ModelBudget>,
}

impl ModelKey {
    fn new(owner: usize, id: KeyId, secret: String, parent: Option<usize>) -> Self {
        let (minute, days) = (Vec::new(), HashMap::new());
        Self { owner, id, secret, parent, minute, days, revoked: false, budget: None }
    }
}

#[derive(Default)]
struct ModelBudget {
    limits: Budget,
    total: u64,
    months: HashMap<i32, u64>,
    days: HashMap<i32, u64>,
}

impl ModelBudget {
    fn spent(&self, now: Now) -> [u64; 3] {
        let spent = |of: &HashMap<i32, u64>, at| of.get(&at).copied().unwrap_or(0);
        [self.total, spent(&self.months, now.wall.month().0), spent(&self.days, now.wall.day().0)]
    }

    fn allows(&self, cost: u32, now: Now) -> bool {
        let limits = [self.limits.total, self.limits.per_month, self.limits.per_day];
        limits
            .into_iter()
            .zip(self.spent(now))
            .all(|(limit, spent)| limit.is_none_or(|limit| cost == 0 || spent + u64::from(cost) <= u64::from(limit)))
    }

    fn add(&mut self, cost: u32, now: Now) {
        self.total += u64::from(cost);
        *self.months.entry(now.wall.month().0).or_default() += u64::from(cost);
        *self.days.entry(now.wall.day().0).or_default() += u64::from(cost);
    }
}

#[derive(Clone, PartialEq, Debug)]
struct ModelEntry {
    kind: &'static str,
    credits: i64,
    from_allotment: i64,
    balance_after: i64,
}

struct ModelRetry {
    request: u64,
    at: i64,
    replays: u32,
}

struct ModelRun {
    seed: u64,
    random: SeededEntropy,
    clock: ManualClock,
    state: TestState,
    settings: Settings,
    accounts_under_test: Option<Accounts>,
    owners: Vec<Customer>,
    accounts: Vec<ModelAccount>,
    keys: Vec<ModelKey>,
    ledgers: Vec<Vec<ModelEntry>>,
    retries: HashMap<(usize, u64), ModelRetry>,
    rolled_up: bool,
}

impl ModelRun {
    fn new(seed: u64) -> Self {
        let clock = clock_at_noon();
        let state = TestState::fresh();
        let durability = if seed.is_multiple_of(2) { Durability::Strict } else { Durability::Window };
        let mut settings = Settings { durability, lease_millis: 0, ..Settings::default() };
        settings.tariff.free.limits.per_minute = PER_MINUTE;
        settings.tariff.free.limits.per_day = PER_DAY;
        settings.tariff.free.monthly_units = UNITS;
        settings.tariff.monthly_units_after_formation = UNITS_AFTER_FORMATION;
        let real = start_accounts(state.medium(), settings, now_of(&clock));
        let owners: Vec<_> = (0..ACCOUNTS).map(|_| create_customer(&real, 0, KEYS_EACH, now_of(&clock))).collect();
        let of_owner = |(owner, customer): (usize, &Customer)| {
            let keys = customer.key_ids.iter().zip(&customer.keys);
            keys.map(|(id, secret)| ModelKey::new(owner, *id, secret.clone(), None)).collect::<Vec<_>>()
        };
        let keys = owners.iter().enumerate().flat_map(of_owner).collect();
        Self {
            seed,
            random: SeededEntropy(seed),
            clock,
            state,
            settings,
            accounts_under_test: Some(real),
            owners,
            accounts: (0..ACCOUNTS).map(|_| ModelAccount::default()).collect(),
            keys,
            ledgers: vec![Vec::new(); ACCOUNTS],
            retries: HashMap::new(),
            rolled_up: false,
        }
    }

    fn real(&self) -> &Accounts {
        self.accounts_under_test.as_ref().unwrap()
    }

    fn now(&self) -> Now {
        now_of(&self.clock)
    }

    fn play(mut self) {
        for step in 0..OPERATIONS {
            let context = format!("seed {}, step {step}", self.seed);
            match self.random.below(40) {
                0 => self.grant(),
                1 => self.adjust(&context),
                2 => self.buy(&context),
                3 if self.random.below(4) == 0 => self.complete_formation(),
                4 => self.toggle_disabled(),
                5 if self.random.below(6) == 0 => self.revoke(),
                6 if self.random.below(4) == 0 => self.restart(),
                7 if self.random.below(8) == 0 => self.roll_up(),
                8..=13 => self.move_clock(),
                14 => self.set_budget(),
                15 => self.create_child(&context),
                _ => self.call(&context),
            }
            self.compare(&context);
        }
        self.finish();
    }

    fn account(&mut self) -> usize {
        self.random.below(ACCOUNTS as u64) as usize
    }

    fn post(&mut self, account: usize, kind: &'static str, credits: i64, from_allotment: i64) {
        self.accounts[account].wallet += credits + from_allotment;
        let balance_after = self.accounts[account].wallet;
        self.ledgers[account].push(ModelEntry { kind, credits, from_allotment, balance_after });
    }

    fn key(&mut self) -> usize {
        self.random.below(self.keys.len() as u64) as usize
    }

    /// The key, the key that created it, and so on.
    fn line(&self, key: usize) -> Vec<usize> {
        std::iter::successors(Some(key), |key| self.keys[*key].parent).collect()
    }

    fn is_live(&self, key: usize) -> bool {
        self.line(key).into_iter().all(|key| !self.keys[key].revoked)
    }

    fn limits(&mut self) -> Budget {
        let mut limit = |most: u64| (self.random.below(2) == 0).then(|| self.random.below(most) as u32);
        Budget { total: limit(60), per_month: limit(40), per_day: limit(20) }
    }

    fn set_budget(&mut self) {
        let (key, limits) = (self.key(), self.limits());
        let changed = self.real().set_key_budget(self.keys[key].id, limits, &act(self.now())).unwrap();
        assert_eq!(changed.budget.map(|budget| budget.limits), (!limits.is_unlimited()).then_some(limits));
        let before = self.keys[key].budget.take();
        if !limits.is_unlimited() {
            self.keys[key].budget = Some(ModelBudget { limits, ..before.unwrap_or_default() });
        }
    }

    fn create_child(&mut self, context: &str) {
        let (creator, budget) = (self.key(), self.limits());
        if self.keys.len() == KEYS_MAX {
            return;
        }
        let wish = NewChildKey { name: "child".to_owned(), budget, ..NewChildKey::default() };
        let mut entropy = SeededEntropy(self.random.draw());
        let issued = self.real().create_child_key(self.keys[creator].id, wish, &act(self.now()), &mut entropy);
        let is_possible = self.is_live(creator) && self.line(creator).len() < KEYS_IN_LINE_MAX;
        assert_eq!(issued.is_ok(), is_possible, "{context}: {issued:?}");
        if let Ok(issued) = issued {
            let (owner, secret) = (self.keys[creator].owner, issued.secret.reveal());
            let mut key = ModelKey::new(owner, issued.record.id, secret, Some(creator));
            let limits = budget;
            key.budget = (!limits.is_unlimited()).then(|| ModelBudget { limits, ..ModelBudget::default() });
            self.keys.push(key);
        }
    }

    fn grant(&mut self) {
        let (account, credits) = (self.account(), 1 + self.random.below(30) as u32);
        let act = act(self.now());
        self.real().grant(self.owners[account].account, Credits(credits), "model".to_owned(), &act).unwrap();
        self.post(account, "grant", credits.into(), 0);
    }

    fn adjust(&mut self, context: &str) {
        let (account, credits) = (self.account(), self.random.below(20) as i64 + 1);
        let act = act(self.now());
        let result = self.real().adjust(self.owners[account].account, -credits, "model".to_owned(), &act);
        let affordable = self.accounts[account].wallet >= credits;
        assert_eq!(result.is_ok(), affordable, "{context}");
        if affordable {
            self.post(account, "adjustment", -credits, 0);
        }
    }

    fn buy(&mut self, context: &str) {
        let account = self.account();
        let act = act(self.now());
        let pack = PackName::ALL[self.random.below(3) as usize];
        let bought = self.real().request_purchase(self.owners[account].account, pack, &act).unwrap();
        if self.random.below(2) == 0 {
            self.real().cancel_purchase(bought.id, &act).unwrap();
            return;
        }
        self.real().pay_purchase(bought.id, None, &act).unwrap();
        let credits = i64::from(self.settings.tariff.pack(pack).credits.0);
        self.post(account, "purchase", credits, 0);
        let tier = &mut self.accounts[account].tier;
        *tier = (*tier).max(pack as u32 + 1);
        if self.random.below(2) == 0 {
            let result = self.real().refund_purchase(bought.id, "model".to_owned(), &act);
            assert!(result.is_ok(), "{context}: {result:?}");
            self.post(account, "refund", -credits, 0);
        }
    }

    fn complete_formation(&mut self) {
        let account = self.account();
        let act = act(self.now());
        let wish = hornbook_accounts::changes::NewOrder {
            account: self.owners[account].account,
            entity_name: "Model LLC".to_owned(),
            entity_type: "llc".to_owned(),
            jurisdiction: "us-de".to_owned(),
        };
        let mut entropy = SeededEntropy(self.random.draw());
        let (order, _) = self.real().create_order(wish, &act, &mut entropy).unwrap();
        self.real().advance_order(order.id, OrderStage::Completed, &act).unwrap();
        self.accounts[account].formed = true;
    }

    fn toggle_disabled(&mut self) {
        let account = self.account();
        let act = act(self.now());
        let id = self.owners[account].account;
        let shut_out = self.random.below(3) == 0;
        if shut_out {
            self.real().disable_account(id, &act).unwrap();
        } else {
            self.real().approve_account(id, &act).unwrap();
        }
        self.accounts[account].is_disabled = shut_out;
    }

    fn revoke(&mut self) {
        let key = self.key();
        self.real().revoke_key(self.keys[key].id, &act(self.now())).unwrap();
        self.keys[key].revoked = true;
    }

    /// The rate windows of uncharged calls are lost in a restart, so a minute passes first.
    fn restart(&mut self) {
        self.clock.advance_millis(60_000);
        // The number of replays of a charged call is lost as well.
        self.retries.values_mut().for_each(|first| first.replays = 0);
        self.accounts_under_test = None;
        self.accounts_under_test = Some(start_accounts(self.state.medium(), self.settings, self.now()));
    }

    fn roll_up(&mut self) {
        let now = self.now().wall;
        self.real().roll_up(now, now).unwrap();
        self.rolled_up = true;
    }

    fn move_clock(&mut self) {
        match self.random.below(12) {
            0 => self.clock.set_wall(self.now().wall.plus_millis(-3_600_000)),
            1 => self.clock.advance_millis(86_400_000),
            2 => self.clock.advance_millis(31 * 86_400_000),
            _ => self.clock.advance_millis(self.random.draw() % 30_000),
        }
    }

    fn call(&mut self, context: &str) {
        let key = self.key();
        let cost = [1, 1, 1, 5, 0][self.random.below(5) as usize];
        let retry = (self.random.below(4) == 0).then(|| (self.random.below(4), self.random.below(5) / 4));
        let ending = self.random.below(6);
        let expected = self.predict_call(key, cost, retry, ending);
        let found = self.call_accounts(key, cost, retry, ending);
        assert_eq!(found, expected, "{context}");
    }

    /// The expected status, and the wallet and allotment in the headers.
    fn predict_call(&mut self, key: usize, cost: u32, retry: Option<(u64, u64)>, ending: u64) -> (u16, u64, u32) {
        let account = self.keys[key].owner;
        let now = self.now();
        if !self.is_live(key) || self.accounts[account].is_disabled {
            return (401, 0, 0);
        }
        if !self.is_within_rate(key, now) {
            return (429, 0, 0);
        }
        let month = now.wall.month().0;
        let limit = if self.accounts[account].formed { UNITS_AFTER_FORMATION } else { UNITS };
        let used = *self.accounts[account].used.get(&month).unwrap_or(&0);
        if let Some((name, request)) = retry
            && let Some(first) = self.retries.get_mut(&(key, name))
            && now.wall.0 - first.at < HORIZON_MILLIS
        {
            if first.request != request || first.replays == REPLAYS_MAX {
                return (422, 0, 0);
            }
            // A replay that is dropped before its work begins does not count, nor does one whose work fails.
            return match ending {
                0 => (0, 0, 0),
                1 => (500, 0, 0),
                _ => {
                    first.replays += 1;
                    (200, self.accounts[account].wallet as u64, limit.saturating_sub(used))
                }
            };
        }
        let line = self.line(key);
        if line.iter().any(|key| self.keys[*key].budget.as_ref().is_some_and(|budget| !budget.allows(cost, now))) {
            return (BUDGET_SPENT, 0, 0);
        }
        let from_allotment = limit.saturating_sub(used).min(cost);
        if self.accounts[account].wallet < i64::from(cost - from_allotment) {
            return (402, 0, 0);
        }
        if ending == 0 {
            return (0, 0, 0);
        }
        let (credits, free) = (i64::from(cost), i64::from(from_allotment));
        if cost > 0 {
            self.post(account, "usage", -credits, free);
        }
        if ending == 1 {
            if cost > 0 {
                self.post(account, "refund", credits, -free);
                // The debit replaced an expired record, and its refund removed the debit's record.
                // The old record stays gone even if the clock goes back.
                if let Some((name, _)) = retry {
                    self.retries.remove(&(key, name));
                }
            }
            return (500, 0, 0);
        }
        for key in line {
            if let Some(budget) = &mut self.keys[key].budget {
                budget.add(cost, now);
            }
        }
        *self.accounts[account].used.entry(month).or_default() += from_allotment;
        let wallet = self.accounts[account].wallet as u64;
        let allotment = limit.saturating_sub(used + from_allotment);
        if let Some((name, request)) = retry
            && cost > 0
        {
            self.retries.insert((key, name), ModelRetry { request, at: now.wall.0, replays: 0 });
        }
        (200, wallet, allotment)
    }

    fn is_within_rate(&mut self, key: usize, now: Now) -> bool {
        let tier =
            [Tier::Free, Tier::Starter, Tier::Pro, Tier::Bulk][self.accounts[self.keys[key].owner].tier as usize];
        let limits = self.settings.tariff.limits(tier);
        // A key that another key created shares its limits.
        let first = *self.line(key).last().unwrap();
        let key = &mut self.keys[first];
        let recent = key.minute.iter().filter(|&&then| now.steady.0 - then < 60_000_000).count();
        let today = key.days.entry(now.wall.day().0).or_default();
        if recent >= limits.per_minute as usize || *today >= limits.per_day {
            return false;
        }
        key.minute.push(now.steady.0);
        *today += 1;
        true
    }

    fn call_accounts(&self, key: usize, cost: u32, retry: Option<(u64, u64)>, ending: u64) -> (u16, u64, u32) {
        let (accounts, now) = (self.real(), self.now());
        let ModelKey { owner, secret, .. } = &self.keys[key];
        let retry = retry.map(|(name, request)| Idempotency::new(&name.to_string(), &request.to_string()));
        let result = (|| -> Result<_, Refusal> {
            let paced = accounts.authenticate(Some(secret), now)?.require(ScopeSet::ALL)?.check_rate(now)?;
            let reservation = match paced.reserve("search", Credits(cost), retry, now)? {
                Reserved::Replay(_) if ending == 0 => return Ok((0, 0, 0)),
                Reserved::Replay(replay) if ending == 1 => {
                    replay.begin().give_back();
                    return Ok((500, 0, 0));
                }
                Reserved::Replay(replay) => {
                    let receipt = replay.begin().settle();
                    return Ok((200, receipt.credits_remaining(), receipt.allotment_remaining()));
                }
                Reserved::Fresh(reservation) => reservation,
            };
            if ending == 0 {
                return Ok((0, 0, 0));
            }
            let debit = reservation.begin()?;
            if ending == 1 {
                debit.refund_blocking()?;
                return Ok((500, 0, 0));
            }
            let receipt = debit.settle_blocking()?;
            // In window mode the record of a retry becomes durable a little later. This change waits for it.
            if retry.is_some() {
                accounts.approve_account(self.owners[*owner].account, &act(now)).map(drop).unwrap_or(());
            }
            Ok((200, receipt.credits_remaining(), receipt.allotment_remaining()))
        })();
        result.unwrap_or_else(|refusal| (status(&refusal), 0, 0))
    }

    fn compare(&self, context: &str) {
        let now = self.now();
        let month = now.wall.month().0;
        for (account, owner) in self.accounts.iter().zip(&self.owners) {
            let view = self.real().account(owner.account, now).unwrap();
            let limit = if account.formed { UNITS_AFTER_FORMATION } else { UNITS };
            let left = limit.saturating_sub(*account.used.get(&month).unwrap_or(&0));
            assert_eq!((view.remaining.wallet, view.remaining.allotment), (account.wallet, left), "{context}");
        }
        for key in &self.keys {
            let found = self.real().key_budget(key.id, now.wall);
            let found = found.map(|view| [view.spent_total, view.spent_in_month, view.spent_on_day]);
            assert_eq!(found, key.budget.as_ref().map(|budget| budget.spent(now)), "{context}, {}", key.id);
        }
    }

    /// Compares the whole ledger, entry by entry, after a restart.
    fn finish(mut self) {
        self.restart();
        let proof = self.real().verify_ledger().unwrap_or_else(|error| panic!("seed {}: {error}", self.seed));
        let wallets: i64 = self.accounts.iter().map(|account| account.wallet).sum();
        assert_eq!(proof.books.wallets, wallets, "seed {}", self.seed);
        self.compare(&format!("seed {}, at the end", self.seed));
        for (owner, expected) in self.owners.iter().zip(&self.ledgers) {
            let entries = self.real().recent_entries(owner.account, usize::MAX).unwrap();
            let found: Vec<ModelEntry> = entries
                .into_iter()
                .rev()
                .map(|entry| ModelEntry {
                    kind: entry.kind.name(),
                    credits: entry.credits,
                    from_allotment: entry.from_allotment,
                    balance_after: entry.balance_after,
                })
                .collect();
            let expected = if self.rolled_up { &expected[expected.len() - found.len()..] } else { &expected[..] };
            assert_eq!(found, expected, "seed {}", self.seed);
        }
        assert!(self.real().accounts(Now { wall: UnixMillis(0), ..self.now() }).is_ok());
    }
}
