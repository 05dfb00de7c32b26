//! The single thread that writes. It gathers the waiting jobs, makes one commit of them, then
//! answers all callers.
//!
//! Debits and refunds share commits. An administrative change has its own commit, so that refusing
//! it affects nothing else. When a commit fails, its outcome is unknown. The writer then records
//! beside the file the refunds that it may owe, refuses all new jobs, and reopens the file. It
//! makes the owed refunds for debits that the file contains, takes over the content of the file,
//! and continues.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::catch_up::{catch_up, load_all};
use super::error::{ChangeError, LedgerError};
use super::job::{AfterCommit, Change, Post, PostKind, RunChange, WriterJob};
use super::leases::keeper::{LeaseChanges, LeaseKeeper, LeaseTurn};
use super::leases::local::LeaseTime;
use super::ledger::links::contains;
use super::ledger::load::LedgerState;
use super::ledger::poster::{Committed, LedgerTransaction};
use super::owed::{self, OwedRefund};
use super::posting::{Posting, answer, append_post, is_overtaken, settle, write_counters};
use super::queue::Batch;
use super::shared::SharedAccounts;
use crate::state::{ChangeNumber, LedgerMark, State, StateError, StateTable, StateWriter};

const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// How often a batch is posted again because another server was faster. It may lose the lock only when its connection fails.
const OVERTAKEN_MAX: u32 = 5;
/// How often the state is read again because the connection failed meanwhile.
const LOADS_MAX: u32 = 5;
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// After the disk was full, this many bytes must fit before work continues.
const HEADROOM_BYTES: usize = 256 << 10;

pub(crate) struct Writer {
    shared: Arc<SharedAccounts>,
    posted: LedgerState,
    /// The number of the change that `posted` and the directory reflect.
    number: ChangeNumber,
    /// The number of callers answered by the last commit.
    answered: usize,
    /// None if no other server uses the state.
    leases: Option<LeaseKeeper>,
}

/// Posts that are durable.
struct Posted {
    committed: Committed,
    postings: Vec<Posting>,
    leases: Option<LeaseChanges>,
}

/// A failed commit, and the head that it would have left, if it got that far.
struct CommitFailure {
    error: StateError,
    attempted: Option<LedgerMark>,
}

impl CommitFailure {
    fn as_ledger_error(&self) -> LedgerError {
        if self.error.is_disk_full() { LedgerError::StorageFull } else { LedgerError::Unavailable }
    }
}

impl From<StateError> for CommitFailure {
    fn from(error: StateError) -> Self {
        Self { error, attempted: None }
    }
}

impl Writer {
    pub(crate) fn new(
        shared: Arc<SharedAccounts>,
        posted: LedgerState,
        number: ChangeNumber,
        leases: Option<LeaseKeeper>,
    ) -> Self {
        Self { shared, posted, number, answered: 0, leases }
    }

    /// Runs until the queue is stopped and empty.
    pub(crate) fn run(mut self) {
        let _last = CloseQueueOnDrop(Arc::clone(&self.shared));
        loop {
            match self.shared.queue.next(self.answered) {
                Batch::Posts(posts) => self.post(posts),
                Batch::Change(change) => {
                    self.change(change);
                    self.report_if_due();
                }
                Batch::CatchUp(followers) => {
                    if !self.report_if_due() {
                        self.follow();
                    }
                    followers.into_iter().for_each(|follower| follower.answer(()));
                }
                Batch::Stop if self.leases.is_some() => {
                    if let Err(error) = self.leave() {
                        self.shared.record_error(&error);
                    }
                    return;
                }
                Batch::Stop => return,
            }
        }
    }

    /// Reports calls of the journal and renews leases, if there is something to do. Returns whether there was.
    pub(crate) fn report_if_due(&mut self) -> bool {
        let is_due = self.leases.as_mut().is_some_and(|keeper| keeper.is_due(&self.posted));
        if is_due {
            self.post(Vec::new());
        }
        is_due
    }

    pub(crate) fn post(&mut self, posts: Vec<Post>) {
        let mut tries = 0;
        loop {
            match self.try_post(&posts, false) {
                Ok(Posted { committed, postings, leases }) => {
                    self.take_over(committed);
                    self.settle_leases(leases);
                    self.answered = posts.len();
                    for (post, posting) in posts.into_iter().zip(postings) {
                        settle(post, posting);
                    }
                    return;
                }
                // Nothing was posted.
                Err(CommitFailure { error: StateError::ChangedElsewhere { .. }, .. }) if tries < OVERTAKEN_MAX => {
                    tries += 1;
                }
                Err(failure) => return self.recover(&failure, posts),
            }
        }
    }

    /// Posts these debits and refunds, and what the journal has to report.
    fn try_post(&mut self, posts: &[Post], is_leaving: bool) -> Result<Posted, CommitFailure> {
        let turn = LeaseTurn { began: LeaseTime::now(), is_leaving };
        let writing = self.begin()?;
        if let Some(keeper) = &mut self.leases {
            keeper.forget_reported(&self.posted);
        }
        let mut poster = LedgerTransaction::new(writing, &self.posted);
        let shared = Arc::clone(&self.shared);
        let mut leases = match &mut self.leases {
            Some(keeper) => Some(keeper.report(&mut poster)?),
            None => None,
        };
        let mut postings = Vec::with_capacity(posts.len());
        for post in posts {
            // Another server may have changed the balances after the credits were held.
            let keeper = self.leases.as_ref().zip(leases.as_ref());
            let is_overtaken = |poster: &LedgerTransaction<'_>| {
                keeper.is_some_and(|(keeper, changes)| {
                    !keeper.may_post(poster, post, changes) || is_overtaken(poster, post, &shared.settings.tariff)
                })
            };
            postings.push(if post.kind == PostKind::Debit && is_overtaken(&poster) {
                // An earlier try may have given it a number, which is another entry's now.
                post.placed.set(None);
                shared.journal.iter().for_each(|journal| {
                    journal.overtaken.fetch_add(1, Ordering::Relaxed);
                });
                Posting::Overtaken
            } else {
                let units = match (post.kind, keeper) {
                    (PostKind::Refund, Some((keeper, changes))) => keeper.units_of(post, changes),
                    _ => post.hold.balance.from_allotment,
                };
                append_post(&mut poster, post, units)?.map_or(Posting::Nothing, Posting::Made)
            });
        }
        if let (Some(keeper), Some(changes)) = (&mut self.leases, &mut leases) {
            keeper.renew(&shared, &mut poster, posts, changes, turn)?;
            write_counters(&mut poster, posts.iter().chain(keeper.reported(changes)))?;
        } else {
            write_counters(&mut poster, posts.iter())?;
        }
        let attempted = Some(poster.head().mark());
        let committed = poster.commit().map_err(|error| CommitFailure { error, attempted })?;
        Ok(Posted { committed, postings, leases })
    }

    /// Begins a transaction. If another server changed the state, takes over its changes first.
    fn begin(&mut self) -> Result<StateWriter, StateError> {
        let shared = Arc::clone(&self.shared);
        let store = shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let state = open(&store)?;
        let writing = shared.clock_difference.begin(state)?;
        if writing.number_before() != self.number {
            // Nobody changes anything while this transaction is open.
            self.catch_up_from(state)?;
            self.number = writing.number_before();
        }
        Ok(writing)
    }

    /// Takes over what other servers changed, without waiting for a change of our own.
    pub(crate) fn follow(&mut self) {
        let shared = Arc::clone(&self.shared);
        let store = shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let followed = open(&store).and_then(State::read).and_then(|reading| {
            if reading.number() != self.number {
                catch_up(&shared, &mut self.posted, self.number, &reading)?;
                self.number = reading.number();
            }
            shared.journal.iter().for_each(|journal| journal.ledger_is_reached());
            Ok(())
        });
        // The next change notices it too, and repairs it.
        if let Err(error) = followed {
            self.shared.record_error(&error);
        }
    }

    /// Takes over what other servers changed. If the connection fails meanwhile, it is read again on another one.
    fn catch_up_from(&mut self, state: &State) -> Result<(), StateError> {
        let mut tries = 0;
        loop {
            let read = state.read();
            match read.and_then(|reading| catch_up(&self.shared, &mut self.posted, self.number, &reading)) {
                Err(StateError::Database { .. }) if tries < LOADS_MAX => tries += 1,
                done => return done,
            }
        }
    }

    pub(crate) fn change(&mut self, change: Change) {
        self.answered = 0;
        match self.try_change(change.run) {
            Ok((mut committed, after)) => {
                let acts = std::mem::take(&mut committed.changes.acts);
                self.take_over(committed);
                // Takes effect for all later calls before the answer is sent, so that a revoked key is refused.
                after(&mut self.shared.directory.write().unwrap_or_else(PoisonError::into_inner));
                if let Some(tell) = self.shared.tell_act.get() {
                    acts.iter().for_each(tell);
                }
                change.promise.answer(Ok(()));
            }
            Err(ChangeFailure::Refused(error)) => change.promise.answer(Err(error)),
            Err(ChangeFailure::Failed(failure, after)) => {
                let error = match failure.attempted {
                    None => ChangeError::Ledger(failure.as_ledger_error()),
                    Some(_) => ChangeError::OutcomeUnknown(StateError::File {
                        doing: "commit the change to",
                        path: self.shared.medium.describe().into(),
                        source: std::io::Error::other(failure.error.to_string()),
                    }),
                };
                // Closed before the answer, answered before the repair: the operator may be the one
                // who has to free disk space.
                self.shared.queue.close(failure.as_ledger_error());
                change.promise.answer(Err(error));
                self.recover(&failure, Vec::new());
                // The holds of the change are released only now: before the file was read, the
                // credits may have been spent.
                drop(after);
            }
        }
    }

    fn try_change(&mut self, run: RunChange) -> Result<(Committed, AfterCommit), ChangeFailure> {
        let failed = |error: StateError| ChangeFailure::Failed(Box::new(error.into()), None);
        let writing = self.begin().map_err(failed)?;
        let mut poster = LedgerTransaction::new(writing, &self.posted);
        let after = run(&mut poster).map_err(|error| match error {
            ChangeError::State(error @ StateError::ChangedElsewhere { .. }) => ChangeFailure::Refused(error.into()),
            ChangeError::State(error) => failed(error),
            refused => ChangeFailure::Refused(refused),
        })?;
        let attempted = Some(poster.head().mark());
        match poster.commit() {
            Ok(committed) => Ok((committed, after)),
            Err(error @ StateError::ChangedElsewhere { .. }) => Err(ChangeFailure::Refused(error.into())),
            Err(error) => Err(ChangeFailure::Failed(Box::new(CommitFailure { error, attempted }), Some(after))),
        }
    }

    fn settle_leases(&mut self, changes: Option<LeaseChanges>) {
        self.shared.journal.iter().for_each(|journal| journal.ledger_is_reached());
        if let Some((keeper, changes)) = self.leases.as_mut().zip(changes) {
            keeper.committed(&self.shared, changes, &self.posted);
        }
    }

    /// Reports the calls of the journal, and returns all leases. If the database is out of reach, the next start does both.
    pub(crate) fn leave(&mut self) -> Result<(), StateError> {
        loop {
            match self.try_post(&[], true) {
                Ok(Posted { committed, leases, .. }) => {
                    self.take_over(committed);
                    self.settle_leases(leases);
                    if self.leases.as_mut().is_none_or(|keeper| !keeper.has_calls()) {
                        return Ok(());
                    }
                }
                Err(CommitFailure { error: StateError::ChangedElsewhere { .. }, .. }) => {}
                Err(failure) => return Err(failure.error),
            }
        }
    }

    fn take_over(&mut self, committed: Committed) {
        self.posted.apply(committed.changes);
        self.number = committed.number;
        self.shared.medium.set_mark(self.posted.head.mark());
    }

    /// Recovers from a failed commit.
    fn recover(&mut self, failure: &CommitFailure, batch: Vec<Post>) {
        let error = failure.as_ledger_error();
        self.shared.record_error(&failure.error);
        self.shared.queue.close(error);
        self.answered = 0;
        let mut outage = Outage::new(error, failure.attempted);
        for post in batch {
            outage.add_post(post);
        }
        self.fail_waiting_jobs(&mut outage);
        let Some(happened) = self.reopen(&mut outage) else { return };
        outage.end(happened);
        self.shared.queue.open();
    }

    /// Answers all waiting callers. Refunds that they may be owed are recorded before.
    fn fail_waiting_jobs(&self, outage: &mut Outage) {
        let mut new = outage.owed_for_debits();
        let in_doubt = !new.is_empty();
        for job in self.shared.queue.drain() {
            match job {
                WriterJob::Change(change) => change.promise.answer(Err(ChangeError::Ledger(outage.error))),
                WriterJob::Post(mut post) => match post.kind {
                    PostKind::Refund => outage.refunds.push(post),
                    // It was never part of a commit.
                    PostKind::Debit => {
                        post.hold.release(&post.key);
                        answer(&mut post, outage.error);
                    }
                },
            }
        }
        let unanswered = outage.refunds.iter().filter(|post| post.promise.is_some());
        new.extend(unanswered.filter_map(OwedRefund::of));
        let mut reported = outage.error;
        if let Err(unnoted) = owed::note(&*self.shared.medium, &new) {
            self.shared.record_error(&unnoted);
            reported = if in_doubt { LedgerError::OutcomeUnknown } else { reported };
        }
        outage.owed.append(&mut new);
        outage.debits.iter_mut().for_each(|debit| answer(&mut debit.post, reported));
        let error = outage.error;
        outage.refunds.iter_mut().for_each(|post| answer(post, error));
    }

    /// Reopens the file until that works. Returns whether the failed commit happened, or `None` if
    /// the server is stopping.
    fn reopen(&mut self, outage: &mut Outage) -> Option<bool> {
        let (mut pause, mut happened) = (FIRST_PAUSE, None);
        let shared = Arc::clone(&self.shared);
        loop {
            // Stops long reads: nobody else can open the file until they end.
            shared.store().as_ref().inspect(|state| state.abort_reads());
            let mut store = shared.store.write().unwrap_or_else(PoisonError::into_inner);
            // Closed first: an engine that failed once does not work any more.
            *store = None;
            self.shared.medium.drop_page_cache();
            let attempt = State::open_medium(&self.shared.medium);
            match attempt.and_then(|state| self.reload_state(state, outage, &mut happened)) {
                Ok((state, posted, number)) => {
                    *store = Some(state);
                    (self.posted, self.number) = (posted, number);
                    return Some(happened == Some(true));
                }
                Err(error) => {
                    if error.is_disk_full() {
                        outage.error = LedgerError::StorageFull;
                    }
                    self.shared.queue.close(outage.error);
                    self.shared.record_error(&error);
                }
            }
            drop(store);
            let goes_on = self.shared.queue.pause(pause);
            // Handles refunds that arrived meanwhile.
            self.fail_waiting_jobs(outage);
            if !goes_on {
                return None;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Proves that the reopened file can be written, makes the owed refunds, and takes over the
    /// content of the file.
    fn reload_state(
        &mut self,
        state: State,
        outage: &Outage,
        happened: &mut Option<bool>,
    ) -> Result<(State, LedgerState, ChangeNumber), StateError> {
        // Decided once, before anything is appended: if making the refunds fails too, it may leave new entries.
        if happened.is_none() {
            *happened = Some(outage.attempted.map_or(Ok(false), |attempted| contains(&state.read()?, attempted))?);
        }
        // After the disk was full, a small record may still fit into a gap, but the next batch would not.
        let headroom = if outage.error == LedgerError::StorageFull { HEADROOM_BYTES } else { 0 };
        for size in [headroom, 0] {
            let mut probe = state.write()?;
            probe.put(StateTable::Meta, b"probe", &vec![0; size])?;
            probe.commit()?;
        }
        owed::repay(&state, &outage.owed)?;
        self.shared.medium.clear_owed()?;
        let reading = state.read()?;
        let (posted, number) = (load_all(&self.shared, &reading)?, reading.number());
        if let Some(keeper) = &mut self.leases {
            keeper.resume(&self.shared, &posted);
        }
        drop(reading);
        Ok((state, posted, number))
    }
}

/// The state between a failed commit and the repair of the file.
struct Outage {
    /// The error that callers get.
    error: LedgerError,
    /// The head that the failed commit would have left, if it got that far.
    attempted: Option<LedgerMark>,
    /// The debits of the failed commit. They hold their credits until it is known whether the commit happened.
    debits: Vec<UncertainDebit>,
    /// Refunds that arrived. They are kept for their claims: until the file is repaired, a copy of
    /// such a call has to wait.
    refunds: Vec<Post>,
    /// The refunds to make if the file contains the debits.
    owed: Vec<OwedRefund>,
}

struct UncertainDebit {
    post: Post,
    /// Whether a caller waits for the answer. A caller that was answered before the commit, in
    /// `window` mode, owes the debit.
    is_awaited: bool,
}

impl Outage {
    fn new(error: LedgerError, attempted: Option<LedgerMark>) -> Self {
        Self { error, attempted, debits: Vec::new(), refunds: Vec::new(), owed: Vec::new() }
    }

    fn add_post(&mut self, post: Post) {
        match post.kind {
            PostKind::Debit => {
                let is_awaited = post.promise.is_some();
                self.debits.push(UncertainDebit { post, is_awaited });
            }
            PostKind::Refund => self.refunds.push(post),
        }
    }

    /// The refunds owed to callers who are about to be told that they were not charged.
    fn owed_for_debits(&self) -> Vec<OwedRefund> {
        let is_unanswered = |debit: &&UncertainDebit| self.attempted.is_some() && debit.post.promise.is_some();
        self.debits.iter().filter(is_unanswered).filter_map(|debit| OwedRefund::of(&debit.post)).collect()
    }

    /// The balances were reset to the balances of the file, with these holds still in place.
    fn end(self, happened: bool) {
        for UncertainDebit { post, is_awaited } in self.debits {
            post.hold.release(&post.key);
            // A refund that comes later has nothing to do: the debit never happened, or it was
            // already refunded.
            if !happened || is_awaited {
                post.placed.set(None);
            }
        }
    }
}

enum ChangeFailure {
    Refused(ChangeError),
    /// The commit failed. Contains the effect that the change would have had on the directory.
    Failed(Box<CommitFailure>, Option<AfterCommit>),
}

fn open(store: &Option<State>) -> Result<&State, StateError> {
    store
        .as_ref()
        .ok_or(StateError::Storage { doing: "use the state file", source: Box::new(redb::Error::DatabaseClosed) })
}

/// Closes the queue when the writer ends for any reason, so that nobody waits for it afterwards.
struct CloseQueueOnDrop(Arc<SharedAccounts>);

impl Drop for CloseQueueOnDrop {
    fn drop(&mut self) {
        let refunds = self.0.queue.end().into_iter().filter_map(WriterJob::into_post);
        let owed: Vec<OwedRefund> =
            refunds.filter(|post| post.kind == PostKind::Refund).filter_map(|post| OwedRefund::of(&post)).collect();
        if let Err(unnoted) = owed::note(&*self.0.medium, &owed) {
            self.0.record_error(&unnoted);
        }
    }
}
