//! What this server's journal shares with calls and with the ledger's writer.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::record::ServerId;
use crate::directory::lock;
use crate::ids::AccountId;
use crate::job::Post;
use crate::queue::WriterQueue;
use crate::settings::Durability;

/// The calls on their way through the journal, and what is known of the ledger and of other servers.
pub(crate) struct Journal {
    pub(crate) server: ServerId,
    /// Debits that leases cover, and their refunds.
    pub(crate) queue: WriterQueue,
    /// The calls that are in the file and not yet with the ledger's writer.
    pub(super) written: Mutex<Vec<Post>>,
    /// The number of the last call that is in the ledger.
    pub(super) reported: AtomicU64,
    /// The number of the last call that was written.
    pub(super) last: AtomicU64,
    /// When the ledger was last reached.
    reached: Mutex<Instant>,
    pub(crate) overtaken: AtomicU64,
    pub(super) borne: AtomicU64,
    /// The number of servers that share the ledger, once it is known.
    pub(super) servers: AtomicU32,
    /// Whether this is the first of them.
    pub(super) leads: AtomicBool,
    /// Accounts whose credits are needed and leased by other servers.
    wanted: Mutex<BTreeSet<AccountId>>,
}

impl Journal {
    pub(crate) fn new(server: ServerId, durability: Durability) -> Self {
        Self {
            server,
            queue: WriterQueue::new(durability, None),
            written: Mutex::default(),
            reported: AtomicU64::new(0),
            last: AtomicU64::new(0),
            reached: Mutex::new(Instant::now()),
            overtaken: AtomicU64::new(0),
            borne: AtomicU64::new(0),
            servers: AtomicU32::new(u32::MAX),
            leads: AtomicBool::new(false),
            wanted: Mutex::default(),
        }
    }

    /// How many calls of a key may wait to be reported, so that the limits of all servers together are exceeded by
    /// at most a tenth.
    pub(crate) fn unreported_max(&self, calls_per_minute: u32) -> u32 {
        calls_per_minute / 10 / self.servers.load(Ordering::Relaxed).max(1)
    }

    /// Calls that are written and not in the ledger yet.
    pub(super) fn unreported(&self) -> u64 {
        self.last.load(Ordering::Relaxed).saturating_sub(self.reported.load(Ordering::Relaxed))
    }

    pub(crate) fn ledger_is_reached(&self) {
        *lock(&self.reached) = Instant::now();
    }

    pub(super) fn not_reached(&self) -> Duration {
        lock(&self.reached).elapsed()
    }

    /// Asks the other servers to return what they leased of an account.
    pub(crate) fn recall(&self, account: AccountId) {
        lock(&self.wanted).insert(account);
    }

    pub(super) fn has_wanted(&self) -> bool {
        !lock(&self.wanted).is_empty()
    }

    pub(super) fn take_wanted(&self) -> BTreeSet<AccountId> {
        std::mem::take(&mut *lock(&self.wanted))
    }

    pub(super) fn take_written(&self) -> Vec<Post> {
        std::mem::take(&mut *lock(&self.written))
    }
}
