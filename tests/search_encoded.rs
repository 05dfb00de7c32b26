//! A snapshot with a second embedding space. Its vectors are random: every passage has another
//! direction, and one rare word has the direction of one passage.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use hornbook_base::random::SplitMix64;
use hornbook_corpus::embed::{TOKEN_COUNT, embedder};
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal};
use hornbook_corpus::manifest::{self, Fingerprint, Manifest};
use hornbook_corpus::section_file::SectionFileError;
use hornbook_corpus::sentence_encoder::{EncoderShape, EncoderTensor, QueryEncoder, StoredEncoder, write_encoder};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::vectors::{EncoderHash, QueryRows, SpaceName, VectorRows, VectorWriter, write_queries};
use hornbook_index_build::graph::{GraphInput, GraphOptions, Probes, build_graph};
use hornbook_search::{
    DeepUnavailable, Depth, Engine, Mode, RankingFeature, SearchError, SearchRequest, SearchResponse, Tuning,
};

use sample::ENGINE;

#[path = "support/sample.rs"]
mod sample;

const DIMS: usize = 32;
const ENCODER: EncoderHash = [3; 32];
/// The sample corpus does not contain this word, and no passage is near it in the first space.
const RARE_WORD: &str = "octopus";

fn space() -> SpaceName {
    "test-32".parse().unwrap()
}

/// The last passage gets the encoder's vector of these words.
const DEEP_WORDS: &str = "narwhal tusks";

const SHAPE: EncoderShape =
    EncoderShape { hidden: DIMS, layers: 1, heads: 4, intermediate_width: 48, tokens_max: 32, norm_epsilon: 1e-12 };

/// Values that depend on the name of the part.
fn part(part: &EncoderTensor) -> Result<Vec<f32>, SectionFileError> {
    let mut numbers = SplitMix64(part.name.bytes().map(u64::from).sum());
    let centre = if part.name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
    let value = |_| centre + ((numbers.draw() >> 40) as f32 / (1 << 23) as f32 - 1.0) * 0.3;
    Ok((0..part.size.len()).map(value).collect())
}

/// The passage that the word points to.
fn matching_chunk() -> ChunkOrdinal {
    ChunkOrdinal(ENGINE.snapshot().chunks.chunk_count() / 2)
}

fn matching_node() -> NodeOrdinal {
    ENGINE.snapshot().chunks.node_of(matching_chunk()).unwrap()
}

fn directions(seed: u64, count: usize) -> Vec<Vec<i8>> {
    let mut numbers = SplitMix64(seed);
    (0..count).map(|_| (0..DIMS).map(|_| (numbers.draw() >> 56) as i8).collect()).collect()
}

fn as_vector(codes: &[i8]) -> Vec<f32> {
    let length = codes.iter().map(|&code| f32::from(code).powi(2)).sum::<f32>().sqrt();
    codes.iter().map(|&code| f32::from(code) / length).collect()
}

/// The vector of the deep words by the encoder in a folder; `None` in programs without encoders.
fn deep_words_vector(dir: &Path) -> Option<Vec<f32>> {
    let stored = StoredEncoder::open(dir, &space(), &ENCODER).unwrap().unwrap();
    let mut tokens = Vec::new();
    embedder().tokenize(DEEP_WORDS, &mut tokens);
    QueryEncoder::open(stored)?.vector(&tokens)
}

/// Adds the second space to a snapshot of the sample corpus.
fn add_space(dir: &Path, hash: EncoderHash) {
    let (chunks, space) = (ENGINE.snapshot().chunks.chunk_count(), space());
    let passages = directions(1, chunks as usize);
    write_encoder(dir, &space, &ENCODER, &SHAPE, &[], part).unwrap();
    let mut vectors: Vec<Vec<f32>> = passages.iter().map(|codes| as_vector(codes)).collect();
    if let Some(read) = deep_words_vector(dir) {
        vectors[chunks as usize - 1] = read;
    }
    let mut writer = VectorWriter::create(dir, &space, DIMS).unwrap();
    vectors.iter().for_each(|vector| writer.push(vector).unwrap());
    writer.finish().unwrap();
    let rows = VectorRows::open(dir, &space).unwrap();
    let input = GraphInput { ranges: &[], probes: &Probes::new(DIMS), earlier: None };
    build_graph(&rows, &input, &GraphOptions::default(), &mut |_, _| ()).unwrap();
    let mut tokens = directions(2, TOKEN_COUNT);
    let mut of_word = Vec::new();
    embedder().tokenize(RARE_WORD, &mut of_word);
    of_word.iter().for_each(|token| tokens[token.index()].clone_from(&passages[matching_chunk().0 as usize]));
    let (codes, scales) = (tokens.concat(), vec![0.01; TOKEN_COUNT]);
    write_queries(dir, &space, &ENCODER, &QueryRows { dims: DIMS, codes: &codes, scales: &scales }).unwrap();
    add_embedder(dir, space.as_str(), hash);
}

/// Seals the snapshot again with one more embedder in its manifest.
fn add_embedder(dir: &Path, id: &str, hash: EncoderHash) {
    let old = Manifest::open(dir).unwrap();
    let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let embedders = old.embedders.iter().cloned().chain([Fingerprint { id: id.to_owned(), hash }]).collect();
    for name in [manifest::FILE_NAME, manifest::HASH_FILE_NAME] {
        fs::remove_file(dir.join(name)).unwrap();
    }
    Manifest { embedders, files: Vec::new(), ..old }.seal(dir).unwrap();
}

static ENCODED: LazyLock<Arc<Snapshot>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    sample::build_at(&out);
    add_space(&out, ENCODER);
    Arc::new(Snapshot::verify(&out, |_| ()).unwrap())
});

fn engine(encoded: &str) -> Engine {
    Engine::with_tuning(ENCODED.clone(), tuned("encoded", encoded)).unwrap()
}

/// Sets the same value for every kind of query.
fn tuned(name: &str, value: &str) -> Tuning {
    let kinds = ["question", "topic", "phrase"];
    kinds.iter().fold(Tuning::default(), |tuning, kind| tuning.with(&format!("{kind}.{name}"), value).unwrap())
}

fn explained(engine: &Engine, query: &str, mode: Mode) -> SearchResponse {
    engine.search(&SearchRequest { mode, explain: true, limit: 50, ..SearchRequest::new(query) }).unwrap()
}

#[test]
fn passages_near_only_in_the_second_space_are_found() {
    let engine = Engine::new(ENCODED.clone()).unwrap();
    for mode in [Mode::Hybrid, Mode::Semantic] {
        let found = explained(&engine, RARE_WORD, mode);
        assert_eq!(found.hits[0].node, matching_node(), "{mode:?}");
        let explain = found.hits[0].explain.as_ref().unwrap();
        let encoded = explain.encoded.unwrap();
        assert!(encoded.rank == Some(1) && encoded.score > 0.999, "{encoded:?}");
        assert_eq!(found.hits[0].chunk, Some(matching_chunk()), "the passage that is shown");
        assert!(explain.shares.unwrap().get(RankingFeature::Encoded) > 0.0);
        let without = explained(&ENGINE, RARE_WORD, mode);
        assert!(without.hits.iter().all(|hit| hit.node != matching_node()), "{mode:?}");
    }
    assert!(explained(&engine, RARE_WORD, Mode::Keyword).hits.is_empty());
}

fn deep(engine: &Engine, query: &str, mode: Mode) -> Result<SearchResponse, SearchError> {
    // `exact`, because words that occur in no law would be corrected.
    let wanted = SearchRequest { mode, explain: true, exact: true, limit: 50, ..SearchRequest::new(query) };
    engine.search(&SearchRequest { depth: Depth::Deep, ..wanted })
}

#[test]
#[cfg(feature = "encoder")]
fn a_deep_search_reads_the_query_with_the_encoder() {
    let engine = Engine::new(ENCODED.clone()).unwrap();
    assert_eq!(engine.deep_ready(), Ok(()));
    let chunks = &engine.snapshot().chunks;
    let last = chunks.node_of(ChunkOrdinal(chunks.chunk_count() - 1)).unwrap();
    let of_last = |found: &SearchResponse| {
        let hit = found.hits.iter().find(|hit| hit.node == last)?;
        hit.explain.as_ref()?.encoded
    };
    for mode in [Mode::Hybrid, Mode::Semantic] {
        let found = deep(&engine, DEEP_WORDS, mode).unwrap();
        assert_eq!(found.depth, Depth::Deep);
        let encoded = of_last(&found).unwrap();
        assert!(encoded.rank == Some(1) && encoded.score > 0.99, "{encoded:?}");
        let fast = explained(&engine, DEEP_WORDS, mode);
        assert_eq!(fast.depth, Depth::Fast);
        assert!(of_last(&fast).is_none_or(|encoded| encoded.score < 0.9), "{mode:?}");
    }
    let words = deep(&engine, "security deposit", Mode::Keyword).unwrap();
    assert!(words.depth == Depth::Fast && words.total > 0, "words alone need no encoder");
}

#[test]
#[cfg(not(feature = "encoder"))]
fn a_program_without_encoders_says_so() {
    let engine = Engine::new(ENCODED.clone()).unwrap();
    assert!(matches!(deep(&engine, DEEP_WORDS, Mode::Hybrid), Err(SearchError::NotDeep(DeepUnavailable::NotBuiltIn))));
}

#[test]
fn a_snapshot_without_an_encoder_is_not_searched_deep() {
    assert!(matches!(deep(&ENGINE, "fence", Mode::Hybrid), Err(SearchError::NotDeep(DeepUnavailable::NoEncoder))));
}

#[test]
fn candidates_of_either_space_are_compared_in_both() {
    let engine = Engine::new(ENCODED.clone()).unwrap();
    let found = explained(&engine, "security deposit of a tenant", Mode::Hybrid);
    assert!(found.hits.len() > 20);
    for hit in &found.hits {
        let explain = hit.explain.as_ref().unwrap();
        assert!(explain.vector.is_some() && explain.encoded.is_some(), "{explain:?}");
    }
}

#[test]
fn a_space_with_zero_weight_changes_nothing() {
    let (without, alone) = (engine("0"), engine("1"));
    for query in ["how tall may a fence be", "security deposit landlord", "repealed", "harbor dues", RARE_WORD] {
        for mode in Mode::ALL {
            let (found, expected) = (explained(&without, query, mode), explained(&ENGINE, query, mode));
            let ranked = |response: &SearchResponse| -> Vec<(NodeOrdinal, f32)> {
                response.hits.iter().map(|hit| (hit.node, hit.score)).collect()
            };
            assert_eq!(ranked(&found), ranked(&expected), "{query}, {mode:?}");
            assert!(found.hits.iter().all(|hit| hit.explain.as_ref().unwrap().encoded.is_none()));
            let hits = explained(&alone, query, mode).hits;
            assert!(hits.iter().all(|hit| hit.explain.as_ref().unwrap().vector.is_none()), "{query}, {mode:?}");
        }
    }
    // For a snapshot without a second space, the weight of that space is zero.
    assert_eq!(ENGINE.tuning().question.encoded, 0.0);
    assert_eq!(
        ENGINE.tuning().weights(Depth::Fast, hornbook_search::QueryKind::Topic).get(RankingFeature::Encoded),
        0.0
    );
}

#[test]
fn the_only_space_is_searched_even_if_late_interaction_alone_counts() {
    let engine = Engine::with_tuning(ENGINE.snapshot().clone(), tuned("interaction", "1")).unwrap();
    let found = explained(&engine, "security deposit of a tenant", Mode::Semantic);
    assert!(found.hits.len() > 20, "{}", found.hits.len());
}

#[test]
fn queries_of_another_encoder_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    sample::build_at(&out);
    add_space(&out, [4; 32]);
    let refused = Snapshot::open(&out).unwrap_err().to_string();
    assert!(refused.contains("queries-test-32.bin") && refused.contains("a different sentence encoder"), "{refused}");
}

#[test]
fn a_manifest_with_more_than_one_sentence_encoder_is_refused_by_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    sample::build_at(&out);
    add_space(&out, ENCODER);
    Snapshot::open(&out).unwrap();
    add_embedder(&out, "other-32", [5; 32]);
    let refused = Snapshot::open(&out).unwrap_err().to_string();
    let expected = "built with the sentence encoders test-32 (030303030303), other-32 (050505050505), this version has support for one; rebuild it";
    assert!(refused.contains(expected), "{refused}");
}
