//! Static late interaction: how well a provision answers each single word of the query.
//!
//! A single vector for a whole passage blurs its words. Here every token of the query is searched
//! for, or else the most similar token of the embedding table, among the tokens of the provision's
//! best passage, its heading and the headings above it. Similarities below a minimum count as 0,
//! the others are raised to a power, and each token is weighted by its rarity. This reads only the
//! neighbour table and the token sets. It needs no transformer and no vector arithmetic.

use std::cell::RefCell;

use hornbook_corpus::chunks::ChunkTable;
use hornbook_corpus::embed::{TOKEN_COUNT, TokenId, embedder};
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal};
use hornbook_corpus::token_sets::TokenSets;

use super::tuning::Tuning;

/// The rarity of tokens is estimated from at most this many provisions, evenly spread. That is
/// precise enough for weights and fast for any corpus.
const SAMPLED_MAX: usize = 16_384;

/// Only this many tokens of a query are used: the rarest.
const TOKENS_MAX: usize = 32;

/// The token sets of a passage are prefetched this many passages ahead.
const FETCHED_AHEAD: usize = 6;

/// The rarity (inverse document frequency) of each token of the embedder.
pub(super) struct TokenRarity(Vec<f32>);

impl TokenRarity {
    pub(super) fn of(sets: &TokenSets, chunks: &ChunkTable) -> Self {
        let count = sets.node_count();
        let step = count.div_ceil(SAMPLED_MAX).max(1);
        let mut found = vec![0_u32; TOKEN_COUNT];
        // The last provision that contained each token.
        let mut seen_at = vec![u32::MAX; TOKEN_COUNT];
        let mut sampled = 0_u32;
        for node in (0..count as u32).step_by(step) {
            let context = sets.of_context(NodeOrdinal(node));
            let texts = chunks.chunks_of(NodeOrdinal(node)).iter().map(|chunk| sets.of_chunk(ChunkOrdinal(chunk)));
            let mut is_empty = true;
            for token in std::iter::once(context).chain(texts).flatten() {
                is_empty = false;
                if let Some(seen_at) = seen_at.get_mut(token.index()).filter(|seen_at| **seen_at != node) {
                    *seen_at = node;
                    found[token.index()] += 1;
                }
            }
            // Containers have no tokens.
            sampled += u32::from(!is_empty);
        }
        let rarity = |found: u32| ((sampled as f32 + 1.0) / (found as f32 + 1.0)).ln().max(0.0);
        Self(found.into_iter().map(rarity).collect())
    }

    fn get(&self, token: TokenId) -> f32 {
        self.0.get(token.index()).copied().unwrap_or(0.0)
    }
}

/// Converts a cosine to a similarity score: 0 below the floor, otherwise a power of the cosine.
pub(super) struct SimilarityCurve([f32; Self::STEPS + 1]);

impl SimilarityCurve {
    /// The neighbour table stores cosines in this many steps.
    const STEPS: usize = 255;

    pub(super) fn of(tuning: &Tuning) -> Self {
        Self(std::array::from_fn(|step| match step as f32 / Self::STEPS as f32 {
            cosine if cosine < tuning.likeness_floor => 0.0,
            cosine => cosine.powf(tuning.likeness_power),
        }))
    }

    fn get(&self, cosine: f32) -> f32 {
        self.0[((cosine * Self::STEPS as f32).round() as usize).min(Self::STEPS)]
    }
}

/// The tokens of a query, prepared for scoring.
pub(super) struct Interaction {
    weights: Vec<f32>,
    weight_total: f32,
    /// The matches between tokens and query tokens: the index of the query token, and the
    /// similarity. The entries for one token are consecutive; [`TokenOffsets`] has their place.
    token_matches: Vec<(u8, f32)>,
}

/// Where the entries of each token start in [`Interaction::token_matches`].
struct TokenOffsets {
    /// Bitmap of the tokens that are similar to a query token. Nearly all tokens are not, and the
    /// bitmap is small enough for the fastest CPU cache.
    helps: Vec<u64>,
    /// For tokens in the bitmap: the index of the first entry, and the number of entries.
    places: Vec<(u16, u8)>,
}

impl TokenOffsets {
    fn new() -> Self {
        Self { helps: vec![0; TOKEN_COUNT.div_ceil(64)], places: vec![(0, 0); TOKEN_COUNT] }
    }

    #[inline]
    fn get(&self, token: TokenId) -> Option<(u16, u8)> {
        let word = self.helps.get(token.index() / 64)?;
        (word >> (token.index() % 64) & 1 == 1).then(|| self.places[token.index()])
    }

    fn set(&mut self, token: TokenId, start: u16) {
        self.helps[token.index() / 64] |= 1 << (token.index() % 64);
        self.places[token.index()] = (start, 0);
    }

    fn clear(&mut self, token: TokenId) {
        self.helps[token.index() / 64] &= !(1 << (token.index() % 64));
    }
}

/// The tokens of the provision's heading and the headings above it, and those of the passage.
fn sets_of(sets: &TokenSets, (node, chunk): (NodeOrdinal, Option<ChunkOrdinal>)) -> [&[TokenId]; 2] {
    [sets.of_context(node), chunk.map(|chunk| sets.of_chunk(chunk)).unwrap_or_default()]
}

thread_local! {
    static LOOKUP: RefCell<TokenOffsets> = RefCell::new(TokenOffsets::new());
}

impl Interaction {
    /// Scores passages from 0 to 1, in the given order. Each is given by its provision, whose
    /// headings are its context, and its chunk. `words` are the query words without stop words.
    pub(super) fn scores(
        words: &str,
        rarity: &TokenRarity,
        likeness: &SimilarityCurve,
        sets: &TokenSets,
        passages: &[(NodeOrdinal, Option<ChunkOrdinal>)],
    ) -> Vec<f32> {
        let mut tokens = Vec::new();
        embedder().tokenize(words, &mut tokens);
        tokens.retain(|&token| token != TokenId::UNKNOWN);
        tokens.sort_unstable();
        tokens.dedup();
        tokens.sort_by(|&a, &b| rarity.get(b).total_cmp(&rarity.get(a)));
        tokens.truncate(TOKENS_MAX);
        LOOKUP.with_borrow_mut(|lookup| {
            let (interaction, touched) = Self::prepare(&tokens, rarity, likeness, lookup);
            // All sets are located before any is read, so that many memory accesses run at the same
            // time.
            let found: Vec<[&[TokenId]; 2]> = passages.iter().map(|passage| sets_of(sets, *passage)).collect();
            let score = |(place, read): (usize, &[&[TokenId]; 2])| {
                found.get(place + FETCHED_AHEAD).into_iter().flatten().for_each(|set| TokenSets::prefetch_set(set));
                interaction.score(lookup, *read)
            };
            let scores = found.iter().enumerate().map(score).collect();
            touched.iter().for_each(|&token| lookup.clear(token));
            scores
        })
    }

    /// Builds the entries of all tokens. Also returns the tokens whose lookup entries must be
    /// cleared after use.
    fn prepare(
        tokens: &[TokenId],
        rarity: &TokenRarity,
        likeness: &SimilarityCurve,
        lookup: &mut TokenOffsets,
    ) -> (Self, Vec<TokenId>) {
        let mut all: Vec<(TokenId, u8, f32)> = Vec::with_capacity(tokens.len() * 33);
        for (place, &token) in (0_u8..).zip(tokens) {
            all.push((token, place, 1.0));
            all.extend(embedder().neighbours(token).map(|(near, cosine)| (near, place, likeness.get(cosine))));
        }
        all.retain(|&(token, _, likeness)| token.index() < TOKEN_COUNT && likeness > 0.0);
        all.sort_unstable_by_key(|&(token, place, _)| (token, place));
        let mut touched = Vec::with_capacity(all.len());
        let mut helps = Vec::with_capacity(all.len());
        for (token, place, likeness) in all {
            if touched.last() != Some(&token) {
                touched.push(token);
                lookup.set(token, helps.len() as u16);
            }
            helps.push((place, likeness));
            lookup.places[token.index()].1 += 1;
        }
        let weights: Vec<f32> = tokens.iter().map(|&token| rarity.get(token)).collect();
        (Self { weight_total: weights.iter().sum(), weights, token_matches: helps }, touched)
    }

    fn score(&self, lookup: &TokenOffsets, sets: [&[TokenId]; 2]) -> f32 {
        let mut best = [0.0_f32; TOKENS_MAX];
        for token in sets.into_iter().flatten() {
            let Some((start, count)) = lookup.get(*token) else { continue };
            for &(place, likeness) in &self.token_matches[usize::from(start)..usize::from(start) + usize::from(count)] {
                let best = &mut best[usize::from(place)];
                *best = best.max(likeness);
            }
        }
        let sum: f32 = self.weights.iter().zip(&best).map(|(weight, best)| weight * best).sum();
        if self.weight_total > 0.0 { sum / self.weight_total } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hornbook_corpus::chunks::ChunkTableWriter;
    use hornbook_corpus::texts::Span;
    use hornbook_corpus::token_sets::{TokenSetWriter, sort_unique};

    fn tokens(text: &str) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        embedder().tokenize(text, &mut tokens);
        tokens
    }

    /// Compares every token of the query with every token of the set.
    fn naive(words: &str, rarity: &TokenRarity, set: &[TokenId]) -> f32 {
        let mut query = tokens(words);
        sort_unique(&mut query);
        let likeness = |a: TokenId, b: TokenId| match a == b {
            true => 1.0,
            false => embedder().neighbours(a).find(|&(near, _)| near == b).map_or(0.0, |(_, cosine)| cosine * cosine),
        };
        let best = |token: TokenId| set.iter().map(|&other| likeness(token, other)).fold(0.0_f32, f32::max);
        let total: f32 = query.iter().map(|&token| rarity.get(token)).sum();
        query.iter().map(|&token| rarity.get(token) * best(token)).sum::<f32>() / total
    }

    #[test]
    fn scores_equal_comparing_every_pair_of_tokens() {
        let texts = [
            ("Leases", "The landlord shall return the security deposit within forty-five days."),
            ("Tall fences", "A fence in a residential district shall not exceed six feet in height."),
            ("Deposits", "The lessor refunds it to the tenant."),
            ("", ""),
        ];
        let dir = tempfile::tempdir().unwrap();
        let mut writer = TokenSetWriter::create(dir.path()).unwrap();
        let set = |text: &str| {
            let mut set = tokens(text);
            sort_unique(&mut set);
            set
        };
        let mut table = ChunkTableWriter::create(dir.path()).unwrap();
        for (node, (heading, text)) in (0..).map(NodeOrdinal).zip(texts) {
            writer.push_context(&set(heading));
            writer.push_chunk(&set(text)).unwrap();
            table.push_node(node, &[Span { offset: 0, length: text.len() as u32 }]).unwrap();
        }
        writer.finish().unwrap();
        table.finish().unwrap();
        let sets = TokenSets::open(dir.path()).unwrap();
        let chunks = ChunkTable::open(dir.path()).unwrap();
        let rarity = TokenRarity::of(&sets, &chunks);
        let likeness = SimilarityCurve::of(&Tuning { likeness_power: 2.0, ..Tuning::default() });
        let passages: Vec<_> = (0..5).map(|n| (NodeOrdinal(n), Some(ChunkOrdinal(n)).filter(|_| n != 1))).collect();
        let scored = |words: &str| Interaction::scores(words, &rarity, &likeness, &sets, &passages);
        for words in ["landlord deposit back", "tall fence", "zzzzqqqq deposit", "deposit deposit lessor renter"] {
            for (&(node, chunk), score) in passages.iter().zip(scored(words)) {
                let text = chunk.map(|chunk| sets.of_chunk(chunk)).unwrap_or_default();
                let expected = naive(words, &rarity, &[sets.of_context(node), text].concat());
                assert!((score - expected).abs() < 1e-5, "{words}, {node}: {score}, expected {expected}");
            }
        }
        let scores = scored("landlord deposit");
        assert!(scores[0] > scores[1] && scores[2] > scores[1], "{scores:?}");
    }
}
