//! The zoning layers of a build: reads them, links them to the provisions just written, and stores them.

use std::path::Path;

use hornbook_base::regular_file;
use hornbook_corpus::catalogue::Catalogue;
use hornbook_corpus::citation::Grammar;
use hornbook_corpus::citation_index::CitationIndex;
use hornbook_corpus::ids::{NodeId, ShortCode};
use hornbook_corpus::nodes::Nodes;
use hornbook_corpus::outline::Outline;
use hornbook_corpus::zoning::catalogue::CatalogueWriter;
use hornbook_corpus::zoning::layer::{Layer, LayerSource};

use crate::error::BuildError;
use crate::import::zoning;
use crate::mistakes::Mistakes;
use crate::opened_source::OpenedSource;
use crate::report::{LayerReport, WarningKind, Warnings};
use crate::source_files::{self, SourceError};

/// The longest tables have a line for each of a few thousand zones.
const ZONE_TABLE_BYTES_MAX: u64 = 64 << 20;

/// Imports every zoning source of the plan into `dir`, whose law is already written.
pub(crate) fn write(
    dir: &Path,
    sources: &[OpenedSource<'_>],
    grammar: Grammar,
    warnings: &mut Warnings,
) -> Result<Vec<LayerReport>, BuildError> {
    let resolver = Resolver::open(dir, grammar)?;
    let mut writer = CatalogueWriter::create(&dir.join(hornbook_corpus::zoning::DIRECTORY_NAME))?;
    for source in sources.iter().filter(|source| !source.planned.format.is_law()) {
        let resolve = |provision: &str| resolver.resolve(provision, &source.planned.jurisdiction);
        let layer = import_zoning(source, &resolve, warnings)?;
        writer.add(&layer)?;
    }
    let entries = writer.finish()?;
    let reports = entries.iter().map(|entry| LayerReport {
        jurisdiction: entry.short_code.to_string(),
        citation_quality: entry.citation_quality.as_str().to_owned(),
        features: entry.feature_count as u32,
        placeholders: entry.placeholders.iter().map(|placeholder| placeholder.features as u32).sum(),
    });
    Ok(reports.collect())
}

/// Reads every zoning source without storing it. The citations of the zones are not checked.
pub(crate) fn check(sources: &[OpenedSource<'_>], mistakes: &mut Mistakes) {
    for source in sources.iter().filter(|source| !source.planned.format.is_law()) {
        if let Err(error) = import_zoning(source, &|_| None, &mut Warnings::default()) {
            mistakes.add_line(error.to_string());
        }
    }
}

fn import_zoning(
    source: &OpenedSource<'_>,
    resolve: &zoning::ProvisionResolver<'_>,
    warnings: &mut Warnings,
) -> Result<Layer, BuildError> {
    let planned = source.planned;
    let options = planned.zoning.as_ref().expect("the plan was checked");
    let provenance = LayerSource {
        file: planned.path.display().to_string(),
        publisher: Some(planned.publisher.clone()),
        edition: Some(source.provenance.edition.clone()),
        retrieved: Some(source.provenance.retrieved.clone()),
        license: Some(planned.license.clone()),
        url: Some(source.provenance.url.clone()),
    };
    let table_text = source.zones_path.as_deref().map(read_table).transpose()?;
    let table_name = source.zones_path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    let mut imported = None;
    source_files::for_each(&source.path, planned.member.as_deref(), |file| {
        if imported.is_some() {
            let what = "a zoning source must be one file; give its path, or use 'member' within a folder or archive"
                .to_owned();
            return Err(BuildError::Source(SourceError::Refused { place: file.place, what }));
        }
        let zoning_source = zoning::ZoningSource {
            jurisdiction: &planned.jurisdiction,
            provenance: &provenance,
            options,
            table: table_text.as_deref().map(|text| zoning::ZoneTableFile { file: &table_name, text }),
        };
        imported = Some(zoning::import_layer(file.reader, zoning_source, resolve)?);
        Ok(())
    })?;
    let imported = imported.ok_or_else(|| SourceError::Empty { path: source.path.clone() })?;
    for problem in imported.warnings {
        warnings.add(WarningKind::Zoning, &provenance.file, problem.to_string());
    }
    Ok(imported.layer)
}

fn read_table(path: &Path) -> Result<String, BuildError> {
    regular_file::read_text(path, ZONE_TABLE_BYTES_MAX).map_err(|source| {
        BuildError::Source(SourceError::Io { place: path.display().to_string(), doing: "read the zone table", source })
    })
}

/// Finds the provision that a table of zones names, in the files just written.
struct Resolver {
    outline: Outline,
    nodes: Nodes,
    citations: CitationIndex,
    catalogue: Catalogue,
    grammar: Grammar,
}

impl Resolver {
    fn open(dir: &Path, grammar: Grammar) -> Result<Self, BuildError> {
        let outline = Outline::open(dir)?;
        Ok(Self {
            catalogue: Catalogue::open(dir, outline.len())?,
            nodes: Nodes::open(dir)?,
            citations: CitationIndex::open(dir)?,
            outline,
            grammar,
        })
    }

    /// Resolves a source key or a citation. If several provisions have the citation, those of the
    /// layer's own jurisdiction come first.
    fn resolve(&self, provision: &str, jurisdiction: &ShortCode) -> Option<zoning::ResolvedProvision> {
        let by_key = self.outline.ordinal(NodeId::from_source_key(provision));
        let own = self.catalogue.jurisdiction(jurisdiction)?.subtree;
        let key = self.grammar.key_or_folded(provision);
        let mut by_citation: Vec<_> = self.citations.candidates(&key).map(|(node, _)| node).collect();
        by_citation.sort_by_key(|node| !own.contains(node.0));
        let node = by_key.or_else(|| by_citation.first().copied())?;
        let citation = self.nodes.get(node).ok()?.citation;
        Some(zoning::ResolvedProvision { id: self.outline.id(node)?, citation })
    }
}
