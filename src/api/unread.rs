//! Limits the bytes of responses that clients have not read yet, for each owner: an address or an account.
//!
//! A response stays in memory until its client has read it. An owner whose unread responses reach the
//! limit gets no other response until it has read some. This is checked before a call is charged, so a
//! call that was paid for always gets its response.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes that a call counts for until its response is made. Most responses are smaller.
pub const PENDING_RESPONSE_BYTES: usize = 64 << 10;

/// Owners without responses are removed after the table has grown by at least this many owners.
const OWNERS_BETWEEN_SWEEPS: usize = 64;

pub struct UnreadBytes<K> {
    max: usize,
    owners: Mutex<Owners<K>>,
}

struct Owners<K> {
    known: HashMap<K, UnreadCounter>,
    /// The number of owners at which those that nothing refers to are removed.
    sweep_at: usize,
}

impl<K: Eq + Hash> UnreadBytes<K> {
    pub fn new(max: usize) -> Self {
        Self { max, owners: Mutex::new(Owners { known: HashMap::new(), sweep_at: OWNERS_BETWEEN_SWEEPS }) }
    }

    /// The count of one owner. Code that serves the same owner repeatedly keeps it.
    pub fn of(&self, owner: K) -> UnreadCounter {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.known.len() >= owners.sweep_at {
            owners.known.retain(|_, owner| owner.is_in_use());
            owners.sweep_at = 2 * owners.known.len() + OWNERS_BETWEEN_SWEEPS;
        }
        let new = || UnreadCounter(Arc::new(UnreadCount { max: self.max, bytes: AtomicUsize::new(0) }));
        owners.known.entry(owner).or_insert_with(new).clone()
    }
}

/// The unread bytes of one owner.
#[derive(Clone)]
pub struct UnreadCounter(Arc<UnreadCount>);

struct UnreadCount {
    max: usize,
    bytes: AtomicUsize,
}

impl UnreadCounter {
    /// Reserves room for one response. `None` if the owner's limit is reached.
    pub fn reserve(&self) -> Option<UnreadReservation> {
        let UnreadCount { max, bytes } = &*self.0;
        let more = |bytes: usize| (bytes < *max).then(|| bytes.saturating_add(PENDING_RESPONSE_BYTES));
        bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(UnreadReservation { owner: self.clone(), bytes: PENDING_RESPONSE_BYTES })
    }

    /// Whether anything except the table refers to it. Its shares do.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

/// The bytes that one response counts against its owner's limit, until this is dropped.
pub struct UnreadReservation {
    owner: UnreadCounter,
    bytes: usize,
}

impl fmt::Debug for UnreadReservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnreadShare({} bytes)", self.bytes)
    }
}

impl UnreadReservation {
    /// Sets the length of the response, once it is made.
    pub fn resize(&mut self, bytes: usize) {
        let all = &self.owner.0.bytes;
        match bytes.checked_sub(self.bytes) {
            Some(more) => all.fetch_add(more, Ordering::Relaxed),
            None => all.fetch_sub(self.bytes - bytes, Ordering::Relaxed),
        };
        self.bytes = bytes;
    }
}

impl Drop for UnreadReservation {
    fn drop(&mut self) {
        self.owner.0.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_at_its_limit_gets_no_room_until_it_reads_and_others_do() {
        let unread = UnreadBytes::new(2 * PENDING_RESPONSE_BYTES);
        let mut first = unread.of("a").reserve().unwrap();
        first.resize(10);
        let mut second = unread.of("a").reserve().unwrap();
        second.resize(2 * PENDING_RESPONSE_BYTES);
        assert!(unread.of("a").reserve().is_none());
        assert!(unread.of("b").reserve().is_some());
        drop(second);
        let _third = unread.of("a").reserve().unwrap();
        let _fourth = unread.of("a").reserve().unwrap();
        assert!(unread.of("a").reserve().is_none(), "responses in progress count too");
    }

    #[test]
    fn owners_without_responses_are_forgotten_and_others_keep_their_count() {
        let unread = UnreadBytes::new(1);
        let kept = unread.of(0);
        let share = unread.of(1).reserve().unwrap();
        for owner in 2..1000 {
            drop(unread.of(owner).reserve().unwrap());
        }
        assert!(unread.owners.lock().unwrap().known.len() <= OWNERS_BETWEEN_SWEEPS + 4);
        assert!(unread.of(1).reserve().is_none(), "its response is still unread");
        drop(share);
        assert!(unread.of(1).reserve().is_some());
        let _share = unread.of(0).reserve().unwrap();
        assert!(kept.reserve().is_none(), "whoever holds the count of an owner sees the same one");
    }

    #[test]
    fn bytes_are_counted_exactly_from_many_threads() {
        let unread = UnreadBytes::new(usize::MAX);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for bytes in [0, 1, PENDING_RESPONSE_BYTES, 3 * PENDING_RESPONSE_BYTES].repeat(1000) {
                        unread.of("a").reserve().unwrap().resize(bytes);
                    }
                });
            }
        });
        assert_eq!(unread.of("a").0.bytes.load(Ordering::Relaxed), 0);
    }
}
