//! The budget of a key: what it may spend in all, in a month and on a day (UTC), and what it has spent.
//!
//! As for the balance of an account, a call first takes a hold, and the ledger's writer turns it into posted spending
//! or drops it. The ledger's transaction stores the same sums in the commit of the debit.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hornbook_base::clock::{Month, UnixDay, UnixMillis};
use serde::{Deserialize, Serialize};

use crate::ids::{Credits, EntryNumber, KeyId};

/// The number of keys in a line: a key of a person, and keys that keys create.
pub const KEYS_IN_LINE_MAX: usize = 4;

/// The number of months, and of days, whose spending is kept.
pub(crate) const WINDOWS_KEPT: usize = 3;

/// The share of a limit, in percent, from which its holder is warned.
const NOTICE_PERCENT: u64 = 80;

/// The credits that a key may spend. A limit that is not set is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_month: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<u32>,
}

impl Budget {
    pub fn is_unlimited(self) -> bool {
        self == Self::default()
    }

    pub(crate) fn limit(self, window: SpendingWindow) -> Option<u64> {
        let limit = match window {
            SpendingWindow::Total => self.total,
            SpendingWindow::Month(_) => self.per_month,
            SpendingWindow::Day(_) => self.per_day,
        };
        limit.map(u64::from)
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = [(self.total, "in all"), (self.per_month, "a month"), (self.per_day, "a day")];
        let set = limits.into_iter().filter_map(|(limit, per)| Some((limit?, per)));
        for (place, (credits, per)) in set.enumerate() {
            write!(f, "{}{} {per}", if place > 0 { ", " } else { "" }, Credits::in_words(credits))?;
        }
        if self.is_unlimited() { f.write_str("without a budget") } else { Ok(()) }
    }
}

/// A budget as stored in the record of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyBudget {
    pub limits: Budget,
    /// The last ledger entry before the key got a budget. Debits after it count.
    pub since: EntryNumber,
}

/// A period whose spending is added up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SpendingWindow {
    Total,
    Month(Month),
    Day(UnixDay),
}

impl SpendingWindow {
    pub(crate) fn all_at(at: UnixMillis) -> [Self; 3] {
        [Self::Total, Self::Month(at.month()), Self::Day(at.day())]
    }

    /// The windows of the same kind, from the earliest to the latest.
    pub(crate) fn of_kind(self) -> std::ops::RangeInclusive<Self> {
        match self {
            Self::Total => Self::Total..=Self::Total,
            Self::Month(_) => Self::Month(Month(i32::MIN))..=Self::Month(Month(i32::MAX)),
            Self::Day(_) => Self::Day(UnixDay(i32::MIN))..=Self::Day(UnixDay(i32::MAX)),
        }
    }

    /// `in all`, `this month`, `today`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "in all",
            Self::Month(_) => "this month",
            Self::Day(_) => "today",
        }
    }
}

/// The call would spend more than the budget of its key, or of a key above it, allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BudgetSpent {
    pub key: KeyId,
    /// Whether it is the caller's own key, and not the one that created it.
    pub is_own: bool,
    pub window: SpendingWindow,
    pub limit: u64,
    pub left: u64,
}

/// What is left of one limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BudgetLeft {
    pub window: SpendingWindow,
    pub limit: u64,
    pub left: u64,
}

impl BudgetLeft {
    fn spent_percent(self) -> u64 {
        (self.limit - self.left).saturating_mul(100).checked_div(self.limit).unwrap_or(100)
    }
}

/// Two of the limits of a budget. They may differ: of 10 credits today 5 are left, and of 100 in all 15.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BudgetStatus {
    /// The limit with the fewest credits left.
    pub nearest: BudgetLeft,
    /// The limit of which the greatest part is spent.
    fullest: BudgetLeft,
}

impl BudgetStatus {
    fn of(limits: impl Iterator<Item = BudgetLeft>) -> Option<Self> {
        limits.map(|limit| Self { nearest: limit, fullest: limit }).reduce(Self::and)
    }

    /// The status of two budgets that both hold.
    pub(crate) fn and(self, other: Self) -> Self {
        let is_nearer = other.nearest.left < self.nearest.left;
        let is_fuller = other.fullest.spent_percent() > self.fullest.spent_percent();
        Self {
            nearest: if is_nearer { other.nearest } else { self.nearest },
            fullest: if is_fuller { other.fullest } else { self.fullest },
        }
    }

    /// From four fifths of a limit on, how much of it is spent: `83 % of 100 credits today`.
    pub fn notice(self) -> Option<String> {
        let BudgetLeft { window, limit, .. } = self.fullest;
        let spent = self.fullest.spent_percent();
        (spent >= NOTICE_PERCENT).then(|| format!("{spent} % of {} {}", Credits::in_words(limit), window.name()))
    }
}

/// A budget and what is spent of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BudgetView {
    pub limits: Budget,
    pub spent_total: u64,
    pub spent_in_month: u64,
    pub spent_on_day: u64,
    /// None if nothing is limited.
    pub status: Option<BudgetStatus>,
}

impl BudgetView {
    /// `7 in all, 7 this month, 2 today`.
    pub fn spent_in_words(&self) -> String {
        let Self { spent_total, spent_in_month, spent_on_day, .. } = self;
        format!("{spent_total} in all, {spent_in_month} this month, {spent_on_day} today")
    }
}

/// The budget of one key and what is spent of it, in memory.
pub(crate) struct KeySpending {
    /// So that calls with keys without a budget take no lock.
    has_budget: AtomicBool,
    contents: Mutex<SpendingState>,
}

#[derive(Default)]
struct SpendingState {
    budget: Option<KeyBudget>,
    windows: Vec<WindowSpending>,
}

struct WindowSpending {
    window: SpendingWindow,
    posted: u64,
    held: u64,
}

impl KeySpending {
    pub(crate) fn new(budget: Option<KeyBudget>, posted: impl IntoIterator<Item = (SpendingWindow, u64)>) -> Self {
        let spending = Self { has_budget: AtomicBool::new(false), contents: Mutex::default() };
        spending.replace(budget, posted);
        spending
    }

    /// Takes over the budget, and the spending that the ledger posted. Holds of calls in progress are kept.
    pub(crate) fn replace(&self, budget: Option<KeyBudget>, posted: impl IntoIterator<Item = (SpendingWindow, u64)>) {
        let mut contents = self.lock();
        contents.budget = budget;
        contents.windows.iter_mut().for_each(|window| window.posted = 0);
        for (window, spent) in posted {
            contents.window(window).posted = spent;
        }
        self.has_budget.store(budget.is_some(), Ordering::Release);
    }

    /// The budget, if debits count.
    pub(crate) fn budget(&self) -> Option<KeyBudget> {
        if self.has_budget.load(Ordering::Acquire) { self.lock().budget } else { None }
    }

    pub(crate) fn view(&self, at: UnixMillis) -> Option<BudgetView> {
        if !self.has_budget.load(Ordering::Acquire) {
            return None;
        }
        let contents = self.lock();
        let limits = contents.budget?.limits;
        let [spent_total, spent_in_month, spent_on_day] =
            SpendingWindow::all_at(at).map(|window| contents.spent(window));
        let status = BudgetStatus::of(contents.limits_at(at));
        Some(BudgetView { limits, spent_total, spent_in_month, spent_on_day, status })
    }

    /// Holds the cost if every limit allows it. Returns whether the key has a budget, or else the limit that is in
    /// the way.
    pub(crate) fn hold(&self, cost: u32, at: UnixMillis) -> Result<bool, BudgetLeft> {
        if !self.has_budget.load(Ordering::Acquire) {
            return Ok(false);
        }
        let cost = u64::from(cost);
        let mut contents = self.lock();
        if contents.budget.is_none() {
            return Ok(false);
        }
        if let Some(in_the_way) = contents.limits_at(at).find(|limit| limit.left < cost) {
            return Err(in_the_way);
        }
        SpendingWindow::all_at(at).into_iter().for_each(|window| contents.window(window).held += cost);
        Ok(true)
    }

    pub(crate) fn release(&self, cost: u32, at: UnixMillis) {
        self.lock().drop_hold(cost, at);
    }

    /// A key counts a debit if it has a budget when the debit is posted. It holds its cost if it had one before.
    pub(crate) fn settle(&self, holds: bool, cost: u32, at: UnixMillis) {
        let counts = self.has_budget.load(Ordering::Acquire);
        if !holds && !counts {
            return;
        }
        let mut contents = self.lock();
        if holds {
            contents.drop_hold(cost, at);
        }
        if counts {
            for window in SpendingWindow::all_at(at) {
                contents.window(window).posted += u64::from(cost);
            }
            contents.forget_old_windows(at);
        }
    }

    pub(crate) fn give_back(&self, debit: EntryNumber, cost: u32, at: UnixMillis) {
        if self.budget().is_none_or(|budget| debit <= budget.since) {
            return;
        }
        let mut contents = self.lock();
        for window in SpendingWindow::all_at(at) {
            if let Some(found) = contents.windows.iter_mut().find(|found| found.window == window) {
                found.posted = found.posted.saturating_sub(u64::from(cost));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, SpendingState> {
        // A panic happens only before a change, so the lock never guards a partial one.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpendingState {
    fn spent(&self, window: SpendingWindow) -> u64 {
        let found = self.windows.iter().find(|found| found.window == window);
        found.map_or(0, |found| found.posted + found.held)
    }

    /// What is left of each limit.
    fn limits_at(&self, at: UnixMillis) -> impl Iterator<Item = BudgetLeft> {
        let limits = self.budget.map(|budget| budget.limits).unwrap_or_default();
        SpendingWindow::all_at(at).into_iter().filter_map(move |window| {
            let limit = limits.limit(window)?;
            Some(BudgetLeft { window, limit, left: limit.saturating_sub(self.spent(window)) })
        })
    }

    fn window(&mut self, window: SpendingWindow) -> &mut WindowSpending {
        let at = match self.windows.iter().position(|found| found.window == window) {
            Some(at) => at,
            None => {
                self.windows.push(WindowSpending { window, posted: 0, held: 0 });
                self.windows.len() - 1
            }
        };
        &mut self.windows[at]
    }

    fn drop_hold(&mut self, cost: u32, at: UnixMillis) {
        let cost = u64::from(cost);
        for window in SpendingWindow::all_at(at) {
            let found = self.window(window);
            assert!(found.held >= cost, "a hold of {cost} credits on a budget was dropped twice");
            found.held -= cost;
        }
    }

    /// Removes old windows, as the ledger does, unless a call holds credits in them.
    fn forget_old_windows(&mut self, at: UnixMillis) {
        if self.windows.len() <= 1 + 2 * WINDOWS_KEPT {
            return;
        }
        self.windows.sort_unstable_by_key(|found| std::cmp::Reverse(found.window));
        let (current, mut months, mut days) = (SpendingWindow::all_at(at), 0, 0);
        self.windows.retain(|found| {
            let place = match found.window {
                SpendingWindow::Total => return true,
                SpendingWindow::Month(_) => &mut months,
                SpendingWindow::Day(_) => &mut days,
            };
            *place += 1;
            *place <= WINDOWS_KEPT || found.held > 0 || current.contains(&found.window)
        });
    }
}
