//! A zoning layer as it is served: features, their zones, and the citation of each zone.
//!
//! The body is the complete response of the zoning endpoint, `{shortCode, status, citationQuality, featureCount,
//! geojson}`. A citation is either that of a node or a placeholder. A layer without placeholders is `linked`.

use std::collections::HashSet;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::ids::{NodeId, ShortCode};
use crate::zoning::shape::{BoundingBox, Shape};
use crate::zoning::source::FeatureId;

/// Whether a layer is for everyone or for the operator only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerStatus {
    #[default]
    Published,
    Draft,
}

impl LayerStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Draft => "draft",
        }
    }
}

/// `linked`: every feature cites a provision of this snapshot. `pending`: some citations are placeholders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CitationQuality {
    Linked,
    Pending,
}

impl CitationQuality {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Linked => "linked",
            Self::Pending => "pending",
        }
    }
}

/// Why a zone cites no node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceholderReason {
    /// The table of zones does not contain the code.
    UnknownZoneCode,
    /// The table contains the code, but without a provision.
    NoProvisionNamed,
    /// The table names a provision that the snapshot does not contain.
    ProvisionNotHeld,
}

/// The citation of the features of a zone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ZoneCitation {
    /// A provision of the snapshot, with its exact citation.
    Linked { node: NodeId, citation: String },
    /// The citation, if it is known. If the code of the zone is unknown, also similar known codes.
    Placeholder { citation: Option<String>, reason: PlaceholderReason, near: Vec<String> },
}

impl ZoneCitation {
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Linked { citation, .. } => Some(citation),
            Self::Placeholder { citation, .. } => citation.as_deref(),
        }
    }

    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::Linked { node, .. } => Some(*node),
            Self::Placeholder { .. } => None,
        }
    }

    const fn status(&self) -> &'static str {
        match self {
            Self::Linked { .. } => "linked",
            Self::Placeholder { .. } => "placeholder",
        }
    }
}

/// A class of zones, such as `RS-3`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zone {
    pub code: String,
    pub name: Option<String>,
    pub category: Option<String>,
    pub citation: ZoneCitation,
}

/// The index of a zone in its layer's list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ZoneIndex(pub usize);

/// An area of land in a zone. Its name and category are those of the zone, unless the source gives others.
#[derive(Clone, PartialEq, Debug)]
pub struct ZonedFeature {
    pub id: FeatureId,
    pub zone: ZoneIndex,
    pub name: Option<String>,
    pub category: Option<String>,
    pub source: Map<String, Value>,
    pub shape: Shape,
}

/// The origin of a layer, as stated in the plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LayerSource {
    pub file: String,
    pub publisher: Option<String>,
    pub edition: Option<String>,
    pub retrieved: Option<String>,
    pub license: Option<String>,
    pub url: Option<String>,
}

/// A layer. Each of its features belongs to one of its zones.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    short_code: ShortCode,
    status: LayerStatus,
    source: LayerSource,
    zones: Vec<Zone>,
    features: Vec<ZonedFeature>,
}

impl Layer {
    /// Zones must be in ascending order of code. There must be at least one feature, and every feature must belong
    /// to a zone.
    pub fn new(
        short_code: ShortCode,
        status: LayerStatus,
        source: LayerSource,
        zones: Vec<Zone>,
        features: Vec<ZonedFeature>,
    ) -> Self {
        assert!(!features.is_empty(), "a layer without features would be linked by default");
        assert!(zones.is_sorted_by(|a, b| a.code < b.code), "zones are sorted and distinct");
        assert!(features.iter().all(|feature| feature.zone.0 < zones.len()), "every feature has a zone");
        Self { short_code, status, source, zones, features }
    }

    pub fn short_code(&self) -> &ShortCode {
        &self.short_code
    }

    pub fn status(&self) -> LayerStatus {
        self.status
    }

    pub fn source(&self) -> &LayerSource {
        &self.source
    }

    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    pub fn features(&self) -> &[ZonedFeature] {
        &self.features
    }

    pub fn zone_of(&self, feature: &ZonedFeature) -> &Zone {
        &self.zones[feature.zone.0]
    }

    pub fn citation_quality(&self) -> CitationQuality {
        let is_linked = |feature| matches!(self.zone_of(feature).citation, ZoneCitation::Linked { .. });
        if self.features.iter().all(is_linked) { CitationQuality::Linked } else { CitationQuality::Pending }
    }

    pub fn vertex_count(&self) -> usize {
        self.features.iter().map(|feature| feature.shape.vertex_count()).sum()
    }

    pub fn bounding_box(&self) -> BoundingBox {
        BoundingBox::of(self.features.iter().map(|feature| &feature.shape))
    }

    /// The number of features of each zone, in the order of the zones.
    pub fn feature_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.zones.len()];
        for feature in &self.features {
            counts[feature.zone.0] += 1;
        }
        counts
    }

    /// The response of the zoning endpoint, byte for byte.
    pub fn body(&self) -> Vec<u8> {
        let body = LayerJson {
            short_code: &self.short_code,
            status: self.status,
            citation_quality: self.citation_quality(),
            feature_count: self.features.len(),
            geojson: Collection(self),
        };
        serde_json::to_vec(&body).expect("writing to memory, with text keys only, cannot fail")
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LayerJson<'a> {
    short_code: &'a ShortCode,
    status: LayerStatus,
    citation_quality: CitationQuality,
    feature_count: usize,
    geojson: Collection<'a>,
}

struct Collection<'a>(&'a Layer);

impl Serialize for Collection<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(layer) = self;
        let features: Vec<GeoJsonFeature<'_>> =
            layer.features.iter().map(|feature| GeoJsonFeature::new(layer, feature)).collect();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("type", "FeatureCollection")?;
        map.serialize_entry("features", &features)?;
        map.end()
    }
}

#[derive(Serialize)]
struct GeoJsonFeature<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a FeatureId,
    properties: Properties<'a>,
    geometry: &'a Shape,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Properties<'a> {
    zone_code: &'a str,
    zone_name: Option<&'a str>,
    category: Option<&'a str>,
    citation: Option<&'a str>,
    node_id: Option<NodeId>,
    citation_status: &'static str,
    source: &'a Map<String, Value>,
}

impl<'a> GeoJsonFeature<'a> {
    fn new(layer: &'a Layer, feature: &'a ZonedFeature) -> Self {
        let zone = layer.zone_of(feature);
        let properties = Properties {
            zone_code: &zone.code,
            zone_name: feature.name.as_deref().or(zone.name.as_deref()),
            category: feature.category.as_deref().or(zone.category.as_deref()),
            citation: zone.citation.text(),
            node_id: zone.citation.node(),
            citation_status: zone.citation.status(),
            source: &feature.source,
        };
        Self { kind: "Feature", id: &feature.id, properties, geometry: &feature.shape }
    }
}

/// Ids for all features of a layer, all different.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AssignedIds {
    pub ids: Vec<FeatureId>,
    /// The number of features whose own id was already used by an earlier feature.
    pub replaced: usize,
}

/// Keeps the ids that features have. A feature without an id, or with one that is already used, gets an id such as
/// `feature-12` from its index in the file, so its id is the same in every rebuild from the same file.
pub fn assign_ids(given: Vec<Option<FeatureId>>) -> AssignedIds {
    let all: HashSet<FeatureId> = given.iter().flatten().cloned().collect();
    let mut kept = HashSet::new();
    let mut replaced = 0;
    let mut ids = Vec::with_capacity(given.len());
    for (index, id) in given.into_iter().enumerate() {
        let id = match id {
            Some(id) if kept.insert(id.clone()) => id,
            id => {
                replaced += usize::from(id.is_some());
                unused_id(index, &all)
            }
        };
        ids.push(id);
    }
    AssignedIds { ids, replaced }
}

fn unused_id(index: usize, taken: &HashSet<FeatureId>) -> FeatureId {
    let mut name = format!("feature-{index}");
    // A source may use the same pattern. The search ends at the latest when the name is longer than all taken ones.
    while taken.contains(&FeatureId::Text(name.clone())) {
        name.push('\'');
    }
    FeatureId::Text(name)
}

impl fmt::Display for LayerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Published => "published",
            Self::Draft => "draft",
        })
    }
}

impl fmt::Display for CitationQuality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linked => "linked",
            Self::Pending => "pending",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoning::samples;

    #[test]
    fn the_body_is_exactly_the_reply() {
        let body = String::from_utf8(samples::layer("XA-PORT-ARDEN", false).body()).unwrap();
        let node = NodeId::from_source_key(samples::NODE_KEY);
        let expected = [
            r#"{"shortCode":"XA-PORT-ARDEN","status":"published","citationQuality":"pending","featureCount":2,"#,
            r#""geojson":{"type":"FeatureCollection","features":["#,
            r#"{"type":"Feature","id":7,"properties":{"zoneCode":"A","zoneName":"Harbour","category":"Industry","#,
            r#""citation":"Arden Code § 1","nodeId":"NODE","citationStatus":"linked","source":{"z":"a"}},"#,
            r#""geometry":{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,0]]]}},"#,
            r#"{"type":"Feature","id":"feature-1","properties":{"zoneCode":"B","zoneName":"Own name","category":null,"#,
            r#""citation":"Arden Code § 2","nodeId":null,"citationStatus":"placeholder","source":{}},"#,
            r#""geometry":{"type":"MultiPolygon","coordinates":[[[[20.125,0],[30,0],[30,10],[20.125,0]]]]}}]}}"#,
        ];
        assert_eq!(body, expected.concat().replace("NODE", &node.to_string()));
    }

    #[test]
    fn a_layer_is_linked_only_when_every_feature_is() {
        assert_eq!(samples::layer("XA-PORT-ARDEN", true).citation_quality(), CitationQuality::Linked);
        assert_eq!(samples::layer("XA-PORT-ARDEN", false).citation_quality(), CitationQuality::Pending);
    }

    #[test]
    fn ids_are_kept_unless_taken_and_all_differ() {
        let text = |id: &str| Some(FeatureId::Text(id.to_owned()));
        let number = |id: i64| Some(FeatureId::Number(id.into()));
        let given = vec![text("a"), None, text("a"), number(5), text("5"), text("feature-1")];
        let AssignedIds { ids, replaced } = assign_ids(given);
        let ids: Vec<String> = ids.iter().map(|id| serde_json::to_string(id).unwrap()).collect();
        assert_eq!(ids, [r#""a""#, r#""feature-1'""#, r#""feature-2""#, "5", r#""5""#, r#""feature-1""#]);
        assert_eq!(replaced, 1);
    }
}
