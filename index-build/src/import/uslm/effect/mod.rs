//! Reads since when the present wording of a provision is law, if a note or the source credit
//! states it in a regular form.
//!
//! For a section that was never amended, the note on its effective date is used; for an amended
//! section, the notes on the last law of its source credit. [`statement`] reads these notes. If a
//! note covers only some sections of the law, they must be all that the source credit names. For a
//! court rule, the last `eff. Dec. 1, 2024` of its credit is used.

mod statement;

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use crate::effect::Effect;
use crate::pattern::Pattern;
use statement::{ActPortion, Statement};

/// The date, as `2021-01-01`. A date after the day on which the document was `made` belongs to another wording.
pub(super) fn effective_from(provision: Node<'_, '_>, status: Status, made: Option<&str>) -> Option<String> {
    if !status.may_be_in_force() {
        return None;
    }
    let credit = provision.children().find(|child| child.has_tag_name("sourceCredit"))?;
    let date = if provision.has_tag_name("courtRule") { last_in_credit(credit) } else { by_notes(provision, credit) };
    date.filter(|date| made.is_none_or(|made| date.as_str() <= made))
}

/// The effect of notes on a coming change of a provision: either it is repealed on a day that
/// another note names, or a part of it changes, so that its text is unknown. Notes on lists of
/// contents and on adjusted amounts change no law.
pub(super) fn future_change(provision: Node<'_, '_>, status: Status) -> Effect {
    if !status.may_be_in_force() {
        return Effect::default();
    }
    let notes = || provision.children().filter(|child| child.has_tag_name("notes")).flat_map(|notes| notes.children());
    let heading =
        |note: Node<'_, '_>| note.children().find(|child| child.has_tag_name("heading")).map(with_plain_dates);
    let paragraphs = |note: Node<'_, '_>| {
        let all = note.children().filter(|child| child.has_tag_name("p")).map(with_plain_dates);
        all.collect::<Vec<_>>().join(" ")
    };
    let about_law = Pattern::fixed(
        r"^(?:Repeal|Termination|Amendment) of (?:Section|Subsec|Par|Subpar|Cl)|^Applicability of|^Amendments? Not Shown in Text",
    );
    let prospective = notes().filter(|note| note.attribute("topic") == Some("prospectiveAmendment"));
    let mut found = prospective.filter_map(|note| Some((heading(note)?, note)));
    let Some((topic, note)) = found.find(|(topic, _)| about_law.is_match(topic)) else { return Effect::default() };
    let first = note.children().find(|child| child.has_tag_name("p")).map(plain).unwrap_or_default();
    // The amendments themselves are in the note.
    let remark = if topic.ends_with("Not Shown in Text") { topic.clone() } else { format!("{topic}: {first}") };
    let repeal = notes().filter(|note| heading(*note).as_deref() == Some("Effective Date of Repeal"));
    let mut days = repeal.filter_map(|note| statement::repeal(&paragraphs(note)));
    match days.next().filter(|_| topic == "Repeal of Section") {
        Some(day) => Effect { to: Some(day), then: Some(Status::Repealed), remark: Some(remark), ..Effect::default() },
        None => Effect::unknown(remark),
    }
}

fn by_notes(provision: Node<'_, '_>, credit: Node<'_, '_>) -> Option<String> {
    let acts = acts(credit);
    let last = acts.last()?;
    let topic = if acts.len() == 1 { "effectiveDate" } else { "effectiveDateOfAmendment" };
    let notes = provision.children().filter(|child| child.has_tag_name("notes")).flat_map(|notes| notes.children());
    let topical = notes.filter(|note| note.attribute("topic") == Some(topic));
    let paragraphs = topical.flat_map(|note| note.children().filter(|child| child.has_tag_name("p")));
    let mut found: Vec<(Vec<String>, String)> = Vec::new();
    for paragraph in paragraphs {
        match Statement::read(&with_plain_dates(paragraph)) {
            Some(Statement::Section(date)) if acts.len() == 1 => found.push((Vec::new(), date)),
            Some(Statement::Act(act, date)) if act.name == last.name => found.push((act.sections, date)),
            _ => {}
        }
    }
    let (_, date) = found.first().cloned()?;
    // Two dates are for two parts of a section, and it is unclear which one counts.
    let is_one_date = found.iter().all(|(_, other)| *other == date);
    let is_about_all = found.iter().any(|(sections, _)| sections.is_empty())
        || (!last.sections.is_empty()
            && last
                .sections
                .iter()
                .all(|own| found.iter().flat_map(|(named, _)| named).any(|named| covers(named, own))));
    (is_one_date && is_about_all).then_some(date)
}

/// Whether a section, such as `3` or `3(c)`, contains another one: `3(c)(1)`.
fn covers(whole: &str, part: &str) -> bool {
    part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

/// The laws of a source credit in their order, each once, with the sections that the credit names.
/// The sections are empty if the credit names them in an unknown form.
fn acts(credit: Node<'_, '_>) -> Vec<ActPortion> {
    let mut acts: Vec<ActPortion> = Vec::new();
    for reference in credit.children().filter(|child| child.has_tag_name("ref")) {
        let href = reference.attribute("href").unwrap_or_default();
        let Some(text) = reference.text().filter(|_| href.starts_with("/us/pl/") || href.starts_with("/us/act/"))
        else {
            continue;
        };
        let mut words = text.to_owned();
        let after = reference.next_siblings().skip(1).take_while(Node::is_text);
        words.extend(after.filter_map(|text| text.text()));
        let folded = folded(&words);
        // The name is `Pub. L. 112–29`, but `July 19, 1952, ch. 950`.
        let end = folded.find(if folded.starts_with("Pub. L. ") { "," } else { ", §" }).unwrap_or(folded.len());
        let name = folded[..end].trim_end_matches([',', ';', ' ']).to_owned();
        let sections = statement::sections_in(&folded);
        match acts.last_mut() {
            Some(last) if last.name == name => {
                // A mention in an unknown form could be about any section.
                let both_known = !last.sections.is_empty() && !sections.is_empty();
                last.sections = if both_known { [last.sections.as_slice(), &sections].concat() } else { Vec::new() };
            }
            _ => acts.push(ActPortion { name, sections }),
        }
    }
    acts
}

fn last_in_credit(credit: Node<'_, '_>) -> Option<String> {
    let last = credit.children().rfind(|child| child.has_tag_name("date"))?;
    let before = last.prev_sibling().and_then(|before| before.text()).unwrap_or_default();
    let date = last.attribute("date").filter(|date| crate::values::is_date(date))?;
    before.trim_end().ends_with("eff.").then(|| date.to_owned())
}

/// The words of a paragraph, with dates written as `2021-01-01`.
fn with_plain_dates(paragraph: Node<'_, '_>) -> String {
    let mut words = String::new();
    push_with_plain_dates(paragraph, &mut words);
    folded(&words)
}

fn push_with_plain_dates(node: Node<'_, '_>, words: &mut String) {
    for child in node.children() {
        match child.attribute("date").filter(|_| child.has_tag_name("date")) {
            Some(date) if crate::values::is_date(date) => words.push_str(date),
            _ if child.is_text() => words.push_str(child.text().unwrap_or_default()),
            _ => push_with_plain_dates(child, words),
        }
    }
}

fn plain(node: Node<'_, '_>) -> String {
    folded(&node.descendants().filter(Node::is_text).filter_map(|part| part.text()).collect::<String>())
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
