//! Reads a GeoJSON FeatureCollection of polygons. It corrects some errors and refuses all other structural errors.
//!
//! Features are read and checked one by one while the file is parsed, so limits stop a hostile file early. Errors are collected,
//! so one run shows all of them. Winding and open rings are corrected and counted. `topology` checks how rings meet,
//! which only causes warnings. Foreign members and `bbox` are not kept.

use std::fmt;

use geojson::feature::Id;
use geojson::{Feature, Geometry, GeometryValue, JsonObject, PolygonType};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use crate::zoning::contacts::StepBudget;
use crate::zoning::problem::{FeaturePlace, LayerRejected, Problem, ProblemKind};
use crate::zoning::raw::{CollectionHeader, FeatureOutline, FeatureStep, GeometryOutline, each_feature};
use crate::zoning::rings::{Repairs, RingReader};
use crate::zoning::shape::{Position, Ring, Shape};
use crate::zoning::topology;

/// Limits for a layer. The defaults allow several times the size of the largest US cities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerLimits {
    pub bytes_max: u64,
    pub features_max: usize,
    pub feature_vertices_max: usize,
    pub layer_vertices_max: usize,
    /// Maximum number of elementary steps of the search for crossings. The default takes at most a few seconds.
    pub check_steps_max: u64,
    pub errors_listed_max: usize,
    pub warned_features_max: usize,
}

impl Default for LayerLimits {
    fn default() -> Self {
        Self {
            bytes_max: 256 << 20,
            features_max: 500_000,
            feature_vertices_max: 500_000,
            layer_vertices_max: 8_000_000,
            check_steps_max: 200_000_000,
            errors_listed_max: 100,
            warned_features_max: 1_000,
        }
    }
}

/// The id of a feature, as RFC 7946 allows it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FeatureId {
    Number(Number),
    Text(String),
}

impl FeatureId {
    /// Returns `None` if the value is neither text nor a number.
    pub fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::Number(number)),
            Value::String(text) => Some(Self::Text(text)),
            _ => None,
        }
    }
}

impl From<Id> for FeatureId {
    fn from(id: Id) -> Self {
        match id {
            Id::Number(number) => Self::Number(number),
            Id::String(text) => Self::Text(text),
        }
    }
}

impl fmt::Display for FeatureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// A feature with a checked shape and its unchanged properties.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceFeature {
    pub index: usize,
    pub id: Option<FeatureId>,
    pub properties: Map<String, Value>,
    pub shape: Shape,
}

impl SourceFeature {
    pub fn place(&self) -> FeaturePlace {
        FeaturePlace { index: self.index, id: self.id.as_ref().map(FeatureId::to_string) }
    }
}

/// A layer that can be served, with its corrections and warnings.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceLayer {
    pub features: Vec<SourceFeature>,
    pub warnings: Vec<Problem>,
}

/// Reads and checks a whole file; `file` is its name in messages.
pub fn read_layer(bytes: &[u8], file: &str, limits: &LayerLimits) -> Result<SourceLayer, LayerRejected> {
    let refuse = |errors| LayerRejected { file: file.to_owned(), errors };
    let text = decode(bytes, limits).map_err(|kind| refuse(vec![Problem::of_layer(kind)]))?;
    let mut header = CollectionHeader::default();
    let mut reading = LayerReader::new(text, limits);
    let parsed = each_feature(text, &mut header, &mut |raw| reading.add(raw));
    let mut errors = reading.layer_errors(&header, parsed);
    errors.append(&mut reading.errors);
    if !errors.is_empty() {
        return Err(refuse(errors));
    }
    let warnings = reading.warnings();
    Ok(SourceLayer { features: reading.features, warnings })
}

fn decode<'a>(bytes: &'a [u8], limits: &LayerLimits) -> Result<&'a str, ProblemKind> {
    if bytes.len() as u64 > limits.bytes_max {
        return Err(ProblemKind::TooManyBytes { bytes_max: limits.bytes_max });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| ProblemKind::NotUtf8 { offset: error.valid_up_to() })?;
    // Some exporters write a byte order mark, which is not part of JSON.
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The state of a read in progress.
struct LayerReader<'a> {
    text: &'a str,
    limits: &'a LayerLimits,
    features_seen: usize,
    features: Vec<SourceFeature>,
    errors: Vec<Problem>,
    vertices: usize,
    repairs: Repairs,
    wrong_crs: Option<String>,
    was_stopped: bool,
}

impl<'a> LayerReader<'a> {
    fn new(text: &'a str, limits: &'a LayerLimits) -> Self {
        Self {
            text,
            limits,
            features_seen: 0,
            features: Vec::new(),
            errors: Vec::new(),
            vertices: 0,
            repairs: Repairs::default(),
            wrong_crs: None,
            was_stopped: false,
        }
    }

    fn add(&mut self, raw: &str) -> FeatureStep {
        let index = self.features_seen;
        self.features_seen += 1;
        if self.features_seen > self.limits.features_max {
            return self.stop(ProblemKind::TooManyFeatures { features_max: self.limits.features_max });
        }
        match serde_json::from_str::<Feature>(raw) {
            Err(error) => self.errors.push(self.unreadable(raw, index, &error)),
            Ok(feature) => {
                let id = feature.id.clone().map(FeatureId::from);
                let place = FeaturePlace { index, id: id.as_ref().map(FeatureId::to_string) };
                match self.check(feature, index, id) {
                    Ok(feature) => {
                        self.vertices += feature.shape.vertex_count();
                        self.features.push(feature);
                    }
                    Err(kind) => self.errors.push(Problem::of_feature(place, kind)),
                }
            }
        }
        if self.vertices > self.limits.layer_vertices_max {
            return self.stop(ProblemKind::TooManyLayerVertices { vertices_max: self.limits.layer_vertices_max });
        }
        if self.errors.len() >= self.limits.errors_listed_max {
            return self.stop(ProblemKind::TooManyErrors { listed: self.errors.len() });
        }
        FeatureStep::Continue
    }

    fn stop(&mut self, kind: ProblemKind) -> FeatureStep {
        self.was_stopped = true;
        self.errors.push(Problem::of_layer(kind));
        FeatureStep::Stop
    }

    /// Why a feature cannot be read.
    fn unreadable(&self, raw: &str, index: usize, error: &serde_json::Error) -> Problem {
        let outline = serde_json::from_str::<FeatureOutline<'_>>(raw).ok();
        let id = outline.as_ref().and_then(|outline| FeatureId::from_value(outline.id.clone()?));
        let place = FeaturePlace { index, id: id.as_ref().map(FeatureId::to_string) };
        let at_error = |raw: &str, error: &serde_json::Error, remedy: &str| {
            let (line, column) = self.position_in_file(raw, error);
            ProblemKind::NotAsExpected { line, column, what: without_position(error) + remedy }
        };
        let kind = match outline.as_ref().map(fault_of) {
            Some(OutlineFault::Known(kind)) => kind,
            // The error of the coordinates alone has their line; that of the feature has the line of its end.
            Some(OutlineFault::Coordinates(raw, error)) => at_error(raw, &error, SHAPE_OF_COORDINATES),
            Some(OutlineFault::Unknown) | None => at_error(raw, error, ""),
        };
        Problem::of_feature(place, kind)
    }

    /// The line and the column of an error in the text of a feature, counted from the start of the file.
    fn position_in_file(&self, raw: &str, error: &serde_json::Error) -> (usize, usize) {
        let start = (raw.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..start).unwrap_or_default();
        let lines = before.matches('\n').count();
        let last_line = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let column = if error.line() <= 1 { last_line + error.column() } else { error.column() };
        (lines + error.line().max(1), column)
    }

    fn check(&mut self, feature: Feature, index: usize, id: Option<FeatureId>) -> Result<SourceFeature, ProblemKind> {
        self.note_crs(crs_of(feature.foreign_members.as_ref()));
        let geometry = feature.geometry.ok_or(ProblemKind::NoGeometry)?;
        self.note_crs(crs_of(geometry.foreign_members.as_ref()));
        let shape = self.shape(geometry)?;
        Ok(SourceFeature { index, id, properties: feature.properties.unwrap_or_default(), shape })
    }

    fn note_crs(&mut self, crs: Option<&Value>) {
        if let Some(crs) = crs
            && self.wrong_crs.is_none()
            && !is_wgs84(crs)
        {
            self.wrong_crs = Some(crs_name(crs).map_or_else(|| crs.to_string(), str::to_owned));
        }
    }

    fn shape(&mut self, geometry: Geometry) -> Result<Shape, ProblemKind> {
        let mut rings = RingReader::new(&mut self.repairs, self.limits.feature_vertices_max);
        match geometry.value {
            GeometryValue::Polygon { coordinates } => rings.polygon(coordinates),
            GeometryValue::MultiPolygon { coordinates } => rings.multi_polygon(coordinates),
            other => Err(ProblemKind::NotPolygon { found: other.type_name().to_owned() }),
        }
    }

    /// Errors of the whole layer, reported before those of a feature.
    fn layer_errors(&mut self, header: &CollectionHeader, parsed: Result<(), serde_json::Error>) -> Vec<Problem> {
        let mut errors = Vec::new();
        match parsed {
            Err(_) if self.was_stopped => {}
            Err(error) => errors.push(self.parse_problem(header, &error)),
            Ok(()) => errors.extend(self.kind_error(header).map(Problem::of_layer)),
        }
        self.note_crs(header.crs.as_ref());
        errors.extend(self.wrong_crs.take().map(|found| Problem::of_layer(ProblemKind::WrongCrs { found })));
        errors.extend(looks_swapped(&self.features).map(Problem::of_layer));
        errors
    }

    fn parse_problem(&self, header: &CollectionHeader, error: &serde_json::Error) -> Problem {
        let (line, column, what) = (error.line(), error.column(), without_position(error));
        if !error.is_data() {
            return Problem::of_layer(ProblemKind::NotJson { line, column, what });
        }
        let place = header.has_features_member.then_some(FeaturePlace { index: self.features_seen, id: None });
        Problem { feature: place, kind: ProblemKind::NotAsExpected { line, column, what } }
    }

    fn kind_error(&self, header: &CollectionHeader) -> Option<ProblemKind> {
        match type_name(header.kind.as_ref()) {
            "FeatureCollection" => (self.features_seen == 0).then_some(ProblemKind::NoFeatures),
            found => Some(ProblemKind::NotFeatureCollection { found: found.to_owned() }),
        }
    }

    fn warnings(&self) -> Vec<Problem> {
        let Repairs { rings_closed, rings_turned, altitudes_dropped } = self.repairs;
        let repaired = [
            (rings_closed, ProblemKind::RingsClosed { rings: rings_closed }),
            (rings_turned, ProblemKind::RingsReversed { rings: rings_turned }),
            (altitudes_dropped, ProblemKind::AltitudesDropped { positions: altitudes_dropped }),
        ];
        let mut warnings: Vec<Problem> =
            repaired.into_iter().filter(|(count, _)| *count > 0).map(|(_, kind)| Problem::of_layer(kind)).collect();
        let mut budget = StepBudget::new(self.limits.check_steps_max);
        let mut warned_features = 0;
        for feature in &self.features {
            let problems = topology::check(&feature.shape, &mut budget);
            if problems.is_empty() {
                continue;
            }
            warned_features += 1;
            if warned_features <= self.limits.warned_features_max {
                warnings.extend(problems.into_iter().map(|kind| Problem::of_feature(feature.place(), kind)));
            }
        }
        let unlisted = warned_features.saturating_sub(self.limits.warned_features_max);
        if unlisted > 0 {
            warnings.push(Problem::of_layer(ProblemKind::MoreWarnings { features: unlisted }));
        }
        warnings
    }
}

/// The text of an error without its position, because our messages put that before the text.
fn without_position(error: &serde_json::Error) -> String {
    let what = error.to_string();
    what.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())).unwrap_or(&what).to_owned()
}

/// The remedy for coordinates that cannot be read.
const SHAPE_OF_COORDINATES: &str = "; a Polygon is a list of rings of positions, a MultiPolygon a list of Polygons";

/// What the outline of a feature shows to be wrong.
enum OutlineFault<'t> {
    Known(ProblemKind),
    /// The text of the coordinates, and why they cannot be read.
    Coordinates(&'t str, serde_json::Error),
    Unknown,
}

fn fault_of<'t>(outline: &FeatureOutline<'t>) -> OutlineFault<'t> {
    let kind = type_name(outline.kind.as_ref());
    if kind != "Feature" {
        return OutlineFault::Known(ProblemKind::NotAFeature { found: kind.to_owned() });
    }
    if outline.id.clone().is_some_and(|id| FeatureId::from_value(id).is_none()) {
        return OutlineFault::Known(ProblemKind::BadId);
    }
    let geometry =
        outline.geometry.and_then(|geometry| serde_json::from_str::<GeometryOutline<'t>>(geometry.get()).ok());
    let Some(geometry) = geometry else { return OutlineFault::Unknown };
    let Some(coordinates) = geometry.coordinates.map(RawValue::get) else {
        return OutlineFault::Known(ProblemKind::BadCoordinates { what: "there are none" });
    };
    let error = match type_name(geometry.kind.as_ref()) {
        "Polygon" => serde_json::from_str::<PolygonType>(coordinates).err(),
        "MultiPolygon" => serde_json::from_str::<Vec<PolygonType>>(coordinates).err(),
        found => return OutlineFault::Known(ProblemKind::NotPolygon { found: found.to_owned() }),
    };
    error.map_or(OutlineFault::Unknown, |error| OutlineFault::Coordinates(coordinates, error))
}

fn crs_of(members: Option<&JsonObject>) -> Option<&Value> {
    members?.get("crs")
}

fn type_name(kind: Option<&Value>) -> &str {
    kind.and_then(Value::as_str).unwrap_or("JSON object without a type")
}

/// Older GeoJSON names its coordinate reference system. Only names that mean WGS 84, longitude first, are accepted.
fn is_wgs84(crs: &Value) -> bool {
    let Some(name) = crs_name(crs) else { return false };
    let name = name.to_ascii_uppercase();
    // By definition EPSG:4326 has latitude first, but every GeoJSON writer that names it means longitude first.
    let is_known = |end: &str| name == end || name.ends_with(&format!(":{end}")) || name.ends_with(&format!("/{end}"));
    is_known("CRS84") || is_known("EPSG:4326") || is_known("EPSG::4326") || is_known("EPSG/0/4326")
}

fn crs_name(crs: &Value) -> Option<&str> {
    crs.pointer("/properties/name").and_then(Value::as_str)
}

/// Finds layers with swapped coordinates. Latitude before longitude is often still in range: `[41.8, -87.6]` is a
/// place in the Antarctic. But the layers of this service are in the United States, so a layer that is outside, but
/// would be inside with both swapped, is refused.
fn looks_swapped(features: &[SourceFeature]) -> Option<ProblemKind> {
    let positions = || features.iter().flat_map(|feature| feature.shape.rings()).flat_map(Ring::positions);
    let first = positions().next()?;
    let is_swapped = |at: Position| !is_in_us(at) && is_in_us(Position { lon: at.lat, lat: at.lon });
    positions().all(is_swapped).then_some(ProblemKind::LooksSwapped { first })
}

/// Roughly the states and territories, from American Samoa to Alaska and from Guam to Puerto Rico.
fn is_in_us(at: Position) -> bool {
    let is_in_longitude = (-180.0..=-64.0).contains(&at.lon) || (144.0..=180.0).contains(&at.lon);
    is_in_longitude && (-15.0..=72.0).contains(&at.lat)
}
