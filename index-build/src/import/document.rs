//! Sources whose files are documents, each parsed by itself: XML, HTML, or JSON that is one value.
//!
//! A parser is a pure function from the bytes of a document to nodes, so documents are parsed on all cores, and a fuzzer
//! can call it. What it found is taken in the order of the files.

use crate::content::NewNode;
use crate::import::target::Target;
use crate::includes::Include;
use crate::report::{SourcePosition, WarningKind};

/// Why a heading is in no container of its own.
pub(crate) const REPEATED_HEADING: &str = "headings that repeat those of the same container";

/// Parses one document.
pub type ParseDocument = fn(&Document, Target<'_>) -> Parsed;

/// A file of a source, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its name in messages: the path, and within an archive `archive!entry`.
    pub place: String,
    pub bytes: Vec<u8>,
}

impl Document {
    /// The path within the archive, or the whole path of a file that is in none.
    pub fn path(&self) -> &str {
        self.place.rsplit_once('!').map_or(&self.place, |(_, entry)| entry)
    }

    pub fn position(&self, line: u32) -> SourcePosition {
        SourcePosition { file: self.place.clone(), line: Some(line) }
    }
}

/// Why a document could not be read at all, and where.
pub type Refusal = (SourcePosition, String);

/// What a parser found in a document.
#[derive(Debug, Default)]
pub struct Parsed {
    pub nodes: Vec<NewNode>,
    /// Containers that the document only infers, from its path or from numbers: added if no document of the code body
    /// states them.
    pub inferred: Vec<NewNode>,
    /// Where other documents belong.
    pub includes: Vec<Include>,
    pub warnings: Vec<(WarningKind, SourcePosition, String)>,
    /// Words of the document that are no part of any node, each time with the reason: what is left out without one counts as
    /// lost.
    pub left_out: Vec<(&'static str, String)>,
    /// The plan says that the document is none of this source.
    pub is_skipped: bool,
    /// Whether a plan describes the forms by which headings, law and credits are told apart, which may not fit the document.
    pub is_read_by_forms: bool,
    /// What keeps the build from ending well.
    pub mistakes: Vec<(SourcePosition, String)>,
}

impl Parsed {
    /// A document that could not be read at all.
    pub fn refused(position: SourcePosition, what: impl Into<String>) -> Self {
        Self { mistakes: vec![(position, what.into())], ..Self::default() }
    }

    /// A document that is none of the source, as the plan says.
    pub fn skipped() -> Self {
        Self { is_skipped: true, ..Self::default() }
    }

    pub fn warn(&mut self, kind: WarningKind, position: SourcePosition, what: impl Into<String>) {
        self.warnings.push((kind, position, what.into()));
    }

    /// Says that words of the document are left out on purpose. The reason is the name of a kind, such as "page numbers".
    pub fn leave_out(&mut self, reason: &'static str, words: impl Into<String>) {
        self.left_out.push((reason, words.into()));
    }

    pub fn refuse(&mut self, position: SourcePosition, what: impl Into<String>) {
        self.mistakes.push((position, what.into()));
    }
}
