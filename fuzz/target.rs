//! The code body that fuzzed sources are imported into.

use hornbook_index_build::import::target::ImportTarget;

pub fn target(options: &toml::Table) -> ImportTarget<'_> {
    ImportTarget { jurisdiction: "XA", code_body: "F", key: "xa/f", citation: None, source: 0, tags: &[], options }
}
