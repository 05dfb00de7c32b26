//! The common rule for elements that an XML importer does not know: their words are kept as text in
//! place, and each name causes one warning per file, with the line of the first element and the
//! count.
//!
//! Importers treat unknown elements as plain text. This module searches for them separately, so
//! that no importer can forget the warning.

use std::collections::{BTreeMap, HashSet};

use roxmltree::Node;

use crate::import::document::{Document, Parsed};
use crate::report::WarningKind;

/// The elements that an importer knows.
pub(crate) struct KnownElements {
    /// Element names, separated by spaces.
    pub(crate) names: &'static str,
    /// Whether a part is not law for a stated reason, such as a table of contents. Nothing within
    /// it is checked.
    pub(crate) is_left_out: fn(Node<'_, '_>) -> bool,
}

/// The first element with a name, and the number of them.
struct ElementTally {
    start: usize,
    count: usize,
}

/// Warns about every unknown element name that occurs with words.
pub(crate) fn warn(root: Node<'_, '_>, vocabulary: &KnownElements, document: &Document, parsed: &mut Parsed) {
    let known: HashSet<&str> = vocabulary.names.split_whitespace().collect();
    let mut found = BTreeMap::new();
    look(root, &known, vocabulary.is_left_out, &mut found);
    for (name, ElementTally { start, count }) in found {
        let position = document.position(root.document().text_pos_at(start).row);
        let times = if count == 1 { String::new() } else { format!(" ({count} in this file)") };
        let what = format!("<{name}> is unknown; its words are kept as text{times}");
        parsed.warn(WarningKind::UnknownElement, position, what);
    }
}

fn look<'a>(
    node: Node<'a, '_>,
    known: &HashSet<&str>,
    is_left_out: fn(Node<'_, '_>) -> bool,
    found: &mut BTreeMap<&'a str, ElementTally>,
) {
    for child in node.children().filter(|child| child.is_element() && !is_left_out(*child)) {
        let name = child.tag_name().name();
        if !known.contains(name) && has_words(child) {
            found.entry(name).or_insert(ElementTally { start: child.range().start, count: 0 }).count += 1;
        }
        look(child, known, is_left_out, found);
    }
}

/// Whether an element contains words at any depth.
pub(crate) fn has_words(node: Node<'_, '_>) -> bool {
    node.descendants().any(is_words)
}

/// Whether a node is text with words.
pub(crate) fn is_words(node: Node<'_, '_>) -> bool {
    node.is_text() && node.text().is_some_and(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::xml;

    #[test]
    fn each_kind_with_words_is_named_once_with_its_first_line() {
        let vocabulary = KnownElements { names: "a b toc", is_left_out: |node| node.tag_name().name() == "toc" };
        let text =
            "<a>\n<b>x</b><empty><b/></empty><toc><odd>y</odd></toc>\n<odd>z</odd><odd><b>z</b></odd><new>w</new></a>";
        let document = Document { place: "x.xml".into(), bytes: text.into() };
        let tree = xml::parse(&document).unwrap();
        let mut parsed = Parsed::default();
        warn(tree.root_element(), &vocabulary, &document, &mut parsed);
        let reported: Vec<String> = parsed.warnings.iter().map(|(_, place, what)| format!("{place}: {what}")).collect();
        assert_eq!(
            reported,
            [
                "x.xml:3: <new> is unknown; its words are kept as text",
                "x.xml:3: <odd> is unknown; its words are kept as text (2 in this file)"
            ]
        );
    }
}
