//! The work for each node that does not need its neighbours: chunks, vectors, token sets and
//! hashes. It runs on all cores.

use hornbook_corpus::catalogue::Source;
use hornbook_corpus::chunks::Chunker;
use hornbook_corpus::day::Day;
use hornbook_corpus::embed::{TokenId, Vector, embedder};
use hornbook_corpus::ids::NodeId;
use hornbook_corpus::outline::Status;
use hornbook_corpus::token_sets::sort_unique;
use hornbook_corpus::validity::{self, StateOnDay, Validity};
use hornbook_corpus::vectors::StoredRow;
use sha2::{Digest, Sha256};

use crate::content::Content;
use crate::earlier_chunks::EarlierChunks;
use crate::gather::{GatheredContent, GatheredNode};
use crate::spool::{Spool, SpoolError};
use crate::wordings::{self, in_chronological_order, take_from_repeat};

/// Loads the content of a node with the nodes joined to it. The first wording is the one that was
/// law on the last day that its source covers; the others follow in chronological order.
pub(crate) fn load_with_wordings(
    spool: &Spool,
    node: &GatheredNode,
    sources: &[Source],
) -> Result<Content, SpoolError> {
    let mut content = node.content.read(spool)?;
    if let Some(names) = &node.names {
        content.complete_names(names);
    }
    let read =
        |others: &[GatheredContent]| others.iter().map(|other| other.read(spool)).collect::<Result<Vec<Content>, _>>();
    let (citation, number, level) = (content.citation.clone(), content.number.clone(), content.level.clone());
    let mut wordings = in_chronological_order(content, read(&node.wordings)?);
    for mut repeat in read(&node.repeats)? {
        wordings::set_time(&mut repeat);
        let of = wordings.iter().position(|wording| wording.text == repeat.text && wording.effect == repeat.effect);
        take_from_repeat(&mut wordings[of.unwrap_or(0)], repeat);
    }
    let last_known = last_known_day(&wordings[0], sources);
    let claims: Vec<Validity> = wordings.iter().map(|wording| wordings::validity(wording, last_known)).collect();
    let StateOnDay { wording, .. } = validity::state_on(&claims, last_known);
    let mut head = wordings.remove(wording);
    for other in &wordings {
        add_names(&mut head, other);
    }
    // Lists read the day of a source without the record of the node, so a record has a day only if it is another one.
    let of_source = sources.get(usize::from(head.source)).and_then(|source| source.current_through.as_ref());
    let current_through = head.current_through.take().filter(|own| Some(own) != of_source);
    Ok(Content { citation, number, level, current_through, wordings, ..head })
}

/// Adds the names of another wording, so that the node is found under all of them.
fn add_names(head: &mut Content, other: &Content) {
    fn add<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
        for name in from {
            if !to.contains(name) {
                to.push(name.clone());
            }
        }
    }
    add(&mut head.former_citations, &other.former_citations);
    add(&mut head.parallel_citations, &other.parallel_citations);
    add(&mut head.act_sections, &other.act_sections);
    add(&mut head.act_names, &other.act_names);
    add(&mut head.tags, &other.tags);
}

/// The day through which the source of a wording is current or, if unknown, on which it was retrieved.
fn last_known_day(wording: &Content, sources: &[Source]) -> Day {
    let source = sources.get(usize::from(wording.source));
    let through = wording.current_through.as_ref().or(source.and_then(|source| source.current_through.as_ref()));
    let date = through.or(source.map(|source| &source.retrieved));
    date.and_then(|date| date.parse().ok()).unwrap_or(Day::LAST)
}

/// A node with all data that can be computed without its neighbours.
pub(crate) struct PreparedNode<'a> {
    pub gathered: &'a GatheredNode,
    pub content: Content,
    /// The headings to index: those of all wordings, if they differ.
    pub indexed_heading: String,
    /// Its status on the last day that its source covers.
    pub status: Status,
    /// The stated validity of each wording: first that of `content`, then those of its further wordings.
    pub validities: Vec<Validity>,
    pub above: Vec<String>,
    pub chunks: Vec<PreparedChunk<'a>>,
    pub heading_vector: Vector,
    pub context_set: Vec<TokenId>,
    pub text_sha256: [u8; 32],
    pub wording_sha256: Vec<[u8; 32]>,
    pub tags: Vec<u16>,
}

pub(crate) struct PreparedChunk<'a> {
    /// Index of the text: 0 is the text of the node, then its further wordings.
    pub part: usize,
    pub offset: usize,
    pub length: u32,
    pub meaning: ChunkData<'a>,
}

/// The search data of a chunk.
pub(crate) enum ChunkData<'a> {
    Made(Box<NewChunkData>),
    /// Copied from the earlier snapshot.
    Earlier {
        row: StoredRow<'a>,
        token_set: &'a [TokenId],
    },
}

pub(crate) struct NewChunkData {
    pub vector: Vector,
    pub token_set: Vec<TokenId>,
}

/// The shared input for preparing all nodes of a build.
#[derive(Clone, Copy)]
pub(crate) struct Preparation<'a> {
    /// All tags of all nodes, ascending.
    pub tags: &'a [String],
    pub sources: &'a [Source],
    pub earlier: Option<&'a EarlierChunks>,
}

pub(crate) fn prepare<'a>(
    gathered: &'a GatheredNode,
    content: Content,
    above: Vec<String>,
    preparation: Preparation<'a>,
    index_headings: bool,
) -> PreparedNode<'a> {
    let tags = preparation.tags;
    // Containers have no text: their headings are searched as context of the nodes below them.
    let heading = if index_headings { content.heading.as_str() } else { "" };
    let mut context_set = context_tokens(heading, &above);
    let earlier = preparation.earlier.and_then(|earlier| {
        let chunks = earlier.of(NodeId::from_source_key(&gathered.key), &content, &above)?;
        let taken_over = chunks.into_iter().map(|chunk| PreparedChunk {
            part: 0,
            offset: chunk.offset,
            length: chunk.length,
            meaning: ChunkData::Earlier { row: chunk.row, token_set: chunk.token_set },
        });
        Some(taken_over.collect())
    });
    let chunks = earlier.unwrap_or_else(|| make_chunks(&content, &context_set, !heading.trim().is_empty()));
    if content.text.is_none() {
        context_set.clear();
    }
    sort_unique(&mut context_set);
    let sha256 = |text: &str| -> [u8; 32] { Sha256::digest(text.as_bytes()).into() };
    let known_tags = content.tags.iter().filter_map(|tag| tags.binary_search(tag).ok()).map(|place| place as u16);
    let mut known_tags: Vec<u16> = known_tags.collect();
    known_tags.sort_unstable();
    known_tags.dedup();
    let last_known = last_known_day(&content, preparation.sources);
    let all_wordings = std::iter::once(&content).chain(&content.wordings);
    let validities: Vec<Validity> = all_wordings.map(|wording| wordings::validity(wording, last_known)).collect();
    PreparedNode {
        status: validity::state_on(&validities, last_known).status,
        validities,
        text_sha256: sha256(content.text.as_deref().unwrap_or_default()),
        wording_sha256: content
            .wordings
            .iter()
            .map(|wording| sha256(wording.text.as_deref().unwrap_or_default()))
            .collect(),
        tags: known_tags,
        gathered,
        above,
        heading_vector: embedder().embed(heading),
        indexed_heading: if index_headings { all_headings(&content) } else { String::new() },
        chunks,
        context_set,
        content,
    }
}

/// The distinct headings of all wordings, one per line.
fn all_headings(content: &Content) -> String {
    let mut headings = vec![content.heading.as_str()];
    for wording in &content.wordings {
        if !headings.contains(&wording.heading.as_str()) {
            headings.push(&wording.heading);
        }
    }
    headings.join("\n")
}

/// Splits the texts of a node into chunks and embeds them.
fn make_chunks(content: &Content, context: &[TokenId], has_heading: bool) -> Vec<PreparedChunk<'static>> {
    let wordings = std::iter::once(content).chain(&content.wordings);
    let parts = wordings.map(|wording| wording.text.as_deref().unwrap_or_default());
    let context = embedder().embed_tokens(context);
    let made = |tokens: &[TokenId]| {
        let mut token_set = tokens.to_vec();
        sort_unique(&mut token_set);
        ChunkData::Made(Box::new(NewChunkData { vector: embedder().passage_vector(tokens, &context), token_set }))
    };
    let mut chunks = Vec::new();
    let mut chunker = Chunker::new();
    for (part, text) in parts.enumerate() {
        for chunk in chunker.chunk(text).iter() {
            let (offset, length) = (chunk.range.start, chunk.range.len() as u32);
            chunks.push(PreparedChunk { part, offset, length, meaning: made(chunk.tokens) });
        }
    }
    // A provision that has only a heading must still be found by the meaning of that heading.
    if chunks.is_empty() && content.text.is_some() && has_heading {
        chunks.push(PreparedChunk { part: 0, offset: 0, length: 0, meaning: made(&[]) });
    }
    chunks
}

fn context_tokens(heading: &str, above: &[String]) -> Vec<TokenId> {
    let mut tokens = Vec::with_capacity(512);
    embedder().tokenize(heading, &mut tokens);
    for ancestor in above {
        embedder().tokenize(ancestor, &mut tokens);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::nodes::ActName;

    use super::*;
    use crate::content::{NewNode, NodeHandle, OnRepeat};
    use crate::effect::Effect;
    use crate::gather::Gatherer;
    use crate::mistakes::Mistakes;
    use crate::order::SortKey;
    use crate::report::{SourcePosition, Warnings};

    fn page(file: &str, content: Content) -> NewNode {
        NewNode {
            handle: NodeHandle::new("b", file),
            parent: None,
            key: "b/s1".into(),
            sort: SortKey::default(),
            on_repeat: OnRepeat::Reconcile,
            content: Content { citation: "Code § 1".into(), heading: "Powers.".into(), ..content },
            position: SourcePosition { file: file.into(), line: None },
        }
    }

    #[test]
    fn a_node_has_the_names_of_all_its_wordings() {
        let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let until = Effect { to: Some("2022-07-01".into()), ..Effect::default() };
        let first = Content {
            text: Some("Old.".into()),
            effect: Effect { remark: Some("Effective until July 1, 2022".into()), ..until },
            former_citations: strings(&["Code § 9"]),
            parallel_citations: strings(&["1 Code 1"]),
            act_sections: strings(&["section 3"]),
            act_names: vec![ActName { name: "Powers Act".into(), law: "Pub. L. 1-1".into() }],
            tags: strings(&["power"]),
            ..Content::default()
        };
        let second = Content {
            text: Some("New.".into()),
            effect: Effect::starting(Some("2022-07-01".into())),
            former_citations: strings(&["Code § 9", "Code § 8"]),
            parallel_citations: strings(&["2 Code 2"]),
            tags: strings(&["duty", "power"]),
            ..Content::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let mut gatherer = Gatherer::new(dir.path()).unwrap();
        for node in [page("a", first), page("b", second)] {
            gatherer.add(node, &mut Mistakes::default()).unwrap();
        }
        let tree = gatherer.finish_body(&mut Warnings::default(), &mut Mistakes::default()).unwrap();
        let [node] = tree.as_slice() else { panic!("{tree:?}") };
        let content = load_with_wordings(&gatherer.into_spool(), node, &[]).unwrap();
        // The second wording is the law after the last known day, and comes first.
        assert_eq!((content.text.as_deref(), content.wordings.len()), (Some("New."), 1));
        assert_eq!(content.former_citations, ["Code § 9", "Code § 8"]);
        assert_eq!(content.parallel_citations, ["2 Code 2", "1 Code 1"]);
        assert_eq!(content.tags, ["duty", "power"]);
        assert_eq!(content.act_sections, ["section 3"]);
        assert_eq!(content.act_names[0].name, "Powers Act");
    }
}
