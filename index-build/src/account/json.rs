//! Finds the words of JSON without the importers: reads the strings of a file by the name of their field.

use std::borrow::Cow;

use super::source::SourceWords;

/// Counts the words of every string value. Strings in the fields `law` are added with `add`; all
/// others are counted as set aside.
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

/// The end of the string that begins here.
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

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\"text\": \"One \\\"two\\\"\\nthree\", \"url\" : \"a b\", \"notes\": [{\"text\":\"four\"}]}\n{\"text\":\"five\"}";

    #[test]
    fn strings_are_counted_by_their_fields() {
        let mut words = SourceWords::default();
        count(LINES, &["text"], &mut words, SourceWords::add);
        assert_eq!(words.law.total(), 5);
        assert_eq!(words.aside_by_reason, [("field 'url', which contains no law".to_owned(), 2)].into());
    }

    #[test]
    fn parts_of_a_paragraph_are_set_aside_and_equal_lines_are_not() {
        let mut words = SourceWords::default();
        words.add_without_parts("(a) One. (b) Two.\n(a) One.\n(b) Two.\nName: ____\nName: ____\nThree.");
        assert_eq!(words.law.total(), 7);
        assert_eq!(words.aside_by_reason, [("paragraphs whose parts follow them".to_owned(), 4)].into());
    }

    #[test]
    fn invalid_json_does_not_panic() {
        for text in ["\"", "\"\\", "{\"a\":\"\\u12\"}", "\"é", "{\"text\":"] {
            count(text, &["text"], &mut SourceWords::default(), SourceWords::add);
        }
    }
}
