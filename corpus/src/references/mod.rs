//! Cross references, `references.bin`: which provisions the text of each cites, and which cite it.
//!
//! Only provisions that are held stand here, each once in a list, and none in its own. Outgoing lists keep the order in which
//! the text mentions them; incoming lists are their exact transpose, in the order of the code.

mod file;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use file::FILE_NAME;
pub use reader::References;
pub use writer::ReferenceWriter;
