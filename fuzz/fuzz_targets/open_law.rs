//! Any bytes as a document in the open.law format: refused with a position, or parsed with layouts
//! that fit their texts.
#![no_main]

use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::open_law;
use libfuzzer_sys::fuzz_target;
use target::target;

#[path = "../target.rs"]
mod target;

fuzz_target!(|bytes: &[u8]| {
    let document = Document { place: "fuzz".into(), bytes: bytes.to_vec() };
    let options = toml::Table::from_iter([("joined_numbers".to_owned(), toml::Value::Boolean(bytes.len() % 2 == 0))]);
    let target = target(&options);
    let parsed = open_law::parse(&document, target);
    for (position, what) in &parsed.mistakes {
        assert!(position.file == "fuzz" && position.line.is_some(), "a message without a position: {what}");
    }
    for node in parsed.nodes {
        let content = node.content;
        let texts = [(content.text.unwrap_or_default(), content.layout)].into_iter();
        for (text, layout) in texts.chain(content.notes.into_iter().map(|note| (note.text, note.layout))) {
            assert!(layout.is_empty() || layout.check_against_text(&text).is_none());
        }
    }
});
