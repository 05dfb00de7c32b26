//! The forward pass of a BERT encoder with mean pooling, on the processor.
//!
//! Passages of one batch have equally many tokens, so nothing is padded or masked, and a passage has the same vector
//! whatever it is embedded with, up to rounding.

use candle_core::{Device, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{LayerNorm, Linear, Module};
use hornbook_corpus::embed::TokenId;

use super::folder::Config;
use super::tensors::{OpenTensors, TensorFile};
use crate::encoder_error::EncoderError;

#[derive(Debug)]
pub(super) struct Transformer {
    words: Tensor,
    /// Of the first kind of sentence, for every position.
    places: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
    heads: usize,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl Transformer {
    pub(super) fn new(config: &Config, weights: &TensorFile) -> std::result::Result<Self, EncoderError> {
        let weights = weights.open()?;
        // Some publishers keep the name of the whole model before each tensor's.
        let prefix = if weights.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let loader = Loader { weights, prefix, config };
        let hidden = config.hidden_size;
        let positions =
            loader.tensor("embeddings.position_embeddings.weight", &[config.max_position_embeddings, hidden])?;
        let kinds = loader.tensor("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, hidden])?;
        let places = kinds.get(0).and_then(|first| positions.broadcast_add(&first)).map_err(failed)?;
        let layers: std::result::Result<_, _> = (0..config.num_hidden_layers).map(|n| loader.layer(n)).collect();
        Ok(Self {
            words: loader.tensor("embeddings.word_embeddings.weight", &[config.vocab_size, hidden])?,
            places,
            norm: loader.norm("embeddings.LayerNorm")?,
            layers: layers?,
            heads: config.num_attention_heads,
        })
    }

    /// The mean over the tokens of each passage. They have equally many.
    pub(super) fn pooled(&self, passages: &[&[TokenId]]) -> Result<Vec<Vec<f32>>> {
        let length = passages.first().map_or(0, |passage| passage.len());
        let numbers: Vec<u32> =
            passages.iter().flat_map(|passage| passage.iter().map(|token| u32::from(token.0))).collect();
        let hidden = self.words.dim(1)?;
        let words = self.words.index_select(&Tensor::from_vec(numbers, passages.len() * length, &Device::Cpu)?, 0)?;
        let words = words.reshape((passages.len(), length, hidden))?;
        let mut states = self.norm.forward(&words.broadcast_add(&self.places.narrow(0, 0, length)?)?)?;
        for layer in &self.layers {
            states = layer.forward(&states, self.heads)?;
        }
        states.mean(1)?.to_vec2()
    }
}

impl Layer {
    fn forward(&self, states: &Tensor, heads: usize) -> Result<Tensor> {
        let (batch, length, hidden) = states.dims3()?;
        let size = hidden / heads;
        let split = |linear: &Linear| -> Result<Tensor> {
            linear.forward(states)?.reshape((batch, length, heads, size))?.transpose(1, 2)?.contiguous()
        };
        let (query, key, value) = (split(&self.query)?, split(&self.key)?, split(&self.value)?);
        let likeness = (query.matmul(&key.t()?)? * (1.0 / (size as f64).sqrt()))?;
        let heeded = softmax_last_dim(&likeness)?.matmul(&value)?;
        let heeded = heeded.transpose(1, 2)?.reshape((batch, length, hidden))?;
        let attended = self.attended_norm.forward(&(self.attended.forward(&heeded)? + states)?)?;
        let wide = self.wide.forward(&attended)?.gelu_erf()?;
        self.norm.forward(&(self.narrow.forward(&wide)? + attended)?)
    }
}

/// Takes the parts of an encoder from its file.
struct Loader<'a> {
    weights: OpenTensors<'a>,
    prefix: &'static str,
    config: &'a Config,
}

impl Loader<'_> {
    fn tensor(&self, name: &str, shape: &[usize]) -> std::result::Result<Tensor, EncoderError> {
        let values = self.weights.f32s(&format!("{}{name}", self.prefix), shape)?;
        Tensor::from_vec(values, shape, &Device::Cpu).map_err(failed)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> std::result::Result<Linear, EncoderError> {
        let weight = self.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Linear::new(weight, Some(self.tensor(&format!("{name}.bias"), &[outputs])?)))
    }

    fn norm(&self, name: &str) -> std::result::Result<LayerNorm, EncoderError> {
        let hidden = &[self.config.hidden_size];
        let (weight, bias) =
            (self.tensor(&format!("{name}.weight"), hidden)?, self.tensor(&format!("{name}.bias"), hidden)?);
        Ok(LayerNorm::new(weight, bias, self.config.layer_norm_eps))
    }

    fn layer(&self, number: usize) -> std::result::Result<Layer, EncoderError> {
        let (hidden, wide) = (self.config.hidden_size, self.config.intermediate_size);
        let named = |name: &str| format!("encoder.layer.{number}.{name}");
        let square = |name: &str| self.linear(&named(name), hidden, hidden);
        Ok(Layer {
            query: square("attention.self.query")?,
            key: square("attention.self.key")?,
            value: square("attention.self.value")?,
            attended: square("attention.output.dense")?,
            attended_norm: self.norm(&named("attention.output.LayerNorm"))?,
            wide: self.linear(&named("intermediate.dense"), hidden, wide)?,
            narrow: self.linear(&named("output.dense"), wide, hidden)?,
            norm: self.norm(&named("output.LayerNorm"))?,
        })
    }
}

fn failed(error: candle_core::Error) -> EncoderError {
    EncoderError::Compute { source: Box::new(error) }
}
