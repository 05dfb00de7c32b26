//! Names that depend on the containers around a node, which may be in other documents:
//! `COMAR 26.08.02.01` consists of the numbers of a title, a subtitle, a chapter and a regulation.
//!
//! An importer gives such a node the part that its own document contains. The gatherer completes it
//! when the whole tree is known.

use serde::{Deserialize, Serialize};

use crate::import::slug::slug;
use crate::order::SortKey;

/// The part that a node adds to the names of its containers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameParts {
    /// For a container: appended to the parent key after a slash. Empty for a provision, whose key
    /// contains `{number}`.
    pub key: String,
    /// For a container: appended to the parent citation after a comma. The citation of a provision
    /// contains `{number}`.
    pub citation: String,
    /// Appended to the parent number, if any, after a dot. Empty for a node without a number.
    pub number: String,
}

impl NameParts {
    /// Joins these names to the names of the containers above, outermost first.
    pub(crate) fn completed<'p>(&'p self, above: impl Iterator<Item = &'p Self>) -> Self {
        let mut whole = Self::default();
        for part in above.chain([self]) {
            push(&mut whole.key, '/', "/", &part.key);
            push(&mut whole.citation, ',', ", ", &part.citation);
            push(&mut whole.number, '.', ".", &part.number);
        }
        if self.key.is_empty() {
            whole.key.clear();
            whole.citation.clear();
        }
        whole
    }

    /// The key of a node with these names, made from the key that its importer gave.
    pub(crate) fn key(&self, given: &str) -> String {
        if self.key.is_empty() { given.replace(NUMBER, &slug(&self.number)) } else { format!("{given}/{}", self.key) }
    }

    /// The sort key of a node with this number among its siblings.
    pub(crate) fn sort(&self) -> SortKey {
        SortKey::of_citation(&self.number)
    }

    /// The citation of a node with these names, made from the citation that its importer gave.
    pub fn citation(&self, given: &str) -> String {
        if self.key.is_empty() { given.replace(NUMBER, &self.number) } else { format!("{given}, {}", self.citation) }
    }

    /// The citation of a further number of a provision, such as `.04` beside `.03`.
    pub(crate) fn further_citation(&self, given: &str, own: &str, further: &str) -> Option<String> {
        let above = self.provision_number()?.strip_suffix(own.trim_start_matches('.')).unwrap_or_default();
        let mut number = above.trim_end_matches('.').to_owned();
        push(&mut number, '.', ".", further);
        Some(given.replace(NUMBER, &number))
    }

    /// The full number of a provision.
    pub fn provision_number(&self) -> Option<&str> {
        self.key.is_empty().then_some(self.number.as_str())
    }
}

const NUMBER: &str = "{number}";

fn push(whole: &mut String, separator: char, joint: &str, part: &str) {
    let part = part.trim_start_matches(separator);
    if !whole.is_empty() && !part.is_empty() {
        whole.push_str(joint);
    }
    whole.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(key: &str, citation: &str, number: &str) -> NameParts {
        NameParts { key: key.into(), citation: citation.into(), number: number.into() }
    }

    #[test]
    fn numbers_are_joined_and_containers_named_from_the_outermost() {
        let above = [parts("t26", "Title 26", "26"), parts("st08", "Subtitle 08", "08")];
        let chapter = parts("ch02", "Chapter 02", "02").completed(above.iter());
        assert_eq!(chapter, parts("t26/st08/ch02", "Title 26, Subtitle 08, Chapter 02", "26.08.02"));
        assert_eq!(chapter.key("md/comar"), "md/comar/t26/st08/ch02");
        let regulation = parts("", "", ".01-1").completed(above.iter());
        assert_eq!(regulation.key("md/comar/s{number}"), "md/comar/s26.08.01-1");
        assert_eq!(regulation.citation("COMAR {number}"), "COMAR 26.08.01-1");
        assert_eq!((regulation.provision_number(), chapter.provision_number()), (Some("26.08.01-1"), None));
        assert_eq!(chapter.citation("COMAR"), "COMAR, Title 26, Subtitle 08, Chapter 02");
    }

    #[test]
    fn further_numbers_of_a_provision_are_completed_like_its_own() {
        let names = parts("", "", "26.08.02.03");
        let further = names.further_citation("COMAR {number}", ".03", ".04");
        assert_eq!(further.as_deref(), Some("COMAR 26.08.02.04"));
    }

    #[test]
    fn a_container_without_a_number_leaves_the_number_as_it_is() {
        let above = [parts("t19a", "Title 19A", "19A"), parts("appendix", "Appendix", "")];
        assert_eq!(parts("", "", "1").completed(above.iter()).number, "19A.1");
    }
}
