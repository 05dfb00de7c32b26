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

#[derive(Debug)]
pub enum BuildError {
    Plan(PlanError),
    Source(SourceError),
    Import(ImportError),
    Zoning(ZoningImportError),
    /// Mistakes in the sources.
    Mistakes(Mistakes),
    Spool(SpoolError),
    Compile(CompileError),
    Encoder(EncoderError),
    Vectors(VectorWriteError),
    Graph(GraphBuildError),
    Publish(PublishError),
    DataDirectory(DataDirectoryError),
    Manifest(ManifestError),
    Catalogue(CatalogueError),
    ZoningFile(ZoningError),
    File(SectionFileError),
    Nodes(NodesError),
    Text(TextDamaged),
    Write {
        path: PathBuf,
        source: io::Error,
    },
    /// The first warning, with `--strict`.
    Strict {
        first: Warning,
        total: u64,
    },
    /// With `--strict`: the sources with words that are lost without a reason.
    WordsLost(Vec<WordsReport>),
    /// The snapshot was built, but it does not replace the one in use.
    Loss(LossRefused),
}

impl BuildError {
    pub(crate) fn in_plan(plan: &Path, what: impl fmt::Display) -> Self {
        Self::Plan(PlanError::Invalid { place: plan.display().to_string(), what: what.to_string() })
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Source(error) => error.fmt(f),
            Self::Import(error) => error.fmt(f),
            Self::Zoning(error) => error.fmt(f),
            Self::Mistakes(mistakes) => mistakes.fmt(f),
            Self::Spool(error) => error.fmt(f),
            Self::Loss(refused) => refused.fmt(f),
            Self::Compile(error) => error.fmt(f),
            Self::Encoder(error) => error.fmt(f),
            Self::Vectors(error) => error.fmt(f),
            Self::Graph(error) => error.fmt(f),
            Self::Publish(error) => error.fmt(f),
            Self::DataDirectory(error) => error.fmt(f),
            Self::Manifest(error) => error.fmt(f),
            Self::Catalogue(error) => error.fmt(f),
            Self::ZoningFile(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
            Self::Nodes(error) => error.fmt(f),
            Self::Text(error) => error.fmt(f),
            Self::Write { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Self::Strict { first, total } => {
                let all =
                    if *total == 1 { "the only warning".to_owned() } else { format!("the first of {total} warnings") };
                write!(f, "{first} ({all}; --strict turns warnings into errors)")
            }
            Self::WordsLost(reports) => {
                for report in reports {
                    writeln!(
                        f,
                        "{}: {} of {} words are missing in the snapshot without a reason: {}",
                        report.source,
                        report.unaccounted,
                        report.words,
                        report.unaccounted_examples.join(", ")
                    )?;
                }
                f.write_str(
                    "--strict refuses such losses; without it the build continues and report.json contains the complete account",
                )
            }
        }
    }
}

impl std::error::Error for BuildError {}

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
