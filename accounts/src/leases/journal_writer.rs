//! The thread that writes calls to this server's journal, as the ledger's writer does to the ledger: many calls share
//! a commit, then all callers are answered.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::journal::Journal;
use super::journal_record::JournalRecord;
use super::local::LeaseId;
use super::record::ServerRecord;
use crate::balance::{Hold, MonthlyUnits};
use crate::directory::lock;
use crate::error::LedgerError;
use crate::job::{CallHold, EntrySlot, Post, PostKind, WriterJob};
use crate::line_budgets::BudgetHold;
use crate::queue::Batch;
use crate::shared::SharedAccounts;
use crate::state::{JournalStore, StateError};

/// How long to wait after a failure of the journal's file.
const PAUSE: Duration = Duration::from_millis(500);

/// Writes calls to the journal.
pub(crate) struct JournalWriter {
    shared: Arc<SharedAccounts>,
    journal: Arc<Journal>,
    /// None after a failure that could not be repaired.
    file: Option<Box<dyn JournalStore>>,
    /// The number of the next call.
    next: u64,
}

impl JournalWriter {
    /// Opens the journal of this server, with the calls that are not in the ledger yet.
    pub(crate) fn open(
        shared: &Arc<SharedAccounts>,
        journal: &Arc<Journal>,
        file: Box<dyn JournalStore>,
        known: &ServerRecord,
    ) -> Result<(Self, Vec<Post>), StateError> {
        let (unreported, next) = unreported(shared, &*file, known)?;
        journal.reported.store(known.reported, Ordering::Relaxed);
        journal.last.store(next - 1, Ordering::Relaxed);
        let (shared, journal) = (Arc::clone(shared), Arc::clone(journal));
        Ok((Self { shared, journal, file: Some(file), next }, unreported))
    }

    pub(crate) fn into_file(self) -> Option<Box<dyn JournalStore>> {
        self.file
    }

    /// Runs until the journal's queue is stopped and empty.
    pub(crate) fn run(mut self) {
        let mut answered = 0;
        loop {
            match self.journal.queue.next(answered) {
                Batch::Posts(posts) => answered = self.write_batch(posts),
                // Only debits and refunds are queued here.
                Batch::Change(_) | Batch::CatchUp(_) => {}
                Batch::Stop => break,
            }
        }
        let left = self.journal.queue.end().into_iter().filter_map(WriterJob::into_post).collect();
        give_up(&self.shared, left, LedgerError::Closed).into_iter().for_each(|post| post.hold.release(&post.key));
    }

    /// Returns the number of callers that were answered.
    pub(crate) fn write_batch(&mut self, posts: Vec<Post>) -> usize {
        let first = self.next;
        let posts = self.number(posts);
        let count = posts.len();
        let Err((error, posts)) = write(&self.journal, self.file.as_deref(), posts) else { return count };
        self.shared.record_error(&error);
        self.journal.queue.close(LedgerError::Unavailable);
        let uncertain = give_up(&self.shared, posts, LedgerError::OutcomeUnknown);
        // An engine that failed once does not work any more.
        drop(self.file.take());
        self.file = repair(&self.shared, &self.journal, first);
        // They are not in the file any more, or the server is stopping and does not know.
        uncertain.into_iter().for_each(|post| post.hold.release(&post.key));
        0
    }

    /// Gives the posts their numbers. The refund of a debit that could not be written has nothing to give back.
    fn number(&mut self, posts: Vec<Post>) -> Vec<Post> {
        let mut numbered = Vec::with_capacity(posts.len());
        for mut post in posts {
            if post.kind == PostKind::Refund && post.placed.journal_number().is_none() {
                post.promise.into_iter().for_each(|promise| promise.answer(Ok(None)));
                continue;
            }
            post.journal_number = Some(self.next);
            if post.kind == PostKind::Debit {
                post.placed.set_journal_number(Some(self.next));
            }
            self.next += 1;
            numbered.push(post);
        }
        numbered
    }
}

/// Writes numbered posts to the file, answers their callers and leaves them to the ledger's writer.
fn write(
    journal: &Journal,
    file: Option<&dyn JournalStore>,
    mut posts: Vec<Post>,
) -> Result<(), (StateError, Vec<Post>)> {
    let reported = journal.reported.load(Ordering::Relaxed);
    let mut records = posts.iter().filter_map(|post| Some((post.journal_number?, record_of(post).to_bytes())));
    let written = match file {
        Some(file) => file.append(&mut records, reported),
        None => {
            Err(StateError::file("write to", std::path::Path::new("journal.redb"), std::io::ErrorKind::NotFound.into()))
        }
    };
    if let Err(error) = written {
        return Err((error, posts));
    }
    journal.last.fetch_max(posts.iter().filter_map(|post| post.journal_number).max().unwrap_or(0), Ordering::Relaxed);
    let mut promises = Vec::with_capacity(posts.len());
    promises.extend(posts.iter_mut().filter_map(|post| post.promise.take()));
    // First, so that a server that stops after its answer still reports them.
    lock(&journal.written).append(&mut posts);
    promises.into_iter().for_each(|promise| promise.answer(Ok(None)));
    Ok(())
}

fn record_of(post: &Post) -> JournalRecord {
    let hold = post.hold.balance;
    JournalRecord {
        refund_of: post.placed.journal_number().filter(|_| post.kind == PostKind::Refund),
        account: post.key.account.id,
        key: post.key.id,
        operation: post.operation.clone().into_owned(),
        cost: post.cost,
        at: post.at,
        month: hold.month,
        split: hold.amounts(),
        lease: hold.lease.unwrap_or(LeaseId(0)),
    }
}

/// Answers the callers of debits that are not written for sure, and returns these. Refunds go to the ledger's writer.
fn give_up(shared: &SharedAccounts, posts: Vec<Post>, error: LedgerError) -> Vec<Post> {
    let mut debits = Vec::new();
    for mut post in posts {
        post.journal_number = None;
        match post.kind {
            PostKind::Refund => shared.queue.refund(post),
            PostKind::Debit => {
                post.placed.set_journal_number(None);
                if let Some(promise) = post.promise.take() {
                    promise.answer(Err(error));
                }
                debits.push(post);
            }
        }
    }
    debits
}

/// Opens the file again and removes what the failed write may have left, until that works or the server stops.
fn repair(shared: &SharedAccounts, journal: &Journal, first: u64) -> Option<Box<dyn JournalStore>> {
    loop {
        let opened = shared.medium.open_journal().and_then(|file| match file {
            Some(file) => file.remove_from(first).map(|()| Some(file)),
            None => Ok(None),
        });
        match opened {
            Ok(file) => {
                journal.queue.open();
                return file;
            }
            Err(error) => shared.record_error(&error),
        }
        let goes_on = journal.queue.pause(PAUSE);
        // These were never written.
        let waiting = journal.queue.drain().into_iter().filter_map(WriterJob::into_post).collect();
        give_up(shared, waiting, LedgerError::Unavailable).into_iter().for_each(|post| post.hold.release(&post.key));
        if !goes_on {
            return None;
        }
    }
}

/// The calls of the journal that are not in the ledger yet, as they were when they were written.
fn unreported(
    shared: &SharedAccounts,
    file: &dyn JournalStore,
    known: &ServerRecord,
) -> Result<(Vec<Post>, u64), StateError> {
    let reported = known.reported;
    let (mut posts, mut next) = (Vec::new(), reported + 1);
    // The debits that may be refunded, and what those in the ledger took from the allotment.
    let mut slots: HashMap<u64, (EntrySlot, Option<u32>)> = HashMap::new();
    for open in &known.open {
        let slot = EntrySlot::default();
        slot.set(Some(open.entry));
        slot.set_journal_number(Some(open.journal_number));
        slots.insert(open.journal_number, (slot, Some(open.units)));
    }
    for (number, bytes) in file.records()? {
        next = next.max(number + 1);
        if number <= reported {
            continue;
        }
        let damaged = || StateError::bad_record("calls", &number.to_be_bytes());
        let record = JournalRecord::from_bytes(&bytes).map_err(|_| damaged())?;
        let Some(key) = shared.directory().key(record.key).cloned() else {
            // Keys that made calls are never removed.
            return Err(damaged());
        };
        let (slot, units) = match record.refund_of {
            None => {
                let slot = EntrySlot::default();
                slot.set_journal_number(Some(number));
                slots.insert(number, (slot.clone(), None));
                (slot, None)
            }
            Some(debit) => slots.get(&debit).cloned().ok_or_else(damaged)?,
        };
        let hold = Hold {
            from_allotment: units.unwrap_or(record.split.units),
            from_wallet: units.map_or(record.split.credits, |units| record.cost.0 - units),
            month: record.month,
            lease: Some(record.lease),
        };
        let limit = shared.settings.tariff.monthly_units(key.account.standing().company_formed);
        let kind = if record.refund_of.is_none() { PostKind::Debit } else { PostKind::Refund };
        if kind == PostKind::Debit {
            key.account.balance.restore(hold);
            key.count_unreported();
        }
        posts.push(Post {
            kind,
            key,
            operation: record.operation.into(),
            cost: record.cost,
            at: record.at,
            hold: CallHold { balance: hold, cost: record.cost.0, at: record.at, budgets: BudgetHold::default() },
            units: MonthlyUnits { month: record.month, limit },
            placed: slot,
            claim: None,
            promise: None,
            journal_number: Some(number),
            may_lease: false,
        });
    }
    Ok((posts, next))
}
