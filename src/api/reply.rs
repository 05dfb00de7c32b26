//! The answer of an operation, before a transport turns it into a response.

use std::sync::Arc;

use bytes::Bytes;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::catalogue::StoredEncoding;
use serde::Serialize;

use super::corpus::Corpus;
use super::error::ApiError;
use super::parameters::{Param, choice};

/// A format in which an answer is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    #[default]
    Json,
    Markdown,
    Text,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Json, Self::Markdown, Self::Text];

    /// Its name in the parameter `format`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Text => "txt",
        }
    }

    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Markdown => "text/markdown",
            Self::Text => "text/plain",
        }
    }
}

choice!(Format, name);

/// The parameter of operations that answer in several formats.
pub(super) const FORMAT: Param<Option<Format>> =
    Param::optional("format", "format of the answer; takes precedence over the Accept header");

/// Initial size of the buffer. Few answers are shorter.
const JSON_BYTES: usize = 256;

/// Serializes a value. `about` is the expected number of bytes.
pub(super) fn json(value: &impl Serialize, about: usize) -> Result<Bytes, ApiError> {
    let mut text = Vec::with_capacity(about.max(JSON_BYTES));
    let written = serde_json::to_writer(&mut text, value);
    written.map_err(|error| ApiError::internal(format!("write JSON: {error}")))?;
    Ok(text.into())
}

/// The answer of an operation.
#[derive(Clone, Debug)]
pub struct Reply {
    pub format: Format,
    pub body: Body,
    /// The name of each stage and how long it took, in microseconds.
    pub stages: Vec<(&'static str, u32)>,
    /// Set if it is one page of several.
    pub pages: Option<Pages>,
}

#[derive(Clone, Debug)]
pub enum Body {
    Bytes(Bytes),
    /// Cached by the service and requested often, so it is worth compressing once. The answer's version
    /// identifies exactly these bytes.
    Cached(Bytes),
    /// Stored ready to send in several encodings.
    Stored(StoredLayer),
}

/// Marks a response whose body is [`Body::Cached`].
#[derive(Clone, Copy, Debug)]
pub struct CachedBody;

/// A zoning layer of a snapshot.
#[derive(Clone, Debug)]
pub struct StoredLayer {
    pub corpus: Arc<Corpus>,
    pub short_code: ShortCode,
}

impl StoredLayer {
    pub fn bytes(&self, encoding: StoredEncoding) -> &[u8] {
        let layer = self.corpus.snapshot().zoning.layer(&self.short_code);
        layer.map_or(&[], |layer| layer.body(encoding))
    }
}

/// The number of this page and of the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pages {
    pub page: u32,
    pub last: u32,
}

impl Reply {
    pub fn json(value: &impl Serialize) -> Result<Self, ApiError> {
        Self::json_with_capacity(value, 0)
    }

    /// The same, for a value that needs about this many bytes.
    pub fn json_with_capacity(value: &impl Serialize, about: usize) -> Result<Self, ApiError> {
        Ok(Self::of(Format::Json, json(value, about)?))
    }

    pub fn of(format: Format, bytes: Bytes) -> Self {
        Self { format, body: Body::Bytes(bytes), stages: Vec::new(), pages: None }
    }

    /// JSON that the service caches.
    pub fn cached(bytes: Bytes) -> Self {
        Self { body: Body::Cached(bytes), ..Self::of(Format::Json, Bytes::new()) }
    }

    pub fn stored(layer: StoredLayer) -> Self {
        Self { format: Format::Json, body: Body::Stored(layer), stages: Vec::new(), pages: None }
    }
}
