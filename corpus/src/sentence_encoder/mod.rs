//! Sentence encoders: transformers of the BERT family with mean pooling. An encoder embeds the passages of a second
//! embedding space when a snapshot is built. It is stored in the snapshot to embed the queries of deep searches.
//!
//! `shape` lists its parts, `stored` is its file, `vector` converts its output to vectors of the space. With the
//! feature `encoder`, `transformer` runs the encoder and `query` embeds queries; without it, `no_query` ignores the
//! file. Only this module uses candle.

#[cfg_attr(not(feature = "encoder"), path = "no_query.rs")]
mod query;
mod shape;
mod stored;
#[cfg(feature = "encoder")]
mod transformer;
mod vector;

pub use query::QueryEncoder;
pub use shape::{EncoderShape, EncoderTensor, EncoderTensorSize};
pub use stored::{StoredEncoder, write_encoder};
#[cfg(feature = "encoder")]
pub use transformer::{EncoderRunError, Transformer, WordRows};
pub use vector::vector_of;
