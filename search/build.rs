//! Compiles the lists of known words into a set that is searched without unpacking it.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// The second list is ours: everyday names and abbreviations that the first lacks.
const LISTS: [&str; 2] = ["words/known-words.txt", "words/everyday-words.txt"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = BTreeSet::new();
    for list in LISTS {
        println!("cargo::rerun-if-changed={list}");
        words.extend(fs::read_to_string(list)?.lines().map(str::to_owned));
    }
    let mut set = fst::SetBuilder::memory();
    set.extend_iter(words)?;
    let bytes = set.into_inner()?;
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts")?;
    Ok(fs::write(Path::new(&out).join("known-words.fst"), bytes)?)
}
