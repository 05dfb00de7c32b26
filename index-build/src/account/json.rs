//! The words of JSON, found without the importers: the strings of a file, each by the name of the field it belongs to.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use super::source::{Form, SourceWords};

/// Adds the words of every string that is a value, by `add` those of the fields that hold words of the law. The others are
/// counted apart.
pub(super) fn count(json: &str, law: &[&str], words: &mut SourceWords, add: fn(&mut SourceWords, &str)) {
    let mut field = Cow::Borrowed("");
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        rest = &rest[start + 1..];
        let end = string_end(rest);
        let literal = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        if rest.trim_start().starts_with(':') {
            field = Cow::Owned(literal.to_owned());
        } else if law.contains(&&*field) {
            add(words, &unescaped(literal));
        } else {
            words.set_aside_field(&field, &unescaped(literal));
        }
    }
}

/// Where a string ends that begins here.
fn string_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

fn unescaped(literal: &str) -> Cow<'_, str> {
    if !literal.contains('\\') {
        return Cow::Borrowed(literal);
    }
    serde_json::from_str(&format!("\"{literal}\"")).map_or(Cow::Borrowed(literal), Cow::Owned)
}

/// Counts the words of a file of lines while an importer reads it.
pub(crate) struct CountedLines<'r> {
    inner: &'r mut dyn BufRead,
    line: Vec<u8>,
    form: Form,
    words: &'r mut SourceWords,
}

impl<'r> CountedLines<'r> {
    pub(crate) fn new(inner: &'r mut dyn BufRead, form: Form, words: &'r mut SourceWords) -> Self {
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
        // What was filled is still there: nothing is read.
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
    fn strings_are_counted_by_their_fields() {
        let mut words = SourceWords::default();
        count(LINES, &["text"], &mut words, SourceWords::add);
        assert_eq!(words.law.total(), 5);
        assert_eq!(words.aside_by_reason, [("field 'url', no words of the law".to_owned(), 2)].into());
    }

    #[test]
    fn lines_are_counted_while_they_are_read_in_pieces_of_any_size() {
        for size in 1..40 {
            let mut words = SourceWords::default();
            let mut inner = io::BufReader::with_capacity(size, LINES.as_bytes());
            let mut read = String::new();
            CountedLines::new(&mut inner, Form::Json(&["text"]), &mut words).read_to_string(&mut read).unwrap();
            assert_eq!((read.as_str(), words.law.total()), (LINES, 5), "{size}");
        }
    }

    #[test]
    fn parts_of_a_paragraph_are_set_aside_and_equal_lines_are_not() {
        let mut words = SourceWords::default();
        words.add_without_parts("(a) One. (b) Two.\n(a) One.\n(b) Two.\nName: ____\nName: ____\nThree.");
        assert_eq!(words.law.total(), 7);
        assert_eq!(words.aside_by_reason, [("paragraphs whose parts follow them".to_owned(), 4)].into());
    }

    #[test]
    fn what_is_no_json_is_counted_without_a_panic() {
        for text in ["\"", "\"\\", "{\"a\":\"\\u12\"}", "\"é", "{\"text\":"] {
            count(text, &["text"], &mut SourceWords::default(), SourceWords::add);
        }
    }
}
