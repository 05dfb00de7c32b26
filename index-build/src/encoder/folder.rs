//! The folder of a sentence encoder in its usual layout: `config.json`, `vocab.txt`,
//! `model.safetensors`, and optionally `1_Pooling/config.json` and `sentence_bert_config.json`.

use std::path::{Path, PathBuf};

use hornbook_corpus::embed::{TOKEN_COUNT, TokenId, embedder};
use hornbook_corpus::sentence_encoder::{EncoderShape, EncoderTensor, EncoderTensorSize};
use hornbook_corpus::vectors::is_supported_dims;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::files::{EncoderFiles, WEIGHTS};
use super::tensors::{OpenTensors, TENSORS_BYTES_MAX, TensorFile};
use crate::encoder_error::EncoderError;

/// The size limit of a configuration file or a vocabulary.
const TEXT_BYTES_MAX: u64 = 256 << 20;

const CONFIG: &str = "config.json";
const VOCABULARY: &str = "vocab.txt";
const POOLING: &str = "1_Pooling/config.json";
const SENTENCES: &str = "sentence_bert_config.json";

/// Sentence marks and a few words; an encoder with a smaller limit is useless.
const TOKENS_MIN: usize = 16;

/// The fields of `config.json` that the computation depends on.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct EncoderConfig {
    pub(super) model_type: String,
    pub(super) vocab_size: usize,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) intermediate_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    pub(super) hidden_act: String,
    pub(super) layer_norm_eps: f64,
    #[serde(default = "absolute")]
    pub(super) position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

#[derive(Deserialize)]
struct Pooling {
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

/// The files of an encoder, checked.
#[derive(Debug)]
pub(super) struct EncoderFolder {
    config: EncoderConfig,
    pub(super) config_text: Vec<u8>,
    pub(super) weights: TensorFile,
    /// The maximum length of a passage in tokens, including its sentence marks.
    tokens_max: usize,
}

impl EncoderFolder {
    /// `sha256` is the hash of the weights that the query table was made for.
    pub(super) fn open(folder: &Path, sha256: &str) -> Result<Self, EncoderError> {
        let files = EncoderFiles::open(folder.to_owned())?;
        let config_path = files.path_of(CONFIG);
        let config_text = files.read(CONFIG, TEXT_BYTES_MAX)?;
        let config: EncoderConfig = parse(&config_path, &config_text)?;
        check_config(&config).map_err(|what| invalid_file(&config_path, what))?;
        check_vocabulary(&files)?;
        check_pooling(&files)?;
        let tokens_max = tokens_max(&files, &config)?;
        let weights = TensorFile { path: files.path_of(WEIGHTS), bytes: files.read(WEIGHTS, TENSORS_BYTES_MAX)? };
        let digest: String = Sha256::digest(&weights.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if !digest.eq_ignore_ascii_case(sha256) {
            let what = format!(
                "its SHA-256 is {digest}, but the plan expects {sha256}; a query table works only with the encoder it was made for: use that encoder, or the table made for this one, and set sha256 to match"
            );
            return Err(invalid_file(&weights.path, what));
        }
        Ok(Self { config, config_text, weights, tokens_max })
    }

    pub(super) fn shape(&self) -> EncoderShape {
        EncoderShape {
            hidden: self.config.hidden_size,
            layers: self.config.num_hidden_layers,
            heads: self.config.num_attention_heads,
            intermediate_width: self.config.intermediate_size,
            tokens_max: self.tokens_max,
            norm_epsilon: self.config.layer_norm_eps,
        }
    }

    /// Checks the dimensions for use without a query table: the encoder's vectors are then stored unchanged.
    pub(super) fn check_dims(&self) -> Result<(), EncoderError> {
        let hidden = self.config.hidden_size;
        match is_supported_dims(hidden) {
            true => Ok(()),
            false => Err(self.weights.unfit(format!(
                "its vectors have {hidden} dimensions; without a query_table, only multiples of 32 from 32 to 4096 are supported"
            ))),
        }
    }

    /// The values of a part of the encoder.
    pub(super) fn part(&self, part: &EncoderTensor) -> Result<Vec<f32>, EncoderError> {
        let tensors = self.weights.open()?;
        // Some publishers prefix each tensor name with the name of the whole model.
        let prefix = if tensors.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let name = format!("{prefix}{}", part.name);
        match part.size {
            EncoderTensorSize::Matrix(rows, columns) => tensors.f32s(&name, &[rows, columns]),
            EncoderTensorSize::Values(_) if *part == self.shape().position_embedding_tensor() => {
                self.places(&tensors, &name, prefix)
            }
            EncoderTensorSize::Values(count) => tensors.f32s(&name, &[count]),
        }
    }

    /// The position embeddings, each with the embedding of the first token type added.
    fn places(&self, tensors: &OpenTensors<'_>, name: &str, prefix: &str) -> Result<Vec<f32>, EncoderError> {
        let hidden = self.config.hidden_size;
        let mut places = tensors.f32s(name, &[self.config.max_position_embeddings, hidden])?;
        let kinds = format!("{prefix}embeddings.token_type_embeddings.weight");
        let kinds = tensors.f32s(&kinds, &[self.config.type_vocab_size, hidden])?;
        places.truncate(self.tokens_max * hidden);
        for row in places.chunks_exact_mut(hidden) {
            row.iter_mut().zip(&kinds).for_each(|(value, kind)| *value += kind);
        }
        Ok(places)
    }
}

fn check_config(config: &EncoderConfig) -> Result<(), String> {
    let expect = |name: &str, found: &str, wanted: &str| match found == wanted {
        true => Ok(()),
        false => Err(format!("{name} is '{found}'; only encoders with '{wanted}' can be used")),
    };
    expect("model_type", &config.model_type, "bert")?;
    expect("hidden_act", &config.hidden_act, "gelu")?;
    expect("position_embedding_type", &config.position_embedding_type, "absolute")?;
    if config.vocab_size != TOKEN_COUNT {
        let found = config.vocab_size;
        return Err(format!(
            "vocab_size is {found}; only encoders with the {TOKEN_COUNT} tokens of BERT uncased can be used"
        ));
    }
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    if hidden == 0 || heads == 0 || !hidden.is_multiple_of(heads) {
        return Err(format!("hidden_size {hidden} cannot be divided among {heads} attention heads"));
    }
    for (name, value) in [
        ("num_hidden_layers", config.num_hidden_layers),
        ("intermediate_size", config.intermediate_size),
        ("type_vocab_size", config.type_vocab_size),
    ] {
        if value == 0 {
            return Err(format!("{name} is 0"));
        }
    }
    Ok(())
}

/// Checks that the encoder has the same vocabulary as our tokeniser.
fn check_vocabulary(files: &EncoderFiles) -> Result<(), EncoderError> {
    let path = &files.path_of(VOCABULARY);
    let text = files.read(VOCABULARY, TEXT_BYTES_MAX)?;
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    let lines: Vec<&[u8]> =
        text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let needed = "the vocabulary must be exactly that of BERT uncased";
    for (place, line) in lines.iter().enumerate().take(TOKEN_COUNT) {
        let ours = embedder().token_text(TokenId(place as u16));
        if *line != ours {
            let what = format!(
                "it has the token '{}' instead of '{}'; {needed}",
                token_text_lossy(line),
                token_text_lossy(ours)
            );
            return Err(EncoderError::InvalidFile { path: path.to_owned(), line: Some(place + 1), what });
        }
    }
    match lines.len() == TOKEN_COUNT {
        true => Ok(()),
        false => Err(invalid_file(path, format!("it has {} tokens instead of {TOKEN_COUNT}; {needed}", lines.len()))),
    }
}

fn token_text_lossy(token: &[u8]) -> String {
    String::from_utf8_lossy(token).into_owned()
}

fn check_pooling(files: &EncoderFiles) -> Result<(), EncoderError> {
    let path = &files.path_of(POOLING);
    let Some(text) = files.read_optional(POOLING, TEXT_BYTES_MAX)? else { return Ok(()) };
    match parse::<Pooling>(path, &text)?.pooling_mode_mean_tokens {
        true => Ok(()),
        false => Err(invalid_file(
            path,
            "the encoder does not use mean pooling; only encoders with mean pooling are supported".into(),
        )),
    }
}

fn tokens_max(files: &EncoderFiles, config: &EncoderConfig) -> Result<usize, EncoderError> {
    let path = &files.path_of(SENTENCES);
    let stated = match files.read_optional(SENTENCES, TEXT_BYTES_MAX)? {
        Some(text) => parse::<SentenceConfig>(path, &text)?.max_seq_length,
        None => None,
    };
    let tokens_max = stated.unwrap_or(config.max_position_embeddings).min(config.max_position_embeddings);
    match tokens_max >= TOKENS_MIN {
        true => Ok(tokens_max),
        false => Err(invalid_file(
            path,
            format!("the encoder accepts at most {tokens_max} tokens; at least {TOKENS_MIN} are required"),
        )),
    }
}

fn parse<T: DeserializeOwned>(path: &Path, text: &[u8]) -> Result<T, EncoderError> {
    serde_json::from_slice(text).map_err(|error| EncoderError::InvalidFile {
        path: path.to_owned(),
        line: Some(error.line()),
        what: format!("{error}"),
    })
}

fn invalid_file(path: &Path, what: String) -> EncoderError {
    EncoderError::InvalidFile { path: PathBuf::from(path), line: None, what }
}
