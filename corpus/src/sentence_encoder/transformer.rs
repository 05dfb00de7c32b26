//! The forward pass of a BERT encoder with mean pooling, on the CPU.
//!
//! All passages of a batch have the same number of tokens, so nothing is padded or masked. Except for rounding, the
//! vector of a passage does not depend on the other passages of the batch.

use candle_core::{Device, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{LayerNorm, Linear, Module};

use super::shape::{EncoderShape, EncoderTensor, EncoderTensorSize, FIRST_NORM, LayerNames};
use crate::embed::TokenId;

/// The error if vectors could not be computed.
#[derive(Debug, thiserror::Error)]
#[error("the sentence encoder failed: {0}")]
pub struct EncoderRunError(#[source] candle_core::Error);

/// A source of word embeddings.
pub trait WordRows {
    /// Appends the row of a word to `to`.
    fn push_row(&self, word: TokenId, to: &mut Vec<f32>);
}

/// An encoder without its word embeddings.
#[derive(Debug)]
pub struct Transformer {
    shape: EncoderShape,
    places: Tensor,
    norm: LayerNorm,
    layers: Vec<TransformerLayer>,
}

#[derive(Debug)]
struct TransformerLayer {
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
    /// Creates an encoder. `part` is called for the values of every part except the words, in the order of
    /// [`EncoderShape::parts`].
    pub fn new<E: From<EncoderRunError>>(
        shape: &EncoderShape,
        part: impl FnMut(&EncoderTensor) -> std::result::Result<Vec<f32>, E>,
    ) -> std::result::Result<Self, E> {
        let mut loader = Loader { shape, part };
        let places = loader.tensor(&shape.position_embedding_tensor(), &[shape.tokens_max, shape.hidden])?;
        let norm = loader.norm(FIRST_NORM)?;
        let layers = (0..shape.layers).map(|number| loader.layer(number)).collect::<std::result::Result<_, E>>()?;
        Ok(Self { shape: *shape, places, norm, layers })
    }

    /// The mean of the token vectors of each passage. All passages must have the same number of tokens, at most
    /// [`EncoderShape::tokens_max`].
    pub fn pooled(
        &self,
        words: &impl WordRows,
        passages: &[&[TokenId]],
    ) -> std::result::Result<Vec<Vec<f32>>, EncoderRunError> {
        self.compute(words, passages).map_err(EncoderRunError)
    }

    fn compute(&self, words: &impl WordRows, passages: &[&[TokenId]]) -> Result<Vec<Vec<f32>>> {
        let (length, hidden) = (passages.first().map_or(0, |passage| passage.len()), self.shape.hidden);
        let mut rows = Vec::with_capacity(passages.len() * length * hidden);
        for token in passages.iter().copied().flatten() {
            words.push_row(*token, &mut rows);
        }
        let rows = Tensor::from_vec(rows, (passages.len(), length, hidden), &Device::Cpu)?;
        let mut states = self.norm.forward(&rows.broadcast_add(&self.places.narrow(0, 0, length)?)?)?;
        for layer in &self.layers {
            states = layer.forward(&states, self.shape.heads)?;
        }
        states.mean(1)?.to_vec2()
    }
}

impl TransformerLayer {
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

/// Creates the layers of an encoder from its parts, which it requests in their order.
struct Loader<'s, F> {
    shape: &'s EncoderShape,
    part: F,
}

impl<E, F> Loader<'_, F>
where
    E: From<EncoderRunError>,
    F: FnMut(&EncoderTensor) -> std::result::Result<Vec<f32>, E>,
{
    fn tensor(&mut self, part: &EncoderTensor, sizes: &[usize]) -> std::result::Result<Tensor, E> {
        let values = (self.part)(part)?;
        Tensor::from_vec(values, sizes, &Device::Cpu).map_err(|error| E::from(EncoderRunError(error)))
    }

    /// A tensor with the size of its part.
    fn whole(&mut self, part: &EncoderTensor) -> std::result::Result<Tensor, E> {
        match part.size {
            EncoderTensorSize::Matrix(rows, columns) => self.tensor(part, &[rows, columns]),
            EncoderTensorSize::Values(count) => self.tensor(part, &[count]),
        }
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> std::result::Result<Linear, E> {
        let [weight, bias] = self.shape.linear(name, inputs, outputs);
        Ok(Linear::new(self.whole(&weight)?, Some(self.whole(&bias)?)))
    }

    fn norm(&mut self, name: &str) -> std::result::Result<LayerNorm, E> {
        let [weight, bias] = self.shape.norm(name);
        Ok(LayerNorm::new(self.whole(&weight)?, self.whole(&bias)?, self.shape.norm_epsilon))
    }

    fn layer(&mut self, number: usize) -> std::result::Result<TransformerLayer, E> {
        let &EncoderShape { hidden, intermediate_width: wide, .. } = self.shape;
        let names = LayerNames::of(number);
        Ok(TransformerLayer {
            query: self.linear(&names.query, hidden, hidden)?,
            key: self.linear(&names.key, hidden, hidden)?,
            value: self.linear(&names.value, hidden, hidden)?,
            attended: self.linear(&names.attended, hidden, hidden)?,
            attended_norm: self.norm(&names.attended_norm)?,
            wide: self.linear(&names.wide, hidden, wide)?,
            narrow: self.linear(&names.narrow, wide, hidden)?,
            norm: self.norm(&names.norm)?,
        })
    }
}
