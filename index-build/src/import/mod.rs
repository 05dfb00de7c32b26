//! Importers: one per source format. Each reads files of its format and passes nodes to the gatherer. None knows how a
//! snapshot is written.

pub mod native;
pub mod provisions_jsonl;
pub mod zoning;

use std::fmt;

use crate::gather::GatherError;
use crate::report::Place;
use crate::source_files::SourceError;

/// The longest line of a JSON Lines source.
pub(crate) const LINE_BYTES_MAX: usize = hornbook_corpus::texts::TEXT_BYTES_MAX;

/// Which code body an importer fills, from the plan.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub jurisdiction: &'a str,
    pub code_body: &'a str,
    pub key: &'a str,
    /// With `{number}`.
    pub citation: Option<&'a str>,
    /// Index into the catalogue's sources.
    pub source: u16,
    pub tags: &'a [String],
}

/// Why a source could not be imported. Every message starts with the place.
#[derive(Debug)]
pub enum ImportError {
    Source(SourceError),
    Gather(GatherError),
    Invalid { place: Place, what: String },
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => error.fmt(f),
            Self::Gather(error) => error.fmt(f),
            Self::Invalid { place, what } => write!(f, "{place}: {what}"),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Source(error) => Some(error),
            Self::Gather(error) => Some(error),
            Self::Invalid { .. } => None,
        }
    }
}

impl From<SourceError> for ImportError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl From<GatherError> for ImportError {
    fn from(error: GatherError) -> Self {
        Self::Gather(error)
    }
}

/// Tells a JSON mistake with the column, as serde counts it.
pub(crate) fn json_mistake(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    format!("column {}: {what}", error.column())
}

/// Lower-case letters and digits, other runs as one dash: a part of a source key.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if matches!(c, '–' | '—' | '‑' | '−') { '-' } else { c };
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let end = out.trim_end_matches(['-', '.']).len();
    out.truncate(end);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_hold_only_what_keys_may_hold() {
        assert_eq!(slug("300aa–1"), "300aa-1");
        assert_eq!(slug("13.1-345"), "13.1-345");
        assert_eq!(slug(" Executive Orders 2025. "), "executive-orders-2025");
        assert_eq!(slug("§ 8(G)"), "8-g");
    }
}
