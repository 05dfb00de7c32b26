//! Any bytes as a zoning layer: refused, or parsed into shapes.
#![no_main]

use hornbook_corpus::zoning::source::{LayerLimits, read_layer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(refused) = read_layer(bytes, "fuzz", &LayerLimits::default()) {
        assert!(refused.to_string().contains("fuzz"), "a message without the file's name");
    }
});
