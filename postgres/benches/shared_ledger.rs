//! Measures metering on a shared ledger: `make bench-leases`, which starts a PostgreSQL of its own. A call
//! is charged to the state file, to a lease, or waits for the database; by one caller and by 64, on one
//! server and on three. All are measured in turns. Each figure is the median of several rounds, with the
//! lowest and highest.

#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../tests/it/database.rs"]
mod database;

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hornbook_accounts::admission::Reserved;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::state::State;
use hornbook_accounts::{Accounts, Settings};
use hornbook_base::clock::{Clock, SystemClock};

use database::TestState;

const ROUNDS: usize = 7;
const ROUND_TIME: Duration = Duration::from_millis(600);
const CALLERS: usize = 64;
const ACCOUNTS: usize = 16;

/// Servers that share a ledger, and keys that work on all of them.
struct Place {
    name: &'static str,
    servers: Vec<Accounts>,
    keys: Vec<String>,
}

fn main() {
    let clock = SystemClock::start();
    let folder = tempfile::tempdir().expect("a directory to measure in");
    let embedded = Accounts::open(folder.path(), settings(60_000), clock.now()).expect("a state");
    let places = [
        Place::new("the state file", vec![embedded], &clock),
        Place::new("leases, one server", shared(1, 60_000, &clock), &clock),
        Place::new("the database, one server", shared(1, 0, &clock), &clock),
        Place::new("leases, three servers", shared(3, 60_000, &clock), &clock),
        Place::new("the database, three servers", shared(3, 0, &clock), &clock),
    ];
    let mut alone = vec![Vec::new(); places.len()];
    let mut crowd = vec![Vec::new(); places.len()];
    for _ in 0..ROUNDS {
        for (number, place) in places.iter().enumerate() {
            alone[number].push(place.one_caller(&clock));
            crowd[number].push(place.many_callers(&clock));
        }
    }
    let mut out = std::io::stdout();
    for (number, place) in places.iter().enumerate() {
        let relative: Vec<f64> = alone[number].iter().zip(&alone[0]).map(|(here, file)| here / file).collect();
        let (p50, relative, calls) = (summary(&alone[number]), summary(&relative), summary(&crowd[number]));
        let name = place.name;
        writeln!(out, "| {name} | {p50} us | {relative} | {calls} calls/s |").expect("a place to print to");
    }
}

fn summary(rounds: &[f64]) -> String {
    let mut rounds = rounds.to_vec();
    rounds.sort_by(f64::total_cmp);
    let (low, high) = (rounds[0], rounds[rounds.len() - 1]);
    format!("{:.2} ({low:.2} - {high:.2})", rounds[rounds.len() / 2])
}

fn settings(lease_millis: i64) -> Settings {
    let mut settings = Settings { lease_millis, ..Settings::default() };
    let limits = &mut settings.tariff.free.limits;
    (limits.per_minute, limits.per_day) = (u32::MAX, u32::MAX);
    settings.tariff.free.monthly_units = 0;
    settings
}

fn shared(count: usize, lease_millis: i64, clock: &SystemClock) -> Vec<Accounts> {
    let state = TestState::fresh();
    let server = |number| {
        let medium = state.medium_of(&format!("server-{number}"), None);
        let state = State::open_medium(&medium).expect("a state");
        Accounts::start(state, settings(lease_millis), clock.now()).expect("accounts")
    };
    (0..count).map(server).collect()
}

impl Place {
    fn new(name: &'static str, servers: Vec<Accounts>, clock: &SystemClock) -> Self {
        let act = ActContext { actor: Actor::program("bench"), at: clock.now().wall };
        let keys = (0..ACCOUNTS).map(|number| {
            let accounts = &servers[0];
            let account = accounts.create_account("bench".to_owned(), &act).expect("an account").id;
            accounts.approve_account(account, &act).expect("approval");
            accounts.grant(account, Credits(1_000_000_000), "bench".to_owned(), &act).expect("credits");
            let wish = NewKey {
                account,
                name: "k".to_owned(),
                kind: KeyKind::Test,
                scopes: ScopeSet::ALL,
                expires_at: None,
                budget: Budget::default(),
            };
            let mut entropy = SeededEntropy(number as u64);
            accounts.create_key(wish, &act, &mut entropy).expect("a key").secret.reveal()
        });
        let keys: Vec<String> = keys.collect();
        let place = Self { name, servers, keys };
        // Until every server knows the keys and has its leases.
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            for server in &place.servers {
                for key in &place.keys {
                    call(server, key, clock);
                }
            }
        }
        place
    }

    /// The median time of a call, in microseconds.
    fn one_caller(&self, clock: &SystemClock) -> f64 {
        let (start, mut times) = (Instant::now(), Vec::new());
        while start.elapsed() < ROUND_TIME {
            let begin = Instant::now();
            call(&self.servers[0], &self.keys[0], clock).expect("a receipt");
            times.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }

    /// Calls per second of callers at all servers.
    fn many_callers(&self, clock: &SystemClock) -> f64 {
        let (start, calls) = (Instant::now(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for caller in 0..CALLERS {
                let (calls, server, key) =
                    (&calls, &self.servers[caller % self.servers.len()], &self.keys[caller % self.keys.len()]);
                scope.spawn(move || {
                    while start.elapsed() < ROUND_TIME {
                        if call(server, key, clock).is_some() {
                            calls.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        calls.into_inner() as f64 / start.elapsed().as_secs_f64()
    }
}

/// None if the call was refused because another server was faster, or does not know the key yet.
fn call(accounts: &Accounts, key: &str, clock: &SystemClock) -> Option<()> {
    let now = clock.now();
    let paced = accounts.authenticate(Some(key), now).ok()?.require(ScopeSet::ALL).ok()?.check_rate(now).ok()?;
    match paced.reserve("search", Credits(1), None, now).ok()? {
        Reserved::Fresh(reservation) => reservation.begin().ok()?.settle_blocking().ok().map(drop),
        Reserved::Replay(_) => unreachable!("no idempotency key was given"),
    }
}
