//! The XML of the open.law family: the Code of the District of Columbia, the Code of Maryland
//! Regulations, and other codes published in this format.
//!
//! A code is a tree of documents: a root includes the titles with `xi:include`, and titles include
//! sections or chapters. Each document is parsed separately, and the gatherer joins them. Elements
//! in the `codify` namespaces are commands for editors. They are skipped, and so are display hints.
//!
//! `containers` walks the tree, `section` makes provisions, `law_text` builds their text with
//! `inline` and `table`, `notes` reads annotations, `recodification` reads tables of former numbers,
//! `href` resolves includes, `numbers` reads ranges, `status` interprets the reasons of law that is not in force, and
//! `effect` and `remark` find since when and until when a wording is law.

mod containers;
mod effect;
mod href;
mod inline;
mod law_text;
mod notes;
mod numbers;
mod recodification;
mod remark;
mod section;
mod source;
mod status;
mod table;

use roxmltree::{Document as Tree, Node};

use crate::import::document::{Document, Parsed};
use crate::import::target::ImportTarget;
use crate::import::unknown::{self, KnownElements};
use crate::import::xml;
use source::{OpenLawDocument, name, words_of};

/// Parses one document of a code.
pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    xml::read(document, |tree| read_tree(tree, document, target))
}

fn read_tree(tree: &Tree<'_>, document: &Document, target: ImportTarget<'_>) -> Parsed {
    let root = tree.root_element();
    let mut source = OpenLawDocument::new(document, tree, target);
    match name(root) {
        Some("document") => containers::code(&mut source, root),
        Some("container") => containers::document(&mut source, root),
        Some("attachment") => {
            containers::document(&mut source, root);
            recodification::read(&mut source, root);
        }
        Some("section") => {
            let parent = source.document_handle(document.path());
            section::add(&mut source, root, Some(parent));
        }
        _ => source.refuse(root, "the root element is not a document, container or section of the open.law format"),
    }
    let mut parsed = source.parsed;
    left_out(root, &mut parsed);
    unknown::warn(root, &VOCABULARY, document, &mut parsed);
    parsed
}

/// Records the words that are not law, notes or headings.
fn left_out(root: Node<'_, '_>, parsed: &mut Parsed) {
    if name(root) == Some("document") {
        parsed.leave_out("the name of the code, which the plan gives", words_of(root, "heading"));
    }
    for command in root.descendants().filter(|node| node.is_element() && name(*node).is_none()) {
        let words: String = command.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect();
        if !words.trim().is_empty() {
            parsed.leave_out("editing commands, which change law elsewhere", words);
        }
    }
}

const VOCABULARY: KnownElements = KnownElements {
    names: "Cite a aftertext annotation annotations attachment attachments b br caption center cite col colgroup \
    conjunction container document e em fn footnote footnotes h1 h2 h3 h4 h5 h6 heading i img include li \
    num ol p page para prefix procedural-data reason recital recitals row s section span strong sub \
    subheading sup table tbody td text tfoot th thead title tr u ul underline",
    is_left_out: |node| matches!(name(node), None | Some("meta" | "toc")),
};

/// Checks the options. `joined_numbers = true` means that citations consist of the numbers of all
/// containers and of the section, joined with dots. `absent` lists path suffixes of included
/// documents that are missing from the files.
pub fn check_options(options: &toml::Table) -> Result<(), String> {
    for (key, value) in options {
        match key.as_str() {
            source::JOINED_NUMBERS if !value.is_bool() => return Err(format!("'{key}' must be true or false")),
            source::ABSENT if !is_list_of_paths(value) => return Err(format!("'{key}' must be a list of paths")),
            source::JOINED_NUMBERS | source::ABSENT => {}
            _ => {
                let known = [source::JOINED_NUMBERS, source::ABSENT].map(|name| format!("'{name}'")).join(" and ");
                return Err(format!("unknown option '{key}'; this format has {known}"));
            }
        }
    }
    Ok(())
}

fn is_list_of_paths(value: &toml::Value) -> bool {
    value.as_array().is_some_and(|paths| paths.iter().all(|path| path.as_str().is_some_and(|path| !path.is_empty())))
}
