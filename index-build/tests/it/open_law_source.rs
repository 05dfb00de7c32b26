//! Reads sources in the open.law format with their importer only: the gathered nodes, without a snapshot.

use std::path::Path;

use hornbook_index_build::content::{Content, ContentNote};
use hornbook_index_build::gather::Gatherer;
use hornbook_index_build::import::document::{Document, Parsed};
use hornbook_index_build::import::intake::{ImportError, SourceIntake};
use hornbook_index_build::import::target::ImportTarget;
use hornbook_index_build::import::{open_law, xml};
use hornbook_index_build::mistakes::Mistakes;
use hornbook_index_build::report::Warnings;
use hornbook_index_build::source_files::{self, SourceError};
use rayon::prelude::*;

/// The fields of a source in a plan.
pub(crate) struct OpenLawSource {
    pub(crate) archive: &'static str,
    pub(crate) lines: &'static str,
    pub(crate) key: &'static str,
    pub(crate) code_body: &'static str,
    pub(crate) citation: &'static str,
    pub(crate) options: toml::Table,
    /// A part of the path of every document of the code.
    pub(crate) folder: &'static str,
}

pub(crate) fn district() -> OpenLawSource {
    OpenLawSource {
        archive: "dc-code-xml-2024.tar.zst",
        lines: "dc-code.jsonl.zst",
        key: "dc/code",
        code_body: "Code of the District of Columbia",
        citation: "D.C. Code § {number}",
        options: toml::Table::new(),
        folder: "",
    }
}

pub(crate) fn maryland() -> OpenLawSource {
    OpenLawSource {
        archive: "md-comar-xml-2026.tar.zst",
        lines: "md-comar.jsonl.zst",
        key: "md/comar",
        code_body: "Code of Maryland Regulations",
        citation: "COMAR {number}",
        options: toml::Table::from_iter([("joined_numbers".to_owned(), toml::Value::Boolean(true))]),
        folder: "",
    }
}

pub(crate) fn baltimore() -> OpenLawSource {
    OpenLawSource {
        archive: "baltimore-law-xml-2026.tar.zst",
        lines: "",
        key: "md-baltimore/code",
        code_body: "Baltimore City Code",
        citation: "Balt. City Code § {number}",
        options: toml::Table::new(),
        folder: "/code/",
    }
}

pub(crate) fn san_mateo() -> OpenLawSource {
    OpenLawSource {
        archive: "san-mateo-law-xml-2026.tar.zst",
        lines: "",
        key: "ca-san-mateo/code",
        code_body: "San Mateo Municipal Code",
        citation: "San Mateo Mun. Code § {number}",
        // The publisher's repository has the zoning title elsewhere.
        options: toml::Table::from_iter([("absent".to_owned(), toml::Value::from(vec!["code/27.xml"]))]),
        folder: "/code/",
    }
}

pub(crate) fn turtle_mountain() -> OpenLawSource {
    OpenLawSource {
        archive: "turtle-mountain-law-xml-2025.tar.zst",
        lines: "",
        key: "turtle-mountain/code",
        code_body: "Turtle Mountain Tribal Code",
        citation: "Turtle Mountain Tribal Code § {number}",
        options: toml::Table::new(),
        folder: "/code/",
    }
}

impl OpenLawSource {
    pub(crate) fn target(&self) -> ImportTarget<'_> {
        ImportTarget {
            jurisdiction: "XA",
            code_body: self.code_body,
            key: self.key,
            citation: Some(self.citation),
            source: 0,
            tags: &[],
            options: &self.options,
        }
    }
}

/// Every document of an archive.
pub(crate) fn documents(path: &Path) -> Vec<Document> {
    let mut documents = Vec::new();
    source_files::for_each(path, None, |file| {
        if xml::is_source_file(&file.place) {
            let mut document = Document { place: file.place, bytes: Vec::new() };
            file.reader.read_to_end(&mut document.bytes).unwrap();
            documents.push(document);
        }
        Ok::<_, SourceError>(())
    })
    .unwrap();
    documents
}

/// Documents written in a test, each with its path.
pub(crate) fn written(files: &[(&str, &str)]) -> Vec<Document> {
    let document = |(path, text): &(&str, &str)| Document { place: format!("a.zip!{path}"), bytes: (*text).into() };
    files.iter().map(document).collect()
}

/// A node of the finished tree.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) key: String,
    pub(crate) depth: u8,
    pub(crate) content: Content,
    pub(crate) wordings: Vec<Content>,
}

impl Node {
    pub(crate) fn is_provision(&self) -> bool {
        self.content.text.is_some()
    }

    pub(crate) fn notes(&self) -> impl Iterator<Item = &ContentNote> {
        self.content.notes.iter()
    }
}

/// The tree of a source in code order with its warnings, or its mistakes.
pub(crate) fn import(documents: &[Document], plan: &OpenLawSource) -> Result<(Vec<Node>, Warnings), String> {
    let dir = tempfile::tempdir().unwrap();
    let mut gatherer = Gatherer::new(dir.path()).unwrap();
    let (mut warnings, mut mistakes) = (Warnings::default(), Mistakes::default());
    let parsed: Vec<Parsed> = documents.par_iter().map(|document| open_law::parse(document, plan.target())).collect();
    let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
    for parsed in parsed {
        match intake.take(parsed) {
            Ok(()) | Err(ImportError::TooManyMistakes) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
    if !mistakes.is_empty() {
        return Err(mistakes.to_string());
    }
    let spool = gatherer.into_spool();
    let nodes = tree.into_iter().map(|node| {
        let mut content = node.content.read(&spool).unwrap();
        if let Some(names) = &node.names {
            content.complete_names(names);
        }
        let wordings = node.wordings.iter().map(|wording| wording.read(&spool).unwrap()).collect();
        Node { key: node.key, depth: node.depth, content, wordings }
    });
    Ok((nodes.collect(), warnings))
}
