//! A block as differences of numbers: each word of four bytes less the word at its place in the earlier file.
//!
//! Many files of a snapshot are columns of numbers that count nodes, chunks or bytes. One more chunk raises all numbers
//! after it by one: no byte is where it was, but the differences are nearly all equal. Where rows were inserted or removed,
//! a jump moves the place in the earlier file.

/// How much two words may differ and still be taken for the same entry.
const NEAR_MAX: u32 = 12;
/// Words that are compared to judge a place, and how many of them must be near.
const COMPARED_WORDS: usize = 16;
const NEAR_WORDS_MIN: usize = 6;
/// A place with more near words than this is not left.
const GOOD_WORDS: usize = 9;
/// How far a jump reaches, in words.
const JUMP_WORDS_MAX: isize = 1500;
/// A block is given up if jumps are looked for in vain more often than once in so many words: it has no such numbers.
const WORDS_PER_VAIN_SEARCH: usize = 10;
const JUMPS_MAX: usize = 4096;
/// The most bytes of a patch before it is compressed: jumps, the words of a block, and their counts.
pub(crate) const WORD_PATCH_BYTES_MAX: usize = 8 + 4 * JUMPS_MAX + 65_536;

/// A patch, and the word of the base at which it ends.
pub(crate) struct WordPatch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: usize,
}

/// The words of an earlier file; zero outside of it.
struct Words<'b>(&'b [u8]);

impl Words<'_> {
    fn at(&self, place: isize) -> u32 {
        let start = usize::try_from(place).ok().and_then(|place| place.checked_mul(4));
        let word = start.and_then(|start| self.0.get(start..start.checked_add(4)?)?.first_chunk());
        word.map_or(0, |word| u32::from_le_bytes(*word))
    }
}

/// How many of the next words are near those of the base. Stops when there cannot be more than `wanted`.
fn near_words(words: &[u32], base: &Words<'_>, place: isize, wanted: usize) -> usize {
    let compared = words.len().min(COMPARED_WORDS);
    let mut near = 0;
    for (number, word) in words[..compared].iter().enumerate() {
        if is_near(*word, base.at(place + number as isize)) {
            near += 1;
        } else if near + (compared - number - 1) <= wanted {
            break;
        }
    }
    near
}

fn is_near(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other).cast_signed()).unsigned_abs() <= NEAR_MAX
}

/// The differences of a block, whose first whole word is after `lead` bytes, from the words of a base. `start` is the word
/// of the base where the first one is expected. None if they have too little in common.
pub(crate) fn difference(block: &[u8], lead: usize, base: &[u8], start: usize) -> Option<WordPatch> {
    let (leading, rest) = block.split_at_checked(lead)?;
    let words: Vec<u32> =
        rest.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect();
    let tail = &rest[words.len() * 4..];
    let base = Words(base);
    let mut jumps = vec![(0, i16::try_from(start).ok()?)];
    let (mut place, mut jumped_at, mut vain) = (start as isize, 0, 0);
    let mut differences = Vec::with_capacity(words.len());
    for number in 0..words.len() {
        let ahead = &words[number..];
        if number % 4 == 0 && !is_near(ahead[0], base.at(place)) {
            match better_place(ahead, &base, place) {
                Some(better) => {
                    let step = i16::try_from(better - place).expect("a jump is short");
                    jumps.push((u16::try_from(number - jumped_at).ok()?, step));
                    (place, jumped_at) = (better, number);
                }
                None => vain += 1,
            }
            if vain > 32 + number / WORDS_PER_VAIN_SEARCH || jumps.len() > JUMPS_MAX {
                return None;
            }
        }
        differences.push(ahead[0].wrapping_sub(base.at(place)));
        place += 1;
    }
    let mut bytes = vec![lead as u8];
    bytes.extend((jumps.len() as u16).to_le_bytes());
    for (words_before, step) in jumps {
        bytes.extend(words_before.to_le_bytes());
        bytes.extend(step.to_le_bytes());
    }
    bytes.extend(leading);
    bytes.extend(tail);
    // The first bytes of all differences, then the second ones: the last two are nearly always zero.
    for plane in 0..4 {
        bytes.extend(differences.iter().map(|difference| difference.to_le_bytes()[plane]));
    }
    Some(WordPatch { bytes, end: usize::try_from(place).ok()? })
}

/// A place nearby whose words are nearer than those at `place`, unless those are near enough. The closest of equal ones.
fn better_place(words: &[u32], base: &Words<'_>, place: isize) -> Option<isize> {
    let here = near_words(words, base, place, 0);
    if here >= GOOD_WORDS {
        return None;
    }
    let mut best = (NEAR_WORDS_MIN.max(here + 3), None);
    for step in 1..=JUMP_WORDS_MAX {
        for there in [place + step, place - step] {
            let near = near_words(words, base, there, best.0);
            if near > best.0 {
                best = (near, Some(there));
            }
        }
    }
    best.1
}

/// The block of this length that a patch describes. None if it describes none.
pub(crate) fn apply(patch: &[u8], base: &[u8], length: usize) -> Option<Vec<u8>> {
    let (head, rest) = patch.split_first_chunk::<3>()?;
    let lead = usize::from(head[0]);
    let jump_count = usize::from(u16::from_le_bytes([head[1], head[2]]));
    let (jumps, rest) = rest.split_at_checked(jump_count * 4)?;
    let words = length.checked_sub(lead)? / 4;
    let (leading, rest) = rest.split_at_checked(lead)?;
    let (tail, planes) = rest.split_at_checked(length - lead - words * 4)?;
    if planes.len() != words * 4 {
        return None;
    }
    let base = Words(base);
    let mut jumps = jumps.chunks_exact(4).map(|jump| {
        let words_before = usize::from(u16::from_le_bytes([jump[0], jump[1]]));
        (words_before, isize::from(i16::from_le_bytes([jump[2], jump[3]])))
    });
    let (mut place, mut next) = (0, jumps.next());
    let mut since_jump = 0;
    let mut block = leading.to_vec();
    for number in 0..words {
        // The place where the first word is expected is a jump too, so there can be two before one word.
        while let Some((words_before, step)) = next
            && since_jump == words_before
        {
            place += step;
            since_jump = 0;
            next = jumps.next();
        }
        let difference = u32::from_le_bytes([0, 1, 2, 3].map(|plane| planes[plane * words + number]));
        block.extend(base.at(place).wrapping_add(difference).to_le_bytes());
        place += 1;
        since_jump += 1;
    }
    block.extend(tail);
    Some(block)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_column_whose_numbers_all_grew_by_one_has_equal_differences() {
        let old: Vec<u32> = (0..4000).map(|number| number * 977 % 50_000).collect();
        let mut new: Vec<u32> = old.iter().map(|number| number + 1).collect();
        new.splice(1000..1000, [77_777; 20]);
        new.drain(3000..3100);
        let (old, new) = (bytes(&old), bytes(&new));
        let patch = difference(&new, 0, &old, 0).unwrap();
        assert_eq!(apply(&patch.bytes, &old, new.len()).unwrap(), new);
        assert_eq!(patch.end, 4000);
        let compressed = zstd::bulk::compress(&patch.bytes, 3).unwrap();
        assert!(compressed.len() < 400, "{}", compressed.len());
    }

    #[test]
    fn a_jump_can_follow_the_expected_place_before_any_word() {
        let old = bytes(&(0..300).map(|number| number * 1000).collect::<Vec<u32>>());
        let new = old[400..800].to_vec();
        let patch = difference(&new, 0, &old, 20).unwrap();
        assert_eq!(patch.end, 200);
        assert_eq!(apply(&patch.bytes, &old, new.len()).unwrap(), new);
    }

    #[test]
    fn patches_that_describe_no_block_are_refused() {
        let old = bytes(&(0..100).collect::<Vec<u32>>());
        let patch = difference(&old, 0, &old, 0).unwrap().bytes;
        for length in 0..patch.len() {
            assert_eq!(apply(&patch[..length], &old, old.len()), None);
        }
        for length in [0, 399, 404] {
            assert_eq!(apply(&patch, &old, length), None);
        }
        // Jumps far outside of the base give zeros.
        let mut far = patch;
        far[5..7].copy_from_slice(&i16::MIN.to_le_bytes());
        assert!(apply(&far, &old, old.len()).is_some());
    }

    proptest! {
        #[test]
        fn applying_a_difference_gives_the_block(
            old in prop::collection::vec(0_u32..60, 0..600),
            new in prop::collection::vec(0_u32..60, 0..600),
            lead in 0_usize..4,
            start in 0_usize..700,
            cut in 0_usize..4,
        ) {
            let (old, mut new) = (bytes(&old), bytes(&new));
            new.truncate(new.len().saturating_sub(cut));
            if let Some(patch) = difference(&new, lead, &old, start) {
                prop_assert!(patch.bytes.len() <= WORD_PATCH_BYTES_MAX);
                prop_assert_eq!(apply(&patch.bytes, &old, new.len()), Some(new));
            }
        }

        #[test]
        fn any_patch_is_applied_or_refused(
            patch in prop::collection::vec(any::<u8>(), 0..300),
            old in prop::collection::vec(any::<u8>(), 0..300),
            length in 0_usize..300,
        ) {
            if let Some(block) = apply(&patch, &old, length) {
                prop_assert_eq!(block.len(), length);
            }
        }
    }
}
