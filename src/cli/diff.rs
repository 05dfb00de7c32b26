//! `hornbook diff`: what changed between two snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hornbook_corpus::catalogue::CodeBody;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_editions::{
    BodyComparison, ChangeKind, ChangedParts, CodeEdition, LawChange, ListedChange, TextDifference, compare, html_page,
    listed, marked_text, text_difference, without_counterpart,
};
use hornbook_index_build::data_directory::DataDirectory;
use hornbook_index_build::progress::ProgressDisplay;
use serde::Serialize;

use crate::cli::output::{CommandResult, count, print, print_json};
use crate::cli::{CommandError, GlobalOptions};

/// Changes of a code body that are listed without --all.
pub(super) const LISTED_MAX: usize = 20;

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

/// What differs between two snapshots.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiffReport {
    pub(super) bodies: Vec<BodyReport>,
    /// Code bodies that only one of the two snapshots has: nothing is said of their law.
    only_in_old: Vec<String>,
    only_in_new: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BodyReport {
    key: String,
    name: String,
    from: CodeEdition,
    to: CodeEdition,
    pub(super) changes: Vec<ChangeReport>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeReport {
    #[serde(flatten)]
    change: ListedChange,
    /// Empty unless --words or --html is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<TextDifference>,
}

/// Which changes are reported, and how.
#[derive(Debug, Default)]
pub(super) struct DiffOptions {
    /// Code bodies by key, id or name; all of them if empty.
    code_bodies: Vec<String>,
    /// All but notes if empty.
    kinds: Vec<ChangeKind>,
    has_words: bool,
}

impl Diff {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let old = Snapshot::open(&folder(&self.old, options)?)?;
        let new = match &self.new {
            Some(named) => Snapshot::open(&folder(named, options)?)?,
            None => Snapshot::open(&options.snapshot(None)?)?,
        };
        let has_words = self.words || self.html.is_some();
        let wanted = DiffOptions { code_bodies: self.code_body, kinds: self.kind, has_words };
        let report = DiffReport::of(&old, &new, &wanted)?;
        if let Some(path) = &self.html {
            write_page(path, &report)?;
        }
        let most = if self.all { usize::MAX } else { LISTED_MAX };
        if options.json { print_json(&report) } else { print(&report.as_text(most, self.words)) }
    }
}

impl DiffReport {
    pub(super) fn of(old: &Snapshot, new: &Snapshot, wanted: &DiffOptions) -> Result<Self, CommandError> {
        let keys = wanted.keys_in(new)?;
        let nodes = new.catalogue.code_bodies.iter().map(|body| u64::from(body.nodes.len())).sum();
        let mut stage = ProgressDisplay::for_stderr().stage("comparing", "nodes", Some(nodes));
        let compared = compare(old, new, |count| stage.add(count))?;
        stage.finish();
        let mut bodies = Vec::new();
        for changes in compared {
            let body_of = |snapshot: &Snapshot| snapshot.catalogue.code_body(changes.body).cloned();
            let (Some(old_body), Some(new_body)) = (body_of(old), body_of(new)) else { continue };
            if !keys.is_empty() && !keys.contains(&new_body.key) {
                continue;
            }
            let (from, to) = (CodeEdition::of(old, &old_body), CodeEdition::of(new, &new_body));
            let reports = changes.changes.iter().filter(|change| wanted.has_kind(change.kind)).map(|change| {
                let differences = if wanted.has_words { differences(change, old, new)? } else { Vec::new() };
                Ok(ChangeReport { change: listed(change, (old, &from), (new, &to))?, differences })
            });
            let changes = reports.collect::<Result<Vec<_>, CommandError>>()?;
            bodies.push(BodyReport { key: new_body.key, name: new_body.name, from, to, changes });
        }
        let names = |of: &Snapshot, other: &Snapshot| -> Vec<String> {
            without_counterpart(of, other).map(|body| body.name.clone()).collect()
        };
        Ok(Self { bodies, only_in_old: names(old, new), only_in_new: names(new, old) })
    }

    /// Whether nothing differs.
    pub(super) fn is_empty(&self) -> bool {
        let is_same = self.bodies.iter().all(|body| body.changes.is_empty());
        is_same && self.only_in_old.is_empty() && self.only_in_new.is_empty()
    }

    /// At most so many changes of each code body, with the words that differ if they are wanted.
    pub(super) fn as_text(&self, most: usize, has_words: bool) -> String {
        let mut out = String::new();
        for BodyReport { name, from, to, changes, .. } in &self.bodies {
            let day = |edition: &CodeEdition| {
                edition.current_through.map_or_else(|| edition.edition.clone(), |day| day.to_string())
            };
            out += &format!("{name}, {} to {}: {}\n", day(from), day(to), counts(changes));
            for ChangeReport { change, differences } in changes.iter().take(most) {
                out += &format!("  {}\n", line(change));
                if has_words && !differences.is_empty() {
                    marked_text(differences).lines().for_each(|line| out += &format!("      {line}\n"));
                }
            }
            if changes.len() > most {
                out += &format!("  and {} more; 'hornbook diff --all' lists them\n", changes.len() - most);
            }
        }
        for (which, names) in [("older", &self.only_in_old), ("newer", &self.only_in_new)] {
            if !names.is_empty() {
                out += &format!("only the {which} snapshot has: {}\n", names.join(", "));
            }
        }
        out
    }
}

impl DiffOptions {
    fn has_kind(&self, kind: ChangeKind) -> bool {
        if self.kinds.is_empty() { kind.is_of_law() } else { self.kinds.contains(&kind) }
    }

    /// The keys of the code bodies that were asked for.
    fn keys_in(&self, new: &Snapshot) -> Result<Vec<String>, CommandError> {
        let is_named = |body: &&CodeBody, wanted: &str| {
            body.key == wanted || body.name.eq_ignore_ascii_case(wanted) || body.id.to_string() == wanted
        };
        let key = |wanted: &String| {
            let found = new.catalogue.code_bodies.iter().find(|body| is_named(body, wanted));
            found.map(|body| body.key.clone()).ok_or_else(|| {
                format!("the newer snapshot has no code body '{wanted}'; 'hornbook inspect' lists them").into()
            })
        };
        self.code_bodies.iter().map(key).collect()
    }
}

fn differences(change: &LawChange, old: &Snapshot, new: &Snapshot) -> Result<Vec<TextDifference>, CommandError> {
    let (Some(before), Some(now)) = (change.old, change.new) else { return Ok(Vec::new()) };
    if !change.parts.has(ChangedParts::TEXT) {
        return Ok(Vec::new());
    }
    let text = |of: &Snapshot, node| -> Result<String, CommandError> {
        let wording = &of.nodes.get(node)?.wordings[0];
        Ok(of.texts.get_verified(wording.text, &wording.text_sha256)?.to_owned())
    };
    Ok(text_difference(&text(old, before)?, &text(new, now)?))
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
    let bodies: Vec<BodyComparison> = report
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
