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

use super::catch_up::{catch_up, load_all};
use super::error::{ChangeError, LedgerError};
use super::ids::EntryNumber;
use super::job::{AfterCommit, Change, Post, PostKind, PostedEntry, RunChange, WriterJob};
use super::ledger::entry::{Draft, EntryKind, Reference};
use super::ledger::load::{LedgerState, contains};
use super::ledger::poster::{Committed, LedgerTransaction};
use super::line_budgets;
use super::owed::{self, OwedRefund};
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
    pub(crate) fn new(shared: Arc<SharedAccounts>, posted: LedgerState, number: ChangeNumber) -> Self {
        Self { shared, posted, number, answered: 0 }
    }

    /// Runs until the queue is stopped and empty.
    pub(crate) fn run(mut self) {
        let _last = CloseQueueOnDrop(Arc::clone(&self.shared));
        loop {
            match self.shared.queue.next(self.answered) {
                Batch::Posts(posts) => self.post(posts),
                Batch::Change(change) => self.change(change),
                Batch::CatchUp => self.follow(),
                Batch::Stop => return,
            }
        }
    }

    fn post(&mut self, posts: Vec<Post>) {
        let mut tries = 0;
        loop {
            match self.try_post(&posts) {
                Ok((committed, postings)) => {
                    self.take_over(committed);
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

    fn try_post(&mut self, posts: &[Post]) -> Result<(Committed, Vec<Posting>), CommitFailure> {
        let writing = self.begin()?;
        let is_shared = self.number != ChangeNumber::default();
        let mut poster = LedgerTransaction::new(writing, &self.posted);
        let mut postings = Vec::with_capacity(posts.len());
        for post in posts {
            // Another server may have changed the balances after the credits were held.
            postings.push(if is_shared && is_overtaken(&poster, post) {
                // An earlier try may have given it a number, which is another entry's now.
                post.placed.set(None);
                Posting::Overtaken
            } else {
                append_post(&mut poster, post)?.map_or(Posting::Nothing, Posting::Made)
            });
        }
        write_counters(&mut poster, posts)?;
        let attempted = Some(poster.head().mark());
        let committed = poster.commit().map_err(|error| CommitFailure { error, attempted })?;
        Ok((committed, postings))
    }

    /// Begins a transaction. If another server changed the state, takes over its changes first.
    fn begin(&mut self) -> Result<StateWriter, StateError> {
        let shared = Arc::clone(&self.shared);
        let store = shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let state = open(&store)?;
        let writing = state.write()?;
        if writing.number_before() != self.number {
            // Nobody changes anything while this transaction is open.
            self.catch_up_from(state)?;
            self.number = writing.number_before();
        }
        Ok(writing)
    }

    /// Takes over what other servers changed, without waiting for a change of our own.
    fn follow(&mut self) {
        let shared = Arc::clone(&self.shared);
        let store = shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let followed = open(&store).and_then(State::read).and_then(|reading| {
            if reading.number() != self.number {
                catch_up(&shared, &mut self.posted, self.number, &reading)?;
                self.number = reading.number();
            }
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

    fn change(&mut self, change: Change) {
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
        &self,
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

/// What became of a debit or refund whose batch was committed.
#[derive(Clone, Copy)]
enum Posting {
    Made(PostedEntry),
    /// The refund of a debit that was never made.
    Nothing,
    /// Another server spent the credits, or charged the same request, first.
    Overtaken,
}

/// Whether a debit may not be made on the newest state, although its credits are held.
fn is_overtaken(poster: &LedgerTransaction<'_>, post: &Post) -> bool {
    if post.kind == PostKind::Refund {
        return false;
    }
    let (account, split) = (post.key.account.id, post.hold.balance);
    let wallet_left = poster.wallet(account).balance;
    let units_left = post.units.limit.saturating_sub(poster.allotment_used(account, Month(split.month)));
    split.from_wallet > 0 && wallet_left < i64::from(split.from_wallet)
        || units_left < split.from_allotment
        || line_budgets::is_overspent(&post.key, post.cost.0, post.at, |key| poster.spending_of(key))
        || post.claim.as_ref().is_some_and(|claim| claim.is_charged_elsewhere())
}

fn settle(mut post: Post, posting: Posting) {
    match (post.kind, posting) {
        (PostKind::Debit, Posting::Overtaken) => {
            post.hold.release(&post.key);
            // Its record, if there is one, is the other server's.
            post.claim = None;
            return answer(&mut post, LedgerError::Overtaken);
        }
        (PostKind::Debit, _) => post.hold.settle(&post.key),
        (PostKind::Refund, Posting::Made(_)) => {
            if let Some(debit) = post.placed.get() {
                post.hold.return_posted(&post.key, debit);
            }
        }
        (PostKind::Refund, _) => {}
    }
    // Before the answer: a caller that has the answer may send the request again and must find the record.
    if let Some(claim) = post.claim.take() {
        match (post.kind, posting) {
            (PostKind::Debit, Posting::Made(posting)) => claim.is_stored(&claim.record_of(posting.number, post.cost)),
            (PostKind::Refund, Posting::Made(_)) => claim.is_forgotten(),
            // The record, if there is one, is of another server's debit.
            (_, Posting::Nothing | Posting::Overtaken) => {}
        }
    }
    if let Some(promise) = post.promise.take() {
        promise.answer(Ok(match posting {
            Posting::Made(posting) => posting,
            Posting::Nothing | Posting::Overtaken => PostedEntry { number: EntryNumber(0), wallet: 0, allotment: 0 },
        }));
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
