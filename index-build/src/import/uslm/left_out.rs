//! Words of a document that are in no text, because something else represents them.

use roxmltree::Node;

use super::text::{is_footnote, is_group_of_notes};
use crate::import::document::{FOOTNOTE_SIGNS, Parsed};

/// Records the words that are left out. Footnote signs become marks, and the heading over a group
/// of notes is already expressed by the kind of each note.
pub(super) fn name(root: Node<'_, '_>, parsed: &mut Parsed) {
    for node in root.descendants().filter(Node::is_element) {
        let is_sign = node.attribute("class") == Some("footnoteRef")
            || node.has_tag_name("num") && node.parent_element().is_some_and(is_footnote);
        if is_sign {
            parsed.leave_out(FOOTNOTE_SIGNS, words_in(node));
        } else if is_group_of_notes(node) {
            parsed.leave_out("headings over groups of notes", words_in(node));
        }
    }
}

/// Records the numbers that refer to a footnote again.
pub(super) fn name_signs(signs: Vec<String>, parsed: &mut Parsed) {
    signs.into_iter().for_each(|sign| parsed.leave_out(FOOTNOTE_SIGNS, sign));
}

fn words_in(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect()
}
