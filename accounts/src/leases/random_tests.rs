//! Servers with leases against a plain account of what was answered: random calls, refunds, corrections, deaths, partitions,
//! ends of leases, servers with a copy of another one's files, and commits whose outcome is unknown. The servers run without threads, step by step.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use hornbook_base::clock::{Now, SteadyMicros, UnixMillis};
use hornbook_base::random::SplitMix64;

use super::journal_writer::JournalWriter;
use super::shared_memory::{CommitFault, ServerFiles, ServerStorage, SharedMemory};
use crate::actor::Actor;
use crate::admission::{PendingDebit, Reservation, Reserved};
use crate::budget::Budget;
use crate::changes::{ActContext, NewKey, no_memory_effect};
use crate::entropy::SeededEntropy;
use crate::error::{ChangeError, LedgerError, Refusal};
use crate::ids::{AccountId, Credits};
use crate::job::{Change, WriterJob};
use crate::key::KeyKind;
use crate::leases::unleased::may_take;
use crate::ledger::entry::{Draft, EntryKind, EntryNote, Reference};
use crate::ledger::load::LedgerState;
use crate::ledger::verify::{VerifyReport, verify_state};
use crate::reply::reply_channel;
use crate::scope::ScopeSet;
use crate::state::{State, StateStorage};
use crate::tier::Tariff;
use crate::writer::Writer;
use crate::{Accounts, Prepared, Settings};

const NOW: Now = Now { wall: UnixMillis(1_780_000_000_000), steady: SteadyMicros(1_000_000) };
/// By the database's clock. The servers' own clocks hardly move in a test, so they may spend leases that are over.
const LEASE_MILLIS: i64 = 60_000;
const SERVERS_MAX: usize = 4;

/// A server whose threads are the test's steps.
struct Server {
    accounts: Accounts,
    writer: Writer,
    journal: JournalWriter,
    /// Calls that began and were not answered yet.
    pending: Vec<(PendingDebit, bool)>,
}

struct World {
    memory: SharedMemory,
    files: Vec<ServerFiles>,
    servers: Vec<Option<Server>>,
    /// A server that does not reach the database.
    is_cut_off: Vec<bool>,
    settings: Settings,
    account: AccountId,
    key: String,
    /// Credits of calls that were answered with success.
    answered: i64,
    /// Credits of calls that were given back after an error, or whose answer nobody got: they may be charged or not.
    uncertain: i64,
}

impl World {
    fn new(random: &mut SplitMix64) -> Self {
        let (memory, count) = (SharedMemory::with_schema(), 1 + random.index(3));
        let next_id = Arc::new(AtomicU64::new(1));
        let files: Vec<ServerFiles> = (0..count).map(|_| ServerFiles::new(&next_id)).collect();
        let mut tariff = Tariff::CONTRACT;
        (tariff.free.limits.per_minute, tariff.free.limits.per_day) = (u32::MAX, u32::MAX);
        tariff.free.monthly_units = [0, 25][random.index(2)];
        let settings = Settings { tariff, lease_millis: LEASE_MILLIS, ..Settings::default() };
        let medium: Arc<dyn StateStorage> =
            Arc::new(ServerStorage { memory: memory.clone(), files: ServerFiles::new(&next_id) });
        let accounts = Accounts::start(State::open_medium(&medium).unwrap(), settings, NOW).unwrap();
        let act = ActContext { actor: Actor::program("test"), at: NOW.wall };
        let account = accounts.create_account("test".to_owned(), &act).unwrap().id;
        accounts.approve_account(account, &act).unwrap();
        let credits = Credits([20, 60, 200, 1000][random.index(4)]);
        accounts.grant(account, credits, "for the test".to_owned(), &act).unwrap();
        let wish = NewKey {
            account,
            name: "key".to_owned(),
            kind: KeyKind::Test,
            scopes: ScopeSet::ALL,
            expires_at: None,
            budget: Budget::default(),
        };
        let key = accounts.create_key(wish, &act, &mut SeededEntropy(1)).unwrap().secret.reveal();
        accounts.close();
        let is_cut_off = vec![false; count];
        let (answered, uncertain) = (0, 0);
        let mut world =
            Self { memory, files, servers: Vec::new(), is_cut_off, settings, account, key, answered, uncertain };
        world.servers = (0..count).map(|number| Some(world.start(number))).collect();
        world
    }

    fn storage(&self, number: usize) -> Arc<dyn StateStorage> {
        Arc::new(ServerStorage { memory: self.memory.clone(), files: self.files[number].clone() })
    }

    fn start(&self, number: usize) -> Server {
        let state = State::open_medium(&self.storage(number)).unwrap();
        let Prepared { shared, writer, journal } = Prepared::read(state, self.settings, NOW).unwrap();
        let accounts = Accounts { shared, writer: Mutex::new(None), journal: Mutex::new(None), _owner: None };
        Server { accounts, writer, journal: journal.unwrap(), pending: Vec::new() }
    }

    fn step(&mut self, random: &mut SplitMix64) {
        let number = random.index(self.servers.len());
        let Some(server) = &mut self.servers[number] else {
            if random.below(3) == 0 {
                self.servers[number] = Some(self.start(number));
            }
            return;
        };
        match random.below(24) {
            0..9 => {
                let cost = 1 + random.below(6) as u32;
                if let Some(begun) = server.begin(&self.key, cost) {
                    server.pending.push((begun, random.below(8) > 0));
                }
            }
            9..13 => server.write_journal(),
            13..19 => {
                if !self.is_cut_off[number] {
                    server.write_ledger();
                }
            }
            19 => self.is_cut_off[number] ^= true,
            20 => self.memory.pass_time(random.below(80_000) as i64),
            21 => {
                if !self.is_cut_off[number] {
                    server.correct(self.account, random.below(21) as i64 - 10);
                }
            }
            22 => {
                let fault = [CommitFault::Refuse, CommitFault::LoseAnswer][random.index(2)];
                if random.below(2) == 0 {
                    self.files[number].fail_next_write(Some(fault));
                    server.write_journal();
                    self.files[number].fail_next_write(None);
                } else if !self.is_cut_off[number] {
                    self.memory.fail_next_commit(Some(fault));
                    server.write_ledger();
                    self.memory.fail_next_commit(None);
                }
            }
            _ => {
                match random.below(6) {
                    0 => return self.kill(number),
                    // Somebody starts a copy of its data directory.
                    1 if self.servers.len() < SERVERS_MAX => {
                        self.files.push(self.files[number].copy());
                        self.is_cut_off.push(false);
                        self.servers.push(Some(self.start(self.files.len() - 1)));
                    }
                    _ => {}
                }
            }
        }
        if random.below(2) == 0 {
            self.settle(number, false);
        }
    }

    /// The server ends at once. What it had begun may be charged.
    fn kill(&mut self, number: usize) {
        let Some(mut server) = self.servers[number].take() else { return };
        for (pending, _) in server.pending.drain(..) {
            self.uncertain += i64::from(pending.cost().0);
        }
    }

    /// Takes the answers that are there. `all`: every call is answered.
    fn settle(&mut self, number: usize, all: bool) {
        let Some(server) = &mut self.servers[number] else { return };
        if !all && server.has_waiting() {
            return;
        }
        for (pending, succeeds) in std::mem::take(&mut server.pending) {
            let cost = i64::from(pending.cost().0);
            if succeeds {
                match pending.settle_blocking() {
                    Ok(_) => self.answered += cost,
                    Err(LedgerError::OutcomeUnknown) => self.uncertain += cost,
                    Err(_) => {}
                }
                continue;
            }
            let mut refund: Pin<Box<dyn Future<Output = Result<(), LedgerError>>>> = Box::pin(pending.refund());
            let mut context = Context::from_waker(Waker::noop());
            let mut polled = refund.as_mut().poll(&mut context);
            if polled.is_pending() {
                server.write_journal();
                polled = refund.as_mut().poll(&mut context);
            }
            if polled.is_pending() && !self.is_cut_off[number] {
                server.write_ledger();
                polled = refund.as_mut().poll(&mut context);
            }
            // A refund that waits for the database is made later, unless the server dies before.
            if !matches!(polled, Poll::Ready(Ok(()))) {
                self.uncertain += cost;
            }
        }
    }

    /// Every server is there again and leaves in order. What was answered is charged, once.
    fn end(mut self, seed: u64) {
        for number in 0..self.servers.len() {
            self.is_cut_off[number] = false;
            if self.servers[number].is_none() {
                self.servers[number] = Some(self.start(number));
            }
            let server = self.servers[number].as_mut().unwrap();
            server.write_journal();
            server.write_ledger();
            self.settle(number, true);
            let server = self.servers[number].as_mut().unwrap();
            server.write_journal();
            server.write_ledger();
            server.writer.leave().unwrap();
        }
        let report = self.verify();
        let spent = report.books.spent;
        self.spend_the_rest(seed);
        let (answered, uncertain) = (self.answered, self.uncertain);
        assert!(
            (answered..=answered + uncertain).contains(&spent),
            "seed {seed}: {spent} spent, {answered} answered, {uncertain} uncertain"
        );
        assert!(report.books.wallets >= 0, "seed {seed}: {:?}", report.books);
        let state = State::open_medium(&self.storage(0)).unwrap();
        let leases = state.read().unwrap().count(crate::state::StateTable::Leases).unwrap();
        assert_eq!(leases, 0, "seed {seed}: leases are left");
    }

    /// No credit is left that nobody can spend.
    fn spend_the_rest(&self, seed: u64) {
        let mut server = self.start(0);
        let mut tries = 0;
        while tries < 20 {
            match server.begin(&self.key, 1) {
                Some(begun) => server.pending.push((begun, true)),
                None => tries += 1,
            }
            server.write_journal();
            server.write_ledger();
        }
        for (begun, _) in server.pending.drain(..) {
            begun.settle_blocking().unwrap();
        }
        server.writer.leave().unwrap();
        drop(server);
        let wallets = self.verify().books.wallets;
        assert_eq!(wallets, 0, "seed {seed}: credits are left that nobody can spend");
    }

    /// What is leased is there.
    fn check_leases(&self, seed: u64) {
        let state = State::open_medium(&self.storage(0)).unwrap();
        let posted = LedgerState::load(&state.read().unwrap()).unwrap();
        let leased: i64 = posted.leases.values().map(|lease| i64::from(lease.amounts.credits)).sum();
        assert!(leased <= posted.balance(self.account), "seed {seed}: {leased} are leased of {:?}", posted.wallets);
        let units: u32 = posted.leases.values().map(|lease| lease.amounts.units).sum();
        let used: u32 = posted.months(self.account).map(|(_, used)| used).sum();
        let limit = self.settings.tariff.free.monthly_units;
        assert!(units + used <= limit, "seed {seed}: {units} units are leased and {used} used of {limit}");
    }

    fn verify(&self) -> VerifyReport {
        verify_state(&State::open_medium(&self.storage(0)).unwrap()).unwrap()
    }
}

impl Server {
    fn begin(&self, key: &str, cost: u32) -> Option<PendingDebit> {
        let caller = self.accounts.authenticate(Some(key), NOW).unwrap();
        let paced = caller.require(ScopeSet::ALL).unwrap().check_rate(NOW).unwrap();
        let reservation: Reservation = match paced.reserve("search", Credits(cost), None, NOW) {
            Ok(Reserved::Fresh(reservation)) => reservation,
            Ok(Reserved::Replay(_)) => unreachable!("no idempotency key was given"),
            Err(Refusal::Credits { .. } | Refusal::Ledger(_)) => return None,
            Err(other) => panic!("{other:?}"),
        };
        reservation.begin().ok()
    }

    fn has_waiting(&self) -> bool {
        let shared = &self.accounts.shared;
        shared.queue.has_jobs() || shared.journal.as_ref().is_some_and(|journal| journal.queue.has_jobs())
    }

    fn write_journal(&mut self) {
        let journal = self.accounts.shared.journal.clone().unwrap();
        let posts: Vec<_> = journal.queue.drain().into_iter().filter_map(WriterJob::into_post).collect();
        if !posts.is_empty() {
            self.journal.write_batch(posts);
        }
    }

    fn write_ledger(&mut self) {
        let posts: Vec<_> = self.accounts.shared.queue.drain().into_iter().filter_map(WriterJob::into_post).collect();
        if posts.is_empty() && self.writer.report_if_due() {
            return;
        }
        if posts.is_empty() {
            self.writer.follow();
        } else {
            self.writer.post(posts);
        }
    }

    /// A correction by the operator, which is refused if the account has too few credits.
    fn correct(&mut self, account: AccountId, credits: i64) {
        let (promise, _) = reply_channel();
        let shared = Arc::clone(&self.accounts.shared);
        let run = Box::new(move |poster: &mut crate::ledger::poster::LedgerTransaction<'_>| {
            let state = shared.directory().account(account).cloned().unwrap();
            let taken = u32::try_from(-credits).unwrap_or(0);
            if taken > 0 && !may_take(poster, &shared, &state, taken) {
                return Err(ChangeError::Refused("too few".to_owned()));
            }
            let note = EntryNote { actor: "test".to_owned(), reason: "for the test".to_owned() };
            let draft = Draft::correction(account, EntryKind::Adjustment, credits, NOW.wall, Reference::None, note);
            if credits != 0 {
                poster.append(draft);
            }
            let posted: crate::job::AfterCommit = Box::new(move |_| state.balance.add_posted(credits));
            Ok(if credits == 0 { no_memory_effect() } else { posted })
        });
        self.writer.change(Change { run, promise });
    }
}

impl Drop for Server {
    /// Nothing is written any more, as after a crash.
    fn drop(&mut self) {
        self.accounts.shared.queue.stop();
        self.accounts.shared.journal.iter().for_each(|journal| journal.queue.stop());
    }
}

fn run(seed: u64) {
    let mut random = SplitMix64(seed);
    let mut world = World::new(&mut random);
    for _ in 0..random.below(240) {
        world.step(&mut random);
        if seed.is_multiple_of(8) {
            world.check_leases(seed);
        }
    }
    world.end(seed);
}

/// Seeds from 0 on. `make lease-runs` tries 100,000; a failure names its seed.
#[test]
#[expect(clippy::disallowed_methods, reason = "the caller chooses the number of runs")]
fn whatever_happens_to_servers_each_answered_call_is_charged_once() {
    let runs = std::env::var("HORNBOOK_TEST_LEASE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(400);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= runs {
                        break;
                    }
                    let stops = StopsUnlessForgotten(&next);
                    run(seed);
                    std::mem::forget(stops);
                }
            });
        }
    });
}

/// After a failure, the other thread begins no further run.
struct StopsUnlessForgotten<'n>(&'n AtomicU64);

impl Drop for StopsUnlessForgotten<'_> {
    fn drop(&mut self) {
        self.0.store(u64::MAX / 2, Ordering::Relaxed);
    }
}
