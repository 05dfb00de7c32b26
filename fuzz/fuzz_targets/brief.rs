//! Any bytes as a document of each format: it is refused, or its citations and quotations lie within its text.
#![no_main]

use hornbook_check::{Brief, BriefFormat, Found};
use hornbook_corpus::citation::Grammar;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (format, bytes) = input;
    let format = BriefFormat::ALL[usize::from(format) % BriefFormat::ALL.len()];
    let Ok(brief) = Brief::read(bytes, format) else { return };
    for (range, _) in brief.paragraphs() {
        assert!(brief.text().get(range).is_some_and(|text| !text.is_empty()));
    }
    if let Ok(found) = Found::in_document(&brief, Grammar::built_in()) {
        for range in found.ranges() {
            assert!(brief.text().get(range).is_some());
        }
    }
});
