//! `hornbook diff`: what changed between two snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_editions::{
    Change, ChangeKind, ChangedParts, ComparedBody, Edition, ListedChange, TextDifference, compare, html_page, listed,
    marked_text, text_difference, without_counterpart,
};
use hornbook_index_build::data_directory::DataDirectory;
use hornbook_index_build::progress::ProgressDisplay;
use serde::Serialize;

use crate::cli::output::{CommandResult, count, print, print_json};
use crate::cli::{CommandError, GlobalOptions};

/// Changes of a code body that are listed without --all.
const LISTED_MAX: usize = 20;

/// Show what changed between two snapshots
///
/// Lists, for every code body that both contain, what was added, repealed, renumbered, reworded,
/// retitled and moved. Texts are compared without typography and spacing. Every change says of which
/// day it is: 'effective' is the publisher's day, otherwise the change came between the days through
/// which the two editions are current.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The older snapshot: a folder, or the id of a snapshot of the data directory
    old: String,

    /// The newer one [default: the current snapshot]
    new: Option<String>,

    /// Compare only this code body, by key, id or name; may be repeated
    #[arg(long, value_name = "BODY")]
    code_body: Vec<String>,

    /// List only changes of these kinds; comma-separated or repeated
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kind_parser())]
    kind: Vec<ChangeKind>,

    /// List all changes, not only the first of each code body
    #[arg(long)]
    all: bool,

    /// Show the words that differ
    #[arg(long)]
    words: bool,

    /// Write the changes to this file as a page with both wordings side by side
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn kind_parser() -> impl TypedValueParser<Value = ChangeKind> {
    let kind = |name: String| ChangeKind::ALL.into_iter().find(|kind| kind.as_str() == name);
    PossibleValuesParser::new(ChangeKind::ALL.map(|kind| PossibleValue::new(kind.as_str())))
        .map(move |name| kind(name).unwrap_or(ChangeKind::Reworded))
}

/// What the command found.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiffReport {
    bodies: Vec<BodyReport>,
    /// Code bodies that only one of the two snapshots has: nothing is said of their law.
    only_in_old: Vec<String>,
    only_in_new: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BodyReport {
    key: String,
    name: String,
    from: Edition,
    to: Edition,
    changes: Vec<ChangeReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeReport {
    #[serde(flatten)]
    change: ListedChange,
    /// Empty unless --words or --html is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<TextDifference>,
}

impl Diff {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let old = Snapshot::open(&folder(&self.old, options)?)?;
        let new = match &self.new {
            Some(named) => Snapshot::open(&folder(named, options)?)?,
            None => Snapshot::open(&options.snapshot(None)?)?,
        };
        let report = self.report(&old, &new)?;
        if let Some(path) = &self.html {
            write_page(path, &report)?;
        }
        if options.json { print_json(&report) } else { print(&self.as_text(&report)) }
    }

    fn report(&self, old: &Snapshot, new: &Snapshot) -> Result<DiffReport, CommandError> {
        let wanted = self.wanted_bodies(new)?;
        let nodes = new.catalogue.code_bodies.iter().map(|body| u64::from(body.nodes.len())).sum();
        let mut stage = ProgressDisplay::for_stderr().stage("comparing", "nodes", Some(nodes));
        let compared = compare(old, new, |count| stage.add(count))?;
        stage.finish();
        let mut bodies = Vec::new();
        for changes in compared {
            let bodies_of = |snapshot: &Snapshot| snapshot.catalogue.code_body(changes.body).cloned();
            let (Some(old_body), Some(new_body)) = (bodies_of(old), bodies_of(new)) else { continue };
            if !wanted.is_empty() && !wanted.contains(&new_body.key) {
                continue;
            }
            let (from, to) = (Edition::of(old, &old_body), Edition::of(new, &new_body));
            let is_wanted = |change: &&Change| match self.kind.is_empty() {
                true => change.kind.is_of_law(),
                false => self.kind.contains(&change.kind),
            };
            let reports = changes.changes.iter().filter(is_wanted).map(|change| {
                let differences = self.differences(change, old, new)?;
                Ok(ChangeReport { change: listed(change, (old, &from), (new, &to))?, differences })
            });
            let changes = reports.collect::<Result<Vec<_>, CommandError>>()?;
            bodies.push(BodyReport { key: new_body.key, name: new_body.name, from, to, changes });
        }
        let names = |of: &Snapshot, other: &Snapshot| -> Vec<String> {
            without_counterpart(of, other).map(|body| body.name.clone()).collect()
        };
        Ok(DiffReport { bodies, only_in_old: names(old, new), only_in_new: names(new, old) })
    }

    /// The keys of the code bodies that were asked for.
    fn wanted_bodies(&self, new: &Snapshot) -> Result<Vec<String>, CommandError> {
        let is_named = |body: &&CodeBody, wanted: &str| {
            body.key == wanted || body.name.eq_ignore_ascii_case(wanted) || body.id.to_string() == wanted
        };
        let key = |wanted: &String| {
            let found = new.catalogue.code_bodies.iter().find(|body| is_named(body, wanted));
            found.map(|body| body.key.clone()).ok_or_else(|| {
                format!("the newer snapshot has no code body '{wanted}'; 'hornbook inspect' lists them").into()
            })
        };
        self.code_body.iter().map(key).collect()
    }

    fn differences(
        &self,
        change: &Change,
        old: &Snapshot,
        new: &Snapshot,
    ) -> Result<Vec<TextDifference>, CommandError> {
        let (Some(before), Some(now)) = (change.old, change.new) else { return Ok(Vec::new()) };
        if !change.parts.has(ChangedParts::TEXT) || !(self.words || self.html.is_some()) {
            return Ok(Vec::new());
        }
        let text = |of: &Snapshot, node| -> Result<String, CommandError> {
            let wording = &of.nodes.get(node)?.wordings[0];
            Ok(of.texts.get_verified(wording.text, &wording.text_sha256)?.to_owned())
        };
        Ok(text_difference(&text(old, before)?, &text(new, now)?))
    }

    fn as_text(&self, report: &DiffReport) -> String {
        let mut out = String::new();
        for BodyReport { name, from, to, changes, .. } in &report.bodies {
            let day = |edition: &Edition| {
                edition.current_through.map_or_else(|| edition.edition.clone(), |day| day.to_string())
            };
            out += &format!("{name}, {} to {}: {}\n", day(from), day(to), counts(changes));
            let most = if self.all { usize::MAX } else { LISTED_MAX };
            for ChangeReport { change, differences } in changes.iter().take(most) {
                out += &format!("  {}\n", line(change));
                if self.words && !differences.is_empty() {
                    marked_text(differences).lines().for_each(|line| out += &format!("      {line}\n"));
                }
            }
            if changes.len() > most {
                out += &format!("  and {} more; --all lists them\n", changes.len() - most);
            }
        }
        for (which, names) in [("older", &report.only_in_old), ("newer", &report.only_in_new)] {
            if !names.is_empty() {
                out += &format!("only the {which} snapshot has: {}\n", names.join(", "));
            }
        }
        out
    }
}

/// The folder of a snapshot that is named by its path or by its id.
fn folder(named: &str, options: &GlobalOptions) -> Result<PathBuf, CommandError> {
    let path = PathBuf::from(named);
    if path.exists() {
        return Ok(path);
    }
    let found = DataDirectory::new(options.configuration()?.data.dir).find(named);
    found.map(|stored| stored.path).map_err(|error| format!("there is no folder '{named}', and {error}").into())
}

/// `3 changes: 1 added, 2 reworded`.
fn counts(changes: &[ChangeReport]) -> String {
    if changes.is_empty() {
        return "nothing changed".to_owned();
    }
    let of = |kind: ChangeKind| changes.iter().filter(|report| report.change.kind == kind).count();
    let kinds = ChangeKind::ALL.into_iter().map(|kind| (kind, of(kind))).filter(|&(_, count)| count > 0);
    let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{count} {}", kind.as_str())).collect();
    format!("{}: {}", count(changes.len() as u64, "change", "changes"), kinds.join(", "))
}

fn line(change: &ListedChange) -> String {
    let node = &change.node;
    let formerly = change.formerly.as_ref().map_or(String::new(), |before| format!(" (formerly {})", before.citation));
    let acts = if change.acts.is_empty() { String::new() } else { format!(" by {}", change.acts.join("; ")) };
    format!(
        "{:<10} {} {}{formerly}, {}{acts}",
        change.kind.as_str(),
        node.citation,
        node.heading,
        change.date.sentence()
    )
}

fn write_page(path: &Path, report: &DiffReport) -> Result<(), CommandError> {
    let bodies: Vec<ComparedBody> = report
        .bodies
        .iter()
        .filter(|body| !body.changes.is_empty())
        .map(|BodyReport { name, changes, .. }| {
            let changes = changes.iter().map(|report| (report.change.clone(), report.differences.clone()));
            (name.clone(), changes.collect())
        })
        .collect();
    let text = html_page("Changes of the law", &bodies);
    fs::write(path, text).map_err(|error| format!("cannot write '{}': {error}", path.display()).into())
}
