//! The messages of a build: warnings with their positions, and a final report that is stored in the snapshot.

use std::collections::BTreeMap;
use std::fmt;

use hornbook_corpus::vectors::SpaceName;
use serde::{Deserialize, Serialize};

/// Warnings of one kind beyond this many are only counted.
const WARNINGS_KEPT_PER_KIND: u64 = 20_000;
/// The number of examples kept for faults that importers repair.
const EXAMPLES_KEPT_PER_KIND: u64 = 5;

/// The account of the words of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WordsReport {
    pub source: String,
    /// Words of the source, without those that are set aside.
    pub words: u64,
    /// Words of the source outside law, notes, headings and credits, such as navigation, by reason.
    pub set_aside: BTreeMap<String, u64>,
    /// Words in the snapshot.
    pub law: u64,
    pub notes: u64,
    pub headings: u64,
    pub credits: u64,
    /// Words of the source that the snapshot contains as numbers, citations, topics or labels.
    pub names: u64,
    /// Words of the source that were left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Words of the snapshot that were set aside in the source, such as headings that each line repeats.
    pub from_set_aside: u64,
    /// Words of the snapshot that the source lacks or has less often, such as labels made from
    /// positions in lists.
    pub added: u64,
    pub added_examples: Vec<String>,
    /// Words of the source that are lost without a reason.
    pub unaccounted: u64,
    pub unaccounted_examples: Vec<String>,
}

/// A position in a source, shown as `file:line` if the source has lines.
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

/// The subject of a warning. `--strict` turns all of them into errors, except faults that importers repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    RepeatedProvision,
    SecondWording,
    SharedCitation,
    MissingNumber,
    EmptyProvision,
    UnknownStatus,
    /// An element with words in it that the importer does not know.
    UnknownElement,
    /// A source of the plan whose files are not there.
    AbsentSource,
    /// A document that another one includes, and that is missing from the files according to the plan.
    AbsentDocument,
    /// A statement that a provision has or had another number, which the importer does not understand.
    UnreadRenumbering,
    /// Dates in the wrong order.
    Dates,
    /// A remark about the effective time of a wording, which the importer does not fully understand.
    UncertainValidity,
    /// Law that was in the wrong place and was moved to its place.
    Misplaced,
    /// An entry of the source that is not a provision, such as a link to the next page.
    JunkEntry,
    /// A heading that continues with the headings of the following sections.
    RunOnHeading,
    /// A heading that the source cut short. The text contained the complete heading.
    CutHeading,
    /// A text that contains the same words twice or more, as a whole and in parts.
    RepeatedText,
    /// Words left out as repetitions, without evidence that the source wrote them twice.
    DoubtfulRepeat,
    /// A line that looks like a source credit, but law or unknown text follows it.
    DoubtfulCredit,
    /// Lines that a plan leaves out, with their number.
    LeftOut,
    /// A line that a plan leaves out although it reads like law.
    DoubtfulLeftOut,
    /// A statistic of a whole source that shows that its plan does not fit.
    PoorFit,
    /// A title that lacks many of the sections that other law cites in it.
    IncompleteCopy,
    /// A text that contains a list of sections instead of the law.
    ContentsAsText,
    /// Labels of a list that its source states in two ways that do not agree.
    DoubtfulLabel,
    /// It is doubtful where the law of a provision ends and its credit or notes begin.
    DoubtfulEnd,
    /// A character that has a meaning only in one font, which the source does not name.
    PrivateCharacter,
    Zoning,
    /// A link in an archive. Links are never followed.
    SkippedLink,
}

impl WarningKind {
    /// Faults that an importer repairs based on evidence in the source. They are only counted in
    /// the report, because no action is needed.
    pub fn is_repaired(self) -> bool {
        matches!(self, Self::RunOnHeading | Self::CutHeading | Self::RepeatedText | Self::LeftOut)
    }

    /// Describes several warnings of a kind; the number precedes it.
    pub fn kind_description(self) -> &'static str {
        match self {
            Self::RepeatedProvision => "provisions repeat another one word for word; each is kept once",
            Self::SecondWording => "provisions are second wordings of another one",
            Self::SharedCitation => "provisions share their citation with another one",
            Self::MissingNumber => "sections have no number",
            Self::EmptyProvision => "provisions are in force but have no text",
            Self::UnknownStatus => "status words of provisions are unknown",
            Self::UnknownElement => "elements are unknown",
            Self::UncertainValidity => "wordings have effective times that are not understood",
            Self::AbsentSource => "sources are left out, because their files are not there",
            Self::AbsentDocument => "documents are included, but missing from the files",
            Self::UnreadRenumbering => "statements about other numbers of provisions are not understood",
            Self::Dates => "dates are in the wrong order",
            Self::Misplaced => "provisions were in the wrong place",
            Self::JunkEntry => "entries are not provisions, or have a name that is not their number",
            Self::RunOnHeading => "headings continued into those of other sections",
            Self::CutHeading => "headings were cut short; the texts contain them completely",
            Self::RepeatedText => "texts contained words twice or more; each is kept once",
            Self::DoubtfulRepeat => "words in texts were left out as repetitions without proof",
            Self::DoubtfulCredit => "lines look like source credits, but law or something unknown follows",
            Self::LeftOut => "times lines were left out because of a plan",
            Self::DoubtfulLeftOut => "lines that a plan leaves out read like law",
            Self::PoorFit => "statistics show that a plan does not fit its source",
            Self::IncompleteCopy => "titles lack many of the sections that are cited in them",
            Self::ContentsAsText => "texts are lists of other sections; the source lacks the law",
            Self::DoubtfulLabel => "lists have doubtful labels",
            Self::DoubtfulEnd => "provisions contain words that may not be law",
            Self::PrivateCharacter => "private-use characters are unknown; they are left out",
            Self::Zoning => "faults of zoning layers",
            Self::SkippedLink => "links in archives were skipped",
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
        let limit = if kind.is_repaired() { EXAMPLES_KEPT_PER_KIND } else { WARNINGS_KEPT_PER_KIND };
        if *count <= limit {
            self.kept.push(Warning { kind, place: place.to_string(), what: what.into() });
        }
    }

    /// The first warning that was not repaired.
    pub fn first(&self) -> Option<&Warning> {
        self.kept.iter().find(|warning| !warning.kind.is_repaired())
    }

    /// The number of warnings that were not repaired.
    pub fn total(&self) -> u64 {
        self.counts.iter().filter(|(kind, _)| !kind.is_repaired()).map(|(_, count)| count).sum()
    }

    pub fn into_parts(self) -> (Vec<Warning>, BTreeMap<WarningKind, u64>) {
        (self.kept, self.counts)
    }

    /// Converts to a report that lists repaired faults separately.
    pub fn into_report(self) -> WarningReport {
        let (mended, warnings) = self.kept.into_iter().partition(|warning| warning.kind.is_repaired());
        let (mended_counts, warning_counts) = self.counts.into_iter().partition(|(kind, _)| kind.is_repaired());
        WarningReport { warning_counts, warnings, mended_counts, mended }
    }
}

/// The warnings of a build, and the faults of its sources that were repaired.
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

/// The final report, stored as `report.json` in the snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub plan: String,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub peak_memory_bytes: u64,
    pub source_text_bytes: u64,
    /// The size of all files of the snapshot except this report and the manifest.
    pub snapshot_bytes: u64,
    pub code_bodies: Vec<CodeBodyReport>,
    pub zoning_layers: Vec<LayerReport>,
    /// The account of the words of each source.
    #[serde(default)]
    pub words: Vec<WordsReport>,
    pub references: ReferenceReport,
    pub graph: Option<GraphReport>,
    /// The second vector space, if a sentence encoder also embedded the passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoded: Option<EncodedReport>,
    /// Whether headings of provisions are in vectors and indexes. None in reports of older programs.
    #[serde(default)]
    pub index_headings: Option<bool>,
    pub stages: Vec<StageReport>,
    #[serde(flatten)]
    pub warnings: WarningReport,
    /// The parts that were copied from an earlier snapshot.
    pub reused: Vec<String>,
}

impl Report {
    /// The report on the graph of a space.
    pub(crate) fn graph_of(self, space: &SpaceName) -> Option<GraphReport> {
        match self.encoded {
            Some(encoded) if encoded.space == space.as_str() => Some(encoded.graph),
            _ => self.graph,
        }
    }
}

/// The result of embedding with a sentence encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EncodedReport {
    pub space: String,
    pub passages: u32,
    /// Passages whose vector was copied from an earlier snapshot.
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
    /// Citations in the texts of provisions, counting every occurrence.
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
    /// Jurisdictions, code bodies and subtrees with their own graph.
    pub ranges: u32,
    pub points: u32,
    pub mended: u32,
    /// Points that were inserted into the graph of an earlier snapshot since its last full build.
    pub inserted: u32,
    /// A hash of the input of the graph: its options, the sample queries and the ranges.
    pub recipe: String,
    /// A hash of the options alone.
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
    fn repaired_faults_are_counted_separately_and_are_not_errors() {
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
