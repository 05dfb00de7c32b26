//! Line numbers of ascending places, without counting from the start of the document each time.

/// Counts line feeds incrementally.
pub(super) struct LineCounter<'d> {
    text: &'d [u8],
    at: usize,
    line: u32,
}

impl<'d> LineCounter<'d> {
    pub(super) fn new(text: &'d str) -> Self {
        Self { text: text.as_bytes(), at: 0, line: 1 }
    }

    /// The line of a byte. For a byte before the last one, counting starts again at the beginning.
    pub(super) fn line_of(&mut self, byte: usize) -> u32 {
        if byte < self.at {
            (self.at, self.line) = (0, 1);
        }
        let between = self.text.get(self.at..byte).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', between).count() as u32;
        self.at = byte;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_forwards_and_again_from_the_start() {
        let mut lines = LineCounter::new("a\nb\n\nc");
        assert_eq!([0, 2, 5, 1, 99].map(|byte| lines.line_of(byte)), [1, 2, 4, 1, 1]);
    }
}
