//! Reads one provision: a section, a court rule or a reorganization plan.

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use super::effect::{effective_from, future_change};
use super::flat;
use super::identifier::{UslmNumbers, container_part, key_of};
use super::left_out;
use super::reading::{UslmPlace, UslmReader, by_place, status_of};
use super::scheme::{Scheme, plan_citations};
use super::text::{UnitDepth, UslmTextBuilder, is_footnote};
use crate::content::{Content, NewNode, OnRepeat};
use crate::effect::Effect;
use crate::import::crosswalk::{Crosswalk, SectionWords};
use crate::import::slug::slug;
use crate::import::unknown::has_words;
use crate::order::SortKey;
use crate::report::WarningKind;

/// Reads a provision with its notes.
pub(super) fn read(reading: &mut UslmReader<'_>, node: Node<'_, '_>, place: &UslmPlace) -> NewNode {
    let position = reading.position(node);
    let mut setter = UslmTextBuilder::new(node);
    let parts = ProvisionParts::of(node);
    let label = parts.num.map(|num| setter.plain(num)).unwrap_or_default();
    let heading = parts.heading.map(|heading| setter.plain(heading)).unwrap_or_default();
    let (text, mut layout) = setter.separate_text(|setter| {
        parts.text.iter().for_each(|&child| setter.child(child, UnitDepth::OUTERMOST));
    });
    flat::label(&text, &mut layout);
    if let Some((heading, body)) = parts.message.split_first() {
        setter.note_under(*heading, body);
    }
    parts.notes.iter().for_each(|&note| setter.note(note));
    for &credit in &parts.credits {
        let credit = setter.plain(credit);
        setter.credits.push(credit);
    }
    let status = status_of(node.attribute("status"), &mut |word| {
        let what = format!("the status '{word}' is unknown; treated as in force");
        reading.parsed.warn(WarningKind::UnknownStatus, position.clone(), what);
    });
    let status = status.or_else(|| status_by_heading(&heading)).unwrap_or(Status::InForce);
    let name = ProvisionNames::of(reading, node, place, &heading);
    let is_empty = text.is_empty();
    if status.may_be_in_force() && is_empty {
        let what = format!("'{}' is in force but has no text", name.citation);
        reading.parsed.warn(WarningKind::EmptyProvision, position.clone(), what);
    }
    let is_in_appendix = place.title.as_ref().is_some_and(|title| title.is_appendix);
    let mut tags = reading.target.tags.to_vec();
    tags.sort_unstable();
    let crosswalk = match (&place.title, &name.section) {
        (Some(title), Some(numbers)) if reading.scheme == Scheme::UnitedStatesCode && !is_in_appendix => {
            Crosswalk::of(&SectionWords {
                title: &title.digits,
                number: numbers.single(),
                status,
                heading: &heading,
                notes: &setter.notes,
                credit: setter.credits.first().map(String::as_str),
                dispositions: &reading.dispositions,
            })
        }
        _ => Crosswalk::default(),
    };
    let mut content = Content {
        citation: name.citation,
        heading: without_bracket(&heading, &label).to_owned(),
        level: name.level.to_owned(),
        number: name.number.or_else(|| bare_number(&label)),
        status: Some(status),
        effect: Effect::starting(effective_from(node, status, reading.made.as_deref()))
            .and(future_change(node, status)),
        text: Some(text),
        layout,
        notes: setter.notes,
        source_credit: Some(setter.credits.join(" ")).filter(|credit| !credit.is_empty()),
        tags,
        parallel_citations: name.parallel,
        reference: node.attribute("identifier").unwrap_or_default().to_owned(),
        source: reading.target.source,
        ..Content::default()
    };
    left_out::name_signs(setter.repeated_signs, &mut reading.parsed);
    let unread = crosswalk.add_to(&mut content, &position);
    reading.parsed.warnings.extend(unread);
    NewNode {
        handle: reading.handle(node),
        parent: place.handle,
        key: format!("{}/{}", reading.target.key, name.key),
        sort: if is_in_appendix { by_place(node) } else { SortKey::of_citation(&content.citation) },
        on_repeat: OnRepeat::Reconcile,
        content,
        position,
    }
}

/// The children of a provision by kind.
struct ProvisionParts<'a, 'd> {
    num: Option<Node<'a, 'd>>,
    heading: Option<Node<'a, 'd>>,
    text: Vec<Node<'a, 'd>>,
    /// The President's message that sent a reorganization plan to Congress, with its heading. It is not law.
    message: Vec<Node<'a, 'd>>,
    notes: Vec<Node<'a, 'd>>,
    credits: Vec<Node<'a, 'd>>,
}

impl<'a, 'd> ProvisionParts<'a, 'd> {
    fn of(node: Node<'a, 'd>) -> Self {
        let mut parts = Self {
            num: None,
            heading: None,
            text: Vec::new(),
            message: Vec::new(),
            notes: Vec::new(),
            credits: Vec::new(),
        };
        for child in node.children() {
            match child.tag_name().name() {
                "num" if parts.num.is_none() => parts.num = Some(child),
                "heading" if parts.heading.is_none() => parts.heading = Some(child),
                "notes" => parts.notes.extend(child.children().filter(|note| has_words(*note))),
                "note" if !is_footnote(child) => parts.notes.push(child),
                "authority" | "editorialNote" => parts.notes.push(child),
                "sourceCredit" | "source" => parts.credits.push(child),
                "content" if node.has_tag_name("reorganizationPlan") => {
                    let message = child.children().position(is_heading_of_message).unwrap_or(usize::MAX);
                    parts.text.extend(child.children().take(message));
                    parts.message.extend(child.children().skip(message));
                }
                _ => parts.text.push(child),
            }
        }
        parts
    }
}

/// Whether an element is a heading such as `Message of the President` or `Message to Congress`.
fn is_heading_of_message(node: Node<'_, '_>) -> bool {
    let is_heading = node.attribute("class").is_some_and(|class| class.starts_with("centered"));
    is_heading && node.text().is_some_and(|text| text.trim_start().starts_with("Message "))
}

/// The names of a provision.
struct ProvisionNames {
    /// The key, including the key of the code body.
    key: String,
    citation: String,
    parallel: Vec<String>,
    level: &'static str,
    number: Option<String>,
    /// The numbers of a section.
    section: Option<UslmNumbers>,
}

impl ProvisionNames {
    fn of(reading: &UslmReader<'_>, node: Node<'_, '_>, place: &UslmPlace, heading: &str) -> Self {
        match node.tag_name().name() {
            "courtRule" => Self::of_rule(reading, node, place),
            "reorganizationPlan" => Self::of_plan(reading, node, place, heading),
            "level" => Self::by_heading(reading, place, "division", heading),
            _ => Self::of_section(reading, node, place, heading),
        }
    }

    fn of_section(reading: &UslmReader<'_>, node: Node<'_, '_>, place: &UslmPlace, heading: &str) -> Self {
        let (Some(title), Some(numbers)) = (&place.title, numbers_of(node)) else {
            return Self::by_heading(reading, place, "section", heading);
        };
        let identifier = node.attribute("identifier").and_then(key_of);
        let own = slug(&numbers.first);
        let key = match (identifier, &place.act) {
            (Some(key), _) => key,
            // The identifier that the section had while it was law.
            (None, Some(law)) => below_body(reading, &format!("{}/{law}/s{own}", place.title_key)),
            (None, None) => below_body(reading, &format!("{}/s{own}", place.key)),
        };
        let cite = |number: &str| reading.scheme.section(title, number);
        Self {
            key,
            citation: cite(&numbers.first),
            parallel: numbers.others.iter().map(|number| cite(number)).collect(),
            level: "section",
            number: None,
            section: Some(numbers),
        }
    }

    fn of_rule(reading: &UslmReader<'_>, node: Node<'_, '_>, place: &UslmPlace) -> Self {
        let value = node.children().find(|child| child.has_tag_name("num")).and_then(|num| num.attribute("value"));
        let number = value.unwrap_or_default().trim().to_owned();
        let title = place.title.clone().unwrap_or_default();
        let in_appendix = Scheme::rule(&title, &number);
        let (citation, parallel) = match place.rules {
            Some(rules) => (format!("{rules} {number}"), vec![in_appendix]),
            None => (in_appendix, Vec::new()),
        };
        Self { key: key_in_title(reading, node, place), citation, parallel, level: "rule", number: None, section: None }
    }

    fn of_plan(reading: &UslmReader<'_>, node: Node<'_, '_>, place: &UslmPlace, heading: &str) -> Self {
        let mut parts = node.attribute("identifier").unwrap_or_default().rsplit('/');
        let (Some(number), Some(year)) = (parts.next().filter(|part| !part.is_empty()), parts.next()) else {
            return Self::by_heading(reading, place, "reorganization plan", heading);
        };
        let (citation, parallel) = plan_citations(number, year);
        let key = key_in_title(reading, node, place);
        Self { key, citation, parallel, level: "reorganization plan", number: Some(number.to_owned()), section: None }
    }

    /// The names of a provision without number and identifier.
    fn by_heading(reading: &UslmReader<'_>, place: &UslmPlace, level: &'static str, heading: &str) -> Self {
        let key = below_body(reading, &format!("{}/{}", place.key, container_part("level", None, heading)));
        let citation = place.citation_of(heading);
        Self { key, citation, parallel: Vec::new(), level, number: None, section: None }
    }
}

/// The key of an identifier, below its title, which the identifiers of some rules omit.
fn key_in_title(reading: &UslmReader<'_>, node: Node<'_, '_>, place: &UslmPlace) -> String {
    let title = below_body(reading, &place.title_key);
    let own = node.attribute("identifier").unwrap_or_default();
    match key_of(own) {
        Some(key) if key.starts_with(&format!("{title}/")) => key,
        Some(key) => format!("{title}/{key}"),
        None => format!("{title}/{}", own.rsplit('/').next().map(slug).unwrap_or_default()),
    }
}

fn below_body(reading: &UslmReader<'_>, key: &str) -> String {
    key.strip_prefix(reading.target.key).map_or(key, |rest| rest.trim_start_matches('/')).to_owned()
}

/// Removes the closing bracket from a heading whose bracket opened before the number: `[§ 16. Omitted]`.
fn without_bracket<'h>(heading: &'h str, label: &str) -> &'h str {
    match heading.strip_suffix(']') {
        Some(inner) if label.starts_with('[') && !inner.contains('[') => inner,
        _ => heading,
    }
}

/// The bare number: `202 to 204` for `[§§ 202 to 204.`, `1001` for `Rule 1001.`
fn bare_number(label: &str) -> Option<String> {
    let bare = label.trim_start_matches(|c: char| matches!(c, '[' | '§' | '“') || c.is_whitespace());
    let bare = bare.strip_prefix("Rule").unwrap_or(bare);
    let bare = bare.trim_end_matches(['.', ']', '—', ':']).trim();
    (!bare.is_empty()).then(|| bare.to_owned())
}

/// The status of a provision. Regulations and some court rules state it only in the heading.
fn status_by_heading(heading: &str) -> Option<Status> {
    let inner = heading.trim().strip_prefix('[')?.strip_suffix(']')?;
    match inner.to_ascii_lowercase().as_str() {
        "reserved" => Some(Status::Reserved),
        "removed" | "repealed" | "abrogated" | "rescinded" | "deleted" => Some(Status::Repealed),
        "transferred" => Some(Status::Transferred),
        "omitted" => Some(Status::Omitted),
        _ => None,
    }
}

/// The numbers of a section, from its identifiers or, without identifiers, from its label.
fn numbers_of(node: Node<'_, '_>) -> Option<UslmNumbers> {
    let value = || node.children().find(|child| child.has_tag_name("num"))?.attribute("value");
    let by_identifier = node.attribute("identifier").and_then(UslmNumbers::of_identifiers);
    by_identifier.or_else(|| UslmNumbers::of_value(value()?))
}
