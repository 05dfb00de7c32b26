//! Converts the embedding model into files that the program includes: the rows and scales of each table, and the
//! vocabulary as a prebuilt hash table. A model file with another shape fails the build.

use std::env;
use std::fs;
use std::ops::Range;
use std::path::Path;

#[path = "src/embed/word_hash.rs"]
mod word_hash;
use word_hash::{CONTINUATION_SEED, EMPTY, PIECE_LEN_MAX, SLOT_COUNT, WORD_SEED, extend, first_slot, slot_value};

const TOKENS: usize = 30_522;
const DIMS: usize = 256;
/// The embedding tables: the prefix of the output files, and the input file.
const TABLES: [(&str, &str); 2] =
    [("passages", "model/law-static-256.safetensors"), ("queries", "model/law-static-256-queries.safetensors")];
const VOCABULARY: &str = "model/vocab.txt";

fn main() {
    let tables = TABLES.map(|(_, path)| path);
    for input in tables.into_iter().chain([VOCABULARY, "src/embed/word_hash.rs", "build.rs"]) {
        println!("cargo::rerun-if-changed={input}");
    }
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(Path::new(&out).join(name), bytes).unwrap_or_else(|error| panic!("cannot write {name}: {error}"));
    };

    for (name, path) in TABLES {
        let table = Table { path, file: fs::read(path).unwrap_or_else(|error| panic!("cannot read {path}: {error}")) };
        let rows = table.tensor("embedding", "I8", &format!("[{TOKENS},{DIMS}]"), TOKENS * DIMS);
        write(&format!("{name}-embedding.bin"), rows);
        write(
            &format!("{name}-scale.bin"),
            table.tensor("scale", "F32", &format!("[{TOKENS}]"), TOKENS * size_of::<f32>()),
        );
    }

    let text = fs::read_to_string(VOCABULARY).unwrap_or_else(|error| panic!("cannot read {VOCABULARY}: {error}"));
    let tokens: Vec<&str> = text.lines().collect();
    assert_eq!(tokens.len(), TOKENS, "{VOCABULARY} must contain one token per line for every row of the model");
    write("vocabulary-slots.bin", &slots(&tokens));
    write("vocabulary-ends.bin", &ends(&tokens));
    write("vocabulary-text.bin", tokens.concat().as_bytes());
}

/// A safetensors file.
struct Table {
    path: &'static str,
    file: Vec<u8>,
}

impl Table {
    /// Returns the bytes of one tensor. The file is a length, a JSON header of that length, and the data. The
    /// header must contain the expected entry byte for byte; otherwise the file is not the pinned one.
    fn tensor(&self, name: &str, kind: &str, shape: &str, length: usize) -> &[u8] {
        let Self { path, file } = self;
        let header_len = u64::from_le_bytes(file[..8].try_into().expect("eight bytes")) as usize;
        let (header, data) = file[8..].split_at(header_len);
        let header = std::str::from_utf8(header).expect("a safetensors header is JSON");
        let entry = format!("\"{name}\":{{\"dtype\":\"{kind}\",\"shape\":{shape},\"data_offsets\":[");
        let Some((_, after)) = header.split_once(&entry) else {
            panic!("{path} has no tensor {name} of {kind}{shape}: its header is {header}");
        };
        let range = offsets(after);
        assert_eq!(range.len(), length, "tensor {name} of {path} has the wrong length");
        &data[range]
    }
}

fn offsets(text: &str) -> Range<usize> {
    let (list, _) = text.split_once(']').expect("data_offsets is a list");
    let (start, end) = list.split_once(',').expect("data_offsets has two numbers");
    start.trim().parse().expect("an offset is a number")..end.trim().parse().expect("an offset is a number")
}

/// Builds the hash table, with open addressing and linear probing. Special tokens such as `[CLS]` are left out,
/// because no text is tokenized to them.
fn slots(tokens: &[&str]) -> Vec<u8> {
    let mut slots = vec![EMPTY; SLOT_COUNT];
    for (id, token) in tokens.iter().enumerate() {
        if token.starts_with('[') && token.len() > 1 {
            continue;
        }
        let (seed, piece) = match token.strip_prefix("##") {
            Some(piece) if !piece.is_empty() => (CONTINUATION_SEED, piece),
            _ => (WORD_SEED, *token),
        };
        assert!(piece.len() <= PIECE_LEN_MAX, "token {token} is longer than PIECE_LEN_MAX allows");
        let hash = piece.bytes().fold(seed, extend);
        let mut slot = first_slot(hash);
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOT_COUNT;
        }
        slots[slot] = slot_value(hash, u16::try_from(id).expect("ids fit 16 bits"));
    }
    slots.iter().flat_map(|slot| slot.to_le_bytes()).collect()
}

/// The end of each token's text in the concatenation of all tokens.
fn ends(tokens: &[&str]) -> Vec<u8> {
    let mut end = 0_u32;
    tokens
        .iter()
        .flat_map(|token| {
            end += token.len() as u32;
            end.to_le_bytes()
        })
        .collect()
}
