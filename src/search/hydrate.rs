//! Hits with what a person reads: citation, heading, where they belong, and a passage.

use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::ids::{ChunkOrdinal, NodeId, NodeOrdinal};
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::outline::{self, Status};
use hornbook_corpus::texts::Span;

use super::{Engine, Hit, SearchError};

/// How long a passage is, in characters.
const PASSAGE_CHARS: usize = 240;

/// A run of a provision's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage<'s> {
    pub text: &'s str,
    /// Whether the chunk goes on behind it.
    pub is_cut: bool,
}

/// A hit as it is shown.
#[derive(Clone, Debug)]
pub struct HydratedHit<'s> {
    pub node: NodeOrdinal,
    pub id: NodeId,
    pub citation: String,
    pub heading: String,
    pub status: Status,
    pub code_body: Option<&'s CodeBody>,
    pub passage: Passage<'s>,
}

impl Engine {
    /// Reads what a hit is called and what it says.
    pub fn hydrate(&self, hit: &Hit) -> Result<HydratedHit<'_>, SearchError> {
        let snapshot = self.snapshot();
        let read = snapshot.nodes.with(hit.node, |record| {
            let text = Span { offset: record.text.offset.to_native(), length: record.text.length.to_native() };
            (record.citation.to_string(), record.heading.to_string(), text)
        });
        let (citation, heading, text) = read?;
        let id = snapshot.outline.id(hit.node).ok_or_else(|| {
            let path = snapshot.dir().join(outline::FILE_NAME);
            SearchError::Nodes(NodesError::Missing { path, ordinal: hit.node })
        })?;
        let chunk = hit.chunk.or_else(|| self.first_chunk(hit.node)).and_then(|chunk| snapshot.chunks.chunk(chunk));
        let span = chunk.map_or(text, |chunk| chunk.text);
        Ok(HydratedHit {
            node: hit.node,
            id,
            citation,
            heading,
            status: snapshot.outline.status(hit.node),
            code_body: snapshot.code_body_of(hit.node),
            passage: passage(snapshot.texts.get(span).unwrap_or_default()),
        })
    }

    fn first_chunk(&self, node: NodeOrdinal) -> Option<ChunkOrdinal> {
        let chunks = self.snapshot().chunks.chunks_of(node);
        (!chunks.is_empty()).then_some(ChunkOrdinal(chunks.start))
    }
}

/// The beginning of a text, cut between words.
fn passage(text: &str) -> Passage<'_> {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(PASSAGE_CHARS) else { return Passage { text, is_cut: false } };
    let end = match text[end..].starts_with(char::is_whitespace) {
        true => end,
        false => text[..end].rfind(char::is_whitespace).unwrap_or(end),
    };
    Passage { text: text[..end].trim_end(), is_cut: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_end_between_words() {
        assert_eq!(passage(" short "), Passage { text: "short", is_cut: false });
        let long = "word ".repeat(100);
        let cut = passage(&long);
        assert!(cut.is_cut && cut.text.ends_with("word") && cut.text.len() <= PASSAGE_CHARS);
        assert_eq!(passage(&"x".repeat(300)).text.len(), PASSAGE_CHARS);
    }
}
