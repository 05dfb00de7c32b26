//! Ends of sections and containers that another provision names by their numbers.

use std::collections::HashMap;

use hornbook_corpus::outline::{DEPTH_MAX, Status};

use super::{Gatherer, NodeStructure};
use crate::named_sunset::NamedLaw;
use crate::report::Warnings;
use crate::spool::SpoolError;

/// The nodes of a code body by the names with which its own sentences refer to them.
#[derive(Default)]
struct Names {
    /// Sections by citation. Wordings of one section share it.
    sections: HashMap<String, Vec<u32>>,
    /// Containers by level and number, in lower case.
    containers: HashMap<(String, String), Vec<u32>>,
}

impl Names {
    /// The sections from `17-1-1` to `17-1-9`, in a chapter that has both.
    fn sections_between(&self, code: &str, first: &str, last: &str) -> Option<Vec<u32>> {
        let (chapter, low) = last_part(first)?;
        let (_, high) = last_part(last).filter(|(other, _)| *other == chapter)?;
        if ![first, last].iter().all(|number| self.sections.contains_key(&format!("{code}{number}"))) {
            return None;
        }
        let chapter = format!("{code}{chapter}");
        let is_between = |other: &str| {
            let digits: String = other.strip_prefix(&chapter)?.chars().take_while(char::is_ascii_digit).collect();
            Some((low..=high).contains(&digits.parse().ok()?))
        };
        let between = self.sections.iter().filter(|(other, _)| is_between(other) == Some(true));
        Some(between.flat_map(|(_, nodes)| nodes).copied().collect())
    }
}

/// A number before and after its last sign: `17-1-9` is `17-1-` and 9.
fn last_part(number: &str) -> Option<(&str, u32)> {
    let (chapter, last) = number.split_at(number.rfind(['-', '.', ':'])? + 1);
    Some((chapter, last.parse().ok()?))
}

impl Gatherer {
    /// Ends the law that provisions end by its number: `Section 31A-2-217 is repealed July 1, 2023.` If they name only a
    /// part of a section, the section is uncertain from that day on.
    pub(super) fn end_named_law(&mut self, warnings: &mut Warnings) -> Result<(), SpoolError> {
        let sunsets = std::mem::take(&mut self.named_sunsets);
        if sunsets.is_empty() {
            return Ok(());
        }
        let names = self.names()?;
        for (node, sunset) in sunsets {
            let (own_citation, own_number) = self.citation_and_number(node)?;
            // Other sections of the code are cited with the same words before their numbers.
            let code = own_citation.strip_suffix(own_number.as_str()).filter(|_| !own_number.is_empty());
            let of = |number: &str| names.sections.get(&format!("{}{number}", code?)).cloned();
            let (ended, then) = match &sunset.named {
                NamedLaw::Section(number) => (of(number), sunset.effect.then),
                NamedLaw::Range(first, last) => {
                    (code.and_then(|code| names.sections_between(code, first, last)), sunset.effect.then)
                }
                NamedLaw::PartOf(number) => (of(number), Some(Status::Uncertain)),
                NamedLaw::Container(path) => (self.container_with_path(path, &names), sunset.effect.then),
                NamedLaw::Unread => {
                    self.warn_of_sunset(
                        node,
                        &sunset.effect,
                        "what ends is not wholly understood, so it ends no other law",
                        warnings,
                    );
                    continue;
                }
            };
            let Some(ended) = ended else {
                self.warn_of_sunset(node, &sunset.effect, "no law in force has this number, so nothing ends", warnings);
                continue;
            };
            let mut effect = sunset.effect.clone();
            effect.then = then;
            effect.remark = effect.remark.map(|sentence| format!("{own_citation}: {sentence}"));
            for node in ended {
                self.end_node(node, effect.clone());
            }
        }
        Ok(())
    }

    fn names(&self) -> Result<Names, SpoolError> {
        let mut names = Names::default();
        for node in 0..self.nodes.len() as u32 {
            let structure = &self.nodes[node as usize];
            let content = self.spool.read(structure.content)?;
            if !structure.is_provision {
                let number = content.number.unwrap_or_default().to_lowercase();
                names.containers.entry((content.level, number)).or_default().push(node);
            } else if content.status.is_none_or(|status| status.may_be_in_force()) {
                let citation = whole_citation(structure, content.citation);
                names.sections.entry(citation).or_default().push(node);
            }
        }
        Ok(names)
    }

    fn citation_and_number(&self, node: u32) -> Result<(String, String), SpoolError> {
        let structure = &self.nodes[node as usize];
        let content = self.spool.read(structure.content)?;
        Ok((whole_citation(structure, content.citation), content.number.unwrap_or_default()))
    }

    /// The container that a path such as title 19, chapter 5 leads to, if it is exactly one. A code may number the
    /// chapters of a title `19-5`.
    fn container_with_path(&self, path: &[(String, String)], names: &Names) -> Option<Vec<u32>> {
        let mut numbers: Vec<String> = Vec::new();
        let mut found: Vec<u32> = Vec::new();
        for (depth, (level, number)) in path.iter().enumerate() {
            numbers.push(number.to_lowercase());
            let all = [number.to_lowercase(), numbers.join("-")];
            let named = all.iter().flat_map(|number| names.containers.get(&(level.clone(), number.clone()))).flatten();
            let inside = named.copied().filter(|&node| depth == 0 || self.is_within(node, &found));
            let mut inside: Vec<u32> = inside.collect();
            inside.sort_unstable();
            inside.dedup();
            found = inside;
        }
        (found.len() == 1).then_some(found)
    }

    /// Whether a node is in one of these containers. The number of steps is limited, so a cycle ends.
    fn is_within(&self, node: u32, containers: &[u32]) -> bool {
        let above = std::iter::successors(Some(node), |&node| self.parent_of(node).ok().flatten());
        above.skip(1).take(usize::from(DEPTH_MAX)).any(|node| containers.contains(&node))
    }
}

fn whole_citation(structure: &NodeStructure, citation: String) -> String {
    match &structure.names {
        Some(names) => names.citation(&citation),
        None => citation,
    }
}
