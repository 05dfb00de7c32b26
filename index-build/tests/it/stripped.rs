//! A short, independent HTML reader for comparison with the reader of the importers. It removes
//! tags, counts positions in lists, and knows nothing else about the document.

/// The words of a document, with spaces in place of block tags, and the labels of list items, which
/// the document does not contain.
#[derive(Debug, Default)]
pub(crate) struct Stripped {
    pub(crate) text: String,
    pub(crate) labels: Vec<String>,
}

/// Tags that may occur within a word.
const WITHIN_WORDS: [&str; 11] = ["b", "i", "em", "strong", "a", "cite", "span", "sup", "sub", "u", "dfn"];

pub(crate) fn strip(html: &str) -> Stripped {
    let mut stripped = Stripped::default();
    // Each open list: its style, and its current position.
    let mut lists: Vec<(Option<char>, u32)> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        stripped.text.push_str(&rest[..start]);
        let end = start + rest[start..].find('>').unwrap_or(rest.len() - start - 1);
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').find(|part| !part.is_empty()).unwrap_or_default();
        if !WITHIN_WORDS.contains(&name) {
            stripped.text.push(' ');
        }
        match (tag.starts_with('/'), name) {
            (false, "ol") => lists.push((Some(attribute(tag, "type").chars().next().unwrap_or('1')), 0)),
            (false, "ul") => lists.push((None, 0)),
            (true, "ol" | "ul") => drop(lists.pop()),
            (false, "li") => {
                if let Some((kind, position)) = lists.last_mut() {
                    *position = attribute(tag, "value").parse().unwrap_or(*position + 1);
                    stripped.labels.extend(kind.map(|kind| counted(*position, kind)));
                }
            }
            _ => {}
        }
    }
    stripped.text.push_str(rest);
    let entities = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    for (entity, character) in entities {
        stripped.text = stripped.text.replace(entity, character);
    }
    stripped
}

/// A document without some of its elements, and the markup of those elements.
pub(crate) fn without(html: &str, names: &[&str]) -> (String, Vec<String>) {
    let (mut kept, mut cut) = (html.to_owned(), Vec::new());
    for name in names {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        let mut at = 0;
        while let Some(start) = kept[at..].find(&open).map(|start| at + start) {
            let is_whole_name = !kept[start + open.len()..].starts_with(char::is_alphanumeric);
            let end = kept[start..].find(&close).map(|end| start + end + close.len()).filter(|_| is_whole_name);
            match end {
                Some(end) => cut.push(kept.drain(start..end).collect()),
                None => at = start + open.len(),
            }
        }
    }
    (kept, cut)
}

fn attribute<'t>(tag: &'t str, name: &str) -> &'t str {
    let value = tag.split_once(&format!(" {name}=\"")).map(|(_, value)| value);
    value.and_then(|value| value.split('"').next()).unwrap_or_default()
}

/// A position in letters, roman numerals or digits.
fn counted(position: u32, kind: char) -> String {
    let letter = |position: u32| char::from(b'a' + (position % 26) as u8).to_string();
    let roman = |mut left: u32| {
        let mut text = String::new();
        for (value, digits) in [(50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")] {
            while left >= value {
                text.push_str(digits);
                left -= value;
            }
        }
        text
    };
    let small = match kind.to_ascii_lowercase() {
        'a' if position <= 26 => letter(position - 1),
        'a' => letter((position - 1) / 26 - 1) + &letter(position - 1),
        'i' => roman(position),
        _ => position.to_string(),
    };
    if kind.is_ascii_uppercase() { small.to_uppercase() } else { small }
}

#[test]
fn tags_go_and_positions_stay() {
    let (html, cut) =
        without("<nav>x</nav>A<b>B</b> &amp; C<ol type=\"A\"><li>d</li><li value=\"28\">e<ol><li>f", &["nav"]);
    let stripped = strip(&html);
    assert_eq!(stripped.text.split_whitespace().collect::<Vec<_>>(), ["AB", "&", "C", "d", "e", "f"]);
    assert_eq!((stripped.labels.join(" "), cut.len()), ("A AB 1".to_owned(), 1));
    assert_eq!(counted(49, 'I'), "XLIX");
}
