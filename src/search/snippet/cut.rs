//! Cuts a passage out of a text: whole sentences where they fit, always whole words.

use std::ops::Range;

use hornbook_corpus::chunks::sentence_ends;

/// No snippet is longer, in characters.
pub const SNIPPET_CHARS_MAX: usize = 300;

/// A shorter snippet takes in what stands beside it.
const SHORT_CHARS: usize = 120;

/// What a whole sentence ends with, or the dash that leads into a list.
const CLOSING: [char; 12] = ['.', ';', ':', '?', '!', ',', '"', '\'', '”', '’', ')', '—'];

/// What of a text is at hand around the place to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbourhood<'t> {
    pub text: &'t str,
    /// Whether the text begins here and not before.
    pub has_start: bool,
    /// Whether it ends here and not behind.
    pub has_end: bool,
}

/// The passage around `core`, which is shown as far as it fits: the sentence it begins in, and as many whole ones more as
/// fit. Where no sentence ends in time, it is cut between words. Empty where a word is longer than any snippet.
pub(super) fn cut(around: Neighbourhood<'_>, core: Range<usize>) -> Range<usize> {
    let text = around.text;
    let sentences = sentences(text);
    let first = sentences.partition_point(|sentence| sentence.start <= core.start).saturating_sub(1);
    let is_whole = |place: usize| place > 0 || around.has_start;
    let earliest = back(text, core.end, SNIPPET_CHARS_MAX);
    let mut start = match sentences.get(first) {
        Some(sentence) if is_whole(first) && sentence.start >= earliest => sentence.start,
        // The core lies deep in a long sentence: some words lead up to it.
        Some(_) => {
            let room = SNIPPET_CHARS_MAX.saturating_sub(text[core.clone()].chars().count());
            word_start(around, back(text, core.start, room / 3), core.start)
        }
        None => return core.start..core.start,
    };
    let limit = forward(text, start, SNIPPET_CHARS_MAX);
    // The last sentence at hand may go on behind it.
    let ended = if around.has_end { &sentences[..] } else { &sentences[..sentences.len() - 1] };
    let is_long = |start: usize, end: usize| text[start..end].chars().nth(SHORT_CHARS).is_some();
    let fits = |end: &usize| (core.end.max(start)..=limit).contains(end) && is_long(start, *end);
    let ends = || ended.iter().map(|sentence| sentence.end).filter(fits);
    // A heading without what it is the heading of is left out where it can be.
    let end = ends().rfind(|&end| text[..end].ends_with(CLOSING)).or_else(|| ends().next_back());
    let end = end.unwrap_or_else(|| word_end(around, start, limit));
    // The end of a text leaves room for what stands before it.
    let before = sentences[..first].iter().enumerate().filter(|&(place, _)| is_whole(place));
    let fitting = before.map(|(_, sentence)| sentence.start).find(|&s| s >= back(text, end, SNIPPET_CHARS_MAX));
    if let Some(earlier) = fitting
        && !is_long(start, end)
        && start > earlier
    {
        start = earlier;
    }
    start..start + text[start..end.max(start)].trim_end().len()
}

/// The sentences of a text without the white space around them; a line ends one.
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

/// So many characters before a place.
fn back(text: &str, from: usize, chars: usize) -> usize {
    chars.checked_sub(1).map_or(from, |last| text[..from].char_indices().rev().nth(last).map_or(0, |(at, _)| at))
}

/// So many characters behind a place.
fn forward(text: &str, from: usize, chars: usize) -> usize {
    text[from..].char_indices().nth(chars).map_or(text.len(), |(at, _)| from + at)
}

/// The first word that starts in a range, or else what its end is the start of, or the first word behind that.
fn word_start(around: Neighbourhood<'_>, from: usize, to: usize) -> usize {
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

/// Where the first word behind the first white space from a place on starts; the place itself if that stands before it.
fn start_behind_space(text: &str, from: usize) -> Option<usize> {
    let from = text[..from].char_indices().next_back().map_or(from, |(at, _)| at);
    let space = from + text[from..].find(char::is_whitespace)?;
    Some(space + text[space..].find(|c: char| !c.is_whitespace())?)
}

/// Where the last word ends that ends between two places: at white space, or else where no letter follows.
fn word_end(around: Neighbourhood<'_>, from: usize, limit: usize) -> usize {
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
            None => &stretch[..last_joint(stretch, behind)],
        },
    };
    from + whole.trim_end().len()
}

/// The last place of a stretch without white space that lies not between two letters or digits.
fn last_joint(stretch: &str, behind: Option<char>) -> usize {
    let mut next = behind;
    for (at, c) in stretch.char_indices().rev() {
        if next.is_some_and(|next| !(next.is_alphanumeric() && c.is_alphanumeric())) {
            return at + c.len_utf8();
        }
        next = Some(c);
    }
    0
}
