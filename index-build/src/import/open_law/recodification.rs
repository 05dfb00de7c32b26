//! Reads tables that state the numbers of sections before a code was renumbered: `1.0202 | § 1.02.020`.

use roxmltree::Node;

use super::section;
use super::source::{OpenLawDocument, elements, name, words};
use crate::former_number::FormerNumber;
use crate::report::WarningKind;

/// The head of such a table.
const HEAD: [&str; 2] = ["Old Section", "New Section"];

/// Records the rows of all such tables in an attachment. Of codes whose citations are joined from numbers of
/// containers, none are known.
pub(super) fn read(source: &mut OpenLawDocument<'_, '_>, attachment: Node<'_, '_>) {
    if source.joins_numbers() {
        return;
    }
    for table in attachment.descendants().filter(|node| name(*node) == Some("table")) {
        let mut rows = table.descendants().filter(|node| name(*node) == Some("tr"));
        if rows.next().is_some_and(|head| cells(head) == HEAD) {
            rows.for_each(|row| read_row(source, row));
        }
    }
}

fn read_row(source: &mut OpenLawDocument<'_, '_>, row: Node<'_, '_>) {
    let cells = cells(row);
    if cells.iter().all(String::is_empty) {
        return;
    }
    let numbers = match cells.as_slice() {
        [former, new] if is_number(former) => {
            new.strip_prefix('§').map(str::trim_start).filter(|new| is_number(new)).map(|new| (former, new))
        }
        _ => None,
    };
    let Some((former, new)) = numbers else {
        let what = format!("the row '{}' of a table of former numbers is not understood", cells.join(" | "));
        return source.warn(WarningKind::UnreadRenumbering, row, what);
    };
    let position = source.position(row);
    let (key, former_citation) = (section::key(source.target, new), section::citation(source.target, former));
    source.parsed.former_numbers.push(FormerNumber { key, former_citation, position });
}

fn cells(row: Node<'_, '_>) -> Vec<String> {
    elements(row).map(words).collect()
}

/// Whether this is the number of one whole section.
fn is_number(text: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '-');
    text.starts_with(|sign: char| sign.is_ascii_digit()) && text.chars().all(is_sign)
}
