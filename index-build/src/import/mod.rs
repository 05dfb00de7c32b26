//! Importers, one per source format. Each reads the files of its format and passes nodes to the
//! gatherer, and does not know how a snapshot is written. [`IMPORTERS`] is the table of them: a new
//! format needs one file here and one row.

pub(crate) mod batch;
pub(crate) mod cfr;
pub mod cfr_annual;
mod converted_text;
pub(crate) mod crosswalk;
pub mod document;
pub mod ecfr;
mod encoding;
mod flat_section;
mod flat_text;
mod html;
mod html_labels;
mod html_sink;
mod html_text;
pub mod intake;
pub mod json_line;
pub mod labels;
mod levels;
pub mod municipal_html;
pub mod native;
pub mod open_law;
pub(crate) mod options;
pub mod page_json;
pub mod plain_text;
pub mod provisions_jsonl;
mod ranges;
pub mod regml;
mod remark;
pub mod slug;
pub mod state_html;
pub mod state_json;
mod table_spans;
pub mod target;
pub mod text_builder;
mod unknown;
pub mod uslm;
mod white_space;
pub mod xml;
pub mod zoning;

use std::fmt;

use serde::Deserialize;

use crate::account::TextFormat;
use crate::source_files::SourceFile;
use document::ParseDocument;
use intake::{ImportError, SourceIntake};
use target::ImportTarget;

/// Reads one file of a source of law and returns its number of nodes.
pub type ReadLines = fn(SourceFile<'_>, ImportTarget<'_>, &mut SourceIntake<'_>) -> Result<u64, ImportError>;

/// How the files of a source are read.
#[derive(Clone, Copy)]
pub enum ReadMode {
    /// Line by line; files can have any length.
    Lines(ReadLines),
    /// Each file as a whole, many at a time.
    Documents {
        parse: ParseDocument,
        /// Whether the file at this path belongs to the law. Others, such as licences and pictures,
        /// are skipped.
        wants: fn(&str) -> bool,
    },
}

/// A source format.
pub struct Importer {
    /// The value of `format` in a plan.
    pub name: &'static str,
    pub content: SourceContent,
}

/// The content of sources of a format.
pub enum SourceContent {
    Law {
        read: ReadMode,
        /// Where its files contain words of the law, for the word account.
        words: TextFormat,
        /// Checks the `[source.options]` of a plan.
        check_options: fn(&toml::Table) -> Result<(), String>,
        /// Whether citations are stored in canonical form. Otherwise they are stored as the source writes them.
        canonical_citations: bool,
        /// Whether nodes can have their own tags, besides those that the plan gives to the whole source.
        own_tags: bool,
    },
    /// A zoning layer, read after all law, because its zones cite provisions.
    Zoning,
}

const METADATA: &str = "metadata of the file";
const CONTENTS: &str = "tables of contents, which repeat headings";
const PRINTED_MATTER: &str = "printed matter around the law: front and back matter, running heads";
const HTML_PAGE: TextFormat = TextFormat::Html(&[("head", METADATA), ("nav", CONTENTS)]);
/// Element names are in lower case.
const USLM_XML: TextFormat = TextFormat::Xml(&[
    ("meta", METADATA),
    ("toc", CONTENTS),
    ("preface", PRINTED_MATTER),
    ("backmatter", PRINTED_MATTER),
    ("endmarker", PRINTED_MATTER),
    ("leftrunninghead", PRINTED_MATTER),
    ("rightrunninghead", PRINTED_MATTER),
    ("ear", PRINTED_MATTER),
]);
const CFR_XML: TextFormat = TextFormat::Xml(&[
    ("header", METADATA),
    ("amddate", METADATA),
    ("fmtr", PRINTED_MATTER),
    ("bmtr", PRINTED_MATTER),
    ("lrh", PRINTED_MATTER),
    ("rrh", PRINTED_MATTER),
    ("ear", PRINTED_MATTER),
    ("cfrtoc", CONTENTS),
    ("contents", CONTENTS),
    ("toc", CONTENTS),
    ("cfrtitle", CONTENTS),
    ("gid", "names of images"),
    ("mid", "names of images"),
]);
const REGML_XML: TextFormat = TextFormat::Xml(&[
    ("fdsys", METADATA),
    ("preamble", METADATA),
    ("tableofcontents", CONTENTS),
    ("analysis", "explanations of rulemaking"),
    ("graphic", "names of images"),
]);
const OPEN_LAW_XML: TextFormat = TextFormat::Xml(&[
    ("meta", METADATA),
    ("reason", "reasons, which become the status"),
    ("prefix", "words before the number of a level"),
]);

pub static IMPORTERS: [Importer; 13] = [
    Importer {
        name: "native",
        content: SourceContent::Law {
            read: ReadMode::Lines(native::import),
            words: TextFormat::Json(&["heading", "text", "topic", "sourceCredit"]),
            check_options: no_options,
            canonical_citations: false,
            own_tags: true,
        },
    },
    Importer {
        name: "provisions-jsonl",
        content: SourceContent::Law {
            read: ReadMode::Lines(provisions_jsonl::import),
            words: TextFormat::Json(&["heading", "text"]),
            check_options: no_options,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "uslm",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: uslm::parse, wants: xml::is_source_file },
            words: USLM_XML,
            check_options: no_options,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "ecfr",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: ecfr::parse, wants: xml::is_source_file },
            words: CFR_XML,
            check_options: no_options,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "cfr-annual",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: cfr_annual::parse, wants: xml::is_source_file },
            words: CFR_XML,
            check_options: no_options,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "regml",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: regml::parse, wants: xml::is_source_file },
            words: REGML_XML,
            check_options: no_options,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "state-json",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: state_json::parse, wants: state_json::wants },
            words: TextFormat::JsonInParts(&["text", "history"]),
            check_options: options::check::<state_json::StateJsonSettings>,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "page-json",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: page_json::parse, wants: page_json::wants },
            words: TextFormat::Json(&["t"]),
            check_options: options::check::<page_json::PageJsonSettings>,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "state-html",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: state_html::parse, wants: html::wants },
            words: HTML_PAGE,
            check_options: options::check::<state_html::StateHtmlSettings>,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "municipal-html",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: municipal_html::parse, wants: html::wants },
            words: HTML_PAGE,
            check_options: options::check::<municipal_html::MunicipalHtmlOptions>,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "plain-text",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: plain_text::parse, wants: plain_text::wants },
            words: TextFormat::Text,
            check_options: options::check::<plain_text::PlainTextOptions>,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer {
        name: "open-law",
        content: SourceContent::Law {
            read: ReadMode::Documents { parse: open_law::parse, wants: xml::is_source_file },
            words: OPEN_LAW_XML,
            check_options: open_law::check_options,
            canonical_citations: true,
            own_tags: false,
        },
    },
    Importer { name: "geojson-zoning", content: SourceContent::Zoning },
];

/// For formats without options.
fn no_options(options: &toml::Table) -> Result<(), String> {
    match options.keys().next() {
        Some(key) => Err(format!("this format has no options, but the plan sets '{key}'")),
        None => Ok(()),
    }
}

impl Importer {
    /// Checks the options that a plan gives to a source of this format.
    pub fn check_options(&self, options: &toml::Table) -> Result<(), String> {
        match self.content {
            SourceContent::Law { check_options, .. } => check_options(options),
            SourceContent::Zoning => no_options(options),
        }
    }

    pub fn is_law(&self) -> bool {
        matches!(self.content, SourceContent::Law { .. })
    }

    pub fn has_canonical_citations(&self) -> bool {
        matches!(self.content, SourceContent::Law { canonical_citations: true, .. })
    }

    pub fn has_own_tags(&self) -> bool {
        matches!(self.content, SourceContent::Law { own_tags: true, .. })
    }
}

/// Shows only the name. The debug text of a plan is part of the hash that detects changes.
impl fmt::Debug for Importer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<'de> Deserialize<'de> for &'static Importer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        IMPORTERS.iter().find(|importer| importer.name == name).ok_or_else(|| {
            let known: Vec<&str> = IMPORTERS.iter().map(|importer| importer.name).collect();
            serde::de::Error::custom(format!("unknown format '{name}'; the formats are {}", known.join(", ")))
        })
    }
}
