//! Adds a second embedding space to a snapshot, with a tiny sentence encoder and a query table,
//! which the sample lacks.

use std::fs;
use std::path::Path;

use hornbook_corpus::embed::TOKEN_COUNT;
use hornbook_corpus::manifest::{FILE_NAME, Fingerprint, HASH_FILE_NAME, Manifest};
use hornbook_corpus::section_file::SectionFileError;
use hornbook_corpus::sentence_encoder::{EncoderShape, EncoderTensor, write_encoder};
use hornbook_corpus::vectors::{EncoderHash, QueryRows, SpaceName, VectorRows, VectorWriter, write_queries};
use hornbook_index_build::graph::{GraphInput, GraphOptions, Probes, build_graph};

const DIMS: usize = 32;
const ENCODER: EncoderHash = [3; 32];
const SHAPE: EncoderShape =
    EncoderShape { hidden: DIMS, layers: 1, heads: 4, intermediate_width: 48, tokens_max: 32, norm_epsilon: 1e-12 };

/// A pseudo-random number between -1 and 1.
fn scattered(place: usize) -> f32 {
    (place.wrapping_mul(2_654_435_761) >> 8) as u16 as f32 / 32_768.0 - 1.0
}

fn part(part: &EncoderTensor) -> Result<Vec<f32>, SectionFileError> {
    let start = part.name.bytes().map(usize::from).sum::<usize>();
    let centre = if part.name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
    Ok((0..part.size.len()).map(|place| centre + 0.3 * scattered(start + place)).collect())
}

pub(crate) fn add(dir: &Path) {
    let space: SpaceName = "test-32".parse().expect("a name");
    let old = Manifest::open(dir).expect("a snapshot");
    write_encoder(dir, &space, &ENCODER, &SHAPE, &[], part).expect("an encoder");
    let mut writer = VectorWriter::create(dir, &space, DIMS).expect("a file");
    for chunk in 0..old.counts.chunks as usize {
        let vector: Vec<f32> = (0..DIMS).map(|dim| scattered(chunk * DIMS + dim)).collect();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        writer.push(&vector.iter().map(|value| value / length).collect::<Vec<_>>()).expect("it is written");
    }
    writer.finish().expect("it is written");
    let rows = VectorRows::open(dir, &space).expect("it opens");
    let input = GraphInput { ranges: &[], probes: &Probes::new(DIMS), earlier: None };
    build_graph(&rows, &input, &GraphOptions::default(), &mut |_, _| ()).expect("it is linked");
    let codes: Vec<i8> = (0..TOKEN_COUNT * DIMS).map(|place| (scattered(place) * 127.0) as i8).collect();
    let rows = QueryRows { dims: DIMS, codes: &codes, scales: &vec![0.01; TOKEN_COUNT] };
    write_queries(dir, &space, &ENCODER, &rows).expect("it is written");
    let hash = ENCODER.iter().map(|byte| format!("{byte:02x}")).collect();
    let encoder = Fingerprint { id: space.as_str().to_owned(), hash };
    let embedders = old.embedders.iter().cloned().chain([encoder]).collect();
    for name in [FILE_NAME, HASH_FILE_NAME] {
        fs::remove_file(dir.join(name)).expect("the snapshot has this file");
    }
    Manifest { embedders, files: Vec::new(), ..old }.seal(dir).expect("it is sealed");
}
