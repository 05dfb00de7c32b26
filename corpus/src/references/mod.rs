//! Cross references, `references.bin`: which provisions the text of each cites, and which cite it.
//!
//! Only provisions that are held stand here, each once in a list, and none in its own. Outgoing lists keep the order in which
//! the text mentions them; incoming lists are their exact transpose, in the order of the code.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::References;
pub use writer::ReferenceWriter;

use crate::section_file::FileKind;

pub const FILE_NAME: &str = "references.bin";
const KIND: FileKind = FileKind { magic: *b"HBREFERS", version: 1 };
