//! The name and kind of the file of spellings.

use crate::section_file::FileKind;

pub const FILE_NAME: &str = "spelling.bin";
pub(super) const KIND: FileKind = FileKind { magic: *b"HBSPELLS", version: 1 };
