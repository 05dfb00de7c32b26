//! The numbers of the titles of well-known code bodies, from a small built-in table. They distinguish law that a
//! snapshot lacks from law that does not exist.

use std::cmp::Ordering;
use std::sync::LazyLock;

use crate::citation::number_order;

const TABLE: &str = include_str!("contents.tsv");

/// The parts into which a code body is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeTitles {
    /// The level of the parts, such as `title`.
    pub level: &'static str,
    /// The numbers of all parts, in order.
    pub numbers: Vec<String>,
}

/// The code and title in which another code is printed. The Federal Rules of Civil Procedure, for example, are
/// printed in an appendix of the United States Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedWithin {
    pub key: &'static str,
    pub title: &'static str,
    /// The first number of the code that is printed there. A copy of the title without it does not have the code.
    pub first_number: &'static str,
}

struct CodeTitlesTable {
    contents: Vec<(&'static str, CodeTitles)>,
    within: Vec<(&'static str, PrintedWithin)>,
}

static ROWS: LazyLock<CodeTitlesTable> = LazyLock::new(CodeTitlesTable::read);

impl CodeTitles {
    /// The contents of the code body with this key, if they are known.
    pub fn of(key: &str) -> Option<&'static Self> {
        ROWS.contents.iter().find(|(known, _)| *known == key).map(|(_, contents)| contents)
    }
}

impl PrintedWithin {
    /// Where the code with this key is printed, if it is part of another code.
    pub fn of(key: &str) -> Option<Self> {
        ROWS.within.iter().find(|(known, _)| *known == key).map(|&(_, within)| within)
    }
}

/// Compares numbers such as `5`, `5A`, `8.01` and `10` in code order.
pub fn compare_numbers(a: &str, b: &str) -> Ordering {
    number_order(a, b).then_with(|| a.cmp(b))
}

impl CodeTitlesTable {
    /// Reads the table. It is part of the program, so an error in it is a bug and panics.
    fn read() -> Self {
        let mut table = Self { contents: Vec::new(), within: Vec::new() };
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [key, level, numbers] = fields[..] else {
                panic!("a row of contents.tsv does not have three fields: {line}")
            };
            match level.strip_prefix('>') {
                Some(host) => {
                    let Some((title, first_number)) = numbers.split_once('/') else {
                        panic!("a row of contents.tsv has no first number: {line}")
                    };
                    table.within.push((key, PrintedWithin { key: host, title, first_number }));
                }
                None => {
                    let mut numbers: Vec<String> = numbers.split(',').flat_map(run).collect();
                    numbers.sort_by(|a, b| compare_numbers(a, b));
                    table.contents.push((key, CodeTitles { level, numbers }));
                }
            }
        }
        table
    }
}

/// Expands a range such as `1-52`. A single number such as `8.01` is returned as it is.
fn run(run: &str) -> Vec<String> {
    let ends = run.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    match ends {
        Some((first, last)) => (first..=last).map(|number: u16| number.to_string()).collect(),
        None => vec![run.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::Grammar;

    #[test]
    fn every_row_is_of_a_known_code_and_names_each_number_once() {
        let keys = ROWS.contents.iter().map(|(key, _)| *key);
        let within = ROWS.within.iter().flat_map(|(key, within)| [*key, within.key]);
        for key in keys.chain(within) {
            assert!(Grammar::built_in().body_with_key(key).is_some(), "{key}");
        }
        for (key, contents) in &ROWS.contents {
            assert!(contents.numbers.windows(2).all(|pair| pair[0] != pair[1]), "{key}");
        }
        for (key, within) in &ROWS.within {
            let host = CodeTitles::of(within.key).expect("the host is in the table");
            assert!(host.numbers.iter().any(|number| number == within.title), "{key}");
        }
    }

    #[test]
    fn titles_are_known_in_their_order() {
        let code = CodeTitles::of("us/usc").unwrap();
        assert_eq!((code.level, code.numbers.len()), ("title", 57));
        assert_eq!(code.numbers[3..6], ["4", "5", "5A"]);
        assert!(!code.numbers.contains(&"53".to_owned()));
        assert_eq!(CodeTitles::of("us/cfr").unwrap().numbers.len(), 49);
        assert_eq!(CodeTitles::of("xa/rs"), None);
        let rules_of_evidence = PrintedWithin { key: "us/usc", title: "28A", first_number: "101" };
        assert_eq!(PrintedWithin::of("us/fre"), Some(rules_of_evidence));
        assert_eq!(PrintedWithin::of("us/usc"), None);
    }
}
