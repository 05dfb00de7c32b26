//! Writes the files of a snapshot: gathers, compiles, links and seals what the opened sources contain.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hornbook_corpus::catalogue::{Catalogue, CodeBody, Source, grammar_of};
use hornbook_corpus::citation::Grammar;
use hornbook_corpus::ids::{CodeBodyId, OrdinalRange};
use hornbook_corpus::manifest::{Counts, FORMAT, JurisdictionCounts, Manifest, REPORT_FILE_NAME, bytes_below};
use hornbook_corpus::snapshot::{analyzer_fingerprint, embedder_fingerprint, embedding_space};
use hornbook_corpus::vectors::{SpaceName, VectorRows};

use crate::account::SourceWords;
use crate::build_options::BuildOptions;
use crate::compile::{Compiled, GatheredBody, compile};
use crate::earlier_chunks::EarlierChunks;
use crate::encoded_passages::{EncodedPassages, PassageOrigins};
use crate::encoder::Encoder;
use crate::error::BuildError;
use crate::gather::Gatherer;
use crate::graph::{GraphInput, GraphOptions, Probes, build_graph};
use crate::import::intake::{ImportError, SourceIntake};
use crate::mistakes::Mistakes;
use crate::opened_source::OpenedSource;
use crate::plan::{Plan, PlannedSource};
use crate::prepare::Preparation;
use crate::reading::{other_body, read_source};
use crate::report::WordsReport;
use crate::report::{EncodedReport, GraphReport, LayerReport, ReferenceReport, Report, WarningKind, Warnings};
use crate::reuse::{ReusableGraph, builder_sources};
use crate::searched_ranges::searched_ranges;
use crate::spool::Spool;
use crate::stage_clock::StageClock;
use crate::territory::OrderedJurisdiction;
use crate::{account, references, usage, zoning_layers};

/// Everything read from all sources of law.
pub(crate) struct Gathered {
    pub(crate) bodies: Vec<GatheredBody>,
    pub(crate) spool: Spool,
    /// The words of each source, by its number.
    pub(crate) words: BTreeMap<u16, SourceWords>,
}

/// The input of every step that writes a snapshot.
pub(crate) struct BuildContext<'a> {
    pub(crate) plan: &'a Plan,
    /// Sources of the plan that are left out, because their files are not there.
    pub(crate) absent: &'a [PlannedSource],
    pub(crate) territories: &'a [OrderedJurisdiction],
    pub(crate) sources: &'a [OpenedSource<'a>],
    pub(crate) options: &'a BuildOptions,
    pub(crate) encoder: Option<&'a Encoder>,
}

impl BuildContext<'_> {
    /// Writes all files of the snapshot, the manifest last.
    pub(crate) fn fill(
        &self,
        dir: &Path,
        inputs: &str,
        earlier: Option<&Path>,
        clock: &mut StageClock,
    ) -> Result<(Report, Manifest), BuildError> {
        let mut warnings = Warnings::default();
        let Gathered { bodies, spool, words } = self.gather(dir, &mut warnings, Mistakes::default())?;
        clock.lap("read");
        let tags = self.all_tags(&bodies, &spool)?;
        let total: usize = bodies.iter().map(|body| body.nodes.len()).sum();
        let mut stage = self.options.progress.stage("indexing", "nodes", Some(total as u64));
        let grammar = self.grammar()?;
        let sources = self.catalogue_sources();
        let earlier_chunks = earlier.and_then(|dir| EarlierChunks::open(dir, self.plan.index_headings));
        let preparation = Preparation { tags: &tags, sources: &sources, earlier: earlier_chunks.as_ref() };
        let compiled = compile(dir, &spool, bodies, self.territories, preparation, &grammar, &mut stage)?;
        drop(earlier_chunks);
        stage.finish();
        drop(spool);
        clock.lap("index");
        let words = self.account(dir, words)?;
        clock.lap("word account");
        let mut stage = self.options.progress.stage("finding references", "nodes", Some(u64::from(compiled.nodes)));
        let references = references::write(dir, &compiled.code_bodies, &grammar, &mut warnings, &mut stage)?;
        stage.finish();
        clock.lap("references");
        let mut reused = Vec::new();
        if compiled.chunks_taken_over > 0 {
            let what = format!("vectors of {} of {} chunks", compiled.chunks_taken_over, compiled.chunks);
            reused.push(what);
        }
        let graph = self.graph(dir, &embedding_space(), &compiled, &compiled.probes, earlier, &mut reused)?;
        clock.lap("graph");
        let encoded = self.encode(dir, &compiled, earlier, &mut reused)?;
        if encoded.is_some() {
            clock.lap("embed passages");
        }
        let catalogue = Catalogue {
            jurisdictions: compiled.jurisdictions.clone(),
            code_bodies: compiled.code_bodies.clone(),
            sources,
            tags,
        };
        write(&dir.join(hornbook_corpus::catalogue::FILE_NAME), &catalogue.to_json())?;
        let layers = zoning_layers::write(dir, self.sources, self.grammar()?, &mut warnings)?;
        clock.lap("zoning");
        if let Some(first) = warnings.first().filter(|_| self.options.strict) {
            return Err(BuildError::Strict { first: first.clone(), total: warnings.total() });
        }
        let mut report = self.report(&compiled, layers, references, graph, reused, warnings);
        report.encoded = encoded;
        report.words = words;
        clock.add_to(&mut report);
        report.snapshot_bytes = bytes_below(dir)?;
        let text = serde_json::to_vec_pretty(&report).expect("all keys of a report are strings");
        write(&dir.join(REPORT_FILE_NAME), &text)?;
        let manifest = self.manifest(inputs, &compiled, &catalogue, &report).seal(dir)?;
        Ok((report, manifest))
    }

    /// Reads every source of law. Sources of one code body are read together. Reading continues
    /// after a mistake, so that one run reports as many as possible.
    pub(crate) fn gather(
        &self,
        dir: &Path,
        warnings: &mut Warnings,
        mut mistakes: Mistakes,
    ) -> Result<Gathered, BuildError> {
        for source in self.absent {
            let what = format!("{} is left out: {} is not there", source.name(), source.path.display());
            warnings.add(WarningKind::AbsentSource, self.options.plan.display(), what);
        }
        let mut gatherer = Gatherer::new(dir)?;
        let mut bodies = Vec::new();
        let mut words: BTreeMap<u16, SourceWords> = BTreeMap::new();
        let law = || self.sources.iter().filter(|source| source.planned.format.is_law());
        let keys: BTreeSet<&str> = law().filter_map(|source| source.planned.key.as_deref()).collect();
        for key in keys {
            let of_body: Vec<_> =
                (0_u16..).zip(self.sources).filter(|(_, source)| source.planned.key.as_deref() == Some(key)).collect();
            let first = of_body[0].1.planned;
            let mistakes_before = mistakes.count();
            for (number, source) in &of_body {
                if let Some(what) = other_body(first, source.planned) {
                    mistakes.add(self.options.plan.display(), what);
                    continue;
                }
                let mut intake = SourceIntake::new(&mut gatherer, &mut *warnings, &mut mistakes);
                let counted = words.entry(*number).or_default();
                match read_source(*number, source, key, self.options.progress, &mut intake, counted) {
                    Ok(()) => {}
                    Err(ImportError::Source(error)) => mistakes.add_line(error.to_string()),
                    Err(ImportError::TooManyMistakes) => return Err(BuildError::Mistakes(mistakes)),
                    // The spool file cannot be written, so reading on would only fail again.
                    Err(error @ ImportError::Spool(_)) => return Err(BuildError::Import(error)),
                }
            }
            if mistakes.count() > mistakes_before {
                // A tree without the refused lines would only report false mistakes.
                gatherer.discard_body();
                continue;
            }
            bodies.push(GatheredBody {
                key: key.to_owned(),
                name: first.code_body.clone().unwrap_or_default(),
                jurisdiction: first.jurisdiction.clone(),
                citation: first.citation.clone(),
                canonical_citations: first.format.has_canonical_citations(),
                index_headings: self.plan.index_headings,
                nodes: gatherer.finish_body(warnings, &mut mistakes)?,
            });
        }
        if !mistakes.is_empty() {
            return Err(BuildError::Mistakes(mistakes));
        }
        for (source, left_out) in gatherer.take_left_out() {
            words.entry(source).or_default().merge(left_out);
        }
        Ok(Gathered { bodies, spool: gatherer.into_spool(), words })
    }

    /// The words of each source, with its number and name.
    pub(crate) fn named(&self, words: BTreeMap<u16, SourceWords>) -> Vec<(u16, String, SourceWords)> {
        let name = |source: u16| self.sources[usize::from(source)].planned.name();
        words.into_iter().map(|(source, words)| (source, name(source), words)).collect()
    }

    /// Accounts for the words of each source.
    fn account(&self, dir: &Path, words: BTreeMap<u16, SourceWords>) -> Result<Vec<WordsReport>, BuildError> {
        without_losses(account::audit_snapshot(dir, self.named(words))?, self.options.strict)
    }

    /// The citation grammar, with the forms of the code bodies in the plan.
    pub(crate) fn grammar(&self) -> Result<Grammar, BuildError> {
        let law = self.sources.iter().map(|source| source.planned).filter(|planned| planned.format.is_law());
        let mut bodies: Vec<CodeBody> = Vec::new();
        for planned in law {
            let key = planned.key.as_deref().unwrap_or_default();
            if bodies.iter().all(|body| body.key != key) {
                bodies.push(CodeBody {
                    id: CodeBodyId::from_source_key(key),
                    key: key.to_owned(),
                    name: planned.code_body.clone().unwrap_or_default(),
                    jurisdiction: planned.jurisdiction.clone(),
                    citation: planned.citation.clone(),
                    nodes: OrdinalRange::default(),
                    provisions: 0,
                    chunks: 0,
                });
            }
        }
        grammar_of(&bodies).map_err(|error| BuildError::in_plan(&self.options.plan, error))
    }

    /// All tags of all nodes, ascending.
    fn all_tags(&self, bodies: &[GatheredBody], spool: &Spool) -> Result<Vec<String>, BuildError> {
        let mut tags: BTreeSet<String> =
            self.plan.sources.iter().flat_map(|source| source.tags.iter().cloned()).collect();
        let has_own_tags = |body: &&GatheredBody| {
            let of_body = |source: &&PlannedSource| source.key.as_deref() == Some(&body.key);
            self.plan.sources.iter().filter(of_body).any(|source| source.format.has_own_tags())
        };
        for body in bodies.iter().filter(has_own_tags) {
            for node in &body.nodes {
                tags.extend(node.content.read(spool)?.tags);
            }
        }
        if tags.len() > usize::from(u16::MAX) {
            return Err(BuildError::in_plan(&self.options.plan, "the sources have more than 65,535 different tags"));
        }
        Ok(tags.into_iter().collect())
    }

    /// Embeds the passages with the sentence encoder of the plan, if it has one, and builds the
    /// graph over them.
    fn encode(
        &self,
        dir: &Path,
        compiled: &Compiled,
        earlier: Option<&Path>,
        reused: &mut Vec<String>,
    ) -> Result<Option<EncodedReport>, BuildError> {
        let Some(encoder) = self.encoder else { return Ok(None) };
        let space = encoder.space();
        let log = self.options.destination.embedding_log();
        let origins = PassageOrigins { earlier, log: &log };
        let EncodedPassages { taken_over, resumed, probes } =
            encoder.write(dir, origins, self.plan.index_headings, self.options.progress)?;
        if taken_over > 0 {
            reused.push(format!("{space} vectors of {taken_over} of {} chunks", compiled.chunks));
        }
        if resumed > 0 {
            reused.push(format!("{space} vectors of {resumed} passages that an interrupted build embedded"));
        }
        let graph = self.graph(dir, space, compiled, &probes, earlier, reused)?;
        Ok(Some(EncodedReport { space: space.to_string(), passages: compiled.chunks, taken_over, graph }))
    }

    /// Builds the graph of a space. If the vectors are unchanged, the graph of the earlier snapshot
    /// is copied. If most of them are unchanged, its links are reused.
    fn graph(
        &self,
        dir: &Path,
        space: &SpaceName,
        compiled: &Compiled,
        probes: &Probes,
        earlier: Option<&Path>,
        reused: &mut Vec<String>,
    ) -> Result<GraphReport, BuildError> {
        let rows = VectorRows::open(dir, space)?;
        let options = GraphOptions::default();
        let ranges = searched_ranges(dir, compiled)?;
        let recipe = options.input_hash(probes, &ranges);
        let earlier = earlier.and_then(|dir| ReusableGraph::find(dir, space, &options));
        if let Some(report) = earlier.as_ref().and_then(|earlier| earlier.copy_to(dir, space, &recipe)) {
            reused.push(format!("{} of the earlier snapshot, whose vectors are the same", space.graph_file()));
            self.options.progress.say("graph: copied from the earlier snapshot, whose vectors are the same");
            return Ok(report);
        }
        let earlier = earlier.and_then(|earlier| earlier.open(space));
        let input = GraphInput { ranges: &ranges, probes, earlier: earlier.as_ref() };
        let total = options.chunks_linked(rows.chunk_count(), &ranges);
        let mut stage = self.options.progress.stage("building the graphs", "chunks", Some(total));
        let stats = build_graph(&rows, &input, &options, &mut |done, _| stage.set(u64::from(done)))?;
        stage.finish();
        if stats.inserted > 0 {
            let kept = stats.points - stats.inserted.min(stats.points);
            reused.push(format!("links of {kept} of {} points of the graph", stats.points));
        }
        Ok(GraphReport {
            chunks: stats.chunks,
            ranges: stats.ranges,
            points: stats.points,
            mended: stats.links_added,
            inserted: stats.inserted,
            recipe,
            options: options.hash(),
        })
    }

    fn catalogue_sources(&self) -> Vec<Source> {
        let sources = self.sources.iter().map(|source| Source {
            name: source.planned.name(),
            format: source.planned.format.name.to_owned(),
            publisher: source.planned.publisher.clone(),
            edition: source.provenance.edition.clone(),
            current_through: source.provenance.current_through.clone(),
            retrieved: source.provenance.retrieved.clone(),
            license: source.planned.license.clone(),
            url: source.provenance.url.clone(),
            provision_url: source.planned.provision_url.clone(),
            lacks: source.planned.lacks.clone(),
            content_hash: source.content_hash.clone(),
        });
        sources.collect()
    }

    fn report(
        &self,
        compiled: &Compiled,
        zoning_layers: Vec<LayerReport>,
        references: ReferenceReport,
        graph: GraphReport,
        reused: Vec<String>,
        warnings: Warnings,
    ) -> Report {
        Report {
            plan: self.options.plan.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            seconds: 0.0,
            cpu_seconds: 0.0,
            peak_memory_bytes: usage::peak_memory_bytes(),
            source_text_bytes: compiled.text_bytes,
            snapshot_bytes: 0,
            code_bodies: compiled.reports.clone(),
            zoning_layers,
            words: Vec::new(),
            references,
            graph: Some(graph),
            encoded: None,
            index_headings: Some(self.plan.index_headings),
            stages: Vec::new(),
            warnings: warnings.into_report(),
            reused,
        }
    }

    fn manifest(&self, inputs: &str, compiled: &Compiled, catalogue: &Catalogue, report: &Report) -> Manifest {
        let jurisdictions = catalogue.jurisdictions.iter().filter(|jurisdiction| !jurisdiction.is_placeholder());
        Manifest {
            format: FORMAT,
            snapshot: String::new(),
            name: self.plan.name.clone(),
            builder: env!("CARGO_PKG_VERSION").to_owned(),
            builder_sources: builder_sources(),
            inputs: inputs.to_owned(),
            analyzer: analyzer_fingerprint(),
            embedders: [embedder_fingerprint()].into_iter().chain(self.encoder.map(Encoder::fingerprint)).collect(),
            counts: Counts {
                nodes: compiled.nodes,
                provisions: compiled.provisions,
                chunks: compiled.chunks,
                code_bodies: compiled.code_bodies.len() as u32,
                zoning_layers: report.zoning_layers.len() as u32,
                references: report.references.references,
                text_bytes: compiled.text_bytes,
            },
            jurisdictions: jurisdictions
                .map(|jurisdiction| JurisdictionCounts {
                    short_code: jurisdiction.short_code.clone(),
                    nodes: jurisdiction.nodes.len(),
                    provisions: jurisdiction.provisions,
                    chunks: jurisdiction.chunks,
                })
                .collect(),
            sources: catalogue.sources.clone(),
            files: Vec::new(),
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    fs::write(path, bytes).map_err(|source| BuildError::Write { path: path.to_owned(), source })
}

/// Returns the reports, or with `--strict` an error if words are lost without a reason.
pub(crate) fn without_losses(reports: Vec<WordsReport>, is_strict: bool) -> Result<Vec<WordsReport>, BuildError> {
    let lost: Vec<WordsReport> = reports.iter().filter(|report| report.unaccounted > 0).cloned().collect();
    if is_strict && !lost.is_empty() { Err(BuildError::WordsLost(lost)) } else { Ok(reports) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strict_build_or_check_refuses_lost_words() {
        let reports = || vec![WordsReport::default(), WordsReport { unaccounted: 1, ..WordsReport::default() }];
        assert!(matches!(without_losses(reports(), true), Err(BuildError::WordsLost(lost)) if lost.len() == 1));
        assert_eq!(without_losses(reports(), false).unwrap().len(), 2);
        assert_eq!(without_losses(vec![WordsReport::default()], true).unwrap().len(), 1);
    }
}
