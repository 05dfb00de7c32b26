//! `hornbook suggest`: completes headings and citations.

use std::sync::Arc;

use clap::Args;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{Engine, SuggestRequest, Suggestion};

use crate::cli::as_of::AsOf;
use crate::cli::filters::subtree_of;
use crate::cli::output::{CommandError, currency, print, print_json, status_mark};
use crate::cli::search::snapshot_and_text;
use crate::cli::{CommandResult, GlobalOptions};

/// Complete a heading or a citation
///
/// Headings that begin with the words come first, then those that contain them, then those with a
/// similar spelling.
#[derive(Debug, Args)]
pub(crate) struct Suggest {
    /// Beginning of a heading or citation; put the folder of the snapshot before it to use another
    /// than the current one
    #[arg(value_name = "[SNAPSHOT] TEXT", required = true)]
    words: Vec<String>,

    /// Suggest only from this jurisdiction and the jurisdictions in it
    #[arg(long, value_name = "CODE")]
    jurisdiction: Option<ShortCode>,

    #[command(flatten)]
    as_of: AsOf,

    /// Number of suggestions
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    limit: usize,
}

impl Suggest {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let (folder, text) = snapshot_and_text("suggest", &self.words)?;
        let engine = Engine::new(Arc::new(Snapshot::open(&options.snapshot(folder)?)?))?;
        let range = self.jurisdiction.map(|code| subtree_of(engine.snapshot(), &code)).transpose()?;
        let day = self.as_of.day();
        let request = SuggestRequest { limit: self.limit, range, day: Some(day), ..SuggestRequest::new(&text) };
        let found = engine.suggest(&request)?;
        match options.json {
            true => print_json(&found),
            false => print(&as_text(&engine, &found.suggestions, found.did_you_mean.as_deref(), day)?),
        }
    }
}

fn as_text(engine: &Engine, suggestions: &[Suggestion], meant: Option<&str>, day: Day) -> Result<String, CommandError> {
    let mut out = meant.map_or_else(String::new, |meant| format!("did you mean: {meant}\n"));
    for suggestion in suggestions {
        let status = status_mark(suggestion.status);
        let place = match (suggestion.kind, suggestion.count) {
            ("citation", 1) => String::new(),
            (_, 1) => format!("  ({})", suggestion.citation),
            (_, count) => format!("  ({count} provisions, such as {})", suggestion.citation),
        };
        let currency = currency(engine, suggestion.node, day)?;
        let currency = if currency.is_empty() { currency } else { format!("  [{currency}]") };
        out += &format!("{}{place}{status}{currency}\n", suggestion.text);
    }
    if suggestions.is_empty() {
        out += "no suggestions\n";
    }
    Ok(out)
}
