//! Words with marks, collected before their line is known.

use hornbook_corpus::layout::MarkKind;

use crate::import::white_space::normalise_spaces;

/// Words with normalized white space.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextRun {
    pub(crate) text: String,
    /// Marks with start and end byte, in the order of their start.
    pub(crate) marks: Vec<(MarkKind, usize, usize)>,
    /// The places of footnote signs.
    pub(crate) footnotes: Vec<(usize, String)>,
    space: bool,
}

impl TextRun {
    pub(crate) fn of_words(words: &str) -> Self {
        let mut run = Self::default();
        run.push(words);
        run
    }

    pub(crate) fn push(&mut self, words: &str) {
        let Self { text, space, .. } = self;
        // Most runs are one piece of text.
        text.reserve(words.len());
        normalise_spaces(words, space, |space, stretch| {
            if space && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(stretch);
        });
    }

    pub(crate) fn space(&mut self) {
        self.space = true;
    }

    /// Marks everything that `fill` adds.
    pub(crate) fn marked(&mut self, kind: MarkKind, fill: impl FnOnce(&mut Self)) {
        let (start, place) = (self.text.len(), self.marks.len());
        fill(self);
        let run = self.text.get(start..).unwrap_or_default();
        let start = start + (run.len() - run.trim_start().len());
        if start < self.text.len() {
            self.marks.insert(place, (kind, start, self.text.len()));
        }
    }

    pub(crate) fn footnote(&mut self, sign: &str) {
        self.footnotes.push((self.text.len(), sign.to_owned()));
    }

    /// Appends another run after a space.
    pub(crate) fn append(&mut self, other: Self) {
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push(' ');
        }
        let shift = self.text.len();
        self.text.push_str(&other.text);
        self.marks.extend(other.marks.into_iter().map(|(kind, start, end)| (kind, start + shift, end + shift)));
        self.footnotes.extend(other.footnotes.into_iter().map(|(at, sign)| (at + shift, sign)));
    }

    /// Splits the run. The second part begins at the first word at or after `at`.
    pub(crate) fn split(mut self, at: usize) -> (Self, Self) {
        let rest = self.text[at..].trim_start();
        let start = self.text.len() - rest.len();
        let mut second = Self { text: rest.to_owned(), ..Self::default() };
        self.text.truncate(at);
        self.text.truncate(self.text.trim_end().len());
        let end = self.text.len();
        let (before, after): (Vec<_>, Vec<_>) = self.marks.into_iter().partition(|(_, from, _)| *from < start);
        self.marks = before.into_iter().map(|(kind, from, to)| (kind, from.min(end), to.min(end))).collect();
        second.marks = after.into_iter().map(|(kind, from, to)| (kind, from - start, to - start)).collect();
        let (before, after): (Vec<_>, Vec<_>) = self.footnotes.into_iter().partition(|(place, _)| *place < start);
        self.footnotes = before.into_iter().map(|(place, sign)| (place.min(end), sign)).collect();
        second.footnotes = after.into_iter().map(|(place, sign)| (place - start, sign)).collect();
        (self, second)
    }

    pub(crate) fn italics(&self) -> Vec<(usize, usize)> {
        let is_italic = |kind: MarkKind| matches!(kind, MarkKind::Emphasis | MarkKind::RunInHeading);
        self.marks.iter().filter(|(kind, ..)| is_italic(*kind)).map(|&(_, start, end)| (start, end)).collect()
    }
}
