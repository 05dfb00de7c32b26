//! What an importer of law is given, and how it can fail.

use std::fmt;

use crate::content::NewNode;
use crate::gather::Gatherer;
use crate::mistakes::Mistakes;
use crate::report::Warnings;
use crate::source_files::SourceError;
use crate::spool::SpoolError;

/// The longest line of a JSON Lines source.
pub(crate) const LINE_BYTES_MAX: usize = hornbook_corpus::texts::TEXT_BYTES_MAX;

/// The code body that an importer fills, from the plan.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub jurisdiction: &'a str,
    pub code_body: &'a str,
    pub key: &'a str,
    /// With `{number}`.
    pub citation: Option<&'a str>,
    /// Index into the catalogue's sources.
    pub source: u16,
    pub tags: &'a [String],
}

/// Where an importer puts what it read: nodes, warnings about them, and mistakes that keep the build from ending well.
#[derive(Debug)]
pub struct Intake<'a> {
    pub gatherer: &'a mut Gatherer,
    pub warnings: &'a mut Warnings,
    pub mistakes: &'a mut Mistakes,
}

impl Intake<'_> {
    pub fn add(&mut self, node: NewNode) -> Result<(), ImportError> {
        Ok(self.gatherer.add(node, self.mistakes)?)
    }

    /// Reports every mistake of a line. Reading goes on, unless there are too many.
    pub fn refuse(&mut self, position: &impl fmt::Display, mistakes: Vec<String>) -> Result<(), ImportError> {
        mistakes.into_iter().for_each(|what| self.mistakes.add(position, what));
        if self.mistakes.is_full() { Err(ImportError::TooManyMistakes) } else { Ok(()) }
    }
}

/// Why reading a source ended early. Mistakes in single lines do not end it.
#[derive(Debug)]
pub enum ImportError {
    Source(SourceError),
    Spool(SpoolError),
    /// They are in the intake.
    TooManyMistakes,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => error.fmt(f),
            Self::Spool(error) => error.fmt(f),
            Self::TooManyMistakes => f.write_str("there are too many errors in the sources"),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Source(error) => Some(error),
            Self::Spool(error) => Some(error),
            Self::TooManyMistakes => None,
        }
    }
}

impl From<SourceError> for ImportError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl From<SpoolError> for ImportError {
    fn from(error: SpoolError) -> Self {
        Self::Spool(error)
    }
}
