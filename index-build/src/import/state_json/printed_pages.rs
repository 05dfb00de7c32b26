//! Texts that were read from printed pages: the foot of each page, and the head of the next, are within them.

use std::borrow::Cow;

use super::section::PrintedWording;
use super::settings::StateJsonSettings;
use crate::pattern::Pattern;

/// Why the words of feet and heads are left out.
const PAGES: &str = "feet and heads of printed pages";

/// Marks the end of the last page in the text that the patterns of a plan read.
const PAGE_END: char = '\u{3}';

/// Removes feet and heads. Where a page ended within the law, the paragraph goes on; the last foot becomes a mark,
/// and a reference to citing sections before it becomes a paragraph of its own.
pub(super) fn without_feet<'t>(
    text: Cow<'t, str>,
    settings: &StateJsonSettings,
) -> (Cow<'t, str>, Vec<(&'static str, String)>) {
    let Some(foot) = settings.page_foot.as_ref().filter(|foot| foot.is_match(&text)) else {
        return (text, Vec::new());
    };
    // A head consists of the section or chapter in capitals, and the number of the page.
    let head = Pattern::fixed(r"^\s*(?:(?:§[^\n]{1,160}|\d{1,4})\s*\n\s*){1,2}");
    let (mut kept, mut left_out, mut rest) = (String::with_capacity(text.len()), Vec::new(), text.as_ref());
    while let Some(found) = foot.find(rest) {
        kept.push_str(rest[..found.start()].trim_end());
        left_out.push((PAGES, found.as_str().to_owned()));
        rest = &rest[found.end()..];
        if let Some(head) = head.find(rest) {
            left_out.push((PAGES, head.as_str().to_owned()));
            rest = &rest[head.end()..];
        }
        if rest.trim().is_empty() {
            kept.push(PAGE_END);
        } else {
            let goes_on = rest.trim_start().starts_with(|first: char| first.is_lowercase());
            kept.push_str(if goes_on { " " } else { "\n\n" });
            rest = rest.trim_start();
        }
    }
    kept.push_str(rest);
    // Acts of a credit are on lines of their own: `C39, §`, `8953;`.
    let joined = Pattern::fixed(r"§\s*\n\s*(\d[\w.-]*;)\s*\n\s*").replace_all(&kept, "§ $1 ").into_owned();
    let cited = Pattern::fixed(r"(Referred to in §[^\n\x03]*)\x03");
    let divided = cited.replace(&joined, "\u{3}\n\n$1").into_owned();
    (Cow::Owned(divided), left_out)
}

/// Removes the marks of ends of pages.
pub(super) fn remove_marks(wording: &mut PrintedWording) {
    let lines = wording.law.iter_mut().chain(&mut wording.notes).chain(&mut wording.credit);
    for line in lines.chain(std::iter::once(&mut wording.heading)).filter(|line| line.contains(PAGE_END)) {
        *line = line.replace(PAGE_END, "").trim_end().to_owned();
    }
    wording.law.retain(|line| !line.is_empty());
}
