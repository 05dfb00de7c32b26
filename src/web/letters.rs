//! Text of others in a page: escaped, with the characters visible that would change how the text around them reads.

use maud::Render;

/// Text from a corpus or from a visitor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letters<'t>(pub(super) &'t str);

impl Render for Letters<'_> {
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
                // First bytes of what may be a mark of direction or a control character.
                0xc2 | 0xd8 | 0xe2 => match marked(&text[at..]) {
                    Some(mark) => {
                        out.push_str(&text[plain_from..at]);
                        push_code(out, mark);
                        plain_from = at + mark.len_utf8();
                        continue;
                    }
                    None => continue,
                },
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

/// Characters of a heading in a list. Publishers have none that are longer.
const HEADING_CHARS: usize = 400;

/// A heading as lists have it: one that is as long as a text is cut.
pub(super) fn brief(heading: &str) -> Letters<'_> {
    let end = heading.char_indices().nth(HEADING_CHARS).map_or(heading.len(), |(end, _)| end);
    Letters(&heading[..end])
}

/// A number with its thousands apart.
pub(super) fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The same of what was counted here.
pub(super) fn counted(number: usize) -> String {
    grouped(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Text of others for attributes and data, which have no marks: such characters are left out.
pub(super) fn visible(text: &str) -> String {
    let stays = |letter: &char| !letter.is_control() && !steers(*letter);
    text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).filter(stays).collect()
}

/// The character that begins the text, if it steers directions or terminals.
fn marked(text: &str) -> Option<char> {
    text.chars().next().filter(|first| steers(*first))
}

fn steers(letter: char) -> bool {
    matches!(letter,
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Such a character by its number, as a mark that no text of law has.
fn push_code(out: &mut String, mark: char) {
    out.push_str(&format!("<span class=\"code\">U+{:04X}</span>", u32::from(mark)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        Letters(text).render().into_string()
    }

    #[test]
    fn markup_is_escaped_and_plain_text_stays() {
        assert_eq!(rendered("§ 1 “a” — é\n\tb"), "§ 1 “a” — é\n\tb");
        assert_eq!(rendered("</script><b a=\"1\">&amp;"), "&lt;/script&gt;&lt;b a=&quot;1&quot;&gt;&amp;amp;");
    }

    #[test]
    fn thousands_stand_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
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
