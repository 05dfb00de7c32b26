//! Finds the titles, chapters and other containers that running text cites: `title 11 of the United States Code`,
//! `subpart B of part 61 of title 14, Code of Federal Regulations`, `RCW 59.18`.
//!
//! [`Grammar::find_in`] finds parts and chapters too, where they have the form of a citation of a section. In running text
//! a container needs more than where it is all of a text: a word such as `title`, or a number that looks like one of the
//! code.

use std::ops::Range;

use super::container::{LEVELS, NamedContainer, NumberedContainer, container_at, numbered_container_at};
use super::find::Citations;
use super::grammar::Grammar;
use super::resolve::{CitedItem, NodeLookup, Resolution};
use super::text::{CitationText, END};
use super::value::BodyRef;

/// A container that a text cites.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MentionedContainer {
    Named(NamedContainer),
    Numbered(NumberedContainer),
}

impl MentionedContainer {
    pub fn body(&self) -> BodyRef {
        match self {
            Self::Named(named) => named.container.body,
            Self::Numbered(numbered) => numbered.body,
        }
    }

    /// The title that it is, or that contains it.
    pub fn title(&self) -> Option<&str> {
        match self {
            Self::Named(named) => {
                let title = named.container.levels.iter().find(|(level, _)| level.is_title());
                title.map(|(_, number)| &**number)
            }
            Self::Numbered(numbered) => numbered.title.as_deref(),
        }
    }
}

impl Grammar {
    /// The containers that a text cites, in order, each with its bytes. A citation that [`Self::find_in`] finds may
    /// contain one of them, or be a part of one.
    pub fn containers_in(&self, text: &str) -> Vec<(Range<usize>, MentionedContainer)> {
        let folded = CitationText::new(text);
        let mut found = Vec::new();
        let mut pos = 0;
        while folded.folded_at(pos) != END {
            let is_beginning = folded.folded_at(pos).is_ascii_alphanumeric() && folded.begins_word(pos);
            match is_beginning.then(|| self.mention_at(folded, pos)).flatten() {
                Some((container, end)) => {
                    found.push((pos..end, container));
                    pos = end;
                }
                None => pos = Citations::step(folded, pos),
            }
        }
        found
    }

    fn mention_at(&self, text: CitationText<'_>, pos: usize) -> Option<(MentionedContainer, usize)> {
        if let Some((named, end)) = container_at(&self.forms, text, pos)
            && names_level(text.slice(pos, end))
        {
            return Some((MentionedContainer::Named(named), end));
        }
        let (numbered, end) = numbered_container_at(&self.forms, text, pos)?;
        let is_joined = numbered.number.contains(['.', '-', ':']);
        // After a number without a dot or dash, `47 CFR 22`, a code that has no titles may mean a year or a page.
        let goes_on = matches!(text.folded_at(end), b'(' | b'-' | b'.' | b':' | b'/')
            && text.folded_at(end + 1).is_ascii_alphanumeric();
        ((is_joined || numbered.title.is_some()) && !goes_on).then_some((MentionedContainer::Numbered(numbered), end))
    }

    /// Resolves a container that a text cites.
    pub fn resolve_container<H: NodeLookup>(
        &self,
        container: &MentionedContainer,
        holdings: &H,
    ) -> Result<Resolution, H::Error> {
        let (held, cited) = match container {
            MentionedContainer::Named(named) => {
                (holdings.containers(named)?, CitedItem::Container(named.container.clone()))
            }
            MentionedContainer::Numbered(numbered) => {
                (holdings.numbered_containers(numbered)?, CitedItem::Numbered(numbered.clone()))
            }
        };
        Ok(self.resolution_of(held, cited, holdings))
    }
}

/// Whether a text has the word for a level, and after each such word a number that is written as one: `in part a Code` has
/// an article.
fn names_level(text: &str) -> bool {
    let mut words = text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    let mut has_level = false;
    while let Some(word) = words.next() {
        let is_level = |names: &&[&str]| names.iter().any(|name| name.len() > 1 && name.eq_ignore_ascii_case(word));
        if !LEVELS.iter().any(is_level) {
            continue;
        }
        words.next_if(|next| next.eq_ignore_ascii_case("no"));
        if words.peek().is_some_and(|number| number.starts_with(char::is_lowercase)) {
            return false;
        }
        has_level = true;
    }
    has_level
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, String)> {
        let grammar = Grammar::built_in();
        let name = |container: &MentionedContainer| match container {
            MentionedContainer::Named(named) => grammar.format_container(&named.container),
            MentionedContainer::Numbered(numbered) => grammar.format_numbered(numbered),
        };
        let found = grammar.containers_in(text).into_iter();
        found.map(|(range, container)| (&text[range], name(&container))).collect()
    }

    #[test]
    fn containers_are_found_in_running_text() {
        for (text, written, expected) in [
            (
                "Relief under title 11 of the United States Code is stayed.",
                "title 11 of the United States Code",
                "United States Code, Title 11",
            ),
            ("See Title 42, U.S.C., and others", "Title 42, U.S.C.", "United States Code, Title 42"),
            (
                "as part 61 of title 14 of the Code of Federal Regulations requires",
                "part 61 of title 14 of the Code of Federal Regulations",
                "Code of Federal Regulations, Title 14, Part 61",
            ),
            (
                "under 14 C.F.R. pt. 61, subpt. B.",
                "14 C.F.R. pt. 61, subpt. B",
                "Code of Federal Regulations, Title 14, Part 61, Subpart B",
            ),
            ("by RCW Title 59 alone", "RCW Title 59", "Revised Code of Washington, Title 59"),
            ("by RCW 59.18, the Act", "RCW 59.18", "RCW § 59.18"),
            ("(47 CFR 22)", "47 CFR 22", "47 C.F.R. pt. 22"),
        ] {
            assert_eq!(found(text), [(written, expected.to_owned())], "{text}");
        }
    }

    #[test]
    fn containers_in_a_row_are_each_found() {
        let text = "title 11 of the United States Code, Title 42, U.S.C., and RCW Title 59, RCW Title 60";
        let written: Vec<&str> = found(text).into_iter().map(|(written, _)| written).collect();
        assert_eq!(written, ["title 11 of the United States Code", "Title 42, U.S.C.", "RCW Title 59", "RCW Title 60"]);
    }

    #[test]
    fn other_text_cites_no_container() {
        for text in [
            "title VII of the Civil Rights Act",
            "in part a United States Code provision",
            "chapter 7 of the book",
            "42 U.S.C. applies",
            "the Code of Virginia 1950",
            "Part 2 and Article 5.",
            "47 CFR 22(a)",
            "",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
