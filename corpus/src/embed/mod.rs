//! The embedder: text to tokens, tokens to a vector, tokens to their nearest tokens.
//!
//! Two static tables with one row per token are compiled into the program: one for passages and one for queries,
//! because queries use other words than the law. A vector is the sum of the rows of its tokens, scaled to length
//! one. Nothing is loaded or built at start: the build script writes the vocabulary as a hash table. Vectors depend
//! only on this code and the files in `corpus/model`. [`Embedder::fingerprint`] covers everything that decides the
//! vectors of passages; a snapshot with another fingerprint cannot be queried. The table of queries may change, as
//! long as it was made for these passages.

mod char_class;
mod model;
pub mod neighbours;
mod token;
mod tokenizer;
mod vector;
mod vocabulary;
mod word_hash;

use std::sync::LazyLock;

pub use model::DIMS;
use model::Model;
pub use token::{TOKEN_COUNT, TokenId};
pub use vector::Vector;
use vocabulary::Vocabulary;

/// The embedding model and its tokeniser.
pub struct Embedder {
    passages: Model,
    queries: Model,
    vocabulary: Vocabulary,
}

/// The embedder of this program.
pub fn embedder() -> &'static Embedder {
    static EMBEDDER: LazyLock<Embedder> = LazyLock::new(|| Embedder {
        passages: Model::of_passages(),
        queries: Model::of_queries(),
        vocabulary: Vocabulary::compiled_in(),
    });
    &EMBEDDER
}

impl Embedder {
    pub const ID: &'static str = "law-static-256";
    pub const DIMS: usize = DIMS;

    /// BLAKE3 hash of the algorithm version, the table of passages, the vocabulary and the neighbour table. It is a
    /// constant, because hashing eleven megabytes at start would take most of the time in which a snapshot must
    /// open. A test recomputes it.
    pub fn fingerprint(&self) -> &'static str {
        FINGERPRINT
    }

    /// Appends the tokens of a text.
    pub fn tokenize(&self, text: &str, out: &mut Vec<TokenId>) {
        tokenizer::tokenize(&self.vocabulary, text, out);
    }

    /// A token as the vocabulary writes it, with `##` before the continuation of a word. Empty for a number beyond
    /// the vocabulary.
    pub fn token_text(&self, token: TokenId) -> &'static [u8] {
        self.vocabulary.text(token)
    }

    /// The vector of a text as a passage. Zero if the text has no tokens.
    pub fn embed(&self, text: &str) -> Vector {
        let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
        self.tokenize(text, &mut tokens);
        self.embed_tokens(&tokens)
    }

    pub fn embed_tokens(&self, tokens: &[TokenId]) -> Vector {
        vector::sum_of_rows(&self.passages, tokens).normalized()
    }

    /// The vector of a query, to be compared with the vectors of passages.
    pub fn embed_query(&self, text: &str) -> Vector {
        let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
        self.tokenize(text, &mut tokens);
        self.query_vector(&tokens)
    }

    pub fn query_vector(&self, tokens: &[TokenId]) -> Vector {
        vector::sum_of_rows(&self.queries, tokens).normalized()
    }

    /// The vector of a chunk: the mean direction of the chunk (see [`Embedder::embed_tokens`]) and of its context,
    /// the heading and the headings above. This finds more than either alone.
    pub fn passage_vector(&self, chunk: &[TokenId], context: &Vector) -> Vector {
        self.embed_tokens(chunk).mean_direction(context)
    }

    /// The row of a token in the table of passages, and its scale factor.
    pub fn passage_row(&self, token: TokenId) -> Option<(&'static [i8; DIMS], f32)> {
        self.passages.row(token)
    }

    /// The other tokens that are most similar to this one, and their cosines, nearest first: at most
    /// [`neighbours::NEIGHBOURS_MAX`], and none below [`neighbours::COSINE_MIN`].
    pub fn neighbours(&self, token: TokenId) -> impl Iterator<Item = (TokenId, f32)> {
        neighbours::neighbours(token)
    }

    /// The English words that are one token each, in lower case.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let texts = (0..TOKEN_COUNT as u16).map(|token| self.vocabulary.text(TokenId(token)));
        let words = texts.filter(|text| text.iter().all(u8::is_ascii_lowercase));
        words.filter_map(|text| std::str::from_utf8(text).ok())
    }

    /// Embeds a known sentence and compares the result with the expected one. A program file that is damaged or
    /// wrongly built must not answer queries.
    pub fn self_check(&self) -> Result<(), SelfCheckError> {
        let mut tokens = Vec::new();
        self.tokenize(GOLDEN_TEXT, &mut tokens);
        if tokens != GOLDEN_TOKENS.map(TokenId) {
            return Err(SelfCheckError::Tokens { found: tokens });
        }
        let vectors = [(self.embed_tokens(&tokens), &GOLDEN_PASSAGE), (self.query_vector(&tokens), &GOLDEN_QUERY)];
        for (vector, golden) in vectors {
            for (component, &expected) in (0..DIMS).step_by(17).zip(golden) {
                let found = vector.0[component];
                let close = (found - expected).abs() < 1e-6;
                if !close {
                    return Err(SelfCheckError::Vector { component, found, expected });
                }
            }
        }
        Ok(())
    }
}

/// The embedder of this program does not give the expected result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SelfCheckError {
    #[error(
        "the embedder {} compiled into this program fails its self-check: \
         '{}' has the tokens {:?}, expected {:?}; \
         the program file is damaged, install or build it again",
        Embedder::ID,
        GOLDEN_TEXT,
        numbers(.found),
        GOLDEN_TOKENS
    )]
    Tokens { found: Vec<TokenId> },
    #[error(
        "the embedder {} compiled into this program fails its self-check: \
         component {component} of '{}' is {found}, expected {expected}; \
         the program file is damaged, install or build it again",
        Embedder::ID,
        GOLDEN_TEXT
    )]
    Vector { component: usize, found: f32, expected: f32 },
}

fn numbers(tokens: &[TokenId]) -> Vec<u16> {
    tokens.iter().map(|token| token.0).collect()
}

/// Raise it when a change of the code gives the same text other tokens or another vector.
#[cfg(test)]
const ALGORITHM_VERSION: u32 = 1;

const FINGERPRINT: &str = "2ec30e7adf7c8c52306a93c67462293fc5e4f08416bd88a18c1a062f2d97751a";

const GOLDEN_TEXT: &str = "§ 12.5 A tenant’s café may not be re-let without 30 days’ notice.";
const GOLDEN_TOKENS: [u16; 21] = [
    1073, 2260, 1012, 1019, 1037, 16713, 1521, 1055, 7668, 2089, 2025, 2022, 2128, 1011, 2292, 2302, 2382, 2420, 1521,
    5060, 1012,
];
/// Every 17th component, so that each lane of a register is tested.
const GOLDEN_PASSAGE: [f32; 16] = [
    -0.32373423,
    0.10696354,
    0.072632,
    0.03411773,
    0.04985368,
    0.0910835,
    0.04516203,
    -0.055662993,
    -0.030284064,
    0.05045457,
    0.041152082,
    -0.07708561,
    -0.010396618,
    0.021703862,
    0.045615964,
    -0.03861649,
];
/// The same components of the text as a query.
const GOLDEN_QUERY: [f32; 16] = [
    -0.4241013,
    0.0934032,
    0.07236344,
    0.037666786,
    0.03852542,
    0.023404079,
    0.041669067,
    -0.05214021,
    -0.04210541,
    -0.0128358,
    0.004796654,
    -0.0657941,
    -0.03943816,
    0.040082563,
    0.060889386,
    -0.016762814,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_covers_all_that_decides_a_vector() {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&ALGORITHM_VERSION.to_le_bytes());
        hasher.update(include_bytes!("../../model/law-static-256.safetensors"));
        hasher.update(include_bytes!("../../model/vocab.txt"));
        hasher.update(neighbours::TABLE);
        let computed = hasher.finalize().to_hex();
        assert_eq!(
            embedder().fingerprint(),
            computed.as_str(),
            "old snapshots cannot be queried with a new fingerprint"
        );
    }

    #[test]
    fn the_self_check_passes_and_its_errors_say_what_to_do() {
        embedder().self_check().unwrap();
        let error = SelfCheckError::Vector { component: 17, found: 0.5, expected: 0.25 }.to_string();
        assert!(error.contains("component 17") && error.contains("install or build it again"), "{error}");
    }

    /// A table of queries for other passages would give meaningless results.
    #[test]
    fn the_table_of_queries_was_made_for_these_passages() {
        let file = include_bytes!("../../model/law-static-256-queries.safetensors");
        let header_len = u64::from_le_bytes(*file.first_chunk().unwrap()) as usize;
        let header = str::from_utf8(&file[8..8 + header_len]).unwrap();
        assert!(header.contains(&format!(r#""passages":"{}""#, embedder().fingerprint())), "{header}");
    }

    #[test]
    fn words_of_one_token_are_words_and_not_ends_of_words() {
        let words: Vec<&str> = embedder().words().collect();
        assert!(words.contains(&"dinosaur") && words.contains(&"deposit"));
        assert!(words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
        for word in words.iter().filter(|word| word.len() > 3) {
            let mut tokens = Vec::new();
            embedder().tokenize(word, &mut tokens);
            assert_eq!(tokens.len(), 1, "{word}");
        }
    }

    #[test]
    fn similar_meanings_have_similar_vectors() {
        let query = embedder().embed_query("how long does a landlord have to give back the deposit");
        let near = embedder().embed("Return of security deposits: the lessor shall refund the tenant within 45 days.");
        let far = embedder().embed("Harvest of oysters from public bars is closed in summer.");
        assert!(query.dot(&near) > query.dot(&far) + 0.2);
        assert!(embedder().embed(" \n\t").is_zero());
    }

    #[test]
    fn a_passage_vector_is_halfway_between_text_and_context() {
        let mut chunk = Vec::new();
        embedder().tokenize("The fine is 500 dollars.", &mut chunk);
        let context = embedder().embed("Littering. Offences against public order.");
        let passage = embedder().passage_vector(&chunk, &context);
        let alone = embedder().embed_tokens(&chunk);
        assert!((passage.dot(&alone) - passage.dot(&context)).abs() < 1e-5);
        assert!(embedder().passage_vector(&[], &context).dot(&context) > 0.999_999);
        assert!(embedder().passage_vector(&chunk, &Vector::ZERO).dot(&alone) > 0.999_999);
        assert!(embedder().passage_vector(&[], &Vector::ZERO).is_zero());
    }
}
