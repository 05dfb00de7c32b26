//! The operations table in Markdown, for README.md and for language models.

use super::super::operation::{CostUnit, Metering, Method, Operation, Route};
use super::super::operations::OPERATIONS;

/// README.md contains the output of [`operations`] between these two lines.
pub const README_BEGIN: &str = "<!-- rendered from src/api/operations.rs by 'make documents' -->\n";
pub const README_END: &str = "<!-- until here -->\n";

/// A Markdown table with a row for each operation.
pub fn operations() -> String {
    let rows = OPERATIONS.iter().filter_map(|operation| {
        let (Route { method, path, .. }, summary) = (operation.route?, operation.summary);
        let method = if method == Method::Get { "" } else { "POST " };
        Some(format!("| `{method}{path}` | {summary} | {} | {} |\n", scopes(operation), credits(operation)))
    });
    let head = "| path | what it answers | scope (any one of) | credits |\n|---|---|---|---|\n";
    head.to_owned() + &rows.collect::<String>()
}

pub(crate) fn scopes(operation: &Operation) -> String {
    match operation.metering() {
        None => "none".to_owned(),
        Some(Metering { any_of, .. }) => any_of.names().collect::<Vec<_>>().join(", "),
    }
}

pub(crate) fn credits(operation: &Operation) -> String {
    match operation.metering() {
        None => "0".to_owned(),
        Some(Metering { cost, .. }) if cost.per == CostUnit::Call => cost.credits.to_string(),
        Some(Metering { cost, .. }) => format!("{} per {}", cost.credits, cost.per.as_str()),
    }
}
