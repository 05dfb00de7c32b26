//! The single thread that writes. It gathers the waiting jobs, makes one commit of them, then
//! answers all callers.
//!
//! Debits and refunds share commits. An administrative change has its own commit, so that refusing
//! it affects nothing else. When a commit fails, its outcome is unknown. The writer then records
//! beside the file the refunds that it may owe, refuses all new jobs, and reopens the file. It
//! makes the owed refunds for debits that the file contains, takes over the content of the file,
//! and continues.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use hornbook_base::clock::Month;

use super::directory::{lock, read_counters, read_stored};
use super::error::{ChangeError, LedgerError};
use super::idempotency;
use super::ids::EntryNumber;
use super::job::{AfterCommit, Change, Post, PostKind, PostedEntry, RunChange, WriterJob};
use super::ledger::entry::{Draft, EntryKind, Reference};
use super::ledger::load::{LedgerHead, LedgerState};
use super::ledger::poster::{Changes, LedgerTransaction};
use super::owed::{self, OwedRefund};
use super::queue::Batch;
use super::shared::SharedAccounts;
use crate::state::{LedgerMark, State, StateError, StateTable};

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// After the disk was full, this many bytes must fit before work continues.
const HEADROOM_BYTES: usize = 256 << 10;

pub(crate) struct Writer {
    shared: Arc<SharedAccounts>,
    posted: LedgerState,
    /// The number of callers answered by the last commit.
    answered: usize,
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
    pub(crate) fn new(shared: Arc<SharedAccounts>, posted: LedgerState) -> Self {
        Self { shared, posted, answered: 0 }
    }

    /// Runs until the queue is stopped and empty.
    pub(crate) fn run(mut self) {
        let _last = CloseQueueOnDrop(Arc::clone(&self.shared));
        loop {
            match self.shared.queue.next(self.answered) {
                Batch::Posts(posts) => self.post(posts),
                Batch::Change(change) => self.change(change),
                Batch::Stop => return,
            }
        }
    }

    fn post(&mut self, mut posts: Vec<Post>) {
        match self.try_post(&mut posts) {
            Ok((changes, postings)) => {
                self.take_over(changes);
                self.answered = posts.len();
                for (post, posting) in posts.into_iter().zip(postings) {
                    settle(post, posting);
                }
            }
            Err(failure) => self.recover(&failure, posts),
        }
    }

    fn try_post(&self, posts: &mut [Post]) -> Result<(Changes, Vec<Option<PostedEntry>>), CommitFailure> {
        let store = self.shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let mut poster = LedgerTransaction::new(open(&store)?.write()?, &self.posted);
        let mut postings = Vec::with_capacity(posts.len());
        for post in posts.iter() {
            postings.push(append_post(&mut poster, post)?);
        }
        write_counters(&mut poster, posts)?;
        let attempted = Some(poster.head().mark());
        let changes = poster.commit().map_err(|error| CommitFailure { error, attempted })?;
        Ok((changes, postings))
    }

    fn change(&mut self, change: Change) {
        self.answered = 0;
        let store = self.shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let result = try_change(&store, &self.posted, change.run);
        drop(store);
        match result {
            Ok((mut changes, after)) => {
                let acts = std::mem::take(&mut changes.acts);
                self.take_over(changes);
                // Takes effect for all later calls before the answer is sent, so that a revoked key is refused.
                after(&mut self.shared.directory.write().unwrap_or_else(PoisonError::into_inner));
                if let Some(tell) = self.shared.tell_act.get() {
                    acts.iter().for_each(tell);
                }
                change.promise.answer(Ok(()));
            }
            Err(ChangeFailure::Refused(error)) => change.promise.answer(Err(error)),
            Err(ChangeFailure::Failed(failure, after)) => {
                let unknown = StateError::File {
                    doing: "commit the change to",
                    path: self.shared.medium.describe().into(),
                    source: std::io::Error::other(failure.error.to_string()),
                };
                // Closed before the answer, answered before the repair: the operator may be the one
                // who has to free disk space.
                self.shared.queue.close(failure.as_ledger_error());
                change.promise.answer(Err(ChangeError::OutcomeUnknown(unknown)));
                self.recover(&failure, Vec::new());
                // The holds of the change are released only now: before the file was read, the
                // credits may have been spent.
                drop(after);
            }
        }
    }

    fn take_over(&mut self, changes: Changes) {
        self.posted.apply(changes);
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
        let mut pause = FIRST_PAUSE;
        let mut happened = None;
        loop {
            // Stops long reads: nobody else can open the file until they end.
            self.shared.store().as_ref().inspect(|state| state.abort_reads());
            let mut store = self.shared.store.write().unwrap_or_else(PoisonError::into_inner);
            // Closed first: an engine that failed once does not work any more.
            *store = None;
            self.shared.medium.drop_page_cache();
            let attempt = State::open_medium(&self.shared.medium);
            match attempt.and_then(|state| self.reload_state(state, outage, &mut happened)) {
                Ok((state, posted)) => {
                    *store = Some(state);
                    self.posted = posted;
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
        &self,
        state: State,
        outage: &Outage,
        happened: &mut Option<bool>,
    ) -> Result<(State, LedgerState), StateError> {
        // Decided once, before anything is appended: if making the refunds fails too, it may leave new entries.
        if happened.is_none() {
            let head = LedgerHead::read(&state.read()?)?;
            *happened = Some(outage.attempted == Some(head.mark()));
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
        let posted = LedgerState::load(&reading)?;
        let stored = read_stored(&reading)?;
        let counters = read_counters(&reading, &self.shared.directory().missing(&stored))?;
        let retries = idempotency::read_all(&reading)?;
        drop(reading);
        let mut directory = self.shared.directory.write().unwrap_or_else(PoisonError::into_inner);
        directory.take_over(stored, &counters, &posted);
        drop(directory);
        lock(&self.shared.retries).reload(retries);
        self.shared.medium.set_mark(posted.head.mark());
        Ok((state, posted))
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

fn try_change(
    store: &Option<State>,
    posted: &LedgerState,
    run: RunChange,
) -> Result<(Changes, AfterCommit), ChangeFailure> {
    let failed = |error: StateError| ChangeFailure::Failed(Box::new(error.into()), None);
    let writing = open(store).and_then(State::write).map_err(failed)?;
    let mut poster = LedgerTransaction::new(writing, posted);
    let after = run(&mut poster).map_err(|error| match error {
        ChangeError::State(error) => failed(error),
        refused => ChangeFailure::Refused(refused),
    })?;
    let attempted = Some(poster.head().mark());
    match poster.commit() {
        Ok(changes) => Ok((changes, after)),
        Err(error) => Err(ChangeFailure::Failed(Box::new(CommitFailure { error, attempted }), Some(after))),
    }
}

fn open(store: &Option<State>) -> Result<&State, StateError> {
    store
        .as_ref()
        .ok_or(StateError::Storage { doing: "use the state file", source: Box::new(redb::Error::DatabaseClosed) })
}

/// Appends one debit or refund to the ledger. None for the refund of a debit that was never appended.
fn append_post(poster: &mut LedgerTransaction<'_>, post: &Post) -> Result<Option<PostedEntry>, StateError> {
    let operation = Some(poster.operation(post.operation));
    let (cost, from_allotment) = (i64::from(post.cost.0), i64::from(post.hold.balance.from_allotment));
    let mut draft = Draft {
        at: post.at,
        kind: EntryKind::Usage,
        account: post.key.account.id,
        key: Some(post.key.id),
        operation,
        credits: -cost,
        from_allotment,
        month: Month(post.hold.balance.month),
        reference: Reference::None,
        note: None,
    };
    if post.kind == PostKind::Refund {
        let Some(debit) = post.placed.get() else { return Ok(None) };
        draft = draft.refunded(debit);
        for key in post.key.counted_by(debit) {
            poster.subtract_spending(key, post.cost.0, post.at);
        }
    }
    let entry = poster.append(draft);
    let used = poster.allotment_used(post.key.account.id, Month(post.units.month));
    let allotment = post.units.limit.saturating_sub(used);
    let posting = PostedEntry { number: entry.number, wallet: entry.balance_after, allotment };
    if post.kind == PostKind::Debit {
        post.placed.set(Some(entry.number));
        for key in post.key.counted_by(entry.number) {
            poster.add_spending(key, post.cost.0, post.at);
        }
    }
    match (post.kind, &post.claim) {
        (PostKind::Debit, Some(claim)) => claim.store(poster, &claim.record_of(posting.number, post.cost))?,
        (PostKind::Refund, Some(claim)) => claim.forget(poster)?,
        (_, None) => {}
    }
    Ok(Some(posting))
}

/// Writes one counter for each key of the batch, in the same commit as its debits.
fn write_counters(poster: &mut LedgerTransaction<'_>, posts: &[Post]) -> Result<(), StateError> {
    let mut keys = BTreeMap::new();
    for post in posts.iter().filter(|post| post.kind == PostKind::Debit) {
        post.key.used(post.at);
        // A key that another key created counts its calls there.
        for key in [&*post.key, post.key.rate_limited()] {
            keys.insert(key.id, key);
        }
    }
    let records = keys.into_iter().map(|(id, key)| {
        key.take_dirty();
        (id.to_key(), key.counter().to_bytes())
    });
    poster.writing.put_all(StateTable::Counters, records)
}

fn settle(mut post: Post, posting: Option<PostedEntry>) {
    match (post.kind, posting) {
        (PostKind::Debit, _) => post.hold.settle(&post.key),
        (PostKind::Refund, Some(_)) => {
            if let Some(debit) = post.placed.get() {
                post.hold.return_posted(&post.key, debit);
            }
        }
        (PostKind::Refund, None) => {}
    }
    // Before the answer: a caller that has the answer may send the request again and must find the record.
    if let Some(claim) = post.claim.take() {
        match (post.kind, posting) {
            (PostKind::Debit, Some(posting)) => claim.is_stored(&claim.record_of(posting.number, post.cost)),
            (PostKind::Debit, None) => {}
            (PostKind::Refund, _) => claim.is_forgotten(),
        }
    }
    if let Some(promise) = post.promise.take() {
        let nothing = PostedEntry { number: EntryNumber(0), wallet: 0, allotment: 0 };
        promise.answer(Ok(posting.unwrap_or(nothing)));
    }
}

fn answer(post: &mut Post, error: LedgerError) {
    if let Some(promise) = post.promise.take() {
        promise.answer(Err(error));
    }
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
