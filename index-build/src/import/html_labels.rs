//! The labels of an ordered list. HTML only has positions, and they are wrong if a list skips
//! letters or one item is `(a) through (d) Repealed`. Some publishers write each label at the end
//! of the item's `id`, after the id of the parent item: `…35-8-301ol1a` contains `…35-8-301ol1ai`.
//! The ids are used if they are consistent.
//!
//! Some items print labels in their words: `(1.5) (a) With respect to ...` is item `a` of a list that
//! belongs to paragraph 1.5. Then they need no other label.

use std::borrow::Cow;

use hornbook_base::roman::{from_roman, to_roman};

use crate::import::html::{Element, HtmlPart};
use crate::pattern::Pattern;

/// The labels of the items of a list, in order; empty if the list is not ordered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ListLabels {
    pub(crate) labels: Vec<String>,
    /// Whether each item prints its label in its words.
    pub(crate) printed: Vec<bool>,
    /// Describes a doubt about the labels, if there is one.
    pub(crate) doubt: Option<String>,
}

/// A list does not skip more labels than this. If the ids do, they are not labels.
const STEP_MAX: u32 = 25;

impl ListLabels {
    /// `around` is the id of the item that contains the list, or empty.
    pub(crate) fn of(list: Element<'_>, around: &str) -> Self {
        if list.name() != "ol" {
            return Self::default();
        }
        let items: Vec<Element<'_>> = list.elements().filter(|item| item.name() == "li").collect();
        let style = list.attribute("type").unwrap_or("1");
        let by_position = positions(list, &items, style);
        let by_id: Option<Vec<Cow<'_, str>>> = items
            .iter()
            .map(|item| {
                let label = without_earlier(label_in_id(item.attribute("id")?, around, style)?);
                Some(letter_of_code(label, style).map_or(Cow::Borrowed(label), Cow::Owned))
            })
            .collect();
        let by_id: Option<Vec<&str>> = by_id.as_ref().map(|by_id| by_id.iter().map(AsRef::as_ref).collect());
        let adds = |by_id: &Vec<&str>| by_id.iter().ne(&by_position) && !count_lists(by_id, &by_position, style);
        let Some(by_id) = by_id.filter(adds) else {
            return Self::checked(by_position, &items, style);
        };
        if !are_nested(&by_id, &by_position, &items) && are_consistent(&by_id, style) {
            let labels = by_id.into_iter().map(|label| label.trim_start_matches('-').to_owned());
            return Self::checked(labels.collect(), &items, style);
        }
        let says_the_same =
            |place: usize| by_id[place].ends_with(by_position[place].as_str()) || by_id[place].parse() == Ok(place + 1);
        let doubt = (!(0..items.len()).all(says_the_same)).then(|| {
            let (positions, ids) = (by_position.join(", "), by_id.join(", "));
            format!("items are {positions} by position, but {ids} by id")
        });
        let mut own = Self::checked(by_position, &items, style);
        // The printed label of the first item confirms that the list is counted from there.
        let is_confirmed = own.printed.first().copied().unwrap_or_default();
        own.doubt = doubt.filter(|_| !is_confirmed).or(own.doubt);
        own
    }

    /// Checks items that state a range of labels: the next label must come after the range.
    fn checked(labels: Vec<String>, items: &[Element<'_>], style: &str) -> Self {
        let mut doubt = None;
        for (pair, item) in labels.windows(2).zip(items) {
            let last = last_of_range(*item).and_then(|last| Some((value(&last, style)?, last)));
            if let Some((_, last)) = last.filter(|(last, _)| value(&pair[1], style).is_some_and(|next| next <= *last)) {
                doubt = Some(format!("item {} covers labels up to {last}, but the next one is {}", pair[0], pair[1]));
            }
        }
        let printed = labels.iter().zip(items).map(|(label, item)| prints(*item, label)).collect();
        Self { labels, printed, doubt }
    }
}

/// Whether the words of an item begin with labels, of which one is its own: the last one, or one before it
/// if the item begins with a list, whose first item prints the labels of both.
fn prints(item: Element<'_>, label: &str) -> bool {
    let (mut inner, mut depth) = (item, 0);
    let words = loop {
        let is_filled = |part: &HtmlPart<'_>| match part {
            HtmlPart::Words(words) => !words.trim().is_empty(),
            HtmlPart::Element(element) => !element.text().is_empty(),
        };
        match inner.parts().find(is_filled) {
            Some(HtmlPart::Words(words)) => break words.trim().to_owned(),
            Some(HtmlPart::Element(element)) if matches!(element.name(), "ol" | "li") => {
                depth += u8::from(element.name() == "li");
                inner = element;
            }
            Some(HtmlPart::Element(element)) => break element.text(),
            None => return false,
        }
    };
    let form = Pattern::fixed(r"^((?:\([[:alnum:]]{1,6}(?:\.\d{1,2})?\) )+)\S");
    let Some(found) = form.captures(&words) else { return false };
    let own = found[1].trim_end().rsplit(' ').nth(usize::from(depth)).unwrap_or_default();
    own.strip_prefix('(').and_then(|own| own.strip_suffix(')')) == Some(label)
}

/// Labels by position, according to `type`, `start` and `value`.
fn positions(list: Element<'_>, items: &[Element<'_>], style: &str) -> Vec<String> {
    let number = |value: Option<&str>| value.and_then(|value| value.trim().parse::<u32>().ok());
    let mut next = number(list.attribute("start")).unwrap_or(1);
    let mut labels = Vec::with_capacity(items.len());
    for item in items {
        next = number(item.attribute("value")).unwrap_or(next);
        labels.push(counted(next, style));
        next = next.saturating_add(1);
    }
    labels
}

/// The part of an id after the parent id or, in an outermost list, after `ol` and the number of the list.
fn label_in_id<'i>(id: &'i str, around: &str, style: &str) -> Option<&'i str> {
    if !around.is_empty() {
        return id.strip_prefix(around).filter(|label| !label.is_empty());
    }
    let numbered = &id[id.rfind("ol")? + 2..];
    let digits = numbered.bytes().take_while(u8::is_ascii_digit).count();
    // In a numbered list the labels are digits too, so the number of the list is assumed to have one digit.
    let label = if style == "1" { numbered.get(1..) } else { numbered.get(digits..) };
    label.filter(|label| digits > 0 && !label.is_empty())
}

/// A label without the labels before it. Between letters there may be further labels, such as `e.5`; the ids
/// then contain one another: `-e.5`, `-e.5-e.7`, and `-e.5f` for the next letter.
fn without_earlier(label: &str) -> &str {
    let Some((_, last)) = label.rsplit_once('-') else { return label };
    let form = Pattern::fixed(r"^(?:([A-Za-z]{1,3}\.\d{1,2})|\d{1,3}\.\d{1,2})?([A-Za-z]{1,3})?$");
    let Some(found) = form.captures(last) else { return label };
    // The dash stays: without it, a number only distinguishes items with the same letter.
    let with_dash = &label[label.len() - last.len() - 1..];
    found.get(2).map(|own| own.as_str()).or(found.get(1).map(|_| with_dash)).unwrap_or(label)
}

/// Some ids contain the number of a character in place of the letter: `73` for `I`.
fn letter_of_code(label: &str, style: &str) -> Option<String> {
    let code = label.parse::<u8>().ok().filter(|_| matches!(style, "a" | "A"))?;
    char::from(code).is_ascii_alphabetic().then(|| char::from(code).to_string())
}

/// Whether the ids of a numbered list have the number of the list before each position but the first: `1`, `12`, `13`.
fn count_lists(by_id: &[&str], by_position: &[String], style: &str) -> bool {
    let [first, others @ ..] = by_id else { return false };
    let list = |(id, position): (&&str, &String)| {
        let list = id.strip_suffix(position.as_str()).filter(|list| !list.is_empty());
        list.and_then(|list| list.parse::<u32>().ok())
    };
    let mut lists = others.iter().zip(by_position.iter().skip(1)).map(list);
    let Some(Some(number)) = lists.next() else { return false };
    style == "1"
        && by_position.first().is_some_and(|position| position == first)
        && lists.all(|list| list == Some(number))
}

/// Whether a program that generated the ids treated items that contain a list as parents of the
/// items that follow: `a`, `ab`, `ac`.
fn are_nested(by_id: &[&str], by_position: &[String], items: &[Element<'_>]) -> bool {
    (1..items.len()).any(|place| {
        let (id, position) = (by_id[place], by_position[place].as_str());
        let parents = id.strip_suffix(position).unwrap_or_default();
        (0..place).any(|before| parents.starts_with(by_id[before]) && has_list(items[before]))
    })
}

fn has_list(element: Element<'_>) -> bool {
    element.elements().any(|inner| inner.name() == "ol" || has_list(inner))
}

/// Whether labels match the style of the list and increase without large gaps.
fn are_consistent(labels: &[&str], style: &str) -> bool {
    // A single label with a dot among labels without dots only distinguishes two items with the same label.
    let points = labels.iter().filter(|label| label.contains('.')).count();
    if style == "1" && (points == 0 || points == labels.len()) {
        let numbers: Option<Vec<Vec<u32>>> = labels.iter().map(|label| numbers(label)).collect();
        let before = |numbers: &[Vec<u32>]| std::iter::once(vec![0]).chain(numbers.to_vec());
        return numbers.is_some_and(|own| {
            before(&own).zip(&own).all(|(before, own)| before < *own && own[0] - before[0] <= STEP_MAX)
        });
    }
    let Some(values) = labels.iter().map(|label| value_with_point(label, style)).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let before = std::iter::once((0, 0)).chain(values.iter().copied());
    before.zip(&values).all(|(before, value)| *value > before && value.0 - before.0 <= STEP_MAX)
}

/// The position of a label, and its number behind a point: `-e.5` is between `e` and `f`.
fn value_with_point(label: &str, style: &str) -> Option<(u32, u32)> {
    let between = label.strip_prefix('-').and_then(|label| label.split_once('.'));
    let (label, point) = between.map_or((label, None), |(label, point)| (label, Some(point)));
    // `.5` is before `.51`, and `.6` after it.
    let point = point.map_or(Some(0), |point| format!("{point:0<2}").parse().ok())?;
    Some((value(label, style)?, point))
}

/// A number, or several such as `4.2.13`.
fn numbers(label: &str) -> Option<Vec<u32>> {
    label.split('.').map(|number| number.parse().ok()).collect()
}

/// The position of a label by its style. Both `bb` and `ab` can follow `aa`.
fn value(label: &str, style: &str) -> Option<u32> {
    const LETTERS_MAX: usize = 3;
    let is_in_case = |label: &str| match style {
        "a" | "i" => label.bytes().all(|b| b.is_ascii_lowercase()),
        _ => label.bytes().all(|b| b.is_ascii_uppercase()),
    };
    match style {
        "a" | "A" if is_in_case(label) && (1..=LETTERS_MAX).contains(&label.len()) => {
            let letters = label.bytes().map(|b| u32::from(b.to_ascii_lowercase() - b'a') + 1);
            let is_repeated = label.bytes().all(|b| b == label.as_bytes()[0]);
            let repeated = || letters.clone().next().map(|letter| letter + 26 * (label.len() as u32 - 1));
            if is_repeated { repeated() } else { Some(letters.fold(0, |value, letter| value * 26 + letter)) }
        }
        "i" | "I" if is_in_case(label) => from_roman(&label.to_ascii_uppercase()).map(u32::from),
        "a" | "A" | "i" | "I" => None,
        _ => label.parse().ok().filter(|_| label.bytes().all(|b| b.is_ascii_digit())),
    }
}

/// The last label of an item such as `(a) through (d) Repealed by Laws 2019`.
fn last_of_range(item: Element<'_>) -> Option<String> {
    let first = item.parts().find_map(|part| match part {
        HtmlPart::Words(words) => Some(words.trim_start()).filter(|words| !words.is_empty()).map(str::to_owned),
        HtmlPart::Element(element) => Some(element.text()).filter(|words| !words.is_empty()),
    })?;
    let form = Pattern::fixed(r"^(?:and|through|to) \(([[:alnum:]]{1,6})\) [Rr]epealed");
    form.captures(&first).map(|found| found[1].to_owned())
}

/// A position as lists count: `A` to `Z`, then `AA`; roman numerals; digits.
fn counted(position: u32, style: &str) -> String {
    let number = match style {
        "a" | "A" => letters(position),
        "i" | "I" => position.try_into().ok().and_then(to_roman),
        _ => None,
    };
    let number = number.unwrap_or_else(|| position.to_string());
    if matches!(style, "a" | "i") { number.to_lowercase() } else { number }
}

fn letters(mut position: u32) -> Option<String> {
    let mut reversed = String::new();
    while position > 0 {
        reversed.push(char::from(b'A' + ((position - 1) % 26) as u8));
        position = (position - 1) / 26;
    }
    (!reversed.is_empty()).then(|| reversed.chars().rev().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::document::Document;
    use crate::import::html;

    /// The labels of the first list, and whether they are doubtful.
    fn labels(items: &str, around: &str) -> (String, bool) {
        let tree = html::parse(&Document { place: "a.html".into(), bytes: items.into() }).unwrap();
        let body = tree.root().elements().next().unwrap().elements().last().unwrap();
        let labels = ListLabels::of(body.elements().next().unwrap(), around);
        (labels.labels.join(" "), labels.doubt.is_some())
    }

    fn of_ids(style: &str, ids: &[&str]) -> (String, bool) {
        let items: String = ids.iter().map(|id| format!("<li id=s1ol1{id}>x")).collect();
        labels(&format!("<ol type={style}>{items}"), "")
    }

    fn sure(labels: &str) -> (String, bool) {
        (labels.to_owned(), false)
    }

    #[test]
    fn consistent_ids_give_the_labels() {
        assert_eq!(of_ids("a", &["a", "h", "j", "k", "m"]), sure("a h j k m"));
        assert_eq!(of_ids("i", &["i", "iii", "vii"]), sure("i iii vii"));
        assert_eq!(of_ids("1", &["1", "3", "12"]), sure("1 3 12"));
        assert_eq!(of_ids("1", &["1.0", "1.1", "1.1.1", "2.0"]), sure("1.0 1.1 1.1.1 2.0"));
        assert_eq!(of_ids("A", &["W", "Z", "AA", "BB"]), sure("W Z AA BB"));
        assert_eq!(labels("<ol type=i><li id=s1ol1bi>x<li id=s1ol1biv>y</ol>", "s1ol1b"), sure("i iv"));
        assert_eq!(labels("<ol type=a><li id=s1ol10c>x<li id=s1ol10e>y</ol>", ""), sure("c e"));
    }

    #[test]
    fn labels_between_letters_are_read() {
        assert_eq!(of_ids("a", &["e", "-e.5", "f"]), sure("e e.5 f"));
        assert_eq!(of_ids("a", &["e", "-e.5", "-e.7", "-e.7-e.9", "-e.7f"]), sure("e e.5 e.7 e.9 f"));
        assert_eq!(of_ids("A", &["A", "-A.5", "B"]), sure("A A.5 B"));
        assert_eq!(of_ids("a", &["-10.2-10.3a", "-10.2-10.3b"]), sure("a b"));
        let coded = "<ol type=A><li id=s1ol1aH>x<li id=s1ol1a73>y<li id=s1ol1aJ>z</ol>";
        assert_eq!(labels(coded, "s1ol1a"), sure("H I J"), "the number of a character");
        assert!(of_ids("a", &["e", "-e.7", "-e.5", "f"]).1, "they do not increase");
    }

    #[test]
    fn printed_labels_are_not_set_twice() {
        let printed = |items: &str| {
            let tree = html::parse(&Document { place: "a.html".into(), bytes: items.into() }).unwrap();
            let body = tree.root().elements().next().unwrap().elements().last().unwrap();
            let labels = ListLabels::of(body.elements().next().unwrap(), "");
            (labels.labels.join(" "), labels.printed, labels.doubt.is_some())
        };
        let list = "<ol type=a><li id=s1ol1.5e>(1.5) (a) With respect to<li id=s1ol1.5eb>With respect to</ol>";
        assert_eq!(printed(list), ("a b".to_owned(), vec![true, false], false));
        let nested = "<ol type=a><li><ol type=I><li>(1.9) (a) (I) The assembly<li>The</ol><li>(b) The</ol>";
        assert_eq!(printed(nested).1, [true, true]);
        for other in ["(b) The", "(1.5) The", "(a)", "The (a) one"] {
            assert_eq!(printed(&format!("<ol type=a><li>{other}</ol>")).1, [false], "{other}");
        }
    }

    #[test]
    fn the_number_of_a_list_is_no_label() {
        assert_eq!(of_ids("1", &["1", "12", "13", "14"]), sure("1 2 3 4"));
        assert_eq!(of_ids("1", &["1", "22"]), sure("1 2"));
        assert_eq!(of_ids("1", &["1", "12", "23"]), sure("1 12 23"), "two lists");
    }

    #[test]
    fn inconsistent_ids_are_ignored() {
        let doubtful = |labels: &str| (labels.to_owned(), true);
        assert_eq!(of_ids("a", &["a", "e", "b"]), doubtful("a b c"));
        assert_eq!(of_ids("a", &["a", "b", "b.1", "c"]), doubtful("a b c d"));
        assert_eq!(of_ids("1", &["1.1", "2", "3"]), sure("1 2 3"));
        // Ids that contain the earlier labels, or positions, add no information.
        assert_eq!(of_ids("A", &["iiiA", "iiiB"]), sure("A B"));
        assert_eq!(of_ids("I", &["1", "2"]), sure("I II"));
        assert_eq!(of_ids("a", &["a", "ab", "abc"]), sure("a b c"));
        let nested = "<ol type=i><li id=s1ol1bi>x<ol><li>x</ol><li id=s1ol1biii>y</ol>";
        assert_eq!(labels(nested, "s1ol1b"), sure("i ii"));
        assert_eq!(labels(&nested.replace("<ol><li>x</ol>", ""), "s1ol1b"), sure("i iii"));
        assert_eq!(labels("<ol type=a><li>x<li id=y>y</ol>", ""), sure("a b"));
        let skips = "<ol type=i start=6><li id=s1ol1xv>x<ol><li>x</ol><li id=s1ol1xvii>y</ol>";
        assert_eq!(labels(skips, ""), sure("xv xvii"));
        assert_eq!(labels("<ul><li id=s1ol1a>x</ul>", ""), sure(""));
    }

    #[test]
    fn an_item_for_several_labels_is_followed_by_the_next_one() {
        let list = |id: &str| format!("<ol type=a><li id=s1ol1a>through (d) Repealed by Laws 2019.<li id=s1ol1{id}>y");
        assert_eq!(labels(&list("e"), ""), sure("a e"));
        assert_eq!(labels(&list("b"), ""), ("a b".into(), true));
    }
}
