//! Parses the citations in the JSON Lines files given as arguments. Reports how many do not round-trip, and how
//! long parsing takes. With `--find` it also finds citations in the texts.
//!
//! `cargo run --release -p hornbook-corpus --example citations -- FILE.jsonl ...`

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::io::BufRead;
use std::time::Instant;

use hornbook_corpus::citation::{BodyForm, Grammar};

#[derive(serde::Deserialize)]
struct Line {
    citation: String,
    #[serde(default)]
    text: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    Grammar::built_in();
    println!("table read in {:?}", start.elapsed());
    let grammar = Grammar::with_bodies(&[BodyForm {
        jurisdiction: "UT-SPANISH-FORK".parse()?,
        name: "Spanish Fork Municipal Code".to_owned(),
        key: "ut-spanish-fork/code".to_owned(),
        template: "Spanish Fork Mun. Code § {number}".to_owned(),
        aliases: Vec::new(),
    }])?;
    let find = std::env::args().any(|argument| argument == "--find");
    for path in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        let file = std::io::BufReader::new(std::fs::File::open(&path)?);
        let lines = file.lines().map(|line| Ok(serde_json::from_str(&line?)?));
        let lines: Vec<Line> = lines.collect::<Result<_, Box<dyn std::error::Error>>>()?;
        println!("{path}: {} citations", lines.len());
        round_trips(&grammar, &lines);
        speed(&grammar, &lines);
        if find {
            find_speed(&grammar, &lines);
        }
    }
    Ok(())
}

fn round_trips(grammar: &Grammar, lines: &[Line]) {
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut differing: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut keys: HashMap<String, String> = HashMap::new();
    let mut collisions = 0;
    for line in lines {
        let parsed = match grammar.parse(&line.citation) {
            Ok(parsed) => parsed,
            Err(error) => {
                note(&mut failures, &line.citation, &error.to_string());
                continue;
            }
        };
        let canonical = grammar.format(&parsed);
        if grammar.parse(&canonical).as_ref() != Ok(&parsed) {
            note(&mut failures, &line.citation, &canonical);
        }
        if canonical != line.citation.replace('–', "-") {
            note(&mut differing, &line.citation, &canonical);
        }
        let key = grammar.key(&parsed).to_string();
        match keys.get(&key) {
            Some(other) if *other != line.citation => {
                collisions += 1;
                println!("  same key {key}: {other} and {}", line.citation);
            }
            _ => {
                keys.insert(key, line.citation.clone());
            }
        }
    }
    println!("  {collisions} citations share a key with another spelling");
    for (title, notes) in [("does not round-trip", failures), ("canonical form differs", differing)] {
        for (shape, (count, example)) in notes {
            println!("  {title}: {count} of {shape}: {example}");
        }
    }
}

fn note(into: &mut BTreeMap<String, (usize, String)>, citation: &str, detail: &str) {
    let shape: String = citation.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    let mut shape = shape;
    while shape.contains("99") {
        shape = shape.replace("99", "9");
    }
    let entry = into.entry(shape).or_insert_with(|| (0, format!("{citation} | {detail}")));
    entry.0 += 1;
}

fn speed(grammar: &Grammar, lines: &[Line]) {
    // The fastest of ten passes, because other processes slow some passes down.
    let time = |work: &dyn Fn(&str)| {
        let pass = || {
            let start = Instant::now();
            for line in lines {
                work(&line.citation);
            }
            start.elapsed().as_nanos() / lines.len().max(1) as u128
        };
        (0..10).map(|_| pass()).min().unwrap_or(0)
    };
    let parse = time(&|text| {
        black_box(grammar.parse(text).ok());
    });
    let key = time(&|text| {
        black_box(grammar.key_or_folded(text));
    });
    println!("  parse {parse} ns, parse and key {key} ns per citation");
}

fn find_speed(grammar: &Grammar, lines: &[Line]) {
    let bytes: usize = lines.iter().map(|line| line.text.len()).sum();
    let start = Instant::now();
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        for (_, citation) in grammar.find_in(&line.text) {
            *found.entry(grammar.body(citation.body).map_or("", |body| body.key)).or_default() += 1;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("  searched {bytes} bytes in {seconds:.2} s, {:.0} MB/s: {found:?}", bytes as f64 / seconds / 1e6);
}
