//! Measures the lookup of industry codes: `cargo bench --bench naics`. Each query runs several
//! times and the median counts. Results are in `benches/README.md`.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use hornbook::formation::naics::lookup;

const ROUNDS: usize = 50;
const LIMIT: usize = 10;

fn main() {
    let began = Instant::now();
    black_box(lookup("bakery", LIMIT));
    println!("first lookup, which builds the index: {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
    let descriptions = [judged("judged.jsonl"), judged("dev.jsonl")].concat();
    report("judged descriptions", &descriptions);
    report("codes", &["8129", "812910", "44-45", "4"].map(str::to_owned));
    report("a typing error in each word", &["resturant kichen equipmant", "veternarian clinc"].map(str::to_owned));
    let unknown = (b'a'..=b'z').map(|letter| format!("{}qzxwvjk", letter as char)).collect::<Vec<_>>().join(" ");
    report("26 unknown words, 233 characters", &[unknown]);
    report("ten unknown words of ten letters", &[garbled(UNKNOWN_WORDS)]);
    report("ten words with two typing errors each", &[garbled(TWO_ERRORS_EACH)]);
    let beginnings = "con pro int res com pre dis car sta tra man par ele mar mat tex air ind equ spe ser pla str met rec pet oil out ant bra";
    report("30 word prefixes", &[beginnings.to_owned()]);
    report("256 characters of words common in industry names", &[COMMON_NAME_WORDS.chars().take(256).collect()]);
}

/// English-looking words that are more than two typing errors away from every known word. Each of
/// them is compared with all known words that have similar letters.
const UNKNOWN_WORDS: [&str; 10] = [
    "sertinamol",
    "contarised",
    "printeball",
    "restaloric",
    "manifertes",
    "protecaned",
    "stationels",
    "interasock",
    "cartinules",
    "distramone",
];

const TWO_ERRORS_EACH: [&str; 10] = [
    "resturantt",
    "veternarain",
    "electrcial",
    "contrctors",
    "manufcturng",
    "equipmnet",
    "instalation",
    "profesionl",
    "transprtion",
    "publihsers",
];

const COMMON_NAME_WORDS: &str = "manufacturing wholesale services other products equipment food machinery related supplies wholesalers metal \
    mining support merchant material paper transportation rental leasing stores retail wood plastics goods activities repair \
    maintenance all except farming construction";

fn garbled(words: [&str; 10]) -> String {
    words.join(" ")
}

fn judged(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/naics").join(file);
    let text = std::fs::read_to_string(path).expect("the descriptions are there");
    let query = |line: &str| {
        let judged: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        judged["query"].as_str().expect("a query is a text").to_owned()
    };
    text.lines().map(query).collect()
}

/// Prints microseconds per lookup: the median of all queries, the tenth and ninetieth percentiles,
/// the slowest query.
fn report(what: &str, queries: &[String]) {
    let mut medians: Vec<f64> = queries.iter().map(|query| median_micros(query)).collect();
    medians.sort_by(f64::total_cmp);
    let at = |share: f64| medians[((medians.len() - 1) as f64 * share) as usize];
    println!("{what}: {:.1} us ({:.1} - {:.1}), most {:.1}", at(0.5), at(0.1), at(0.9), at(1.0));
}

fn median_micros(query: &str) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            black_box(lookup(black_box(query), LIMIT));
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}
