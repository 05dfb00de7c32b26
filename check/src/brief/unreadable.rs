//! Signs of a document that cannot be read. In the text they are U+FFFD: a guessed letter would become a wrong report.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the text has in the place of a sign that cannot be read.
pub(crate) const UNREADABLE: char = '\u{fffd}';

/// Maximum number of entries, one for each font.
const ENTRIES_MAX: usize = 64;

/// Maximum number of pages that an entry names.
const PAGES_MAX: usize = 16;

/// Why signs cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UnreadableCause {
    /// The font does not say what a sign means.
    Font(String),
    /// The letters are written from right to left.
    RightToLeft,
}

/// Signs of a .pdf document that cannot be read, for one reason. What is cited or quoted there may be missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadableSigns {
    /// The first pages on which they are, from 1.
    pub pages: Vec<u32>,
    /// The font that does not say what they mean. Absent for letters that are written from right to left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub font: Option<String>,
    /// How many there are.
    pub signs: u32,
    /// An explanation for people, with the next step to take.
    pub message: String,
}

/// Counts the signs that cannot be read.
#[derive(Debug, Default)]
pub(super) struct UnreadableCount {
    by_cause: BTreeMap<UnreadableCause, (Vec<u32>, u32)>,
    /// All of them, and all signs but white space.
    unreadable: u64,
    all: u64,
}

impl UnreadableCount {
    pub(super) fn add_readable(&mut self) {
        self.all += 1;
    }

    pub(super) fn add(&mut self, page: u32, cause: UnreadableCause) {
        self.all += 1;
        self.unreadable += 1;
        if self.by_cause.len() == ENTRIES_MAX && !self.by_cause.contains_key(&cause) {
            return;
        }
        let (pages, signs) = self.by_cause.entry(cause).or_default();
        *signs += 1;
        if pages.last() != Some(&page) && pages.len() < PAGES_MAX {
            pages.push(page);
        }
    }

    /// The first page and the reason, if most signs cannot be read.
    pub(super) fn most(&self) -> Option<(u32, &UnreadableCause)> {
        let first = self.by_cause.iter().max_by_key(|(_, (_, signs))| *signs);
        let (cause, (pages, _)) = first.filter(|_| 2 * self.unreadable > self.all)?;
        Some((pages.first().copied().unwrap_or(1), cause))
    }

    pub(super) fn finish(self) -> Vec<UnreadableSigns> {
        self.by_cause.into_iter().map(|(cause, (pages, signs))| UnreadableSigns::new(cause, pages, signs)).collect()
    }
}

impl UnreadableSigns {
    fn new(cause: UnreadableCause, pages: Vec<u32>, signs: u32) -> Self {
        let named: Vec<String> = pages.iter().map(u32::to_string).collect();
        let place = match &*named {
            [page] => format!("page {page}"),
            [first @ .., last] if named.len() < PAGES_MAX => format!("pages {} and {last}", first.join(", ")),
            _ => format!("pages {} and perhaps more", named.join(", ")),
        };
        let (font, why) = match cause {
            UnreadableCause::Font(font) => {
                let why = format!("the font {font} does not say which letters {signs} of its signs mean");
                (Some(font), why)
            }
            UnreadableCause::RightToLeft => {
                (None, format!("letters written from right to left are not read ({signs} of them)"))
            }
        };
        let message = format!(
            "{place}: {why}: citations and quotations there may be missed; recognise the text of the file (OCR), or save \
             the document as .docx or text"
        );
        Self { pages, font, signs, message }
    }
}
