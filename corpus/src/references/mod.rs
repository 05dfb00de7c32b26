//! Cross references, `references.bin`: which provisions each provision cites, and which cite it.
//!
//! A list contains only provisions of the snapshot, each once, and never the citing provision itself. Outgoing
//! lists keep the order in which the text mentions the provisions. Incoming lists are their exact transpose, in the
//! order of the code.

mod file;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use file::FILE_NAME;
pub use reader::References;
pub use writer::ReferenceWriter;
