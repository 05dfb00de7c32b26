//! Mixed lists: citations of several codes, containers, and text that cannot be parsed.

use super::container::{NamedContainer, container_at};
use super::grammar::{Grammar, skip_closing};
use super::text::{CitationText, END};
use super::value::Citation;

/// An element of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ListElement<'t> {
    Citation(Citation),
    Container(NamedContainer),
    /// Text that is neither, up to the next separator.
    Unparsed(&'t str),
}

impl Grammar {
    /// Parses the elements of a list, in order. Commas, semicolons, `&`, `and` and `or` separate them.
    pub(super) fn parts<'t>(&self, text: &'t str) -> Vec<ListElement<'t>> {
        let folded = CitationText::new(text);
        let mut parts = Vec::new();
        let mut pos = skip_separators(folded, 0);
        while folded.folded_at(pos) != END {
            let citations = self.matcher(folded).at(pos);
            let citations = citations.filter(|found| !found.items.is_empty() && is_separated(folded, found.end));
            let container = container_at(&self.forms, folded, pos).filter(|&(_, end)| is_separated(folded, end));
            let end = match (citations, container) {
                // The longer match wins: `42 U.S.C. ch. 21, subch. I` is a container.
                (Some(found), container) if container.as_ref().is_none_or(|&(_, end)| end <= found.end) => {
                    parts.extend(found.items.into_iter().map(|(_, citation)| ListElement::Citation(citation)));
                    found.end
                }
                (_, Some((named, end))) => {
                    parts.push(ListElement::Container(named));
                    end
                }
                (_, None) => {
                    let end = unread_end(folded, pos);
                    parts.push(ListElement::Unparsed(folded.slice(pos, end).trim()));
                    end
                }
            };
            pos = skip_separators(folded, end.max(pos + folded.at(pos).1));
        }
        parts
    }
}

/// Whether an element may end at `end`: the text ends there, or a separator follows.
fn is_separated(text: CitationText<'_>, end: usize) -> bool {
    let end = skip_closing(text, end);
    text.folded_at(end) == END || text.slice(0, end).trim_end().ends_with([',', ';']) || separator(text, end).is_some()
}

/// The end of the separator at `pos`, if there is one.
fn separator(text: CitationText<'_>, pos: usize) -> Option<usize> {
    let pos = text.skip_spaces(pos);
    match text.folded_at(pos) {
        b',' | b';' | b'&' => Some(pos + 1),
        _ => text.any_word(pos, &["and", "or"]),
    }
}

fn skip_separators(text: CitationText<'_>, mut pos: usize) -> usize {
    while let Some(end) = separator(text, pos) {
        pos = end;
    }
    let closed = skip_closing(text, pos);
    match separator(text, closed) {
        Some(_) => skip_separators(text, closed),
        None => text.skip_spaces(closed),
    }
}

/// The start of the next separator, or the end of the text.
fn unread_end(text: CitationText<'_>, start: usize) -> usize {
    let mut pos = start;
    while text.folded_at(pos) != END {
        let is_word_start = text.begins_word(pos) || !text.folded_at(pos).is_ascii_alphanumeric();
        if pos > start && is_word_start && separator(text, pos).is_some() {
            break;
        }
        pos += text.at(pos).1;
    }
    pos
}
