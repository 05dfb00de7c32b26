//! The messages of a build: warnings with their positions while it runs, and a final report stored in the snapshot.

use std::collections::BTreeMap;
use std::fmt;

use hornbook_corpus::vectors::SpaceName;
use serde::{Deserialize, Serialize};

/// Warnings of one kind beyond this many are only counted.
const WARNINGS_KEPT_PER_KIND: u64 = 20_000;
/// Of faults that importers mend, so many are examples.
const EXAMPLES_KEPT_PER_KIND: u64 = 5;

/// What became of the words of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WordsReport {
    pub source: String,
    /// Words of the source, without those that are set aside.
    pub words: u64,
    /// Words of the source that are no law, notes, headings or credits, such as navigation, by reason.
    pub set_aside: BTreeMap<String, u64>,
    /// What the snapshot holds.
    pub law: u64,
    pub notes: u64,
    pub headings: u64,
    pub credits: u64,
    /// Words of the source that the snapshot holds as numbers, citations, topics or labels.
    pub names: u64,
    /// Words of the source that were left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Words of the snapshot that were set aside in the source, such as headings that each line repeats.
    pub from_set_aside: u64,
    /// Words of the snapshot that the source does not have, or not as often, such as labels made from positions in lists.
    pub added: u64,
    pub added_examples: Vec<String>,
    /// Words of the source that are lost without a reason.
    pub unaccounted: u64,
    pub unaccounted_examples: Vec<String>,
}

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

/// What a warning is about. `--strict` makes all of them errors but those that are mended.
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
    /// A document that another one includes, and that the plan says is not among the files.
    AbsentDocument,
    /// Dates in the wrong order.
    Dates,
    /// A remark about the time in which a wording is law that is not wholly understood.
    UncertainValidity,
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
    /// Words left out because they repeat others, with nothing to show that the source wrote them twice.
    DoubtfulRepeat,
    /// A line that looks like a source credit, with law or something unknown behind it.
    DoubtfulCredit,
    /// Lines that a plan leaves out, with their number.
    LeftOut,
    /// A line that a plan leaves out, and that reads as law.
    DoubtfulLeftOut,
    /// A figure of a whole source that shows that its plan does not fit it.
    PoorFit,
    /// The text holds a list of sections instead of the law.
    ContentsAsText,
    /// Labels of a list that its source states in two ways, which do not agree.
    DoubtfulLabel,
    /// It is doubtful where the law of a provision ends and its credit or notes begin.
    DoubtfulEnd,
    /// A character that is a sign in one font alone, and nobody said which.
    PrivateCharacter,
    Zoning,
    /// A link in an archive, which is never followed.
    SkippedLink,
}

impl WarningKind {
    /// Faults of a source that its importer repairs, with proof in the source. They are figures of the report, since nobody has to act.
    pub fn is_mended(self) -> bool {
        matches!(self, Self::RunOnHeading | Self::CutHeading | Self::RepeatedText | Self::LeftOut)
    }

    /// What many of a kind are, after their number.
    pub fn described(self) -> &'static str {
        match self {
            Self::RepeatedProvision => "provisions repeat another one word for word; each is kept once",
            Self::SecondWording => "provisions are second wordings of another one",
            Self::SharedCitation => "provisions share their citation with another one",
            Self::MissingNumber => "sections have no number",
            Self::EmptyProvision => "provisions are in force but have no text",
            Self::UnknownStatus => "words that should say what became of a provision are unknown",
            Self::UnknownElement => "elements are unknown",
            Self::UncertainValidity => "wordings are law at times that their sources state in words not understood",
            Self::AbsentDocument => "documents are included, but not among the files",
            Self::Dates => "dates are in the wrong order",
            Self::Misplaced => "provisions stood in the wrong place",
            Self::JunkEntry => "entries are no provisions, or have another name than their number",
            Self::RunOnHeading => "headings ran on into those of other sections",
            Self::CutHeading => "headings were cut short; the texts have the whole of them",
            Self::RepeatedText => "texts had words twice or more; each is kept once",
            Self::DoubtfulRepeat => "texts had words left out as repeated, though nothing shows it",
            Self::DoubtfulCredit => "lines look like source credits, but law or something unknown follows",
            Self::LeftOut => "times lines were left out as a plan says",
            Self::DoubtfulLeftOut => "lines that a plan leaves out read as law",
            Self::PoorFit => "figures show that a plan does not fit its source",
            Self::ContentsAsText => "texts are lists of other sections; the source lacks the law",
            Self::DoubtfulLabel => "lists have labels that are doubtful",
            Self::DoubtfulEnd => "provisions have words of which it is doubtful whether they are law",
            Self::PrivateCharacter => "characters are signs in one font alone; they are left out",
            Self::Zoning => "faults of zoning layers",
            Self::SkippedLink => "links in archives were passed over",
        }
    }
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
        let limit = if kind.is_mended() { EXAMPLES_KEPT_PER_KIND } else { WARNINGS_KEPT_PER_KIND };
        if *count <= limit {
            self.kept.push(Warning { kind, place: place.to_string(), what: what.into() });
        }
    }

    /// The first that is not mended.
    pub fn first(&self) -> Option<&Warning> {
        self.kept.iter().find(|warning| !warning.kind.is_mended())
    }

    /// How many are not mended.
    pub fn total(&self) -> u64 {
        self.counts.iter().filter(|(kind, _)| !kind.is_mended()).map(|(_, count)| count).sum()
    }

    pub fn into_parts(self) -> (Vec<Warning>, BTreeMap<WarningKind, u64>) {
        (self.kept, self.counts)
    }

    /// With what is mended apart.
    pub fn into_report(self) -> WarningReport {
        let (mended, warnings) = self.kept.into_iter().partition(|warning| warning.kind.is_mended());
        let (mended_counts, warning_counts) = self.counts.into_iter().partition(|(kind, _)| kind.is_mended());
        WarningReport { warning_counts, warnings, mended_counts, mended }
    }
}

/// The warnings of a build, and the faults of its sources that were mended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WarningReport {
    pub warning_counts: BTreeMap<WarningKind, u64>,
    pub warnings: Vec<Warning>,
    #[serde(default)]
    pub mended_counts: BTreeMap<WarningKind, u64>,
    /// Examples of each kind.
    #[serde(default)]
    pub mended: Vec<Warning>,
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
    /// What became of the words of each source.
    #[serde(default)]
    pub words: Vec<WordsReport>,
    pub references: ReferenceReport,
    pub graph: Option<GraphReport>,
    /// The second space, if a sentence encoder embedded the passages too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoded: Option<EncodedReport>,
    /// Whether headings of provisions are in vectors and indexes; absent in reports of earlier programs.
    #[serde(default)]
    pub index_headings: Option<bool>,
    pub stages: Vec<StageReport>,
    #[serde(flatten)]
    pub warnings: WarningReport,
    /// What was copied from an earlier snapshot instead of being made again.
    pub reused: Vec<String>,
}

impl Report {
    /// The graph of a space.
    pub(crate) fn graph_of(self, space: &SpaceName) -> Option<GraphReport> {
        match self.encoded {
            Some(encoded) if encoded.space == space.as_str() => Some(encoded.graph),
            _ => self.graph,
        }
    }
}

/// What a sentence encoder embedded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EncodedReport {
    pub space: String,
    pub passages: u32,
    /// Of these, how many have the vector that an earlier snapshot had.
    pub taken_over: u32,
    pub graph: GraphReport,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mended_faults_are_counted_apart_and_are_no_reason_to_stop() {
        let mut warnings = Warnings::default();
        for line in 0..9 {
            warnings.add(WarningKind::RepeatedText, format!("a.json:{line}"), "twice");
        }
        assert_eq!((warnings.first(), warnings.total()), (None, 0));
        warnings.add(WarningKind::EmptyProvision, "a.json:9", "empty");
        assert_eq!((warnings.first().map(|warning| warning.place.as_str()), warnings.total()), (Some("a.json:9"), 1));
        let report = warnings.into_report();
        assert_eq!((report.warnings.len(), report.mended.len()), (1, EXAMPLES_KEPT_PER_KIND as usize));
        assert_eq!(report.mended_counts, BTreeMap::from([(WarningKind::RepeatedText, 9)]));
    }
}
