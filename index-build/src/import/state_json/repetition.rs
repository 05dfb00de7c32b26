//! Removes repetitions from texts that were extracted from nested elements of a page: each element
//! was written with all its words, and then its children again, each with all of its words.
//!
//! A paragraph whose words are exactly those of the following paragraphs is such an element, and is
//! dropped. A paragraph with some more words than the following ones is divided into those and the
//! words between them. So no word is lost, and none is kept twice. Some table cells and lines of
//! forms were also written again after the table: within an element, a paragraph that is not next
//! in it, but is a part of the child before it, is skipped. Repetitions in the law itself stay.
//!
//! A paragraph followed by an equal one proves nothing: forms contain such lines, and so does an
//! element with one child. It is dropped only in a document that writes all its elements twice
//! ([`writes_twice`]).

use std::cell::Cell;

/// Reason for leaving out words that the source wrote twice.
pub(super) const WRITTEN_TWICE: &str = "paragraphs that the source wrote twice";
/// Reason for leaving out words based on a guess. Each such case is a warning that shows the words.
pub(super) const UNPROVEN_REPETITION: &str = "paragraphs treated as repetitions without proof";

/// Paragraphs without repetition.
#[derive(Debug, Default)]
pub(super) struct Deduplicated<'t> {
    pub(super) lines: Vec<&'t str>,
    /// How many elements were dropped or divided because the source shows that it wrote their words twice.
    pub(super) repeated: usize,
    /// Paragraphs that were dropped because the one before contains their words, without evidence
    /// that the source wrote them twice.
    pub(super) doubtful: Vec<&'t str>,
    /// Paragraphs that were dropped because an equal one follows.
    pub(super) equal: Vec<&'t str>,
}

/// Whether a document writes its elements twice: most of its texts contain a paragraph that is a
/// prefix of the one before it. This is true for at least half of the texts in each of 3,400
/// documents of Washington, and for hardly any in 1,600 documents of South Dakota.
pub(super) fn writes_twice<'t>(texts: impl Iterator<Item = &'t str>) -> bool {
    let (mut all, mut twice) = (0, 0);
    for text in texts {
        let paragraphs: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
        let is_part = |pair: &[&str]| is_prose(pair[1]) && pair[0].starts_with(pair[1]);
        all += usize::from(paragraphs.len() > 1);
        twice += usize::from(paragraphs.windows(2).any(is_part));
    }
    twice > 0 && twice * 2 >= all
}

/// Whether a paragraph contains words and is not a line to be filled in.
fn is_prose(paragraph: &str) -> bool {
    paragraph.contains(|c: char| c.is_alphabetic()) && !paragraph.contains("__")
}

/// Removes repetitions from paragraphs. `twice` is true if their document writes its elements twice.
pub(super) fn remove_repetitions<'t>(paragraphs: &[&'t str], twice: bool) -> Deduplicated<'t> {
    let words = ParagraphWords::of(paragraphs, twice);
    let mut elements: Vec<Element<'t>> = Vec::with_capacity(paragraphs.len());
    elements.resize_with(paragraphs.len(), Element::default);
    for place in (0..paragraphs.len()).rev() {
        elements[place] = element(place, paragraphs, &words, &mut elements);
    }
    let (mut undone, mut place) = (Deduplicated::default(), 0);
    while place < elements.len() {
        let element = &mut elements[place];
        undone.lines.append(&mut element.lines);
        undone.doubtful.append(&mut element.doubtful);
        undone.equal.append(&mut element.equal);
        undone.repeated += element.undone;
        place = element.end;
    }
    undone
}

/// The words of each paragraph, and how many more bytes may be searched. Real texts search each
/// byte at most 30 times. If a hostile text needs more, it is no longer searched, so the time is
/// linear.
struct ParagraphWords {
    words: Vec<String>,
    has_repetitions: bool,
    searchable: Cell<usize>,
}

impl ParagraphWords {
    fn of(paragraphs: &[&str], twice: bool) -> Self {
        const SEARCHES_OF_EACH_BYTE: usize = 100;
        let words: Vec<String> = paragraphs.iter().map(|text| squeezed(text)).collect();
        let bytes: usize = words.iter().map(String::len).sum();
        Self { words, has_repetitions: twice, searchable: Cell::new(bytes.saturating_mul(SEARCHES_OF_EACH_BYTE)) }
    }

    fn get(&self, place: usize) -> Option<&String> {
        self.words.get(place)
    }

    /// Whether a paragraph was written again after the child that contains it.
    fn is_part_of(&self, word: &str, child: Option<&usize>) -> bool {
        let Some(child) = child.map(|&child| self.words[child].as_str()) else { return false };
        if child.len() <= word.len() {
            return false;
        }
        let Some(left) = self.searchable.get().checked_sub(child.len()) else { return false };
        self.searchable.set(left);
        child.contains(word)
    }
}

impl<'t> Element<'t> {
    /// Moves the content of a child into this element.
    fn take(&mut self, child: &mut Self) {
        self.lines.append(&mut child.lines);
        self.doubtful.append(&mut child.doubtful);
        self.undone += child.undone;
    }
}

/// A paragraph with the paragraphs within it.
#[derive(Default)]
struct Element<'t> {
    /// The index after its last child.
    end: usize,
    lines: Vec<&'t str>,
    undone: usize,
    doubtful: Vec<&'t str>,
    /// Only for an element with one equal child. In other elements, the whole contains all their words.
    equal: Vec<&'t str>,
}

fn element<'t>(
    place: usize,
    paragraphs: &[&'t str],
    words: &ParagraphWords,
    elements: &mut [Element<'t>],
) -> Element<'t> {
    let whole = &words.words[place];
    let is_shown = |children: &ChildParagraphs| match children.places[..] {
        [only] => words.has_repetitions || elements[only].undone > 0,
        _ => true,
    };
    if let Some(children) = children(whole, words, place + 1, |next| elements[next].end).filter(is_shown) {
        return gathered(place, &children, paragraphs, elements);
    }
    // The element contains all of them, including equal ones.
    if let Some(children) = children(whole, words, place + 1, |next| next + 1).filter(|found| found.places.len() > 1) {
        let lines = children.places.iter().map(|&child| paragraphs[child]).collect();
        let doubtful = paragraphs[children.shown..children.end].to_vec();
        return Element { end: children.end, lines, undone: 1, doubtful, equal: Vec::new() };
    }
    if let Some(element) = cut(place, paragraphs, words, elements) {
        return element;
    }
    Element { end: place + 1, lines: vec![paragraphs[place]], ..Element::default() }
}

/// The paragraphs within an element, the index after the last one that completes it, and the index
/// after further parts of that one.
struct ChildParagraphs {
    places: Vec<usize>,
    shown: usize,
    end: usize,
}

/// The children whose words together are those of the whole.
fn children(
    whole: &str,
    words: &ParagraphWords,
    first: usize,
    step: impl Fn(usize) -> usize,
) -> Option<ChildParagraphs> {
    let (mut rest, mut next, mut places) = (whole, first, Vec::new());
    while !rest.is_empty() {
        let word = words.get(next)?;
        let is_part = words.is_part_of(word, places.last());
        // The head of the table just read may also be the head of the next table.
        let belongs_to_next = || {
            let following = std::iter::successors(Some(step(next)), |&place| Some(step(place)));
            let mut following = following.map_while(|place| words.get(place));
            let after = following.find(|after| !words.is_part_of(after, places.last()));
            after.is_some_and(|after| after.len() > word.len() && rest.starts_with(after.as_str()))
        };
        // The whole contains it once, but the source wrote it twice.
        let is_written_again = || places.last().is_some_and(|&child| words.words[child] == *word);
        match rest.strip_prefix(word.as_str()) {
            Some(after) if !(is_part && belongs_to_next()) => {
                rest = after;
                places.push(next);
            }
            _ if is_part || is_written_again() => {}
            _ => return None,
        }
        next = step(next);
    }
    let shown = next;
    // Skips parts of the last child, unless it is the only one, which would prove too little.
    while places.len() > 1 && words.get(next).is_some_and(|word| words.is_part_of(word, places.last())) {
        next = step(next);
    }
    (!places.is_empty()).then_some(ChildParagraphs { places, shown, end: next })
}

/// The lines of the children of an element that has no words of its own.
fn gathered<'t>(
    place: usize,
    children: &ChildParagraphs,
    paragraphs: &[&'t str],
    elements: &mut [Element<'t>],
) -> Element<'t> {
    let doubtful = paragraphs[children.shown..children.end].to_vec();
    let mut element = Element { end: children.end, undone: 1, doubtful, ..Element::default() };
    if let [only] = children.places[..] {
        element.equal.push(paragraphs[place]);
        element.equal.append(&mut elements[only].equal);
    }
    for &child in &children.places {
        element.take(&mut elements[child]);
    }
    element
}

/// Divides an element with words between its children. Most of it must be in its children, or it
/// must have many children; otherwise it is an independent paragraph.
fn cut<'t>(
    place: usize,
    paragraphs: &[&'t str],
    words: &ParagraphWords,
    elements: &mut [Element<'t>],
) -> Option<Element<'t>> {
    const BYTES_MIN: usize = 60;
    const END_BYTES_MIN: usize = 100;
    /// This many parts in the right order are not a coincidence; the second number is for documents
    /// that write their elements twice.
    const PARTS_ENOUGH: [usize; 2] = [10, 4];
    let whole = words.words[place].as_str();
    let mut found = Vec::new();
    let (mut at, mut next, mut covered, mut shown) = (0, place + 1, 0, place + 1);
    while let Some(word) = words.get(next) {
        let is_next = whole[at..].starts_with(word.as_str());
        if !is_next && words.is_part_of(word, found.last().map(|(_, child)| child)) {
            next = elements[next].end;
            continue;
        }
        // An equal paragraph is not a part.
        if word.len() == whole.len() {
            break;
        }
        let long_enough = word.len() >= 8 || is_next;
        let Some(skipped) = whole[at..].find(word.as_str()).filter(|_| long_enough) else { break };
        found.push((at + skipped, next));
        at += skipped + word.len();
        covered += word.len();
        next = elements[next].end;
        shown = next;
    }
    // A paragraph that was already written whole is followed by its own parts, and some publishers omit parts.
    let is_doubled = !found.is_empty() && place.checked_sub(1).is_some_and(|before| words.words[before] == whole);
    let is_whole =
        covered * 2 >= whole.len() || found.len() >= PARTS_ENOUGH[usize::from(words.has_repetitions)] || is_doubled;
    // A single paragraph within another may be a genuine repetition, but no text repeats its own long ending.
    let is_end = found.iter().any(|&(start, child)| {
        words.words[child].len() >= END_BYTES_MIN && start + words.words[child].len() == whole.len()
    });
    let is_shown = found.len() > 1 || is_doubled || is_end || words.has_repetitions;
    let is_mostly_parts = found.len() > 1 && covered * 4 >= whole.len() * 3;
    let is_long = whole.len() >= BYTES_MIN || (words.has_repetitions && is_mostly_parts);
    if !is_long || !is_whole || !is_shown {
        return None;
    }
    let text = paragraphs[place];
    // Words that the rest of the whole contains are kept with it.
    let is_lost = |passed: &usize| !whole[at..].contains(words.words[*passed].as_str());
    let doubtful = (shown..next).filter(is_lost).map(|passed| paragraphs[passed]).collect();
    let mut result = Element { end: next, undone: 1, doubtful, ..Element::default() };
    let mut at = 0;
    for (start, child) in found {
        push_between(text, at..start, &mut result.lines);
        at = start + words.words[child].len();
        result.take(&mut elements[child]);
    }
    push_between(text, at..whole.len(), &mut result.lines);
    Some(result)
}

/// Adds the part of a text between two places, which do not count white space.
fn push_between<'t>(text: &'t str, range: std::ops::Range<usize>, lines: &mut Vec<&'t str>) {
    if range.is_empty() {
        return;
    }
    let (mut counted, mut start) = (0, text.len());
    for (offset, c) in text.char_indices() {
        if counted >= range.end {
            lines.push(text[start.min(offset)..offset].trim());
            return;
        }
        if !c.is_whitespace() {
            if counted >= range.start {
                start = start.min(offset);
            }
            counted += c.len_utf8();
        }
    }
    lines.push(text[start..].trim());
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a document that writes its elements twice.
    fn undone(paragraphs: &[&str]) -> Vec<String> {
        remove_repetitions(paragraphs, true).lines.into_iter().map(str::to_owned).collect()
    }

    /// In a document that does not write its elements twice.
    fn once(paragraphs: &[&str]) -> Vec<String> {
        remove_repetitions(paragraphs, false).lines.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_whole_is_dropped_before_its_parts_however_deep() {
        assert_eq!(
            undone(&["It is:(1) A;(2) B.", "It is:", "(1) A;", "(2) B.", "C."]),
            ["It is:", "(1) A;", "(2) B.", "C."]
        );
        assert_eq!(undone(&["ABCD", "AB", "A", "B", "CD", "CD", "C", "D"]), ["A", "B", "C", "D"]);
        assert_eq!(undone(&["Gone.", "Gone."]), ["Gone."]);
        assert_eq!(remove_repetitions(&["A", "B"], true).repeated, 0);
        assert_eq!(undone(&[]), [""; 0]);
    }

    #[test]
    fn a_short_whole_with_words_of_its_own_is_divided() {
        let note = [
            "Judgmentsentry of: Chapter 4.64.generally: Chapter 4.56.",
            "entry of: Chapter 4.64.",
            "generally: Chapter 4.56.",
        ];
        assert_eq!(undone(&note), ["Judgments", "entry of: Chapter 4.64.", "generally: Chapter 4.56."]);
    }

    /// From RCW 41.34.040, where only some cells of a table follow.
    #[test]
    fn a_table_is_divided_where_some_of_its_cells_follow() {
        let table = [
            "Option ARateAll Ages0.0% fixedOption BUp to Age 350.0%Age 35 to 441.0%Option CUp to Age 351.0%Age 35 to 442.5% and all other ages",
            "Up to Age 35",
            "Age 35 to 44",
            "Up to Age 35",
            "Age 35 to 44",
        ];
        let cells = [
            "Option ARateAll Ages0.0% fixedOption B",
            "Up to Age 35",
            "0.0%",
            "Age 35 to 44",
            "1.0%Option C",
            "Up to Age 35",
            "1.0%",
            "Age 35 to 44",
            "2.5% and all other ages",
        ];
        assert_eq!(undone(&table), cells);
    }

    #[test]
    fn lines_that_an_element_repeats_itself_stay() {
        assert_eq!(undone(&["Sign:______", "Sign:", "___", "___"]), ["Sign:", "___", "___"]);
    }

    /// SDCL 44-8-3 has three lines to be filled in; 15-39-78 contains `TO: ______` twice.
    #[test]
    fn equal_lines_stay_where_nothing_shows_that_they_were_written_twice() {
        let form = ["To wit:", "____", "____", "____", "TO: ____", "TO: ____", "Done.", "Done."];
        assert_eq!(once(&form), form);
        let long = "A paragraph that a form has twice, and that is long enough to be an element of a page.";
        assert_eq!(once(&[long, long]), [long, long]);
        // Its parts, or the element around it, prove the repetition.
        assert_eq!(once(&["A: B.", "A: B.", "A:", "B."]), ["A:", "B."]);
        assert_eq!(once(&["A: B.", "A:", "A:", "B."]), ["A:", "B."]);
        assert_eq!(once(&["____ ____ B.", "____", "____", "____", "____", "B."]), ["____", "____", "B."]);
        let part = "A paragraph that a form has twice, and that is long enough";
        assert_eq!(once(&[long, part]), [long, part]);
    }

    #[test]
    fn a_document_that_writes_its_elements_twice_shows_it_in_most_texts() {
        assert!(writes_twice(["A one.\n\nA one.", "Two: (1) A.\n\nTwo:\n\n(1) A.", "Three."].into_iter()));
        assert!(!writes_twice(["To:\n\n____\n\n____", "One.\n\nTwo."].into_iter()));
        assert!(!writes_twice(["One.\n\nOne.", "A.\n\nB.", "A.\n\nB."].into_iter()));
        assert!(!writes_twice(std::iter::empty()));
    }

    #[test]
    fn unproven_repetitions_are_listed() {
        let whole = "It is:(1) A dog;(2) a cat.";
        let lines = [whole, "It is:", "(1) A dog;", "(2) a cat.", "a cat."];
        assert_eq!(remove_repetitions(&["A dog.", "A dog.", "B."], true).equal, ["A dog."]);
        assert!(remove_repetitions(&["A: B.", "A:", "A:", "B."], true).equal.is_empty());
        let result = remove_repetitions(&lines, false);
        assert_eq!((result.lines, result.doubtful), (lines[1..4].to_vec(), vec!["a cat."]));
    }

    #[test]
    fn cells_that_are_written_again_after_their_table_are_passed_over() {
        let (first, table, last) =
            ("What is due is as follows:", "Year in whichShare due1. . . .100", "It is due at once.");
        let whole = format!("{first}{table}{last}");
        let flat = ["Year in which", "Share due"];
        assert_eq!(undone(&[&whole, first, table, flat[0], last]), [first, table, last]);
        assert_eq!(undone(&[&whole, first, table, flat[1], last, "due at", "2"]), [first, table, last, "2"]);
        // Two tables under the same words.
        let (one, two) = ("Share dueMen1. . . .100", "Share dueWomen1. . . .200");
        let whole = format!("{first}{one}{two}{last}");
        assert_eq!(
            undone(&[&whole, first, one, "Men", "Share due", two, "Share due", "Women", last]),
            [first, one, two, last]
        );
        let between = format!("{first}{table} 12 13 {last}");
        assert_eq!(undone(&[&between, first, table, flat[0], last]), [first, table, "12 13", last]);
        // A genuine text may repeat its own words.
        assert_eq!(undone(&["It shall: meet.", "It shall:"]), ["It shall: meet.", "It shall:"]);
    }

    /// Each paragraph is a part of the one before, so that without a limit each would be compared
    /// with all that follow.
    #[test]
    fn a_text_beyond_the_search_budget_stays_unchanged() {
        let paragraphs: Vec<String> = (0..300).map(|cut| "ab".repeat(400 - cut)).collect();
        let paragraphs: Vec<&str> = paragraphs.iter().map(String::as_str).collect();
        let words = ParagraphWords::of(&paragraphs, true);
        let bytes: usize = paragraphs.iter().map(|text| text.len()).sum();
        words.searchable.set(2 * bytes);
        assert!(words.is_part_of("ab", Some(&0)) && words.searchable.get() < 2 * bytes);
        words.searchable.set(0);
        assert!(!words.is_part_of("ab", Some(&0)));
        assert!(remove_repetitions(&paragraphs, true).lines.len() <= paragraphs.len());
    }

    #[test]
    fn words_between_the_parts_stay_in_their_place() {
        let whole = "The duty is as follows here: (1) the first of the duties; 12 13 (2) the second.";
        let parts = ["(1) the first of the duties;", "(2) the second."];
        assert_eq!(undone(&[whole, parts[0], parts[1]]), ["The duty is as follows here:", parts[0], "12 13", parts[1]]);
        // With few words in common, the first one is an independent paragraph.
        let other =
            "A long paragraph, much longer than what it has in common with the one that follows it: (2) the second.";
        assert_eq!(undone(&[other, parts[1]]), [other, parts[1]]);
    }
}
