//! Compiles the list of known words into a set that is searched without unpacking it.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const WORDS: &str = "words/known-words.txt";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={WORDS}");
    let mut set = fst::SetBuilder::memory();
    for word in fs::read_to_string(WORDS)?.lines() {
        set.insert(word).map_err(|error| format!("{WORDS}: '{word}': {error}"))?;
    }
    let bytes = set.into_inner()?;
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("known-words.fst"), bytes)?)
}
