//! Chunks: the passages of about 200 tokens that provisions are split into, each with its own vector.
//!
//! [`Chunker`] splits a text at paragraphs and sentences. [`ChunkTable`] is the mapped list of all chunks: the node of
//! each chunk, and the position of its text.

mod chunker;
mod sentences;
mod table;

pub use chunker::{CHUNK_TOKENS, CHUNK_TOKENS_MAX, Chunker, Chunks, TextChunk};
pub use sentences::sentence_ends;
pub use table::{Chunk, ChunkTable, ChunkTableError, ChunkTableWriter, FILE_NAME};
