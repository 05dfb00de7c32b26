//! Standard output and standard error. If the reader closes the pipe, as `head` does, the command
//! ends quietly: writing fails with [`OutputClosed`], which `main` recognises. `println!` would
//! panic instead, so this crate forbids it.

use std::error::Error;
use std::io::{self, ErrorKind, Write};

use serde::Serialize;

/// The result of a command. `main` prints an error as one line.
pub(crate) type CommandResult = Result<(), Box<dyn Error>>;

/// The reader closed the pipe.
#[derive(Debug, thiserror::Error)]
#[error("the output was closed")]
struct OutputClosed;

/// Prints to standard output and ignores errors: the server keeps running if the output is closed.
pub(super) fn print_ignoring_errors(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
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

/// Prints the text unchanged and flushes the output.
pub(super) fn print(text: &str) -> CommandResult {
    Stdout.write_all(text.as_bytes())?;
    Ok(Stdout.flush()?)
}

/// Prints JSON on several lines.
pub(super) fn print_json(value: &impl Serialize) -> CommandResult {
    print(&format!("{:#}\n", serde_json::to_value(value)?))
}

/// Prints a line to standard error and ignores errors.
pub(crate) fn print_to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
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
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|number| count(number, "query", "queries")), ["0 queries", "1 query", "2 queries"]);
    }
}
