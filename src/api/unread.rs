//! Limits the bytes of responses that clients have not read yet, by owner: an address or an account.
//!
//! A response stays in memory until its client has read it. An owner whose unread responses reach the limit gets no other
//! until it has read some. This is checked before a call is charged: a call that was paid for always gets its response.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// What a call counts until its response is made; most responses are smaller.
pub const BYTES_IN_THE_MAKING: usize = 64 << 10;

pub struct UnreadBytes<K> {
    max: usize,
    by_owner: Mutex<HashMap<K, usize>>,
}

impl<K: Copy + Eq + Hash> UnreadBytes<K> {
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, by_owner: Mutex::default() })
    }

    /// Room for one response. None if the owner's limit is reached.
    pub fn reserve(self: &Arc<Self>, owner: K) -> Option<UnreadShare<K>> {
        let mut by_owner = self.lock();
        let bytes = by_owner.entry(owner).or_default();
        if *bytes >= self.max {
            return None;
        }
        *bytes += BYTES_IN_THE_MAKING;
        Some(UnreadShare { counted: Arc::clone(self), owner, bytes: BYTES_IN_THE_MAKING })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<K, usize>> {
        self.by_owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one response counts against its owner's limit, until it is dropped.
pub struct UnreadShare<K: Copy + Eq + Hash> {
    counted: Arc<UnreadBytes<K>>,
    owner: K,
    bytes: usize,
}

impl<K: Copy + Eq + Hash> fmt::Debug for UnreadShare<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnreadShare({} bytes)", self.bytes)
    }
}

impl<K: Copy + Eq + Hash> UnreadShare<K> {
    /// The response is made, with this length.
    pub fn resize(&mut self, bytes: usize) {
        let mut by_owner = self.counted.lock();
        let all = by_owner.entry(self.owner).or_default();
        *all = *all - self.bytes + bytes;
        self.bytes = bytes;
    }
}

impl<K: Copy + Eq + Hash> Drop for UnreadShare<K> {
    fn drop(&mut self) {
        let mut by_owner = self.counted.lock();
        let left = by_owner.get(&self.owner).map_or(0, |all| all - self.bytes);
        match left {
            0 => by_owner.remove(&self.owner),
            left => by_owner.insert(self.owner, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_at_its_limit_gets_no_room_until_it_reads_and_others_do() {
        let unread = UnreadBytes::new(2 * BYTES_IN_THE_MAKING);
        let mut first = unread.reserve("a").unwrap();
        first.resize(10);
        let mut second = unread.reserve("a").unwrap();
        second.resize(2 * BYTES_IN_THE_MAKING);
        assert!(unread.reserve("a").is_none());
        assert!(unread.reserve("b").is_some());
        drop(second);
        let _third = unread.reserve("a").unwrap();
        let _fourth = unread.reserve("a").unwrap();
        assert!(unread.reserve("a").is_none(), "responses in progress count too");
    }

    #[test]
    fn owners_without_responses_are_forgotten() {
        let unread = UnreadBytes::new(1);
        let mut share = unread.reserve(1).unwrap();
        share.resize(0);
        drop(share);
        assert!(unread.lock().is_empty());
    }
}
