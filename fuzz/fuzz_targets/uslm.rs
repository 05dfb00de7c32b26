//! Any bytes as a title in United States Legislative Markup: refused with a position, or parsed
//! into valid layouts.
#![no_main]

use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::uslm::parse;
use libfuzzer_sys::fuzz_target;
use target::target;

#[path = "../target.rs"]
mod target;

fuzz_target!(|bytes: &[u8]| {
    let options = toml::Table::new();
    let target = target(&options);
    let parsed = parse(&Document { place: "fuzz".into(), bytes: bytes.to_vec() }, target);
    for (position, _) in &parsed.mistakes {
        assert!(position.line.is_some(), "a message without a position");
    }
    for node in &parsed.nodes {
        let text = node.content.text.as_deref().unwrap_or_default();
        assert!(node.content.layout.is_empty() || node.content.layout.check_against_text(text).is_none());
    }
});
