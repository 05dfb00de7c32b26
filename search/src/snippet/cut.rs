//! Cuts a passage out of a text: whole sentences if they fit, always whole words.

use std::ops::Range;

use hornbook_corpus::chunks::sentence_ends;

/// The maximum length of a snippet, in characters.
pub const SNIPPET_CHARS_MAX: usize = 300;

/// A shorter snippet is extended with the text next to it.
const SHORT_CHARS: usize = 120;

/// Characters that a whole sentence ends with, and the dash that introduces a list.
const SENTENCE_ENDINGS: [char; 12] = ['.', ';', ':', '?', '!', ',', '"', '\'', '”', '’', ')', '—'];

/// The available part of a text around the place to show.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextWindow<'t> {
    pub text: &'t str,
    /// Whether the available part includes the start of the text.
    pub has_start: bool,
    /// Whether the available part includes the end of the text.
    pub has_end: bool,
}

/// The passage around `core`. It contains as much of `core` as fits: the sentence in which `core`
/// begins, and as many more whole sentences as fit. If no sentence ends in time, the passage is cut
/// between words. Empty if a word is longer than the maximum length.
pub(super) fn cut(around: TextWindow<'_>, core: Range<usize>) -> Range<usize> {
    let text = around.text;
    let sentences = sentences(text);
    let first = sentences.partition_point(|sentence| sentence.start <= core.start).saturating_sub(1);
    let is_whole = |place: usize| place > 0 || around.has_start;
    let earliest = chars_before(text, core.end, SNIPPET_CHARS_MAX);
    let mut start = match sentences.get(first) {
        Some(sentence) if is_whole(first) && sentence.start >= earliest => sentence.start,
        // The core is far inside a long sentence: start some words before it.
        Some(_) => {
            let room = SNIPPET_CHARS_MAX.saturating_sub(text[core.clone()].chars().count());
            word_start(around, chars_before(text, core.start, room / 3), core.start)
        }
        None => return core.start..core.start,
    };
    let limit = chars_after(text, start, SNIPPET_CHARS_MAX);
    // The last available sentence may continue beyond the available part.
    let ended = if around.has_end { &sentences[..] } else { &sentences[..sentences.len() - 1] };
    let is_long = |start: usize, end: usize| text[start..end].chars().nth(SHORT_CHARS).is_some();
    let fits = |end: &usize| (core.end.max(start)..=limit).contains(end) && is_long(start, *end);
    let ends = || ended.iter().map(|sentence| sentence.end).filter(fits);
    // If possible, the passage does not end with a heading, because the text under the heading is missing.
    let end = ends().rfind(|&end| text[..end].ends_with(SENTENCE_ENDINGS)).or_else(|| ends().next_back());
    let end = end.unwrap_or_else(|| word_end(around, start, limit));
    // A passage at the end of the text has room for earlier sentences.
    let before = sentences[..first].iter().enumerate().filter(|&(place, _)| is_whole(place));
    let fitting = before.map(|(_, sentence)| sentence.start).find(|&s| s >= chars_before(text, end, SNIPPET_CHARS_MAX));
    if let Some(earlier) = fitting
        && !is_long(start, end)
        && start > earlier
    {
        start = earlier;
    }
    start..start + text[start..end.max(start)].trim_end().len()
}

/// The sentences of a text, without surrounding white space. A line break also ends a sentence.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::with_capacity(16);
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let mut start = line_start;
        for end in sentence_ends(line) {
            let end = line_start + end;
            let sentence = &text[start..end];
            let trimmed = sentence.trim();
            if !trimmed.is_empty() {
                let from = start + (sentence.len() - sentence.trim_start().len());
                sentences.push(from..from + trimmed.len());
            }
            start = end;
        }
        line_start += line.len();
    }
    sentences
}

/// The position this many characters before another one.
fn chars_before(text: &str, from: usize, chars: usize) -> usize {
    chars.checked_sub(1).map_or(from, |last| text[..from].char_indices().rev().nth(last).map_or(0, |(at, _)| at))
}

/// The position this many characters after another one.
fn chars_after(text: &str, from: usize, chars: usize) -> usize {
    text[from..].char_indices().nth(chars).map_or(text.len(), |(at, _)| from + at)
}

/// The start of the first word in a range. If there is none, the end of the range if a word starts
/// there; otherwise the next word.
fn word_start(around: TextWindow<'_>, from: usize, to: usize) -> usize {
    let text = around.text;
    if from == 0 && around.has_start {
        return text.len() - text.trim_start().len();
    }
    if let Some(start) = start_behind_space(text, from).filter(|&start| start <= to) {
        return start;
    }
    let before = text[..to].chars().next_back();
    let is_inside_word = before.is_none_or(char::is_alphanumeric);
    let is_no_start = |c: char| c.is_whitespace() || c.is_alphanumeric() && is_inside_word;
    match text[to..].starts_with(is_no_start) {
        true => start_behind_space(text, to).unwrap_or(text.len()),
        false => to,
    }
}

/// The start of the first word after the first white space from a place on. If white space precedes the
/// place, the word may start there.
fn start_behind_space(text: &str, from: usize) -> Option<usize> {
    let from = text[..from].char_indices().next_back().map_or(from, |(at, _)| at);
    let space = from + text[from..].find(char::is_whitespace)?;
    Some(space + text[space..].find(|c: char| !c.is_whitespace())?)
}

/// The end of the last word that ends between two places: at white space, or else where no letter follows.
fn word_end(around: TextWindow<'_>, from: usize, limit: usize) -> usize {
    let text = around.text;
    if limit == text.len() && around.has_end {
        return from + text[from..].trim_end().len();
    }
    let behind = text[limit..].chars().next();
    let stretch = &text[from..limit];
    let whole = match behind {
        Some(c) if c.is_whitespace() => stretch,
        _ => match stretch.rfind(char::is_whitespace) {
            Some(space) => &stretch[..space],
            None => &stretch[..last_word_boundary(stretch, behind)],
        },
    };
    from + whole.trim_end().len()
}

/// The last position in text without white space that is not between two letters or digits.
fn last_word_boundary(stretch: &str, behind: Option<char>) -> usize {
    let mut next = behind;
    for (at, c) in stretch.char_indices().rev() {
        if next.is_some_and(|next| !(next.is_alphanumeric() && c.is_alphanumeric())) {
            return at + c.len_utf8();
        }
        next = Some(c);
    }
    0
}
