//! A block as the numbers that are packed in it, compressed against the numbers of the earlier file.
//!
//! The positions of a word are packed bit by bit in groups of 128. One more occurrence moves all later numbers of the word
//! by one, so that no byte of its later groups is where it was. As plain numbers, nearly all of them are where they were.

use std::io;

use crate::bytes::{ByteReader, ByteWriter};

const GROUP_NUMBERS: usize = 128;
const LANES: usize = 4;
const WIDTH_MAX: u8 = 32;
/// The most bytes of the two layouts of a patch, before they are compressed: that of the longest part of an earlier file.
const LAYOUT_BYTES_MAX: usize = 1 << 18;
/// A group of this many bytes becomes at most eight times as many: 128 numbers of one bit.
const PLAIN_GROWTH_MAX: usize = 8;
/// The smallest entry of a layout.
const RUN_BYTES_MIN: usize = 6;

/// Which bytes of a piece of a file are groups of packed numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupLayout {
    pub(crate) runs: Vec<GroupRun>,
}

/// Groups that follow each other. What follows the last run are bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupRun {
    /// Bytes before the first group.
    pub(crate) bytes_before: u32,
    /// Bits of each number, for each group.
    pub(crate) widths: Vec<u8>,
}

pub(crate) fn group_bytes(width: u8) -> usize {
    usize::from(width) * GROUP_NUMBERS / 8
}

impl GroupLayout {
    /// The counts of a layout, and the widths if they are needed.
    fn write(&self, out: &mut ByteWriter, with_widths: bool) {
        out.u32(self.runs.len() as u32);
        for run in &self.runs {
            out.u32(run.bytes_before);
            out.bytes(&(run.widths.len() as u16).to_le_bytes());
            if with_widths {
                out.bytes(&run.widths);
            }
        }
    }

    /// Reads a layout. Without widths, all of them are zero.
    fn read(reader: &mut ByteReader<'_>, with_widths: bool) -> Result<Self, String> {
        let count = reader.u32()?;
        let mut runs = reader.reserve(count, RUN_BYTES_MIN)?;
        for _ in 0..count {
            let bytes_before = reader.u32()?;
            let groups = usize::from(u16::from_le_bytes([reader.u8()?, reader.u8()?]));
            let widths = if with_widths { reader.take(groups)?.to_vec() } else { vec![0; groups] };
            runs.push(GroupRun { bytes_before, widths });
        }
        Ok(Self { runs })
    }
}

/// The patch that makes a block from a part of an earlier file.
pub(crate) fn difference(
    block: &[u8],
    layout: &GroupLayout,
    base: &[u8],
    base_layout: &GroupLayout,
    level: i32,
) -> io::Result<Option<Vec<u8>>> {
    let mut layouts = ByteWriter::default();
    base_layout.write(&mut layouts, true);
    layout.write(&mut layouts, false);
    let layouts = layouts.finish();
    let (Some(numbers), Some(base_numbers)) = (plain(block, layout), plain(base, base_layout)) else { return Ok(None) };
    if layouts.len() > LAYOUT_BYTES_MAX || numbers.len() > block.len() * PLAIN_GROWTH_MAX {
        return Ok(None);
    }
    let layouts = zstd::bulk::compress(&layouts, level)?;
    let numbers = zstd::bulk::Compressor::with_dictionary(level, &base_numbers)?.compress(&numbers)?;
    let mut out = ByteWriter::default();
    out.u32(layouts.len() as u32);
    out.bytes(&layouts);
    out.bytes(&numbers);
    Ok(Some(out.finish()))
}

/// The block of this length that a patch describes. None if it describes none.
pub(crate) fn apply(patch: &[u8], base: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut reader = ByteReader::new(patch);
    let layout_bytes = reader.u32().ok()? as usize;
    let layouts = zstd::bulk::decompress(reader.take(layout_bytes).ok()?, LAYOUT_BYTES_MAX).ok()?;
    let numbers = reader.take(reader.remaining()).ok()?;
    let mut reader = ByteReader::new(&layouts);
    let base_layout = GroupLayout::read(&mut reader, true).ok()?;
    let layout = GroupLayout::read(&mut reader, false).ok()?;
    let base_numbers = plain(base, &base_layout)?;
    let mut decompressor = zstd::bulk::Decompressor::with_dictionary(&base_numbers).ok()?;
    packed(&decompressor.decompress(numbers, length * PLAIN_GROWTH_MAX).ok()?, &layout, length)
}

/// The bytes of a piece with each packed number as one to five bytes of seven bits. None if the layout is another one.
fn plain(bytes: &[u8], layout: &GroupLayout) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    let mut rest = bytes;
    for run in &layout.runs {
        let (before, groups) = rest.split_at_checked(run.bytes_before as usize)?;
        out.extend(before);
        rest = groups;
        for width in &run.widths {
            let (group, after) = rest.split_at_checked(group_bytes(*width))?;
            for number in unpacked_group(group, *width)? {
                push_number(&mut out, number);
            }
            rest = after;
        }
    }
    out.extend(rest);
    Some(out)
}

/// The bytes whose plain form this is. Each group is packed in as few bits as its numbers need.
fn packed(plain: &[u8], layout: &GroupLayout, length: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(length);
    let mut rest = plain;
    for run in &layout.runs {
        let (before, groups) = rest.split_at_checked(run.bytes_before as usize)?;
        out.extend(before);
        rest = groups;
        for _ in &run.widths {
            let mut numbers = [0; GROUP_NUMBERS];
            for number in &mut numbers {
                *number = take_number(&mut rest)?;
            }
            push_group(&mut out, &numbers);
            // A hostile patch stops here, before it needs memory.
            if out.len() > length {
                return None;
            }
        }
    }
    out.extend(rest);
    (out.len() == length).then_some(out)
}

fn push_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The numbers of a group. They are dealt to four lanes in turn; a lane is a row of bits from its lowest one on, and each
/// fourth word of the group belongs to it.
fn unpacked_group(group: &[u8], width: u8) -> Option<[u32; GROUP_NUMBERS]> {
    if !(1..=WIDTH_MAX).contains(&width) {
        return None;
    }
    let word = |number: usize| group[4 * number..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let mask = (1_u64 << width) - 1;
    let mut numbers = [0; GROUP_NUMBERS];
    for (place, number) in numbers.iter_mut().enumerate() {
        let (lane, bit) = (place % LANES, place / LANES * usize::from(width));
        let low = u64::from(word(bit / 32 * LANES + lane));
        // The last number may end in the last word.
        let next = (bit / 32 + 1) * LANES + lane;
        let high = if 4 * next < group.len() { u64::from(word(next)) } else { 0 };
        *number = ((low | high << 32) >> (bit % 32) & mask) as u32;
    }
    Some(numbers)
}

fn push_group(out: &mut Vec<u8>, numbers: &[u32; GROUP_NUMBERS]) {
    let width = 32 - numbers.iter().fold(0, |all, number| all | number).leading_zeros() as usize;
    let mut words = [0_u32; GROUP_NUMBERS];
    for (place, number) in numbers.iter().enumerate() {
        let (lane, bit) = (place % LANES, place / LANES * width);
        let shifted = u64::from(*number) << (bit % 32);
        words[bit / 32 * LANES + lane] |= shifted as u32;
        if shifted >> 32 != 0 {
            words[(bit / 32 + 1) * LANES + lane] |= (shifted >> 32) as u32;
        }
    }
    out.extend(words[..LANES * width].iter().flat_map(|word| word.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use hornbook_base::random::SplitMix64;
    use proptest::prelude::*;

    use super::*;

    const LEVEL: i32 = 3;

    /// Groups of these numbers with the bytes `ab` before them and `xyz` after them.
    fn piece(numbers: &[u32]) -> (Vec<u8>, GroupLayout) {
        let mut bytes = b"ab".to_vec();
        let mut widths = Vec::new();
        for group in numbers.chunks_exact(GROUP_NUMBERS) {
            let before = bytes.len();
            push_group(&mut bytes, group.try_into().unwrap());
            widths.push(((bytes.len() - before) / 16) as u8);
        }
        bytes.extend(b"xyz");
        // Groups of zeros have no bytes.
        widths.retain(|width| *width > 0);
        (bytes, GroupLayout { runs: vec![GroupRun { bytes_before: 2, widths }] })
    }

    #[test]
    fn a_group_is_packed_as_the_library_of_the_index_packs_it() {
        use bitpacking::{BitPacker, BitPacker4x};
        for bits in 1..=32 {
            let numbers: Vec<u32> =
                (0..128_u32).map(|number| number.wrapping_mul(2_654_435_769) >> (32 - bits)).collect();
            let packer = BitPacker4x::new();
            let width = packer.num_bits(&numbers);
            let mut expected = vec![0; 512];
            let length = packer.compress(&numbers, &mut expected, width);
            let mut found = Vec::new();
            push_group(&mut found, numbers.as_slice().try_into().unwrap());
            assert_eq!(found, expected[..length], "{bits}");
            assert_eq!(unpacked_group(&found, width).unwrap()[..], numbers);
        }
    }

    #[test]
    fn one_more_number_near_the_start_costs_little() {
        let mut random = SplitMix64(1);
        let old: Vec<u32> = std::iter::repeat_with(|| random.below(32) as u32).take(12_800).collect();
        let mut new = old.clone();
        new.insert(50, 3);
        new.truncate(old.len());
        let ((old, old_layout), (new, new_layout)) = (piece(&old), piece(&new));
        let patch = difference(&new, &new_layout, &old, &old_layout, 19).unwrap().unwrap();
        assert_eq!(apply(&patch, &old, new.len()), Some(new.clone()));
        assert!(patch.len() < 200 && zstd::bulk::compress(&new, 19).unwrap().len() > 7000, "{}", patch.len());
    }

    #[test]
    fn patches_that_describe_no_block_are_refused() {
        let (old, layout) = piece(&(0..256).collect::<Vec<u32>>());
        let patch = difference(&old, &layout, &old, &layout, LEVEL).unwrap().unwrap();
        assert_eq!(apply(&patch, &old, old.len()), Some(old.clone()));
        for length in 0..patch.len() {
            assert_eq!(apply(&patch[..length], &old, old.len()), None);
        }
        for length in [0, old.len() - 1, old.len() + 1] {
            assert_eq!(apply(&patch, &old, length), None);
        }
        assert_eq!(apply(&patch, &old[..40], old.len()), None);
        for width in [0, 33, 255] {
            let other = GroupLayout { runs: vec![GroupRun { bytes_before: 0, widths: vec![width] }] };
            assert_eq!(plain(&old, &other), None);
        }
    }

    proptest! {
        #[test]
        fn applying_a_difference_gives_the_block(
            old in prop::collection::vec(any::<u32>(), 0..600),
            new in prop::collection::vec(0_u32..3000, 0..600),
        ) {
            let ((old, old_layout), (new, new_layout)) = (piece(&old), piece(&new));
            let patch = difference(&new, &new_layout, &old, &old_layout, LEVEL).unwrap().unwrap();
            prop_assert_eq!(apply(&patch, &old, new.len()), Some(new));
        }

        #[test]
        fn any_patch_is_applied_or_refused(
            layouts in prop::collection::vec(any::<u8>(), 0..60),
            numbers in prop::collection::vec(any::<u8>(), 0..300),
            base in prop::collection::vec(any::<u8>(), 0..300),
            length in 0_usize..300,
        ) {
            let layouts = zstd::bulk::compress(&layouts, LEVEL).unwrap();
            let numbers = zstd::bulk::compress(&numbers, LEVEL).unwrap();
            let patch = [&(layouts.len() as u32).to_le_bytes(), &layouts[..], &numbers[..]].concat();
            if let Some(block) = apply(&patch, &base, length) {
                prop_assert_eq!(block.len(), length);
            }
        }
    }
}
