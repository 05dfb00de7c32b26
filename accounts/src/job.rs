//! The jobs of the writer and their results: debits and refunds of calls, and administrative changes.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hornbook_base::clock::UnixMillis;

use super::balance::{Hold, MonthlyUnits};
use super::directory::{Directory, KeyState};
use super::error::{ChangeError, LedgerError};
use super::idempotency::Claim;
use super::ids::{Credits, EntryNumber};
use super::ledger::poster::LedgerTransaction;
use super::line_budgets::{self, BudgetHold};
use super::reply::ReplySender;

pub(crate) enum WriterJob {
    Post(Post),
    Change(Change),
}

impl WriterJob {
    pub(super) fn into_post(self) -> Option<Post> {
        match self {
            Self::Post(post) => Some(post),
            Self::Change(_) => None,
        }
    }
}

/// A debit, or the refund of a debit.
pub(crate) struct Post {
    pub(crate) kind: PostKind,
    pub(crate) key: Arc<KeyState>,
    pub(crate) operation: Cow<'static, str>,
    pub(crate) cost: Credits,
    pub(crate) at: UnixMillis,
    pub(crate) hold: CallHold,
    pub(crate) units: MonthlyUnits,
    /// The entry number of the debit, once it has one. Its refund reads it here.
    pub(crate) placed: EntrySlot,
    /// A debit stores its idempotency record, a refund removes it. Shared with the caller: until
    /// the call has ended, with or without success, a copy of the request must not be answered from
    /// the record.
    pub(crate) claim: Option<Arc<Claim>>,
    pub(crate) promise: Option<ReplySender<PostReply>>,
    /// Its number in this server's journal, if it was written there.
    pub(crate) journal_number: Option<u64>,
    /// Whether calls like this may be charged from a lease.
    pub(crate) may_lease: bool,
}

/// The entry of a debit or refund; none if it is in this server's journal, or if there was nothing to refund.
pub(crate) type PostReply = Result<Option<PostedEntry>, LedgerError>;

/// The credits that a call holds: on its account, and on the budgets of its key and of the keys above it.
#[derive(Clone, Copy)]
pub(crate) struct CallHold {
    pub(crate) balance: Hold,
    pub(crate) budgets: BudgetHold,
    pub(crate) cost: u32,
    pub(crate) at: UnixMillis,
}

impl CallHold {
    /// Drops the hold of a call that made no debit.
    pub(crate) fn release(self, key: &KeyState) {
        key.account.balance.release(self.balance);
        self.uncount(key);
        line_budgets::release(key, self.budgets, self.cost, self.at);
    }

    /// Settles the hold of a debit that is in the ledger.
    pub(crate) fn settle(self, key: &KeyState) {
        key.account.balance.settle(self.balance);
        self.uncount(key);
        line_budgets::settle(key, self.budgets, self.cost, self.at);
    }

    /// Drops the hold of a debit that is in the ledger, from which the balance was read since.
    pub(crate) fn forget(self, key: &KeyState) {
        key.account.balance.forget(self.balance);
        self.uncount(key);
    }

    /// A call that held some of a lease is reported, or was not made.
    fn uncount(self, key: &KeyState) {
        if self.balance.lease.is_some() {
            key.uncount_unreported();
        }
    }

    /// Returns the credits of a debit whose refund is in the ledger.
    pub(crate) fn return_posted(self, key: &KeyState, debit: EntryNumber) {
        key.account.balance.return_posted(self.balance);
        line_budgets::give_back(key, debit, self.cost, self.at);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostKind {
    Debit,
    Refund,
}

/// The ledger entry of a debit or refund, and the balances after it.
#[derive(Clone, Copy)]
pub(crate) struct PostedEntry {
    pub(crate) number: EntryNumber,
    pub(crate) wallet: i64,
    pub(crate) allotment: u32,
}

/// The numbers of a debit in the ledger and in the journal; zero until it has them.
#[derive(Clone, Default)]
pub(crate) struct EntrySlot(Arc<DebitNumbers>);

#[derive(Default)]
struct DebitNumbers {
    entry: AtomicU64,
    in_journal: AtomicU64,
}

impl EntrySlot {
    pub(super) fn get(&self) -> Option<EntryNumber> {
        let number = self.0.entry.load(Ordering::Acquire);
        (number > 0).then_some(EntryNumber(number))
    }

    pub(super) fn set(&self, number: Option<EntryNumber>) {
        self.0.entry.store(number.map_or(0, |number| number.0), Ordering::Release);
    }

    /// How many have this slot.
    pub(super) fn owners(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    pub(super) fn journal_number(&self) -> Option<u64> {
        Some(self.0.in_journal.load(Ordering::Acquire)).filter(|number| *number > 0)
    }

    pub(super) fn set_journal_number(&self, number: Option<u64>) {
        self.0.in_journal.store(number.unwrap_or(0), Ordering::Release);
    }
}

/// Applies a change to the directory once the change is durable.
pub(crate) type AfterCommit = Box<dyn FnOnce(&mut Directory) + Send>;

pub(crate) fn no_memory_effect() -> AfterCommit {
    Box::new(|_| {})
}

/// Checks a change and makes it in the writer's transaction.
pub(crate) type RunChange = Box<dyn FnOnce(&mut LedgerTransaction<'_>) -> Result<AfterCommit, ChangeError> + Send>;

/// An administrative change.
pub(crate) struct Change {
    pub(crate) run: RunChange,
    pub(crate) promise: ReplySender<Result<(), ChangeError>>,
}
