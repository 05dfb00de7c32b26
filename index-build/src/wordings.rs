//! Two nodes with one citation: is the second a duplicate, another wording, or another provision?
//!
//! Real sources have all three. Virginia prints a section once "(Effective until July 1, 2022)" and once
//! "(Effective July 1, 2022)"; two acts in one appendix both have a section 1; a page is sometimes published twice.
//! The answer depends on content alone, never on the order of files.

use crate::content::{Content, ContentNote, ContentWording, Handle};
use crate::import::slug::slug;
use crate::order::SortKey;

/// One of several nodes whose keys are equal.
#[derive(Debug)]
pub(crate) struct Member {
    pub node: u32,
    pub parent: Option<Handle>,
    pub content: Content,
    /// The source says that it is a wording of another member.
    pub is_wording: bool,
}

/// A node that stays, with the nodes that are wordings of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub node: u32,
    pub citation: String,
    pub is_provision: bool,
    pub wordings: Vec<u32>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reconciled {
    /// The first keeps the key, the others get keys of their own.
    pub kept: Vec<Kept>,
    /// Exact repeats, each with the node it repeats.
    pub repeats: Vec<(u32, u32)>,
}

pub(crate) fn reconcile(mut members: Vec<Member>) -> Reconciled {
    members.sort_by_cached_key(|member| {
        let content = &member.content;
        // The wording that is law longest goes first; then one with a text; then as the source orders them; then by the
        // words themselves.
        let ends = ends_soon(content);
        (
            member.is_wording,
            ends,
            content.text.as_deref() == Some(""),
            SortKey::of_citation(&content.reference),
            content.reference.clone(),
            content.heading.clone(),
            content.text.clone(),
        )
    });
    let mut result = Reconciled::default();
    let mut heads: Vec<&Member> = Vec::new();
    for member in &members {
        let twin = heads.iter().position(|head| !member.is_wording && is_repeat(head, member));
        let sibling = heads.iter().position(|head| is_wording(head, member));
        let sibling = sibling.or((member.is_wording && !heads.is_empty()).then_some(0));
        match (twin, sibling) {
            (Some(twin), _) => result.repeats.push((member.node, heads[twin].node)),
            (None, Some(sibling)) => result.kept[sibling].wordings.push(member.node),
            (None, None) => {
                heads.push(member);
                result.kept.push(Kept {
                    node: member.node,
                    citation: member.content.citation.clone(),
                    is_provision: member.content.text.is_some(),
                    wordings: Vec::new(),
                });
            }
        }
    }
    result
}

fn is_repeat(head: &Member, other: &Member) -> bool {
    head.parent == other.parent
        && is_same_citation(&head.content.citation, &other.content.citation)
        && head.content.heading == other.content.heading
        && (head.content.text == other.content.text || says_nothing_more(&other.content))
}

/// Only a heading; another record has the text.
fn says_nothing_more(content: &Content) -> bool {
    content.text.as_deref() == Some("") && content.notes.is_empty() && content.source_credit.is_none()
}

fn is_wording(head: &Member, other: &Member) -> bool {
    let both_provisions = head.content.text.is_some() && other.content.text.is_some();
    let (a, b) = (without_remark(&head.content.heading), without_remark(&other.content.heading));
    both_provisions
        && head.parent == other.parent
        && is_same_citation(&head.content.citation, &other.content.citation)
        && (a.eq_ignore_ascii_case(b) || remark(&other.content.heading).is_some())
}

/// Whether two citations differ at most in case, spacing and kinds of dashes.
pub(crate) fn is_same_citation(a: &str, b: &str) -> bool {
    a == b || slug(a) == slug(b)
}

/// The remark about effect, in parentheses before a heading, such as `Effective until July 1, 2022`.
pub(crate) fn remark(heading: &str) -> Option<&str> {
    let inner = heading.trim_start().strip_prefix('(')?;
    let (remark, _) = inner.split_once(')')?;
    let first = remark.split_whitespace().next()?.to_ascii_lowercase();
    matches!(first.as_str(), "effective" | "contingently" | "contingent" | "delayed" | "expires" | "repealed" | "text")
        .then_some(remark)
}

fn without_remark(heading: &str) -> &str {
    match remark(heading) {
        Some(_) => heading.split_once(')').map_or(heading, |(_, rest)| rest.trim_start()),
        None => heading.trim(),
    }
}

fn ends_soon(content: &Content) -> bool {
    content.effective_to.is_some()
        || remark(&content.heading).is_some_and(|remark| remark.to_ascii_lowercase().contains("until"))
}

/// Turns a node that was joined to another into a wording of it, and hands over its notes. Footnotes in its text are
/// counted from `notes_before`, because that is where its notes will stand.
pub(crate) fn as_wording(content: Content, notes_before: usize) -> (ContentWording, Vec<ContentNote>) {
    let label =
        content.wording_label.unwrap_or_else(|| remark(&content.heading).unwrap_or(&content.heading).to_owned());
    let mut layout = content.layout;
    layout.count_footnotes_from(notes_before);
    let wording = ContentWording {
        label,
        effective_from: content.effective_from,
        effective_to: content.effective_to,
        text: content.text.unwrap_or_default(),
        layout,
    };
    (wording, content.notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(node: u32, parent: &str, heading: &str, text: &str) -> Member {
        Member {
            node,
            parent: Some(Handle::new("b", parent)),
            content: Content {
                heading: heading.into(),
                text: Some(text.into()),
                reference: format!("r{node}"),
                ..Content::default()
            },
            is_wording: false,
        }
    }

    /// Each node kept with its wordings, and the repeats.
    type KeptAndRepeats = (Vec<(u32, Vec<u32>)>, Vec<(u32, u32)>);

    fn reconciled(members: Vec<Member>) -> KeptAndRepeats {
        let result = reconcile(members);
        (result.kept.into_iter().map(|kept| (kept.node, kept.wordings)).collect(), result.repeats)
    }

    #[test]
    fn the_wording_that_stays_law_is_the_provision_and_the_other_its_wording() {
        let old = || member(1, "c", "(Effective until July 1, 2022) Powers.", "Old.");
        let new = || member(2, "c", "(Effective July 1, 2022) Powers.", "New.");
        let expected = (vec![(2, vec![1])], vec![]);
        assert_eq!(reconciled(vec![old(), new()]), expected);
        assert_eq!(reconciled(vec![new(), old()]), expected);
        assert_eq!(as_wording(old().content, 0).0.label, "Effective until July 1, 2022");
    }

    #[test]
    fn the_same_number_in_another_act_is_another_provision() {
        let pair = vec![member(1, "act-a", "Short title", "A."), member(2, "act-b", "Short title", "B.")];
        assert_eq!(reconciled(pair).0, [(1, vec![]), (2, vec![])]);
        let unrelated = vec![member(1, "c", "Payment of expenses", "A."), member(2, "c", "Extended assignment", "B.")];
        assert_eq!(reconciled(unrelated).0, [(1, vec![]), (2, vec![])]);
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
    fn what_the_source_calls_a_wording_joins_the_other_wherever_it_stands() {
        let own = || member(1, "title-39", "Administration.", "Now.");
        let reserved = || Member { is_wording: true, ..member(2, "title-99", "Offices.", "Later.") };
        assert_eq!(reconciled(vec![own(), reserved()]), (vec![(1, vec![2])], vec![]));
        assert_eq!(reconciled(vec![reserved(), own()]), (vec![(1, vec![2])], vec![]));
        // Alone it is the provision itself.
        assert_eq!(reconciled(vec![reserved()]), (vec![(2, vec![])], vec![]));
        // It stays a wording even if it says the same.
        let same = Member { is_wording: true, ..own() };
        assert_eq!(reconciled(vec![own(), Member { node: 3, ..same }]).0, [(1, vec![3])]);
    }

    #[test]
    fn a_heading_without_its_text_repeats_the_section_that_has_it() {
        let bare = || member(1, "c", "Refilings.", "");
        let whole = || member(2, "c", "Refilings.", "A.");
        assert_eq!(reconciled(vec![bare(), whole()]), (vec![(2, vec![])], vec![(1, 2)]));
        assert_eq!(reconciled(vec![whole(), bare()]), (vec![(2, vec![])], vec![(1, 2)]));
    }

    #[test]
    fn a_page_published_twice_is_kept_once() {
        let pair = vec![member(1, "c", "Powers", "A."), member(2, "c", "Powers", "A.")];
        assert_eq!(reconciled(pair), (vec![(1, vec![])], vec![(2, 1)]));
    }
}
