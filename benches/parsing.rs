//! Measures how fast the importers parse documents, on one core and without indexing. Results are
//! in `benches/README.md`.
//!
//! `cargo bench --bench parsing -- --sources DIR`, where DIR has the archives of real law. Each
//! importer is compared with building the XML tree that it walks, and with quick-xml, which reads
//! events and keeps nothing. `--only FORMAT` measures one format.

use std::path::{Path, PathBuf};

use hornbook_index_build::import::document::{Document, ParseDocument};
use hornbook_index_build::import::target::ImportTarget;
use hornbook_index_build::import::{cfr_annual, ecfr, open_law, regml, uslm, xml};
use hornbook_index_build::source_files::{SourceError, SourceFile, for_each};
use quick_xml::events::Event;

/// A format and the archive with real documents in it.
struct Row {
    format: &'static str,
    archive: &'static str,
    /// A substring of the path of every document.
    within: &'static str,
    options: &'static str,
    wants: fn(&str) -> bool,
    parse: ParseDocument,
}

const ROWS: [Row; 7] = [
    Row {
        format: "uslm (code)",
        archive: "us-code-uslm-2025.tar.zst",
        within: "",
        options: "",
        wants: xml::is_source_file,
        parse: uslm::parse,
    },
    Row {
        format: "uslm (regulations)",
        archive: "cfr-samples.tar.zst",
        within: "/uslm/",
        options: "",
        wants: xml::is_source_file,
        parse: uslm::parse,
    },
    Row {
        format: "ecfr",
        archive: "cfr-samples.tar.zst",
        within: "/ecfr/",
        options: "",
        wants: xml::is_source_file,
        parse: ecfr::parse,
    },
    Row {
        format: "cfr-annual",
        archive: "cfr-samples.tar.zst",
        within: "/annual-2011-title47/",
        options: "",
        wants: xml::is_source_file,
        parse: cfr_annual::parse,
    },
    Row {
        format: "regml",
        archive: "cfr-samples.tar.zst",
        within: "/cfpb-regml/",
        options: "",
        wants: xml::is_source_file,
        parse: regml::parse,
    },
    Row {
        format: "open-law (DC)",
        archive: "dc-code-xml-2024.tar.zst",
        within: "",
        options: "",
        wants: xml::is_source_file,
        parse: open_law::parse,
    },
    Row {
        format: "open-law (COMAR)",
        archive: "md-comar-xml-2026.tar.zst",
        within: "",
        options: "joined_numbers = true",
        wants: xml::is_source_file,
        parse: open_law::parse,
    },
];

const RUNS: usize = 5;
/// The least number of bytes that a run parses, because the clock ticks in milliseconds.
const RUN_BYTES: usize = 64 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)
    };
    let Some(sources) = value("--sources").map(PathBuf::from) else {
        println!("nothing to measure: pass the folder of the archives with --sources DIR");
        return;
    };
    let only = value("--only").map_or("", String::as_str);
    for row in ROWS.iter().filter(|row| row.format.starts_with(only)) {
        measure(row, &sources);
    }
}

fn measure(row: &Row, sources: &Path) {
    let documents = documents(row, sources);
    let bytes: usize = documents.iter().map(|document| document.bytes.len()).sum();
    let options: toml::Table = toml::from_str(row.options).expect("options of ours");
    let target = ImportTarget {
        jurisdiction: "US",
        code_body: "Code",
        key: "us/code",
        citation: None,
        source: 0,
        tags: &[],
        options: &options,
    };
    // The three take turns, so that other load on the machine affects all of them.
    let (mut parsing, mut tree, mut events) = ([0.0; RUNS], [0.0; RUNS], [0.0; RUNS]);
    for run in 0..RUNS {
        let parse = |document: &Document| (row.parse)(document, target).nodes.len();
        parsing[run] = rate(bytes, || documents.iter().map(parse).sum());
        tree[run] = rate(bytes, || documents.iter().filter(|document| xml::parse(document).is_ok()).count());
        events[run] = rate(bytes, || documents.iter().map(count_events).sum());
    }
    let (parsing, tree, events) = (Spread::of(parsing), Spread::of(tree), Spread::of(events));
    println!(
        "{}: {} documents, {:.1} MB: {parsing} MB/s; tree alone {tree}; quick-xml alone {events}; {:.2} of quick-xml",
        row.format,
        documents.len(),
        bytes as f64 / 1e6,
        parsing.median / events.median,
    );
}

/// Reads a document as quick-xml events, the cheapest way to see every byte, and counts them.
fn count_events(document: &Document) -> usize {
    let mut reader = quick_xml::Reader::from_reader(document.bytes.as_slice());
    let mut count = 0;
    while !matches!(reader.read_event().expect("well-formed XML"), Event::Eof) {
        count += 1;
    }
    count
}

/// Median and extremes of several runs.
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn of(mut runs: [f64; RUNS]) -> Self {
        runs.sort_by(f64::total_cmp);
        Self { least: runs[0], median: runs[RUNS / 2], most: runs[RUNS - 1] }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} ({:.0} - {:.0})", self.median, self.least, self.most)
    }
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

/// Megabytes per second of CPU time of this thread, so that other work on the machine does not count.
fn rate(bytes: usize, mut work: impl FnMut() -> usize) -> f64 {
    let times = RUN_BYTES.div_ceil(bytes.max(1));
    let began = thread_nanoseconds();
    for _ in 0..times {
        std::hint::black_box(work());
    }
    (bytes * times) as f64 * 1e3 / (thread_nanoseconds() - began) as f64
}

fn thread_nanoseconds() -> u64 {
    let reported = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says how long a thread ran");
    let first = reported.split_whitespace().next().and_then(|first| first.parse().ok());
    first.expect("nanoseconds on a core")
}
