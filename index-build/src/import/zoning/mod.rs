//! The importer `geojson-zoning` turns the zoning map of a city into a layer whose zones cite the
//! provisions that define them.
//!
//! Zone codes are trimmed, rewritten by the rules of the plan and looked up in the zone table of
//! the plan, which names the provision of each zone. A code that is not in the table is never
//! guessed unless the plan allows it: its features keep a placeholder, and the layer is `pending`.
//! The builder resolves provisions to nodes (`Resolve`).

mod input;
mod options;
mod table;

use std::collections::BTreeMap;
use std::io::Read;

use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::layer::{
    Layer, LayerSource, PlaceholderReason, Zone, ZoneCitation, ZoneIndex, ZonedFeature, assign_ids,
};
use hornbook_corpus::zoning::problem::{LayerRejected, Problem, ProblemKind};
use hornbook_corpus::zoning::source::{FeatureId, LayerLimits, SourceFeature, read_layer};
use serde_json::Value;

pub use input::{ProvisionResolver, ResolvedProvision, ZoneTableFile, ZoningImportError};
use options::{CitationTemplate, Normaliser};
pub use options::{NormaliseRule, ZoneRow, ZoningOptions};
use table::{ZoneLookup, ZoneTable};

/// An opened zoning source of the plan.
#[derive(Clone, Copy, Debug)]
pub struct ZoningSource<'a> {
    pub jurisdiction: &'a ShortCode,
    /// `file` is the name of the layer in messages.
    pub provenance: &'a LayerSource,
    pub options: &'a ZoningOptions,
    /// Present if the options contain `zones`.
    pub table: Option<ZoneTableFile<'a>>,
}

/// A layer ready to be stored, and the warnings for the report.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportedLayer {
    pub layer: Layer,
    pub warnings: Vec<Problem>,
}

/// Reads, checks and maps one layer. The number of bytes read is limited, so a source that unpacks
/// without end is refused.
pub fn import_layer(
    input: impl Read,
    source: ZoningSource<'_>,
    resolve: &ProvisionResolver<'_>,
) -> Result<ImportedLayer, ZoningImportError> {
    let ZoningSource { options, provenance, .. } = source;
    let file = provenance.file.as_str();
    let normaliser = Normaliser::new(options, file)?;
    let citing = CitationTemplate::new(options, file)?;
    let table = ZoneTable::new(options, source.table, file)?;
    let limits = LayerLimits::default();
    let bytes = read_bounded(input, &limits, file)?;
    let read = read_layer(&bytes, file, &limits).map_err(ZoningImportError::Refused)?;
    drop(bytes);
    let codes = zone_codes(&read.features, &options.zone_property, file, limits.errors_listed_max)?;
    let codes = codes.iter().map(|code| normaliser.apply(code)).collect::<Vec<_>>();
    let zones = Zones::new(&codes, &table, options.lenient_codes, &|provision| citing.cite(provision, resolve));
    let mut warnings = read.warnings;
    let (features, replaced) = zoned_features(read.features, &codes, &zones, options);
    if replaced > 0 {
        warnings.push(Problem::of_layer(ProblemKind::IdsReplaced { features: replaced }));
    }
    warnings.extend(zones.warnings().into_iter().map(Problem::of_layer));
    let layer = Layer::new(source.jurisdiction.clone(), options.status, provenance.clone(), zones.zones, features);
    Ok(ImportedLayer { layer, warnings })
}

fn read_bounded(input: impl Read, limits: &LayerLimits, file: &str) -> Result<Vec<u8>, ZoningImportError> {
    let mut bytes = Vec::new();
    // One byte more than allowed distinguishes a file at the limit from a larger one.
    let read = input.take(limits.bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|source| ZoningImportError::Read { file: file.to_owned(), source })?;
    Ok(bytes)
}

/// The source code of each feature. All features without one are reported together.
fn zone_codes(
    features: &[SourceFeature],
    property: &str,
    file: &str,
    errors_max: usize,
) -> Result<Vec<String>, ZoningImportError> {
    let mut codes = Vec::with_capacity(features.len());
    let mut errors = Vec::new();
    for feature in features {
        match property_text(feature, property) {
            Some(code) => codes.push(code),
            None if errors.len() < errors_max => {
                let kind = ProblemKind::NoZone { property: property.to_owned() };
                errors.push(Problem::of_feature(feature.place(), kind));
            }
            None => {}
        }
    }
    if errors.is_empty() {
        Ok(codes)
    } else {
        Err(ZoningImportError::Refused(LayerRejected { file: file.to_owned(), errors }))
    }
}

/// A property as trimmed text; None if it is absent, null, blank, or neither text nor number.
fn property_text(feature: &SourceFeature, property: &str) -> Option<String> {
    let text = match feature.properties.get(property)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The zones of a layer by ascending code, and how each normalised source code was interpreted.
struct Zones {
    zones: Vec<Zone>,
    place_of: BTreeMap<String, ZoneIndex>,
    read_as: Vec<(String, String)>,
    counts: BTreeMap<String, usize>,
}

impl Zones {
    fn new(codes: &[String], table: &ZoneTable, is_lenient: bool, cite: &dyn Fn(&str) -> ZoneCitation) -> Self {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for code in codes {
            *counts.entry(code.clone()).or_default() += 1;
        }
        let mut read_as = Vec::new();
        let mut zones: BTreeMap<String, Zone> = BTreeMap::new();
        for code in counts.keys() {
            let zone = match table.look_up(code) {
                ZoneLookup::Known(row) => row.zone(cite),
                ZoneLookup::SimilarCodes(rows) if is_lenient && rows.len() == 1 => {
                    read_as.push((code.clone(), rows[0].zone.clone()));
                    rows[0].zone(cite)
                }
                ZoneLookup::SimilarCodes(rows) => unknown_zone(code, rows.iter().map(|row| row.zone.clone()).collect()),
            };
            zones.insert(zone.code.clone(), zone);
        }
        let places = zones.keys().enumerate().map(|(place, code)| (code.clone(), ZoneIndex(place)));
        let mut place_of: BTreeMap<String, ZoneIndex> = places.collect();
        for (code, known) in &read_as {
            place_of.insert(code.clone(), place_of[known]);
        }
        Self { zones: zones.into_values().collect(), place_of, read_as, counts }
    }

    fn place_of(&self, code: &str) -> ZoneIndex {
        self.place_of[code]
    }

    fn warnings(&self) -> Vec<ProblemKind> {
        let read_as = self.read_as.iter().map(|(code, known)| ProblemKind::ZoneReadAs {
            code: code.clone(),
            known: known.clone(),
            features: self.counts[code],
        });
        let mut warnings: Vec<ProblemKind> = read_as.collect();
        let mut without = PlaceholderSummary::default();
        let mut not_held = PlaceholderSummary::default();
        for zone in &self.zones {
            let ZoneCitation::Placeholder { citation, reason, near } = &zone.citation else { continue };
            let features = self.features_of(zone);
            match reason {
                PlaceholderReason::UnknownZoneCode => {
                    warnings.push(ProblemKind::UnknownZone { code: zone.code.clone(), features, near: near.clone() });
                }
                PlaceholderReason::NoProvisionNamed => without.add(features, &zone.code),
                PlaceholderReason::ProvisionNotHeld => not_held.add(features, citation.as_ref().unwrap_or(&zone.code)),
            }
        }
        warnings.extend(without.into_warning(|zones, features, first| ProblemKind::ZonesWithoutProvision {
            zones,
            features,
            first,
        }));
        warnings.extend(not_held.into_warning(|zones, features, first| ProblemKind::ProvisionsNotHeld {
            zones,
            features,
            first,
        }));
        warnings
    }

    fn features_of(&self, zone: &Zone) -> usize {
        let read_as = self.read_as.iter().filter(|(_, known)| *known == zone.code).map(|(code, _)| code);
        read_as.chain([&zone.code]).filter_map(|code| self.counts.get(code)).sum()
    }
}

fn unknown_zone(code: &str, near: Vec<String>) -> Zone {
    let citation = ZoneCitation::Placeholder { citation: None, reason: PlaceholderReason::UnknownZoneCode, near };
    Zone { code: code.to_owned(), name: None, category: None, citation }
}

/// Summarizes the zones with the same reason for a placeholder in one warning. The entry of the
/// layer has the complete list.
#[derive(Default)]
struct PlaceholderSummary {
    zones: usize,
    features: usize,
    first: String,
}

impl PlaceholderSummary {
    fn add(&mut self, features: usize, name: &str) {
        if self.zones == 0 {
            name.clone_into(&mut self.first);
        }
        self.zones += 1;
        self.features += features;
    }

    fn into_warning(self, kind: impl FnOnce(usize, usize, String) -> ProblemKind) -> Option<ProblemKind> {
        (self.zones > 0).then(|| kind(self.zones, self.features, self.first))
    }
}

fn zoned_features(
    features: Vec<SourceFeature>,
    codes: &[String],
    zones: &Zones,
    options: &ZoningOptions,
) -> (Vec<ZonedFeature>, usize) {
    let assigned = assign_ids(features.iter().map(|feature| feature_id(feature, options)).collect());
    let optional = |feature: &SourceFeature, property: &Option<String>| {
        property.as_ref().and_then(|property| property_text(feature, property))
    };
    let zoned = features.into_iter().zip(assigned.ids).zip(codes).map(|((feature, id), code)| ZonedFeature {
        id,
        zone: zones.place_of(code),
        name: optional(&feature, &options.name_property),
        category: optional(&feature, &options.category_property),
        source: feature.properties,
        shape: feature.shape,
    });
    (zoned.collect(), assigned.replaced)
}

fn feature_id(feature: &SourceFeature, options: &ZoningOptions) -> Option<FeatureId> {
    let named = options.id_property.as_ref().and_then(|property| feature.properties.get(property));
    named.cloned().and_then(FeatureId::from_value).or_else(|| feature.id.clone())
}

#[cfg(test)]
mod tests;
