//! Sources whose files are documents, each parsed separately: XML, HTML, or JSON with a single value.
//!
//! A parser is a pure function from the bytes of a document to nodes, so documents are parsed on
//! all cores, and a fuzzer can call it. The results are processed in file order.

use crate::content::NewNode;
use crate::former_number::FormerNumber;
use crate::import::target::ImportTarget;
use crate::includes::Include;
use crate::report::{SourcePosition, WarningKind};

/// Reason for leaving out a heading that gets no container.
pub(crate) const REPEATED_HEADING: &str = "headings that repeat those of the same container";

/// Reason for leaving out the signs of footnotes.
pub(crate) const FOOTNOTE_SIGNS: &str = "signs of footnotes, which become marks";

/// Parses one document.
pub type ParseDocument = fn(&Document, ImportTarget<'_>) -> Parsed;

/// A file of a source, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name in messages: the path, or `archive!entry` within an archive.
    pub place: String,
    pub bytes: Vec<u8>,
}

impl Document {
    /// The path within the archive, or the whole path of a file outside archives.
    pub fn path(&self) -> &str {
        self.place.rsplit_once('!').map_or(&self.place, |(_, entry)| entry)
    }

    pub fn position(&self, line: u32) -> SourcePosition {
        SourcePosition { file: self.place.clone(), line: Some(line) }
    }
}

/// The position and reason of an error that keeps a document from being parsed.
pub type DocumentError = (SourcePosition, String);

/// The result of parsing a document.
#[derive(Debug, Default)]
pub struct Parsed {
    pub nodes: Vec<NewNode>,
    /// Containers that the document only implies, by its path or by numbers. They are added if no
    /// document of the code body states them.
    pub inferred: Vec<NewNode>,
    /// The places where other documents belong.
    pub includes: Vec<Include>,
    /// Rows of tables of former numbers.
    pub former_numbers: Vec<FormerNumber>,
    pub warnings: Vec<(WarningKind, SourcePosition, String)>,
    /// Words of the document that are not part of any node, each with the reason. Words left out
    /// without a reason count as lost.
    pub left_out: Vec<(&'static str, String)>,
    /// The plan says that the document does not belong to this source.
    pub is_skipped: bool,
    /// Whether the plan provides the patterns that separate headings, law and credits. They may not
    /// fit the document.
    pub uses_plan_patterns: bool,
    /// Errors that make the build fail.
    pub mistakes: Vec<(SourcePosition, String)>,
}

impl Parsed {
    /// The result for a document that could not be parsed.
    pub fn refused(position: SourcePosition, what: impl Into<String>) -> Self {
        Self { mistakes: vec![(position, what.into())], ..Self::default() }
    }

    /// The result for a document that, according to the plan, does not belong to the source.
    pub fn skipped() -> Self {
        Self { is_skipped: true, ..Self::default() }
    }

    pub fn warn(&mut self, kind: WarningKind, position: SourcePosition, what: impl Into<String>) {
        self.warnings.push((kind, position, what.into()));
    }

    /// Records that words of the document are left out on purpose. The reason names a kind of
    /// words, such as "page numbers".
    pub fn leave_out(&mut self, reason: &'static str, words: impl Into<String>) {
        self.left_out.push((reason, words.into()));
    }

    pub fn refuse(&mut self, position: SourcePosition, what: impl Into<String>) {
        self.mistakes.push((position, what.into()));
    }
}
