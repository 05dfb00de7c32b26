//! The messages of a build: warnings with their positions while it runs, and a final report stored in the snapshot.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Warnings of one kind beyond this many are only counted, so that a broken source does not hide the rest.
const WARNINGS_KEPT_PER_KIND: usize = 200;

/// A position in a source, shown as `file:line` where there are lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    pub file: String,
    pub line: Option<u32>,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// What a warning is about. `--strict` makes all of them errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    RepeatedProvision,
    SecondWording,
    SharedCitation,
    MissingNumber,
    EmptyProvision,
    UnknownStatus,
    /// An element of a document that the importer does not know, with words in it.
    UnknownElement,
    /// Dates in the wrong order.
    Dates,
    /// Law that stands where it does not belong, and was put in its place.
    Misplaced,
    /// An entry of the source that is no provision, such as a link to the next page.
    JunkEntry,
    /// A heading that runs on into the headings of the sections that follow.
    RunOnHeading,
    /// A heading that the source cut short; the whole of it was in the text.
    CutHeading,
    /// The text has the same words twice or more, as a whole and in parts.
    RepeatedText,
    /// The text holds a list of sections instead of the law.
    ContentsAsText,
    Zoning,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    pub kind: WarningKind,
    pub place: String,
    pub what: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Collects warnings in the order they were found.
#[derive(Debug, Default)]
pub struct Warnings {
    kept: Vec<Warning>,
    counts: BTreeMap<WarningKind, u64>,
}

impl Warnings {
    pub fn add(&mut self, kind: WarningKind, place: impl fmt::Display, what: impl Into<String>) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count <= WARNINGS_KEPT_PER_KIND as u64 {
            self.kept.push(Warning { kind, place: place.to_string(), what: what.into() });
        }
    }

    pub fn first(&self) -> Option<&Warning> {
        self.kept.first()
    }

    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    pub fn into_parts(self) -> (Vec<Warning>, BTreeMap<WarningKind, u64>) {
        (self.kept, self.counts)
    }
}

/// The closing report, as `report.json` in the snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub plan: String,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub peak_memory_bytes: u64,
    pub source_text_bytes: u64,
    /// The size of all files of the snapshot but this report and the manifest.
    pub snapshot_bytes: u64,
    pub code_bodies: Vec<CodeBodyReport>,
    pub zoning_layers: Vec<LayerReport>,
    pub references: ReferenceReport,
    pub graph: Option<GraphReport>,
    pub stages: Vec<StageReport>,
    pub warning_counts: BTreeMap<WarningKind, u64>,
    pub warnings: Vec<Warning>,
    /// What was copied from an earlier snapshot instead of being made again.
    pub reused: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeBodyReport {
    pub jurisdiction: String,
    pub name: String,
    pub nodes: u32,
    pub provisions: u32,
    pub living: u32,
    pub chunks: u32,
    pub text_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LayerReport {
    pub jurisdiction: String,
    pub citation_quality: String,
    pub features: u32,
    pub placeholders: u32,
}

/// The citations in the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReferenceReport {
    /// Citations in the texts of provisions, each as often as it occurs.
    pub citations: u64,
    /// Pairs of a provision and another provision of the snapshot that it cites.
    pub references: u64,
    /// How many provisions cite another one, and how many are cited.
    pub citing: u32,
    pub cited: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphReport {
    pub chunks: u32,
    /// Jurisdictions, code bodies and subtrees that have links of their own.
    pub ranges: u32,
    pub points: u32,
    pub mended: u32,
    /// Points that were inserted into the graph of an earlier snapshot since it was built as a whole.
    pub inserted: u32,
    /// A hash of how the graph was built: its options and the queries it was prepared for.
    pub recipe: String,
    /// A hash of its options alone.
    pub options: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StageReport {
    pub name: String,
    pub seconds: f64,
    pub cpu_seconds: f64,
}
