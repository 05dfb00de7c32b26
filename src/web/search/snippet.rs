//! Splits the snippet of a result at its highlights.

use hornbook_search::Highlight;

/// The parts of a snippet, in order. Each part states whether it is highlighted.
pub(super) fn parts<'s>(snippet: &'s str, highlights: &[Highlight]) -> Vec<(&'s str, bool)> {
    let mut parts = Vec::with_capacity(highlights.len() * 2 + 1);
    let (mut bytes, mut chars) = (0, 0);
    for Highlight { start, end } in highlights {
        let to = |bytes: usize, count: u32| {
            snippet[bytes..].char_indices().nth(count as usize).map_or(snippet.len(), |(at, _)| bytes + at)
        };
        let from = to(bytes, start.saturating_sub(chars));
        let until = to(from, end.saturating_sub(*start));
        parts.push((&snippet[bytes..from], false));
        parts.push((&snippet[from..until], true));
        (bytes, chars) = (until, *end);
    }
    parts.push((&snippet[bytes..], false));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_cut_at_characters() {
        let marks = [Highlight { start: 2, end: 6 }, Highlight { start: 7, end: 99 }];
        let cut = parts("§ Säge é end", &marks);
        assert_eq!(cut, [("§ ", false), ("Säge", true), (" ", false), ("é end", true)]);
        assert_eq!(parts("plain", &[]), [("plain", false)]);
    }
}
