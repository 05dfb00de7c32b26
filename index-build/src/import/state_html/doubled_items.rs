//! List items that a release prints twice, the second time with the labels from which the item was made:
//! `<li>The Board shall meet. (b) (1) The Board shall meet.</li>` is item `1` of `b`.
//!
//! The labels prove it: the last one is the item's own.

use hornbook_corpus::layout::Layout;

use super::cutting::cut;
use crate::pattern::Pattern;

/// Removes the second copies from a text, and returns them.
pub(super) fn remove(text: &mut String, layout: &mut Layout) -> Vec<String> {
    let mut copies = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        let copy = copy_in(&text[start..end]).map(|copy| cut(text, layout, start + copy, end));
        start = end + 1 - copy.as_ref().map_or(0, String::len);
        copies.extend(copy.map(|copy| copy.trim().to_owned()));
    }
    copies
}

/// Where the second copy begins, with its labels.
fn copy_in(line: &str) -> Option<usize> {
    // The item's own label, and those before its copy: `(b) (1)`, `B. 1.`
    const FORMS: [(&str, &str); 2] = [
        (r"^\(([[:alnum:]]{1,6})\) ", r" (?:\([[:alnum:]]{1,6}\) ?)*\(([[:alnum:]]{1,6})\) "),
        (
            r"^([A-Z]{1,2}|[a-z]|[ivx]{2,5}|\d{1,3})\. ",
            r" (?:(?:[A-Z]{1,2}\d?|[a-z]|[ivx]{2,5}|\d{1,3})\. ?)*([A-Z]{1,2}|[a-z]|[ivx]{2,5}|\d{1,3})\. ",
        ),
    ];
    // Few words may be repeated by chance.
    const BYTES_MIN: usize = 8;
    FORMS.iter().find_map(|(own, labels)| {
        let own = Pattern::fixed(own).captures(line)?;
        let words = own.get(0)?.end();
        Pattern::fixed(labels).captures_iter(&line[words..]).find_map(|found| {
            let between = found.get(0)?;
            let (first, second) = (&line[words..words + between.start()], &line[words + between.end()..]);
            let is_copy = found[1] == own[1] && first.len() >= BYTES_MIN && are_equal(first, second);
            is_copy.then_some(words + between.start())
        })
    })
}

/// Whether texts have the same letters and signs.
fn are_equal(one: &str, other: &str) -> bool {
    let is_sign = |c: &char| !c.is_whitespace();
    one.len().abs_diff(other.len()) <= one.len() / 8 && one.chars().filter(is_sign).eq(other.chars().filter(is_sign))
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::{Line, LineKind};

    use super::*;

    fn removed(text: &str) -> (String, Vec<String>) {
        let mut text = text.to_owned();
        let line = |_| Line::labelled(LineKind::Paragraph, 0, 0);
        let mut layout = Layout { lines: text.lines().map(line).collect(), ..Layout::default() };
        let copies = remove(&mut text, &mut layout);
        assert_eq!(layout.lines.len(), text.lines().count());
        (text, copies)
    }

    #[test]
    fn the_copy_with_the_labels_goes() {
        let doubled =
            "(b)\n(1) A board, of § 212 , shall meet. (b) (1) A board, of § 212, shall meet.\n(2) It may sit.";
        let (text, copies) = removed(doubled);
        assert_eq!(text, "(b)\n(1) A board, of § 212 , shall meet.\n(2) It may sit.");
        assert_eq!(copies, ["(b) (1) A board, of § 212, shall meet."]);
        let deep = "(A) “Plan” means: (b) (2) (A) “Plan” means:\n(i) one; or (A) (i) one; or\n(ii) what is left.";
        assert_eq!(removed(deep).0, "(A) “Plan” means:\n(i) one; or (A) (i) one; or\n(ii) what is left.");
        let dotted = "1. Except for § 13. A trust shall pay. B. 1. Except for § 13. A trust shall pay.\n2. It may sue.";
        assert_eq!(removed(dotted).0, "1. Except for § 13. A trust shall pay.\n2. It may sue.");
        let last = "(1) [Repealed.] (e) (1) [Repealed.]";
        assert_eq!(removed(last), ("(1) [Repealed.]".to_owned(), vec!["(e) (1) [Repealed.]".to_owned()]));
    }

    #[test]
    fn words_that_only_resemble_a_copy_stay() {
        for text in [
            "(1) A board shall meet. (b) (2) A board shall meet.",
            "(1) A board shall meet. (b) (1) A board shall sit.",
            "A board shall meet. (1) A board shall meet.",
            "(1) As in (a) (1) As in",
            "1. The board shall meet. B. 2. The board shall meet.",
        ] {
            assert_eq!(removed(text), (text.to_owned(), Vec::new()));
        }
    }
}
