//! United States Legislative Markup: titles of the United States Code as the Office of the Law Revision Counsel publishes
//! them (USLM 1), with their appendices, and volumes of the Code of Federal Regulations in USLM 2.
//!
//! A document is walked once. [`hierarchy`] makes nodes of titles, chapters and sections, [`setting`] sets texts and notes
//! line by line, [`identifier`] and [`scheme`] say what a provision is called. Law that is quoted in notes makes no nodes:
//! the walk never looks for sections below a section.

mod effect;
mod hierarchy;
mod identifier;
mod lines;
mod provision;
mod reading;
mod scheme;
mod setting;
mod table;

use crate::import::document::{Document, Parsed};
use crate::import::target::Target;
use crate::import::xml;
use scheme::Scheme;

/// Style sheets and schemas lie beside the titles.
pub fn wants(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("xml"))
}

/// Parses one title, appendix or volume.
pub fn parse(document: &Document, target: Target<'_>) -> Parsed {
    let tree = match xml::parse(document) {
        Ok(tree) => tree,
        Err((position, what)) => return Parsed::refused(position, what),
    };
    let root = tree.root_element();
    let Some(scheme) = Scheme::of_root(root.tag_name().name()) else {
        let what = format!(
            "the document is <{}>, but a code in USLM is <uscDoc> or <cfrDoc>; leave this file out or choose another format",
            root.tag_name().name()
        );
        return Parsed::refused(document.position(xml::line_of(&tree, root)), what);
    };
    hierarchy::read(document, target, scheme, root)
}
