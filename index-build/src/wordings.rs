//! Decides whether nodes with the same key are repeats, other wordings or other provisions.
//!
//! Real sources have all three. Virginia prints a section once "(Effective until July 1, 2022)" and
//! once "(Effective July 1, 2022)". Two acts in one appendix both have a section 1. A page is
//! sometimes published twice. Which of several wordings is law depends on the day and is not
//! decided here. The result depends only on content, not on the order of files.

use std::cmp::Ordering;

use hornbook_corpus::day::Day;
use hornbook_corpus::outline::Status;
use hornbook_corpus::validity::Validity;

use crate::content::{Content, NodeHandle};
use crate::effect::{self, Effect};
use crate::import::slug::slug;
use crate::order::SortKey;
use crate::pattern::Pattern;
use crate::sunset::sunset;

/// One of several nodes whose keys are equal.
#[derive(Debug)]
pub(crate) struct KeyGroupMember {
    pub node: u32,
    pub parent: Option<NodeHandle>,
    pub content: Content,
    /// When it is law, according to its own statements and those of its containers.
    pub time: Effect,
    /// The source states that it is a wording of another member.
    pub is_wording: bool,
}

/// A kept node, with the nodes that are wordings of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeptNode {
    pub node: u32,
    pub citation: String,
    pub is_provision: bool,
    pub wordings: Vec<u32>,
    /// Nodes with the same law, of which only notes, credits and citations are used.
    pub repeats: Vec<u32>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReconciledGroup {
    /// The first one keeps the key; the others get new keys.
    pub kept: Vec<KeptNode>,
}

pub(crate) fn reconcile(mut members: Vec<KeyGroupMember>) -> ReconciledGroup {
    members.sort_by_cached_key(|member| {
        let content = &member.content;
        // Sorted by time; then nodes with a text first; then in the order of the source; then by their words.
        (
            member.is_wording,
            member.time.from.clone(),
            member.time.to.is_none(),
            member.time.to.clone(),
            content.text.as_deref() == Some(""),
            (
                SortKey::of_citation(&content.reference),
                content.reference.clone(),
                content.heading.clone(),
                content.text.clone(),
            ),
        )
    });
    let mut result = ReconciledGroup::default();
    // Every member that is a separate wording, with the index of the entry in `kept` that it belongs to.
    let mut wordings: Vec<(&KeyGroupMember, usize)> = Vec::new();
    for member in &members {
        let of = |is: fn(&KeyGroupMember, &KeyGroupMember) -> bool| {
            wordings.iter().find(|(earlier, _)| is(earlier, member)).map(|(_, entry)| *entry)
        };
        let sibling = of(is_wording).or((member.is_wording && !wordings.is_empty()).then_some(0));
        if let Some(entry) = of(is_repeat).filter(|_| !member.is_wording) {
            result.kept[entry].repeats.push(member.node);
        } else if let Some(entry) = sibling {
            result.kept[entry].wordings.push(member.node);
            wordings.push((member, entry));
        } else {
            wordings.push((member, result.kept.len()));
            result.kept.push(KeptNode {
                node: member.node,
                citation: member.content.citation.clone(),
                is_provision: member.content.text.is_some(),
                wordings: Vec::new(),
                repeats: Vec::new(),
            });
        }
    }
    result
}

fn is_repeat(head: &KeyGroupMember, other: &KeyGroupMember) -> bool {
    head.parent == other.parent
        && is_same_citation(&head.content.citation, &other.content.citation)
        && head.content.heading == other.content.heading
        && (is_same_law(&head.content, &other.content) || is_heading_only(&other.content))
}

/// Whether two contents are the same wording, printed twice.
fn is_same_law(a: &Content, b: &Content) -> bool {
    a.text == b.text && a.status == b.status && a.effect == b.effect && a.wordings == b.wordings
}

/// Whether a content is only a heading, because another record has the text.
fn is_heading_only(content: &Content) -> bool {
    content.text.as_deref() == Some("")
        && content.notes.is_empty()
        && content.source_credit.is_none()
        && !content.effect.is_stated()
}

fn is_wording(head: &KeyGroupMember, other: &KeyGroupMember) -> bool {
    let both_provisions = head.content.text.is_some() && other.content.text.is_some();
    let is_stated = head.content.effect.remark.is_some() || other.content.effect.remark.is_some();
    let is_same_heading = head.content.heading.trim().eq_ignore_ascii_case(other.content.heading.trim());
    both_provisions
        && is_same_citation(&head.content.citation, &other.content.citation)
        && if head.parent == other.parent {
            is_same_heading || is_stated || continues_credit(&head.content, &other.content)
        } else {
            is_same_heading && ends_as_other_begins(&head.time, &other.time)
        }
}

/// Whether the source credit of one is that of the other with further acts: the law was amended, and its heading too.
fn continues_credit(one: &Content, other: &Content) -> bool {
    let acts = |content: &Content| {
        let credit = content.source_credit.as_deref()?.trim_matches(|c: char| !c.is_alphanumeric() && c != '§');
        (!credit.is_empty()).then(|| credit.to_owned())
    };
    let continues =
        |longer: &str, shorter: &str| longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with(';'));
    match (acts(one), acts(other)) {
        (Some(one), Some(other)) => continues(&one, &other) || continues(&other, &one),
        _ => false,
    }
}

/// Wyoming prints a chapter twice: until a day, and from that day on.
fn ends_as_other_begins(one: &Effect, other: &Effect) -> bool {
    let follows = |earlier: &Effect, later: &Effect| earlier.to.is_some() && earlier.to == later.from;
    follows(one, other) || follows(other, one)
}

/// Whether two citations differ only in case, spacing and kinds of dashes.
pub(crate) fn is_same_citation(a: &str, b: &str) -> bool {
    a == b || slug(a) == slug(b)
}

/// Adds the notes, credits and names of a repeat that the wording lacks.
pub(crate) fn take_from_repeat(content: &mut Content, repeat: Content) {
    fn add<T: PartialEq>(to: &mut Vec<T>, from: Vec<T>) {
        for one in from {
            if !to.contains(&one) {
                to.push(one);
            }
        }
    }
    // Footnotes refer to notes by position, so the marks in a repeat with other notes are not used.
    add(&mut content.notes, repeat.notes);
    match (&content.source_credit, repeat.source_credit) {
        (Some(own), Some(other)) if *own != other => content.source_credit = Some(format!("{own} {other}")),
        (None, other) => content.source_credit = other,
        _ => {}
    }
    add(&mut content.tags, repeat.tags);
    content.restates_earlier_code &= repeat.restates_earlier_code || repeat.former_citations.is_empty();
    add(&mut content.former_citations, repeat.former_citations);
    add(&mut content.parallel_citations, repeat.parallel_citations);
    add(&mut content.act_sections, repeat.act_sections);
    add(&mut content.act_names, repeat.act_names);
    content.now = content.now.take().or(repeat.now);
    content.source_url = content.source_url.take().or(repeat.source_url);
}

/// When a wording is law: as its source remarks, at most until a day that its own text states, and at most
/// as long as its container.
pub(crate) fn time_of(wording: &Content) -> Effect {
    let own = wording.effect.clone();
    let Some(text) = wording.text_of_law() else { return own };
    let sunset = sunset(text);
    // A part that ends on the same day or later adds nothing.
    let ends_first = own.to.is_some()
        && if sunset.then == Some(Status::Uncertain) { own.to <= sunset.to } else { own.to == sunset.to };
    let is_known = own.uncertain || !sunset.has_limits() || ends_first;
    let own = if is_known { own } else { own.and(sunset) };
    match wording.container.as_deref() {
        Some(container) => own.within(container),
        None => own,
    }
}

pub(crate) fn set_time(wording: &mut Content) {
    wording.effect = time_of(wording);
    wording.container = None;
}

/// Every wording of a provision in chronological order, each complete and without further wordings.
/// A wording without a first day comes before one with a first day. Of two with the same first day,
/// the one with an end comes first.
pub fn in_chronological_order(content: Content, others: Vec<Content>) -> Vec<Content> {
    let mut all = Vec::with_capacity(1 + others.len());
    for mut printed in std::iter::once(content).chain(others) {
        let further = std::mem::take(&mut printed.wordings);
        let (source, through, url) = (printed.source, printed.current_through.clone(), printed.source_url.clone());
        let container = printed.container.clone();
        all.push(printed);
        // Wordings that are printed together come from the same place.
        all.extend(further.into_iter().map(|wording| Content {
            source,
            current_through: wording.current_through.or_else(|| through.clone()),
            source_url: wording.source_url.or_else(|| url.clone()),
            container: wording.container.or_else(|| container.clone()),
            ..wording
        }));
    }
    end_permanent(&mut all);
    all.iter_mut().for_each(set_time);
    all.sort_by(|a, b| {
        let (a, b) = (&a.effect, &b.effect);
        a.from.cmp(&b.from).then_with(|| match (&a.to, &b.to) {
            (Some(a), Some(b)) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        })
    });
    all
}

/// The stated validity of a wording, as input for `validity::state_on`. `last_known` is the last day
/// that its edition covers.
pub fn validity(wording: &Content, last_known: Day) -> Validity {
    let day = |date: &Option<String>| date.as_ref().and_then(|date| date.parse::<Day>().ok());
    let Effect { from, to, then, uncertain, .. } = &wording.effect;
    let from = day(from).or_else(|| gone_since(wording));
    // A publisher prints law that is in force. If it prints only a wording that begins later, there is none.
    let is_amended = || is_from_several_acts(wording);
    Validity {
        status: wording.status.unwrap_or(Status::InForce),
        from,
        to: day(to),
        then: *then,
        is_uncertain: *uncertain,
        has_predecessor: from.is_some_and(|from| from <= last_known) && is_amended(),
    }
}

/// The day in a heading such as `Repealed by Acts 2015, c. 38, effective July 1, 2018.`
fn gone_since(wording: &Content) -> Option<Day> {
    wording.status.filter(|status| !status.may_be_in_force())?;
    let form = Pattern::fixed(
        r"(?i)\b(?:repealed|expired|deleted|transferred|renumbered)\b[^;]*?,? (?:effective|eff\.) ([^;]*)$",
    );
    let words = form.captures(&wording.heading)?.get(1)?.as_str().trim_end_matches(['.', ']', ')', ' ']);
    // Words around the day may limit it.
    let is_day = Pattern::fixed(r"^[A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}$").is_match(words);
    effect::date_in(words).filter(|_| is_day)?.parse().ok()
}

/// Whether the source credit names the act that made the provision and a later one that amended it.
/// The acts of a provision with a new number may have amended it under its old one.
fn is_from_several_acts(wording: &Content) -> bool {
    let Some(credit) = &wording.source_credit else { return false };
    let renumbered = Pattern::fixed(r"(?i)\b(?:formerly|renumbered|recodified|redesignated|transferred)\b");
    let remark = wording.effect.remark.as_deref().unwrap_or_default();
    let had_other_number = !wording.former_citations.is_empty() && !wording.restates_earlier_code;
    if had_other_number || renumbered.is_match(credit) || renumbered.is_match(remark) {
        return false;
    }
    let year = Pattern::fixed(r"\b(?:1[789]|20)\d\d\b");
    let acts = credit.split(';').filter(|part| year.is_match(part)).count();
    acts > 1 || Pattern::fixed(r"(?i)\bamended\b").is_match(credit)
}

/// Ends the permanent wording of a section if another wording has replaced it. The permanent
/// wording becomes law again when temporary amendments end. Any other wording replaces it from its
/// first day, and nothing follows when that one ends.
fn end_permanent(all: &mut [Content]) {
    let is_permanent = |content: &Content| content.effect.remark.as_deref() == Some(effect::PERMANENT);
    let for_good = |content: &&Content| {
        !is_permanent(content) && !content.effect.uncertain && content.effect.then != Some(Status::Uncertain)
    };
    let Some(since) = all.iter().filter(for_good).find_map(|content| content.effect.from.clone()) else { return };
    for content in all.iter_mut().filter(|content| is_permanent(content) && content.effect.to.is_none()) {
        content.effect.to = Some(since.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::ContentNote;

    fn member(node: u32, parent: &str, heading: &str, text: &str) -> KeyGroupMember {
        let (effect, heading) = effect::of_heading(heading);
        KeyGroupMember {
            node,
            parent: Some(NodeHandle::new("b", parent)),
            content: Content {
                heading,
                effect: effect.clone(),
                text: Some(text.into()),
                reference: format!("r{node}"),
                ..Content::default()
            },
            time: effect,
            is_wording: false,
        }
    }

    /// Each kept node with its wordings, and each repeat with its kept node.
    type KeptAndRepeats = (Vec<(u32, Vec<u32>)>, Vec<(u32, u32)>);

    fn reconciled(members: Vec<KeyGroupMember>) -> KeptAndRepeats {
        let kept = reconcile(members).kept;
        let repeats = kept.iter().flat_map(|kept| kept.repeats.iter().map(|&repeat| (repeat, kept.node))).collect();
        (kept.into_iter().map(|kept| (kept.node, kept.wordings)).collect(), repeats)
    }

    #[test]
    fn a_credit_of_several_acts_tells_amended_law_from_new_law() {
        let has_predecessor = |from: &str, credit: &str| {
            let effect = Effect::starting(Some(from.to_owned()));
            let content = Content { effect, source_credit: Some(credit.to_owned()), ..Content::default() };
            validity(&content, "2022-09-30".parse().unwrap()).has_predecessor
        };
        assert!(has_predecessor("1976-10-17", "Aug. 31, 1954, ch. 1158; Pub. L. 94-521, Oct. 17, 1976"));
        assert!(has_predecessor("2022-07-01", "Regulation .02 amended effective July 1, 2022"));
        assert!(!has_predecessor("2022-07-01", "2021, c. 171; subdivisions (a) and (b)"), "one act");
        assert!(!has_predecessor("2024-07-01", "2003, c. 71; 2021, c. 171"), "after the edition's last day");
        assert!(!has_predecessor("2022-07-01", "2003, c. 71; 2021, c. 171. Formerly RCW 9.1"), "a new number");
        let restated = |restates_earlier_code| {
            let former_citations = vec!["13 U.S.C. § 3".to_owned()];
            let credit = "Aug. 31, 1954, ch. 1158; Pub. L. 94-521, Oct. 17, 1976".to_owned();
            let (effect, source_credit) = (Effect::starting(Some("1976-10-17".to_owned())), Some(credit));
            let content =
                Content { effect, source_credit, former_citations, restates_earlier_code, ..Content::default() };
            validity(&content, "2022-09-30".parse().unwrap()).has_predecessor
        };
        assert_eq!([restated(true), restated(false)], [true, false], "an earlier code had other acts");
    }

    #[test]
    fn a_second_heading_whose_credit_has_further_acts_is_a_wording() {
        let pair = |first: &str, second: &str| {
            let of = |node, heading, credit: &str| {
                let mut member = member(node, "chapter", heading, "Law");
                member.content.source_credit = Some(credit.to_owned());
                member
            };
            reconciled(vec![of(1, "New license.", first), of(2, "New license or endorsement.", second)]).0
        };
        let joined = [(1, vec![2])];
        assert_eq!(pair("(§ 2 ch 131 SLA 1980)", "(§ 2 ch 131 SLA 1980; am § 54 ch 8 SLA 2022)"), joined);
        assert_eq!(pair("(§ 2 ch 1 SLA 1980; am § 3 ch 2 SLA 2003)", "[§ 2 ch 1 SLA 1980]"), joined);
        let apart = [(1, vec![]), (2, vec![])];
        assert_eq!(pair("(§ 2 ch 131 SLA 1980)", "(§ 2 ch 131 SLA 1980)"), apart, "two sections of one act");
        assert_eq!(pair("(§ 2 ch 131 SLA 1980)", "(§ 2 ch 131 SLA 19801; am § 5)"), apart);
        assert_eq!(pair("(§ 2 ch 131 SLA 1980)", ""), apart);
    }

    #[test]
    fn a_day_in_the_heading_of_gone_law_is_the_day_of_its_end() {
        let from = |status, heading: &str| {
            let content = Content { status: Some(status), heading: heading.to_owned(), ..Content::default() };
            validity(&content, Day::LAST).from.map(|day| day.to_string())
        };
        let heading = "Repealed by Acts 2015, cc. 38 and 730, cl. 3, effective July 1, 2018.";
        assert_eq!(from(Status::Repealed, heading).as_deref(), Some("2018-07-01"));
        assert_eq!(from(Status::InForce, heading), None);
        assert_eq!(from(Status::Repealed, "Repealed effective July 1, 2018, as to minors."), None);
        assert_eq!(from(Status::Repealed, "Repealed by Acts 2015, c. 38."), None);
    }

    #[test]
    fn wordings_of_one_provision_are_joined_in_the_order_of_time_whatever_the_order_of_files() {
        let old = || member(1, "c", "(Effective until July 1, 2022) Powers.", "Old.");
        let new = || member(2, "c", "(Effective July 1, 2022) Powers.", "New.");
        let expected = (vec![(1, vec![2])], vec![]);
        assert_eq!(reconciled(vec![old(), new()]), expected);
        assert_eq!(reconciled(vec![new(), old()]), expected);
        let texts = |all: Vec<Content>| all.into_iter().filter_map(|one| one.text).collect::<Vec<_>>();
        assert_eq!(texts(in_chronological_order(new().content, vec![old().content])), ["Old.", "New."]);
        let printed_together = Content { wordings: vec![new().content], source: 7, ..old().content };
        let all = in_chronological_order(printed_together, vec![]);
        assert!(all.iter().all(|wording| wording.source == 7), "all come from the source that prints them");
        assert_eq!(texts(all), ["Old.", "New."]);
    }

    #[test]
    fn a_third_wording_joins_by_any_of_the_others() {
        let of = |node, heading: &str, text: &str| member(node, "c", heading, text);
        let members = vec![
            of(1, "(Effective until July 1, 2022) Powers.", "A."),
            of(2, "(Effective July 1, 2022 until July 1, 2024) Powers and duties.", "B."),
            of(3, "(Effective July 1, 2024) Powers and duties.", "C."),
        ];
        assert_eq!(reconciled(members), (vec![(1, vec![2, 3])], vec![]));
    }

    #[test]
    fn the_same_number_in_another_act_is_another_provision() {
        let pair = vec![member(1, "act-a", "Short title", "A."), member(2, "act-b", "Short title", "B.")];
        assert_eq!(reconciled(pair).0, [(1, vec![]), (2, vec![])]);
        let unrelated = vec![member(1, "c", "Payment of expenses", "A."), member(2, "c", "Extended assignment", "B.")];
        assert_eq!(reconciled(unrelated).0, [(1, vec![]), (2, vec![])]);
    }

    #[test]
    fn a_chapter_printed_twice_has_wordings_that_end_and_begin_on_one_day() {
        let until = || member(1, "old", "Definitions. [Effective until July 1, 2024]", "A.");
        let since = |heading: &str| member(2, "new", heading, "");
        let renumbered = "Definitions. [Renumbered to § 2, effective July 1, 2024]";
        assert_eq!(reconciled(vec![until(), since(renumbered)]), (vec![(1, vec![2])], vec![]));
        let others = ["Definitions. [Effective July 1, 2025]", "Names. [Effective July 1, 2024]", "Definitions."];
        for other in others {
            assert_eq!(reconciled(vec![until(), since(other)]).0.len(), 2, "{other}");
        }
    }

    #[test]
    fn two_citations_of_one_key_are_two_provisions_even_if_they_say_the_same() {
        let cited = |node, citation: &str| {
            let mut member = member(node, "c", "Definitions", "A.");
            member.content.citation = citation.to_owned();
            member
        };
        let pair = vec![cited(1, "1 U.S.C. § 1"), cited(2, "35 U.S.C. § 1")];
        assert_eq!(reconciled(pair), (vec![(1, vec![]), (2, vec![])], vec![]));
        let spelt_twice = vec![cited(1, "1 U.S.C. § 1a–1"), cited(2, "1 U.S.C.  § 1a-1")];
        assert_eq!(reconciled(spelt_twice), (vec![(1, vec![])], vec![(2, 1)]));
    }

    #[test]
    fn a_stated_second_wording_joins_the_first_at_any_place() {
        let own = || member(1, "title-39", "Administration.", "Now.");
        let reserved = || KeyGroupMember { is_wording: true, ..member(2, "title-99", "Offices.", "Later.") };
        assert_eq!(reconciled(vec![own(), reserved()]), (vec![(1, vec![2])], vec![]));
        assert_eq!(reconciled(vec![reserved(), own()]), (vec![(1, vec![2])], vec![]));
        // Alone, it is the provision itself.
        assert_eq!(reconciled(vec![reserved()]), (vec![(2, vec![])], vec![]));
        // It stays a wording even if its text is the same.
        let same = KeyGroupMember { is_wording: true, ..own() };
        assert_eq!(reconciled(vec![own(), KeyGroupMember { node: 3, ..same }]).0, [(1, vec![3])]);
    }

    #[test]
    fn a_heading_without_its_text_repeats_the_section_that_has_it() {
        let bare = || member(1, "c", "Refilings.", "");
        let whole = || member(2, "c", "Refilings.", "A.");
        assert_eq!(reconciled(vec![bare(), whole()]), (vec![(2, vec![])], vec![(1, 2)]));
        assert_eq!(reconciled(vec![whole(), bare()]), (vec![(2, vec![])], vec![(1, 2)]));
    }

    #[test]
    fn a_page_published_twice_is_kept_once_with_the_notes_of_both() {
        let pair = vec![member(1, "c", "Powers", "A."), member(2, "c", "Powers", "A.")];
        assert_eq!(reconciled(pair), (vec![(1, vec![])], vec![(2, 1)]));
        let note = |topic: &str| ContentNote { topic: topic.into(), ..ContentNote::default() };
        let mut kept = Content { notes: vec![note("A")], source_credit: Some("1999".into()), ..Content::default() };
        let repeat = Content {
            notes: vec![note("A"), note("B")],
            source_credit: Some("2001".into()),
            parallel_citations: vec!["5".into()],
            ..Content::default()
        };
        take_from_repeat(&mut kept, repeat);
        assert_eq!(kept.notes, [note("A"), note("B")]);
        assert_eq!(kept.source_credit.as_deref(), Some("1999 2001"));
        assert_eq!(kept.parallel_citations, ["5"]);
    }

    /// D.C. Code § 1-309.14 expires on a day. Its permanent wording is the earlier one and does not
    /// become law again.
    #[test]
    fn a_permanent_wording_is_law_again_after_amendments_for_a_time_alone() {
        let permanent = || Content {
            effect: Effect { remark: Some(effect::PERMANENT.into()), ..Effect::default() },
            ..Content::default()
        };
        let until = |then| Content {
            effect: Effect {
                from: Some("2024-09-18".into()),
                to: Some("2025-12-31".into()),
                then: Some(then),
                ..Effect::default()
            },
            ..Content::default()
        };
        let end = |then| in_chronological_order(until(then), vec![permanent()])[0].effect.to.clone();
        assert_eq!(end(Status::Uncertain), None);
        assert_eq!(end(Status::Expired).as_deref(), Some("2024-09-18"));
    }

    #[test]
    fn the_same_words_at_another_time_are_another_wording() {
        let pair = vec![
            member(1, "c", "(Effective until July 1, 2022) Powers.", "A."),
            member(2, "c", "(Effective July 1, 2022) Powers.", "A."),
        ];
        assert_eq!(reconciled(pair), (vec![(1, vec![2])], vec![]));
    }
}
