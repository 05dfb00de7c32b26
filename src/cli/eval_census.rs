//! `hornbook eval --census`: the share of the citations of a census that a snapshot resolves, by jurisdiction, and the others with
//! their reasons.

use std::path::PathBuf;

use hornbook::evaluate::{
    CensusCount, CensusOutcome, CensusRow, CensusScore, MissReason, census_scores, read_census, resolve_census_row,
};
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_search::Engine;
use serde_json::{Value, json};

use crate::cli::output::count;
use crate::cli::table::TextTable;

/// Reads the files and resolves their citations.
pub(super) fn census(engine: &Engine, files: &[PathBuf]) -> Result<Vec<CensusScore>, Box<dyn std::error::Error>> {
    let mut rows: Vec<CensusRow> = Vec::new();
    for file in files {
        rows.extend(read_census(file)?);
    }
    let mut stage = ProgressDisplay::for_stderr().stage("resolving", "citations", Some(rows.len() as u64));
    let mut outcomes: Vec<(CensusRow, CensusOutcome)> = Vec::with_capacity(rows.len());
    for row in rows {
        let outcome = resolve_census_row(engine, &row)?;
        outcomes.push((row, outcome));
        stage.add(1);
    }
    stage.finish();
    Ok(census_scores(&outcomes))
}

/// The scores as a table, followed by the misses of each jurisdiction, at most `misses` of them.
pub(super) fn census_text(scores: &[CensusScore], misses: usize) -> String {
    let mut table = TextTable::new([
        "type",
        "jurisdiction",
        "rows",
        "resolved",
        "weighted",
        "other resolver",
        "weighted",
        "not loaded",
    ]);
    for score in scores {
        let [resolved, weighted] = shares(score.loaded, score.resolved);
        let [other, other_weighted] = shares(score.loaded, score.resolved_by_other);
        let (kind, jurisdiction) = (score.kind.clone(), score.jurisdiction.clone());
        let (rows, not_loaded) = (score.loaded.rows.to_string(), score.not_loaded.rows.to_string());
        table.row([kind, jurisdiction, rows, resolved, weighted, other, other_weighted, not_loaded]);
    }
    let mut out = table.render();
    for score in scores.iter().filter(|score| !score.misses.is_empty()) {
        out += &misses_text(score, misses);
    }
    out
}

fn misses_text(score: &CensusScore, most: usize) -> String {
    let of_reason = |reason: MissReason| {
        let misses = score.misses.iter().filter(|miss| miss.reason == reason).count();
        (misses > 0).then(|| format!("{} {misses}", reason.as_str()))
    };
    let reasons: Vec<String> = MissReason::ALL.into_iter().filter_map(of_reason).collect();
    let all = count(score.misses.len() as u64, "miss", "misses");
    let mut out = format!("\n{} {}: {all} ({})\n", score.kind, score.jurisdiction, reasons.join(", "));
    let mut table = TextTable::new(["occurrences", "reason", "other resolver", "citation"]);
    for miss in score.misses.iter().take(most) {
        let other = if miss.resolved_by_other { "resolved" } else { "missed" };
        let (reason, citation) = (miss.reason.as_str().to_owned(), miss.citation.clone());
        table.row([miss.occurrences.to_string(), reason, other.to_owned(), citation]);
    }
    if most > 0 {
        out += &table.render();
    }
    if score.misses.len() > most {
        out += &format!("and {} more\n", score.misses.len() - most);
    }
    out
}

fn shares(all: CensusCount, part: CensusCount) -> [String; 2] {
    all.shares(part).map_or_else(|| ["-".to_owned(), "-".to_owned()], |shares| shares.map(percent))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The scores, with at most `misses` misses of each jurisdiction.
pub(super) fn census_json(scores: &[CensusScore], misses: usize) -> Value {
    let shown = scores
        .iter()
        .map(|score| CensusScore { misses: score.misses.iter().take(misses).cloned().collect(), ..score.clone() });
    json!({ "census": shown.collect::<Vec<_>>() })
}
