//! Mutates real documents at random. Each importer must refuse them with their place, or read them,
//! quickly and without a panic.
//!
//! Bytes, numbers and labels are replaced, and whole elements are dropped, repeated and moved, so
//! that many results are still well-formed and reach the deeper parts of a parser. The same seed
//! gives the same mutations.

use std::time::{Duration, Instant};

use hornbook_index_build::import::document::Document;

use crate::common::SeededRandom;
use crate::corpora::corpora;
use crate::imported::{Source, documents, parse_and_check};
use crate::municipal_html::spanish_fork;
use crate::state_html::virginia;
use crate::state_json::{south_dakota, washington};

const ROUNDS: usize = 150;
/// Documents up to this size are mutated. If there are none, the smallest is.
const DOCUMENT_BYTES_MAX: usize = 150_000;
const DOCUMENTS: usize = 5;
/// Far more than the slowest machine needs for a megabyte.
const PARSING_MAX: Duration = Duration::from_secs(20);

/// Replacements for a few bytes.
const TOKENS: [&[u8]; 24] = [
    b"(a)",
    b"(1)",
    b"(i)",
    b"(ii)",
    b"A.",
    b"99999999999999999999",
    b"-1",
    b"\0",
    b"<",
    b"</",
    b">",
    b"&",
    b"&#0;",
    b"\xff",
    b"\xc3",
    "§".as_bytes(),
    "\u{202e}".as_bytes(),
    b"\"",
    b"}",
    b"]",
    b"\n\n\n",
    b"\t",
    b" to ",
    b"...",
];

struct Mutator {
    numbers: SeededRandom,
}

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        self.numbers.below(bound.max(1) as u64) as usize
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        match self.below(6) {
            0 => self.replace(bytes),
            1 => self.renumber(bytes),
            2 => {
                let end = self.below(bytes.len());
                bytes.truncate(end);
            }
            _ => self.shuffle(bytes),
        }
    }

    fn replace(&mut self, bytes: &mut Vec<u8>) {
        let start = self.below(bytes.len());
        let end = (start + self.below(6)).min(bytes.len());
        let token = TOKENS[self.below(TOKENS.len())];
        bytes.splice(start..end, token.iter().copied());
    }

    /// Replaces a digit with another one.
    fn renumber(&mut self, bytes: &mut [u8]) {
        let from = self.below(bytes.len());
        let digit = b'0' + self.below(10) as u8;
        if let Some(place) = bytes[from..].iter().position(u8::is_ascii_digit) {
            bytes[from + place] = digit;
        }
    }

    /// Drops, repeats or moves an element or, if there is none, a line.
    fn shuffle(&mut self, bytes: &mut Vec<u8>) {
        let from = self.below(bytes.len());
        let Some((start, end)) = element(bytes, from).or_else(|| line(bytes, from)) else { return };
        let part = bytes[start..end].to_vec();
        match self.below(3) {
            0 => drop(bytes.drain(start..end)),
            1 => drop(bytes.splice(end..end, part)),
            _ => {
                bytes.drain(start..end);
                let to = self.below(bytes.len());
                let to = element(bytes, to).map_or(to, |(start, _)| start);
                drop(bytes.splice(to..to, part));
            }
        }
    }
}

/// The start and end of the first element after a place.
fn element(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let is_start = |&at: &usize| bytes[at] == b'<' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic);
    let start = (from..bytes.len()).find(is_start)?;
    let name_end = (start + 1..bytes.len()).find(|&at| !bytes[at].is_ascii_alphanumeric())?;
    let name = &bytes[start + 1..name_end];
    let (mut depth, mut at) = (0_usize, start);
    while at < bytes.len() {
        let opens = bytes[at] == b'<' && bytes[at + 1..].starts_with(name);
        let closes = bytes[at] == b'<' && bytes[at + 1..].strip_prefix(b"/").is_some_and(|rest| rest.starts_with(name));
        if opens {
            depth += 1;
        }
        if closes {
            depth -= 1;
            if depth == 0 {
                let end = bytes[at..].iter().position(|&byte| byte == b'>')? + at + 1;
                return Some((start, end));
            }
        }
        at += 1;
    }
    None
}

fn line(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let start = bytes[..from].iter().rposition(|&byte| byte == b'\n')?;
    let end = bytes[from..].iter().position(|&byte| byte == b'\n')? + from;
    Some((start, end))
}

fn mutate(archive: &str, source: &Source<'_>, picks: impl Fn(&str) -> bool) {
    let Some(corpora) = corpora() else { return };
    let mut all = documents(&corpora.join(archive), source.format, picks);
    all.sort_by_key(|document| (document.bytes.len() > DOCUMENT_BYTES_MAX, document.bytes.len() % 977));
    all.truncate(DOCUMENTS);
    if all.iter().any(|document| document.bytes.len() > DOCUMENT_BYTES_MAX) {
        all.sort_by_key(|document| document.bytes.len());
        all.truncate(1);
    }
    assert!(!all.is_empty(), "{} has no documents in {archive}", source.format);
    let mut mutator = Mutator { numbers: SeededRandom(20_261_123) };
    let started = Instant::now();
    for round in 0..ROUNDS {
        let original = &all[round % all.len()];
        let mut bytes = original.bytes.clone();
        for _ in 0..=mutator.below(4) {
            mutator.mutate(&mut bytes);
        }
        let began = Instant::now();
        parse_and_check(&Document { place: original.place.clone(), bytes }, source);
        assert!(began.elapsed() < PARSING_MAX, "round {round} of {} took {:?}", source.format, began.elapsed());
        // A large document is mutated fewer times.
        if started.elapsed() > Duration::from_secs(8) {
            println!("{}: {round} rounds", source.format);
            return;
        }
    }
}

fn federal(format: &'static str) -> Source<'static> {
    let (key, code_body) = match format {
        "uslm" => ("us/usc", "United States Code"),
        _ => ("us/cfr", "Code of Federal Regulations"),
    };
    Source { format, key, code_body, citation: None, options: toml::Table::new() }
}

#[test]
fn mutated_titles_of_the_united_states_code() {
    mutate("us-code-uslm-2025.tar.zst", &federal("uslm"), |_| true);
}

#[test]
fn mutated_federal_regulations() {
    mutate("cfr-samples.tar.zst", &federal("ecfr"), |path| path.contains("/ecfr/"));
    mutate("cfr-samples.tar.zst", &federal("cfr-annual"), |path| path.contains("/annual"));
    mutate("cfr-samples.tar.zst", &federal("regml"), |path| path.contains("regml"));
}

#[test]
fn mutated_documents_of_the_open_law_form() {
    for (archive, key, joined) in
        [("dc-code-xml-2024.tar.zst", "dc/code", false), ("md-comar-xml-2026.tar.zst", "md/comar", true)]
    {
        let options = toml::from_str(&format!("joined_numbers = {joined}")).unwrap();
        let source = Source { format: "open-law", key, code_body: "Code", citation: None, options };
        mutate(archive, &source, |_| true);
    }
}

#[test]
fn mutated_state_codes() {
    mutate("va-code-html-2022.tar.zst", &virginia(), |_| true);
    mutate("sd-statutes-json-2026.tar.zst", &south_dakota(), |_| true);
    mutate("wa-statutes-json-2026.tar.zst", &washington(), |path| path.contains("/title-title-59/"));
}

#[test]
fn mutated_municipal_codes() {
    let archive = "spanish-fork-ut-code-html-2024.tar.zst";
    mutate(archive, &spanish_fork(), |path| !path.contains("/public-works/"));
    let options = toml::from_str(r"section = '^\s*§? ?(\d+\.\d+\.\d+)\.? (.*)$'").unwrap();
    let source = Source { format: "plain-text", options, ..spanish_fork() };
    mutate(archive, &source, |path| path.contains("/text-files/"));
}
