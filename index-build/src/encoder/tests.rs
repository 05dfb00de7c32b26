//! Compares the forward pass with a simple implementation, and tests which encoders are refused.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use hornbook_corpus::embed::TokenId;

use super::Encoder;
use crate::plan::Plan;
use tiny_encoder::{DIMS, LAYERS, TinyEncoder, planned};

#[path = "../../tests/it/tiny_encoder.rs"]
mod tiny_encoder;

fn opened(table: &str) -> Result<Encoder, String> {
    let source = "name = 't'\n[[source]]\nformat = 'native'\npath = 'a'\njurisdiction = 'xa'\ncode_body = 'A'\nkey = 'a'\n\
                  publisher = 'p'\nlicense = 'l'\n";
    let plan = Plan::parse(&format!("{source}{table}"), Path::new("plan.toml")).unwrap();
    Encoder::open(plan.encoder.as_ref().unwrap(), &[Path::new("")]).map_err(|error| error.to_string())
}

#[test]
fn passages_have_the_vectors_of_a_plain_forward_pass() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = TinyEncoder::new(3);
    let encoder = opened(&tiny.write(dir.path())).unwrap();
    for length in [2, 7, 31, 80] {
        let tokens = |seed: usize| -> Vec<TokenId> {
            (0..length).map(|n| TokenId(((n * 7919 + seed * 104_729) % 30_522) as u16)).collect()
        };
        let passages: Vec<Vec<TokenId>> = (0..5).map(tokens).collect();
        let together: Vec<&[TokenId]> = passages.iter().map(Vec::as_slice).collect();
        for (passage, found) in passages.iter().zip(encoder.embed(&together).unwrap()) {
            let expected = tiny.projected(&tiny.pooled(passage));
            assert_eq!(found.len(), DIMS);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((f64::from(*found) - expected).abs() < 2e-5, "{found} instead of {expected}, {length} tokens");
            }
            let alone = encoder.embed(&[passage]).unwrap();
            let differs = found.iter().zip(&alone[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(differs < 1e-5, "what it is embedded with changes a vector by {differs}");
        }
    }
}

#[test]
fn tensors_with_a_name_prefix_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let mut tiny = TinyEncoder::new(4);
    let plain = opened(&tiny.write(dir.path())).unwrap();
    tiny.prefix = "bert.";
    let prefixed = opened(&tiny.write(dir.path())).unwrap();
    let tokens = [TokenId(5), TokenId(2_000)];
    assert_eq!(plain.embed(&[&tokens]).unwrap(), prefixed.embed(&[&tokens]).unwrap());
    assert_ne!(plain.fingerprint(), prefixed.fingerprint(), "the file differs");
}

#[test]
fn the_fingerprint_follows_everything_that_decides_a_vector() {
    let dir = tempfile::tempdir().unwrap();
    let table = TinyEncoder::new(5).write(dir.path());
    let first = opened(&table).unwrap().fingerprint();
    assert_eq!(opened(&table).unwrap().fingerprint(), first);
    fs::write(dir.path().join("encoder/sentence_bert_config.json"), "{\"max_seq_length\": 40}").unwrap();
    let shorter = opened(&table).unwrap().fingerprint();
    let other_weights = opened(&TinyEncoder::new(6).write(dir.path())).unwrap().fingerprint();
    assert!(first != shorter && shorter != other_weights, "{first:?} {shorter:?} {other_weights:?}");
}

#[test]
fn an_encoder_in_an_archive_is_the_one_in_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let table = TinyEncoder::new(8).write(dir.path());
    let in_folder = opened(&table).unwrap().fingerprint();
    let table = table.replace("/encoder'", "/model-1.0.whl'");
    let folder = dir.path().join("encoder");
    let written = |names: &[&str]| {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in names {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(&fs::read(folder.join(name.rsplit_once("model/").unwrap().1)).unwrap()).unwrap();
        }
        fs::write(dir.path().join("model-1.0.whl"), zip.finish().unwrap().into_inner()).unwrap();
    };
    let names = ["a/model/config.json", "a/model/vocab.txt", "a/model/model.safetensors"];
    written(&names);
    assert_eq!(opened(&table).unwrap().fingerprint(), in_folder);
    written(&names[..2]);
    let refused = opened(&table).err().unwrap();
    assert!(refused.contains("model-1.0.whl: it contains 0 files model.safetensors"), "{refused}");
    written(&names[1..]);
    let refused = opened(&table).err().unwrap();
    assert!(refused.contains("model-1.0.whl/a/model/config.json"), "{refused}");
}

#[test]
fn unsupported_encoders_are_refused_with_file_and_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = TinyEncoder::new(7);
    let table = tiny.write(dir.path());
    let at = |name: &str| dir.path().join(name);
    let whole = |name: &str| fs::read(at(name)).unwrap();

    let config = String::from_utf8(whole("encoder/config.json")).unwrap();
    for (from, to, expected) in [
        ("\"bert\"", "\"t5\"", "model_type is 't5'; only encoders with 'bert'"),
        ("\"gelu\"", "\"relu\"", "hidden_act is 'relu'"),
        ("30522", "28996", "vocab_size is 28996; only encoders with the 30522 tokens"),
        ("\"num_attention_heads\": 4", "\"num_attention_heads\": 3", "hidden_size 32 cannot be divided among 3"),
        ("\"max_position_embeddings\": 80", "\"max_position_embeddings\": 8", "accepts at most 8 tokens"),
        (
            "\"max_position_embeddings\": 80",
            "\"max_position_embeddings\": 79",
            "'embeddings.position_embeddings.weight' is F32[80, 32], expected F32[79, 32]",
        ),
        ("\"hidden_size\"", "\"hidden\"", "config.json:"),
    ] {
        assert!(config.contains(from), "{from} in {config}");
        fs::write(at("encoder/config.json"), config.replace(from, to)).unwrap();
        let refused = opened(&table).unwrap_err();
        assert!(refused.contains(expected) && refused.contains("encoder"), "{refused}");
    }
    fs::write(at("encoder/config.json"), &config).unwrap();

    let vocabulary = whole("encoder/vocab.txt");
    let text = String::from_utf8(vocabulary.clone()).unwrap();
    fs::write(at("encoder/vocab.txt"), text.replacen("\nlaw\n", "\nlaws\n", 1)).unwrap();
    let line = 1 + text[..text.find("\nlaw\n").unwrap() + 1].matches('\n').count();
    let refused = opened(&table).unwrap_err();
    assert!(refused.contains(&format!("vocab.txt:{line}: it has the token 'laws' instead of 'law'")), "{refused}");
    fs::write(at("encoder/vocab.txt"), &text[..text.len() - 5]).unwrap();
    assert!(opened(&table).unwrap_err().contains("vocab.txt"));
    fs::write(at("encoder/vocab.txt"), &vocabulary).unwrap();

    fs::write(at("encoder/1_Pooling/config.json"), "{\"pooling_mode_cls_token\": true}").unwrap();
    assert!(opened(&table).unwrap_err().contains("does not use mean pooling"));
    fs::remove_file(at("encoder/1_Pooling/config.json")).unwrap();
    opened(&table).unwrap();

    let weights = whole("encoder/model.safetensors");
    fs::write(at("encoder/model.safetensors"), &weights[..weights.len() - 4]).unwrap();
    let refused = opened(&table).unwrap_err();
    assert!(
        refused.contains("works only with the encoder it was made for") && refused.contains("model.safetensors"),
        "{refused}"
    );
    let refused = opened(&planned(dir.path())).unwrap_err();
    assert!(refused.contains("not a complete safetensors file"), "{refused}");

    let mut lacking = TinyEncoder::new(7);
    let last = format!("encoder.layer.{}.output.dense.bias", LAYERS - 1);
    lacking.weights.remove(&last).unwrap();
    let refused = opened(&lacking.write(dir.path())).unwrap_err();
    assert!(refused.contains(&format!("it has no tensor '{last}'")), "{refused}");
    let mut endless = TinyEncoder::new(7);
    endless.weights.get_mut(&last).unwrap().1[0] = f32::NAN;
    assert!(opened(&endless.write(dir.path())).unwrap_err().contains("not finite numbers"));

    let table = tiny.write(dir.path());
    fs::write(at("queries.safetensors"), &whole("queries.safetensors")[..1000]).unwrap();
    assert!(opened(&table).unwrap_err().contains("queries.safetensors: it is not a complete safetensors file"));
    fs::remove_file(at("queries.safetensors")).unwrap();
    assert!(opened(&table).unwrap_err().contains("cannot read"));
}
