//! A generated sentence encoder with two layers and thirty-two dimensions, a matching query table,
//! and a simple second implementation of its forward pass in double precision.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hornbook_corpus::embed::{TOKEN_COUNT, TokenId, embedder};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;
use sha2::{Digest, Sha256};

pub(crate) const HIDDEN: usize = 32;
pub(crate) const LAYERS: usize = 2;
pub(crate) const HEADS: usize = 4;
pub(crate) const WIDE: usize = 24;
pub(crate) const POSITIONS: usize = 80;
/// The dimensions of the common space of queries and passages.
pub(crate) const DIMS: usize = 64;
const NORM_EPS: f64 = 1e-12;

/// Its weights by name, each with its shape.
pub(crate) struct TinyEncoder {
    pub(crate) weights: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    /// The prefix of each name in the file.
    pub(crate) prefix: &'static str,
    /// Maps the dimensions of the encoder to those of the space.
    pub(crate) projection: Vec<f32>,
}

/// Pseudo-random numbers from -1 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

impl TinyEncoder {
    pub(crate) fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let mut weights = BTreeMap::new();
        let mut add = |name: String, shape: &[usize], centre: f32, scale: f32| {
            let values = (0..shape.iter().product()).map(|_| centre + scale * numbers.next()).collect();
            weights.insert(name, (shape.to_vec(), values));
        };
        add("embeddings.word_embeddings.weight".into(), &[TOKEN_COUNT, HIDDEN], 0.0, 1.0);
        add("embeddings.position_embeddings.weight".into(), &[POSITIONS, HIDDEN], 0.0, 0.05);
        add("embeddings.token_type_embeddings.weight".into(), &[2, HIDDEN], 0.0, 0.05);
        let mut norms = vec!["embeddings.LayerNorm".to_owned()];
        for layer in 0..LAYERS {
            let name = |rest: &str| format!("encoder.layer.{layer}.{rest}");
            for (linear, inputs, outputs) in [
                ("attention.self.query", HIDDEN, HIDDEN),
                ("attention.self.key", HIDDEN, HIDDEN),
                ("attention.self.value", HIDDEN, HIDDEN),
                ("attention.output.dense", HIDDEN, HIDDEN),
                ("intermediate.dense", HIDDEN, WIDE),
                ("output.dense", WIDE, HIDDEN),
            ] {
                add(name(&format!("{linear}.weight")), &[outputs, inputs], 0.0, 0.2);
                add(name(&format!("{linear}.bias")), &[outputs], 0.0, 0.1);
            }
            norms.extend([name("attention.output.LayerNorm"), name("output.LayerNorm")]);
        }
        for norm in norms {
            add(format!("{norm}.weight"), &[HIDDEN], 1.0, 0.2);
            add(format!("{norm}.bias"), &[HIDDEN], 0.0, 0.1);
        }
        let projection = (0..HIDDEN * DIMS).map(|_| numbers.next()).collect();
        Self { weights, prefix: "", projection }
    }

    /// Writes the encoder to `dir/encoder` and its table to `dir/queries.safetensors`. Returns the
    /// table `[encoder]` of a plan.
    pub(crate) fn write(&self, dir: &Path) -> String {
        let folder = dir.join("encoder");
        fs::create_dir_all(folder.join("1_Pooling")).unwrap();
        let config = json!({
            "model_type": "bert", "vocab_size": TOKEN_COUNT, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS, "intermediate_size": WIDE, "max_position_embeddings": POSITIONS,
            "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": NORM_EPS
        });
        fs::write(folder.join("config.json"), serde_json::to_vec_pretty(&config).unwrap()).unwrap();
        fs::write(folder.join("1_Pooling/config.json"), "{\"pooling_mode_mean_tokens\": true}").unwrap();
        let tokens = (0..TOKEN_COUNT).map(|token| embedder().token_text(TokenId(token as u16)));
        let vocabulary: Vec<u8> = tokens.flat_map(|token| [token, b"\n"].concat()).collect();
        fs::write(folder.join("vocab.txt"), vocabulary).unwrap();
        fs::write(folder.join("model.safetensors"), self.weights_file()).unwrap();
        fs::write(dir.join("queries.safetensors"), self.queries_file()).unwrap();
        planned(dir)
    }

    fn weights_file(&self) -> Vec<u8> {
        let named = |name: &str| format!("{}{name}", self.prefix);
        let bytes: BTreeMap<String, (&Vec<usize>, Vec<u8>)> =
            self.weights.iter().map(|(name, (shape, values))| (named(name), (shape, le_bytes(values)))).collect();
        let views = bytes
            .iter()
            .map(|(name, (shape, bytes))| (name, TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap()));
        safetensors::serialize(views, None).unwrap()
    }

    /// The layers change little, so the row of a token is its projected word embedding.
    fn queries_file(&self) -> Vec<u8> {
        let words = &self.weights["embeddings.word_embeddings.weight"].1;
        let (mut codes, mut scales) = (Vec::with_capacity(TOKEN_COUNT * DIMS), Vec::with_capacity(TOKEN_COUNT));
        for word in words.chunks_exact(HIDDEN) {
            let word: Vec<f64> = word.iter().map(|&value| f64::from(value)).collect();
            let row = self.projected(&word);
            let largest = row.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            codes.extend(row.iter().map(|value| ((value / largest * 127.0).round() as i8).cast_unsigned()));
            scales.push((largest / 127.0) as f32);
        }
        let (scales, projection) = (le_bytes(&scales), le_bytes(&self.projection));
        let views = [
            ("embedding", TensorView::new(Dtype::I8, vec![TOKEN_COUNT, DIMS], &codes).unwrap()),
            ("scale", TensorView::new(Dtype::F32, vec![TOKEN_COUNT], &scales).unwrap()),
            ("projection", TensorView::new(Dtype::F32, vec![HIDDEN, DIMS], &projection).unwrap()),
        ];
        safetensors::serialize(views, None).unwrap()
    }

    /// A vector of the encoder in the space of the queries, with length one.
    pub(crate) fn projected(&self, pooled: &[f64]) -> Vec<f64> {
        let column = |dim: usize| -> f64 {
            pooled.iter().enumerate().map(|(at, value)| value * f64::from(self.projection[at * DIMS + dim])).sum()
        };
        let all: Vec<f64> = (0..DIMS).map(column).collect();
        let length = all.iter().map(|value| value * value).sum::<f64>().sqrt();
        all.into_iter().map(|value| value / length).collect()
    }

    /// The mean over the tokens of a passage after the last layer, computed value by value.
    pub(crate) fn pooled(&self, tokens: &[TokenId]) -> Vec<f64> {
        let row = |name: &str, place: usize| -> Vec<f64> {
            self.weights[name].1[place * HIDDEN..][..HIDDEN].iter().map(|&value| f64::from(value)).collect()
        };
        let kind = row("embeddings.token_type_embeddings.weight", 0);
        let embedded = tokens.iter().enumerate().map(|(place, token)| {
            let word = row("embeddings.word_embeddings.weight", token.index());
            let position = row("embeddings.position_embeddings.weight", place);
            let sum = (0..HIDDEN).map(|at| word[at] + position[at] + kind[at]).collect::<Vec<f64>>();
            self.normed("embeddings.LayerNorm", &sum)
        });
        let mut states: Vec<Vec<f64>> = embedded.collect();
        for layer in 0..LAYERS {
            states = self.layer(layer, &states);
        }
        (0..HIDDEN).map(|at| states.iter().map(|state| state[at]).sum::<f64>() / states.len() as f64).collect()
    }

    fn layer(&self, layer: usize, states: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let name = |rest: &str| format!("encoder.layer.{layer}.{rest}");
        let all = |linear: &str| -> Vec<Vec<f64>> {
            states.iter().map(|state| self.linear(&name(&format!("attention.self.{linear}")), state)).collect()
        };
        let (queries, keys, values) = (all("query"), all("key"), all("value"));
        let size = HIDDEN / HEADS;
        let mut out = Vec::new();
        for (place, state) in states.iter().enumerate() {
            let mut heeded = vec![0.0; HIDDEN];
            for head in 0..HEADS {
                let dims = head * size..(head + 1) * size;
                let likeness = |other: &Vec<f64>| {
                    let dot: f64 = dims.clone().map(|at| queries[place][at] * other[at]).sum();
                    (dot / (size as f64).sqrt()).exp()
                };
                let weights: Vec<f64> = keys.iter().map(likeness).collect();
                let total: f64 = weights.iter().sum();
                for at in dims {
                    heeded[at] = weights.iter().zip(&values).map(|(weight, value)| weight / total * value[at]).sum();
                }
            }
            let attended = sum(&self.linear(&name("attention.output.dense"), &heeded), state);
            let attended = self.normed(&name("attention.output.LayerNorm"), &attended);
            let wide: Vec<f64> = self.linear(&name("intermediate.dense"), &attended).into_iter().map(gelu).collect();
            let narrow = sum(&self.linear(&name("output.dense"), &wide), &attended);
            out.push(self.normed(&name("output.LayerNorm"), &narrow));
        }
        out
    }

    fn linear(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let (shape, weight) = &self.weights[&format!("{name}.weight")];
        let bias = &self.weights[&format!("{name}.bias")].1;
        let output = |place: usize| -> f64 {
            let row = &weight[place * shape[1]..][..shape[1]];
            f64::from(bias[place])
                + row.iter().zip(input).map(|(&weight, value)| f64::from(weight) * value).sum::<f64>()
        };
        (0..shape[0]).map(output).collect()
    }

    fn normed(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let (weight, bias) = (&self.weights[&format!("{name}.weight")].1, &self.weights[&format!("{name}.bias")].1);
        let mean = input.iter().sum::<f64>() / input.len() as f64;
        let variance = input.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / input.len() as f64;
        let normed = |(at, value): (usize, &f64)| {
            f64::from(weight[at]) * (value - mean) / (variance + NORM_EPS).sqrt() + f64::from(bias[at])
        };
        input.iter().enumerate().map(normed).collect()
    }
}

/// The table `[encoder]` of a plan for the current files in `dir`.
pub(crate) fn planned(dir: &Path) -> String {
    let weights = fs::read(dir.join("encoder/model.safetensors")).unwrap();
    let sha256: String = Sha256::digest(&weights).iter().map(|byte| format!("{byte:02x}")).collect();
    let dir = dir.display();
    format!(
        "\n[encoder]\nspace = 'tiny-64'\nfolder = '{dir}/encoder'\nquery_table = '{dir}/queries.safetensors'\nsha256 = '{sha256}'\n"
    )
}

fn le_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// Uses the Taylor series of the error function, which is exact enough for the small numbers here.
fn gelu(x: f64) -> f64 {
    let z = x / 2.0_f64.sqrt();
    let (mut term, mut erf) = (z, z);
    for n in 1..80 {
        term *= -z * z / f64::from(n);
        erf += term / f64::from(2 * n + 1);
    }
    x / 2.0 * (1.0 + erf * std::f64::consts::FRAC_2_SQRT_PI)
}
