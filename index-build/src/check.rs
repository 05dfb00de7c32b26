//! Checks everything that a build reads, without writing anything: the plan, every source to its
//! end, the tree of every code body and every zoning layer. One run reports all errors.

use std::collections::HashMap;

use crate::account::{self, SnapshotWords};
use crate::build::{BuildOptions, open_encoder, open_plan};
use crate::build_context::{BuildContext, Gathered, without_losses};
use crate::content::Content;
use crate::error::BuildError;
use crate::gather::GatheredNode;
use crate::mistakes::Mistakes;
use crate::opened_source::open_sources;
use crate::report::WordsReport;
use crate::report::{WarningReport, Warnings};
use crate::spool::{Spool, SpoolError};
use crate::territory;
use crate::validity_counts::ValidityCounts;
use crate::wordings::in_chronological_order;
use crate::zoning_layers;

/// The result of a check that found no errors.
#[derive(Debug)]
pub struct Checked {
    pub sources: usize,
    /// Nodes by code body.
    pub code_bodies: Vec<(String, u64)>,
    /// The account of the words of each source, up to the output of its importer.
    pub words: Vec<WordsReport>,
    /// How many wordings of each source state when they are law, by source name.
    pub validity: Vec<(String, ValidityCounts)>,
    pub warnings: WarningReport,
}

/// Checks the plan of a build and its sources. The destination is not checked.
pub fn check(options: &BuildOptions) -> Result<Checked, BuildError> {
    let (plan, absent) = open_plan(options)?;
    let territories =
        territory::order(&plan.jurisdictions).map_err(|error| BuildError::in_plan(&options.plan, error))?;
    let mut mistakes = Mistakes::for_check();
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
    let context = BuildContext {
        plan: &plan,
        absent: &absent,
        territories: &territories,
        sources: &sources,
        options,
        encoder: encoder.as_ref(),
    };
    if let Err(error) = context.grammar() {
        mistakes.add_line(error.to_string());
    }
    zoning_layers::check(&sources, &mut mistakes);
    let spool_folder =
        tempfile::tempdir().map_err(|source| BuildError::Write { path: std::env::temp_dir(), source })?;
    let mut warnings = Warnings::default();
    let Gathered { bodies, spool, words } = context.gather(spool_folder.path(), &mut warnings, mistakes)?;
    let mut held: HashMap<u16, SnapshotWords> = HashMap::new();
    let mut validity: HashMap<u16, ValidityCounts> = HashMap::new();
    for node in bodies.iter().flat_map(|body| &body.nodes) {
        let contents = contents_of(&spool, node)?;
        for content in &contents {
            let held = held.entry(content.source).or_default();
            std::iter::once(content).chain(&content.wordings).for_each(|wording| held.add_content(wording));
        }
        let mut contents = contents.into_iter();
        let Some(own) = contents.next() else { continue };
        let wordings = in_chronological_order(own, contents.collect());
        validity.entry(wordings[0].source).or_default().count(&wordings);
    }
    let words = context.named(words);
    let validity = words.iter().map(|(number, name, _)| (name.clone(), validity.remove(number).unwrap_or_default()));
    let validity = validity.collect();
    if let Some(first) = warnings.first().filter(|_| options.strict) {
        return Err(BuildError::Strict { first: first.clone(), total: warnings.total() });
    }
    let words = without_losses(account::audit_sources(&held, words), options.strict)?;
    Ok(Checked {
        sources: sources.len(),
        code_bodies: bodies.iter().map(|body| (body.name.clone(), body.nodes.len() as u64)).collect(),
        words,
        validity,
        warnings: warnings.into_report(),
    })
}

/// The contents that a node was gathered from, starting with its own.
fn contents_of(spool: &Spool, node: &GatheredNode) -> Result<Vec<Content>, SpoolError> {
    let mut own = node.content.read(spool)?;
    if let Some(names) = &node.names {
        own.complete_names(names);
    }
    std::iter::once(Ok(own)).chain(node.wordings.iter().map(|other| other.read(spool))).collect()
}
