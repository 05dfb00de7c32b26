//! The result of a check.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::brief::{BriefPlace, UnreadableSigns};
use crate::compare::Difference;

/// The options of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Reports provisions whose wording took effect after this day, such as the day on which the document was written.
    pub since: Option<Day>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// Nothing is wrong.
    Right,
    /// A person should look at it: it could not be checked, or is not certain.
    Doubtful,
    /// It is wrong.
    Wrong,
}

/// The answer to a citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CitationVerdict {
    /// It names law in force, or a range or container of it.
    Resolved,
    /// Several provisions have this citation.
    Ambiguous,
    /// The code, or its title, is not in the corpus.
    NotLoaded,
    /// The code has no such number.
    NoSuchSection,
    /// The provision has no such subdivision.
    NoSuchSubdivision,
    /// It looks like a citation of a code, but has no number or title that can be read.
    Malformed,
    Repealed,
    /// It has another number now.
    Renumbered,
    Expired,
    NotYetEffective,
    /// It is reserved or omitted.
    NotInForce,
    /// Its wording took effect after the day that the check names.
    Reworded,
    /// A short form that may mean several provisions, or a citation with a sign that cannot be read.
    Unclear,
}

impl CitationVerdict {
    pub const ALL: [Self; 13] = [
        Self::Resolved,
        Self::Ambiguous,
        Self::NotLoaded,
        Self::NoSuchSection,
        Self::NoSuchSubdivision,
        Self::Malformed,
        Self::Repealed,
        Self::Renumbered,
        Self::Expired,
        Self::NotYetEffective,
        Self::NotInForce,
        Self::Reworded,
        Self::Unclear,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Ambiguous => "ambiguous",
            Self::NotLoaded => "not_loaded",
            Self::NoSuchSection => "no_such_section",
            Self::NoSuchSubdivision => "no_such_subdivision",
            Self::Malformed => "malformed",
            Self::Repealed => "repealed",
            Self::Renumbered => "renumbered",
            Self::Expired => "expired",
            Self::NotYetEffective => "not_yet_effective",
            Self::NotInForce => "not_in_force",
            Self::Reworded => "reworded",
            Self::Unclear => "unclear",
        }
    }

    /// For people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Resolved => "in force",
            Self::Ambiguous => "several provisions",
            Self::NotLoaded => "not in this corpus",
            Self::NoSuchSection => "no such section",
            Self::NoSuchSubdivision => "no such subdivision",
            Self::Malformed => "cannot be read",
            Self::Repealed => "repealed",
            Self::Renumbered => "renumbered",
            Self::Expired => "expired",
            Self::NotYetEffective => "not yet in effect",
            Self::NotInForce => "not in force",
            Self::Reworded => "reworded since",
            Self::Unclear => "unclear",
        }
    }

    pub const fn severity(self) -> FindingSeverity {
        match self {
            Self::Resolved => FindingSeverity::Right,
            Self::Ambiguous | Self::NotLoaded | Self::Reworded | Self::Unclear => FindingSeverity::Doubtful,
            Self::NoSuchSection
            | Self::NoSuchSubdivision
            | Self::Malformed
            | Self::Repealed
            | Self::Renumbered
            | Self::Expired
            | Self::NotYetEffective
            | Self::NotInForce => FindingSeverity::Wrong,
        }
    }
}

/// The answer to a quotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuotationVerdict {
    /// Word for word the law.
    Verbatim,
    /// Word for word, but for what brackets and ellipses announce.
    Marked,
    /// Every word is the law's, but the punctuation differs.
    Punctuation,
    /// Words were changed, added or left out without a sign.
    Altered,
    /// Word for word another provision.
    Elsewhere,
    /// Word for word a wording that is not in force on the day.
    OtherWording,
    /// Nothing in the corpus has these words.
    NotFound,
    /// The cited law is not in the corpus, or the document has more to compare than one check does.
    Unchecked,
    /// A sign of the quotation cannot be read in the document.
    Unreadable,
}

impl QuotationVerdict {
    pub const ALL: [Self; 9] = [
        Self::Verbatim,
        Self::Marked,
        Self::Punctuation,
        Self::Altered,
        Self::Elsewhere,
        Self::OtherWording,
        Self::NotFound,
        Self::Unchecked,
        Self::Unreadable,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verbatim => "verbatim",
            Self::Marked => "marked",
            Self::Punctuation => "punctuation",
            Self::Altered => "altered",
            Self::Elsewhere => "elsewhere",
            Self::OtherWording => "other_wording",
            Self::NotFound => "not_found",
            Self::Unchecked => "unchecked",
            Self::Unreadable => "unreadable",
        }
    }

    /// For people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Verbatim => "word for word",
            Self::Marked => "word for word, with marked changes",
            Self::Punctuation => "other punctuation",
            Self::Altered => "altered",
            Self::Elsewhere => "from another provision",
            Self::OtherWording => "from a wording not in force",
            Self::NotFound => "not found",
            Self::Unchecked => "not checked",
            Self::Unreadable => "unreadable here",
        }
    }

    pub const fn severity(self) -> FindingSeverity {
        match self {
            Self::Verbatim | Self::Marked => FindingSeverity::Right,
            Self::Punctuation | Self::Unchecked | Self::Unreadable => FindingSeverity::Doubtful,
            Self::Altered | Self::Elsewhere | Self::OtherWording | Self::NotFound => FindingSeverity::Wrong,
        }
    }
}

/// A provision or container that a citation names, or that has the words of a quotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CitedProvision {
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    pub citation: String,
    pub heading: String,
    #[schemars(with = "String")]
    pub status: Status,
    /// The web page on which people read it, if a server answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A citation in the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CitationFinding {
    pub place: BriefPlace,
    /// The citation as it is written.
    pub text: String,
    pub verdict: CitationVerdict,
    /// Its full canonical form; null if it cannot be read.
    pub citation: Option<String>,
    /// Whether it is a short form, such as `id.` or `§ 12(b)`.
    pub is_short: bool,
    /// False if a short form was followed to the likeliest provision, but another may be meant.
    pub is_certain: bool,
    /// An explanation for people, with the next step to take.
    pub message: String,
    pub provisions: Vec<CitedProvision>,
    /// Its bytes in the text of the document.
    #[serde(skip)]
    pub range: std::ops::Range<usize>,
}

/// A quotation in the document that is near a citation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuotationFinding {
    pub place: BriefPlace,
    /// The quoted words.
    pub text: String,
    pub verdict: QuotationVerdict,
    /// The citation that it is attributed to.
    pub attributed_to: Option<String>,
    /// An explanation for people, with the next step to take.
    pub message: String,
    /// The provisions that have these words.
    pub found_in: Vec<CitedProvision>,
    /// The comparison with the cited law, if words differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// Its bytes in the text of the document.
    #[serde(skip)]
    pub range: std::ops::Range<usize>,
}

/// One citation or quotation with its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    Citation(CitationFinding),
    Quotation(QuotationFinding),
}

impl Finding {
    pub fn place(&self) -> BriefPlace {
        match self {
            Self::Citation(finding) => finding.place,
            Self::Quotation(finding) => finding.place,
        }
    }

    pub fn severity(&self) -> FindingSeverity {
        match self {
            Self::Citation(finding) => finding.verdict.severity(),
            Self::Quotation(finding) => finding.verdict.severity(),
        }
    }

    /// The name of its verdict.
    pub fn verdict(&self) -> &'static str {
        match self {
            Self::Citation(finding) => finding.verdict.as_str(),
            Self::Quotation(finding) => finding.verdict.as_str(),
        }
    }

    /// Its verdict for people.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Citation(finding) => finding.verdict.label(),
            Self::Quotation(finding) => finding.verdict.label(),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Citation(finding) => &finding.text,
            Self::Quotation(finding) => &finding.text,
        }
    }

    pub fn message(&self) -> &str {
        match self {
            Self::Citation(finding) => &finding.message,
            Self::Quotation(finding) => &finding.message,
        }
    }

    /// Its bytes in the text of the document.
    pub fn range(&self) -> std::ops::Range<usize> {
        match self {
            Self::Citation(finding) => finding.range.clone(),
            Self::Quotation(finding) => finding.range.clone(),
        }
    }

    /// The provisions that it names.
    pub fn provisions_mut(&mut self) -> &mut Vec<CitedProvision> {
        match self {
            Self::Citation(finding) => &mut finding.provisions,
            Self::Quotation(finding) => &mut finding.found_in,
        }
    }
}

/// How many findings there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckSummary {
    pub citations: u32,
    pub quotations: u32,
    /// The findings of which nothing is wrong.
    pub right: u32,
    /// The findings that a person should look at.
    pub doubtful: u32,
    pub wrong: u32,
    /// The number of findings by verdict.
    pub verdicts: BTreeMap<String, u32>,
}

/// What a check found in a document, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    pub summary: CheckSummary,
    /// The day whose law was asked.
    #[schemars(with = "String")]
    pub as_of: Day,
    /// The signs of the document that cannot be read: what is cited or quoted there may be missed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableSigns>,
    pub findings: Vec<Finding>,
}

impl CheckReport {
    pub(crate) fn new(mut findings: Vec<Finding>, as_of: Day, unreadable: Vec<UnreadableSigns>) -> Self {
        // What contains another finding comes before it.
        findings.sort_by_key(|finding| (finding.range().start, Reverse(finding.range().end)));
        let mut summary = CheckSummary::default();
        for finding in &findings {
            match finding {
                Finding::Citation(_) => summary.citations += 1,
                Finding::Quotation(_) => summary.quotations += 1,
            }
            match finding.severity() {
                FindingSeverity::Right => summary.right += 1,
                FindingSeverity::Doubtful => summary.doubtful += 1,
                FindingSeverity::Wrong => summary.wrong += 1,
            }
            *summary.verdicts.entry(finding.verdict().to_owned()).or_default() += 1;
        }
        Self { summary, as_of, unreadable, findings }
    }
}
