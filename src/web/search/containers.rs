//! The containers above the results of a page: the title and the chapter that each provision is in.
//!
//! A reply of the API names only the code. The containers come from the outline and the cards, which are mapped files
//! that the search itself reads; each container is read once for a page, however many results it has.

use std::collections::{BTreeMap, HashMap};

use hornbook_corpus::ids::{NodeId, NodeOrdinal};
use maud::{Markup, html};

use super::query::SearchPageQuery;
use crate::api::error::ApiError;
use crate::api::replies::SearchResultItem;
use crate::web::contents;
use crate::web::page_context::OpenPage;
use crate::web::untrusted_text::UntrustedText;

/// Maximum number of containers above a result: the outermost one and the nearest ones.
const SHOWN_MAX: usize = 3;

/// Maximum length of a heading, in characters. Longer ones end after a word.
const HEADING_CHARS: usize = 60;

/// Links to the containers above the results of a page.
pub(super) struct ContainerLinks {
    links: BTreeMap<NodeOrdinal, ContainerLink>,
    /// The containers above each result, outermost first.
    above: HashMap<NodeId, Vec<NodeOrdinal>>,
}

struct ContainerLink {
    heading: String,
    url: String,
}

impl ContainerLinks {
    pub(super) fn of(opened: &OpenPage<'_>, results: &[SearchResultItem<'_>]) -> Result<Self, ApiError> {
        let (snapshot, law, pages) = (opened.corpus.snapshot(), opened.law(), opened.links());
        let mut found = Self { links: BTreeMap::new(), above: HashMap::new() };
        for hit in results {
            let Some(node) = snapshot.ordinal(hit.node_id) else { continue };
            let mut above: Vec<NodeOrdinal> = snapshot.outline.ancestors(node).collect();
            above.reverse();
            if above.len() > SHOWN_MAX {
                above.drain(1..above.len() + 1 - SHOWN_MAX);
            }
            for container in &above {
                if !found.links.contains_key(container) {
                    let heading = shortened(&opened.corpus.engine().heading_on(&law, *container)?);
                    let link = ContainerLink { heading, url: pages.page_of(snapshot, *container)? };
                    found.links.insert(*container, link);
                }
            }
            found.above.insert(hit.node_id, above);
        }
        Ok(found)
    }

    /// The code of a result and the containers above it.
    pub(super) fn line(&self, hit: &SearchResultItem<'_>) -> Markup {
        let above = self.above.get(&hit.node_id).map(Vec::as_slice).unwrap_or_default();
        html! {
            p.path {
                a href=(contents::path(&hit.code_body_id.0.to_string())) { (UntrustedText(&hit.code_body)) }
                @for link in above.iter().filter_map(|container| self.links.get(container)) {
                    " › " a href=(link.url) { (UntrustedText(&link.heading)) }
                }
            }
        }
    }
}

/// The container or the code that a search is restricted to, with the name of the parameter that restricts it.
pub(super) fn searched_part(opened: &OpenPage<'_>, query: &SearchPageQuery) -> Option<(&'static str, String)> {
    let snapshot = opened.corpus.snapshot();
    if let Some(id) = query.subtree.as_deref() {
        let card = snapshot.cards.get(snapshot.ordinal(NodeId(id.parse().ok()?))?).ok()?;
        return Some(("subtree", format!("{} {}", card.citation, shortened(card.heading))));
    }
    let id = query.code_body.as_deref()?;
    let body = snapshot.catalogue.code_bodies.iter().find(|body| body.id.0.to_string() == id)?;
    Some(("codeBody", body.name.clone()))
}

/// The beginning of a heading.
fn shortened(heading: &str) -> String {
    let Some((end, _)) = heading.char_indices().nth(HEADING_CHARS) else { return heading.to_owned() };
    let words = heading[..end].rsplit_once(' ').map_or(&heading[..end], |(words, _)| words);
    format!("{}…", words.trim_end_matches([',', ';', '—', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_heading_ends_after_a_word() {
        assert_eq!(shortened("Landlord and Tenant"), "Landlord and Tenant");
        let long = "Actions for the recovery of the possession of premises, and of rent that is due after the end";
        assert_eq!(shortened(long), "Actions for the recovery of the possession of premises, and…");
        assert_eq!(shortened(&"ä".repeat(70)).chars().count(), HEADING_CHARS + 1);
    }
}
