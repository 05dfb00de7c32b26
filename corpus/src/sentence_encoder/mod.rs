//! Sentence encoders: transformers of the BERT family with mean pooling. One embeds the passages of a second space when a
//! snapshot is built, and lies in the snapshot to embed the queries of deep searches.
//!
//! `shape` names its parts, `stored` is its file, `vector` brings what it computes into its space. With the feature
//! `encoder`, `transformer` computes and `query` embeds queries; without it, `no_query` leaves the file alone. Only this
//! module uses candle.

#[cfg_attr(not(feature = "encoder"), path = "no_query.rs")]
mod query;
mod shape;
mod stored;
#[cfg(feature = "encoder")]
mod transformer;
mod vector;

pub use query::QueryEncoder;
pub use shape::{EncoderShape, Part, PartSize};
pub use stored::{StoredEncoder, write_encoder};
#[cfg(feature = "encoder")]
pub use transformer::{EncoderFailed, Transformer, WordRows};
pub use vector::vector_of;
