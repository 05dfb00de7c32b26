//! A census of citations: how often courts cite what, and whether another resolver found it. Each citation is resolved in a
//! snapshot, and every one that is not has a reason.
//!
//! A census is a CSV file with the columns `citation`, `type`, `jurisdiction`, `occurrences` and `resolved`, and others
//! that are not read.

use std::path::Path;

use hornbook_corpus::citation::Locator;
use hornbook_search::{AnswerKind, CitationAnswer, Engine, SearchError};
use serde::{Deserialize, Serialize};

/// The jurisdiction of rows without one, and of federal law in the names of files.
const UNKNOWN: &str = "-";

/// One line of a census.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CensusRow {
    pub citation: String,
    /// The kind of law: `Statute`, `Court Rule`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The short code of the jurisdiction whose courts write it like this. Empty if not known.
    pub jurisdiction: String,
    pub occurrences: u64,
    /// Whether the other resolver found it.
    pub resolved: bool,
}

/// Why a census cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CensusError {
    #[error("cannot read the census {file}: {source}; give CSV files of citations")]
    Open { file: String, source: csv::Error },
    #[error(
        "{file}, line {line}: {source}; a census has the columns citation, type, jurisdiction, occurrences (a number) \
         and resolved (true or false)"
    )]
    Row { file: String, line: u64, source: csv::Error },
    #[error("{file}, line {line}: the citation is empty; remove the line")]
    Empty { file: String, line: u64 },
}

/// Reads a file. Errors name the file and the line.
pub fn read_census(path: &Path) -> Result<Vec<CensusRow>, CensusError> {
    let file = path.display().to_string();
    let mut reader = csv::Reader::from_path(path).map_err(|source| CensusError::Open { file: file.clone(), source })?;
    let header = reader.headers().map_err(|source| CensusError::Row { file: file.clone(), line: 1, source })?.clone();
    let mut rows = Vec::new();
    let mut record = csv::StringRecord::new();
    loop {
        let line = reader.position().line();
        let bad = |source| CensusError::Row { file: file.clone(), line, source };
        if !reader.read_record(&mut record).map_err(bad)? {
            return Ok(rows);
        }
        let line = record.position().map_or(line, csv::Position::line);
        let bad = |source| CensusError::Row { file: file.clone(), line, source };
        let row: CensusRow = record.deserialize(Some(&header)).map_err(bad)?;
        if row.citation.trim().is_empty() {
            return Err(CensusError::Empty { file, line });
        }
        rows.push(row);
    }
}

/// Why a citation is not resolved to one provision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissReason {
    NotUnderstood,
    NoSuchSection,
    /// The snapshot has no law of the title, so the title does not exist any more, or is not in this copy.
    NoSuchTitle,
    Ambiguous,
    /// A section sign is followed by the number of a title or chapter: the number of the section was cut off.
    Container,
}

impl MissReason {
    pub const ALL: [Self; 5] =
        [Self::NotUnderstood, Self::NoSuchSection, Self::NoSuchTitle, Self::Ambiguous, Self::Container];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotUnderstood => "not understood",
            Self::NoSuchSection => "no such section",
            Self::NoSuchTitle => "no such title",
            Self::Ambiguous => "ambiguous",
            Self::Container => "container",
        }
    }
}

/// What became of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CensusOutcome {
    Resolved,
    Missed(MissReason),
    /// The snapshot does not have the code, or the title of it.
    NotLoaded,
}

/// Resolves the citation of a line, as a court of its jurisdiction writes it.
pub fn resolve_census_row(engine: &Engine, row: &CensusRow) -> Result<CensusOutcome, SearchError> {
    let answers = match row.jurisdiction.as_str() {
        "" => engine.resolve(&row.citation)?,
        jurisdiction => engine.resolve_in(jurisdiction, &row.citation)?,
    };
    let outcomes: Vec<CensusOutcome> =
        answers.iter().map(|answer| outcome_of(engine, row, answer)).collect::<Result<_, _>>()?;
    // All citations of a list must be resolved, except those of law that is not loaded.
    let missed = outcomes.iter().find(|outcome| matches!(outcome, CensusOutcome::Missed(_)));
    let is_resolved = outcomes.contains(&CensusOutcome::Resolved);
    Ok(missed.copied().unwrap_or(if is_resolved { CensusOutcome::Resolved } else { CensusOutcome::NotLoaded }))
}

fn outcome_of(engine: &Engine, row: &CensusRow, answer: &CitationAnswer) -> Result<CensusOutcome, SearchError> {
    let snapshot = engine.snapshot();
    let canonical = answer.citation.as_deref().unwrap_or_default();
    Ok(match answer.answer {
        AnswerKind::Resolved => {
            let node = answer.node_id.and_then(|id| snapshot.ordinal(id));
            let is_provision = node.is_some_and(|node| snapshot.outline.is_provision(node));
            // `RCW 49.60` cites a chapter. `Conn. Gen. Stat. § 52` lost the rest of a section.
            match is_provision || !row.citation.contains('§') {
                true => CensusOutcome::Resolved,
                false => CensusOutcome::Missed(MissReason::Container),
            }
        }
        AnswerKind::Ambiguous => {
            let citation = snapshot.grammar().parse(canonical).ok();
            let place = citation.map(|citation| citation.place);
            match place {
                Some(Locator::Numbered { last: Some(_), .. }) => CensusOutcome::Resolved,
                _ => CensusOutcome::Missed(MissReason::Ambiguous),
            }
        }
        AnswerKind::NotHeld if engine.is_in_missing_part(canonical)? => CensusOutcome::Missed(MissReason::NoSuchTitle),
        AnswerKind::NotHeld => CensusOutcome::Missed(MissReason::NoSuchSection),
        AnswerKind::OutsideCoverage | AnswerKind::Placeholder => CensusOutcome::NotLoaded,
        AnswerKind::Malformed => match is_loaded(engine, &row.jurisdiction) {
            true => CensusOutcome::Missed(MissReason::NotUnderstood),
            false => CensusOutcome::NotLoaded,
        },
    })
}

/// Whether the snapshot has law of a jurisdiction. A citation that is not understood is one of its courts.
fn is_loaded(engine: &Engine, jurisdiction: &str) -> bool {
    let mut listed = engine.snapshot().catalogue.jurisdictions.iter();
    listed.any(|listed| listed.short_code.as_str() == jurisdiction && !listed.is_placeholder())
}

/// A number of lines, and of the times that courts cite them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CensusCount {
    pub rows: u64,
    pub occurrences: u64,
}

impl CensusCount {
    fn add(&mut self, row: &CensusRow) {
        self.rows += 1;
        self.occurrences += row.occurrences;
    }

    /// The share of another count in this one, by lines and by the times that courts cite them.
    pub fn shares(self, part: Self) -> Option<[f64; 2]> {
        let share = |part: u64, all: u64| part as f64 / all as f64;
        let has_both = self.rows > 0 && self.occurrences > 0;
        has_both.then(|| [share(part.rows, self.rows), share(part.occurrences, self.occurrences)])
    }
}

/// A citation that is not resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CensusMiss {
    pub citation: String,
    pub occurrences: u64,
    pub reason: MissReason,
    /// Whether the other resolver found it.
    pub resolved_by_other: bool,
}

/// The results of one kind of law of one jurisdiction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CensusScore {
    pub kind: String,
    pub jurisdiction: String,
    /// The lines whose law is loaded. Only these are counted.
    pub loaded: CensusCount,
    pub resolved: CensusCount,
    /// Those of the loaded lines that the other resolver found.
    pub resolved_by_other: CensusCount,
    pub not_loaded: CensusCount,
    /// The most cited first.
    pub misses: Vec<CensusMiss>,
}

/// Adds up the outcomes by kind of law and jurisdiction, in order.
pub fn census_scores(outcomes: &[(CensusRow, CensusOutcome)]) -> Vec<CensusScore> {
    let mut scores: Vec<CensusScore> = Vec::new();
    for (row, outcome) in outcomes {
        let jurisdiction = if row.jurisdiction.is_empty() { UNKNOWN } else { &row.jurisdiction };
        let place = scores.iter().position(|score| score.kind == row.kind && score.jurisdiction == jurisdiction);
        let place = place.unwrap_or_else(|| {
            scores.push(CensusScore {
                kind: row.kind.clone(),
                jurisdiction: jurisdiction.to_owned(),
                loaded: CensusCount::default(),
                resolved: CensusCount::default(),
                resolved_by_other: CensusCount::default(),
                not_loaded: CensusCount::default(),
                misses: Vec::new(),
            });
            scores.len() - 1
        });
        let Some(score) = scores.get_mut(place) else { continue };
        if *outcome == CensusOutcome::NotLoaded {
            score.not_loaded.add(row);
            continue;
        }
        score.loaded.add(row);
        if row.resolved {
            score.resolved_by_other.add(row);
        }
        match *outcome {
            CensusOutcome::Missed(reason) => score.misses.push(CensusMiss {
                citation: row.citation.clone(),
                occurrences: row.occurrences,
                reason,
                resolved_by_other: row.resolved,
            }),
            CensusOutcome::Resolved | CensusOutcome::NotLoaded => score.resolved.add(row),
        }
    }
    for score in &mut scores {
        score.misses.sort_by(|a, b| b.occurrences.cmp(&a.occurrences).then_with(|| a.citation.cmp(&b.citation)));
    }
    scores.sort_by(|a, b| (&a.kind, &a.jurisdiction).cmp(&(&b.kind, &b.jurisdiction)));
    scores
}
