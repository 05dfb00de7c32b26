//! Annotations: notes by their type, and the history of a section as its source credit.

use hornbook_corpus::layout::LineKind;
use roxmltree::Node;

use super::inline::{self, LineSetting};
use super::source::{elements, holds_sections, name, whole_parts, words};
use super::table;
use crate::content::ContentNote;
use crate::import::text_builder::TextBuilder;

/// The notes and credits of a node. Annotations of the same type form one note, with a paragraph each.
#[derive(Default)]
pub(super) struct Notes {
    notes: Vec<(String, TextBuilder)>,
    credits: Vec<String>,
}

impl Notes {
    /// The annotations of a section or container, and those within the law of a section.
    pub(super) fn of(node: Node<'_, '_>) -> Self {
        let mut notes = Self::default();
        for part in elements(node) {
            match name(part) {
                Some("annotations") => whole_parts(part).for_each(|annotation| notes.annotation(node, annotation)),
                Some("annotation") => notes.annotation(node, part),
                Some("attachments") => whole_parts(part).for_each(|attachment| notes.attachment(node, attachment)),
                Some("num" | "heading") => notes.within(part),
                _ if name(node) == Some("section") => notes.within(part),
                _ => {}
            }
        }
        notes
    }

    /// Adds annotations on a part of the law: on a paragraph, a heading or a quoted section.
    fn within(&mut self, law: Node<'_, '_>) {
        for part in elements(law) {
            match name(part) {
                Some("annotations") => {
                    whole_parts(part).for_each(|annotation| self.add(topic_of(annotation), annotation));
                }
                Some("annotation") => self.add(topic_of(part), part),
                Some("attachments") => whole_parts(part).for_each(|attachment| self.attachment(law, attachment)),
                Some("para" | "include" | "section" | "container" | "num" | "heading") => self.within(part),
                _ => {}
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.credits.is_empty() && self.notes.iter().all(|(_, builder)| builder.is_empty())
    }

    /// Adds a paragraph to the note with this topic.
    pub(super) fn add(&mut self, topic: &str, node: Node<'_, '_>) {
        let builder = self.on(topic);
        builder.paragraph(0);
        let setting = LineSetting { kind: LineKind::Paragraph, depth: 0 };
        match name(node) {
            Some("table") => table::set(builder, node, 0, inline::cell),
            None => builder.push(node.text().unwrap_or_default()),
            Some(_) => inline::flow(builder, node, setting),
        }
    }

    pub(super) fn add_words(&mut self, topic: &str, words: &str) {
        let builder = self.on(topic);
        builder.paragraph(0);
        builder.push(words);
    }

    fn on(&mut self, topic: &str) -> &mut TextBuilder {
        let place = self.notes.iter().position(|(known, _)| known == topic).unwrap_or_else(|| {
            self.notes.push((topic.to_owned(), TextBuilder::default()));
            self.notes.len() - 1
        });
        &mut self.notes[place].1
    }

    fn annotation(&mut self, owner: Node<'_, '_>, annotation: Node<'_, '_>) {
        let kind = annotation.attribute("type").unwrap_or("Note");
        if kind == "History" && name(owner) == Some("section") && name(annotation) == Some("annotation") {
            let written = words(annotation);
            if !written.is_empty() {
                self.credits.push(written);
            } else if let Some(credit) = credit_of_attributes(annotation) {
                // An act has one annotation for each change that it made.
                if self.credits.last() != Some(&credit) {
                    self.credits.push(credit);
                }
            }
        } else {
            self.add(topic_of(annotation), annotation);
        }
    }

    /// Names a file that belongs to the law but is not in its text. Sections attached to a
    /// container are not a note.
    fn attachment(&mut self, owner: Node<'_, '_>, attachment: Node<'_, '_>) {
        if name(owner) == Some("container") && holds_sections(attachment) {
            return;
        }
        let file = attachment.attribute("name").unwrap_or_default();
        if !file.is_empty() {
            let url = attachment.attribute("url").map(|url| format!(" ({url})")).unwrap_or_default();
            let builder = self.on("Attachment");
            builder.begin(LineKind::Image, 0, "");
            builder.push(&format!("{file}{url}"));
        }
        self.add("Attachment", attachment);
    }

    /// Returns the notes that contain words, and the source credit.
    pub(super) fn finish(self) -> (Vec<ContentNote>, Option<String>) {
        let set = |(topic, builder): (String, TextBuilder)| {
            let (text, layout) = builder.finish();
            ContentNote { topic, text, layout }
        };
        let notes = self.notes.into_iter().map(set).filter(|note| !note.text.is_empty()).collect();
        let credit = Some(self.credits.join("; ")).filter(|credit| !credit.is_empty());
        (notes, credit)
    }
}

fn topic_of<'t>(annotation: Node<'t, '_>) -> &'t str {
    annotation.attribute("subtype").or(annotation.attribute("type")).unwrap_or("Note")
}

/// The credit of history that is only in attributes. It is written out as readers see it: the date, if it is known,
/// and the act.
fn credit_of_attributes(annotation: Node<'_, '_>) -> Option<String> {
    if annotation.attribute("display") == Some("false") {
        return None;
    }
    let act = annotation.attribute("doc").filter(|act| !act.trim().is_empty())?;
    let date = annotation.attribute("eff").and_then(written_date).map(|date| format!("{date}, ")).unwrap_or_default();
    let section = annotation.attribute("path").unwrap_or_default().split('|').next().unwrap_or_default();
    let section = section.strip_prefix('§').map(|number| format!(", § {}", number.trim())).unwrap_or_default();
    Some(format!("{date}{}{section}", act.trim()))
}

/// Writes `2019-09-11` as publishers do: `Sept. 11, 2019`.
fn written_date(date: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec."];
    let mut parts = date.trim().split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let day: u8 = day.parse().ok()?;
    let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    // A year 1 represents an unknown date.
    let is_year = year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()) && !year.starts_with('0');
    (is_year && parts.next().is_none()).then(|| format!("{month} {day}, {year}"))
}

#[cfg(test)]
mod tests {
    use super::written_date;

    #[test]
    fn dates_are_written_as_publishers_do() {
        assert_eq!(written_date("2019-09-11").as_deref(), Some("Sept. 11, 2019"));
        for bad in ["notfunded", "2019-13-01", "2019-00-01", "2019-01", "", "19-01-01", "0001-01-01"] {
            assert_eq!(written_date(bad), None, "{bad}");
        }
    }
}
