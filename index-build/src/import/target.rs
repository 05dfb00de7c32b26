//! The code body that an importer fills, as the plan describes it.

/// The maximum length of a line of a JSON Lines source.
pub(crate) const LINE_BYTES_MAX: usize = hornbook_corpus::texts::TEXT_BYTES_MAX;

/// The code body that an importer fills, from the plan.
#[derive(Clone, Copy, Debug)]
pub struct ImportTarget<'a> {
    pub jurisdiction: &'a str,
    pub code_body: &'a str,
    pub key: &'a str,
    /// The citation template, with `{number}`.
    pub citation: Option<&'a str>,
    /// Index into the sources of the catalogue.
    pub source: u16,
    pub tags: &'a [String],
    /// The options of the plan for this format, already checked.
    pub options: &'a toml::Table,
}
