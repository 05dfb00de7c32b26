//! `hornbook sources`: the catalogue of official sources.

use clap::Args;
use hornbook::sources::catalogue::{PublishedSource, SourceKind, SourceReadiness, find, sources};
use hornbook::sources::plans::SourceCollection;

use crate::cli::output::{print, print_json};
use crate::cli::table::TextTable;
use crate::cli::{CommandResult, GlobalOptions};

/// List the official sources of law and their states
///
/// Without names: all sources of the federal government, the states, the District of Columbia, the
/// territories and large cities. 'ready' means that 'hornbook fetch' downloads the source and
/// 'hornbook build' reads it. 'untried' means that it also has a plan, but nobody has built all of
/// it: check the report of 'hornbook build --check'. With names, or codes of jurisdictions:
/// everything known about these sources, and the obstacles of those that are not ready.
#[derive(Debug, Args)]
pub(crate) struct Sources {
    /// Names of sources, such as us-code, or codes of jurisdictions, such as VA
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

impl Sources {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let mut chosen: Vec<&PublishedSource> = Vec::new();
        for name in &self.names {
            chosen.extend(named(name)?);
        }
        match (options.json, self.names.is_empty()) {
            (true, true) => print_json(&sources()),
            (true, false) => print_json(&chosen),
            (false, true) => print(&list()),
            (false, false) => {
                let all: Vec<String> = chosen.into_iter().map(details).collect();
                print(&all.join("\n"))
            }
        }
    }
}

/// The source with this name, or the sources of the jurisdiction with this code.
fn named(name: &str) -> Result<Vec<&'static PublishedSource>, String> {
    if let Some(source) = find(name) {
        return Ok(vec![source]);
    }
    if let Some(collection) = SourceCollection::find(name) {
        return Ok(collection.sources().collect());
    }
    let of_jurisdiction: Vec<_> =
        sources().iter().filter(|source| source.jurisdiction.eq_ignore_ascii_case(name)).collect();
    if of_jurisdiction.is_empty() { Err(unknown(name)) } else { Ok(of_jurisdiction) }
}

/// The source with this name, for commands that need one.
pub(super) fn known(name: &str) -> Result<&'static PublishedSource, String> {
    find(name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> String {
    format!("there is no source '{name}'; 'hornbook sources' lists them")
}

fn list() -> String {
    let mut table = TextTable::new(["source", "of", "law", "state"]).left_aligned();
    for source in sources() {
        let title = match source.kind {
            SourceKind::Official => source.title.clone(),
            SourceKind::Copy => format!("{} (copy)", source.title),
        };
        table.row([source.name.clone(), source.jurisdiction.clone(), title, source.state().to_string()]);
    }
    let collections = SourceCollection::all().iter().map(|collection| {
        format!("\n'{}' is {} of them, for one snapshot.", collection.name, collection.sources().count())
    });
    table.render()
        + &collections.collect::<String>()
        + "\n'hornbook sources NAME' shows details. 'hornbook fetch NAME' downloads a source that is ready.\n"
}

fn details(source: &PublishedSource) -> String {
    let mut out = format!("{}  {} ({})\n", source.name, source.title, source.jurisdiction);
    let mut line = |label: &str, text: &str| out += &format!("  {label:<12}{text}\n");
    line("state", &source.state().to_string());
    line("publisher", &source.publisher);
    line("page", &source.page);
    let verified = match &source.documented {
        Some(documented) => format!("documented: {documented}"),
        None => "not verified: the address was written from memory".to_owned(),
    };
    line("", &verified);
    line("format", &source.format);
    line("terms", &source.license);
    if let Some(importer) = &source.importer {
        let missing = if matches!(source.state(), SourceReadiness::NotImported | SourceReadiness::NotYet) {
            " (not in this version)"
        } else {
            ""
        };
        line("importer", &format!("{importer}{missing}"));
    }
    if let Some(obstacle) = &source.obstacle {
        line("obstacle", obstacle);
    }
    if let Some(untried) = &source.untried {
        line("untried", untried);
    }
    if let Some(edition) = &source.edition {
        let latest = if edition.page.is_some() { "the latest that the page names" } else { &edition.known };
        line("edition", &format!("{latest}, or the one given with --edition, such as {}", edition.known));
    }
    for file in &source.files {
        line("download", &file.url);
    }
    out
}
