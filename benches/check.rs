//! Measures the check of documents: a quotation against a cited provision, a sentence sought in the whole corpus, and
//! hostile documents of 1 MB.
//!
//! `cargo bench --bench check -- SNAPSHOT`. Results are in `benches/README.md`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use hornbook_check::{Brief, BriefFormat, CheckOptions, Found, verify_quote};
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{Engine, LawOnDay};

/// The number of provisions whose sentences are sought.
const SENTENCES: u32 = 1_000;

/// The longest provisions, against which quotations are compared.
const LONGEST: usize = 20;

const MEGABYTE: usize = 1 << 20;

fn main() {
    let Some(dir) = std::env::args().skip(1).find(|argument| argument != "--bench").map(PathBuf::from) else {
        println!("nothing to measure: pass a snapshot");
        return;
    };
    let engine = Engine::new(Arc::new(Snapshot::open(&dir).expect("the snapshot opens"))).expect("it can be searched");
    let law = engine.law_on(None);
    against_cited(&engine, &law);
    sought_everywhere(&engine, &law);
    hostile(&engine, &law);
}

fn text_of<'e>(engine: &'e Engine, law: &LawOnDay, node: NodeOrdinal) -> &'e str {
    engine.wordings_on(law, node).expect("it is read")[0].text
}

fn provisions(engine: &Engine) -> Vec<NodeOrdinal> {
    let outline = &engine.snapshot().outline;
    (0..outline.len()).map(NodeOrdinal).filter(|&node| outline.is_provision(node)).collect()
}

/// The last sentence of a long provision, as it is and with one word changed.
fn against_cited(engine: &Engine, law: &LawOnDay) {
    let mut longest = provisions(engine);
    longest.sort_by_key(|&node| std::cmp::Reverse(text_of(engine, law, node).len()));
    let (mut copied, mut changed) = (Vec::new(), Vec::new());
    for &node in longest.iter().take(LONGEST) {
        let text = text_of(engine, law, node);
        let citation = engine.snapshot().cards.get(node).expect("it has a card").citation;
        let Some(last) = text.lines().rev().find(|line| line.split_whitespace().count() > 12) else { continue };
        let words: Vec<&str> = last.split_whitespace().take(24).collect();
        let mut other = words.clone();
        other[6] = "notwithstanding";
        for (quote, rates) in [(words.join(" "), &mut copied), (other.join(" "), &mut changed)] {
            let start = Instant::now();
            std::hint::black_box(verify_quote(engine, law, Some(citation), &quote).expect("it answers"));
            rates.push(text.len() as f64 / start.elapsed().as_secs_f64() / 1e6);
        }
    }
    println!(
        "against the {LONGEST} longest provisions, MB/s: verbatim {}; altered {}",
        spread(copied),
        spread(changed)
    );
}

/// A sentence from the middle of every so many provisions, without its citation.
fn sought_everywhere(engine: &Engine, law: &LawOnDay) {
    let all = provisions(engine);
    let step = (all.len() / SENTENCES as usize).max(1);
    let mut took = Vec::new();
    let mut found = 0;
    for &node in all.iter().step_by(step) {
        let text = text_of(engine, law, node);
        let words: Vec<&str> = text.split_whitespace().collect();
        let middle = words.len() / 2;
        if words.len() - middle < 16 {
            continue;
        }
        let quote = words[middle..middle + 16].join(" ");
        let start = Instant::now();
        let answer = verify_quote(engine, law, None, &quote).expect("it answers");
        took.push(start.elapsed().as_secs_f64() * 1e3);
        found += usize::from(!answer.found_in.is_empty());
    }
    println!("a sentence sought in everything, ms: {}; {found} of {} found", spread(took.clone()), took.len());
}

fn hostile(engine: &Engine, law: &LawOnDay) {
    let repeated = |piece: &str| piece.repeat(MEGABYTE / piece.len());
    let numbered: String = (0..).map(|number| format!("17 U.S.C. § {number}, ")).take(9_999).collect();
    let quotes: String = (0..)
        .map(|number| format!("“Except as otherwise provided {number} shall be” 17 U.S.C. § 512. "))
        .take(4_999)
        .collect();
    for (name, text) in [
        ("one word", "a".repeat(MEGABYTE)),
        ("section signs", repeated("§")),
        ("section signs with blanks", repeated("§ ")),
        ("full stops", repeated(". A")),
        ("opening marks", repeated("“a ")),
        ("brackets", repeated("[a")),
        ("ellipses in a quotation", format!("“{}” 17 U.S.C. § 512.", "the . . . ".repeat(100_000))),
        ("short forms", repeated("Id. ")),
        ("subsections", repeated("subsection (a) ")),
        ("a code without a number", repeated("U.S.C. § a ")),
        ("9,999 citations", numbered),
        ("4,999 citations and quotations", quotes),
    ] {
        for format in [BriefFormat::Text, BriefFormat::Markdown, BriefFormat::Html] {
            let start = Instant::now();
            let brief = Brief::read(text.as_bytes(), format).expect("it is text");
            let findings = Found::in_document(&brief, engine.snapshot().grammar()).map(|found| {
                found
                    .check(engine, law, &brief, Day::LAST, &CheckOptions::default())
                    .expect("it answers")
                    .findings
                    .len()
            });
            let outcome = findings.map_or_else(|error| error.to_string(), |count| format!("{count} findings"));
            println!("{name} as {}: {:.0} ms, {outcome}", format.as_str(), start.elapsed().as_secs_f64() * 1e3);
        }
    }
}

fn spread(mut figures: Vec<f64>) -> String {
    figures.sort_by(f64::total_cmp);
    let at = |share: f64| figures[((figures.len() - 1) as f64 * share) as usize];
    format!("{:.2} [{:.2} - {:.2}]", at(0.5), at(0.1), at(0.9))
}
