//! Any bytes as a file of the line-based formats: refused with a position, or parsed.
#![no_main]

use hornbook_index_build::gather::Gatherer;
use hornbook_index_build::import::{native, provisions_jsonl};
use hornbook_index_build::import::intake::SourceIntake;
use hornbook_index_build::mistakes::Mistakes;
use hornbook_index_build::report::Warnings;
use hornbook_index_build::source_files::SourceFile;
use libfuzzer_sys::fuzz_target;
use target::target;

#[path = "../target.rs"]
mod target;

fuzz_target!(|bytes: &[u8]| {
    for import in [native::import, provisions_jsonl::import] {
        let mut gatherer = Gatherer::new(&std::env::temp_dir()).expect("a temporary file");
        let (mut warnings, mut mistakes) = (Warnings::default(), Mistakes::default());
        let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
        let options = toml::Table::new();
        let target = target(&options);
        let mut reader = bytes;
        let file = SourceFile { place: "fuzz".into(), reader: &mut reader };
        let read = import(file, target, &mut intake);
        if mistakes.is_empty() {
            match read {
                Err(error) => assert!(error.to_string().starts_with("fuzz:"), "a message without a position: {error}"),
                Ok(_) => drop(gatherer.finish_body(&mut warnings, &mut mistakes).expect("the temporary file is readable")),
            }
        }
        let message = mistakes.to_string();
        assert!(mistakes.is_empty() || message.contains("fuzz:"), "a message without a position: {message}");
    }
});
