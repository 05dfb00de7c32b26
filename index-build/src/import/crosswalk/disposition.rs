//! Reads tables at the beginning of a title that say where the sections of an earlier code are in it: `5, 5a | 6101`,
//! `16 U.S.C. 1a–1 | 54 U.S.C. 100101`.

use std::collections::HashMap;

use super::place::{citation, number_at};

/// The former numbers of the sections of a title, by the numbers that the title began with.
#[derive(Debug, Default)]
pub(crate) struct Dispositions(HashMap<String, Vec<String>>);

impl Dispositions {
    /// Reads the rows of a table with this head, if it is about the title. A former section of which only a part became
    /// a section here, and one that is in several rows or became several sections, have no one number today: they add
    /// nothing. Neither do ranges, which look like numbers with a dash.
    pub(crate) fn read(&mut self, title: &str, head: &[String], rows: &[Vec<String>]) {
        let Some(former_title) = former_title(title, head) else { return };
        let mut rows_of: HashMap<(&str, &str), usize> = HashMap::new();
        let cells = rows.iter().filter_map(|row| row.first()).map(|cell| with_title(cell, former_title));
        for (from, number) in cells.flat_map(|(from, list)| named_in(list).map(move |number| (from, number))) {
            *rows_of.entry((from, number)).or_default() += 1;
        }
        for row in rows {
            let [former, new] = row.as_slice() else { continue };
            let (Some((from, former)), Some((to, new))) = (sections(former, former_title), sections(new, title)) else {
                continue;
            };
            if let ([new], true) = (new.as_slice(), to == title) {
                let whole = former.iter().filter(|number| rows_of.get(&(from, **number)) == Some(&1));
                let numbers = self.0.entry((*new).replace('–', "-")).or_default();
                numbers.extend(whole.map(|number| citation(from, number)));
            }
        }
    }

    /// What the tables say about the section that has had this number since the title was enacted.
    pub(super) fn of(&self, number: &str) -> &[String] {
        self.0.get(&number.replace('–', "-")).map_or(&[], Vec::as_slice)
    }
}

/// The title of the former sections of a table whose other column has the numbers of this title. Tables of revisions
/// between two earlier codes have numbers that nothing has today. Empty if each cell names its title.
fn former_title<'h>(title: &str, head: &'h [String]) -> Option<&'h str> {
    let [former, new] = head else { return None };
    if (former.as_str(), new.as_str()) == ("Former United States Code Section", "Disposition") {
        return Some("");
    }
    let new = new.strip_prefix("Title ")?.strip_prefix(title)?;
    let (former, kind) = former.strip_prefix("Title ")?.split_once(' ')?;
    matches!((kind, new), ("Former Sections", " New Sections") | ("Former Classification", " New Classification"))
        .then_some(former)
}

/// The title that a cell names, or that of its column, and the sections.
fn with_title<'c>(cell: &'c str, title: &'c str) -> (&'c str, &'c str) {
    cell.split_once(" U.S.C. ").unwrap_or((title, cell))
}

/// The numbers in a list, of whole sections and of those of which it names a part.
fn named_in(list: &str) -> impl Iterator<Item = &str> {
    list.split(", ").filter_map(|element| Some(number_at(element)?.0))
}

/// The title and the numbers of whole sections in a cell.
fn sections<'c>(cell: &'c str, title: &'c str) -> Option<(&'c str, Vec<&'c str>)> {
    let (title, list) = with_title(cell, title);
    let numbers: Option<Vec<&str>> = list.split(", ").map(section).collect();
    Some((title, numbers?)).filter(|(title, _)| title.bytes().all(|sign| sign.is_ascii_digit()) && !title.is_empty())
}

fn section(text: &str) -> Option<&str> {
    let (number, rest) = number_at(text)?;
    let is_plain = |text: &str| text.bytes().all(|sign| sign.is_ascii_digit());
    let is_range = number.split_once(['–', '-']).is_some_and(|(from, to)| is_plain(from) && is_plain(to));
    (rest.is_empty() && !is_range).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(title: &str, head: [&str; 2], rows: &[[&str; 2]]) -> Dispositions {
        let owned = |texts: &[&str; 2]| texts.map(str::to_owned).to_vec();
        let mut found = Dispositions::default();
        found.read(title, &owned(&head), &rows.iter().map(owned).collect::<Vec<_>>());
        found
    }

    #[test]
    fn a_row_counts_if_whole_sections_became_one() {
        let head = ["Title 41 Former Sections", "Title 41 New Sections"];
        let rows = [
            ["5, 5a", "6101"],
            ["6a–1", "6101"],
            ["6a(a)", "6102"],
            ["6b(a), (b)", "Rep."],
            ["7", "6103, 6104"],
            ["8 (less proviso)", "6103"],
            ["9", "T. 2 § 1816b"],
            ["10–12", "6103"],
            ["13 to 15", "6103"],
            ["16", "(Previously repealed)"],
            ["17", "6104"],
            // A part of it is elsewhere.
            ["18", "6104"],
            ["18(b)", "6103"],
            ["19", "6104"],
            ["19", "6103"],
        ];
        let found = read("41", head, &rows);
        assert_eq!(found.of("6101"), ["41 U.S.C. § 5", "41 U.S.C. § 5a", "41 U.S.C. § 6a-1"]);
        assert_eq!([found.of("6102"), found.of("6103")], [&[] as &[String]; 2]);
        assert_eq!(found.of("6104"), ["41 U.S.C. § 17"]);
    }

    #[test]
    fn other_titles_are_read_and_tables_between_earlier_codes_are_not() {
        let rows = [["2451", "20102"]];
        assert_eq!(
            read("51", ["Title 42 Former Sections", "Title 51 New Sections"], &rows).of("20102"),
            ["42 U.S.C. § 2451"]
        );
        for head in [
            ["Title 42 Former Sections", "Title 51 1960 Revision Sections"],
            ["Title 42 Former Sections", "Title 5 New Sections"],
            ["Title 42 Former Sections", "Title 511 New Sections"],
            ["Title 42 New Sections", "Title 51 Former Sections"],
            ["Section", "Subject"],
        ] {
            assert_eq!(read("51", head, &rows).of("20102"), &[] as &[String], "{head:?}");
        }
        let rows = [
            ["16 U.S.C. 1a–1", "54 U.S.C. 100101"],
            ["16 U.S.C. 2 (part)", "54 U.S.C. 100102"],
            ["1", "54 U.S.C. 3"],
            ["16 U.S.C. 4", "16 U.S.C. 5"],
        ];
        let found = read("54", ["Former United States Code Section", "Disposition"], &rows);
        assert_eq!(found.of("100101"), ["16 U.S.C. § 1a-1"]);
        assert_eq!([found.of("100102"), found.of("3"), found.of("5")], [&[] as &[String]; 3]);
    }
}
