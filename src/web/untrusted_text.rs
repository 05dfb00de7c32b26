//! Renders untrusted text: escapes it and makes characters visible that would change how the
//! surrounding text reads. Also keeps together what no line break may separate: a section sign and
//! its number, a dash and the character before it.

use std::borrow::Cow;
use std::ops::Range;

use hornbook_base::thousands::grouped;
use maud::Render;

use super::heading_case::mixed_case;

/// Text from a corpus or from a visitor.
#[derive(Clone, Copy, Debug)]
pub(super) struct UntrustedText<'t>(pub(super) &'t str);

impl Render for UntrustedText<'_> {
    fn render_to(&self, out: &mut String) {
        let text = self.0;
        let mut plain_from = 0;
        for (at, byte) in text.bytes().enumerate() {
            let written = match byte {
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'&' => "&amp;",
                b'"' => "&quot;",
                b'\t' | b'\n' | b'\r' => continue,
                // First bytes of characters that may be a direction mark, a control character, a
                // section sign or a dash.
                0xc2 | 0xd8 | 0xe2 if at >= plain_from => {
                    if let Some(mark) = first_control_char(&text[at..]) {
                        out.push_str(&text[plain_from..at]);
                        push_code(out, mark);
                        plain_from = at + mark.len_utf8();
                    } else if let Some(together) = unbreakable_range(text, plain_from, at) {
                        out.push_str(&text[plain_from..together.start]);
                        push_unbreakable(out, &text[together.clone()]);
                        plain_from = together.end;
                    }
                    continue;
                }
                0..0x20 | 0x7f => {
                    out.push_str(&text[plain_from..at]);
                    push_code(out, char::from(byte));
                    plain_from = at + 1;
                    continue;
                }
                _ => continue,
            };
            out.push_str(&text[plain_from..at]);
            out.push_str(written);
            plain_from = at + 1;
        }
        out.push_str(&text[plain_from..]);
    }
}

/// Maximum length of a number that stays on the line of its section sign, in bytes. A longer one
/// may not fit on a line.
const NUMBER_BYTES: usize = 24;

/// The range around a section sign or a dash that must stay on one line. It begins at `from` or
/// later and contains no characters that need escaping.
fn unbreakable_range(text: &str, from: usize, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    if rest.starts_with('—') {
        let before = text[from..at].chars().next_back().filter(|letter| letter.is_alphanumeric())?;
        return Some(at - before.len_utf8()..at + '—'.len_utf8());
    }
    let number = rest.trim_start_matches('§').strip_prefix(' ').filter(|_| rest.starts_with('§'))?;
    let is_number =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':' | '(' | ')' | '–');
    let bytes = number.find(|letter| !is_number(letter)).unwrap_or(number.len());
    (1..=NUMBER_BYTES).contains(&bytes).then(|| at..at + rest.len() - number.len() + bytes)
}

/// Wraps the same characters in an element and adds none, so text copied from the page is
/// unchanged.
fn push_unbreakable(out: &mut String, text: &str) {
    out.push_str("<span class=\"whole\">");
    out.push_str(text);
    out.push_str("</span>");
}

/// Maximum length of a heading in a list, in characters. Real headings are shorter.
const HEADING_CHARS: usize = 400;

/// A heading in a list.
pub(super) struct ListedHeading<'t>(Cow<'t, str>);

impl Render for ListedHeading<'_> {
    fn render_to(&self, out: &mut String) {
        UntrustedText(&self.0).render_to(out);
    }
}

/// A heading for a list: in mixed case, and shortened if it is as long as a text.
pub(super) fn short_heading(heading: &str) -> ListedHeading<'_> {
    let end = heading.char_indices().nth(HEADING_CHARS).map_or(heading.len(), |(end, _)| end);
    ListedHeading(mixed_case(&heading[..end]))
}

/// A count with thousands separators.
pub(super) fn counted(number: usize) -> String {
    grouped(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Untrusted text for attributes and structured data, which cannot contain markup. Control
/// characters and direction marks are removed.
pub(super) fn attribute_text(text: &str) -> String {
    let stays = |letter: &char| !letter.is_control() && !is_control_or_direction(*letter);
    text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).filter(stays).collect()
}

/// The first character of the text, if it is a control character or a direction mark.
fn first_control_char(text: &str) -> Option<char> {
    text.chars().next().filter(|first| is_control_or_direction(*first))
}

fn is_control_or_direction(letter: char) -> bool {
    matches!(letter,
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Shows a control character or direction mark as its code point, in an element that law text never
/// uses.
fn push_code(out: &mut String, mark: char) {
    out.push_str(&format!("<span class=\"code\">U+{:04X}</span>", u32::from(mark)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        UntrustedText(text).render().into_string()
    }

    #[test]
    fn markup_is_escaped_and_plain_text_stays() {
        assert_eq!(rendered("§ “a” — é\n\tb"), "§ “a” — é\n\tb");
        assert_eq!(rendered("</script><b a=\"1\">&amp;"), "&lt;/script&gt;&lt;b a=&quot;1&quot;&gt;&amp;amp;");
    }

    #[test]
    fn a_section_sign_keeps_its_number_and_a_dash_the_word_before_it() {
        let whole = |text: &str| format!("<span class=\"whole\">{text}</span>");
        assert_eq!(rendered("17 U.S.C. § 107(a) & 108"), format!("17 U.S.C. {} &amp; 108", whole("§ 107(a)")));
        assert_eq!(rendered("§§ 55.1-1226, 2"), format!("{}, 2", whole("§§ 55.1-1226")));
        assert_eq!(rendered("include—(1) <é—"), format!("includ{}(1) &lt;{}", whole("e—"), whole("é—")));
        for stays in ["§", "§ ", "§ <b>", "§107", "—a", ") — b", "§§"] {
            assert!(!rendered(stays).contains("span"), "{stays}");
        }
        let long = format!("§ {}", "1".repeat(NUMBER_BYTES + 1));
        assert_eq!(rendered(&long), long, "it may be wider than a phone");
        assert_eq!(
            rendered("§ 1—\u{202e}§ 2"),
            [&whole("§ 1"), "—", "<span class=\"code\">U+202E</span>", &whole("§ 2")].concat()
        );
    }

    #[test]
    fn what_steers_direction_or_terminals_is_shown_by_its_number() {
        let code = |number: &str| format!("<span class=\"code\">U+{number}</span>");
        assert_eq!(rendered("a\u{202e}b"), format!("a{}b", code("202E")));
        assert_eq!(rendered("\u{1b}[31m"), format!("{}[31m", code("001B")));
        assert_eq!(rendered("\u{61c}\u{9b}\u{0}"), [code("061C"), code("009B"), code("0000")].concat());
        assert_eq!(rendered("’\u{2066}x\u{2069}"), format!("’{}x{}", code("2066"), code("2069")));
    }
}
