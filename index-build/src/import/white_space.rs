//! Normalizes white space: within a line, any run of white space becomes one space.

/// Passes the words of a piece of text to `push`, in runs that contain only single spaces. `space`
/// records whether white space occurred since the last word, in this piece or the one before; each
/// run is passed with it.
pub(crate) fn normalise_spaces<'w>(words: &'w str, space: &mut bool, mut push: impl FnMut(bool, &'w str)) {
    let mut rest = words;
    loop {
        let bare = rest.trim_start();
        *space |= bare.len() < rest.len();
        if bare.is_empty() {
            return;
        }
        let (stretch, after) = bare.split_at(run_end(bare));
        push(std::mem::take(space), stretch);
        rest = after;
    }
}

/// The end of a run of words separated by single spaces.
fn run_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' if bytes.get(at + 1).is_some_and(u8::is_ascii_graphic) => at += 1,
            b'\t'..=b'\r' | b' ' => return at,
            ..0x80 => at += 1,
            _ => match text[at..].chars().next() {
                Some(c) if !c.is_whitespace() => at += c.len_utf8(),
                _ => return at,
            },
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_between_white_space() {
        let pieces = ["  a b\u{a0}\u{2009}c \n§ 1\u{b}", "", " ", "d—e ", "f\u{85}g  h\t", "\u{a0}i j"];
        let (mut folded, mut space) = (String::new(), false);
        for piece in pieces {
            normalise_spaces(piece, &mut space, |space, stretch| {
                if space && !folded.is_empty() {
                    folded.push(' ');
                }
                folded.push_str(stretch);
            });
        }
        assert_eq!(folded, pieces.concat().split_whitespace().collect::<Vec<_>>().join(" "));
        assert!(!space);
    }
}
