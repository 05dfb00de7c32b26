//! Measures how much of a snapshot is a copy of another part of it, and how its vocabulary grows.

use std::collections::HashSet;

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::{Snapshot, embedding_space};
use hornbook_corpus::vectors::VectorRows;

use crate::alter::hash;

/// The vocabulary is counted at this many equal steps.
const STEPS: u32 = 16;

pub(crate) struct Figures {
    pub(crate) provisions: u64,
    pub(crate) chunks: u64,
    /// Texts that are equal to the text of an earlier provision.
    pub(crate) equal_texts: u64,
    /// Vectors that are equal to the vector of an earlier chunk.
    pub(crate) equal_vectors: u64,
    /// The number of all words and of different words in one sixteenth of the provisions, in two
    /// sixteenths, and so on.
    pub(crate) vocabulary: Vec<(u64, u64)>,
}

impl Figures {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let (mut texts, mut words) = (HashSet::new(), HashSet::new());
        let (mut provisions, mut equal_texts, mut running) = (0, 0, 0);
        let mut vocabulary = Vec::new();
        let mut lower = String::new();
        for step in 0..STEPS {
            // Every sixteenth provision, so that each step covers all codes.
            let nodes = (step..snapshot.outline.len()).step_by(STEPS as usize).map(NodeOrdinal);
            for node in nodes.filter(|&node| snapshot.outline.is_provision(node)) {
                let span = snapshot.cards.text(node).unwrap_or_default();
                let text = snapshot.texts.get(span).unwrap_or_default();
                provisions += 1;
                equal_texts += u64::from(!texts.insert(hash(text)));
                for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                    lower.clear();
                    lower.push_str(word);
                    lower.make_ascii_lowercase();
                    words.insert(hash(&lower));
                    running += 1;
                }
            }
            vocabulary.push((running, words.len() as u64));
        }
        let rows = VectorRows::open(snapshot.dir(), &embedding_space()).unwrap_or_else(|error| panic!("{error}"));
        let view = rows.view();
        let mut vectors = HashSet::new();
        let equal = |chunk: &u32| !vectors.insert(hash_codes(view.codes(*chunk)));
        let equal_vectors = (0..rows.chunk_count()).filter(equal).count() as u64;
        Self { provisions, chunks: u64::from(rows.chunk_count()), equal_texts, equal_vectors, vocabulary }
    }

    /// The exponent with which the vocabulary grows with the number of words, over the last half.
    pub(crate) fn growth(&self) -> f64 {
        let (half, whole) = (self.vocabulary[STEPS as usize / 2 - 1], self.vocabulary[STEPS as usize - 1]);
        (whole.1 as f64 / half.1 as f64).ln() / (whole.0 as f64 / half.0 as f64).ln()
    }
}

fn hash_codes(codes: &[i8]) -> u64 {
    codes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &code| (hash ^ u64::from(code as u8)).wrapping_mul(0x0100_0000_01b3))
}
