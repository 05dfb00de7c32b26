//! Any bytes as a document of each format that reads whole documents: refused with a position, or parsed.
#![no_main]

use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::{IMPORTERS, ReadMode, SourceContent};
use libfuzzer_sys::fuzz_target;
use target::target;

#[path = "../target.rs"]
mod target;

/// The options of formats that cannot be parsed without any.
const OPTIONS: [(&str, &str); 2] =
    [("plain-text", r"section = '^§ (\d+\.\d+)\. (.*)$'"), ("page-json", "topics = '^Notes?$'\nnavigation = ['^Next$']")];

fuzz_target!(|bytes: &[u8]| {
    let Some((&pick, bytes)) = bytes.split_first() else { return };
    let parsers: Vec<_> = IMPORTERS
        .iter()
        .filter_map(|importer| match importer.content {
            SourceContent::Law { read: ReadMode::Documents { parse, .. }, .. } => Some((importer.name, parse)),
            _ => None,
        })
        .collect();
    let (name, parse) = parsers[usize::from(pick) % parsers.len()];
    let options = OPTIONS.iter().find(|(format, _)| *format == name).map_or("", |(_, options)| options);
    let options: toml::Table = toml::from_str(options).expect("options of ours");
    let target = target(&options);
    let parsed = parse(&Document { place: "fuzz".into(), bytes: bytes.to_vec() }, target);
    for (position, what) in &parsed.mistakes {
        assert!(position.file == "fuzz" && !what.is_empty(), "a message without a position: {what}");
    }
    for node in &parsed.nodes {
        let text = node.content.text.as_deref().unwrap_or_default();
        let layout = &node.content.layout;
        assert!(layout.is_empty() || layout.check_against_text(text).is_none(), "a layout that does not fit its text");
    }
});
