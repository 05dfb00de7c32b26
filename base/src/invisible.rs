//! Invisible characters. In a name they can make two texts look the same, reverse the order of the
//! letters around them, or control a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Control and format characters, direction marks, and line and paragraph separators: the general
/// categories Cc, Cf, Zl and Zp of Unicode 17.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}'
            | '\u{e0020}'..='\u{e007f}')
}

/// Explains to the author why a text with a hidden character is refused. None if the text has no
/// hidden character.
pub fn invisible_error(text: &str) -> Option<String> {
    let hidden = text.chars().find(|letter| is_hidden(*letter))?;
    Some(format!("contains U+{:04X}, a control or invisible character; remove it", u32::from(hidden)))
}

/// Replaces hidden characters with their code points, for output to a terminal.
pub fn escaped(text: &str) -> Cow<'_, str> {
    replaced(text, is_hidden, push_number)
}

/// The same for text of several lines: line feeds and tabs stay.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    replaced(text, is_hidden_in_lines, push_number)
}

/// Escapes the hidden characters of a JSON text as JSON does, so that it stays the same JSON.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    replaced(json, is_hidden_in_lines, |escaped, letter| {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    })
}

fn is_hidden_in_lines(letter: char) -> bool {
    is_hidden(letter) && letter != '\n' && letter != '\t'
}

fn push_number(escaped: &mut String, letter: char) {
    let _ = write!(escaped, "<U+{:04X}>", u32::from(letter));
}

fn replaced(text: &str, is_replaced: fn(char) -> bool, replace: fn(&mut String, char)) -> Cow<'_, str> {
    if !text.contains(is_replaced) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_replaced(letter) {
            replace(&mut escaped, letter);
        } else {
            escaped.push(letter);
        }
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_refused_and_shown_by_number() {
        for hidden in ['\u{202e}', '\u{200b}', '\u{feff}', '\u{ad}', '\u{2028}', '\n', '\u{1b}', '\u{9b}', '\u{2066}'] {
            assert!(is_hidden(hidden), "{hidden:?}");
            let text = format!("Acme{hidden} LLC");
            assert!(invisible_error(&text).unwrap().contains(&format!("U+{:04X}", u32::from(hidden))), "{hidden:?}");
            assert_eq!(escaped(&text), format!("Acme<U+{:04X}> LLC", u32::from(hidden)));
        }
        assert_eq!(escaped_lines("a\n\tb\u{1b}[2J\r"), "a\n\tb<U+001B>[2J<U+000D>");
        assert_eq!(escaped_json("\"\u{202e}\u{9b}\u{e0001}\"\n"), "\"\\u202e\\u009b\\udb40\\udc01\"\n");
        for plain in ["Café Ünïon — “Ł” & Söhne, 東京 LLC", "", "e\u{301}"] {
            assert_eq!((invisible_error(plain), escaped(plain)), (None, plain.into()));
        }
    }
}
