//! Cache of common terms: which documents contain them, and their weighted term frequencies.
//!
//! The posting lists of a common term are long, and consecutive queries read the same parts. A term
//! is cached when it is requested for the second time. It takes 2.5 bits for each document of the
//! corpus and 4 bytes for each document that contains it.

use std::io;
use std::sync::Arc;

use hornbook_base::byte_cache::{ByteCache, ByteSize};

use crate::bitmap::each_bit;
use crate::postings::Cursor;

/// A term is common if at least one in this many documents contains it.
const COMMON_IN_ONE_OF: u32 = 32;

/// Maximum size of the cache in bytes, per document of the corpus. About 400 terms fit. The common
/// terms of 200 everyday questions take 146 bytes per document.
const BYTES_PER_DOCUMENT: usize = 320;

/// Maximum size of the cache in bytes. A corpus of 367,000 documents reaches it.
const BYTES_MAX: usize = 112 << 20;

/// A term has a high frequency in about one in this many of the documents that contain it.
const HIGH_FREQUENCY_IN_ONE_OF: usize = 16;

/// The high-frequency limit is estimated from a sample of at most this many documents.
const SAMPLED: usize = 4096;

/// Documents per batch when the term frequencies of all fields are summed. A multiple of 64.
const DOCUMENTS_PER_BATCH: u32 = 1 << 14;

/// A common term, summed over all fields.
pub(super) struct CommonTerm {
    /// Bitmap of the documents that contain it.
    has: Box<[u64]>,
    /// For each group of 64 documents: how many documents before the group contain it.
    before: Box<[u32]>,
    /// The weighted term frequency in each document that contains it.
    worths: Box<[f32]>,
    /// Bitmap of the documents in which its weighted term frequency is above
    /// [`Self::most_elsewhere`].
    high_frequency: Box<[u64]>,
    /// The highest weighted term frequency outside the `high_frequency` bitmap, and the highest of all.
    pub(super) most_elsewhere: f32,
    pub(super) most: f32,
}

impl CommonTerm {
    /// Reads its posting lists in all fields.
    pub(super) fn read(mut cursors: Vec<Cursor<'_>>, document_count: u32) -> Self {
        let groups = document_count.div_ceil(64) as usize;
        let (mut has, mut before) = (vec![0_u64; groups], Vec::with_capacity(groups));
        let mut worths = Vec::new();
        let mut stretch = vec![0.0_f32; DOCUMENTS_PER_BATCH as usize];
        for start in (0..document_count).step_by(DOCUMENTS_PER_BATCH as usize) {
            let end = document_count.min(start + DOCUMENTS_PER_BATCH);
            for cursor in &mut cursors {
                cursor.each_until(end, |doc, worth| {
                    // A damaged list may be out of order.
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
        let (much, most_elsewhere, most) = high_frequency_of(&has, &worths);
        Self {
            has: has.into(),
            before: before.into(),
            worths: worths.into(),
            high_frequency: much,
            most_elsewhere,
            most,
        }
    }

    /// The high-frequency bitmap, from a group of 64 documents on.
    pub(super) fn high_frequency_bitmap(&self, group: usize) -> &[u64] {
        self.high_frequency.get(group..).unwrap_or_default()
    }

    /// Bitmap of the documents that contain it, from a group of 64 documents on.
    pub(super) fn documents(&self, group: usize) -> &[u64] {
        self.has.get(group..).unwrap_or_default()
    }

    /// The first document at or after `from` that contains it.
    pub(super) fn next(&self, from: u32) -> Option<u32> {
        let group = from as usize / 64;
        let first = self.has.get(group)? & (!0 << (from % 64));
        let rest = self.has[group + 1..].iter().copied();
        let mut groups = (group..).zip(std::iter::once(first).chain(rest));
        groups.find(|&(_, docs)| docs != 0).map(|(group, docs)| group as u32 * 64 + docs.trailing_zeros())
    }

    /// Calls `sink` for each of `docs` that contains the term, with its index in `docs` and the
    /// weighted term frequency. `room` is a scratch buffer.
    #[inline]
    pub(super) fn look_up_each(&self, docs: &[u32], room: &mut Vec<(u32, u32)>, mut sink: impl FnMut(usize, f32)) {
        room.resize(room.len().max(docs.len()), (0, 0));
        // Without an unpredictable branch, so that many memory accesses run at the same time.
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

/// The bitmap of the about one in [`HIGH_FREQUENCY_IN_ONE_OF`] documents where the term is most frequent, the
/// highest weighted term frequency outside this bitmap, and the highest of all.
fn high_frequency_of(has: &[u64], worths: &[f32]) -> (Box<[u64]>, f32, f32) {
    let mut sampled: Vec<f32> = worths.iter().step_by(worths.len().div_ceil(SAMPLED).max(1)).copied().collect();
    let place = sampled.len().saturating_sub(1 + sampled.len() / HIGH_FREQUENCY_IN_ONE_OF);
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

/// Whether a term was requested once or several times. From the second request on it is cached.
#[derive(Clone)]
pub(super) enum RequestedTerm {
    Once,
    Again(Arc<CommonTerm>),
}

impl ByteSize for RequestedTerm {
    fn byte_size(&self) -> usize {
        match self {
            Self::Once => 0,
            Self::Again(term) => 2 * size_of_val(&*term.has) + size_of_val(&*term.before) + size_of_val(&*term.worths),
        }
    }
}

/// The recently requested common terms.
pub(super) struct CommonTermCache {
    document_count: u32,
    pub(super) held: ByteCache<u64, RequestedTerm>,
}

impl CommonTermCache {
    pub(super) fn new(document_count: u32) -> Self {
        Self { document_count, held: ByteCache::for_documents(document_count, BYTES_PER_DOCUMENT, BYTES_MAX) }
    }

    /// Returns a term from the cache, or reads and caches it on its second request. `documents` is
    /// the document frequency of the term and `searched` the number of documents to search.
    /// Requests count only if at least half of all documents are searched. `None` if the term is
    /// rare or not cached.
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
            Some(RequestedTerm::Again(term)) => Ok(Some(term)),
            _ if searched < self.document_count / 2 => Ok(None),
            None => {
                self.held.put(key, RequestedTerm::Once);
                Ok(None)
            }
            Some(RequestedTerm::Once) => {
                let read = Arc::new(CommonTerm::read(lists()?, self.document_count));
                self.held.put(key, RequestedTerm::Again(Arc::clone(&read)));
                Ok(Some(read))
            }
        }
    }
}
