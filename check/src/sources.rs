//! The sources of a document: its citations, the cases and papers that it names, and the quotations that belong to
//! them.

use std::borrow::Cow;
use std::ops::Range;

use hornbook_corpus::citation::{Citation, MentionedContainer};

use crate::brief::BriefBlockKind;

/// What a citation in a document says, as far as that can be known without the law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CitedText {
    /// It names a provision.
    Provision(Citation),
    /// It names a title, chapter or other container.
    Container(MentionedContainer),
    /// It looks like a citation of a code, but cannot be read; with the reason.
    Malformed(String),
    /// A short form that may mean several provisions, or none, or a citation with a sign that cannot be read.
    Unclear(String),
}

/// A citation in a document.
#[derive(Clone, Debug)]
pub(crate) struct BriefCitation {
    pub(crate) range: Range<usize>,
    pub(crate) cited: CitedText,
    /// Whether it is a short form, which other citations before it explain.
    pub(crate) is_short: bool,
    /// Whether there is no doubt what a short form means.
    pub(crate) is_certain: bool,
}

/// A source that a paragraph names.
#[derive(Clone, Debug)]
pub(crate) struct NamedSource {
    pub(crate) range: Range<usize>,
    /// The citation, by its index; none for cases and papers.
    pub(crate) citation: Option<usize>,
}

/// One paragraph with what was found in it.
#[derive(Debug)]
pub(crate) struct ReadBlock {
    pub(crate) range: Range<usize>,
    pub(crate) kind: BriefBlockKind,
    /// All its sources, in order.
    pub(crate) sources: Vec<NamedSource>,
    /// Its sentences, as ranges of the whole text.
    pub(crate) sentences: Vec<Range<usize>>,
    /// The nearest paragraph before it that is no block quotation.
    pub(crate) before: Option<usize>,
}

/// A source within a paragraph. `cited` is none for cases and papers.
pub(crate) struct BlockItem {
    pub(crate) range: Range<usize>,
    pub(crate) cited: Option<ShortForm>,
}

/// What a source says, and how sure that is.
#[derive(Clone, Debug)]
pub(crate) struct ShortForm {
    pub(crate) cited: CitedText,
    pub(crate) is_short: bool,
    pub(crate) is_certain: bool,
}

impl ShortForm {
    pub(crate) fn full(citation: Citation) -> Self {
        Self { cited: CitedText::Provision(citation), is_short: false, is_certain: true }
    }

    pub(crate) fn container(container: MentionedContainer) -> Self {
        Self { cited: CitedText::Container(container), is_short: false, is_certain: true }
    }

    pub(crate) fn malformed(why: String) -> Self {
        Self { cited: CitedText::Malformed(why), is_short: false, is_certain: true }
    }

    pub(crate) fn unreadable() -> Self {
        let why = "a sign of it, or one next to it, cannot be read in this document; look at it there";
        Self { cited: CitedText::Unclear(why.to_owned()), is_short: false, is_certain: false }
    }

    pub(crate) fn unclear(why: &str) -> Self {
        Self { cited: CitedText::Unclear(why.to_owned()), is_short: true, is_certain: false }
    }

    pub(crate) fn short(citation: Citation, is_certain: bool) -> Self {
        Self { cited: CitedText::Provision(citation), is_short: true, is_certain }
    }
}

/// The part of a quotation that is in one paragraph.
#[derive(Clone, Debug)]
pub(crate) struct QuotedPart {
    pub(crate) block: usize,
    /// The passage without its quotation marks.
    pub(crate) range: Range<usize>,
}

/// A passage in quotation marks, or a block quotation.
#[derive(Clone, Debug)]
pub(crate) struct FoundQuotation {
    /// At least one.
    pub(crate) parts: Vec<QuotedPart>,
    pub(crate) is_block: bool,
    /// The citations that it may belong to, by their index: the likeliest first. All are equally near.
    pub(crate) sources: Vec<usize>,
    /// Whether it may as well be from something else: its sentence and the next one name no source.
    pub(crate) is_weak: bool,
}

impl FoundQuotation {
    /// From the beginning of the first part to the end of the last.
    pub(crate) fn range(&self) -> Range<usize> {
        let start = self.parts.first().map_or(0, |first| first.range.start);
        start..self.parts.last().map_or(start, |last| last.range.end)
    }

    /// Its words, without the quotation marks at the beginning of paragraphs.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &*self.parts {
            [part] => Cow::Borrowed(&text[part.range.clone()]),
            parts => {
                let parts: Vec<&str> = parts.iter().map(|part| &text[part.range.clone()]).collect();
                Cow::Owned(parts.join(" "))
            }
        }
    }
}

/// The range that contains a place, among ascending ranges.
pub(crate) fn range_at(ranges: &[Range<usize>], at: usize) -> Option<usize> {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).filter(|range| range.start <= at).map(|_| next)
}

/// Whether one of several ascending ranges has bytes in common with a range.
pub(crate) fn any_overlaps(ranges: &[Range<usize>], range: &Range<usize>) -> bool {
    let next = ranges.partition_point(|other| other.end <= range.start);
    ranges.get(next).is_some_and(|other| overlaps(other, range))
}

/// The end of a text of at most some bytes.
pub(crate) fn end_of(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// The beginning of a text of at most some bytes.
pub(crate) fn beginning_of(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether two ranges have bytes in common.
pub(crate) fn overlaps(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}
