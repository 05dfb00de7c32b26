//! The name and kind of the file of cross references.

use crate::section_file::FileKind;

pub const FILE_NAME: &str = "references.bin";
pub(super) const KIND: FileKind = FileKind { magic: *b"HBREFERS", version: 1 };
