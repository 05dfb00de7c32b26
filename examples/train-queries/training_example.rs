//! Training examples: the provisions that a query should find, and the gradient of its vector towards them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hornbook::evaluate::ReadyQuery;
use hornbook_base::random::SplitMix64;
use hornbook_corpus::embed::{DIMS, TokenId, embedder};
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal, OrdinalRange};
use hornbook_corpus::snapshot::Snapshot;

use super::table::{Row, Table, add, dot};

/// The temperature of the softmax over passages: the lower, the more the best passage dominates.
const TEMPERATURE: f32 = 0.03;
/// The number of nearest passages that a query is compared with.
const PASSAGES: usize = 400;
const PASSAGES_OF_HEADINGS: usize = 200;
/// The weight of all headings and extracts of a batch together, where its queries together have 1.
const AUXILIARY_WEIGHT: f32 = 0.15;
/// The chance that a word is left out.
const WORD_DROPOUT: f64 = 0.15;
/// The weight of answers with grades 0 to 3.
const GRADE_WEIGHTS: [f32; 4] = [0.0, 0.1, 0.35, 1.0];
/// The number of words of an extract.
const EXTRACT_WORDS: std::ops::Range<usize> = 5..13;

/// A snapshot and the provisions that are used for training.
pub(super) struct Corpus {
    pub(super) snapshot: Arc<Snapshot>,
    withheld: BTreeSet<NodeOrdinal>,
    training_nodes: Vec<NodeOrdinal>,
}

impl Corpus {
    pub(super) fn open(snapshot: Arc<Snapshot>, without: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let (mut withheld, mut teaching) = (BTreeSet::new(), Vec::new());
        for node in (0..snapshot.outline.len()).map(NodeOrdinal).filter(|&node| snapshot.outline.is_provision(node)) {
            let citation = snapshot.cards.get(node)?.citation;
            match without.lines().any(|start| !start.is_empty() && citation.starts_with(start)) {
                true => _ = withheld.insert(node),
                false
                    if snapshot.outline.status(node).may_be_in_force()
                        && !snapshot.chunks.chunks_of(node).is_empty() =>
                {
                    teaching.push(node);
                }
                false => {}
            }
        }
        if teaching.is_empty() {
            return Err("a snapshot without law in force cannot be used for training".into());
        }
        Ok(Self { snapshot, withheld, training_nodes: teaching })
    }

    fn tokens_of(&self, chunk: ChunkOrdinal) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        let text = self.snapshot.chunks.chunk(chunk).and_then(|chunk| self.snapshot.texts.get(chunk.text).ok());
        embedder().tokenize(text.unwrap_or_default(), &mut tokens);
        tokens
    }

    /// A heading as a query, which should find the text of its provision.
    pub(super) fn heading(&self, random: &mut SplitMix64) -> TrainingExample {
        loop {
            let node = self.training_nodes[random.index(self.training_nodes.len())];
            let heading = self.snapshot.cards.get(node).map(|card| card.heading).unwrap_or_default();
            let mut tokens = Vec::new();
            embedder().tokenize(heading, &mut tokens);
            if tokens.len() >= 3 {
                return TrainingExample::by_text(tokens, node);
            }
        }
    }

    /// Consecutive words of a provision as a query, which should find that provision.
    pub(super) fn extract(&self, random: &mut SplitMix64) -> TrainingExample {
        loop {
            let node = self.training_nodes[random.index(self.training_nodes.len())];
            let chunks: Vec<u32> = self.snapshot.chunks.chunks_of(node).iter().collect();
            let tokens = self.tokens_of(ChunkOrdinal(chunks[random.index(chunks.len())]));
            let length = EXTRACT_WORDS.start + random.index(EXTRACT_WORDS.len());
            if tokens.len() > 2 * length {
                let start = random.index(tokens.len() - length);
                return TrainingExample::by_text(tokens[start..start + length].to_vec(), node);
            }
        }
    }
}

#[derive(Clone)]
pub(super) struct TrainingExample {
    tokens: Vec<TokenId>,
    range: Option<OrdinalRange>,
    /// The target share of each provision; the sum is 1.
    answers: BTreeMap<NodeOrdinal, f32>,
    /// If true, passages are compared without their headings.
    is_by_text: bool,
}

/// The gradient of the loss with respect to the sum of the rows of these tokens.
pub(super) struct Gradient {
    pub(super) tokens: Vec<TokenId>,
    pub(super) of_sum: Row,
    pub(super) loss: f32,
}

impl TrainingExample {
    pub(super) fn of_query(corpus: &Corpus, query: &ReadyQuery) -> Self {
        let mut tokens = Vec::new();
        embedder().tokenize(&query.query, &mut tokens);
        let teaching = query.grades.iter().filter(|(node, _)| !corpus.withheld.contains(node));
        let worth = |grade: u8| GRADE_WEIGHTS[usize::from(grade).min(GRADE_WEIGHTS.len() - 1)];
        let mut answers: BTreeMap<NodeOrdinal, f32> = teaching.map(|&(node, grade)| (node, worth(grade))).collect();
        let total: f32 = answers.values().sum();
        answers.values_mut().for_each(|share| *share /= total);
        Self { tokens, range: query.range, answers, is_by_text: false }
    }

    fn by_text(tokens: Vec<TokenId>, node: NodeOrdinal) -> Self {
        Self { tokens, range: None, answers: BTreeMap::from([(node, 1.0)]), is_by_text: true }
    }

    pub(super) fn is_answerable(&self) -> bool {
        !self.tokens.is_empty() && !self.answers.is_empty()
    }

    /// A copy with some words left out at random, so that no query depends on one word.
    pub(super) fn with_word_dropout(&self, random: &mut SplitMix64) -> Self {
        let mut less = self.clone();
        less.tokens.retain(|_| random.draw() as f64 / u64::MAX as f64 >= WORD_DROPOUT);
        if less.tokens.is_empty() { self.clone() } else { less }
    }

    pub(super) fn gradient(&self, corpus: &Corpus, table: &Table) -> Gradient {
        let mut sum = [0.0; DIMS];
        for &token in &self.tokens {
            add(&mut sum, 1.0, &table.row(token));
        }
        let length = dot(&sum, &sum).sqrt().max(1e-9);
        let query = sum.map(|component| component / length);
        let passages = self.passages(corpus, &query);
        let scores: Vec<f32> = passages.iter().map(|(_, row)| dot(&query, row) / TEMPERATURE).collect();
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        let total: f32 = scores.iter().map(|score| (score - highest).exp()).sum();
        let mut of_query = [0.0; DIMS];
        let mut loss = 0.0;
        let counts = if self.is_by_text {
            AUXILIARY_WEIGHT / (super::HEADINGS + super::EXTRACTS) as f32
        } else {
            1.0 / super::BATCH as f32
        };
        for ((node, row), score) in passages.iter().zip(scores) {
            let share = (score - highest).exp() / total;
            let wanted = self.answers.get(node).copied().unwrap_or(0.0);
            loss -= wanted * (share + 1e-9).ln();
            add(&mut of_query, (share - wanted) * counts / TEMPERATURE, row);
        }
        // The length of the sum has no effect, so the gradient has no part along the query.
        let along = dot(&of_query, &query);
        let of_sum = std::array::from_fn(|place| (of_query[place] - along * query[place]) / length);
        Gradient { tokens: self.tokens.clone(), of_sum, loss }
    }

    /// The best passage of each of the nearest provisions, and of each provision that answers.
    fn passages(&self, corpus: &Corpus, query: &Row) -> Vec<(NodeOrdinal, Row)> {
        let Corpus { snapshot, withheld, .. } = corpus;
        let nodes = self.range.unwrap_or(OrdinalRange { start: 0, end: snapshot.outline.len() });
        let count = if self.is_by_text { PASSAGES_OF_HEADINGS } else { PASSAGES };
        let nearest = snapshot.vectors.nearest_exact(query, snapshot.chunks.chunk_range(nodes), count);
        let mut best = BTreeMap::new();
        for chunk in nearest.into_iter().map(|neighbour| neighbour.chunk) {
            if let Some(node) = snapshot.chunks.node_of(chunk).filter(|node| !withheld.contains(node)) {
                best.entry(node).or_insert(chunk);
            }
        }
        for &node in self.answers.keys() {
            let chunks = snapshot.chunks.chunks_of(node);
            let found = match self.is_by_text {
                true => chunks
                    .iter()
                    .map(ChunkOrdinal)
                    .max_by(|&a, &b| dot(query, &self.row(corpus, a)).total_cmp(&dot(query, &self.row(corpus, b)))),
                false => snapshot.vectors.best_of_each(query, &[chunks])[0].map(|neighbour| neighbour.chunk),
            };
            found.into_iter().for_each(|chunk| _ = best.insert(node, chunk));
        }
        best.into_iter().map(|(node, chunk)| (node, self.row(corpus, chunk))).collect()
    }

    fn row(&self, corpus: &Corpus, chunk: ChunkOrdinal) -> Row {
        if self.is_by_text {
            return embedder().embed_tokens(&corpus.tokens_of(chunk)).0;
        }
        let codes = corpus.snapshot.vectors.rows().view().codes(chunk.0);
        let row: Row = std::array::from_fn(|place| f32::from(codes[place]));
        let length = dot(&row, &row).sqrt().max(1e-9);
        row.map(|component| component / length)
    }
}
