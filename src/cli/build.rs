//! `hornbook build`: builds a snapshot from a plan.

use std::path::PathBuf;

use clap::Args;
use hornbook_accounts::state::create_data_directory;
use hornbook_index_build::build::{BuildOptions, Built, Destination, build};
use hornbook_index_build::check::{Checked, check};
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_index_build::report::{Warning, WarningKind, WarningReport, WordsReport};
use hornbook_index_build::validity_counts::ValidityCounts;

use crate::cli::output::{count, print};
use crate::cli::table::{TextTable, bytes, seconds};
use crate::cli::{CommandResult, GlobalOptions, update};

/// Maximum number of warnings of a kind that the final report shows. `report.json` in the snapshot
/// lists all of them.
const WARNINGS_SHOWN: usize = 3;

/// Build a snapshot from a plan
///
/// The plan is a TOML file that lists the sources. Each source has the path of a file, folder or
/// archive (.gz, .zst, .zip, .tar, .tar.gz, .tgz and .tar.zst are read directly), a format, a
/// jurisdiction and an origin. corpus/FORMAT.md describes plans and formats;
/// corpus/sample/plan.toml is a small example.
///
/// A build is atomic: the snapshot is written next to its destination, synced and renamed. If
/// nothing changed since the last build, the existing snapshot is verified and kept. If a code body
/// would lose more than a tenth of its provisions, the new snapshot is built but does not replace
/// the old one.
///
/// A plan may name a sentence encoder, which embeds the passages a second time. This requires a
/// program built with the feature `encoder`.
#[derive(Debug, Args)]
pub(crate) struct Build {
    /// The plan, such as corpus/sample/plan.toml
    plan: PathBuf,

    /// Write the snapshot to this folder, which must not exist yet
    ///
    /// Without it, the snapshot goes to snapshots/<id> in the data directory and becomes the current one.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The folder that paths in the plan are relative to, instead of the plan's own folder
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,

    /// Check the plan and all sources, report every error, and write nothing
    #[arg(long)]
    check: bool,

    /// Write the snapshot to snapshots/<id> in the data directory, but leave the current one in use
    #[arg(long, conflicts_with = "out")]
    no_activate: bool,

    /// Treat warnings as errors, and also words of a source that are lost without a reason
    #[arg(long)]
    strict: bool,

    /// Replace the snapshot at --out
    #[arg(long, requires = "out")]
    replace: bool,

    /// Replace the old snapshot even if a code body loses more than a tenth of its provisions
    #[arg(long)]
    accept_loss: bool,

    /// Leave out the sources whose files are not there; each is a warning
    #[arg(long)]
    skip_absent: bool,

    /// Build again even if nothing changed
    #[arg(long)]
    fresh: bool,

    /// Print errors only, no progress and no report
    #[arg(long, short)]
    quiet: bool,
}

impl Build {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let destination = match self.out {
            Some(out) => Destination::Folder(out),
            None => {
                let data = options.configuration()?.data.dir;
                if !self.check {
                    // The directory will also contain the accounts, so it must be private to its
                    // owner from the start.
                    create_data_directory(&data)?;
                }
                if self.no_activate { Destination::Inactive(data) } else { Destination::DataDirectory(data) }
            }
        };
        let build_options = BuildOptions {
            plan: self.plan,
            sources: self.sources,
            destination,
            strict: self.strict,
            replace: self.replace,
            accept_loss: self.accept_loss,
            skip_absent: self.skip_absent,
            fresh: self.fresh,
            progress: if self.quiet { ProgressDisplay::Silent } else { ProgressDisplay::for_stderr() },
        };
        let report = if self.check {
            checked(&check(&build_options)?)
        } else {
            let built = build(&build_options)?;
            if let Destination::DataDirectory(data) = &build_options.destination {
                update::record_build(data, &build_options.plan, build_options.sources.as_deref())?;
            }
            report(&built)
        };
        if self.quiet { Ok(()) } else { print(&report) }
    }
}

/// Formats the result of a check that found no errors.
fn checked(checked: &Checked) -> String {
    let mut bodies = TextTable::new(["code body", "nodes"]);
    for (name, nodes) in &checked.code_bodies {
        bodies.row([name.clone(), nodes.to_string()]);
    }
    let mut out = bodies.render();
    out += &validity_text(&checked.validity);
    out += &words_text(&checked.words);
    out += &warnings_text(&checked.warnings, "a build lists all in its report.json");
    out + &format!("no errors in {}\n", count(checked.sources as u64, "source", "sources"))
}

/// Formats what each source states about when its wordings are in force.
fn validity_text(sources: &[(String, ValidityCounts)]) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let columns = ["source", "provisions", "wordings", "from a day", "until a day", "both", "uncertain", "undated"];
    let mut table = TextTable::new(columns);
    for (source, counts) in sources {
        let ValidityCounts { provisions, wordings, from, to, both, uncertain, undated, .. } = counts;
        let numbers = [provisions, wordings, from, to, both, uncertain, undated].map(u64::to_string);
        let [provisions, wordings, from, to, both, uncertain, undated] = numbers;
        table.row([source.clone(), provisions, wordings, from, to, both, uncertain, undated]);
    }
    table.render()
}

/// Formats warnings by kind, with examples. `list` names the place of the full list.
fn warnings_text(report: &WarningReport, list: &str) -> String {
    let mut out = String::new();
    let total: u64 = report.warning_counts.values().sum();
    if total > 0 {
        out += &format!("{}:\n", count(total, "warning", "warnings"));
    }
    let mut is_whole = true;
    for (kind, &number) in &report.warning_counts {
        let of_kind = || report.warnings.iter().filter(|warning| warning.kind == *kind);
        is_whole &= number <= WARNINGS_SHOWN as u64;
        out += &group_text(*kind, number, of_kind());
    }
    if !is_whole {
        out += &format!("  ({list})\n");
    }
    for (kind, number) in &report.mended_counts {
        out += &format!("repaired: {number} {}\n", kind.kind_description());
    }
    out
}

/// Lists a few warnings of a kind one by one; shortens many to their number with examples.
fn group_text<'w>(kind: WarningKind, number: u64, warnings: impl Iterator<Item = &'w Warning>) -> String {
    if number <= WARNINGS_SHOWN as u64 {
        return warnings.map(|warning| format!("  {warning}\n")).collect();
    }
    let examples: String = warnings.take(WARNINGS_SHOWN).map(|warning| format!("    {warning}\n")).collect();
    format!("  {number} {}, such as\n{examples}", kind.kind_description())
}

/// Formats the final report of a build.
fn report(built: &Built) -> String {
    let Built { path, manifest, report, unchanged } = built;
    let mut out = String::new();
    let mut bodies = TextTable::new(["code body", "of", "provisions", "in force", "chunks", "text"]);
    for body in &report.code_bodies {
        bodies.row([
            body.name.clone(),
            body.jurisdiction.clone(),
            body.provisions.to_string(),
            body.living.to_string(),
            body.chunks.to_string(),
            bytes(body.text_bytes),
        ]);
    }
    out += &bodies.render();
    if !report.zoning_layers.is_empty() {
        let mut layers = TextTable::new(["zoning layer", "features", "citations", "placeholders"]);
        for layer in &report.zoning_layers {
            layers.row([
                layer.jurisdiction.clone(),
                layer.features.to_string(),
                layer.citation_quality.clone(),
                layer.placeholders.to_string(),
            ]);
        }
        out += &layers.render();
    }
    out += &words_text(&report.words);
    let references = &report.references;
    out += &format!(
        "{} references between provisions, from {} citations in the texts; {} provisions cite another, {} are cited\n",
        references.references, references.citations, references.citing, references.cited
    );
    out += &warnings_text(&report.warnings, &format!("all are in {}", path.join("report.json").display()));
    for reused in &report.reused {
        out += &format!("reused: {reused}\n");
    }
    let size = manifest.files.iter().map(|file| file.size).sum();
    if *unchanged {
        out += &format!("nothing changed: {} is intact and was kept ({})\n", path.display(), bytes(size));
    } else {
        let (took, cpu, memory) =
            (seconds(report.seconds), seconds(report.cpu_seconds), bytes(report.peak_memory_bytes));
        out += &format!(
            "built {} ({}) in {took}, {cpu} of CPU time, at most {memory} of memory\n",
            path.display(),
            bytes(size)
        );
    }
    out
}

/// Formats the word accounts: how many words of each source were kept, left out or lost.
/// `report.json` contains all reasons and more examples.
fn words_text(reports: &[WordsReport]) -> String {
    if reports.is_empty() {
        return String::new();
    }
    let columns = ["source", "words", "law", "notes", "headings", "credits", "names", "left out", "added", "lost"];
    let mut table = TextTable::new(columns);
    let mut named = String::new();
    for report in reports {
        let left_out: u64 = report.left_out.values().sum();
        table.row([
            report.source.clone(),
            report.words.to_string(),
            report.law.to_string(),
            report.notes.to_string(),
            report.headings.to_string(),
            report.credits.to_string(),
            report.names.to_string(),
            left_out.to_string(),
            report.added.to_string(),
            report.unaccounted.to_string(),
        ]);
        for (reason, number) in &report.left_out {
            named += &format!("  {}: {number} words left out: {reason}\n", report.source);
        }
        if report.unaccounted > 0 {
            let examples = report.unaccounted_examples.join(", ");
            named += &format!("  {}: {} words lost, such as {examples}\n", report.source, report.unaccounted);
        }
    }
    table.render() + &named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_warnings_of_a_kind_are_a_number_with_examples() {
        let warning = |kind, line: u32| Warning { kind, place: format!("a:{line}"), what: "w".into() };
        let (few, many) = (WarningKind::Dates, WarningKind::EmptyProvision);
        let report = WarningReport {
            warning_counts: [(few, 1), (many, 70_000)].into(),
            warnings: std::iter::once(warning(few, 1)).chain((2..9).map(|line| warning(many, line))).collect(),
            mended_counts: [(WarningKind::CutHeading, 12)].into(),
            mended: Vec::new(),
        };
        let expected = "70001 warnings:\n  70000 provisions are in force but have no text, such as\n    a:2: w\n    a:3: w\n    \
                        a:4: w\n  a:1: w\n  (all are in report.json)\nrepaired: 12 headings were cut short; the texts \
                        contain them completely\n";
        assert_eq!(warnings_text(&report, "all are in report.json"), expected);
        assert_eq!(warnings_text(&WarningReport::default(), ""), "");
    }

    #[test]
    fn lost_words_are_shown_with_their_source() {
        let report = WordsReport {
            source: "A Code".to_owned(),
            words: 20,
            law: 12,
            left_out: [("page numbers".to_owned(), 3)].into(),
            unaccounted: 2,
            unaccounted_examples: vec!["the ×2".to_owned()],
            ..WordsReport::default()
        };
        let text = words_text(&[report]);
        assert!(
            text.contains("A Code     20   12      0         0        0      0         3      0     2\n"),
            "{text}"
        );
        assert!(text.contains("A Code: 3 words left out: page numbers\n"), "{text}");
        assert!(text.contains("A Code: 2 words lost, such as the ×2\n"), "{text}");
        assert_eq!(words_text(&[]), "");
    }
}
