//! Standard output and standard error. If the reader closes the pipe, as `head` does, the command
//! ends quietly: writing fails with [`OutputClosed`], which `main` recognises. `println!` would
//! panic instead, so this crate forbids it.
//!
//! Law, names and error messages may contain what strangers wrote. Nothing that is printed here can control
//! the terminal: hidden characters are shown as their code points, in JSON as escapes.

use std::error::Error;
use std::io::{self, ErrorKind, Write};

use hornbook::api::currency::Currency;
use hornbook_base::invisible::{escaped_json, escaped_lines};
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::outline::Status;
use hornbook_search::{Engine, SearchError};
use serde::Serialize;

/// The result of a command. `main` prints an error as one line.
pub(crate) type CommandResult = Result<(), Box<dyn Error>>;

/// Any error of a command.
pub(crate) type CommandError = Box<dyn Error>;

/// A command that answers with its exit code could not run at all. The exit code is then 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CannotRun(pub(super) CommandError);

/// The exit code of a command that failed.
pub(crate) fn exit_code(error: &(dyn Error + 'static)) -> u8 {
    if error.is::<CannotRun>() { 2 } else { 1 }
}

/// The reader closed the pipe.
#[derive(Debug, thiserror::Error)]
#[error("the output was closed")]
struct OutputClosed;

/// Prints to standard output and ignores errors: the server keeps running if the output is closed.
pub(super) fn print_ignoring_errors(text: &str) {
    let _ = io::stdout().write_all(visible(text).as_bytes());
}

/// Begins and ends emphasis on a terminal.
pub(super) const BOLD: &str = "\u{1b}[1m";
pub(super) const NOT_BOLD: &str = "\u{1b}[22m";

/// Shows the hidden characters of a text, except line feeds, tabs and our own emphasis.
fn visible(text: &str) -> String {
    let without_end = |part: &str| part.split(NOT_BOLD).map(escaped_lines).collect::<Vec<_>>().join(NOT_BOLD);
    text.split(BOLD).map(without_end).collect::<Vec<_>>().join(BOLD)
}

/// Standard output. A broken pipe becomes [`OutputClosed`] only here, not for other writers.
pub(super) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes).map_err(mark_closed)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush().map_err(mark_closed)
    }
}

fn mark_closed(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::BrokenPipe { io::Error::new(ErrorKind::BrokenPipe, OutputClosed) } else { error }
}

/// Whether a command failed only because its output was closed.
pub(crate) fn is_output_closed(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if inner.is_some_and(|inner| inner.is::<OutputClosed>()) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Prints the text and flushes the output.
pub(super) fn print(text: &str) -> CommandResult {
    Stdout.write_all(visible(text).as_bytes())?;
    Ok(Stdout.flush()?)
}

/// Prints JSON on several lines.
pub(super) fn print_json(value: &impl Serialize) -> CommandResult {
    print(&escaped_json(&format!("{:#}\n", serde_json::to_value(value)?)))
}

/// Prints JSON on one line.
pub(super) fn print_json_line(value: &impl Serialize) -> CommandResult {
    print(&escaped_json(&format!("{}\n", serde_json::to_string(value)?)))
}

/// Prints a line to standard error and ignores errors.
pub(crate) fn print_to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// ` [repealed]` behind a heading; nothing for law in force.
pub(super) fn status_mark(status: Status) -> String {
    match status {
        Status::InForce => String::new(),
        status => format!(" [{}]", status.as_str()),
    }
}

/// How current the edition of a node is: `current through 2022-09-30 (over a year old)`, or `copy of 2026-06-20` if its
/// source does not state a day. Empty if no day is known.
pub(super) fn currency(engine: &Engine, node: NodeOrdinal, day: Day) -> Result<String, SearchError> {
    let snapshot = engine.snapshot();
    let through = engine.current_through(node)?;
    let source = snapshot.cards.source(node).and_then(|source| snapshot.catalogue.sources.get(usize::from(source)));
    let retrieved = source.and_then(|source| source.retrieved.parse().ok()).filter(|_| through.is_none());
    Ok(Currency::on(day, through, retrieved).to_string())
}

/// `1 query`, `2 queries`.
pub(super) fn count(number: u64, singular: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_closed_output_is_quiet() {
        let closed = mark_closed(io::Error::from(ErrorKind::BrokenPipe));
        assert!(is_output_closed(&closed));
        let wrapped: Box<dyn Error> = Box::new(closed);
        assert!(is_output_closed(&*wrapped));
        assert!(!is_output_closed(&io::Error::from(ErrorKind::BrokenPipe)));
        assert!(!is_output_closed(&mark_closed(io::Error::from(ErrorKind::StorageFull))));
    }

    #[test]
    fn only_law_in_force_has_no_mark() {
        let marks = [Status::InForce, Status::Uncertain, Status::Repealed].map(status_mark);
        assert_eq!(marks, ["", " [uncertain]", " [repealed]"]);
    }

    #[test]
    fn what_strangers_wrote_cannot_control_the_terminal() {
        let text = format!("{BOLD}fees{NOT_BOLD} a\u{1b}[2J\u{1b}]0;x\u{7}b\u{202e}c\n\td");
        let shown = format!("{BOLD}fees{NOT_BOLD} a<U+001B>[2J<U+001B>]0;x<U+0007>b<U+202E>c\n\td");
        assert_eq!(visible(&text), shown);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|number| count(number, "query", "queries")), ["0 queries", "1 query", "2 queries"]);
    }
}
