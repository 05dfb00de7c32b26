//! Reports of usage for a biller outside: random histories against the entries that accounts see, with deliveries that
//! fail and restarts, by each server of a state in turn; where an hour ends; and what a roll-up may not take away.

use std::collections::BTreeMap;

use hornbook_accounts::ids::{AccountId, Credits, EntryNumber};
use hornbook_accounts::ledger::entry::EntryKind;
use hornbook_accounts::tier::PackName;
use hornbook_accounts::usage_reports::{ACCOUNTS_PER_PART, AccountUsage, UsageReport};
use hornbook_accounts::views::EntryView;
use hornbook_accounts::{Accounts, Durability, Settings};
use hornbook_base::clock::{ManualClock, Now};
use hornbook_base::random::SplitMix64;

use crate::support::{
    Customer, act, clock_at_noon, create_customer, failing_call, fast_settings, make_call, now_of, start_accounts,
};
use crate::{ONE_IN, TestState};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const UNITS: u32 = 30;

fn settings() -> Settings {
    Settings { reports_usage: true, ..fast_settings(Durability::Strict, UNITS) }
}

/// The plain sums of entries as their account sees them.
fn sum<'e>(entries: impl Iterator<Item = &'e EntryView>) -> AccountUsage {
    let mut usage = AccountUsage::default();
    for entry in entries {
        match (entry.kind, &entry.operation) {
            (EntryKind::Usage, _) => {
                usage.calls += 1;
                usage.credits += -entry.credits;
                usage.units += entry.from_allotment;
            }
            (EntryKind::Refund, Some(_)) => {
                usage.refunded_calls += 1;
                usage.refunded_credits += entry.credits;
                usage.refunded_units += -entry.from_allotment;
            }
            (EntryKind::Refund, None) => usage.taken_back += -entry.credits,
            (EntryKind::Purchase, _) => usage.purchased += entry.credits,
            (EntryKind::Grant, _) => usage.granted += entry.credits,
            (EntryKind::Adjustment, _) => usage.adjusted += entry.credits,
        }
    }
    usage
}

fn plus(one: AccountUsage, other: AccountUsage) -> AccountUsage {
    AccountUsage {
        calls: one.calls + other.calls,
        credits: one.credits + other.credits,
        units: one.units + other.units,
        refunded_calls: one.refunded_calls + other.refunded_calls,
        refunded_credits: one.refunded_credits + other.refunded_credits,
        refunded_units: one.refunded_units + other.refunded_units,
        purchased: one.purchased + other.purchased,
        taken_back: one.taken_back + other.taken_back,
        granted: one.granted + other.granted,
        adjusted: one.adjusted + other.adjusted,
    }
}

/// A biller that counts each id once.
#[derive(Default)]
struct TestBiller {
    reports: BTreeMap<String, UsageReport>,
    usage: BTreeMap<String, (AccountId, AccountUsage)>,
}

impl TestBiller {
    fn take(&mut self, report: &UsageReport, context: &str) {
        let mut received = report.clone();
        received.range.parts_delivered = 0;
        let known = self.reports.entry(report.id()).or_insert_with(|| received.clone());
        assert_eq!(*known, received, "{context}: one id, two reports");
        for (account, usage) in &report.accounts {
            let known = self.usage.entry(report.usage_id(*account)).or_insert((*account, *usage));
            assert_eq!(*known, (*account, *usage), "{context}: one id, two sums");
        }
    }

    fn total(&self, of: AccountId) -> AccountUsage {
        let of_account = self.usage.values().filter(|(account, _)| *account == of);
        of_account.fold(AccountUsage::default(), |total, (_, usage)| plus(total, *usage))
    }

    /// Every entry after `after` is in one report. Returns the last one.
    fn covered(&self, after: EntryNumber, context: &str) -> EntryNumber {
        let mut reports: Vec<&UsageReport> = self.reports.values().collect();
        reports.sort_by_key(|report| report.first);
        let mut last = after;
        for report in reports {
            assert_eq!(report.first.0, last.0 + 1, "{context}: a gap or an overlap");
            last = report.range.through;
        }
        last
    }
}

struct UsageRun {
    random: SplitMix64,
    clock: ManualClock,
    state: TestState,
    /// All on the one state.
    servers: Vec<Accounts>,
    customers: Vec<Customer>,
    biller: TestBiller,
    /// All entries of each account, also those that are rolled up by now.
    entries: BTreeMap<AccountId, Vec<EntryView>>,
    start: EntryNumber,
}

impl UsageRun {
    fn new(seed: u64) -> Self {
        let (clock, state) = (clock_at_noon(), TestState::fresh());
        let started = state.media().into_iter().map(|medium| start_accounts(medium, settings(), now_of(&clock)));
        let servers: Vec<Accounts> = started.collect();
        let customers: Vec<_> = (0..3).map(|_| create_customer(&servers[0], 500, 1, now_of(&clock))).collect();
        let start = servers[0].mark_usage_hours(now_of(&clock).wall).unwrap().delivered;
        let (biller, entries) = (TestBiller::default(), BTreeMap::new());
        let random = SplitMix64(seed);
        let mut run = Self { random, clock, state, servers, customers, biller, entries, start };
        run.collect();
        run
    }

    fn now(&self) -> Now {
        now_of(&self.clock)
    }

    /// Notes the new entries of each account.
    fn collect(&mut self) {
        for customer in &self.customers {
            let known = self.entries.entry(customer.account).or_default();
            let last = known.last().map_or(EntryNumber(0), |entry| entry.id);
            let mut new = self.servers[0].entries_after(customer.account, last, usize::MAX).unwrap();
            new.reverse();
            known.extend(new);
        }
    }

    /// Most calls are reported at once, some by a server that was away for up to an hour.
    fn time_of_call(&mut self) -> Now {
        let mut now = self.now();
        if self.random.below(8) == 0 {
            now.wall = now.wall.plus_millis(-(self.random.below(HOUR) as i64));
        }
        now
    }

    fn step(&mut self, context: &str) {
        let (server, customer) = (self.random.index(self.servers.len()), self.random.index(3));
        let (account, key) = (self.customers[customer].account, self.customers[customer].keys[0].clone());
        match self.random.below(30) {
            0..12 => {
                let (cost, now) = (1 + self.random.below(5) as u32, self.time_of_call());
                let _ = make_call(&self.servers[server], &key, cost, None, now);
            }
            12..15 => {
                let now = self.time_of_call();
                let _ = failing_call(&self.servers[server], &key, 2, now);
            }
            15 => {
                let act = act(self.now());
                self.servers[server].grant(account, Credits(50), "model".to_owned(), &act).unwrap();
            }
            16 => {
                let act = act(self.now());
                self.servers[server].adjust(account, 7, "model".to_owned(), &act).unwrap();
            }
            17 => {
                let act = act(self.now());
                let accounts = &self.servers[server];
                let bought = accounts.request_purchase(account, PackName::Starter, &act).unwrap();
                accounts.pay_purchase(bought.id, None, &act).unwrap();
                accounts.refund_purchase(bought.id, "model".to_owned(), &act).unwrap();
            }
            18..24 => self.clock.advance_millis(self.random.below(20 * MINUTE)),
            24 => self.clock.advance_millis(self.random.below(5 * HOUR)),
            25 => {
                let now = self.now().wall;
                self.servers[server].roll_up(now, now).unwrap();
            }
            26 => {
                self.servers.remove(server).close();
                let medium = self.state.media().remove(server);
                self.servers.insert(server, start_accounts(medium, settings(), self.now()));
            }
            27 if self.random.below(4) == 0 => self.clock.set_wall(self.now().wall.plus_millis(-(HOUR as i64))),
            _ => self.look(server, context),
        }
        self.collect();
    }

    /// One look of the thread that sends reports, which the biller may not take, and whose answer may get lost.
    fn look(&mut self, server: usize, context: &str) {
        let accounts = &self.servers[server];
        accounts.mark_usage_hours(now_of(&self.clock).wall).unwrap();
        let Some(report) = accounts.due_usage_report().unwrap() else { return };
        if self.random.below(3) == 0 {
            return;
        }
        self.biller.take(&report, context);
        if self.random.below(3) > 0 {
            self.servers[server].usage_part_delivered(&report, 0).unwrap();
        }
    }

    fn finish(mut self, context: &str) {
        self.clock.advance_millis(4 * HOUR);
        self.servers[0].mark_usage_hours(self.now().wall).unwrap();
        while let Some(report) = self.servers[0].due_usage_report().unwrap() {
            assert!(!report.range.is_rolled_up, "{context}");
            self.biller.take(&report, context);
            self.servers[0].usage_part_delivered(&report, 0).unwrap();
        }
        let last = self.biller.covered(self.start, context);
        assert_eq!(last.0, self.servers[0].verify_ledger().unwrap().entries, "{context}");
        self.collect();
        for customer in &self.customers {
            let entries = self.entries[&customer.account].iter().filter(|entry| entry.id > self.start);
            assert_eq!(self.biller.total(customer.account), sum(entries), "{context}: {}", customer.account);
        }
    }
}

#[test]
fn a_biller_that_counts_each_id_once_gets_every_entry_once() {
    for seed in 0..150 / u64::from(ONE_IN) {
        let mut run = UsageRun::new(seed);
        for step in 0..250 {
            run.step(&format!("seed {seed}, step {step}"));
        }
        run.finish(&format!("seed {seed}"));
    }
}

/// A state whose ledger is reported from now on, one minute before the hour.
fn before_the_hour(settings: Settings) -> (TestState, Accounts, Customer, ManualClock) {
    let (clock, state) = (clock_at_noon(), TestState::fresh());
    clock.advance_millis(59 * MINUTE);
    let accounts = start_accounts(state.medium(), settings, now_of(&clock));
    let customer = create_customer(&accounts, 5000, 1, now_of(&clock));
    accounts.mark_usage_hours(now_of(&clock).wall).unwrap();
    (state, accounts, customer, clock)
}

/// Calls at these seconds after the hour, in the order of the ledger.
fn calls_at(accounts: &Accounts, customer: &Customer, clock: &ManualClock, seconds: &[(i64, usize)]) {
    let hour = now_of(clock).wall.plus_millis(MINUTE as i64);
    for (second, count) in seconds {
        for _ in 0..*count {
            let now = Now { wall: hour.plus_millis(second * 1000), ..now_of(clock) };
            make_call(accounts, &customer.keys[0], 1, None, now).unwrap();
        }
    }
}

#[test]
fn an_hour_ends_where_the_fewest_calls_are_on_the_wrong_side() {
    for (seconds, expected) in [
        (&[(-10, 5), (1, 3), (-1, 2), (2, 5)][..], 5),
        (&[(-10, 5), (1, 3), (-1, 4), (2, 5)][..], 12),
        (&[(1, 2)], 0),
        (&[(-10, 3)], 3),
        // A server whose clock is a day ahead.
        (&[(-10, 3), (86_400, 4), (-5, 1), (86_400, 4), (1, 5)], 12),
        // More blocks than one, and a server that was away for half an hour.
        (&[(-10, 400), (1, 300), (-1800, 200), (60, 300)], 400),
    ] {
        let (_state, accounts, customer, clock) = before_the_hour(settings());
        let start = accounts.mark_usage_hours(now_of(&clock).wall).unwrap().delivered;
        calls_at(&accounts, &customer, &clock, seconds);
        clock.advance_millis(2 * MINUTE);
        assert_eq!(accounts.mark_usage_hours(now_of(&clock).wall).unwrap().waiting, [], "calls may still be reported");
        clock.advance_millis(MINUTE);
        accounts.mark_usage_hours(now_of(&clock).wall).unwrap();
        let report = accounts.due_usage_report().unwrap();
        let calls = report.as_ref().map_or(0, |report| report.range.through.0 - start.0);
        assert_eq!(calls, expected, "{seconds:?}");
        assert!(report.is_none_or(|report| report.hours() == 1));
    }
}

#[test]
fn a_report_of_many_accounts_goes_on_at_the_part_that_was_not_taken() {
    let (state, accounts, _, clock) = before_the_hour(settings());
    let surplus = 3;
    for _ in 0..ACCOUNTS_PER_PART + surplus {
        create_customer(&accounts, 1, 0, now_of(&clock));
    }
    clock.advance_millis(4 * MINUTE);
    accounts.mark_usage_hours(now_of(&clock).wall).unwrap();
    let report = accounts.due_usage_report().unwrap().unwrap();
    assert_eq!((report.parts(), report.part(0).len(), report.part(1).len()), (2, ACCOUNTS_PER_PART, surplus));
    accounts.usage_part_delivered(&report, 0).unwrap();
    // Another server that sent the same part.
    accounts.usage_part_delivered(&report, 0).unwrap();
    drop(accounts);
    let accounts = start_accounts(state.medium(), settings(), now_of(&clock));
    let again = accounts.due_usage_report().unwrap().unwrap();
    assert_eq!((again.range.parts_delivered, again.id(), &again.accounts), (1, report.id(), &report.accounts));
    accounts.usage_part_delivered(&again, 1).unwrap();
    assert_eq!(accounts.due_usage_report().unwrap(), None);
    assert_eq!(accounts.mark_usage_hours(now_of(&clock).wall).unwrap().delivered, report.range.through);
}

#[test]
fn entries_that_wait_for_the_biller_are_not_rolled_up() {
    let (_state, accounts, customer, clock) = before_the_hour(settings());
    calls_at(&accounts, &customer, &clock, &[(-10, 500)]);
    clock.advance_millis(30 * 24 * HOUR);
    let now = now_of(&clock).wall;
    assert_eq!(accounts.roll_up(now, now).unwrap(), 0);
    accounts.mark_usage_hours(now).unwrap();
    let report = accounts.due_usage_report().unwrap().unwrap();
    assert_eq!((report.accounts[0].1.calls, report.hours()), (500, 30 * 24));
    assert_eq!(accounts.roll_up(now, now).unwrap(), 0, "it is not delivered");
    accounts.usage_part_delivered(&report, 0).unwrap();
    assert!(accounts.roll_up(now, now).unwrap() > 300);
}

/// A server without the setting rolled up what another one was to report.
#[test]
fn a_report_of_rolled_up_entries_says_so_and_has_no_sums() {
    let (state, accounts, customer, clock) = before_the_hour(settings());
    calls_at(&accounts, &customer, &clock, &[(-10, 500), (-8, 500), (-5, 500)]);
    drop(accounts);
    let now = now_of(&clock).wall.plus_millis(HOUR as i64);
    let seconds_before_the_hour = |seconds: i64| now_of(&clock).wall.plus_millis(MINUTE as i64 - seconds * 1000);
    let accounts = start_accounts(state.medium(), Settings { reports_usage: false, ..settings() }, now_of(&clock));
    let rolled_up = accounts.roll_up(seconds_before_the_hour(9), now).unwrap();
    assert!((300..=500).contains(&rolled_up), "{rolled_up}");
    accounts.mark_usage_hours(now).unwrap();
    let lost = accounts.due_usage_report().unwrap().unwrap();
    assert!(lost.range.is_rolled_up && lost.accounts.is_empty() && lost.id().ends_with("-rolled-up"), "{lost:?}");
    assert_eq!(lost.range.through.0, rolled_up);
    assert_eq!(accounts.due_usage_report().unwrap().as_ref(), Some(&lost), "a retry is the same");
    accounts.usage_part_delivered(&lost, 0).unwrap();
    let rest = accounts.due_usage_report().unwrap().unwrap();
    assert_eq!(rest.first.0, rolled_up + 1);
    let left = accounts.recent_entries(customer.account, usize::MAX).unwrap();
    let left = left.iter().filter(|entry| entry.kind == EntryKind::Usage).count() as i64;
    assert_eq!(rest.accounts.iter().map(|(_, usage)| usage.calls).sum::<i64>(), left);

    // Once a report may have been sent, its entries stay the same, and its sums are not sent under another id.
    assert!(accounts.roll_up(seconds_before_the_hour(7), now).unwrap() > 300);
    let lost = accounts.due_usage_report().unwrap().unwrap();
    assert_eq!((lost.first, lost.range.through, &lost.range.hash), (rest.first, rest.range.through, &rest.range.hash));
    assert!(lost.range.is_rolled_up && lost.accounts.is_empty() && lost.id() != rest.id());
}
