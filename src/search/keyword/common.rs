//! Common terms, held in memory once they are asked for again: which documents have them, and what they count there.
//!
//! The lists of a common term are long, and what is read of them for one query is read for the next one too. Held, a term
//! takes a bit for each document and four bytes for each that has it.

use std::io;
use std::sync::Arc;

use crate::byte_cache::{ByteCache, ByteSize};
use crate::search::bits::each_bit;
use crate::search::postings::Cursor;

/// A term is common if one in so many documents has it.
const COMMON_IN_ONE_OF: u32 = 32;

/// All common terms together take at most 320 bytes for each document of the corpus: some 400 of them fit. The common terms of
/// 200 everyday questions take 146.
const BYTES_PER_DOCUMENT: usize = 320;

/// And at most 112 MiB, whatever the corpus. A corpus of 367,000 documents reaches it.
const BYTES_MAX: usize = 112 << 20;

/// In one of so many documents that have it, a term counts much.
const MUCH_IN_ONE_OF: usize = 16;

/// How much that is, so many documents show.
const SAMPLED: usize = 4096;

/// So many documents at a time are added up. A multiple of 64.
const STRETCH: u32 = 1 << 14;

/// One of them.
pub(super) struct CommonTerm {
    /// A bit for each document.
    has: Box<[u64]>,
    /// How many documents have it before each group of 64.
    before: Box<[u32]>,
    /// What it counts in those that have it, over all fields.
    worths: Box<[f32]>,
    /// Those documents in which it counts more than in nearly all others, a bit each.
    much: Box<[u64]>,
    /// The most that it counts in the others, and in any.
    pub(super) most_elsewhere: f32,
    pub(super) most: f32,
}

impl CommonTerm {
    /// Reads its lists in all fields through.
    pub(super) fn read(mut cursors: Vec<Cursor<'_>>, document_count: u32) -> Self {
        let groups = document_count.div_ceil(64) as usize;
        let (mut has, mut before) = (vec![0_u64; groups], Vec::with_capacity(groups));
        let mut worths = Vec::new();
        let mut stretch = vec![0.0_f32; STRETCH as usize];
        for start in (0..document_count).step_by(STRETCH as usize) {
            let end = document_count.min(start + STRETCH);
            for cursor in &mut cursors {
                cursor.each_until(end, |doc, worth| {
                    // A damaged list is out of order.
                    let sum = doc.checked_sub(start).and_then(|place| stretch.get_mut(place as usize));
                    if let (Some(docs), Some(sum)) = (has.get_mut(doc as usize / 64), sum) {
                        *docs |= 1 << (doc % 64);
                        *sum += worth;
                    }
                });
            }
            for (group, &docs) in has[start as usize / 64..end.div_ceil(64) as usize].iter().enumerate() {
                before.push(worths.len() as u32);
                each_bit(docs, |bit| worths.push(std::mem::take(&mut stretch[group * 64 + bit as usize])));
            }
        }
        let (much, most_elsewhere, most) = much_of(&has, &worths);
        Self { has: has.into(), before: before.into(), worths: worths.into(), much, most_elsewhere, most }
    }

    /// Those documents from a group of 64 on in which it counts more than [`Self::most_elsewhere`], a bit each.
    pub(super) fn documents_with_much(&self, group: usize) -> &[u64] {
        self.much.get(group..).unwrap_or_default()
    }

    /// The documents that have it from a group of 64 on, a bit each.
    pub(super) fn documents(&self, group: usize) -> &[u64] {
        self.has.get(group..).unwrap_or_default()
    }

    /// The first document at or after one that has it.
    pub(super) fn next(&self, from: u32) -> Option<u32> {
        let group = from as usize / 64;
        let first = self.has.get(group)? & (!0 << (from % 64));
        let rest = self.has[group + 1..].iter().copied();
        let mut groups = (group..).zip(std::iter::once(first).chain(rest));
        groups.find(|&(_, docs)| docs != 0).map(|(group, docs)| group as u32 * 64 + docs.trailing_zeros())
    }

    /// Hands over the places of those of some documents that have it, with what it counts there. `room` is room to work in.
    #[inline]
    pub(super) fn each_of(&self, docs: &[u32], room: &mut Vec<(u32, u32)>, mut sink: impl FnMut(usize, f32)) {
        room.resize(room.len().max(docs.len()), (0, 0));
        // Without a branch on what nobody could foresee, so that the memory is asked for many at a time.
        let mut count = 0;
        for (own, &doc) in (0..).zip(docs) {
            let (group, bit) = (doc as usize / 64, doc % 64);
            let (Some(has), Some(before)) = (self.has.get(group), self.before.get(group)) else { break };
            room[count] = (own, before + (has & ((1 << bit) - 1)).count_ones());
            count += (has >> bit & 1) as usize;
        }
        for &(own, place) in &room[..count] {
            sink(own as usize, self.worths[place as usize]);
        }
    }
}

/// About one document in [`MUCH_IN_ONE_OF`] of those that have a term, where it counts most; the most that it counts in the
/// others, and in any.
fn much_of(has: &[u64], worths: &[f32]) -> (Box<[u64]>, f32, f32) {
    let mut sampled: Vec<f32> = worths.iter().step_by(worths.len().div_ceil(SAMPLED).max(1)).copied().collect();
    let place = sampled.len().saturating_sub(1 + sampled.len() / MUCH_IN_ONE_OF);
    let bar = if sampled.is_empty() { 0.0 } else { *sampled.select_nth_unstable_by(place, f32::total_cmp).1 };
    let mut rest = worths;
    let of_group = |&docs: &u64| {
        let (own, others) = rest.split_at(docs.count_ones() as usize);
        rest = others;
        let mut own = own.iter();
        let mut much = 0;
        each_bit(docs, |bit| much |= u64::from(own.next().is_some_and(|&worth| worth > bar)) << bit);
        much
    };
    let much = has.iter().map(of_group).collect();
    (much, bar, worths.iter().copied().fold(0.0, f32::max))
}

/// A term that was asked for: once, or more often.
#[derive(Clone)]
enum Asked {
    Once,
    Again(Arc<CommonTerm>),
}

impl ByteSize for Asked {
    fn byte_size(&self) -> usize {
        match self {
            Self::Once => 0,
            Self::Again(term) => 2 * size_of_val(&*term.has) + size_of_val(&*term.before) + size_of_val(&*term.worths),
        }
    }
}

/// The common terms that were asked for lately.
pub(super) struct CommonTerms {
    document_count: u32,
    held: ByteCache<u64, Asked>,
}

impl CommonTerms {
    pub(super) fn new(document_count: u32) -> Self {
        let bytes_max = BYTES_MAX.min(document_count as usize * BYTES_PER_DOCUMENT);
        // The cache has two generations.
        Self { document_count, held: ByteCache::new(bytes_max / 2) }
    }

    /// Forgets the terms that are held, and holds no more.
    pub(super) fn close(&self) {
        self.held.close();
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.held.entries()
    }

    /// A term that so many documents have, for a search among so many: if it is held, or if it is worth to be, where all
    /// documents are searched, and not for the first time.
    pub(super) fn get<'a>(
        &self,
        key: u64,
        documents: u32,
        searched: u32,
        lists: impl FnOnce() -> io::Result<Vec<Cursor<'a>>>,
    ) -> io::Result<Option<Arc<CommonTerm>>> {
        if documents < self.document_count.div_ceil(COMMON_IN_ONE_OF) {
            return Ok(None);
        }
        match self.held.get(&key) {
            Some(Asked::Again(term)) => Ok(Some(term)),
            _ if searched < self.document_count / 2 => Ok(None),
            None => {
                self.held.put(key, Asked::Once);
                Ok(None)
            }
            Some(Asked::Once) => {
                let read = Arc::new(CommonTerm::read(lists()?, self.document_count));
                self.held.put(key, Asked::Again(Arc::clone(&read)));
                Ok(Some(read))
            }
        }
    }
}
