//! Whether the list of tools leads to the right tool: the choices of a reader who had only that list, for tasks of
//! people. When descriptions change much, have the choices made again.

use std::collections::BTreeSet;

use crate::mcp::tools;

const CHOICES: &str = include_str!("tool-choices.tsv");

/// The number of tasks that are decided.
const TASKS: usize = 66;

/// The share of right choices, in percent, below which descriptions must be better.
const RIGHT_PERCENT_MIN: usize = 95;

#[test]
fn a_reader_of_the_descriptions_chooses_the_right_tools() {
    let known: BTreeSet<&str> = tools().map(|(_, name)| name).collect();
    let rows: Vec<[&str; 3]> = CHOICES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("three columns: {line}")))
        .collect();
    assert_eq!(rows.len(), TASKS);
    let mut right_ones = BTreeSet::new();
    let mut wrong = Vec::new();
    for [task, right, chosen] in rows {
        let right: Vec<&str> = right.split('|').collect();
        for name in right.iter().chain([&chosen]) {
            assert!(known.contains(name), "{task}: there is no tool {name}");
        }
        if !right.contains(&chosen) {
            wrong.push(format!("{task}: {chosen} instead of {}", right.join(" or ")));
        }
        right_ones.extend(right);
    }
    assert!((TASKS - wrong.len()) * 100 >= TASKS * RIGHT_PERCENT_MIN, "wrong tools:\n{}", wrong.join("\n"));
    let without = known.iter().filter(|name| !right_ones.contains(*name)).collect::<Vec<_>>();
    assert_eq!(without, [&"search"], "only the name that connectors need is never the best");
}
