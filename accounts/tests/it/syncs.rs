//! How often the state file is written.

use hornbook_accounts::scope::ScopeSet;
use hornbook_accounts::{Durability, Settings};

use crate::support::disk::SimulatedDisk;
use crate::support::{clock_at_noon, create_customer, fast_settings, make_call, now_of, start_accounts};

#[test]
fn a_single_debit_costs_two_syncs() {
    let now = now_of(&clock_at_noon());
    let disk = SimulatedDisk::with_schema();
    let accounts = start_accounts(disk.medium(), fast_settings(Durability::Strict, 0), now);
    let owner = create_customer(&accounts, 100, 1, now);
    let before = disk.syncs();
    for _ in 0..10 {
        make_call(&accounts, &owner.keys[0], 1, None, now).unwrap();
    }
    assert_eq!(disk.syncs() - before, 20);
}

#[test]
fn idle_maintenance_does_not_write() {
    let clock = clock_at_noon();
    let disk = SimulatedDisk::with_schema();
    let settings = Settings { rollup_after_days: Some(30), ..Settings::default() };
    let accounts = start_accounts(disk.medium(), settings, now_of(&clock));
    let owner = create_customer(&accounts, 0, 1, now_of(&clock));
    // A call that is counted but not charged.
    drop(
        accounts
            .authenticate(Some(&owner.keys[0]), now_of(&clock))
            .unwrap()
            .require(ScopeSet::ALL)
            .unwrap()
            .check_rate(now_of(&clock)),
    );
    let before = disk.syncs();
    accounts.maintain(now_of(&clock)).unwrap();
    assert_eq!(disk.syncs() - before, 2, "the count of the call");
    accounts.maintain(now_of(&clock)).unwrap();
    assert_eq!(disk.syncs() - before, 2);
}
