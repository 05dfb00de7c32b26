//! Measures metering: `cargo bench --bench metering [DIRECTORY]`. The directory selects the disk to
//! measure; the default is a temporary directory. Each figure is the median of several rounds, with
//! the lowest and highest.
//!
//! Prints a table. `README.md` explains the rows and has the latest results.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hornbook_accounts::actor::Actor;
use hornbook_accounts::admission::Reserved;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::{ActContext, NewKey};
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::ids::{AccountId, Credits};
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::state::{FileStorage, State, StateDatabase, StateError, StateStorage, create_schema};
use hornbook_accounts::tier::Tariff;
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{Clock, Now, SystemClock};

const ROUNDS: usize = 7;
/// Time between two calls in the admission rows.
const CALL_EVERY_MICROS: u64 = 30_000;
/// The number of pages of the file that bare syncs overwrite.
const BARE_PAGES: u64 = 2048;
const ROUND_TIME: Duration = Duration::from_millis(700);
const SLICES: u32 = 7;

fn main() {
    // Cargo passes its own flags.
    let place = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let directory = match &place {
        Some(place) => tempfile::tempdir_in(place),
        None => tempfile::tempdir(),
    };
    let directory = directory.expect("a directory to measure in");
    let bench = Bench { clock: Arc::new(SystemClock::start()), directory: directory.path() };
    let mut out = std::io::stdout();
    let mut report = |name: &str, unit: &str, figures: RoundSummary| {
        writeln!(out, "| {name} | {:.2} {unit} | {:.2} - {:.2} |", figures.median, figures.low, figures.high)
            .expect("a place to print to");
    };
    report("admission without commit, 10 keys", "us", bench.admission(10, 10));
    report("admission without commit, 100,000 keys, 10 of them in use", "us", bench.admission(100_000, 10));
    report("admission without commit, 100,000 keys, all in use", "us", bench.admission(100_000, 100_000));
    bench.commits(&mut report);
    bench.measure_recovery(&mut report);
}

#[derive(Clone, Copy)]
struct RoundSummary {
    median: f64,
    low: f64,
    high: f64,
}

fn summary_of(mut rounds: Vec<f64>) -> RoundSummary {
    rounds.sort_by(f64::total_cmp);
    RoundSummary { median: rounds[rounds.len() / 2], low: rounds[0], high: rounds[rounds.len() - 1] }
}

struct Bench<'d> {
    clock: Arc<SystemClock>,
    directory: &'d Path,
}

type Report<'r> = &'r mut dyn FnMut(&str, &str, RoundSummary);

fn settings(durability: Durability) -> Settings {
    let mut tariff = Tariff::CONTRACT;
    (tariff.free.limits.per_minute, tariff.free.limits.per_day) = (300, u32::MAX);
    tariff.free.monthly_units = 0;
    Settings { tariff, durability, ..Settings::default() }
}

impl Bench<'_> {
    fn open(&self, name: &str, durability: Durability) -> Accounts {
        let mut settings = settings(durability);
        settings.tariff.free.limits.per_minute = u32::MAX;
        Accounts::open(&self.directory.join(name), settings, self.clock.now()).expect("a state")
    }

    fn customer(&self, accounts: &Accounts, keys: usize) -> (AccountId, Vec<String>) {
        let act = ActContext { actor: Actor::program("bench"), at: self.clock.now().wall };
        let account = accounts.create_account("bench".to_owned(), &act).expect("an account").id;
        accounts.approve_account(account, &act).expect("approval");
        accounts.grant(account, Credits(1_000_000_000), "bench".to_owned(), &act).expect("credits");
        let make = |number| {
            let mut entropy = SeededEntropy(u64::from(account.0) << 32 | number as u64);
            let wish = NewKey {
                account,
                name: "k".to_owned(),
                kind: KeyKind::Test,
                scopes: ScopeSet::ALL,
                expires_at: None,
                budget: Budget::default(),
            };
            accounts.create_key(wish, &act, &mut entropy).expect("a key").secret.reveal()
        };
        (account, (0..keys).map(make).collect())
    }

    /// Authenticate, check the scope and the rate, reserve, release; with `in_use` of the keys in random order.
    fn admission(&self, keys: usize, in_use: usize) -> RoundSummary {
        // In memory, because creating a hundred thousand keys takes a hundred thousand commits.
        let medium: Arc<dyn StateStorage> = Arc::new(InMemory);
        let state = State::open_medium(&medium).expect("a state");
        let accounts = Accounts::start(state, settings(Durability::Strict), self.clock.now()).expect("accounts");
        let (_, keys) = self.customer(&accounts, keys);
        let mut random = SeededEntropy(1);
        let calls = 20_000;
        let rounds = (0..ROUNDS)
            .map(|round| {
                // The clock advances from round to round, slowly enough for 10 keys to stay within
                // their 300 calls a minute.
                let mut base = self.clock.now();
                base.steady = base.steady.plus_micros(round as u64 * calls * CALL_EVERY_MICROS);
                // A real key was just read with its request and is in the cache. Here the keys
                // follow each other in memory.
                let arriving: String = (0..calls).map(|_| &*keys[random.below(in_use as u64) as usize]).collect();
                let length = arriving.len() / calls as usize;
                let start = Instant::now();
                for call in 0..calls {
                    let key = &arriving[call as usize * length..][..length];
                    let now = Now { steady: base.steady.plus_micros(call * CALL_EVERY_MICROS), ..base };
                    let caller = accounts.authenticate(Some(key), now).expect("known");
                    let paced = caller.require(ScopeSet::ALL).expect("allowed").check_rate(now).expect("in time");
                    let reserved = paced.reserve("search", Credits(1), None, now).expect("credits");
                    std::hint::black_box(reserved);
                }
                start.elapsed().as_secs_f64() * 1e6 / calls as f64
            })
            .collect();
        summary_of(rounds)
    }

    fn commits(&self, report: Report<'_>) {
        let (mut sync, mut one_call, mut alone, mut crowd, mut ratio, mut overhead) =
            (vec![], vec![], vec![], vec![], vec![], vec![]);
        let (mut hot, mut spread, mut hot_ratio, mut window) = (vec![], vec![], vec![], vec![]);
        let accounts = self.open("strict", Durability::Strict);
        let (_, one_wallet) = self.customer(&accounts, 5);
        let five_wallets: Vec<String> = (0..5).map(|_| self.customer(&accounts, 1).1.remove(0)).collect();
        let relaxed = self.open("window", Durability::Window);
        let (_, relaxed_keys) = self.customer(&relaxed, 5);
        // All are measured in each round, so that a busy disk affects all of them.
        for _ in 0..ROUNDS {
            let (bare_us, call_us) = self.call_and_sync_times(&accounts, &one_wallet[0]);
            let [single, many, apart] =
                self.throughput_in_turns(&accounts, [(&one_wallet, 1), (&one_wallet, 64), (&five_wallets, 64)]);
            sync.push(bare_us);
            one_call.push(call_us);
            overhead.push(call_us / (2.0 * bare_us));
            alone.push(single);
            crowd.push(many);
            ratio.push(many / single);
            hot.push(many);
            spread.push(apart);
            hot_ratio.push(100.0 * many / apart);
            window.push(self.throughput(&relaxed, &relaxed_keys, 64, ROUND_TIME));
        }
        report("one bare write and sync", "us", summary_of(sync));
        report("strict, 1 caller: one call, alternating with bare writes", "us", summary_of(one_call));
        report("strict, 1 caller: time of a call relative to its two bare syncs", "times", summary_of(overhead));
        report("strict, 1 caller", "calls/s", summary_of(alone));
        report("strict, 64 callers", "calls/s", summary_of(crowd));
        report("strict, 64 callers relative to 1 caller", "times", summary_of(ratio));
        report("one wallet with 5 keys, 64 callers", "calls/s", summary_of(hot));
        report("5 wallets, 64 callers", "calls/s", summary_of(spread));
        report("one wallet relative to five", "%", summary_of(hot_ratio));
        report("window, 64 callers", "calls/s", summary_of(window));
    }

    /// Alternates synced page overwrites with calls, so that disk noise affects both. Returns the
    /// median time of each in microseconds.
    fn call_and_sync_times(&self, accounts: &Accounts, key: &str) -> (f64, f64) {
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(false).open(self.directory.join("bare")).expect("a file");
        // The file is written once before, because a redb commit overwrites existing pages.
        file.write_all_at(&vec![7; BARE_PAGES as usize * 4096], 0).expect("space");
        file.sync_all().expect("a sync");
        let (start, mut syncs, mut calls) = (Instant::now(), vec![], vec![]);
        while start.elapsed() < 2 * ROUND_TIME {
            for _ in 0..2 {
                let begin = Instant::now();
                file.write_all_at(&[8; 4096], syncs.len() as u64 % BARE_PAGES * 4096).expect("a write");
                file.sync_data().expect("a sync");
                syncs.push(begin.elapsed().as_secs_f64() * 1e6);
            }
            let begin = Instant::now();
            self.call(accounts, key);
            calls.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        (summary_of(syncs).median, summary_of(calls).median)
    }

    /// One call whose answer waits for its debit, according to the durability mode.
    fn call(&self, accounts: &Accounts, key: &str) {
        let now = self.clock.now();
        let caller = accounts.authenticate(Some(key), now).expect("known");
        let paced = caller.require(ScopeSet::ALL).expect("allowed").check_rate(now).expect("in time");
        let reserved = paced.reserve("search", Credits(1), None, now).expect("credits");
        let Reserved::Fresh(reservation) = reserved else { unreachable!("no idempotency key") };
        reservation.begin().expect("a ledger").settle_blocking().expect("a receipt");
    }

    /// Calls per second of each kind, measured in alternating slices, because disk speed changes
    /// within a second.
    fn throughput_in_turns<const N: usize>(&self, accounts: &Accounts, kinds: [(&[String], usize); N]) -> [f64; N] {
        let mut sums = [0.0; N];
        for _ in 0..SLICES {
            for (sum, (keys, callers)) in sums.iter_mut().zip(kinds) {
                *sum += self.throughput(accounts, keys, callers, ROUND_TIME / SLICES) / f64::from(SLICES);
            }
        }
        sums
    }

    fn throughput(&self, accounts: &Accounts, keys: &[String], callers: usize, time: Duration) -> f64 {
        let (start, calls) = (Instant::now(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for caller in 0..callers {
                let (calls, key) = (&calls, &keys[caller % keys.len()]);
                scope.spawn(move || {
                    while start.elapsed() < time {
                        self.call(accounts, key);
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        calls.into_inner() as f64 / start.elapsed().as_secs_f64()
    }

    /// Opens a ledger of ten million debits in the state that a crash leaves.
    #[expect(clippy::disallowed_methods, reason = "the caller chooses how long to measure")]
    fn measure_recovery(&self, report: Report<'_>) {
        let debits =
            std::env::var("HORNBOOK_BENCH_DEBITS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000_000u64);
        let name = "long";
        let mut accounts = self.open(name, Durability::Window);
        let (_, keys) = self.customer(&accounts, 5);
        let calls_each = debits / 4;
        std::thread::scope(|scope| {
            for key in keys.iter().take(4) {
                let accounts = &accounts;
                scope.spawn(move || {
                    let mut made = 0;
                    while made < calls_each {
                        let now = self.clock.now();
                        let caller = accounts.authenticate(Some(key), now).expect("known");
                        let paced = caller.require(ScopeSet::ALL).expect("allowed").check_rate(now).expect("in time");
                        let Ok(Reserved::Fresh(reservation)) = paced.reserve("search", Credits(1), None, now) else {
                            unreachable!("credits and a ledger")
                        };
                        // Calls are refused while too many debits wait.
                        match reservation.begin().and_then(|debit| debit.settle_blocking()) {
                            Ok(_) => made += 1,
                            Err(_) => std::thread::sleep(Duration::from_micros(200)),
                        }
                    }
                });
            }
        });
        // All debits posted so far were acknowledged. A copy made while the database is open is
        // what a crash leaves.
        accounts.verify_ledger().expect("a sound ledger");
        let state = self.directory.join(name).join("state.redb");
        let torn = self.directory.join("torn.redb");
        std::fs::copy(&state, &torn).expect("a copy");
        accounts.close();
        accounts = self.open("other", Durability::Strict);
        drop(accounts);
        let size = std::fs::metadata(&torn).expect("the copy").len();
        report("file size after these debits, bytes per debit", "bytes", summary_of(vec![size as f64 / debits as f64]));
        let mut rounds = Vec::new();
        for _ in 0..3 {
            let crashed = self.directory.join("crashed.redb");
            std::fs::copy(&torn, &crashed).expect("a copy");
            let start = Instant::now();
            let medium: Arc<dyn StateStorage> = Arc::new(FileStorage::standalone(&crashed));
            let state = State::open_medium(&medium).expect("an opening");
            let accounts = Accounts::start(state, settings(Durability::Strict), self.clock.now()).expect("accounts");
            rounds.push(start.elapsed().as_secs_f64());
            drop(accounts);
        }
        report("opening it after a crash", "s", summary_of(rounds));
    }
}

/// A state database in memory.
struct InMemory;

impl StateStorage for InMemory {
    fn open(&self) -> Result<Box<dyn StateDatabase>, StateError> {
        let backend = redb::backends::InMemoryBackend::new();
        let database = redb::Builder::new().create_with_backend(backend).expect("memory");
        create_schema(&database)?;
        Ok(Box::new(database))
    }

    fn describe(&self) -> String {
        "memory".to_owned()
    }
}
