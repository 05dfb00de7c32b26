//! `hornbook resolve`: finds the provisions that a citation refers to.

use std::sync::Arc;

use clap::Args;
use hornbook_corpus::day::Day;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_search::{AnswerKind, CitationAnswer, Engine};
use serde_json::json;

use crate::cli::as_of::AsOf;
use crate::cli::output::{CommandError, currency, print, print_json, status_mark};
use crate::cli::search::snapshot_and_text;
use crate::cli::{CommandResult, GlobalOptions};

/// Find the provision that a citation refers to
///
/// Understands any spelling. A list such as "42 U.S.C. §§ 1981, 1983" gets one answer for each
/// citation. An answer is resolved, ambiguous, not_held (the snapshot has the code but not the
/// section), outside_coverage (it does not have the code, or not the title), placeholder (the
/// jurisdiction has no law yet) or malformed. The exit code is 0 if every citation is resolved,
/// else 1.
#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// The citation, such as "42 USC 1983(b)"; put the folder of the snapshot before it to use
    /// another than the current one
    #[arg(value_name = "[SNAPSHOT] CITATION", required = true)]
    words: Vec<String>,

    #[command(flatten)]
    as_of: AsOf,
}

impl Resolve {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let (folder, citation) = snapshot_and_text("resolve", &self.words)?;
        let engine = Engine::new(Arc::new(Snapshot::open(&options.snapshot(folder)?)?))?;
        let day = self.as_of.day();
        let answers = engine.resolve_on(&engine.law_on(Some(day)), &citation)?;
        match options.json {
            true => print_json(&json!({ "answers": answers }))?,
            false => {
                let texts = answers.iter().map(|answer| as_text(&engine, answer, day));
                print(&texts.collect::<Result<String, CommandError>>()?)?;
            }
        }
        let unresolved = answers.iter().filter(|answer| answer.answer != AnswerKind::Resolved).count();
        match unresolved {
            0 => Ok(()),
            _ => Err(format!("{unresolved} of {} citations did not resolve to one provision", answers.len()).into()),
        }
    }
}

fn as_text(engine: &Engine, answer: &CitationAnswer, day: Day) -> Result<String, CommandError> {
    let mut out = format!("{}: {}\n", answer.answer.as_str(), answer.message);
    for node in &answer.candidates {
        let status = status_mark(node.status);
        out += &format!("  {}  {}{status}\n    id {}\n", node.citation, node.heading, node.node_id);
        if let Some(ordinal) = engine.snapshot().ordinal(node.node_id) {
            let currency = currency(engine, ordinal, day)?;
            out += &if currency.is_empty() { currency } else { format!("    {currency}\n") };
        }
    }
    if !answer.subdivision.is_empty() {
        out += &format!("  subdivision ({})\n", answer.subdivision.join(")("));
    }
    Ok(out)
}
