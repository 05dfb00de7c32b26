//! Titles and chapters, from the number of a section if the plan defines how, otherwise from the
//! path of the document.

use serde::Deserialize;

use super::settings::StateJsonSettings;
use crate::content::{Content, NewNode, NodeHandle, OnRepeat};
use crate::import::levels;
use crate::import::slug::slug;
use crate::import::target::ImportTarget;
use crate::order::SortKey;
use crate::pattern::Pattern;
use crate::report::SourcePosition;

/// A container in a chain of containers.
#[derive(Clone, Debug)]
pub(super) struct ContainerLabel {
    level: String,
    number: String,
    heading: String,
}

/// A contents page, `toc.json`.
#[derive(Debug, Deserialize)]
pub(super) struct ContentsPage {
    #[serde(default)]
    number: String,
    #[serde(default)]
    heading: String,
    #[serde(default)]
    children: Vec<ContentsPage>,
}

/// The containers of a section, outermost first.
pub(super) fn chain(number: &str, path: &str, settings: &StateJsonSettings) -> Vec<ContainerLabel> {
    if settings.containers.is_empty() {
        return path.split('/').filter_map(by_path).collect();
    }
    let found = settings.containers.iter().filter_map(|container| {
        let number = container.number.find(number)?.as_str();
        let named = path.split('/').filter_map(by_path);
        let named = named.into_iter().find(|link| link.level == container.level && link.number == number);
        let heading = named.map_or_else(String::new, |link| link.heading);
        Some(ContainerLabel { level: container.level.clone(), number: number.to_owned(), heading })
    });
    found.collect()
}

/// Reads a part of a path: `title-title-20a-game-and-parks` is title 20A, Game and parks, and
/// `title-chapter-1-oaths` is chapter 1.
fn by_path(part: &str) -> Option<ContainerLabel> {
    // A document of one section: `chapter-section-62-2-101`.
    let (outer, rest) = part.split_once('-').filter(|(_, rest)| !rest.starts_with("section-"))?;
    let inner = rest.split_once('-').filter(|(inner, _)| levels::short(inner).is_some());
    let (level, rest) = inner.unwrap_or((outer, rest));
    let (first, heading) = rest.split_once('-').unwrap_or((rest, ""));
    let is_roman = inner.is_some() && first.bytes().all(|byte| b"ivxlc".contains(&byte));
    let is_number = first.starts_with(|c: char| c.is_ascii_digit()) || is_roman;
    let (number, heading) = if is_number { (first, heading) } else { ("", rest) };
    let heading = Pattern::fixed(r"(?:-\d{1,3}[a-z]?){2,}-?$").replace(heading, "");
    Some(ContainerLabel { level: level.to_owned(), number: number.to_uppercase(), heading: sentence(&heading) })
}

fn sentence(dashed: &str) -> String {
    levels::capitalised(dashed.replace('-', " ").trim())
}

/// The containers of a chain as nodes, and the handle of the innermost one.
pub(super) fn nodes(
    chain: &[ContainerLabel],
    target: ImportTarget<'_>,
    position: &SourcePosition,
) -> (Vec<NewNode>, Option<NodeHandle>) {
    let (mut key, mut citation) = (target.key.to_owned(), target.code_body.to_owned());
    let (mut name, mut parent, mut nodes) = (String::from("container"), None, Vec::with_capacity(chain.len()));
    for link in chain {
        let level = levels::capitalised(&link.level);
        let number = Some(link.number.clone()).filter(|number| !number.is_empty());
        let own_key = match &number {
            Some(number) => format!("{}{}", levels::short(&link.level).unwrap_or_default(), slug(number)),
            None => slug(&link.heading).chars().take(60).collect(),
        };
        let own_key = if own_key.is_empty() { "x".to_owned() } else { own_key };
        key = format!("{key}/{own_key}");
        name = format!("{name}/{own_key}");
        let own_citation = number.as_ref().map_or_else(|| link.heading.clone(), |number| format!("{level} {number}"));
        citation = format!("{citation}, {own_citation}");
        let handle = NodeHandle::new(target.key, &name);
        let content = Content {
            citation: citation.clone(),
            heading: if link.heading.is_empty() { own_citation } else { link.heading.clone() },
            level: link.level.clone(),
            number,
            reference: name.clone(),
            source: target.source,
            ..Content::default()
        };
        let (sort, on_repeat) = (SortKey::of_number(&link.number), OnRepeat::Reconcile);
        nodes.push(NewNode { handle, parent, key: key.clone(), sort, on_repeat, content, position: position.clone() });
        parent = Some(handle);
    }
    (nodes, parent)
}

/// The chains of the containers for which a contents page gives a number and a heading.
pub(super) fn listed(contents: &ContentsPage, settings: &StateJsonSettings) -> Vec<Vec<ContainerLabel>> {
    let mut chains = Vec::new();
    let mut open = vec![contents];
    while let Some(contents) = open.pop() {
        open.extend(contents.children.iter().rev());
        let heading = contents.heading.trim();
        let is_whole = |number: &str| number == contents.number;
        let mut chain = chain(&contents.number, "", settings);
        if let Some(last) = chain.iter().position(|link| is_whole(&link.number)).filter(|_| !heading.is_empty()) {
            chain.truncate(last + 1);
            chain[last].heading = heading.to_owned();
            chains.push(chain);
        }
    }
    chains
}
