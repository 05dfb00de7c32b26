//! Usage by day and operation, as an SVG chart of stacked columns and as a table of the same
//! numbers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use hornbook_accounts::Accounts;
use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ids::{AccountId, EntryNumber};
use hornbook_accounts::ledger::entry::EntryKind;
use hornbook_accounts::views::EntryView;
use hornbook_base::clock::UnixDay;
use maud::{Markup, html};

/// Maximum number of entries read at once, the newest first.
pub(super) const ENTRIES_MAX: usize = 20_000;

/// Number of colours. Operations beyond this number share the last colour.
const COLOURS: usize = 6;

const HEIGHT: f64 = 120.0;
const COLUMN: f64 = 16.0;

/// The credits and free units used, by operation and day.
pub(super) struct Usage {
    first: UnixDay,
    days: usize,
    /// The most used operation first. Each has one number per day.
    operations: Vec<(String, Vec<i64>)>,
}

impl Usage {
    pub(super) fn of(sums: &UsageSums, today: UnixDay, days: usize) -> Self {
        let first = first_of(today, days);
        let mut by_operation: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for ((day, name), used) in &sums.by_day {
            let place = day.0.checked_sub(first.0).and_then(|place| usize::try_from(place).ok());
            let Some(place) = place.filter(|place| *place < days) else { continue };
            by_operation.entry(name).or_insert_with(|| vec![0; days])[place] += used;
        }
        let mut operations: Vec<_> = by_operation.into_iter().map(|(name, days)| (name.to_owned(), days)).collect();
        operations.sort_by_key(|(_, days)| std::cmp::Reverse(days.iter().sum::<i64>()));
        Self { first, days, operations }
    }

    fn on(&self, place: usize) -> i64 {
        self.operations.iter().map(|(_, days)| days[place].max(0)).sum()
    }

    fn day(&self, place: usize) -> UnixDay {
        UnixDay(self.first.0 + i32::try_from(place).unwrap_or(0))
    }
}

fn first_of(today: UnixDay, days: usize) -> UnixDay {
    UnixDay(today.0.saturating_sub(i32::try_from(days).unwrap_or(i32::MAX) - 1))
}

/// The usage by day and operation, up to the newest entry read.
#[derive(Clone, Default)]
pub(super) struct UsageSums {
    newest: EntryNumber,
    by_day: BTreeMap<(UnixDay, String), i64>,
    /// Whether older entries were left out.
    pub(super) is_cut: bool,
}

impl UsageSums {
    /// Adds the entries since the last read, and drops days that are no longer shown.
    fn read_new_entries(
        &mut self,
        accounts: &Accounts,
        account: AccountId,
        today: UnixDay,
        days: usize,
    ) -> Result<(), ChangeError> {
        let entries = accounts.entries_after(account, self.newest, ENTRIES_MAX)?;
        self.is_cut |= entries.len() == ENTRIES_MAX;
        self.add(&entries);
        self.by_day = self.by_day.split_off(&(first_of(today, days), String::new()));
        Ok(())
    }

    fn add(&mut self, entries: &[EntryView]) {
        for entry in entries.iter().filter(|entry| is_use(entry)) {
            let name = entry.operation.clone().unwrap_or_else(|| "other".to_owned());
            // A refund subtracts what its call used.
            *self.by_day.entry((entry.at.day(), name)).or_default() -= entry.credits;
        }
        self.newest = entries.first().map_or(self.newest, |entry| entry.id);
    }
}

/// A cache of the sums of accounts whose usage was viewed, so each entry is read only once.
#[derive(Default)]
pub(super) struct UsageSumsCache(Mutex<HashMap<AccountId, UsageSums>>);

/// Maximum number of cached sums. Each takes a few kilobytes.
const KEPT_MAX: usize = 1024;

impl UsageSumsCache {
    pub(super) fn of(
        &self,
        accounts: &Accounts,
        account: AccountId,
        today: UnixDay,
        days: usize,
    ) -> Result<UsageSums, ChangeError> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sums = kept().get(&account).cloned().unwrap_or_default();
        sums.read_new_entries(accounts, account, today, days)?;
        let mut kept = kept();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(account, sums.clone());
        Ok(sums)
    }
}

fn is_use(entry: &EntryView) -> bool {
    entry.kind == EntryKind::Usage || (entry.kind == EntryKind::Refund && entry.operation.is_some())
}

pub(super) fn by_day(usage: &Usage) -> Markup {
    let most = (0..usage.days).map(|place| usage.on(place)).max().unwrap_or(0);
    if most <= 0 {
        return html! { p { "Nothing was used." } };
    }
    let width = COLUMN * usage.days as f64;
    let total: i64 = (0..usage.days).map(|place| usage.on(place)).sum();
    html! {
        figure.chart {
            p.count aria-hidden="true" { "Most on one day: " (most) }
            svg viewBox={ "0 0 " (width) " " (HEIGHT + 1.0) } role="img" aria-label={ (total) " credits and free units used in " (usage.days) " days; at most " (most) " on one day" } {
                @for place in 0..usage.days {
                    g {
                        title { (usage.day(place)) ": " (usage.on(place)) }
                        @for (colour, y, height) in stacked(usage, place, most) {
                            rect class={ "c" (colour) } x=(COLUMN * place as f64 + 2.0) y=(y) width=(COLUMN - 4.0) height=(height) {}
                        }
                    }
                }
                line class="axis" x1="0" x2=(width) y1=(HEIGHT) y2=(HEIGHT) {}
            }
            p.span-of-days aria-hidden="true" { time { (usage.first) } time { (usage.day(usage.days - 1)) } }
            figcaption {
                ul.legend {
                    @for (place, (name, days)) in usage.operations.iter().enumerate() {
                        li { span class={ "key c" (place.min(COLOURS - 1)) } aria-hidden="true" {} (name) ": " (days.iter().sum::<i64>()) }
                    }
                }
                details {
                    summary { "As a table" }
                    div.scroll tabindex="0" role="group" aria-label="Usage by day and operation" {
                        table {
                            thead { tr { th scope="col" { "Day" } @for (name, _) in &usage.operations { th.number scope="col" { (name) } } } }
                            tbody {
                                @for place in (0..usage.days).rev().filter(|place| usage.on(*place) != 0) {
                                    tr { th scope="row" { (usage.day(place)) } @for (_, days) in &usage.operations { td.number { (days[place]) } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The colour, top and height of each part of a column, from the bottom up.
fn stacked(usage: &Usage, place: usize, most: i64) -> Vec<(usize, f64, f64)> {
    let mut top = HEIGHT;
    let mut parts = Vec::new();
    for (colour, (_, days)) in usage.operations.iter().enumerate() {
        let height = days[place].max(0) as f64 / most as f64 * (HEIGHT - 2.0);
        if height > 0.0 {
            top -= height;
            parts.push((colour.min(COLOURS - 1), round(top), round(height)));
        }
    }
    parts
}

fn round(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use hornbook_accounts::Settings;
    use hornbook_accounts::actor::Actor;
    use hornbook_accounts::admission::Reserved;
    use hornbook_accounts::budget::Budget;
    use hornbook_accounts::changes::{ActContext, NewKey};
    use hornbook_accounts::entropy::SystemEntropy;
    use hornbook_accounts::ids::Credits;
    use hornbook_accounts::key::KeyKind;
    use hornbook_accounts::scope::ScopeSet;
    use hornbook_base::clock::{Clock, SystemClock};

    use super::*;

    fn entry(day: i32, kind: EntryKind, operation: Option<&str>, credits: i64) -> EntryView {
        EntryView {
            id: EntryNumber(1),
            at: UnixDay(day).start(),
            kind,
            operation: operation.map(str::to_owned),
            credits,
            from_allotment: 0,
            balance_after: 0,
            key_prefix: None,
            note: None,
            actor: None,
            previous: None,
        }
    }

    #[test]
    fn use_is_summed_by_day_and_operation_and_refunds_are_taken_off() {
        let entries = [
            entry(10, EntryKind::Usage, Some("search"), -5),
            entry(10, EntryKind::Usage, Some("search"), -5),
            entry(10, EntryKind::Refund, Some("search"), 5),
            entry(9, EntryKind::Usage, Some("node"), -1),
            entry(10, EntryKind::Purchase, None, 1000),
            entry(3, EntryKind::Usage, Some("node"), -7),
        ];
        // The newest entries come first, read in two batches.
        let mut sums = UsageSums::default();
        sums.add(&entries[3..]);
        sums.add(&entries[..3]);
        let usage = Usage::of(&sums, UnixDay(10), 5);
        assert_eq!(
            usage.operations,
            [("search".to_owned(), vec![0, 0, 0, 0, 5]), ("node".to_owned(), vec![0, 0, 0, 1, 0])]
        );
        let text = by_day(&usage).into_string();
        assert_eq!(text.matches("<rect").count(), 2);
        assert!(by_day(&Usage::of(&UsageSums::default(), UnixDay(10), 5)).into_string().contains("Nothing was used"));
    }

    /// A view reads only the entries since the last one.
    #[test]
    fn entries_are_read_once() {
        let data = tempfile::tempdir().unwrap();
        let now = SystemClock::start().now();
        let accounts = Accounts::open(data.path(), Settings::default(), now).unwrap();
        let act = ActContext { actor: Actor::program("test"), at: now.wall };
        let account = accounts.create_account("test".to_owned(), &act).unwrap().id;
        accounts.approve_account(account, &act).unwrap();
        let (name, kind, scopes, budget) = ("test".to_owned(), KeyKind::Test, ScopeSet::ALL, Budget::default());
        let wish = NewKey { account, name, kind, scopes, expires_at: None, budget };
        let key = accounts.create_key(wish, &act, &mut SystemEntropy).unwrap().secret.reveal();
        let search = || {
            let call = accounts.authenticate(Some(&key), now).unwrap().require(ScopeSet::ALL).unwrap();
            match call.check_rate(now).unwrap().reserve("search", Credits(1), None, now).unwrap() {
                Reserved::Fresh(reserved) => drop(reserved.begin().unwrap().settle_blocking().unwrap()),
                Reserved::Replay(_) => panic!("no key of a retry was sent"),
            }
        };
        let (cache, today) = (UsageSumsCache::default(), now.wall.day());
        let shown = || cache.of(&accounts, account, today, 30).unwrap().by_day;
        let of_search = (today, "search".to_owned());
        (0..5).for_each(|_| search());
        assert_eq!(shown(), BTreeMap::from([(of_search.clone(), 5)]));
        // What was read before is neither read again nor added again.
        let mark = (today, "mark".to_owned());
        cache.0.lock().unwrap().get_mut(&account).unwrap().by_day.insert(mark.clone(), 1);
        search();
        assert_eq!(shown(), BTreeMap::from([(of_search.clone(), 6), (mark.clone(), 1)]));
        assert_eq!(shown(), BTreeMap::from([(of_search, 6), (mark, 1)]));
    }
}
