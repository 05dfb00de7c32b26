//! Finds titles, chapters and other containers by any of their names, and by the numbers that their
//! sections begin with.

use std::collections::HashMap;

use hornbook_corpus::cards::Card;
use hornbook_corpus::citation::{BodyRef, Container, ContainerLevel, NamedContainer, NumberedContainer};
use hornbook_corpus::code_titles::compare_numbers;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::snapshot::Snapshot;

use crate::normalized_number::{SEPARATORS, follows, normalize_number};

/// How many provisions of a container are checked for a number. More than one, because the first may be
/// an appendix.
const PROVISIONS_CHECKED_MAX: usize = 4;

/// Every container whose citation names its levels, and everything that is attached to a container,
/// such as an appendix.
pub(super) struct ContainerIndex {
    containers: Vec<IndexedContainer>,
    by_innermost: HashMap<(BodyRef, ContainerLevel, Box<str>), Vec<usize>>,
    /// By the number that their sections begin with: `43-32`.
    by_number: HashMap<(BodyRef, Box<str>), Vec<usize>>,
    /// By the number of their title and their own number: `29-1`. Used if no section numbers begin like this.
    by_title: HashMap<(BodyRef, Box<str>), Vec<usize>>,
}

/// A container with normalised numbers.
struct IndexedContainer {
    container: Container,
    /// Its own level and number. Its levels are in another order, in which a part of a chapter of a title
    /// is not the last.
    innermost: (ContainerLevel, Box<str>),
    node: NodeOrdinal,
}

impl ContainerIndex {
    pub(super) fn of(snapshot: &Snapshot) -> Result<Self, NodesError> {
        let mut index = Self {
            containers: Vec::new(),
            by_innermost: HashMap::new(),
            by_number: HashMap::new(),
            by_title: HashMap::new(),
        };
        let grammar = snapshot.grammar();
        // The containers around the current node that have a joined number, each with its end.
        let mut around: Vec<(u32, Box<str>)> = Vec::new();
        for node in (0..snapshot.outline.len()).map(NodeOrdinal) {
            let Card { citation, .. } = snapshot.cards.get(node)?;
            let is_provision = snapshot.outline.is_provision(node);
            if is_provision && !may_be_attached(citation) {
                continue;
            }
            let Some(named) = grammar.parse_container(citation) else { continue };
            if is_provision && grammar.parse(citation).is_ok() {
                continue;
            }
            let place = index.add(&named, node);
            if is_provision {
                continue;
            }
            while around.last().is_some_and(|&(end, _)| end <= node.0) {
                around.pop();
            }
            let outer = around.last().map(|(_, number)| &**number);
            let number = joined_number(snapshot, &named, node, outer)?;
            if let Some(number) = number {
                index.by_number.entry((named.container.body, number.clone())).or_default().push(place);
                around.push((snapshot.outline.subtree(node).end, number));
            }
        }
        Ok(index)
    }

    fn add(&mut self, named: &NamedContainer, node: NodeOrdinal) -> usize {
        let container = folded(&named.container);
        let body = container.body;
        let place = self.containers.len();
        let (level, number) = (named.innermost.0, normalize_number(&named.innermost.1));
        if let Some((_, title)) = container.levels.iter().find(|(outer, _)| outer.is_title() && !level.is_title()) {
            self.by_title.entry((body, format!("{title}-{number}").into())).or_default().push(place);
        }
        self.by_innermost.entry((body, level, number.clone())).or_default().push(place);
        self.containers.push(IndexedContainer { container, innermost: (level, number), node });
        place
    }

    /// The containers that a name means: those with exactly these levels; if there are none, those with
    /// further outer levels.
    pub(super) fn find(&self, named: &NamedContainer) -> Vec<NodeOrdinal> {
        let wanted = folded(&named.container);
        let of_name = self.by_innermost.get(&(wanted.body, named.innermost.0, normalize_number(&named.innermost.1)));
        let meant = of_name.into_iter().flatten().filter_map(|&place| self.containers.get(place));
        let meant: Vec<&IndexedContainer> =
            meant.filter(|indexed| wanted.is_named_within(&indexed.container)).collect();
        let exact = meant.iter().filter(|indexed| indexed.container == wanted);
        let exact: Vec<NodeOrdinal> = exact.map(|indexed| indexed.node).collect();
        if exact.is_empty() { meant.iter().map(|indexed| indexed.node).collect() } else { exact }
    }

    /// The containers whose sections begin with a number; if there are none, those whose title and own
    /// number form it.
    pub(super) fn numbered(&self, wanted: &NumberedContainer) -> Vec<NodeOrdinal> {
        let key = (wanted.body, normalize_number(&wanted.number));
        let by_number = self.of_level(self.by_number.get(&key), wanted);
        if by_number.is_empty() && wanted.title.is_none() {
            return self.of_level(self.by_title.get(&key), wanted);
        }
        by_number
    }

    /// The numbers of the containers of a level within a title, in order, each once.
    pub(super) fn numbers_within(&self, body: BodyRef, title: &str, level: ContainerLevel) -> Vec<String> {
        let title = normalize_number(title);
        let is_inside = |container: &Container| {
            container.body == body && container.levels.iter().any(|(level, own)| level.is_title() && *own == title)
        };
        let inside = self.containers.iter().filter(|indexed| is_inside(&indexed.container));
        let innermost = inside.map(|indexed| &indexed.innermost).filter(|(own, _)| *own == level);
        let mut numbers: Vec<String> = innermost.map(|(_, number)| number.to_string()).collect();
        numbers.sort_by(|a, b| compare_numbers(a, b));
        numbers.dedup();
        numbers
    }

    fn of_level(&self, places: Option<&Vec<usize>>, wanted: &NumberedContainer) -> Vec<NodeOrdinal> {
        let title = wanted.title.as_deref().map(normalize_number);
        let is_meant = |IndexedContainer { container, innermost, .. }: &&IndexedContainer| {
            let in_title =
                |title: &str| container.levels.iter().any(|(level, own)| level.is_title() && **own == *title);
            title.as_deref().is_none_or(in_title) && wanted.level.is_none_or(|level| innermost.0 == level)
        };
        let found = places.into_iter().flatten().filter_map(|&place| self.containers.get(place));
        found.filter(is_meant).map(|indexed| indexed.node).collect()
    }
}

/// The number that the sections of a container begin with, if it ends with the container's own number:
/// `59.18` for chapter 59.18 or for chapter 18 of title 59.
fn joined_number(
    snapshot: &Snapshot,
    named: &NamedContainer,
    node: NodeOrdinal,
    outer: Option<&str>,
) -> Result<Option<Box<str>>, NodesError> {
    let grammar = snapshot.grammar();
    let (body, (level, own)) = (named.container.body, &named.innermost);
    if level.is_title() && grammar.has_titles(body) || !grammar.has_joined_numbers(body) {
        return Ok(None);
    }
    let own = normalize_number(own);
    let inside = (node.0 + 1..snapshot.outline.subtree(node).end).map(NodeOrdinal);
    let mut provisions = inside.filter(|&inner| snapshot.outline.is_provision(inner)).peekable();
    if provisions.peek().is_none() {
        // A table of contents may name a chapter whose law is not in the snapshot.
        let is_whole = outer.map_or(level.is_title() || own.contains(SEPARATORS), |outer| follows(&own, outer));
        return Ok(is_whole.then_some(own));
    }
    for provision in provisions.take(PROVISIONS_CHECKED_MAX) {
        let citation = grammar.parse(snapshot.cards.get(provision)?.citation);
        let number = citation.as_ref().ok().filter(|citation| citation.body == body).and_then(|found| found.number());
        if let Some(number) = number {
            return Ok(prefix_of(&normalize_number(number), &own, outer));
        }
    }
    Ok(None)
}

/// The shortest prefix of a section's number that goes beyond the outer container's number and ends
/// with the container's own number.
fn prefix_of(number: &str, own: &str, outer: Option<&str>) -> Option<Box<str>> {
    let ends = number.match_indices(SEPARATORS).map(|(at, _)| &number[..at]);
    let mut beyond = ends.filter(|prefix| outer.is_none_or(|outer| follows(prefix, outer)));
    beyond.find(|prefix| *prefix == own || follows_in_reverse(prefix, own)).map(Into::into)
}

fn follows_in_reverse(number: &str, own: &str) -> bool {
    number.strip_suffix(own).is_some_and(|rest| rest.ends_with(SEPARATORS))
}

/// Whether a provision's citation may be that of an attachment to a part, such as `12 C.F.R. pt. 1002, App. A`.
fn may_be_attached(citation: &str) -> bool {
    citation.contains(", ") && !citation.contains('§')
}

fn folded(container: &Container) -> Container {
    let levels = container.levels.iter().map(|(level, number)| (*level, normalize_number(number)));
    Container { body: container.body, levels: levels.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_number_ends_in_the_containers_own() {
        for (number, own, outer, expected) in [
            ("43-32-1", "32", Some("43"), Some("43-32")),
            ("43-32-1", "43", None, Some("43")),
            ("59.18.10", "59.18", Some("59"), Some("59.18")),
            ("2.2.2.1", "2", Some("2"), Some("2.2")),
            ("2.2.2.1", "2", Some("2.2"), Some("2.2.2")),
            ("13.1-345", "13.1", None, Some("13.1")),
            ("13.1-345", "9", Some("13.1"), None),
            ("22.1", "22", None, Some("22")),
            ("22.1", "1", None, None),
        ] {
            assert_eq!(prefix_of(number, own, outer).as_deref(), expected, "{number} {own}");
        }
    }
}
