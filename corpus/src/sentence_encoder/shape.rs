//! The sizes of an encoder, and its parts in the order of its file.

use crate::embed::TOKEN_COUNT;

/// The sizes of a transformer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderShape {
    pub hidden: usize,
    pub layers: usize,
    pub heads: usize,
    /// The size between the two linear layers that follow attention.
    pub intermediate_width: usize,
    /// Maximum number of tokens of a passage, including `[CLS]` and `[SEP]`.
    pub tokens_max: usize,
    pub norm_epsilon: f64,
}

/// One tensor, named as the encoder's publishers name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderTensor {
    pub name: String,
    pub size: EncoderTensorSize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncoderTensorSize {
    /// Rows and columns. The file stores each value as a byte, with a scale for each row.
    Matrix(usize, usize),
    /// A number of values, which the file stores as they are.
    Values(usize),
}

impl EncoderTensorSize {
    pub fn len(self) -> usize {
        match self {
            Self::Matrix(rows, columns) => rows * columns,
            Self::Values(count) => count,
        }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl EncoderShape {
    /// The word embeddings: a row for each token of the vocabulary.
    pub fn words(&self) -> EncoderTensor {
        EncoderTensor {
            name: "embeddings.word_embeddings.weight".to_owned(),
            size: EncoderTensorSize::Matrix(TOKEN_COUNT, self.hidden),
        }
    }

    /// The rows that are added to the words of a passage, one for each position: the sum of the position embedding
    /// and the embedding of the first sentence type.
    pub fn position_embedding_tensor(&self) -> EncoderTensor {
        let size = EncoderTensorSize::Values(self.tokens_max * self.hidden);
        EncoderTensor { name: "embeddings.position_embeddings.weight".to_owned(), size }
    }

    /// The parts of a layer norm: weight and bias.
    pub fn norm(&self, name: &str) -> [EncoderTensor; 2] {
        ["weight", "bias"]
            .map(|kind| EncoderTensor { name: format!("{name}.{kind}"), size: EncoderTensorSize::Values(self.hidden) })
    }

    /// The parts of a linear layer: weight and bias.
    pub fn linear(&self, name: &str, inputs: usize, outputs: usize) -> [EncoderTensor; 2] {
        [
            EncoderTensor { name: format!("{name}.weight"), size: EncoderTensorSize::Matrix(outputs, inputs) },
            EncoderTensor { name: format!("{name}.bias"), size: EncoderTensorSize::Values(outputs) },
        ]
    }

    /// All parts, in the order of the file.
    pub fn parts(&self) -> Vec<EncoderTensor> {
        let mut parts = vec![self.words(), self.position_embedding_tensor()];
        parts.extend(self.norm(FIRST_NORM));
        for layer in 0..self.layers {
            let names = LayerNames::of(layer);
            for square in [&names.query, &names.key, &names.value, &names.attended] {
                parts.extend(self.linear(square, self.hidden, self.hidden));
            }
            parts.extend(self.norm(&names.attended_norm));
            parts.extend(self.linear(&names.wide, self.hidden, self.intermediate_width));
            parts.extend(self.linear(&names.narrow, self.intermediate_width, self.hidden));
            parts.extend(self.norm(&names.norm));
        }
        parts
    }

    /// Whether an encoder can have these sizes. If not, its file is damaged.
    pub fn is_possible(&self) -> bool {
        let sizes = [self.hidden, self.layers, self.heads, self.intermediate_width, self.tokens_max];
        sizes.iter().all(|size| (1..=1 << 16).contains(size))
            && self.layers <= 64
            && self.hidden.is_multiple_of(self.heads)
            && self.norm_epsilon.is_finite()
    }
}

pub(super) const FIRST_NORM: &str = "embeddings.LayerNorm";

/// The names of the parts of a layer.
pub(super) struct LayerNames {
    pub(super) query: String,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) attended: String,
    pub(super) attended_norm: String,
    pub(super) wide: String,
    pub(super) narrow: String,
    pub(super) norm: String,
}

impl LayerNames {
    pub(super) fn of(layer: usize) -> Self {
        let named = |name: &str| format!("encoder.layer.{layer}.{name}");
        Self {
            query: named("attention.self.query"),
            key: named("attention.self.key"),
            value: named("attention.self.value"),
            attended: named("attention.output.dense"),
            attended_norm: named("attention.output.LayerNorm"),
            wide: named("intermediate.dense"),
            narrow: named("output.dense"),
            norm: named("output.LayerNorm"),
        }
    }
}
