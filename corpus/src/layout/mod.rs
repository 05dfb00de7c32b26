//! Layouts, `layout.bin`: how the texts of a node are laid out.
//!
//! A text is stored as lines, one for each paragraph; in this form it is searched, hashed and quoted. Its layout
//! gives the kind of each line: an enumerated paragraph with its depth, a heading, a row of a table. Marks within
//! the lines are references to footnotes, run-in headings and emphasis. A search never reads a layout.

mod anchors;
mod file;
mod lines;
mod tables;
#[cfg(test)]
mod tests;

pub use anchors::{Anchor, RenderLine, anchor_name, layout_lines};
pub use file::{FILE_NAME, LayoutWriter, Layouts};
pub use lines::{Layout, LayoutRef, Line, LineKind, Mark, MarkKind};
pub use tables::{Table, TableCell, build_table};
