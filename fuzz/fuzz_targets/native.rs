//! Any bytes as a file of the native interchange form: refused with a place, or read.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hornbook_index_build::import::native::parse_for_fuzzing(bytes));
