//! A server that takes over changed records knows what it would read at its start.

use hornbook_accounts::Accounts;
use hornbook_accounts::budget::Budget;
use hornbook_accounts::changes::NewKey;
use hornbook_accounts::entropy::SeededEntropy;
use hornbook_accounts::error::{LedgerError, Refusal};
use hornbook_accounts::idempotency::Idempotency;
use hornbook_accounts::ids::Credits;
use hornbook_accounts::key::KeyKind;
use hornbook_accounts::scope::ScopeSet;
use hornbook_base::clock::{Clock, Now};
use hornbook_base::random::SplitMix64;

use crate::servers::{Servers, wait_until};
use crate::support::{Customer, act, clock_at_noon, create_customer_with_budgets, make_call};

/// What a server has in memory, but for the times of last use, which each server stores for itself.
fn known(accounts: &Accounts, now: Now) -> String {
    let keys: Vec<_> = accounts.keys(None).into_iter().map(|key| key.record).collect();
    let budgets: Vec<_> = keys.iter().map(|key| accounts.key_budget(key.id, now.wall)).collect();
    format!("{:#?}\n{keys:#?}\n{budgets:#?}", accounts.accounts(now).unwrap())
}

fn random_act(server: &Accounts, customers: &mut Vec<Customer>, random: &mut SplitMix64, now: Now) {
    if customers.is_empty() || random.below(12) == 0 {
        customers.push(create_customer_with_budgets(server, 200, 2, now));
        return;
    }
    let customer = random.index(customers.len());
    let customer = &mut customers[customer];
    let (key, act) = (random.index(customer.keys.len()), act(now));
    match random.below(8) {
        0 => drop(server.grant(customer.account, Credits(5), "for the test".to_owned(), &act).unwrap()),
        1 => drop(server.adjust(customer.account, -1, "for the test".to_owned(), &act)),
        2 => {
            let limits = Budget { total: Some(1000), ..Budget::default() };
            drop(server.set_key_budget(customer.key_ids[key], limits, &act));
        }
        3 => {
            let mut entropy = SeededEntropy(random.below(u64::MAX));
            let (name, kind, scopes) = ("key".to_owned(), KeyKind::Live, ScopeSet::ALL);
            let budget = Budget::default();
            let wish = NewKey { account: customer.account, name, kind, scopes, expires_at: None, budget };
            let issued = server.create_key(wish, &act, &mut entropy).unwrap();
            customer.keys.push(issued.secret.reveal());
            customer.key_ids.push(issued.record.id);
        }
        4 => drop(server.revoke_key(customer.key_ids[key], &act)),
        _ => {
            let retry = Idempotency::new(&format!("call-{}", random.below(1000)), "GET /search");
            let retry = Some(retry).filter(|_| random.below(2) == 0);
            match make_call(server, &customer.keys[key], 1 + random.below(4) as u32, retry, now) {
                Ok(_) | Err(Refusal::Ledger(LedgerError::Overtaken) | Refusal::Key(_) | Refusal::Credits { .. }) => {}
                Err(Refusal::OtherRequest | Refusal::TooManyReplays) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn a_server_that_follows_knows_what_it_would_read_at_its_start() {
    let servers = Servers::new(3, 41);
    let now = clock_at_noon().now();
    let accounts: Vec<Accounts> = (0..2).map(|number| servers.start(number)).collect();
    let (mut customers, mut random) = (Vec::new(), SplitMix64(5));
    for round in 0..12 {
        if round == 6 {
            // As if the server had been away for longer than changes are remembered.
            servers.state.sql("DELETE FROM hornbook_changes");
        }
        for _ in 0..25 {
            random_act(&accounts[random.index(2)], &mut customers, &mut random, now);
        }
        let started = servers.start(2);
        let expected = known(&started, now);
        started.close();
        for server in &accounts {
            wait_until(|| known(server, now) == expected);
        }
    }
    // The retries of one server are known to the other.
    let customer = create_customer_with_budgets(&accounts[0], 9, 1, now);
    wait_until(|| accounts[1].authenticate(Some(&customer.keys[0]), now).is_ok());
    let retry = Some(Idempotency::new("last", "GET /search"));
    make_call(&accounts[0], &customer.keys[0], 1, retry, now).unwrap();
    wait_until(|| known(&accounts[0], now) == known(&accounts[1], now));
    assert!(make_call(&accounts[1], &customer.keys[0], 1, retry, now).unwrap().is_replay());
    accounts[0].verify_ledger().unwrap();
}
