//! Reads which section of an act a provision is: the first act that its source credit names, by the number that the
//! section has today: `(Aug. 29, 1935, ch. 814, title I, § 103, formerly § 3, 49 Stat. 978; ...)`.

use hornbook_corpus::citation::{SectionOfAct, number_order};

use super::Crosswalk;
use super::place::{citation, number_at};

/// The largest number of sections in a range such as `§§ 1–4`.
const RANGE_MAX: u32 = 32;

pub(super) fn read(credit: &str, found: &mut Crosswalk) {
    let text = credit.trim_start().trim_start_matches('(');
    let (law, rest) = match law_at(text) {
        Some(read) => read,
        None => return,
    };
    // The section follows the law at once, behind divisions and titles. A number behind a day, a page or another act
    // is that of something else.
    let Some((head, sections)) = rest.split_once('§') else { return };
    let mut division = String::new();
    for part in head.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((level, name)) = part.split_once(' ') else { return };
        match level {
            "div." => division = format!(", div. {name}"),
            "title" | "subtitle" | "ch." | "pt." | "subch." | "part" | "subpt." => {}
            _ => return,
        }
    }
    let several = sections.strip_prefix('§');
    let numbers = numbers_at(several.unwrap_or(sections).trim_start(), several.is_some());
    let Some(numbers) = numbers else {
        found.unread.push(credit.split(';').next().unwrap_or_default().to_owned());
        return;
    };
    for (number, part) in numbers {
        let written = match law {
            "R.S." => format!("R.S. § {number}{part}"),
            law => format!("{law}{division}, § {number}{part}"),
        };
        found.act_sections.extend(SectionOfAct::parse(&written).map(|section| section.to_string()));
    }
}

/// Whether a section has had its number since its title was enacted: it was neither added nor renumbered since.
pub(super) fn has_its_first_number(credit: &str) -> bool {
    !credit.trim_start_matches('(').starts_with("Added") && !credit.contains("renumbered")
}

/// Reads the numbers that a section of a title that is law itself had: `(Pub. L. 90–620, ... 82 Stat. 1287, § 2103; ...;
/// renumbered § 2107 and amended Pub. L. 98–497, ...)`.
pub(super) fn read_renumbered(title: &str, credit: &str, found: &mut Crosswalk) {
    const RENUMBERED: &str = "renumbered § ";
    if !credit.contains(RENUMBERED) {
        return;
    }
    let first = credit.split(';').next().and_then(|first| first.rsplit_once(", § "));
    // The number at the end of an item, behind the page, is that of the section of the title.
    let first = first.filter(|(before, _)| before.rsplit(", ").next().is_some_and(|page| page.contains(" Stat. ")));
    let others = credit.match_indices(RENUMBERED).map(|(at, _)| &credit[at + RENUMBERED.len()..]);
    for (number, rest) in first.map(|(_, number)| number).into_iter().chain(others).filter_map(number_at) {
        if !rest.starts_with('(') {
            found.formerly.push(citation(title, number));
        }
    }
}

/// Reads a law at the beginning of a text: `Pub. L. 89–110`, `Aug. 29, 1935, ch. 814`, `R.S.`
fn law_at(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix("R.S. ") {
        return Some(("R.S.", rest));
    }
    if let Some(after) = text.strip_prefix("Pub. L. ") {
        let (_, rest) = number_at(after)?;
        return Some((&text[..text.len() - rest.len()], rest));
    }
    let (day, after) = text.split_once(", ch. ").filter(|(day, _)| is_day(day))?;
    let (chapter, rest) = number_at(after)?;
    Some((&text[..day.len() + ", ch. ".len() + chapter.len()], rest))
}

/// Whether a text is a day as credits write it: `Aug. 29, 1935`.
fn is_day(text: &str) -> bool {
    let mut words = text.split(' ');
    let (month, day, year) = (words.next(), words.next(), words.next());
    let is_number = |text: &str| text.parse::<u16>().is_ok();
    month.is_some_and(|month| month.starts_with(|sign: char| sign.is_ascii_uppercase()) && month.len() <= 5)
        && day.and_then(|day| day.strip_suffix(',')).is_some_and(is_number)
        && year.is_some_and(|year| year.len() == 4 && is_number(year))
        && words.next().is_none()
}

/// Reads `103`, `601(a)–(d)`, `1, 2`, `1–4` up to the next thing in a credit, each number with its part.
fn numbers_at(text: &str, has_several: bool) -> Option<Vec<(String, &str)>> {
    let mut found: Vec<(String, &str)> = Vec::new();
    let mut rest = text;
    loop {
        let (number, after) = number_at(rest)?;
        let (part, after) = part_at(after);
        match number.split_once('–').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?))) {
            Some((first, last)) if has_several && is_range(first, last) && part.is_empty() => {
                found.extend((first..=last).map(|number: u32| (number.to_string(), "")));
            }
            _ => found.push((number.to_owned(), part)),
        }
        // Another number follows the comma, or the day, the page or the words of the credit.
        let next =
            after.strip_prefix(", ").filter(|next| number_at(next).is_some_and(|(_, after)| !after.starts_with(' ')));
        match next {
            Some(next) => rest = next,
            None if after.is_empty() || after.starts_with([',', '.', ';', ')']) => return Some(found),
            None => return None,
        }
    }
}

fn is_range(first: u32, last: u32) -> bool {
    number_order(&first.to_string(), &last.to_string()).is_lt() && last - first < RANGE_MAX
}

/// Reads `(a)(1)`, `(a)–(d)` or `(a), (b)`.
fn part_at(text: &str) -> (&str, &str) {
    let mut end = 0;
    while let Some(close) = text[end..].strip_prefix('(').and_then(|inner| inner.find(')')) {
        end += close + 2;
        for joint in ["–(", ", ("] {
            if text[end..].starts_with(joint) {
                end += joint.len() - 1;
                break;
            }
        }
    }
    text.split_at(end)
}
