//! How fast the importers parse documents, on one core and without an index. `benches/README.md` keeps the figures.
//!
//! `cargo bench --bench parsing -- --sources DIR`, where the archives of real law are. Each format is compared with the
//! XML reader alone, which nothing that reads whole documents can outrun.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hornbook_index_build::import::document::{Document, ParseDocument};
use hornbook_index_build::import::target::Target;
use hornbook_index_build::import::{uslm, xml};
use hornbook_index_build::source_files::{SourceError, SourceFile, for_each};

/// A format with real documents of it.
struct Row {
    format: &'static str,
    archive: &'static str,
    /// A part of the path of every document.
    within: &'static str,
    wants: fn(&str) -> bool,
    parse: ParseDocument,
}

const ROWS: [Row; 2] = [
    Row {
        format: "uslm (code)",
        archive: "us-code-uslm-2025.tar.zst",
        within: "",
        wants: uslm::wants,
        parse: uslm::parse,
    },
    Row {
        format: "uslm (regulations)",
        archive: "cfr-samples.tar.zst",
        within: "/uslm/",
        wants: uslm::wants,
        parse: uslm::parse,
    },
];

const RUNS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let place = arguments.iter().position(|argument| argument == "--sources");
    let Some(sources) = place.and_then(|place| arguments.get(place + 1)).map(PathBuf::from) else {
        println!("nothing measured: give the folder of the archives with --sources DIR");
        return;
    };
    for row in &ROWS {
        measure(row, &sources);
    }
}

fn measure(row: &Row, sources: &Path) {
    let documents = documents(row, sources);
    let bytes: usize = documents.iter().map(|document| document.bytes.len()).sum();
    let options = toml::Table::new();
    let target = Target {
        jurisdiction: "US",
        code_body: "Code",
        key: "us/code",
        citation: None,
        source: 0,
        tags: &[],
        options: &options,
    };
    let parsing = fastest(|| documents.iter().map(|document| (row.parse)(document, target).nodes.len()).sum());
    let reading = fastest(|| documents.iter().filter(|document| xml::parse(document).is_ok()).count());
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{}: {} documents, {:.1} MB: {:.0} MB/s; the XML reader alone {:.0} MB/s, {:.2} of its time",
        row.format,
        documents.len(),
        bytes as f64 / 1e6,
        rate(parsing),
        rate(reading),
        parsing.as_secs_f64() / reading.as_secs_f64()
    );
}

fn documents(row: &Row, sources: &Path) -> Vec<Document> {
    let mut found = Vec::new();
    let read = for_each(&sources.join(row.archive), None, |file: SourceFile<'_>| {
        let mut document = Document { place: file.place, bytes: Vec::new() };
        if document.path().contains(row.within) && (row.wants)(document.path()) {
            file.reader.read_to_end(&mut document.bytes).map_err(|source| SourceError::Io {
                place: document.place.clone(),
                doing: "read it",
                source,
            })?;
            found.push(document);
        }
        Ok::<(), SourceError>(())
    });
    read.unwrap_or_else(|error| panic!("{error}"));
    found
}

fn fastest(mut work: impl FnMut() -> usize) -> Duration {
    let run = |_| {
        let began = Instant::now();
        std::hint::black_box(work());
        began.elapsed()
    };
    (0..RUNS).map(run).min().unwrap_or_default()
}
