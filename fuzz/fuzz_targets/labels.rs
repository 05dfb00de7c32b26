//! Any text: its labels are parsed, and the layout fits the text.
#![no_main]

use hornbook_index_build::import::labels::{Scheme, layout_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for scheme in [Scheme::found(), Scheme::cfr()] {
        let layout = layout_of(text, &scheme);
        assert!(layout.is_empty() || layout.check_against_text(text).is_none(), "{:?}", layout.check_against_text(text));
    }
});
