//! Errors of a build. Every message names the file and, where there is one, the line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use hornbook_corpus::catalogue::CatalogueError;
use hornbook_corpus::manifest::ManifestError;
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::section_file::SectionFileError;
use hornbook_corpus::texts::TextDamaged;
use hornbook_corpus::vectors::VectorWriteError;
use hornbook_corpus::zoning::catalogue::ZoningCatalogueError as ZoningError;

use crate::account::ReadBackError;
use crate::compile::CompileError;
use crate::data_directory::DataDirectoryError;
use crate::encoder_error::EncoderError;
use crate::graph::GraphBuildError;
use crate::import::intake::ImportError;
use crate::import::zoning::ZoningImportError;
use crate::loss::LossRefused;
use crate::mistakes::Mistakes;
use crate::plan::PlanError;
use crate::publish::PublishError;
use crate::report::Warning;
use crate::report::WordsReport;
use crate::source_files::SourceError;
use crate::spool::SpoolError;

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("{0}")]
    Plan(PlanError),
    #[error("{0}")]
    Source(SourceError),
    #[error("{0}")]
    Import(ImportError),
    #[error("{0}")]
    Zoning(ZoningImportError),
    /// Mistakes in the sources.
    #[error("{0}")]
    Mistakes(Mistakes),
    #[error("{0}")]
    Spool(SpoolError),
    #[error("{0}")]
    Compile(CompileError),
    #[error("{0}")]
    Encoder(EncoderError),
    #[error("{0}")]
    Vectors(VectorWriteError),
    #[error("{0}")]
    Graph(GraphBuildError),
    #[error("{0}")]
    Publish(PublishError),
    #[error("{0}")]
    DataDirectory(DataDirectoryError),
    #[error("{0}")]
    Manifest(ManifestError),
    #[error("{0}")]
    Catalogue(CatalogueError),
    #[error("{0}")]
    ZoningFile(ZoningError),
    #[error("{0}")]
    File(SectionFileError),
    #[error("{0}")]
    Nodes(NodesError),
    #[error("{0}")]
    Text(TextDamaged),
    #[error(
        "cannot use the log of embedded passages {}: {source}; free its disk, or remove it to begin again",
        .path.display()
    )]
    EmbeddingLog { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        path: PathBuf,
        // Raw, because thiserror takes a field that is written `source` for the cause.
        r#source: io::Error,
    },
    /// The first warning, with `--strict`.
    #[error("{first} ({}; --strict turns warnings into errors)", first_of(*.total))]
    Strict { first: Warning, total: u64 },
    /// With `--strict`: the sources with words that are lost without a reason.
    #[error(
        "{}--strict refuses such losses; without it the build continues and report.json contains the complete account",
        lost_words(.0)
    )]
    WordsLost(Vec<WordsReport>),
    /// The snapshot was built, but it does not replace the one in use.
    #[error("{0}")]
    Loss(LossRefused),
}

fn first_of(total: u64) -> String {
    if total == 1 { "the only warning".to_owned() } else { format!("the first of {total} warnings") }
}

/// A line for each source.
fn lost_words(reports: &[WordsReport]) -> String {
    let line = |report: &WordsReport| {
        format!(
            "{}: {} of {} words are missing in the snapshot without a reason: {}\n",
            report.source,
            report.unaccounted,
            report.words,
            report.unaccounted_examples.join(", ")
        )
    };
    reports.iter().map(line).collect()
}

impl BuildError {
    pub(crate) fn in_plan(plan: &Path, what: impl fmt::Display) -> Self {
        Self::Plan(PlanError::Invalid { place: plan.display().to_string(), what: what.to_string() })
    }
}

impl From<ReadBackError> for BuildError {
    fn from(error: ReadBackError) -> Self {
        match error {
            ReadBackError::File(error) => error.into(),
            ReadBackError::Nodes(error) => error.into(),
            ReadBackError::Text(error) => error.into(),
        }
    }
}

macro_rules! from_error {
    ($($error:ty => $variant:ident),* $(,)?) => {$(
        impl From<$error> for BuildError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}
from_error!(
    PlanError => Plan,
    SourceError => Source,
    ImportError => Import,
    ZoningImportError => Zoning,
    SpoolError => Spool,
    CompileError => Compile,
    EncoderError => Encoder,
    VectorWriteError => Vectors,
    GraphBuildError => Graph,
    PublishError => Publish,
    DataDirectoryError => DataDirectory,
    ManifestError => Manifest,
    CatalogueError => Catalogue,
    ZoningError => ZoningFile,
    SectionFileError => File,
    NodesError => Nodes,
    TextDamaged => Text,
);
