//! Counts the words of a file by its file format, also while an importer reads it line by line.

use std::io::{self, BufRead, Read};

use super::source::SourceWords;
use super::{json, markup};

/// The file format, which decides how the words of a file are found.
#[derive(Clone, Copy)]
pub enum TextFormat {
    /// JSON. Lists the fields that contain law, notes or headings.
    Json(&'static [&'static str]),
    /// JSON in which texts contain paragraphs as a whole and again in parts. Lists the fields as `Json` does.
    JsonInParts(&'static [&'static str]),
    /// XML. Lists the elements without words of the law, each with the reason.
    Xml(&'static [(&'static str, &'static str)]),
    Html(&'static [(&'static str, &'static str)]),
    Text,
}

impl TextFormat {
    /// Adds the words of a file, or of one line of it.
    pub(crate) fn count(self, bytes: &[u8], words: &mut SourceWords) {
        let text = String::from_utf8_lossy(bytes);
        match self {
            Self::Json(law) => json::count(&text, law, words, SourceWords::add),
            Self::JsonInParts(law) => json::count(&text, law, words, SourceWords::add_without_parts),
            Self::Xml(set_aside) => markup::count(&text, false, set_aside, words),
            Self::Html(set_aside) => markup::count(&text, true, set_aside, words),
            Self::Text => words.add(&text),
        }
    }
}

/// Counts the words of a file of lines while an importer reads it.
pub(crate) struct CountedLines<'r> {
    inner: &'r mut dyn BufRead,
    line: Vec<u8>,
    form: TextFormat,
    words: &'r mut SourceWords,
}

impl<'r> CountedLines<'r> {
    pub(crate) fn new(inner: &'r mut dyn BufRead, form: TextFormat, words: &'r mut SourceWords) -> Self {
        Self { inner, line: Vec::new(), form, words }
    }

    fn end_line(&mut self) {
        self.form.count(&self.line, self.words);
        self.line.clear();
    }
}

impl BufRead for CountedLines<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // The buffer is still filled, so this call reads nothing.
        let filled = self.inner.fill_buf().map(|bytes| bytes[..count.min(bytes.len())].to_vec()).unwrap_or_default();
        self.inner.consume(count);
        let mut rest = filled.as_slice();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.line.extend_from_slice(&rest[..end]);
            self.end_line();
            rest = &rest[end + 1..];
        }
        self.line.extend_from_slice(rest);
    }
}

impl Read for CountedLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl Drop for CountedLines<'_> {
    fn drop(&mut self) {
        self.end_line();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\"text\": \"One \\\"two\\\"\\nthree\", \"url\" : \"a b\", \"notes\": [{\"text\":\"four\"}]}\n{\"text\":\"five\"}";

    #[test]
    fn lines_are_counted_while_they_are_read_in_pieces_of_any_size() {
        for size in 1..40 {
            let mut words = SourceWords::default();
            let mut inner = io::BufReader::with_capacity(size, LINES.as_bytes());
            let mut read = String::new();
            CountedLines::new(&mut inner, TextFormat::Json(&["text"]), &mut words).read_to_string(&mut read).unwrap();
            assert_eq!((read.as_str(), words.law.total()), (LINES, 5), "{size}");
        }
    }
}
