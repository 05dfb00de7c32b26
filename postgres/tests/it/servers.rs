//! Several servers on one database, with cut connections and refused commits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hornbook_accounts::admission::Reserved;
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{BadKey, ChangeError, LedgerError, Refusal};
use hornbook_accounts::idempotency::Idempotency;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::key::{KeyKind, PlainKey};
use hornbook_accounts::migrate::{migrate, migrate_to_file};
use hornbook_accounts::rate_limit::RateLimits;
use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::state::{FileStorage, LocalFiles, SEAL_KEY_FILE, STATE_FILE, State, StateStorage};
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{Clock, Now};
use hornbook_base::random::SplitMix64;

use crate::TestState;
use crate::database::server_address;
use crate::proxy::Proxy;
use crate::support::{
    act, clock_at_noon, create_customer, fast_settings, make_call, start_accounts, wait_until_healthy,
};

/// Serialisation failures at random: in the statement that raises the number of the newest change, and in the commit.
const REFUSE_AT_RANDOM: &str = "
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF random() < 0.1 THEN RAISE EXCEPTION 'at random' USING ERRCODE = '40001'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse_statement BEFORE UPDATE ON hornbook_head FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE CONSTRAINT TRIGGER refuse_commit AFTER UPDATE ON hornbook_head DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION refuse()";

fn host_and_port() -> String {
    let address = server_address().expect("HORNBOOK_POSTGRES names a server");
    let (_, rest) = address.split_once('@').expect("a user");
    rest.split_once('/').expect("a database").0.to_owned()
}

/// Some servers on one state, each behind a proxy of its own.
pub(crate) struct Servers {
    pub(crate) state: TestState,
    pub(crate) proxies: Vec<Proxy>,
    /// How long leases last. 0: every call waits for the database.
    lease_millis: i64,
}

impl Servers {
    pub(crate) fn new(count: usize, seed: u64) -> Self {
        let proxies = (0..count).map(|number| Proxy::to(&host_and_port(), seed + number as u64)).collect();
        Self { state: TestState::fresh(), proxies, lease_millis: 0 }
    }

    pub(crate) fn with_leases(self, lease_millis: i64) -> Self {
        Self { lease_millis, ..self }
    }

    pub(crate) fn medium(&self, number: usize) -> Arc<dyn StateStorage> {
        self.state.medium_of(&format!("server-{number}"), Some(self.proxies[number].address()))
    }

    /// The folder with the files of a server.
    pub(crate) fn files(&self, number: usize) -> PathBuf {
        self.state.folder().join(format!("server-{number}"))
    }

    pub(crate) fn settings(&self, monthly_units: u32) -> Settings {
        Settings { lease_millis: self.lease_millis, ..fast_settings(Durability::Strict, monthly_units) }
    }

    pub(crate) fn start(&self, number: usize) -> Accounts {
        start_accounts(self.medium(number), self.settings(0), clock_at_noon().now())
    }
}

#[test]
fn servers_charge_exactly_what_they_answer_while_connections_are_cut_and_commits_refused() {
    charge_while_connections_are_cut(&Servers::new(3, 1), 40, 40);
}

#[test]
fn servers_with_leases_charge_exactly_what_they_answer_while_connections_are_cut_and_commits_refused() {
    charge_while_connections_are_cut(&Servers::new(3, 51).with_leases(2_000), 500, 25);
}

fn charge_while_connections_are_cut(servers: &Servers, calls: u64, cut_one_in: u64) {
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..3).map(|number| servers.start(number)).collect();
    let customer = create_customer(&accounts[0], 1_000_000, 4, now);
    wait_until(|| accounts.iter().all(|server| server.authenticate(Some(&customer.keys[3]), now).is_ok()));
    servers.state.sql(REFUSE_AT_RANDOM);
    servers.proxies.iter().for_each(|proxy| proxy.cut_one_in(cut_one_in));
    let (charged, failed) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (server, accounts) in accounts.iter().enumerate() {
            for caller in 0..4u64 {
                let (charged, failed, keys) = (&charged, &failed, &customer.keys);
                scope.spawn(move || {
                    let mut random = SplitMix64(server as u64 * 10 + caller);
                    for _ in 0..calls {
                        let cost = 1 + random.below(5) as u32;
                        match make_call(accounts, &keys[random.index(4)], cost, None, now) {
                            Ok(_) => charged.fetch_add(u64::from(cost), Ordering::Relaxed),
                            Err(Refusal::Ledger(_)) => failed.fetch_add(1, Ordering::Relaxed),
                            Err(other) => panic!("{other:?}"),
                        };
                    }
                });
            }
        }
    });
    let cuts: u64 = servers.proxies.iter().map(Proxy::cuts).sum();
    assert!(cuts > 8, "only {cuts} connections were cut");
    servers.proxies.iter().for_each(|proxy| proxy.cut_one_in(0));
    servers.state.sql("DROP TRIGGER refuse_statement ON hornbook_head; DROP TRIGGER refuse_commit ON hornbook_head");
    // Refunds that are owed are made when a server is well again, or starts again.
    for server in &accounts {
        wait_until(|| wait_until_healthy(server).is_ok());
        server.close();
    }
    let restarted: Vec<Accounts> = (0..3).map(|number| servers.start(number)).collect();
    for server in &restarted {
        let books = server.verify_ledger().unwrap().books;
        let charged = i64::try_from(charged.load(Ordering::Relaxed)).unwrap();
        assert_eq!(books.spent, charged, "{} calls failed", failed.load(Ordering::Relaxed));
    }
}

#[test]
fn what_one_server_made_is_known_at_another_one_that_looks_for_it() {
    let servers = Servers::new(2, 71);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    for round in 0..20 {
        let (here, there) = (&accounts[round % 2], &accounts[1 - round % 2]);
        let key = &create_customer(here, 100, 1, now).keys[0];
        assert!(here.knows_key(key));
        futures_executor::block_on(there.catch_up());
        assert!(there.knows_key(key), "in round {round}");
    }
    let stranger = PlainKey::generate(KeyKind::Test, &mut SeededEntropy(71)).unwrap().reveal();
    futures_executor::block_on(accounts[0].catch_up());
    assert!(!accounts[0].knows_key(&stranger));
}

#[test]
fn servers_seal_with_one_key_or_are_told_to_copy_it() {
    let servers = Servers::new(2, 72);
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let key = accounts[0].client_id_key(&mut SeededEntropy(1)).unwrap();
    let missing = accounts[1].client_id_key(&mut SeededEntropy(2)).unwrap_err().to_string();
    assert!(missing.contains("state.key of this data directory is missing; copy it"), "{missing}");
    let file = |number: usize| servers.files(number).join(SEAL_KEY_FILE);
    // The key of another database.
    let others = Servers::new(1, 73);
    others.start(0).client_id_key(&mut SeededEntropy(3)).unwrap();
    std::fs::create_dir_all(servers.files(1)).unwrap();
    std::fs::copy(others.files(0).join(SEAL_KEY_FILE), file(1)).unwrap();
    let other = accounts[1].client_id_key(&mut SeededEntropy(2)).unwrap_err().to_string();
    assert!(other.contains("is not the one with which the other servers seal"), "{other}");
    std::fs::copy(file(0), file(1)).unwrap();
    assert_eq!(accounts[1].client_id_key(&mut SeededEntropy(2)).unwrap(), key);
}

#[test]
fn a_wallet_is_not_overdrawn_by_servers_that_spend_it_together() {
    spend_a_wallet_together(&Servers::new(3, 5));
    spend_a_wallet_together(&Servers::new(3, 6).with_leases(60_000));
}

fn spend_a_wallet_together(servers: &Servers) {
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..3).map(|number| servers.start(number)).collect();
    let customer = create_customer(&accounts[0], 100, 1, now);
    wait_until(|| accounts.iter().all(|server| server.authenticate(Some(&customer.keys[0]), now).is_ok()));
    let (served, overtaken) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for server in &accounts {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        match make_call(server, &customer.keys[0], 1, None, now) {
                            Ok(_) => served.fetch_add(1, Ordering::Relaxed),
                            // Another server was faster; this one knows the balance now.
                            Err(Refusal::Ledger(LedgerError::Overtaken)) => overtaken.fetch_add(1, Ordering::Relaxed),
                            Err(Refusal::Credits { .. }) => return,
                            Err(other) => panic!("{other:?}"),
                        };
                    }
                });
            }
        }
    });
    assert_eq!(served.load(Ordering::Relaxed), 100, "{} were overtaken", overtaken.load(Ordering::Relaxed));
    assert_eq!(accounts[2].verify_ledger().unwrap().books.wallets, 0);
}

#[test]
fn a_correction_takes_no_credits_that_another_server_spent() {
    let servers = Servers::new(2, 33);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let customer = create_customer(&accounts[0], 20, 1, now);
    wait_until(|| accounts[1].authenticate(Some(&customer.keys[0]), now).is_ok());
    // At once: the second server cannot know of the first call yet.
    make_call(&accounts[0], &customer.keys[0], 15, None, now).unwrap();
    let taken = accounts[1].adjust(customer.account, -10, "for the test".to_owned(), &act(now));
    assert!(matches!(taken, Err(ChangeError::Refused(_))), "{taken:?}");
    accounts[1].adjust(customer.account, -5, "for the test".to_owned(), &act(now)).unwrap();
    assert_eq!(accounts[0].verify_ledger().unwrap().books.wallets, 0);
}

#[test]
fn a_caller_that_spreads_its_calls_has_one_limit() {
    spread_calls(&Servers::new(3, 25), 0);
    // Each server may have charged a tenth of a third to its lease since the others looked.
    spread_calls(&Servers::new(3, 26).with_leases(60_000), 3);
}

fn spread_calls(servers: &Servers, excess: usize) {
    let now = clock_at_noon().now();
    let mut settings = servers.settings(1000);
    settings.tariff.free.limits = RateLimits { per_minute: 30, per_day: 45 };
    let accounts: Vec<Accounts> = (0..3).map(|number| start_accounts(servers.medium(number), settings, now)).collect();
    let customer = create_customer(&accounts[0], 0, 1, now);
    wait_until(|| accounts.iter().all(|server| server.authenticate(Some(&customer.keys[0]), now).is_ok()));
    let served_at = |now: Now| {
        let calls = (0..120).map(|call| make_call(&accounts[call % 3], &customer.keys[0], 1, None, now));
        calls
            .filter(|call| match call {
                Ok(_) => true,
                Err(Refusal::TooFast(_) | Refusal::Ledger(LedgerError::Overtaken)) => false,
                Err(other) => panic!("{other:?}"),
            })
            .count()
    };
    let first = served_at(now);
    assert!((30..=30 + excess).contains(&first), "{first} calls in a minute");
    std::thread::sleep(Duration::from_millis(500));
    let later = Now { wall: now.wall.plus_millis(61_000), steady: now.steady.plus_micros(61_000_000) };
    let second = served_at(later);
    assert!((45..=45 + excess).contains(&(first + second)), "{first} and {second} calls on a day");
}

#[test]
fn a_retry_on_another_server_is_answered_and_not_charged_again() {
    let servers = Servers::new(2, 9);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let customer = create_customer(&accounts[0], 100, 1, now);
    wait_until(|| accounts[1].authenticate(Some(&customer.keys[0]), now).is_ok());
    for round in 0..20 {
        let retry = Some(Idempotency::new(&format!("call-{round}"), "GET /search"));
        // Both at once: one is charged. The other is refused, and its retry is answered from the first charge.
        let call = |accounts: &Accounts| make_call(accounts, &customer.keys[0], 1, retry, now);
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| call(&accounts[1]));
            (call(&accounts[0]), other.join().unwrap())
        });
        let fresh =
            [&first, &second].into_iter().filter(|call| call.as_ref().is_ok_and(|receipt| !receipt.is_replay()));
        assert_eq!(fresh.count(), 1, "{first:?} {second:?}");
        for server in &accounts {
            let again = make_call(server, &customer.keys[0], 1, retry, now).unwrap();
            assert!(again.is_replay());
        }
    }
    assert_eq!(accounts[0].verify_ledger().unwrap().books.spent, 20);
}

/// The second server takes its claim before the first one charges, so that its own debit is overtaken. Then its work fails.
#[test]
fn an_overtaken_call_that_fails_gives_nothing_back_and_forgets_nothing() {
    let servers = Servers::new(2, 29);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let customer = create_customer(&accounts[0], 100, 1, now);
    wait_until(|| accounts[1].authenticate(Some(&customer.keys[0]), now).is_ok());
    for round in 0..10 {
        let retry = Some(Idempotency::new(&format!("call-{round}"), "GET /search"));
        let caller = accounts[1].authenticate(Some(&customer.keys[0]), now).unwrap();
        let paced = caller.require(ScopeSet::ALL).unwrap().check_rate(now).unwrap();
        let Ok(Reserved::Fresh(second)) = paced.reserve("search", Credits(1), retry, now) else {
            panic!("nobody made this call before");
        };
        assert!(!make_call(&accounts[0], &customer.keys[0], 1, retry, now).unwrap().is_replay());
        second.begin().unwrap().refund_blocking().unwrap();
        assert!(make_call(&accounts[1], &customer.keys[0], 1, retry, now).unwrap().is_replay());
    }
    assert_eq!(accounts[0].verify_ledger().unwrap().books.spent, 10);
}

#[test]
fn a_revoked_key_is_refused_by_every_server_within_a_second() {
    let servers = Servers::new(2, 13);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let customer = create_customer(&accounts[0], 10, 1, now);
    wait_until(|| accounts[1].authenticate(Some(&customer.keys[0]), now).is_ok());
    accounts[0].revoke_key(customer.key_ids[0], &act(now)).unwrap();
    let began = Instant::now();
    let revoked = Refusal::Key(BadKey::RevokedOrExpired);
    wait_until(|| accounts[1].authenticate(Some(&customer.keys[0]), now).err() == Some(revoked));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[test]
fn a_change_whose_answer_is_lost_is_made_once() {
    let servers = Servers::new(2, 17);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let customer = create_customer(&accounts[0], 0, 1, now);
    wait_until(|| accounts[1].authenticate(Some(&customer.keys[0]), now).is_ok());
    servers.proxies.iter().for_each(|proxy| proxy.cut_one_in(40));
    let (made, unknown) = (AtomicI64::new(0), AtomicI64::new(0));
    std::thread::scope(|scope| {
        for server in &accounts {
            scope.spawn(|| {
                for _ in 0..60 {
                    match server.grant(customer.account, Credits(1), "for the test".to_owned(), &act(now)) {
                        Ok(_) => made.fetch_add(1, Ordering::Relaxed),
                        Err(ChangeError::OutcomeUnknown(_)) => unknown.fetch_add(1, Ordering::Relaxed),
                        Err(_) => 0,
                    };
                    wait_until(|| wait_until_healthy(server).is_ok());
                }
            });
        }
    });
    servers.proxies.iter().for_each(|proxy| proxy.cut_one_in(0));
    accounts.iter().for_each(|server| wait_until(|| wait_until_healthy(server).is_ok()));
    let granted = accounts[0].verify_ledger().unwrap().books.wallets;
    let (made, unknown) = (made.load(Ordering::Relaxed), unknown.load(Ordering::Relaxed));
    assert!(made >= 80, "{made} of 120 grants were made, and perhaps {unknown} more");
    assert!(
        (made..=made + unknown).contains(&granted),
        "{granted} credits after {made} grants and perhaps {unknown} more"
    );
}

#[test]
fn a_server_whose_database_is_out_of_reach_refuses_and_comes_back() {
    let servers = Servers::new(1, 21);
    let now = clock_at_noon().now();
    let accounts = servers.start(0);
    let customer = create_customer(&accounts, 10, 1, now);
    servers.proxies[0].silence(true);
    let refused = make_call(&accounts, &customer.keys[0], 1, None, now).unwrap_err();
    assert!(matches!(refused, Refusal::Ledger(_)), "{refused:?}");
    servers.proxies[0].silence(false);
    wait_until(|| make_call(&accounts, &customer.keys[0], 1, None, now).is_ok());
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 1);
}

#[test]
fn a_state_moves_to_the_database_and_back_with_its_chain_of_hashes() {
    let data = tempfile::tempdir().unwrap();
    let now = clock_at_noon().now();
    let settings = fast_settings(Durability::Strict, 10);
    let accounts = Accounts::open(data.path(), settings, now).unwrap();
    let customer = create_customer(&accounts, 50, 2, now);
    for _ in 0..30 {
        make_call(&accounts, &customer.keys[0], 1, None, now).unwrap();
    }
    let before = accounts.verify_ledger().unwrap();
    accounts.close();
    let file: Arc<dyn StateStorage> = Arc::new(FileStorage::standalone(&data.path().join(STATE_FILE)));
    let state = TestState::fresh();
    let copied = migrate(&file, &state.medium()).unwrap();
    assert_eq!((copied.entries, &copied.last_hash), (before.entries, &before.last_hash));
    let again = migrate(&file, &state.medium()).unwrap_err().to_string();
    assert!(again.contains("already has accounts"), "{again}");

    let accounts = start_accounts(state.medium(), settings, now);
    for _ in 0..10 {
        make_call(&accounts, &customer.keys[1], 1, None, now).unwrap();
    }
    let moved = accounts.verify_ledger().unwrap();
    accounts.close();
    let other = tempfile::tempdir().unwrap();
    let back = migrate_to_file(&state.medium(), other.path()).unwrap();
    assert_eq!((back.entries, &back.last_hash), (moved.entries, &moved.last_hash));
    let accounts = Accounts::open(other.path(), settings, now).unwrap();
    make_call(&accounts, &customer.keys[0], 1, None, now).unwrap();
    assert_eq!(accounts.verify_ledger().unwrap().books.spent, 41);
}

/// The program starts within a runtime of its own.
#[test]
fn accounts_are_usable_on_the_threads_of_a_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let now = clock_at_noon().now();
        let accounts = start_accounts(TestState::fresh().medium(), fast_settings(Durability::Strict, 10), now);
        let customer = create_customer(&accounts, 50, 1, now);
        make_call(&accounts, &customer.keys[0], 1, None, now).unwrap();
        assert_eq!(accounts.verify_ledger().unwrap().books.spent, 1);
    });
}

#[test]
fn a_database_that_lost_entries_is_refused() {
    let state = TestState::fresh();
    let now = clock_at_noon().now();
    let settings = fast_settings(Durability::Strict, 10);
    let accounts = start_accounts(state.medium(), settings, now);
    let customer = create_customer(&accounts, 50, 1, now);
    make_call(&accounts, &customer.keys[0], 1, None, now).unwrap();
    accounts.close();
    let files = LocalFiles::in_directory(state.folder()).unwrap();
    assert!(files.mark().unwrap().is_some_and(|mark| mark.entries == 2));
    // As after a failover to a copy that was behind.
    state.sql("DELETE FROM hornbook_records");
    let error = State::open_medium(&state.medium()).err().unwrap().to_string();
    assert!(error.contains("contains no Hornbook state") || error.contains("is older than"), "{error}");
}

pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(40);
    while !is_so() {
        assert!(Instant::now() < deadline, "it took too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}
