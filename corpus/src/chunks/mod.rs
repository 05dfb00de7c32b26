//! Chunks: the stretches of about 200 tokens that provisions are cut into, each with a vector of its own.
//!
//! [`Chunker`] cuts a text along its paragraphs and sentences; [`ChunkTable`] is the mapped list of all chunks, which
//! says to which node a chunk belongs and where its text lies.

mod chunker;
mod sentences;
mod table;

pub use chunker::{CHUNK_TOKENS, CHUNK_TOKENS_MAX, Chunker, Chunks, TextChunk};
pub use sentences::sentence_ends;
pub use table::{Chunk, ChunkTable, ChunkTableError, ChunkTableWriter, FILE_NAME};
