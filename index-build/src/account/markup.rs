//! Finds the words of XML and HTML without the importers. This reader knows tags, comments and
//! character references, and knows elements only by name.

use std::borrow::Cow;

use super::source::SourceWords;

/// Elements that do not end a word. All other elements end a word, including a fraction:
/// `8<FR>1/2</FR>` is eight and a half.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "acronym"
            | "b"
            | "bdi"
            | "big"
            | "bold"
            | "cite"
            | "code"
            | "date"
            | "dfn"
            | "del"
            | "e"
            | "em"
            | "font"
            | "i"
            | "inline"
            | "ins"
            | "ital"
            | "italic"
            | "kbd"
            | "mark"
            | "q"
            | "ref"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strike"
            | "strong"
            | "su"
            | "sub"
            | "sup"
            | "term"
            | "tt"
            | "u"
            | "var"
    )
}
const HTML_VOID: [&str; 8] = ["area", "base", "br", "col", "hr", "img", "link", "meta"];
/// The content of these elements is not markup.
const HTML_RAW: [&str; 2] = ["script", "style"];

/// Adds the words of a document. Words in the elements `set_aside`, each with its reason, are
/// counted separately.
pub(super) fn count(markup: &str, is_html: bool, set_aside: &[(&str, &'static str)], words: &mut SourceWords) {
    let mut reader = MarkupReader { run: String::new(), aside: None, words };
    let mut rest = markup;
    while let Some(start) = memchr::memchr(b'<', rest.as_bytes()) {
        reader.run.push_str(&decoded(&rest[..start]));
        rest = &rest[start..];
        if let Some(length) = skipped(rest) {
            rest = &rest[length..];
        } else if let Some(data) = rest.strip_prefix("<![CDATA[") {
            let end = data.find("]]>").unwrap_or(data.len());
            reader.run.push_str(&data[..end]);
            rest = data.get(end + 3..).unwrap_or_default();
        } else {
            let tag = Tag::at(rest);
            reader.pass(&tag, is_html, set_aside);
            rest = &rest[tag.length..];
            if is_html && !tag.is_end && HTML_RAW.contains(&&*tag.name) {
                rest = &rest[raw_end(rest, &tag.name)..];
            }
        }
    }
    reader.run.push_str(&decoded(rest));
    reader.end_run();
}

/// The length of a comment, a processing instruction or a declaration.
fn skipped(rest: &str) -> Option<usize> {
    let ends = [("<!--", "-->"), ("<?", "?>"), ("<!D", ">"), ("<!d", ">")];
    let (_, end) = ends.into_iter().find(|(start, _)| rest.starts_with(start))?;
    Some(rest.find(end).map_or(rest.len(), |at| at + end.len()))
}

/// The end of a raw element, where its end tag begins.
fn raw_end(rest: &str, name: &str) -> usize {
    let ends = rest.match_indices("</").map(|(at, _)| at);
    let is_end = |at: &usize| {
        let found = rest.as_bytes().get(at + 2..at + 2 + name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    ends.into_iter().find(is_end).unwrap_or(rest.len())
}

struct Tag<'t> {
    /// Without namespace prefix, in lower case.
    name: Cow<'t, str>,
    is_end: bool,
    is_empty: bool,
    length: usize,
}

impl<'t> Tag<'t> {
    /// The tag at the start of a text that begins with `<`. A `<` that begins no tag gives a tag
    /// without a name.
    fn at(rest: &'t str) -> Self {
        let bytes = rest.as_bytes();
        let is_end = bytes.get(1) == Some(&b'/');
        let start = 1 + usize::from(is_end);
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-' | b'.');
        let name_length = bytes[start..].iter().take_while(is_name).count();
        if name_length == 0 {
            return Self { name: Cow::Borrowed(""), is_end, is_empty: true, length: 1 };
        }
        let name = &rest[start..start + name_length];
        let name = name.rsplit_once(':').map_or(name, |(_, local)| local);
        let name = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(name.to_ascii_lowercase()),
            false => Cow::Borrowed(name),
        };
        let length = start + name_length + tag_end(&bytes[start + name_length..]);
        Self { name, is_end, is_empty: rest[..length].ends_with("/>"), length }
    }
}

/// Where a tag ends whose attributes begin here. A quoted value may contain `>`.
fn tag_end(attributes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'>', b'"', b'\'', &attributes[at..]) {
        at += found + 1;
        let quote = attributes[at - 1];
        if quote == b'>' {
            return at;
        }
        let Some(value) = memchr::memchr(quote, &attributes[at..]) else { break };
        at += value + 1;
    }
    attributes.len()
}

struct MarkupReader<'w> {
    /// Text that no element has ended yet.
    run: String,
    /// The element whose words are set aside: its name, how many of it are open, and the reason.
    aside: Option<(String, u32, &'static str)>,
    words: &'w mut SourceWords,
}

impl MarkupReader<'_> {
    fn pass(&mut self, tag: &Tag<'_>, is_html: bool, set_aside: &[(&str, &'static str)]) {
        if !is_inline(&tag.name) {
            self.end_run();
        }
        let is_empty = tag.is_empty || is_html && HTML_VOID.contains(&&*tag.name);
        if is_empty {
            return;
        }
        match &mut self.aside {
            Some((name, open, _)) if *name == tag.name => {
                *open = if tag.is_end { *open - 1 } else { *open + 1 };
                if *open == 0 {
                    self.end_run();
                    self.aside = None;
                }
            }
            None if !tag.is_end => {
                let found = set_aside.iter().find(|(name, _)| *name == tag.name);
                if let Some((name, reason)) = found {
                    self.end_run();
                    self.aside = Some(((*name).to_owned(), 1, reason));
                }
            }
            _ => {}
        }
    }

    fn end_run(&mut self) {
        match &self.aside {
            Some((_, _, reason)) => self.words.set_aside(reason, &self.run),
            None => self.words.add(&self.run),
        }
        self.run.clear();
    }
}

/// A text with its character references resolved. Named references that are not letters become a space.
fn decoded(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        let name_length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
        let Some(after) = rest[name_length..].strip_prefix(';').filter(|_| name_length > 0) else {
            out.push('&');
            continue;
        };
        out.push(character(&rest[..name_length]));
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn character(reference: &str) -> char {
    let number = match reference.strip_prefix(['#']) {
        Some(hex) if hex.starts_with(['x', 'X']) => u32::from_str_radix(&hex[1..], 16).ok(),
        Some(decimal) => decimal.parse().ok(),
        None => None,
    };
    let accented = |base: char, mark: &str| match (base, mark) {
        ('a', "acute") => Some('á'),
        ('e', "acute") => Some('é'),
        ('i', "acute") => Some('í'),
        ('o', "acute") => Some('ó'),
        ('u', "acute") => Some('ú'),
        ('n', "tilde") => Some('ñ'),
        ('e', "grave") => Some('è'),
        ('c', "cedil") => Some('ç'),
        ('u', "uml") => Some('ü'),
        ('o', "uml") => Some('ö'),
        _ => None,
    };
    let named = || {
        let mut letters = reference.chars();
        accented(letters.next()?, letters.as_str())
    };
    number.and_then(char::from_u32).or_else(named).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(markup: &str, is_html: bool) -> SourceWords {
        let mut words = SourceWords::default();
        count(markup, is_html, &[("nav", "navigation"), ("head", "head of the page")], &mut words);
        words
    }

    #[test]
    fn words_end_at_blocks_and_not_at_inline_elements() {
        for (markup, expected) in [
            ("<p>one</p><p>two</p>", 2),
            ("<p><b>o</b>ne two<br/>three</p>", 3),
            ("<p>a<i></p><p></i>b</p>", 2),
            ("<d:p x='>'>one</d:p><!-- no --><?no no?>", 1),
            ("<p><![CDATA[one <two>]]></p>", 2),
            ("<p>caf&eacute; &amp; f&#252;r&nbsp;zwei</p>", 3),
            ("a < b & c", 3),
            ("", 0),
            ("<p", 0),
        ] {
            assert_eq!(counted(markup, false).law.total(), expected, "{markup}");
        }
    }

    #[test]
    fn words_set_aside_are_counted_by_reason() {
        let page = "<head><title>no</title><meta x><style>p { a: b }</style></head><p>one<br>two</p>\
                    <nav>a <nav>b</nav> c</nav><script>if (a < b) { c }</script><p>three</p>";
        let words = counted(page, true);
        assert_eq!(words.law.total(), 3);
        let expected = [("head of the page".to_owned(), 1), ("navigation".to_owned(), 3)];
        assert_eq!(words.aside_by_reason, expected.into());
    }
}
