//! What an importer is told of the code body that it fills.

/// The longest line of a JSON Lines source.
pub(crate) const LINE_BYTES_MAX: usize = hornbook_corpus::texts::TEXT_BYTES_MAX;

/// The code body that an importer fills, from the plan.
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
    /// What the plan sets for this format; checked when the plan was read.
    pub options: &'a toml::Table,
}
