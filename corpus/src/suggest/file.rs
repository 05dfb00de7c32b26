//! The name and kind of the file of suggestions.

use crate::section_file::FileKind;

pub const FILE_NAME: &str = "suggest.bin";
pub(super) const KIND: FileKind = FileKind { magic: *b"HBSUGGES", version: 1 };
