//! Any bytes as a file of federal regulations: refused with a position, or parsed with layouts that
//! fit their texts.
#![no_main]

use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::{cfr_annual, ecfr, regml};
use libfuzzer_sys::fuzz_target;
use target::target;

#[path = "../target.rs"]
mod target;

fuzz_target!(|bytes: &[u8]| {
    let Some((form, bytes)) = bytes.split_first() else { return };
    let parse = [ecfr::parse, cfr_annual::parse, regml::parse][usize::from(*form) % 3];
    let options = toml::Table::new();
    let target = target(&options);
    let parsed = parse(&Document { place: "fuzz".into(), bytes: bytes.to_vec() }, target);
    for (position, what) in &parsed.mistakes {
        assert!(position.file == "fuzz" && position.line.is_some(), "a message without a position: {what}");
    }
    for content in parsed.nodes.iter().map(|node| &node.content) {
        let text = content.text.as_deref().unwrap_or_default();
        let notes = content.notes.iter().map(|note| (&note.layout, note.text.as_str()));
        for (layout, text) in std::iter::once((&content.layout, text)).chain(notes) {
            assert!(layout.is_empty() || layout.check_against_text(text).is_none(), "{:?}", layout.check_against_text(text));
        }
    }
});
