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

/// What a name must not contain: what [`is_hidden`], the other characters that show nothing, such as
/// fillers of Hangul and variation selectors, and every space but the ordinary one. Texts of law may
/// contain the latter two.
pub fn is_hidden_in_names(letter: char) -> bool {
    is_hidden(letter) || is_blank_letter(letter) || is_other_space(letter)
}

/// Letters, marks and signs that Unicode 17 lets a program draw as nothing, or that are blank in every font.
fn is_blank_letter(letter: char) -> bool {
    matches!(letter,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{2065}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{16fe4}'
        | '\u{1d159}' | '\u{e0000}'..='\u{e0fff}')
}

/// The general category Zs of Unicode 17 without the ordinary space.
fn is_other_space(letter: char) -> bool {
    matches!(letter, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Explains to the author why a name is refused, or another text that people compare by sight. None
/// if it contains nothing that [`is_hidden_in_names`].
pub fn name_error(text: &str) -> Option<String> {
    let hidden = text.chars().find(|letter| is_hidden_in_names(*letter))?;
    let number = u32::from(hidden);
    Some(if is_other_space(hidden) {
        format!("contains U+{number:04X}, which looks like a space; replace it with an ordinary space")
    } else if is_blank_letter(hidden) {
        format!("contains U+{number:04X}, an invisible character; remove it")
    } else {
        return invisible_error(text);
    })
}

/// Replaces what [`name_error`] refuses with code points, so that it is accepted then.
pub fn escaped_name(text: &str) -> Cow<'_, str> {
    replaced(text, is_hidden_in_names, push_number)
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
            assert_eq!((name_error(plain), escaped_name(plain)), (None, plain.into()));
        }
    }

    #[test]
    fn a_name_has_ordinary_spaces_and_only_visible_letters() {
        let spaces = "\u{a0}\u{1680}\u{2000}\u{2003}\u{200a}\u{202f}\u{205f}\u{3000}";
        let blanks =
            "\u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}\u{2800}\u{3164}\u{fe0f}\u{ffa0}\u{1d159}\u{e0100}";
        let refused = [(spaces, "replace it with an ordinary space"), (blanks, "remove it")];
        for (letters, correction) in refused {
            for letter in letters.chars() {
                let text = format!("Acme{letter}LLC");
                let number = format!("U+{:04X}", u32::from(letter));
                let fault = name_error(&text).unwrap();
                assert!(fault.contains(&number) && fault.ends_with(correction), "{fault}");
                assert_eq!(escaped_name(&text), format!("Acme<{number}>LLC"));
                // The law may have them.
                assert_eq!((invisible_error(&text), escaped(&text)), (None, text.as_str().into()), "{number}");
            }
        }
        let first_fault = name_error("Acme\u{202e}\u{a0}LLC").unwrap();
        assert_eq!(first_fault, "contains U+202E, a control or invisible character; remove it");
        assert!(name_error("Acme\u{a0}\u{202e}LLC").unwrap().contains("U+00A0"));
    }
}
