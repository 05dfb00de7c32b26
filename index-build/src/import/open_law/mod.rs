//! The XML of the open.law family: the Code of the District of Columbia, the Code of Maryland Regulations, and the codes
//! of others that publish in this form.
//!
//! A code is a tree of documents: a root names the titles with `xi:include`, titles name sections or chapters. Each
//! document is parsed alone, and the gatherer joins them. Elements in the `codify` namespaces are commands for editors;
//! they and hints for display are passed over.
//!
//! `containers` walks the tree, `section` makes provisions, `law_text` sets their text with `inline` and `table`, `notes`
//! keeps annotations apart, `href` reads includes, `status` the reasons of dead law.

mod containers;
mod effect;
mod href;
mod inline;
mod law_text;
mod notes;
mod section;
mod source;
mod status;
mod table;

use roxmltree::Document as Tree;

use crate::import::document::{Document, Parsed};
use crate::import::target::Target;
use crate::import::xml;
use source::{Source, name};

/// Parses one document of a code.
pub fn parse(document: &Document, target: Target<'_>) -> Parsed {
    xml::read(document, |tree| read_tree(tree, document, target))
}

fn read_tree(tree: &Tree<'_>, document: &Document, target: Target<'_>) -> Parsed {
    let root = tree.root_element();
    let mut source = Source::new(document, tree, target);
    match name(root) {
        Some("document") => containers::code(&mut source, root),
        Some("container") => containers::document(&mut source, root),
        Some("section") => {
            let parent = source.document_handle(document.path());
            section::add(&mut source, root, Some(parent));
        }
        _ => source.refuse(root, "the outermost element is no document, container or section of the open.law form"),
    }
    source.parsed
}

/// `joined_numbers = true` says that citations are the numbers of all containers and of the section, joined with dots.
pub fn check_options(options: &toml::Table) -> Result<(), String> {
    match options.iter().find(|(key, value)| *key != source::JOINED_NUMBERS || !value.is_bool()) {
        None => Ok(()),
        Some((key, _)) if key == source::JOINED_NUMBERS => Err(format!("'{key}' must be true or false")),
        Some((key, _)) => Err(format!("unknown option '{key}'; this format has only '{}'", source::JOINED_NUMBERS)),
    }
}
