//! Takes, renews, reports and returns leases, in the transactions of the ledger's writer.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hornbook_base::clock::{MILLIS_PER_DAY, UnixMillis};

use super::journal::Journal;
use super::local::{Amounts, LeaseId, LeaseTime};
use super::record::{Lease, ServerId, ServerRecord, UnfinishedCall};
use super::renewal::{Renewed, Touched, renew_one, touch, usable_for};
use super::terms::{LateCharge, late_charge};
use super::unleased::own_lease;
use crate::balance::MonthlyUnits;
use crate::directory::AccountState;
use crate::ids::{AccountId, EntryNumber};
use crate::job::{EntrySlot, Post, PostKind};
use crate::ledger::entry::{Draft, EntryKind, EntryNote, Reference};
use crate::ledger::load::LedgerState;
use crate::ledger::poster::LedgerTransaction;
use crate::posting::{append_post, usage};
use crate::settings::Settings;
use crate::shared::SharedAccounts;
use crate::state::StateError;

/// At most so many calls are reported in one transaction.
const REPORTED_MAX: usize = 4096;
/// How often leases that nobody uses are returned, and those of servers that ended are removed.
const SWEEP_MILLIS: u64 = 1_000;
/// The same while no calls come.
const SWEEP_IDLE: Duration = Duration::from_secs(5);
/// How often a server says that it is there.
const SEEN_EVERY: Duration = Duration::from_secs(60);
const SEEN_EVERY_MILLIS: u64 = 55_000;
/// A server that was not seen for so long counts no more for the shares of rate limits.
const SERVER_GONE_MILLIS: i64 = 180_000;
/// For so long it is remembered how far the journal of a server is reported that is gone: 90 days.
const SERVER_KEPT_MILLIS: i64 = 90 * MILLIS_PER_DAY;
/// For so many entries it is remembered how late calls were charged.
const LATE_KEPT: u64 = 1_000_000;
/// After another server asked for credits, none are leased for so long.
const PAUSE_AFTER_RECALL: Duration = Duration::from_secs(5);

/// The leases of this server.
pub(crate) struct LeaseKeeper {
    journal: Arc<Journal>,
    lease_millis: i64,
    /// Calls in the journal that are not in the ledger, oldest first.
    unreported: VecDeque<Post>,
    /// Reported calls whose work may not be over.
    open: Vec<ReportedCall>,
    /// How late calls were charged, for their refunds.
    late: HashMap<EntryNumber, u32>,
    /// The same of the last transaction, whose outcome may not be known.
    tried_late: HashMap<EntryNumber, u32>,
    /// When it was last looked for leases to return, by the database's clock and by this server's.
    swept_at: (UnixMillis, Instant),
    /// Accounts that get no lease for a while.
    paused: HashMap<AccountId, LeaseTime>,
}

/// What a transaction does with leases, to be applied when it is durable.
#[derive(Default)]
pub(crate) struct LeaseChanges {
    reported: Vec<Reported>,
    /// What of the present leases is reported.
    reporting: HashMap<AccountId, Amounts>,
    /// The units that late calls took.
    late: HashMap<EntryNumber, u32>,
    /// Credits of late calls that no account pays.
    borne: u64,
    grants: Vec<LeaseGrant>,
    ended: Vec<Arc<AccountState>>,
    /// Accounts of which other servers' leases were removed.
    freed: BTreeSet<AccountId>,
}

/// The transaction in which leases are renewed.
pub(crate) struct LeaseTurn {
    /// Before the database's clock was read.
    pub(crate) began: LeaseTime,
    /// All leases are returned.
    pub(crate) is_leaving: bool,
}

/// What became of a call of the journal.
#[derive(Clone, Copy)]
enum Reported {
    Made,
    /// Its lease was over, so it was split in another way.
    Late,
    /// The refund of a debit that is not in the ledger.
    Nothing,
}

/// A call that is in the ledger.
struct ReportedCall {
    slot: EntrySlot,
    units: u32,
}

impl ReportedCall {
    /// The call, if others than these `known` ones still have its slot, and may want to refund it.
    fn if_open(&self, known: usize) -> Option<UnfinishedCall> {
        let (journal_number, entry) = (self.slot.journal_number()?, self.slot.get()?);
        (self.slot.owners() > known).then_some(UnfinishedCall { journal_number, entry, units: self.units })
    }
}

struct LeaseGrant {
    account: Arc<AccountState>,
    id: LeaseId,
    month: i32,
    added: Amounts,
    usable_until: LeaseTime,
}

impl LeaseKeeper {
    pub(crate) fn new(journal: Arc<Journal>, settings: &Settings, unreported: Vec<Post>) -> Self {
        // Debits of an earlier run whose refunds are still to be reported.
        let refunds = unreported.iter().filter(|post| post.kind == PostKind::Refund && post.placed.get().is_some());
        let open = refunds.map(|post| {
            let units = post.hold.balance.from_allotment;
            ReportedCall { slot: post.placed.clone(), units }
        });
        let open = open.collect();
        Self {
            journal,
            lease_millis: settings.lease_millis,
            unreported: unreported.into(),
            open,
            late: HashMap::new(),
            tried_late: HashMap::new(),
            swept_at: (UnixMillis(0), Instant::now()),
            paused: HashMap::new(),
        }
    }

    /// Whether a transaction is due although no call waits for it.
    pub(crate) fn is_due(&mut self, posted: &LedgerState) -> bool {
        let own = posted.leases.iter().filter(|((_, server), _)| *server == self.journal.server);
        let (mut has_leases, mut is_recalled) = (false, false);
        for (_, lease) in own {
            has_leases = true;
            is_recalled |= lease.is_recalled;
        }
        self.count_servers(posted);
        let since = self.swept_at.1.elapsed();
        let is_new = !posted.servers.contains_key(&self.journal.server);
        self.has_calls()
            || self.journal.has_wanted()
            || is_new
            || is_recalled
            || has_leases && since > SWEEP_IDLE
            || since > SEEN_EVERY
    }

    /// Whether calls of the journal are not in the ledger yet.
    pub(crate) fn has_calls(&mut self) -> bool {
        self.unreported.extend(self.journal.take_written());
        !self.unreported.is_empty()
    }

    /// Appends the entries of calls in the journal, the oldest first.
    pub(crate) fn report(&mut self, poster: &mut LedgerTransaction<'_>) -> Result<LeaseChanges, StateError> {
        let mut changes = LeaseChanges::default();
        for post in self.unreported.iter().take(REPORTED_MAX) {
            let reported = match post.kind {
                PostKind::Debit => self.report_debit(poster, post, &mut changes)?,
                PostKind::Refund => {
                    let units = self.units_of(post, &changes);
                    append_post(poster, post, units)?.map_or(Reported::Nothing, |_| Reported::Made)
                }
            };
            changes.reported.push(reported);
        }
        Ok(changes)
    }

    fn report_debit(
        &self,
        poster: &mut LedgerTransaction<'_>,
        post: &Post,
        changes: &mut LeaseChanges,
    ) -> Result<Reported, StateError> {
        let (account, hold) = (&post.key.account, post.hold.balance);
        if account.balance.lease().is_some_and(|lease| hold.lease == Some(lease.id)) {
            let reporting = changes.reporting.entry(account.id).or_default();
            *reporting = reporting.plus(hold.amounts());
        }
        if poster.draw_lease(self.journal.server, post) {
            let made = append_post(poster, post, hold.from_allotment)?;
            return Ok(made.map_or(Reported::Nothing, |_| Reported::Made));
        }
        let (entry, LateCharge { from, short }) = append_late(poster, post);
        changes.late.insert(entry, from.units);
        changes.borne += u64::from(short);
        Ok(Reported::Late)
    }

    /// What a call takes from the allotment, or took: a late one is not split as it was held.
    pub(crate) fn units_of(&self, post: &Post, changes: &LeaseChanges) -> u32 {
        let late = post.placed.get().and_then(|debit| changes.late.get(&debit).or_else(|| self.late.get(&debit)));
        late.copied().unwrap_or(post.hold.balance.from_allotment)
    }

    /// The calls that a transaction reports.
    pub(crate) fn reported(&self, changes: &LeaseChanges) -> impl Iterator<Item = &Post> {
        self.unreported.iter().take(changes.reported.len())
    }

    /// Whether a call that waits for the ledger may be charged: its credits are not leased by others. What is left of this
    /// server's own lease gives way.
    pub(crate) fn may_post(&self, poster: &LedgerTransaction<'_>, post: &Post, changes: &LeaseChanges) -> bool {
        let (account, hold) = (&post.key.account, post.hold.balance);
        let units = MonthlyUnits { month: hold.month, ..post.units };
        let free = poster.unleased(account.id, units, Some(self.journal.server));
        let reporting = changes.reporting.get(&account.id).copied().unwrap_or_default();
        let is_free = || free.minus(own_lease(account, reporting, hold.month)).covers(hold.amounts());
        if is_free() {
            return true;
        }
        account.balance.take_back(hold.amounts());
        let is_free = is_free();
        if !is_free {
            self.journal.recall(account.id);
        }
        is_free
    }

    /// Writes the leases of the accounts in this transaction as they are needed from now on.
    pub(crate) fn renew(
        &mut self,
        shared: &SharedAccounts,
        poster: &mut LedgerTransaction<'_>,
        direct: &[Post],
        changes: &mut LeaseChanges,
        LeaseTurn { began, is_leaving }: LeaseTurn,
    ) -> Result<(), StateError> {
        let Some(now) = poster.writing.time() else { return Ok(()) };
        let mut touched = BTreeMap::new();
        for post in self.reported(changes).chain(direct).filter(|post| post.kind == PostKind::Debit) {
            touch(&mut touched, &post.key.account, post.units).may_lease |= post.may_lease;
        }
        if is_leaving || now.0.abs_diff(self.swept_at.0.0) >= SWEEP_MILLIS {
            let freed = self.sweep(shared, poster, now, is_leaving, &mut touched);
            changes.freed.extend(freed);
        }
        self.recall_from_others(poster);
        let server = self.journal.server;
        for (id, touched) in &mut touched {
            touched.reporting = changes.reporting.get(id).copied().unwrap_or_default();
            if poster.lease(*id, server).is_some_and(|lease| lease.is_recalled) {
                touched.returns = true;
                self.paused.insert(*id, began + PAUSE_AFTER_RECALL);
            }
            let is_paused = self.paused.get(id).is_some_and(|until| began < *until);
            touched.may_lease &= !touched.returns && !is_paused;
        }
        let ends_at = now.plus_millis(self.lease_millis);
        let usable_until = began + usable_for(self.lease_millis);
        for touched in touched.into_values() {
            let renewed = renew_one(poster, &touched, server, ends_at)?;
            match renewed {
                Renewed::Granted { id, month, added } => {
                    let account = touched.account;
                    changes.grants.push(LeaseGrant { account, id, month, added, usable_until });
                }
                Renewed::Ended => changes.ended.push(touched.account),
                Renewed::Nothing => {}
            }
        }
        self.note_reported(poster, changes, now, is_leaving);
        self.tried_late.clone_from(&changes.late);
        Ok(())
    }

    /// Finds leases that nobody uses, to return them, and removes those of other servers whose time is over. Returns the
    /// accounts of the latter.
    fn sweep(
        &mut self,
        shared: &SharedAccounts,
        poster: &mut LedgerTransaction<'_>,
        now: UnixMillis,
        is_leaving: bool,
        touched: &mut BTreeMap<AccountId, Touched>,
    ) -> Vec<AccountId> {
        let mut freed = Vec::new();
        self.swept_at = (now, Instant::now());
        // Debits older than that have no refund any more.
        let kept_after = poster.head().entries.saturating_sub(LATE_KEPT);
        self.late.retain(|entry, _| entry.0 > kept_after);
        self.paused.retain(|_, until| LeaseTime::now() < *until);
        poster.forget_servers(UnixMillis(now.0 - SERVER_KEPT_MILLIS));
        let directory = shared.directory();
        for ((account, server), lease) in poster.all_leases() {
            if server != self.journal.server {
                if lease.ends_at < now {
                    poster.put_lease(account, server, None);
                    freed.push(account);
                }
                continue;
            }
            let is_unused = lease.ends_at.0 - now.0 < self.lease_millis / 2;
            if (is_leaving || is_unused || lease.is_recalled)
                && let Some(state) = directory.account(account)
            {
                let units = MonthlyUnits { month: lease.month, limit: 0 };
                touch(touched, state, units).returns = true;
            }
        }
        freed
    }

    /// Counts the servers among which the limits of a key are shared, those that were seen about as lately as the last one,
    /// and sees whether this is the first of them.
    fn count_servers(&self, posted: &LedgerState) {
        if !posted.servers.contains_key(&self.journal.server) {
            return;
        }
        let there = posted.servers.iter().filter(|(_, record)| !record.has_left);
        let newest = there.clone().map(|(_, record)| record.seen_at.0).max().unwrap_or(0);
        let recent = there.filter(|(_, record)| newest - record.seen_at.0 < SERVER_GONE_MILLIS);
        let recent: Vec<ServerId> = recent.map(|(server, _)| *server).collect();
        self.journal.servers.store(u32::try_from(recent.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
        // In the order of their ids.
        self.journal.leads.store(recent.first() == Some(&self.journal.server), Ordering::Relaxed);
    }

    fn recall_from_others(&self, poster: &mut LedgerTransaction<'_>) {
        let wanted = self.journal.take_wanted();
        if wanted.is_empty() {
            return;
        }
        for ((account, server), lease) in poster.all_leases() {
            if server != self.journal.server && wanted.contains(&account) && !lease.is_recalled {
                poster.put_lease(account, server, Some(Lease { is_recalled: true, ..lease }));
            }
        }
    }

    fn note_reported(
        &self,
        poster: &mut LedgerTransaction<'_>,
        changes: &LeaseChanges,
        now: UnixMillis,
        is_leaving: bool,
    ) {
        let server = self.journal.server;
        let known = poster.server(server).cloned().unwrap_or_default();
        let last = self.reported(changes).filter_map(|post| post.journal_number).max();
        let new = self.reported(changes).filter(|post| post.kind == PostKind::Debit);
        let new = new.map(|post| self.open_call(post, changes));
        let open: Vec<UnfinishedCall> = if is_leaving {
            // It does not know which calls a server with a copy of its journal may still refund.
            known.open.iter().copied().chain(new.filter_map(|call| call.if_open(0))).collect()
        } else {
            let old = self.open.iter().filter_map(|call| call.if_open(1));
            old.chain(new.filter_map(|call| call.if_open(2))).collect()
        };
        let is_due = now.0.abs_diff(known.seen_at.0) >= SEEN_EVERY_MILLIS;
        if last.is_some() || is_due || is_leaving != known.has_left || open != known.open {
            let reported = last.unwrap_or(0).max(known.reported);
            poster.put_server(server, ServerRecord { reported, open, seen_at: now, has_left: is_leaving });
        }
    }

    fn open_call(&self, post: &Post, changes: &LeaseChanges) -> ReportedCall {
        ReportedCall { slot: post.placed.clone(), units: self.units_of(post, changes) }
    }

    /// The transaction is durable.
    pub(crate) fn committed(&mut self, shared: &SharedAccounts, changes: LeaseChanges, posted: &LedgerState) {
        let directory = shared.directory();
        self.late.extend(changes.late);
        self.journal.borne.fetch_add(changes.borne, Ordering::Relaxed);
        self.open.retain(|call| call.if_open(1).is_some());
        for reported in changes.reported {
            let Some(post) = self.unreported.pop_front() else { break };
            self.keep_open(&post);
            let is_late = post.placed.get().is_some_and(|entry| self.late.contains_key(&entry));
            settle_reported(&post, reported, is_late);
            if is_late {
                directory.take_over_balances([post.key.account.id], [], posted);
            }
            if let Some(number) = post.journal_number {
                self.journal.reported.fetch_max(number, Ordering::Relaxed);
            }
        }
        for LeaseGrant { account, id, month, added, usable_until } in changes.grants {
            account.balance.grant(id, month, added, usable_until);
        }
        changes.ended.iter().for_each(|account| account.balance.end_lease());
        directory.take_over_balances(changes.freed, [], posted);
    }

    fn keep_open(&mut self, post: &Post) {
        if post.kind == PostKind::Debit {
            let call = self.open_call(post, &LeaseChanges::default());
            // The post itself, and this list.
            if call.if_open(2).is_some() {
                self.open.push(call);
            }
        }
    }

    /// The state was read anew: calls that it contains are settled, and leases are as it says.
    pub(crate) fn resume(&mut self, shared: &SharedAccounts, posted: &LedgerState) {
        let server = self.journal.server;
        self.late.extend(std::mem::take(&mut self.tried_late));
        self.forget_reported(posted);
        let directory = shared.directory();
        for ((account, _), lease) in posted.leases.iter().filter(|((_, owner), _)| *owner == server) {
            if let Some(state) = directory.account(*account) {
                state.balance.reset_lease(lease.id, lease.amounts);
            }
        }
    }

    /// Settles calls that the ledger has already: a commit whose outcome was not known made them, or a server with a copy of
    /// this one's journal reported them.
    pub(crate) fn forget_reported(&mut self, posted: &LedgerState) {
        self.has_calls();
        let Some(known) = posted.servers.get(&self.journal.server) else { return };
        let reported = known.reported;
        while let Some(post) = self.unreported.front()
            && post.journal_number.is_some_and(|number| number <= reported)
        {
            if post.placed.get().is_none() {
                let other = known.open.iter().find(|call| Some(call.journal_number) == post.journal_number);
                post.placed.set(other.map(|call| call.entry));
                self.late.extend(other.map(|call| (call.entry, call.units)));
            }
            if post.kind == PostKind::Debit {
                post.hold.forget(&post.key);
            }
            if let Some(post) = self.unreported.pop_front() {
                self.keep_open(&post);
            }
        }
        self.journal.reported.fetch_max(reported, Ordering::Relaxed);
    }
}

/// Charges a call whose lease is over. Returns its entry and how it is paid.
fn append_late(poster: &mut LedgerTransaction<'_>, post: &Post) -> (EntryNumber, LateCharge) {
    let account = post.key.account.id;
    let units = MonthlyUnits { month: post.hold.balance.month, ..post.units };
    let charge = late_charge(post.cost.0, poster.unleased(account, units, None));
    if charge.short > 0 {
        let note = EntryNote {
            actor: "system".to_owned(),
            reason: "a server reported calls after its lease had ended, and the credits were spent".to_owned(),
        };
        poster.append(Draft::correction(
            account,
            EntryKind::Adjustment,
            charge.short.into(),
            post.at,
            Reference::None,
            note,
        ));
    }
    let draft = usage(poster, post, charge.from.units);
    let entry = poster.append(draft);
    post.placed.set(Some(entry.number));
    for key in post.key.counted_by(entry.number) {
        poster.add_spending(key, post.cost.0, post.at);
    }
    (entry.number, charge)
}

fn settle_reported(post: &Post, reported: Reported, is_late: bool) {
    match (post.kind, reported) {
        (PostKind::Debit, Reported::Made) => post.hold.settle(&post.key),
        (PostKind::Debit, _) => post.hold.forget(&post.key),
        (PostKind::Refund, Reported::Made) => {
            // The balance after a late call is read from the ledger.
            if let Some(debit) = post.placed.get().filter(|_| !is_late) {
                post.hold.return_posted(&post.key, debit);
            }
        }
        (PostKind::Refund, _) => {}
    }
}
