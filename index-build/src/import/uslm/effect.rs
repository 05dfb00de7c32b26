//! Since when the present wording of a provision is law, where a note or the source credit says so in a regular form.
//!
//! Three forms are read: `Section effective Oct. 1, 1990` of a section that was never amended; `Amendment by Pub. L. 116–283
//! effective Jan. 1, 2021` about the last law of the source credit; and the last `eff. Dec. 1, 2024` in the credit of a
//! court rule. Everything else (so many days after enactment, as if included in another act) stays a note.

use hornbook_corpus::outline::Status;
use roxmltree::Node;

/// The date, as `2021-01-01`.
pub(super) fn effective_from(provision: Node<'_, '_>, status: Status) -> Option<String> {
    if !status.is_living() {
        return None;
    }
    let credit = provision.children().find(|child| child.has_tag_name("sourceCredit"))?;
    if provision.has_tag_name("courtRule") {
        return last_in_credit(credit);
    }
    match laws(credit).collect::<Vec<_>>().as_slice() {
        [] => None,
        [_] => by_note(provision, "effectiveDate", |before| before_date(before) == Some("Section")),
        [_, .., last] => by_note(provision, "effectiveDateOfAmendment", |before| {
            let law = before_date(before).and_then(|before| before.strip_prefix("Amendment by "));
            law.is_some_and(|law| law.trim() == *last)
        }),
    }
}

/// What stands before `effective` or `effective on` and a date.
fn before_date(before: &str) -> Option<&str> {
    let before = before.trim();
    before.strip_suffix(" effective").or_else(|| before.strip_suffix(" effective on"))
}

/// The laws of a source credit in their order, each once: `Pub. L. 116–283`.
fn laws<'a>(credit: Node<'a, '_>) -> impl Iterator<Item = String> {
    let mut before = String::new();
    let names = credit.children().filter(|child| child.has_tag_name("ref")).filter_map(|reference: Node<'a, '_>| {
        let href = reference.attribute("href")?;
        let is_law = href.starts_with("/us/pl/") || href.starts_with("/us/act/");
        let text = reference.text().filter(|_| is_law)?;
        Some(text.split(',').next().unwrap_or(text).split_whitespace().collect::<Vec<_>>().join(" "))
    });
    names.filter(move |name| std::mem::replace(&mut before, name.clone()) != *name)
}

/// The date in the first paragraph of a note of this topic, if what stands before it is as wanted, and a full stop, a
/// comma or the end after it.
fn by_note(provision: Node<'_, '_>, topic: &str, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let notes = provision.children().filter(|child| child.has_tag_name("notes")).flat_map(|notes| notes.children());
    let topical = notes.filter(|note| note.attribute("topic") == Some(topic));
    let paragraphs = topical.flat_map(|note| note.children().filter(|child| child.has_tag_name("p")));
    let dates = paragraphs.filter_map(|paragraph| {
        let mut before = String::new();
        for child in paragraph.children() {
            if child.has_tag_name("date") {
                return iso(child).filter(|_| wanted(&folded(&before)) && is_plain_after(child));
            }
            let texts = child.descendants().filter(Node::is_text).filter_map(|text| text.text());
            before.extend(texts);
        }
        None
    });
    let mut found: Vec<String> = dates.collect();
    found.dedup();
    // Two dates are two parts of a section: which of them counts, only a reader can say.
    if found.len() == 1 { found.pop() } else { None }
}

/// Whether a date is not made relative or partial by what follows: `, see`, `.`, or nothing.
fn is_plain_after(date: Node<'_, '_>) -> bool {
    let after = date.next_sibling().and_then(|next| next.text()).unwrap_or_default().trim_start();
    after.is_empty() || after.starts_with('.') || after.starts_with(", see") || after.starts_with(", pursuant")
}

fn last_in_credit(credit: Node<'_, '_>) -> Option<String> {
    let last = credit.children().rfind(|child| child.has_tag_name("date"))?;
    let before = last.prev_sibling().and_then(|before| before.text()).unwrap_or_default();
    iso(last).filter(|_| before.trim_end().ends_with("eff."))
}

fn iso(date: Node<'_, '_>) -> Option<String> {
    date.attribute("date").filter(|date| crate::values::is_date(date)).map(str::to_owned)
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
