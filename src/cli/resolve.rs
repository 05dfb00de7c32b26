//! `hornbook resolve`: which provisions a citation names.

use std::sync::Arc;

use clap::Args;
use hornbook::search::{AnswerKind, CitationAnswer, Engine};
use hornbook_corpus::snapshot::Snapshot;
use serde_json::json;

use crate::cli::output::{print, print_json};
use crate::cli::search::snapshot_and_text;
use crate::cli::{CommandResult, Options};

/// Say which provision a citation names
///
/// In any spelling; a list such as "42 U.S.C. §§ 1981, 1983" gives an answer for each citation. An answer is resolved,
/// ambiguous, not_held (the code is held, the section is not), outside_coverage (the code is not held), placeholder (the
/// jurisdiction is listed, but has no law yet) or malformed. The command fails unless every citation is resolved.
#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// What to resolve, such as "42 USC 1983(b)", after the snapshot's folder if it is not data/current
    #[arg(value_name = "[SNAPSHOT] CITATION", required = true)]
    words: Vec<String>,
}

impl Resolve {
    pub(super) fn run(self, options: &Options) -> CommandResult {
        let (folder, citation) = snapshot_and_text("resolve", &self.words)?;
        let engine = Engine::new(Arc::new(Snapshot::open(&options.snapshot(folder)?)?))?;
        let answers = engine.resolve(&citation)?;
        match options.json {
            true => print_json(&json!({ "answers": answers }))?,
            false => print(&answers.iter().map(as_text).collect::<String>())?,
        }
        let unresolved = answers.iter().filter(|answer| answer.answer != AnswerKind::Resolved).count();
        match unresolved {
            0 => Ok(()),
            _ => Err(format!("{unresolved} of {} citations did not resolve to one provision", answers.len()).into()),
        }
    }
}

fn as_text(answer: &CitationAnswer) -> String {
    let mut out = format!("{}: {}\n", answer.answer.as_str(), answer.message);
    for node in &answer.candidates {
        let status = if node.status.is_living() { String::new() } else { format!(" [{}]", node.status.as_str()) };
        out += &format!("  {}  {}{status}\n    id {}\n", node.citation, node.heading, node.node_id);
    }
    if !answer.subdivision.is_empty() {
        out += &format!("  subdivision ({})\n", answer.subdivision.join(")("));
    }
    out
}
