//! Finds the ends of sentences in legal text, where long paragraphs and snippets are cut. A missed or wrong end
//! does little harm, so a few rules about full stops are enough.

/// Words, in lower case, after which a full stop does not end a sentence. The same is true of single letters
/// (`U.S.C.`).
const ABBREVIATIONS: [&str; 28] = [
    "al", "app", "art", "arts", "ch", "cir", "cl", "co", "corp", "del", "dr", "etc", "inc", "mr", "mrs", "ms", "no",
    "nos", "par", "pub", "reg", "regs", "rev", "sec", "secs", "st", "stat", "supp",
];

/// The bytes that may end a sentence. A lookup table avoids a branch misprediction at every space.
static IS_MARK: [bool; 256] = {
    let mut is_mark = [false; 256];
    let mut marks: &[u8] = b".;?!";
    while let [mark, rest @ ..] = marks {
        is_mark[*mark as usize] = true;
        marks = rest;
    }
    is_mark
};

/// The byte offset of the end of each sentence in a paragraph. The next sentence begins there, with the white space
/// between the two.
pub fn sentence_ends(paragraph: &str) -> impl Iterator<Item = usize> {
    let marks = paragraph.bytes().enumerate().filter(|(_, byte)| IS_MARK[usize::from(*byte)]);
    marks.filter_map(|(at, mark)| end_after_mark(paragraph, at, mark)).chain(Some(paragraph.len()))
}

/// The end of the sentence that the mark at `at` closes, with its quotes and brackets; `None` if it closes none.
fn end_after_mark(paragraph: &str, at: usize, mark: u8) -> Option<usize> {
    let rest = paragraph[at + 1..].trim_start_matches(['"', '\'', '”', '’', ')', ']']);
    let next = rest.trim_start();
    let followed_by_space = next.len() < rest.len();
    let ends = followed_by_space && (mark != b'.' || full_stop_ends(&paragraph[..at], next));
    ends.then_some(paragraph.len() - rest.len())
}

fn full_stop_ends(before: &str, next: &str) -> bool {
    let goes_on_small = next.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit());
    let word_start = before.rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| at + char_len(&before[at..]));
    let word = &before[word_start..];
    let is_initial = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    !goes_on_small && !is_initial && !ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn char_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(paragraph: &str) -> Vec<&str> {
        let mut start = 0;
        sentence_ends(paragraph)
            .map(|end| {
                let sentence = paragraph[start..end].trim();
                start = end;
                sentence
            })
            .collect()
    }

    #[test]
    fn sentences_end_where_a_reader_would_end_them() {
        assert_eq!(
            sentences("Fees apply. The clerk (or deputy) said “Stop.” A fine follows; the court decides. See § 5."),
            ["Fees apply.", "The clerk (or deputy) said “Stop.”", "A fine follows;", "the court decides.", "See § 5."]
        );
    }

    #[test]
    fn abbreviations_and_numbers_end_nothing() {
        for whole in [
            "As defined in 42 U.S.C. 1983 and Pub. L. 94-579 and Sec. V of it",
            "See No. 5, art. II, and ch. 3 of Stat. 4",
            "Rule 1.2.3 applies to a fee of $4.50 each",
            "é. lower case",
        ] {
            assert_eq!(sentences(whole), [whole]);
        }
    }
}
