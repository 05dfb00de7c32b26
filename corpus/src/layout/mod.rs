//! Layouts, `layout.bin`: how the texts of a node are set.
//!
//! A text is stored as lines, a paragraph each, because that is what is searched, hashed and quoted. Its layout says what
//! each line is: an enumerated paragraph and how deep it lies, a heading, a row of a table. Marks say what stands within
//! the lines: references to footnotes, run-in headings, emphasis. Searching never reads a layout.

mod anchors;
mod file;
mod lines;
mod tables;
#[cfg(test)]
mod tests;

pub use anchors::{Anchor, SetLine, anchor_name, set_lines};
pub use file::{FILE_NAME, LayoutWriter, Layouts};
pub use lines::{Layout, LayoutRef, Line, LineKind, Mark, MarkKind};
pub use tables::{Table, TableCell, set_table};
