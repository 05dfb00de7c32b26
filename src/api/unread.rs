//! Answers that their clients have not read yet: how many bytes of them lie in memory, by owner, and how many may.
//!
//! An answer is kept until its client has taken all of it, and a client that takes it slowly, or not at all, keeps it
//! long. So no owner, an address or an account, gets another answer while the ones before take up all its room. Asked
//! before a call is charged: what was paid for is always answered.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// What a call counts until its answer is made: most are smaller.
pub const BYTES_IN_THE_MAKING: usize = 64 << 10;

pub struct UnreadBytes<K> {
    max: usize,
    by_owner: Mutex<HashMap<K, usize>>,
}

impl<K: Copy + Eq + Hash> UnreadBytes<K> {
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, by_owner: Mutex::default() })
    }

    /// Room for an answer in the making. None while the owner's room is used up.
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

/// What one answer takes of its owner's room, given back when dropped.
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
    /// The answer is made, and this long.
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
    fn an_owner_gets_no_more_room_until_answers_are_read_and_others_do() {
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
        assert!(unread.reserve("a").is_none(), "answers in the making count too");
    }

    #[test]
    fn owners_without_answers_are_forgotten() {
        let unread = UnreadBytes::new(1);
        let mut share = unread.reserve(1).unwrap();
        share.resize(0);
        drop(share);
        assert!(unread.lock().is_empty());
    }
}
