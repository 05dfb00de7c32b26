//! The code body that fuzzed sources are imported into.

use hornbook_index_build::import::target::Target;

pub fn target(options: &toml::Table) -> Target<'_> {
    Target { jurisdiction: "XA", code_body: "F", key: "xa/f", citation: None, source: 0, tags: &[], options }
}
