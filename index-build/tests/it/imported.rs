//! Reads a source with its importer only: the gathered nodes, without building a snapshot.

use std::collections::BTreeMap;
use std::path::Path;

use hornbook_index_build::content::Content;
use hornbook_index_build::gather::Gatherer;
use hornbook_index_build::import::document::Document;
use hornbook_index_build::import::intake::{ImportError, SourceIntake};
use hornbook_index_build::import::target::ImportTarget;
use hornbook_index_build::import::{IMPORTERS, ReadMode, SourceContent};
use hornbook_index_build::mistakes::Mistakes;
use hornbook_index_build::report::{Warning, WarningKind, Warnings};
use hornbook_index_build::source_files::{self, SourceError};

/// The fields of a source in a plan.
pub(crate) struct Source<'a> {
    pub(crate) format: &'a str,
    pub(crate) key: &'a str,
    pub(crate) code_body: &'a str,
    pub(crate) citation: Option<&'a str>,
    pub(crate) options: toml::Table,
}

#[derive(Debug)]
pub(crate) struct Imported {
    /// Keys with their contents and depths, in code order.
    pub(crate) nodes: Vec<(String, Content, u8)>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) counts: BTreeMap<WarningKind, u64>,
    pub(crate) mistakes: Mistakes,
}

impl Imported {
    pub(crate) fn provisions(&self) -> impl Iterator<Item = &(String, Content, u8)> {
        self.nodes.iter().filter(|(_, content, _)| content.text.is_some())
    }

    pub(crate) fn node(&self, key: &str) -> &Content {
        let found = self.nodes.iter().find(|(own, _, _)| own == key);
        found.map_or_else(|| panic!("there is no {key}"), |(_, content, _)| content)
    }

    pub(crate) fn count(&self, kind: WarningKind) -> u64 {
        self.counts.get(&kind).copied().unwrap_or_default()
    }
}

/// Every file of a source that its importer wants and the test picks.
pub(crate) fn documents(path: &Path, format: &str, picks: impl Fn(&str) -> bool) -> Vec<Document> {
    let (_, wants) = reader(format);
    let mut documents = Vec::new();
    source_files::for_each(path, None, |file| {
        let mut document = Document { place: file.place, bytes: Vec::new() };
        if wants(document.path()) && picks(document.path()) {
            file.reader.read_to_end(&mut document.bytes).unwrap();
            documents.push(document);
        }
        Ok::<_, SourceError>(())
    })
    .unwrap();
    documents
}

pub(crate) fn import(documents: &[Document], source: &Source<'_>) -> Imported {
    let (parse, _) = reader(source.format);
    let dir = tempfile::tempdir().unwrap();
    let mut gatherer = Gatherer::new(dir.path()).unwrap();
    let (mut warnings, mut mistakes) = (Warnings::default(), Mistakes::default());
    let target = target(source);
    for document in documents {
        let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
        match intake.take(parse(document, target)) {
            Ok(()) | Err(ImportError::TooManyMistakes) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
    let spool = gatherer.into_spool();
    let nodes = tree.into_iter().map(|node| {
        let mut content = node.content.read(&spool).unwrap();
        for wording in node.wordings {
            content.wordings.push(wording.read(&spool).unwrap());
        }
        (node.key, content, node.depth)
    });
    let nodes = nodes.collect();
    let (kept, counts) = warnings.into_parts();
    Imported { nodes, warnings: kept, counts, mistakes }
}

/// Imports a single document with this name and content.
pub(crate) fn import_one(name: &str, text: &str, source: &Source<'_>) -> Imported {
    import(&[Document { place: name.into(), bytes: text.into() }], source)
}

/// Parses a document as its importer does. Either it is refused with its place, or its layouts fit its texts.
pub(crate) fn parse_and_check(document: &Document, source: &Source<'_>) {
    let (parse, _) = reader(source.format);
    let parsed = parse(document, target(source));
    for (position, what) in &parsed.mistakes {
        assert!(position.file == document.place && !what.is_empty(), "a message without its place: {what}");
    }
    for node in parsed.nodes {
        let text = node.content.text.unwrap_or_default();
        assert_eq!(node.content.layout.check_against_text(&text).filter(|_| !node.content.layout.is_empty()), None);
    }
}

/// Cuts a document at every byte and damages bytes of it. It must be refused with its place, or
/// read, but never cause a panic.
pub(crate) fn check_damaged(document: &Document, source: &Source<'_>) {
    let check = |bytes: Vec<u8>| parse_and_check(&Document { place: document.place.clone(), bytes }, source);
    (0..document.bytes.len()).for_each(|end| check(document.bytes[..end].to_vec()));
    let mut numbers = crate::common::SeededRandom(7);
    for _ in 0..2_000 {
        let mut bytes = document.bytes.clone();
        let place = numbers.below(bytes.len() as u64) as usize;
        bytes[place] ^= 1 << numbers.below(8);
        check(bytes);
    }
}

pub(crate) fn target<'a>(source: &'a Source<'a>) -> ImportTarget<'a> {
    ImportTarget {
        jurisdiction: "XA",
        code_body: source.code_body,
        key: source.key,
        citation: source.citation,
        source: 0,
        tags: &[],
        options: &source.options,
    }
}

fn reader(format: &str) -> (hornbook_index_build::import::document::ParseDocument, fn(&str) -> bool) {
    let importer = IMPORTERS.iter().find(|importer| importer.name == format).unwrap();
    match importer.content {
        SourceContent::Law { read: ReadMode::Documents { parse, wants }, .. } => (parse, wants),
        _ => panic!("{format} does not read documents"),
    }
}
