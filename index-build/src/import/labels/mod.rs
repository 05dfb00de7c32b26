//! Infers how the paragraphs of a text nest, from the labels at their starts: `(a)`, `(1)`, `(i)`,
//! or `A.`, `1.`, `a.`.
//!
//! Many sources print enumerated paragraphs without nesting. [`layout_of`] makes the layout of such
//! a text. [`infer`] returns the depth and label of each line for callers that build their own
//! layout. A [`Scheme`] gives the order in which levels nest; without one, the order is inferred
//! from the text. A label with two readings, such as `(i)` after `(h)`, is decided by the labels
//! before and after it (`search`). Words in parentheses that continue no series are text (`token`),
//! and so are the numbers within forms (`forms`).

mod forms;
mod scheme;
mod search;
#[cfg(test)]
mod tests;
mod token;

use hornbook_corpus::layout::{Layout, Line, LineKind};

pub use scheme::Scheme;
pub use token::{Alphabet, LabelPunctuation, Paragraph, Style};

/// The place of a paragraph in the nesting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The number of labels above it.
    pub depth: usize,
    /// The length of its labels in bytes.
    pub label_bytes: usize,
}

/// The layout of a text whose lines are paragraphs. It is empty if no line has a label, because
/// then every line is a plain paragraph.
pub fn layout_of(text: &str, scheme: &Scheme) -> Layout {
    let paragraphs: Vec<Paragraph<'_>> = text.split('\n').map(Paragraph::from).collect();
    let places = infer(&paragraphs, scheme);
    if places.iter().all(|place| place.label_bytes == 0) {
        return Layout::default();
    }
    let line = |place: &Place| Line::labelled(LineKind::Paragraph, place.depth.min(255) as u8, place.label_bytes);
    Layout { lines: places.iter().map(line).collect(), marks: Vec::new() }
}

/// The length of the labels that a paragraph begins with.
pub fn label_bytes(text: &str) -> usize {
    token::read(Paragraph::from(text)).bytes
}

/// The place of each paragraph.
pub fn infer(paragraphs: &[Paragraph<'_>], scheme: &Scheme) -> Vec<Place> {
    let mut prefixes: Vec<token::Prefix> = paragraphs.iter().map(|paragraph| token::read(*paragraph)).collect();
    forms::leave_out(paragraphs, &mut prefixes);
    if prefixes.iter().all(|prefix| prefix.labels.is_empty()) {
        return vec![Place::default(); paragraphs.len()];
    }
    let depths = search::depths(&prefixes, scheme);
    place_all(paragraphs, &prefixes, &depths)
}

/// Sets the depths of paragraphs without labels, once the depths of the others are known.
fn place_all(paragraphs: &[Paragraph<'_>], prefixes: &[token::Prefix], depths: &[Option<usize>]) -> Vec<Place> {
    let mut places = vec![Place::default(); paragraphs.len()];
    // The depth inside the last label, and the depth of unlabelled paragraphs such as definitions.
    let (mut inside, mut unlabelled_start): (usize, Option<usize>) = (0, None);
    // The next labelled paragraph decides, so the loop goes from label to label.
    let mut start = 0;
    while start < paragraphs.len() {
        if let Some(depth) = depths[start] {
            places[start] = Place { depth, label_bytes: prefixes[start].bytes };
            inside = depth + prefixes[start].labels.len();
            unlabelled_start = unlabelled_start.filter(|unlabelled| *unlabelled <= depth);
            start += 1;
            continue;
        }
        let end = (start..paragraphs.len()).find(|&at| depths[at].is_some()).unwrap_or(paragraphs.len());
        let restarts =
            depths.get(end).copied().flatten().filter(|&next| next < inside && prefixes[end].begins_series());
        for at in start..end {
            let begins_in_italics = paragraphs[at].italics.first().is_some_and(|&(from, _)| from == 0);
            let depth = match (restarts, unlabelled_start) {
                // The introduction of a series that starts again is outside that series.
                (Some(next), _) if at + 1 == end => next,
                (_, Some(unlabelled)) if begins_in_italics && unlabelled <= inside => unlabelled,
                _ if continues_sentence(paragraphs, at) => inside.saturating_sub(1),
                _ if at == start => after_list(paragraphs, prefixes, depths, &places, at).unwrap_or(inside),
                _ => inside,
            };
            places[at].depth = depth;
            inside = depth;
            if begins_in_italics {
                unlabelled_start = Some(depth);
            }
        }
        start = end;
    }
    places
}

/// The depth of a paragraph after a list that is one sentence, from its introduction to the full
/// stop of its last item: `It may be: (1) red; or (2) blue.` The paragraph belongs to the parent of
/// the list, not to its last item.
fn after_list(
    paragraphs: &[Paragraph<'_>],
    prefixes: &[token::Prefix],
    depths: &[Option<usize>],
    places: &[Place],
    at: usize,
) -> Option<usize> {
    let ending = |place: usize| paragraphs[place].text.trim_end().trim_end_matches(['”', '"', ')']);
    let goes_on = |place: usize| {
        let text = ending(place);
        text.ends_with([';', ',', ':', '—']) || text.ends_with(" or") || text.ends_with(" and")
    };
    let last = at.checked_sub(1).filter(|&last| ending(last).ends_with('.'))?;
    let mut first = last;
    while depths[first].is_some() && first > 0 && goes_on(first - 1) {
        first -= 1;
    }
    let introduces = ending(first).ends_with([':', '—']);
    let inside = places[first].depth + prefixes[first].labels.len() * usize::from(depths[first].is_some());
    let is_list = introduces && last > first + 1 && (first + 1..at).all(|item| places[item].depth >= inside);
    is_list.then_some(inside)
}

/// Whether a paragraph ends the sentence that a list interrupted: it begins in lower case, and the
/// item before it has no final punctuation.
fn continues_sentence(paragraphs: &[Paragraph<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| paragraphs[before].text.trim_end());
    let starts_small = paragraphs[at].text.trim_start().starts_with(char::is_lowercase);
    starts_small && !before.is_empty() && !before.ends_with(['.', ':', '—'])
}
