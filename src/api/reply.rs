//! What an operation answers with, before a transport makes a response of it.

use std::sync::Arc;

use bytes::Bytes;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::catalogue::Encoding;
use serde::Serialize;

use super::corpus::Corpus;
use super::error::ApiError;
use super::parameters::{Param, choice};

/// A form in which an answer is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    #[default]
    Json,
    Markdown,
    Text,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Json, Self::Markdown, Self::Text];

    /// As the parameter `format` names it.
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

/// The parameter of operations that answer in several forms.
pub(super) const FORMAT: Param<Option<Format>> =
    Param::optional("format", "the format of the answer; takes precedence over the Accept header");

/// Few answers are shorter.
const JSON_BYTES: usize = 256;

/// JSON of about so many bytes.
pub(super) fn json(value: &impl Serialize, about: usize) -> Result<Bytes, ApiError> {
    let mut text = Vec::with_capacity(about.max(JSON_BYTES));
    let written = serde_json::to_writer(&mut text, value);
    written.map_err(|error| ApiError::internal(format!("write JSON: {error}")))?;
    Ok(text.into())
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub format: Format,
    pub body: Body,
    /// How long its stages took, in microseconds.
    pub stages: Vec<(&'static str, u32)>,
    /// Where it is one page of several.
    pub pages: Option<Pages>,
}

#[derive(Clone, Debug)]
pub enum Body {
    Bytes(Bytes),
    /// Kept by the service, and asked for often: worth packing once. The version of the answer names these very bytes.
    Kept(Bytes),
    /// Stored ready to send in several encodings.
    Stored(StoredLayer),
}

/// In a response: its body is [`Body::Kept`].
#[derive(Clone, Copy, Debug)]
pub struct PackedOnce;

/// A zoning layer of a snapshot.
#[derive(Clone, Debug)]
pub struct StoredLayer {
    pub corpus: Arc<Corpus>,
    pub short_code: ShortCode,
}

impl StoredLayer {
    pub fn bytes(&self, encoding: Encoding) -> &[u8] {
        let layer = self.corpus.snapshot().zoning.layer(&self.short_code);
        layer.map_or(&[], |layer| layer.body(encoding))
    }
}

/// Which pages there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pages {
    pub page: u32,
    pub last: u32,
}

impl Reply {
    pub fn json(value: &impl Serialize) -> Result<Self, ApiError> {
        Self::long_json(value, 0)
    }

    /// The same for what has about so many bytes.
    pub fn long_json(value: &impl Serialize, about: usize) -> Result<Self, ApiError> {
        Ok(Self::of(Format::Json, json(value, about)?))
    }

    pub fn of(format: Format, bytes: Bytes) -> Self {
        Self { format, body: Body::Bytes(bytes), stages: Vec::new(), pages: None }
    }

    /// JSON that the service keeps.
    pub fn kept(bytes: Bytes) -> Self {
        Self { body: Body::Kept(bytes), ..Self::of(Format::Json, Bytes::new()) }
    }

    pub fn stored(layer: StoredLayer) -> Self {
        Self { format: Format::Json, body: Body::Stored(layer), stages: Vec::new(), pages: None }
    }
}
