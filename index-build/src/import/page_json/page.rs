//! Divides the text of a page into its sections, by the paragraphs that begin with `§` and a number.

use super::settings::PageJsonSettings;
use crate::pattern::Pattern;

/// A paragraph of a page.
#[derive(Clone, Debug)]
pub(super) struct PageParagraph {
    /// The number of spaces before its first line.
    pub(super) indent: usize,
    /// Its lines as printed, without the spaces around it.
    pub(super) lines: String,
}

impl PageParagraph {
    /// The paragraph in one line.
    pub(super) fn text(&self) -> String {
        joined(&self.lines)
    }

    pub(super) fn is_one_line(&self) -> bool {
        !self.lines.contains('\n')
    }
}

/// Joins the lines of a paragraph. A dash at the end of a line is followed by no space: `self-` and
/// `explanatory` are one word.
pub(super) fn joined(lines: &str) -> String {
    let is_one_word = Pattern::fixed(r"(\p{L}-)[ \t]*\n[ \t]*(\p{Ll})");
    let is_list = Pattern::fixed(r"^(?:and|or|to|nor)\b");
    let mut whole = String::with_capacity(lines.len());
    let mut from = 0;
    for found in is_one_word.captures_iter(lines) {
        let (dash, next) = (found.get(1), found.get(2));
        let (Some(dash), Some(next)) = (dash, next) else { continue };
        // But in `low- and moderate-income`, the dash ends the word.
        if !is_list.is_match(&lines[next.start()..]) {
            whole.push_str(&lines[from..dash.end()]);
            from = next.start();
        }
    }
    whole.push_str(&lines[from..]);
    whole.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A section as printed: the headings before it, and its paragraphs.
#[derive(Debug, Default)]
pub(super) struct PrintedSection {
    pub(super) number: String,
    /// The headings of the parts that begin with this section, and the notes under them.
    pub(super) head: Vec<PageParagraph>,
    pub(super) paragraphs: Vec<PageParagraph>,
}

impl PrintedSection {
    pub(super) fn is_in_old_part(&self) -> bool {
        self.head.iter().any(|paragraph| paragraph.lines.contains("[OLD]"))
    }

    pub(super) fn head_in_one_line(&self) -> String {
        self.head.iter().map(PageParagraph::text).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, Default)]
pub(super) struct DividedPage {
    pub(super) sections: Vec<PrintedSection>,
    pub(super) navigation: Vec<String>,
}

impl DividedPage {
    pub(super) fn divide(text: &str, settings: &PageJsonSettings) -> Self {
        let mut page = Self::default();
        let mut head = Vec::new();
        for paragraph in paragraphs(text) {
            let line = paragraph.text();
            if paragraph.is_one_line() && settings.navigation.iter().any(|link| link.is_match(&line)) {
                page.navigation.push(line);
                continue;
            }
            // The law is indented, except at the start of a page, and notes are indented less.
            let is_first = page.sections.is_empty() && head.is_empty();
            let may_begin = is_first || paragraph.indent >= LAW_INDENT;
            if may_begin && let Some(opening) = settings.opening.captures(&paragraph.lines) {
                let head = match page.sections.last_mut() {
                    None => std::mem::take(&mut head),
                    Some(before) => head_at_end(&mut before.paragraphs),
                };
                let number = opening["first"].to_owned();
                page.sections.push(PrintedSection { number, head, paragraphs: vec![paragraph] });
                continue;
            }
            match page.sections.last_mut() {
                Some(section) => section.paragraphs.push(paragraph),
                None => head.push(paragraph),
            }
        }
        page
    }
}

/// Paragraphs of the law are indented by at least this many spaces, or not at all; notes by fewer.
pub(super) const LAW_INDENT: usize = 3;

/// Removes the heading of a part from the end of the section before it.
fn head_at_end(paragraphs: &mut Vec<PageParagraph>) -> Vec<PageParagraph> {
    let begins_part = Pattern::fixed(r"^\[?(?i:PART|ARTICLE|SUBPART)\s[IVXL\d]");
    let last = paragraphs.iter().rposition(|paragraph| paragraph.indent >= LAW_INDENT).map_or(0, |last| last + 1);
    let begin = (last.max(1)..paragraphs.len()).find(|&at| begins_part.is_match(&paragraphs[at].lines));
    begin.map_or_else(Vec::new, |begin| paragraphs.split_off(begin))
}

fn paragraphs(text: &str) -> impl Iterator<Item = PageParagraph> + '_ {
    // Section numbers contain hyphens that do not break, and words hyphens for the ends of lines.
    let text = text.replace('\u{2011}', "-").replace('\u{ad}', "");
    let blank = Pattern::fixed(r"\n[ \t]*\n");
    let found: Vec<PageParagraph> = blank
        .split(&text)
        .map(|block| block.trim_matches('\n').trim_end())
        .filter(|block| !block.trim().is_empty())
        .map(|block| {
            let bare = block.trim_start();
            PageParagraph { indent: block.len() - bare.len(), lines: bare.to_owned() }
        })
        .collect();
    found.into_iter()
}
