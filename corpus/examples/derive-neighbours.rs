//! Computes the nearest tokens of each token from the compiled-in model, and writes the table to
//! `model/neighbours.bin`, which the build includes:
//! `cargo run --release -p hornbook-corpus --example derive-neighbours`. If words are given as arguments, it
//! computes the table, prints the neighbours of these words, and writes nothing.

use std::path::Path;
use std::process::ExitCode;

use hornbook_corpus::embed::embedder;
use hornbook_corpus::embed::neighbours::NeighbourTableBuilder;

fn main() -> ExitCode {
    let derivation = NeighbourTableBuilder::new();
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        return write_table(&derivation);
    }
    for word in words {
        show_neighbours(&derivation, &word);
    }
    ExitCode::SUCCESS
}

fn write_table(derivation: &NeighbourTableBuilder) -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("model/neighbours.bin");
    let table = derivation.table();
    if let Err(error) = std::fs::write(&path, &table) {
        eprintln!("cannot write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    println!("wrote {} bytes to {}, BLAKE3 {}", table.len(), path.display(), blake3::hash(&table));
    println!("now run the tests of embed: the fingerprint of the embedder changes with the table");
    ExitCode::SUCCESS
}

fn show_neighbours(derivation: &NeighbourTableBuilder, word: &str) {
    let mut tokens = Vec::new();
    embedder().tokenize(word, &mut tokens);
    for token in tokens {
        let row = derivation.row(token);
        let shown: Vec<String> =
            row.iter().map(|&(other, steps)| format!("{} {steps}", derivation.text(other))).collect();
        println!("{}: {}", derivation.text(token), shown.join(", "));
    }
}
