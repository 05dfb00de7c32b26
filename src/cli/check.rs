//! `hornbook check`: checks the citations and quotations of a document.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hornbook_check::{
    BRIEF_BYTES_MAX, Brief, BriefFormat, CheckOptions, CheckReport, Finding, FindingSeverity, Found, compared_text,
    html_page, sarif,
};
use hornbook_corpus::day::Day;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::Engine;

use crate::cli::as_of::AsOf;
use crate::cli::output::{CannotRun, CommandResult, count, print, print_json};
use crate::cli::{CommandError, GlobalOptions};

/// Check whether a document cites and quotes the law correctly
///
/// Reads text, Markdown, HTML, .docx, and .pdf with text. Finds every citation of a statute or regulation, follows
/// short forms such as "id." and "§ 12(b)", and compares each quotation near a citation with the
/// law. Prints what is wrong or doubtful, with its place; --all prints everything.
///
/// The exit code is 0 if nothing is wrong, 1 if something is, and 2 if the document could not be
/// checked. What is only doubtful, such as law that the snapshot does not have, is not wrong.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The document; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Its format: text, markdown, html, docx or pdf [default: by the end of the name, else text]
    #[arg(long, value_name = "FORMAT", value_parser = format_with_name)]
    format: Option<BriefFormat>,

    /// Snapshot to check with [default: the current one]
    #[arg(long, value_name = "DIR")]
    snapshot: Option<PathBuf>,

    #[command(flatten)]
    as_of: AsOf,

    /// Also report provisions whose wording took effect after this day, such as the day on which
    /// the document was written
    #[arg(long, value_name = "DATE")]
    since: Option<Day>,

    /// Print what is right too
    #[arg(long)]
    all: bool,

    /// Write a report for people to this file: the document with each finding at its place
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the findings to this file in SARIF, which editors and code review read
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

fn format_with_name(name: &str) -> Result<BriefFormat, String> {
    BriefFormat::with_name(name).ok_or_else(|| {
        let names: Vec<&str> = BriefFormat::ALL.iter().map(|format| format.as_str()).collect();
        format!("'{name}' is no format; write one of {}", names.join(", "))
    })
}

impl Check {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let (brief, report) = self.check(options).map_err(CannotRun)?;
        let name = self.file.display().to_string();
        if let Some(path) = &self.html {
            write_to(path, &html_page(&name, &brief, &report)).map_err(CannotRun)?;
        }
        if let Some(path) = &self.sarif {
            let log = format!("{:#}\n", sarif(&name, env!("CARGO_PKG_VERSION"), &report));
            write_to(path, &log).map_err(CannotRun)?;
        }
        match options.json {
            true => print_json(&report)?,
            false => print(&as_text(&name, &report, self.all))?,
        }
        match report.summary.wrong {
            0 => Ok(()),
            wrong => {
                let findings = count(report.findings.len() as u64, "finding", "findings");
                Err(format!("{name}: {wrong} of {findings} {} wrong", if wrong == 1 { "is" } else { "are" }).into())
            }
        }
    }

    fn check(&self, options: &GlobalOptions) -> Result<(Brief, CheckReport), CommandError> {
        let bytes = read(&self.file)?;
        let named = self.file.to_str().and_then(BriefFormat::of_file_name);
        let format = self.format.or(named).unwrap_or(BriefFormat::Text);
        let brief = Brief::read(&bytes, format).map_err(|error| format!("{}: {error}", self.file.display()))?;
        let engine = Engine::new(Arc::new(Snapshot::open(&options.snapshot(self.snapshot.clone())?)?))?;
        let day = self.as_of.day();
        let law = engine.law_on(Some(day));
        let found = Found::in_document(&brief, engine.snapshot().grammar())
            .map_err(|error| format!("{}: {error}", self.file.display()))?;
        let report = found.check(&engine, &law, &brief, day, &CheckOptions { since: self.since })?;
        Ok((brief, report))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let broken = |error: std::io::Error| format!("cannot read '{}': {error}", path.display());
    let mut bytes = Vec::new();
    // One byte more than allowed: a longer document is refused without reading all of it.
    let limit = BRIEF_BYTES_MAX as u64 + 1;
    if path == Path::new("-") {
        std::io::stdin().take(limit).read_to_end(&mut bytes).map_err(broken)?;
    } else {
        fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(broken)?;
    }
    Ok(bytes)
}

fn write_to(path: &Path, text: &str) -> Result<(), CommandError> {
    fs::write(path, text).map_err(|error| format!("cannot write '{}': {error}", path.display()).into())
}

fn as_text(name: &str, report: &CheckReport, all: bool) -> String {
    let mut out = String::new();
    for signs in &report.unreadable {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name}: UNREADABLE: {}", signs.message);
    }
    for finding in report.findings.iter().filter(|finding| all || finding.severity() != FindingSeverity::Right) {
        let sign = match finding.severity() {
            FindingSeverity::Right => "right",
            FindingSeverity::Doubtful => "look",
            FindingSeverity::Wrong => "WRONG",
        };
        let _ = writeln!(out, "{name}: {}: {sign}: {}: {}", finding.place(), finding.label(), shown(finding));
        let _ = writeln!(out, "    {}", finding.message());
        if let Finding::Quotation(quotation) = finding
            && !quotation.differences.is_empty()
        {
            let _ = writeln!(out, "    {}", compared_text(&quotation.differences));
        }
    }
    let summary = &report.summary;
    let _ = writeln!(
        out,
        "{}, {}: {} wrong, {} to look at, {} right",
        count(u64::from(summary.citations), "citation", "citations"),
        count(u64::from(summary.quotations), "quotation", "quotations"),
        summary.wrong,
        summary.doubtful,
        summary.right
    );
    out
}

fn shown(finding: &Finding) -> String {
    match finding {
        Finding::Citation(citation) => match citation.citation.as_ref().filter(|_| citation.is_short) {
            Some(full) => format!("{} ({full})", citation.text),
            None => citation.text.clone(),
        },
        Finding::Quotation(quotation) => {
            let source = quotation.attributed_to.as_ref().map_or(String::new(), |source| format!(" ({source})"));
            format!("“{}”{source}", quotation.text)
        }
    }
}
