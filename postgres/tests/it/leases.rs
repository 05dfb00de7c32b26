//! Servers that charge calls to leases: without the database, across its failures, and after their own.

use std::path::Path;
use std::time::Duration;

use hornbook_accounts::Accounts;
use hornbook_accounts::error::{LedgerError, Refusal};
use hornbook_accounts::migrate::migrate_to_file;
use hornbook_accounts::state::{JOURNAL_FILE, State};
use hornbook_base::clock::{Clock, Now};

use crate::servers::{Servers, wait_until};
use crate::support::{Customer, act, clock_at_noon, create_customer, failing_call, make_call, wait_until_healthy};

/// A customer whose server has a lease.
fn customer_with_lease(server: &Accounts, credits: u32, now: Now) -> Customer {
    let customer = create_customer(server, credits, 1, now);
    wait_until(|| make_call(server, &customer.keys[0], 1, None, now).unwrap().entry().is_none());
    customer
}

/// Calls until the ledger is needed. Returns how many succeeded.
fn calls_without_the_ledger(server: &Accounts, customer: &Customer, now: Now) -> i64 {
    let mut made = 0;
    loop {
        match make_call(server, &customer.keys[0], 1, None, now) {
            Ok(receipt) => {
                assert_eq!(receipt.entry(), None, "the database cannot be reached");
                made += 1;
            }
            Err(Refusal::Ledger(LedgerError::Unavailable | LedgerError::Overtaken)) => return made,
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_server_without_its_database_answers_until_its_lease_is_spent() {
    let servers = Servers::new(1, 61).with_leases(60_000);
    let now = clock_at_noon().now();
    let accounts = servers.start(0);
    let customer = customer_with_lease(&accounts, 800, now);
    wait_until(|| accounts.leases().unwrap().unreported == 0);
    let before = accounts.account(customer.account, now).unwrap().remaining.credits();
    servers.proxies[0].silence(true);
    std::thread::sleep(Duration::from_secs(6));
    accounts.readiness().expect("it answers from its lease");
    let made = calls_without_the_ledger(&accounts, &customer, now);
    assert_eq!(accounts.readiness(), Err(LedgerError::Unavailable));
    assert_eq!(accounts.leases().unwrap().unreported, made.unsigned_abs());
    // A part of the wallet, and not the whole.
    assert!((20..=100).contains(&made), "{made} calls of {before}");
    servers.proxies[0].silence(false);
    wait_until(|| accounts.readiness().is_ok() && accounts.leases().unwrap().unreported == 0);
    let left = accounts.account(customer.account, now).unwrap().remaining.credits();
    assert_eq!(left, before - made.unsigned_abs());
    accounts.close();
    let accounts = servers.start(0);
    let books = accounts.verify_ledger().unwrap().books;
    assert_eq!((books.wallets, books.spent), (left as i64, 800 - left as i64));
}

#[test]
fn calls_of_a_server_that_crashed_are_charged_when_it_starts_again() {
    let servers = Servers::new(2, 62).with_leases(60_000);
    let now = clock_at_noon().now();
    let crashed = servers.start(0);
    let customer = customer_with_lease(&crashed, 800, now);
    wait_until(|| servers.state.sql("SELECT count(*) FROM hornbook_records WHERE tbl = 'leases'") == "1");
    let spent_before = crashed.verify_ledger().unwrap().books.spent;
    servers.proxies[0].silence(true);
    let made = calls_without_the_ledger(&crashed, &customer, now);
    failing_call(&crashed, &customer.keys[0], 1, now).unwrap_err();
    // Its files are used by a new server, as after a crash. The old one never reaches the database again.
    let files = servers.files(0);
    let copy = servers.files(1);
    std::fs::create_dir_all(&copy).unwrap();
    std::fs::copy(Path::new(&files).join(JOURNAL_FILE), Path::new(&copy).join(JOURNAL_FILE)).unwrap();
    let restarted = servers.start(1);
    wait_until(|| restarted.verify_ledger().unwrap().books.spent >= spent_before + made);
    // Calls that were journaled and not reported before are charged too.
    let spent = restarted.verify_ledger().unwrap().books.spent;
    assert!((spent_before + made..=spent_before + made + 20).contains(&spent), "{spent_before} and {made}, {spent}");
    restarted.close();
    let again = servers.start(1);
    assert_eq!(again.verify_ledger().unwrap().books.spent, spent, "nothing is charged twice");
    std::mem::forget(crashed);
}

#[test]
fn the_lease_of_a_server_that_is_gone_ends_and_its_late_calls_overdraw_nothing() {
    let servers = Servers::new(2, 63).with_leases(3_000);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let customer = customer_with_lease(&accounts[0], 80, now);
    let open = migrate_to_file(&servers.medium(1), &servers.files(7)).unwrap_err().to_string();
    assert!(open.contains("still have 1 leases"), "{open}");
    servers.proxies[0].silence(true);
    let late = calls_without_the_ledger(&accounts[0], &customer, now);
    assert!(late > 0);
    // The other server waits for the end of the lease, and then spends everything.
    wait_until(|| match make_call(&accounts[1], &customer.keys[0], 1, None, now) {
        Ok(_) => false,
        Err(Refusal::Credits { .. }) => true,
        Err(_) => false,
    });
    servers.proxies[0].silence(false);
    wait_until(|| wait_until_healthy(&accounts[0]).is_ok());
    std::thread::sleep(Duration::from_millis(600));
    accounts.iter().for_each(Accounts::close);
    let books = servers.start(0).verify_ledger().unwrap().books;
    // Every call is in the ledger, and the service bears what the wallet did not have any more.
    assert_eq!(books.wallets, 0, "{books:?}");
    assert_eq!(books.spent, 80 - books.adjusted, "{books:?}");
    assert!(books.adjusted < 0 && -books.adjusted <= late, "{books:?} {late}");
}

#[test]
fn a_server_that_was_started_with_a_copy_of_anothers_files_loses_and_repeats_no_call() {
    let servers = Servers::new(2, 66).with_leases(60_000);
    let now = clock_at_noon().now();
    let first = servers.start(0);
    let customer = customer_with_lease(&first, 800, now);
    wait_until(|| first.leases().unwrap().unreported == 0);
    let spent_before = first.verify_ledger().unwrap().books.spent;
    servers.proxies[0].silence(true);
    let unreported = calls_without_the_ledger(&first, &customer, now);
    std::fs::create_dir_all(servers.files(1)).unwrap();
    std::fs::copy(servers.files(0).join(JOURNAL_FILE), servers.files(1).join(JOURNAL_FILE)).unwrap();
    // It reports the calls of the copy, and then is a server of its own.
    let second = servers.start(1);
    assert_eq!(second.verify_ledger().unwrap().books.spent, spent_before + unreported);
    servers.proxies[0].silence(false);
    wait_until(|| wait_until_healthy(&first).is_ok());
    let mut made = 0;
    for _ in 0..30 {
        for server in [&first, &second] {
            made += i64::from(make_call(server, &customer.keys[0], 1, None, now).is_ok());
        }
    }
    assert!(made > 30, "{made}");
    first.close();
    second.close();
    let books = servers.start(1).verify_ledger().unwrap().books;
    assert_eq!((books.spent, books.adjusted), (spent_before + unreported + made, 0), "{books:?}");
    // A journal of another database is not charged to the accounts of this one.
    let other = Servers::new(1, 67).with_leases(60_000);
    std::fs::create_dir_all(other.files(0)).unwrap();
    let with_calls = servers.start(0);
    let customer = customer_with_lease(&with_calls, 800, now);
    servers.proxies[0].silence(true);
    calls_without_the_ledger(&with_calls, &customer, now);
    std::fs::copy(servers.files(0).join(JOURNAL_FILE), other.files(0).join(JOURNAL_FILE)).unwrap();
    let refused = Accounts::start(State::open_medium(&other.medium(0)).unwrap(), other.settings(0), now);
    let Err(refused) = refused else { panic!("it was started") };
    assert!(refused.to_string().contains("move journal.redb away"), "{refused}");
    std::mem::forget(with_calls);
}

#[test]
fn one_of_several_servers_leads_and_another_one_when_it_stops() {
    let servers = Servers::new(3, 65).with_leases(60_000);
    let mut accounts: Vec<Accounts> = (0..3).map(|number| servers.start(number)).collect();
    while accounts.len() > 1 {
        wait_until(|| accounts.iter().all(|server| server.leases().unwrap().servers as usize == accounts.len()));
        wait_until(|| accounts.iter().filter(|server| server.leads()).count() == 1);
        let first = accounts.iter().position(Accounts::leads).unwrap();
        accounts.remove(first).close();
    }
    wait_until(|| accounts[0].leads());
}

#[test]
fn a_server_that_stops_returns_its_leases() {
    let servers = Servers::new(2, 64).with_leases(60_000);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let customer = customer_with_lease(&accounts[0], 100, now);
    accounts[0].close();
    assert_eq!(servers.state.sql("SELECT count(*) FROM hornbook_records WHERE tbl = 'leases'"), "0");
    let left = accounts[1].verify_ledger().unwrap().books.wallets;
    wait_until(|| accounts[1].adjust(customer.account, -left, "for the test".to_owned(), &act(now)).is_ok());
}
