//! Damages one file of a snapshot, controlled by the fuzz input, and makes the manifest and the
//! checksums agree with it. A malicious distributor of snapshots can do the same, because opening a
//! snapshot compares sizes and does not hash its files again.

use std::fs;
use std::path::Path;

use hornbook_corpus::manifest::{FILE_NAME, HASH_FILE_NAME, Manifest};

/// The page size of redb.
const PAGE: usize = 4096;
const CHANGE_BYTES: usize = 6;

/// Values that are likely to break counts, lengths and offsets.
const BOUNDARY_NUMBERS: [u64; 10] =
    [0, 1, 2, 127, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, u64::MAX, 0x8000_0000_0000_0000];

/// Values of the same kind in JSON, some of which are not numbers.
const BOUNDARY_JSON_VALUES: [&str; 12] =
    ["0", "-1", "1", "255", "65536", "4294967295", "18446744073709551615", "1e308", "0.5", "null", "[]", "\"\""];

/// Changes the bytes of a file. The first byte of `how` decides whether the header's checksum is
/// repaired. Every six of the other bytes describe one change.
pub(crate) fn damage(bytes: &mut Vec<u8>, how: &[u8]) {
    let Some((&flags, changes)) = how.split_first() else { return };
    for change in changes.chunks_exact(CHANGE_BYTES) {
        if !bytes.is_empty() {
            apply(bytes, change[0], u32::from_le_bytes([change[1], change[2], change[3], change[4]]), change[5]);
        }
    }
    if flags % 4 != 0 {
        repair_header(bytes);
    }
}

fn apply(bytes: &mut Vec<u8>, what: u8, place: u32, value: u8) {
    // The start and the end of a file are short but important, so a quarter of the changes each go to them.
    let len = bytes.len();
    let place = match what / 16 % 4 {
        0 => place as usize % len.min(512),
        1 => len - 1 - place as usize % len.min(256),
        _ => place as usize % len,
    };
    match what % 8 {
        0 => bytes[place] = value,
        1 => bytes[place] ^= 1 << (value % 8),
        2 => put(
            bytes,
            place - place % 4,
            &(BOUNDARY_NUMBERS[usize::from(value) % BOUNDARY_NUMBERS.len()] as u32).to_le_bytes(),
        ),
        3 => {
            put(bytes, place - place % 8, &BOUNDARY_NUMBERS[usize::from(value) % BOUNDARY_NUMBERS.len()].to_le_bytes());
        }
        4 => {
            let page = page_at(place, len);
            bytes[page].fill(if value < 128 { 0 } else { value });
        }
        5 => {
            let other = (place ^ (usize::from(value) * PAGE)) % len;
            let (from, to) = (page_at(place, len), page_at(other, len));
            let moved = bytes[from.clone()].to_vec();
            let length = moved.len().min(to.len());
            bytes.copy_within(to.start..to.start + length, from.start);
            bytes[to.start..to.start + length].copy_from_slice(&moved[..length]);
        }
        6 => bytes.truncate(place),
        _ => replace_number(bytes, place, BOUNDARY_JSON_VALUES[usize::from(value) % BOUNDARY_JSON_VALUES.len()]),
    }
}

fn page_at(place: usize, len: usize) -> std::ops::Range<usize> {
    let start = place - place % PAGE;
    start..len.min(start + PAGE)
}

fn put(bytes: &mut [u8], place: usize, new: &[u8]) {
    let end = bytes.len().min(place + new.len());
    bytes[place..end].copy_from_slice(&new[..end - place]);
}

/// Replaces the next number in a text by another value.
fn replace_number(bytes: &mut Vec<u8>, place: usize, new: &str) {
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    let Some(start) = bytes[place..].iter().position(|byte| byte.is_ascii_digit()).map(|after| place + after) else {
        return;
    };
    let start = bytes[..start].iter().rposition(|byte| !is_number(byte)).map_or(start, |before| before + 1);
    let end = bytes[start..].iter().position(|byte| !is_number(byte)).map_or(bytes.len(), |after| start + after);
    bytes.splice(start..end, new.bytes());
}

/// Repairs the length and the checksum in the header of a mapped file.
fn repair_header(bytes: &mut [u8]) {
    if bytes.len() < 32 || !bytes.starts_with(b"HB") {
        return;
    }
    let len = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&len.to_le_bytes());
    let sections = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let Some(end) = sections.checked_mul(32).map(|table| table + 32).filter(|end| *end <= bytes.len()) else { return };
    bytes[24..28].fill(0);
    let sum = crc32fast::hash(&bytes[..end]);
    bytes[24..28].copy_from_slice(&sum.to_le_bytes());
}

/// Replaces a file of a snapshot. Creates a new file, because the old one may still be mapped.
pub(crate) fn replace_snapshot_file(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).and_then(|()| fs::write(path, bytes)).expect("the file can be exchanged");
}

/// Writes the actual sizes of the files into the manifest.
pub(crate) fn write_manifest_sizes(dir: &Path, manifest: &Manifest) {
    let mut stated = manifest.clone();
    for file in &mut stated.files {
        file.size = fs::metadata(dir.join(&file.path)).expect("the file is there").len();
    }
    let text = serde_json::to_vec_pretty(&stated).expect("a manifest is JSON");
    seal(dir, &text);
}

/// Writes a manifest and its hash.
pub(crate) fn seal(dir: &Path, manifest: &[u8]) {
    let line = format!("{}  {FILE_NAME}\n", blake3::hash(manifest).to_hex());
    replace_snapshot_file(&dir.join(FILE_NAME), manifest);
    replace_snapshot_file(&dir.join(HASH_FILE_NAME), line.as_bytes());
}
