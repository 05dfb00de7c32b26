//! Reads a printed section: number, heading, remarks, law, source credit and notes.

use hornbook_corpus::layout::Layout;
use hornbook_corpus::outline::Status;

use super::page::{LAW_INDENT, PageParagraph, PrintedSection, joined};
use super::settings::PageJsonSettings;
use crate::content::ContentNote;
use crate::effect::{self, Effect};
use crate::import::flat_text;
use crate::import::ranges::numbers_after;
use crate::import::remark::{REMARK_BYTES_MAX, heading_status, named_status, whole_status};
use crate::order::SortKey;
use crate::pattern::Pattern;
use crate::report::WarningKind;

/// A section, or one of its wordings.
#[derive(Debug, Default)]
pub(super) struct PageSection {
    pub(super) number: String,
    /// Further numbers that it represents.
    pub(super) others: Vec<String>,
    /// Those numbers as printed: ` to 425-52`.
    printed_others: String,
    /// The source marks it as one that had its number before: `[OLD]`.
    pub(super) is_marked_old: bool,
    pub(super) heading: String,
    pub(super) effect: Effect,
    pub(super) text: String,
    pub(super) layout: Layout,
    pub(super) credit: Option<String>,
    pub(super) notes: Vec<ContentNote>,
    pub(super) faults: Vec<(WarningKind, String)>,
}

impl PageSection {
    pub(super) fn status(&self) -> Status {
        let short = self.text.len() <= REMARK_BYTES_MAX;
        let by_heading = || heading_status(&self.heading).filter(|_| short);
        let by_text = || named_status(&self.text).filter(|_| short && self.heading.is_empty());
        whole_status(&self.heading).or_else(by_heading).or_else(by_text).unwrap_or(Status::InForce)
    }

    /// Whether only a remark such as `REPEALED.` is left of it.
    fn is_gone(&self) -> bool {
        !self.status().may_be_in_force()
    }

    /// Whether it is gone, and `other` has its number now.
    pub(super) fn is_former_of(&self, other: &Self) -> bool {
        let is_present = !other.is_marked_old && (self.is_marked_old || !other.is_gone());
        is_present && (self.is_marked_old || self.is_gone())
    }

    pub(super) fn in_one_line(&self) -> String {
        let old = self.is_marked_old.then(|| "[OLD]".to_owned());
        let words = [format!("§ {}{}", self.number, self.printed_others)].into_iter().chain(old).chain([
            self.heading.clone(),
            self.text.replace('\n', " "),
            self.credit.clone().unwrap_or_default(),
        ]);
        words.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// The place of a section among others. Digits after a point are decimals: § 46-15.21 comes before
/// § 46-15.3.
pub(super) fn sort_key(number: &str) -> SortKey {
    let mut spread = String::with_capacity(number.len() + 4);
    let mut is_decimal = false;
    for c in number.chars() {
        if is_decimal && c.is_ascii_digit() && !spread.ends_with('.') {
            spread.push('.');
        }
        is_decimal = c == '.' || (is_decimal && c.is_ascii_digit());
        spread.push(c);
    }
    SortKey::of_number(&spread)
}

pub(super) fn read(printed: &PrintedSection, settings: &PageJsonSettings) -> PageSection {
    let mut section = PageSection { number: printed.number.clone(), ..PageSection::default() };
    let Some((first, others)) = printed.paragraphs.split_first() else { return section };
    let law_of_first = read_opening(&first.lines, &mut section, settings);
    let (mut law, notes) = divided(law_of_first, others, &mut section, settings);
    take_credit(&mut law, &mut section);
    section.notes.extend(read_notes(&notes, settings));
    (section.text, section.layout) = flat_text::set(&law);
    section.effect = std::mem::take(&mut section.effect).and(effect::of_text(&section.text));
    if section.notes.iter().any(|note| undone_repeal(&note.text).is_some_and(|day| section.effect.to == Some(day))) {
        (section.effect.to, section.effect.then) = (None, None);
    }
    section
}

/// The day of a repeal that a later act undid: `Repeal of section on June 30, 2023, by L 2018, c 196, §9, deleted by
/// L 2020, c 57, §2.`, `Repeal and reenactment on July 1, 2016, …`
fn undone_repeal(note: &str) -> Option<String> {
    let undone = Pattern::fixed(concat!(
        r"\bRepeal(?: and reenactment)?(?: of section)? on ([A-Z][a-z]+ \d{1,2}, \d{4}),",
        r"[^.]{1,120}?\bdeleted by (?:L )?\d{4}\b"
    ));
    effect::date_in(&undone.captures(note)?[1])
}

/// Reads number, heading and remarks from the first paragraph, and returns the law behind them.
fn read_opening(lines: &str, section: &mut PageSection, settings: &PageJsonSettings) -> String {
    let Some(opening) = settings.opening.captures(lines) else { return joined(lines) };
    section.is_marked_old = opening.name("old").is_some();
    section.others = further_numbers(&opening["others"], &section.number, settings);
    section.printed_others = joined(&opening["others"]);
    if section.printed_others.starts_with(char::is_alphanumeric) {
        section.printed_others.insert(0, ' ');
    }
    let mut rest = &lines[opening.get(0).map_or(0, |opening| opening.end())..];
    let end = heading_end(rest);
    let is_open = opening.name("open").is_some() && opening.name("close").is_none();
    section.heading = without_brackets(&joined(&rest[..end]), is_open);
    rest = rest[end..].trim_start();
    while let Some((remark, after)) = bracketed(rest) {
        let words = joined(remark);
        match effect::read(&words) {
            Some(effect) => section.effect = std::mem::take(&mut section.effect).and(effect),
            None if is_editors_remark(&words, after) => section.notes.push(flat_text::note(flat_text::NOTE, &words)),
            None => break,
        }
        rest = after.trim_start();
    }
    let law = joined(rest);
    // `[§206E-199  Reports.  (a)]  After …`
    let label = Pattern::fixed(r"^(\(\w{1,3}\))\] ");
    if is_open { label.replace(&law, "$1 ").into_owned() } else { law }
}

/// Whether words in brackets before the law are a remark of the editors and not a word of the law that the revisor
/// added: they are a sentence, name no acts, and law follows. `[See Note at beginning of chapter.]`
fn is_editors_remark(words: &str, after: &str) -> bool {
    let is_sentence = words.starts_with(char::is_alphanumeric) && words.ends_with('.');
    let after = joined(after);
    is_sentence && !after.is_empty() && [&format!("[{words}]"), &after].iter().all(|text| credit_start(text) != Some(0))
}

/// The numbers after the first. Only `to`, `through` and a dash name the numbers between two: `§§27-22, 22.5, 24 to 26`.
fn further_numbers(printed: &str, first: &str, settings: &PageJsonSettings) -> Vec<String> {
    let mut others: Vec<String> = Vec::new();
    for found in settings.further.captures_iter(printed) {
        let number = whole_number(&found["number"], first);
        let before = others.last().map_or(first, String::as_str);
        match found["joint"].trim_matches([',', ' ', '\t', '\n']) {
            "to" | "through" | "–" | "—" => others.extend(numbers_after(before, &number)),
            _ => others.push(number),
        }
    }
    others
}

/// A further number, which may be written short: `§§37-91 to 94`.
fn whole_number(number: &str, first: &str) -> String {
    match first.rsplit_once('-') {
        Some((stem, _)) if !number.contains(['-', ':']) => format!("{stem}-{number}"),
        _ => number.to_owned(),
    }
}

/// The end of the first sentence, which is the heading. Two spaces end it, even after an abbreviation.
fn heading_end(lines: &str) -> usize {
    let sentence = Pattern::fixed(r#"[.?!]["”'’)\]]*(?P<space>\s+|$)(?P<next>[\p{Lu}(\["“`ʻ‘]|$)?"#);
    let abbreviation = Pattern::fixed(r"\b(?:[A-Z]|St|No|Dr|Mr|Ms|Jr|Sr|Inc|Co|Art|Sec|vs?)\.$");
    let ends = sentence.captures_iter(lines).find(|found| {
        let (Some(all), Some(space)) = (found.get(0), found.name("space")) else { return false };
        if all.end() == lines.len() {
            return true;
        }
        let is_certain = space.as_str().starts_with("  ") || !abbreviation.is_match(&lines[..all.start() + 1]);
        found.name("next").is_some() && is_certain
    });
    ends.and_then(|found| found.name("space")).map_or(lines.len(), |space| space.start())
}

/// The heading without the brackets in which the revisor puts headings of his own: `[Definitions.]`. If a bracket is
/// open since before the number, the one at the end closes it: `[§6E-44 Memorial commission.]`
fn without_brackets(heading: &str, is_open: bool) -> String {
    let heading = heading.strip_suffix(']').filter(|heading| is_open && !heading.contains('[')).unwrap_or(heading);
    let inner = heading.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    inner.filter(|inner| !inner.contains(['[', ']'])).unwrap_or(heading).to_owned()
}

/// Splits a text that begins with words in square brackets.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.split_once(']')
}

/// The paragraphs of the law and those of the notes, which begin with a topic. Where no source credit precedes the
/// topic, the law goes on behind the note, up to its credit. `opened` is the law in the paragraph of the heading.
fn divided(
    opened: String,
    paragraphs: &[PageParagraph],
    section: &mut PageSection,
    settings: &PageJsonSettings,
) -> (Vec<String>, Vec<PageParagraph>) {
    let mut law: Vec<String> = Some(opened).filter(|law| !law.is_empty()).into_iter().collect();
    let mut notes = Vec::new();
    let mut rest = paragraphs;
    loop {
        let end = rest.iter().position(|paragraph| is_topic(paragraph, settings)).unwrap_or(rest.len());
        law.extend(rest[..end].iter().map(PageParagraph::text));
        rest = &rest[end..];
        let is_whole = whole_status(&section.heading).is_some() || law.iter().any(|line| credit_start(line).is_some());
        let Some(resumed) = resumed_law(rest, settings).filter(|_| !is_whole) else { break };
        let what = format!(
            "'{}': law follows the topic '{}' before the source credit; it is kept as law from '{}' on",
            section.number,
            rest[0].text(),
            rest[resumed].text().chars().take(60).collect::<String>()
        );
        section.faults.push((WarningKind::DoubtfulEnd, what));
        notes.extend_from_slice(&rest[..resumed]);
        rest = &rest[resumed..];
    }
    notes.extend_from_slice(rest);
    (law, notes)
}

/// Where the law goes on behind notes: at the first paragraph with the indentation of law, or the headings directly
/// before it, if such a paragraph ends with a source credit.
fn resumed_law(notes: &[PageParagraph], settings: &PageJsonSettings) -> Option<usize> {
    let is_law = |paragraph: &PageParagraph| paragraph.indent >= LAW_INDENT;
    notes.iter().find(|paragraph| is_law(paragraph) && credit_start(&paragraph.text()).is_some())?;
    let first = notes.iter().position(is_law)?;
    let is_heading = |at: &usize| notes[*at].indent == 0 && !is_topic(&notes[*at], settings);
    Some((1..first).rev().take_while(is_heading).last().unwrap_or(first))
}

pub(super) fn is_topic(paragraph: &PageParagraph, settings: &PageJsonSettings) -> bool {
    paragraph.indent == 0 && settings.topics.is_match(&paragraph.text())
}

/// Removes the source credit from the end of the law: the acts in brackets, or those after `REPEALED.`
fn take_credit(law: &mut Vec<String>, section: &mut PageSection) {
    if whole_status(&section.heading).is_some() {
        let acts = law.join(" ");
        law.clear();
        // `REPEALED. L 2025, c 268, §9. [Reenactment on July 1, 2029. L 2025, c 268, §14.]`
        if let Some(remark) = Pattern::fixed(r"\[(Reenactment on [^\]]*)\]$").captures(&acts) {
            section.effect = std::mem::take(&mut section.effect).and(Effect::unknown(&remark[1]));
        }
        section.credit = Some(acts).filter(|acts| !acts.is_empty());
        return;
    }
    let Some((at, start)) = law.iter().enumerate().rev().find_map(|(at, line)| Some((at, credit_start(line)?))) else {
        return;
    };
    let acts = law[at].split_off(start);
    let acts = acts.trim().strip_prefix('[').and_then(|acts| acts.strip_suffix(']')).unwrap_or(&acts);
    section.credit = Some(acts.trim().to_owned());
    let end = law[at].trim_end().len();
    law[at].truncate(end);
    if at + 1 < law.len() {
        let what = format!(
            "'{}': {} paragraphs follow the source credit and are kept as law; the first is '{}'",
            section.number,
            law.len() - at - 1,
            law[at + 1].chars().take(60).collect::<String>()
        );
        section.faults.push((WarningKind::DoubtfulCredit, what));
    }
    law.retain(|line| !line.is_empty());
}

/// Where the acts in brackets at the end of a line begin.
fn credit_start(line: &str) -> Option<usize> {
    let mut depth = 0_usize;
    if !line.ends_with(']') {
        return None;
    }
    for (at, c) in line.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let names_acts = Pattern::fixed(
                r"^\[ ?(?:(?:am |ren |gen )?(?:L|CC|PC|RL|SL|HRS|Comp|Const|Org)\b.*\d|(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}, \d{4}, c \d)",
            );
            return names_acts.is_match(&line[at..]).then_some(at);
        }
    }
    None
}

/// The notes under their topics.
pub(super) fn read_notes(paragraphs: &[PageParagraph], settings: &PageJsonSettings) -> Vec<ContentNote> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for paragraph in paragraphs {
        if is_topic(paragraph, settings) {
            groups.push((paragraph.text(), Vec::new()));
            continue;
        }
        match groups.last_mut() {
            Some((_, lines)) => lines.push(paragraph.text()),
            None => groups.push((flat_text::NOTE.to_owned(), vec![paragraph.text()])),
        }
    }
    groups.into_iter().map(|(topic, lines)| flat_text::note(&topic, &lines.join("\n"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_ends_with_its_first_sentence() {
        let heading = |lines: &str| joined(&lines[..heading_end(lines)]);
        for (lines, expected) in [
            ("Court; practice, etc.  A court is", "Court; practice, etc."),
            ("Defacing numbers, etc., of vehicles. It shall", "Defacing numbers, etc., of vehicles."),
            ("Definitions.\nAs used", "Definitions."),
            ("Veterans of the U.S.\nArmy.  A veteran", "Veterans of the U.S. Army."),
            ("Medal. (a)  The medal", "Medal."),
            ("King\nKamehameha I.  King Kamehameha is", "King Kamehameha I."),
            ("Tree.  `Ōhi`a\nlehua is", "Tree."),
            ("Tree.  Ōhia is", "Tree."),
            ("Nomination papers:  time.  [Section", "Nomination papers: time."),
            ("(Reserved)", "(Reserved)"),
            ("REPEALED.  L 1984, c 1.", "REPEALED."),
            ("Renumbered as §226-62.", "Renumbered as §226-62."),
        ] {
            assert_eq!(heading(lines), expected, "{lines}");
        }
    }

    #[test]
    fn decimals_are_ordered_as_decimals() {
        let mut numbers = ["46-15.3", "46-16", "46-15.25", "46-15", "46-15.2", "46-15.21", "46-2", "46A-1"];
        numbers.sort_by_key(|number| sort_key(number));
        assert_eq!(numbers, ["46-2", "46-15", "46-15.2", "46-15.21", "46-15.25", "46-15.3", "46-16", "46A-1"]);
    }

    #[test]
    fn acts_in_brackets_at_the_end_are_a_credit() {
        assert_eq!(credit_start("It is so. [L 1972, c 132, pt of §1; am L 1974, c 180, §3]"), Some(10));
        assert_eq!(credit_start("It is so. [ L 1999, c 160, pt of §25]"), Some(10));
        assert_eq!(credit_start("Shipping. [March 28, 1916, c 54, §4, 39 Stat 41; HRS §266-4]"), Some(10));
        assert_eq!(credit_start("As section [304A-1] says."), None);
        assert_eq!(credit_start("See section [304A-1]"), None);
        assert_eq!(credit_start("]"), None);
    }
}
