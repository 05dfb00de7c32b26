//! The account of a build as Markdown tables: what became of the sections and words of each source.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use hornbook_base::thousands::grouped;
use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::manifest::REPORT_FILE_NAME;
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::report::WordsReport;
use serde::Deserialize;

/// The part of a build's report that the tables need.
#[derive(Debug, Deserialize)]
struct BuildReport {
    words: Vec<WordsReport>,
}

/// The provisions of a code body, counted by what a reader has to know of them.
#[derive(Debug, Default)]
struct ProvisionCounts {
    in_force: u64,
    without_text: u64,
    uncertain: u64,
    with_wordings: u64,
    with_credit: u64,
    citing: u64,
    cited: u64,
}

/// The tables of the snapshot in `folder`.
pub(super) fn tables(snapshot: &Snapshot, folder: &Path) -> Result<String, Box<dyn Error>> {
    let path = folder.join(REPORT_FILE_NAME);
    let report = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let report: BuildReport =
        serde_json::from_slice(&report).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut out = String::from(
        "| code body | of | provisions | in force | without text | uncertain | second wordings | with source credit | cite others | cited |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for body in &snapshot.catalogue.code_bodies {
        let counts = counts(snapshot, body)?;
        let ProvisionCounts { in_force, without_text, uncertain, with_wordings, with_credit, citing, cited } = counts;
        let numbers =
            [body.provisions.into(), in_force, without_text, uncertain, with_wordings, with_credit, citing, cited];
        row(&mut out, [body.name.clone(), body.jurisdiction.to_string()], numbers);
    }
    out += "\n| source | words | law | notes | headings | credits | names | left out | lost |\n|---|---|---|---|---|---|---|---|---|\n";
    for words in &report.words {
        let left_out = words.left_out.values().sum();
        let WordsReport { words: all, law, notes, headings, credits, names, unaccounted, .. } = *words;
        row(&mut out, [words.source.clone()], [all, law, notes, headings, credits, names, left_out, unaccounted]);
    }
    out += "\nLeft out, by reason:\n\n";
    for words in report.words.iter().filter(|words| !words.left_out.is_empty()) {
        let reasons: Vec<String> =
            words.left_out.iter().map(|(reason, count)| format!("{} {reason}", grouped(*count))).collect();
        let _ = writeln!(out, "- {}: {}", words.source, reasons.join("; "));
    }
    out += "\n| source | publisher | edition | current through | licence |\n|---|---|---|---|---|\n";
    for source in &snapshot.catalogue.sources {
        let through = source.current_through.clone().unwrap_or_else(|| "not stated".to_owned());
        row(
            &mut out,
            [source.name.clone(), source.publisher.clone(), source.edition.clone(), through, source.license.clone()],
            [],
        );
    }
    Ok(out)
}

fn counts(snapshot: &Snapshot, body: &CodeBody) -> Result<ProvisionCounts, Box<dyn Error>> {
    let mut counts = ProvisionCounts::default();
    for node in body.nodes.iter().map(NodeOrdinal) {
        if !snapshot.outline.is_provision(node) {
            continue;
        }
        let record = snapshot.nodes.get(node)?;
        let is_in_force = record.wording(0).validity.status == Status::InForce;
        let has_text = record.wordings.iter().any(|wording| wording.text.length > 0);
        counts.in_force += u64::from(is_in_force);
        counts.without_text += u64::from(is_in_force && !has_text);
        counts.uncertain += u64::from(record.wordings.iter().any(|wording| wording.validity.is_uncertain));
        counts.with_wordings += u64::from(record.wordings.len() > 1);
        counts.with_credit += u64::from(record.wordings.iter().any(|wording| wording.source_credit.is_some()));
        counts.citing += u64::from(snapshot.references.outgoing(node).next().is_some());
        counts.cited += u64::from(snapshot.references.incoming(node).next().is_some());
    }
    Ok(counts)
}

fn row<const T: usize, const N: usize>(out: &mut String, texts: [String; T], numbers: [u64; N]) {
    let cells = texts.into_iter().map(|text| text.replace('|', "\\|")).chain(numbers.map(grouped));
    let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_bars_escaped() {
        let mut out = String::new();
        row(&mut out, ["A | B".to_owned()], [1_000]);
        assert_eq!(out, "| A \\| B | 1,000 |\n");
    }
}
