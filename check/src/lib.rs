//! Checks a document against the law of a snapshot: whether each citation names law that exists and is in force, and
//! whether each quotation has the words of the provision that it is attributed to.
//!
//! [`Brief::read`] takes the text out of a file. [`Found::in_document`] finds the citations and quotations in it,
//! without a look at the law: their number is the price of a check. [`Found::check`] compares them with a snapshot
//! and returns a [`CheckReport`], which [`html_page()`] and [`sarif()`] write for people and for tools.
//!
//! All of it takes time in proportion to the length of the document: what would take longer, such as many long
//! quotations of long provisions, is left unchecked beyond a bound, and the report says so.

mod attribution;
mod brief;
mod brief_context;
mod check_citations;
mod check_quotations;
mod compare;
mod found;
mod html_page;
mod other_sources;
mod quotation_marks;
mod quotations;
mod report;
mod sarif;
mod sentences;
mod short_forms;
mod sources;
mod verify;

pub use brief::{BRIEF_BYTES_MAX, Brief, BriefError, BriefFormat, BriefPlace, UnreadableSigns};
pub use compare::{Difference, DifferenceKind, compared_text};
pub use found::Found;
pub use html_page::{REPORT_STYLE, html_page, report_body};
pub use report::{
    CheckOptions, CheckReport, CheckSummary, CitationFinding, CitationVerdict, CitedProvision, Finding,
    FindingSeverity, QuotationFinding, QuotationVerdict,
};
pub use sarif::sarif;
pub use verify::{QuoteAnswer, verify_quote};
