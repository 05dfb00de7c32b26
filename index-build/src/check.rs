//! Checks everything that a build reads, and writes nothing: the plan, every source to its end, the tree of every code body
//! and every zoning layer. All errors are reported in one run.

use crate::build::{BuildOptions, Context, open_encoder};
use crate::error::BuildError;
use crate::mistakes::Mistakes;
use crate::opened_source::open_sources;
use crate::plan::Plan;
use crate::report::{WarningReport, Warnings};
use crate::territory;
use crate::zoning_layers;

/// Sources in which no error was found.
#[derive(Debug)]
pub struct Checked {
    pub sources: usize,
    /// Nodes by code body.
    pub code_bodies: Vec<(String, u64)>,
    pub warnings: WarningReport,
}

/// Checks the plan of a build and its sources. The destination is not looked at.
pub fn check(options: &BuildOptions) -> Result<Checked, BuildError> {
    let plan = Plan::open(&options.plan)?;
    let territories =
        territory::order(&plan.jurisdictions).map_err(|error| BuildError::in_plan(&options.plan, error))?;
    let mut mistakes = Mistakes::of_a_check();
    let encoder = open_encoder(&plan, options).unwrap_or_else(|error| {
        mistakes.add_line(error.to_string());
        None
    });
    for source in &plan.sources {
        if let Err(error) = territory::check_known(&source.jurisdiction, &territories) {
            mistakes.add(options.plan.display(), error);
        }
    }
    let sources = open_sources(&plan, &options.plan, options.sources.as_deref(), options.progress, &mut mistakes);
    let context =
        Context { plan: &plan, territories: &territories, sources: &sources, options, encoder: encoder.as_ref() };
    if let Err(error) = context.grammar() {
        mistakes.add_line(error.to_string());
    }
    zoning_layers::check(&sources, &mut mistakes);
    let spool_folder =
        tempfile::tempdir().map_err(|source| BuildError::Write { path: std::env::temp_dir(), source })?;
    let mut warnings = Warnings::default();
    let bodies = context.gather(spool_folder.path(), &mut warnings, mistakes)?.bodies;
    if let Some(first) = warnings.first().filter(|_| options.strict) {
        return Err(BuildError::Strict { first: first.clone(), total: warnings.total() });
    }
    Ok(Checked {
        sources: sources.len(),
        code_bodies: bodies.iter().map(|body| (body.name.clone(), body.nodes.len() as u64)).collect(),
        warnings: warnings.into_report(),
    })
}
