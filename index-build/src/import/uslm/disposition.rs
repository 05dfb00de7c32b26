//! The tables in the notes of a title that say where the sections of an earlier code are in it.

use roxmltree::Node;

use crate::import::crosswalk::Dispositions;
use crate::import::unknown::is_words;

/// Adds the tables in the notes of a title.
pub(super) fn read(container: Node<'_, '_>, title: &str, found: &mut Dispositions) {
    let notes = container.children().filter(|child| matches!(child.tag_name().name(), "note" | "notes"));
    for table in notes.flat_map(|notes| notes.descendants()).filter(|inner| inner.tag_name().name() == "table") {
        let rows = || table.descendants().filter(|row| row.tag_name().name() == "tr");
        let is_head = |row: &Node<'_, '_>| row.attribute("class") == Some("header");
        let Some(head) = rows().find(is_head) else { continue };
        let rows: Vec<Vec<String>> = rows().filter(|row| row.attribute("class").is_none()).map(cells).collect();
        found.read(title, &cells(head), &rows);
    }
}

/// The words of each cell. Paragraphs and other elements are divided by a space.
fn cells(row: Node<'_, '_>) -> Vec<String> {
    let cells = row.children().filter(|cell| matches!(cell.tag_name().name(), "td" | "th"));
    let words = |cell: Node<'_, '_>| {
        let texts = cell.descendants().filter(|inner| is_words(*inner)).filter_map(|inner| inner.text());
        texts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    };
    cells.map(words).collect()
}
