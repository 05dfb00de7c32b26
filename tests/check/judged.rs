//! Judged briefs. A mark is `⟦c ANSWER | CITATION⟧text⟦/⟧` around a citation, `⟦q VERDICT | CITATION⟧text⟦/⟧` around a
//! quotation; the marks are taken out before the brief is checked. `HORNBOOK_SHOW_MISSES=1` prints what is missed.
//!
//! The briefs in `sample` cite the sample corpus, those in `federal` titles of the United States Code, which are checked
//! where the file of the code is at hand. With `HORNBOOK_TEST_CORPORA` set, it must be.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hornbook::api::as_of::today;
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_check::{
    Brief, BriefFormat, BriefPlace, CheckOptions, CitationFinding, Finding, Found, QuotationFinding, QuotationVerdict,
};
use hornbook_corpus::citation::Grammar;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_search::Engine;

use crate::sample::ENGINE;

/// A mark: whether it is around a citation, its answer, the citation, and its bytes in the brief without marks.
#[derive(Debug)]
struct Mark {
    is_citation: bool,
    answer: String,
    citation: String,
    range: std::ops::Range<usize>,
}

/// Takes the marks out of a brief.
fn unmarked(text: &str) -> (String, Vec<Mark>) {
    let (mut brief, mut marks, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once('⟦') {
        brief.push_str(before);
        let (mark, after) = after.split_once('⟧').expect("a mark is closed");
        rest = after;
        if mark == "/" {
            let open: &mut Mark = marks.last_mut().expect("a mark was opened");
            open.range.end = brief.len();
            continue;
        }
        let (kind, judged) = mark.split_once(' ').expect("a mark has a kind");
        let (answer, citation) = judged.split_once('|').expect("a mark has an answer and a citation");
        let text = |text: &str| text.trim().to_owned();
        marks.push(Mark {
            is_citation: kind == "c",
            answer: text(answer),
            citation: text(citation),
            range: brief.len()..brief.len(),
        });
    }
    brief.push_str(rest);
    (brief, marks)
}

/// The bytes of a finding in the brief, as far as its place tells.
fn bytes_of(brief: &str, place: BriefPlace, text: &str) -> std::ops::Range<usize> {
    let line = place.line.expect("text has lines") as usize;
    let start: usize = brief.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let column = place.column.expect("text has columns") as usize;
    let within = brief[start..].char_indices().nth(column - 1).map_or(0, |(at, _)| at);
    start + within..start + within + text.len()
}

#[derive(Default)]
struct Score {
    marked: usize,
    found: usize,
    right: usize,
}

impl Score {
    fn precision(&self) -> f64 {
        self.right as f64 / self.found.max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / self.marked.max(1) as f64
    }
}

#[derive(Default)]
struct Scores {
    citations: Score,
    quotations: Score,
}

impl Scores {
    fn add(&mut self, engine: &Engine, path: &Path) {
        let marked = fs::read_to_string(path).unwrap();
        let (text, marks) = unmarked(&marked);
        let format = BriefFormat::of_file_name(path.to_str().unwrap()).unwrap();
        let brief = Brief::read(text.as_bytes(), format).unwrap();
        let day = today(SystemClock::start().now());
        let law = engine.law_on(Some(day));
        let found = Found::in_document(&brief, engine.snapshot().grammar()).unwrap();
        let report = found.check(engine, &law, &brief, day, &CheckOptions::default()).unwrap();
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path).display();
        let mut is_met = vec![false; marks.len()];
        for finding in &report.findings {
            let range = bytes_of(&text, finding.place(), finding.text());
            let (is_citation, score) = match finding {
                Finding::Citation(_) => (true, &mut self.citations),
                Finding::Quotation(_) => (false, &mut self.quotations),
            };
            if matches!(finding, Finding::Quotation(finding) if finding.verdict == QuotationVerdict::Unchecked) {
                continue;
            }
            score.found += 1;
            let overlaps = |mark: &Mark| mark.range.start < range.end && range.start < mark.range.end;
            let own = marks.iter().position(|mark| mark.is_citation == is_citation && overlaps(mark));
            let is_right = own.is_some_and(|own| {
                is_met[own] = true;
                match finding {
                    Finding::Citation(finding) => is_right_citation(engine.snapshot().grammar(), &marks[own], finding),
                    Finding::Quotation(finding) => is_right_quotation(&marks[own], finding),
                }
            });
            score.right += usize::from(is_right);
            if !is_right {
                let expected = own.map(|own| format!("{} | {}", marks[own].answer, marks[own].citation));
                let got = match finding {
                    Finding::Citation(finding) => finding.citation.clone(),
                    Finding::Quotation(finding) => finding.attributed_to.clone(),
                };
                show(&format!(
                    "{name}: {}: '{}' is {} {got:?}, expected {expected:?}; {}",
                    finding.place(),
                    finding.text(),
                    finding.verdict(),
                    finding.message()
                ));
            }
        }
        for (mark, is_met) in marks.iter().zip(is_met) {
            let score = if mark.is_citation { &mut self.citations } else { &mut self.quotations };
            score.marked += 1;
            if !is_met {
                let line = text[..mark.range.start].matches('\n').count() + 1;
                show(&format!(
                    "{name}: line {line}: missed '{}': {} | {}",
                    &text[mark.range.clone()],
                    mark.answer,
                    mark.citation
                ));
            }
        }
    }
}

fn show(miss: &str) {
    if std::env::var_os("HORNBOOK_SHOW_MISSES").is_some() {
        eprintln!("{miss}");
    }
}

fn is_right_citation(grammar: &Grammar, mark: &Mark, finding: &CitationFinding) -> bool {
    // The same citation in any spelling.
    let read = |text: &str| grammar.parse(text).map_err(|_| text.to_owned());
    let is_named =
        mark.citation == "-" || finding.citation.as_deref().is_some_and(|found| read(found) == read(&mark.citation));
    mark.answer == finding.verdict.as_str() && is_named
}

fn is_right_quotation(mark: &Mark, finding: &QuotationFinding) -> bool {
    // The same provision: a judge names it with or without the subdivision.
    let is_same = |named: &str| {
        let section = |text: &str| text.split('(').next().unwrap_or_default().trim().replace('–', "-");
        section(named) == section(&mark.citation)
    };
    let is_named = match finding.verdict {
        QuotationVerdict::Elsewhere => finding.found_in.iter().any(|provision| is_same(&provision.citation)),
        _ => finding.attributed_to.as_deref().is_some_and(is_same),
    };
    mark.answer == finding.verdict.as_str() && is_named
}

fn briefs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check/briefs").join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn judge(engine: &Engine, folder: &str) {
    let mut scores = Scores::default();
    let paths = briefs(folder);
    assert!(paths.len() >= 30, "{} briefs", paths.len());
    paths.iter().for_each(|path| scores.add(engine, path));
    let Scores { citations, quotations } = &scores;
    for (what, score) in [("citations", citations), ("quotations", quotations)] {
        eprintln!(
            "{folder} {what}: {} marked, {} found, precision {:.4}, recall {:.4}",
            score.marked,
            score.found,
            score.precision(),
            score.recall()
        );
    }
    assert!(citations.marked >= 400 && quotations.marked >= 200);
    assert!(citations.precision() >= 0.98 && citations.recall() >= 0.98, "citations of {folder}");
    assert!(quotations.precision() >= 0.97 && quotations.recall() >= 0.97, "quotations of {folder}");
}

#[test]
fn briefs_on_the_sample_law_are_judged_right() {
    judge(&ENGINE, "sample");
}

#[test]
fn briefs_on_the_united_states_code_are_judged_right() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let sources = std::env::var_os("HORNBOOK_CORPORA").map_or_else(beside, PathBuf::from);
    let file = sources.join("us-code-uslm-2025.tar.zst");
    if !file.is_file() {
        let is_required = std::env::var_os("HORNBOOK_TEST_CORPORA").is_some();
        assert!(!is_required, "HORNBOOK_TEST_CORPORA is set, but {} is not there", file.display());
        println!("skipped: {} is not there; with HORNBOOK_TEST_CORPORA set, this test fails", file.display());
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    let options = BuildOptions {
        plan: Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/plans/real-files/us-code-uslm-2025.toml"),
        sources: Some(sources),
        destination: Destination::Folder(out.clone()),
        strict: false,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: false,
        progress: ProgressDisplay::Silent,
    };
    build(&options).unwrap();
    let engine = Engine::new(Arc::new(Snapshot::open(&out).unwrap())).unwrap();
    judge(&engine, "federal");
}
