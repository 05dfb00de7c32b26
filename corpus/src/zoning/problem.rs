//! Everything that can be wrong with a zoning layer: typed problems with a severity and their feature.
//!
//! With an error, the layer cannot be served. A warning is corrected or kept, and listed in the build's report
//! (`--strict` makes it an error). Messages do not name the file; their caller does.

use std::fmt;

use crate::zoning::shape::Position;

/// Whether a layer can be built despite a problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    Warning,
    Error,
}

/// The position of a feature in its file, counted from zero as in `features[12]`, and its id there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeaturePlace {
    pub index: usize,
    pub id: Option<String>,
}

impl fmt::Display for FeaturePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "features[{}]", self.index)?;
        match &self.id {
            Some(id) => write!(f, " (id {id})"),
            None => Ok(()),
        }
    }
}

/// A problem and the feature that has it.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// `None` for a problem of the whole layer.
    pub feature: Option<FeaturePlace>,
    pub kind: ProblemKind,
}

/// How two parts of a boundary meet where they should not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ZoneContact {
    /// At a point that is a vertex of at least one of them.
    Touch,
    /// Along a line.
    Overlap,
    /// Through each other.
    Crossing,
}

impl ZoneContact {
    const fn verb(self) -> &'static str {
        match self {
            Self::Touch => "touches",
            Self::Overlap => "runs along",
            Self::Crossing => "crosses",
        }
    }
}

/// The places of contacts of one kind: the first place, and the number of distinct places.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ContactPlaces {
    pub first: Position,
    pub count: usize,
}

impl fmt::Display for ContactPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "at {}", self.first),
            count => write!(f, "at {count} places, the first {}", self.first),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum ProblemKind {
    // Errors: the file.
    TooManyBytes { bytes_max: u64 },
    NotUtf8 { offset: usize },
    NotJson { line: usize, column: usize, what: String },
    NotAsExpected { line: usize, column: usize, what: String },
    NotFeatureCollection { found: String },
    NoFeatures,
    WrongCrs { found: String },
    TooManyFeatures { features_max: usize },
    TooManyLayerVertices { vertices_max: usize },
    LooksSwapped { first: Position },
    TooManyErrors { listed: usize },

    // Errors: a feature.
    NotAFeature { found: String },
    BadId,
    NoGeometry,
    NotPolygon { found: String },
    BadCoordinates { what: &'static str },
    TooManyFeatureVertices { vertices_max: usize },
    RingTooShort { part: usize, ring: usize, positions: usize },
    OutOfRange { found: Position },
    NoZone { property: String },

    // Warnings: repaired, counted over the layer.
    RingsClosed { rings: usize },
    RingsReversed { rings: usize },
    AltitudesDropped { positions: usize },
    IdsReplaced { features: usize },

    // Warnings: kept as they are.
    NoArea { part: usize, ring: usize, at: Position },
    RingMeetsItself { how: ZoneContact, part: usize, ring: usize, places: ContactPlaces },
    RingsMeet { how: ZoneContact, part: usize, places: ContactPlaces },
    HoleOutside { part: usize, hole: usize, at: Position },
    HolesOverlap { part: usize, at: Position },
    PartsMeet { how: ZoneContact, places: ContactPlaces },
    PartsOverlap { at: Position },
    ContactsUnchecked,
    MoreWarnings { features: usize },

    // Warnings: zones and provisions.
    UnknownZone { code: String, features: usize, near: Vec<String> },
    ZoneReadAs { code: String, known: String, features: usize },
    ProvisionsNotHeld { zones: usize, features: usize, first: String },
    ZonesWithoutProvision { zones: usize, features: usize, first: String },
}

impl Problem {
    pub const fn of_layer(kind: ProblemKind) -> Self {
        Self { feature: None, kind }
    }

    pub const fn of_feature(feature: FeaturePlace, kind: ProblemKind) -> Self {
        Self { feature: Some(feature), kind }
    }

    pub const fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

impl ProblemKind {
    pub const fn severity(&self) -> Severity {
        match self {
            Self::TooManyBytes { .. }
            | Self::NotUtf8 { .. }
            | Self::NotJson { .. }
            | Self::NotAsExpected { .. }
            | Self::NotFeatureCollection { .. }
            | Self::NoFeatures
            | Self::WrongCrs { .. }
            | Self::TooManyFeatures { .. }
            | Self::TooManyLayerVertices { .. }
            | Self::LooksSwapped { .. }
            | Self::TooManyErrors { .. }
            | Self::NotAFeature { .. }
            | Self::BadId
            | Self::NoGeometry
            | Self::NotPolygon { .. }
            | Self::BadCoordinates { .. }
            | Self::TooManyFeatureVertices { .. }
            | Self::RingTooShort { .. }
            | Self::OutOfRange { .. }
            | Self::NoZone { .. } => Severity::Error,
            Self::RingsClosed { .. }
            | Self::RingsReversed { .. }
            | Self::AltitudesDropped { .. }
            | Self::IdsReplaced { .. }
            | Self::NoArea { .. }
            | Self::RingMeetsItself { .. }
            | Self::RingsMeet { .. }
            | Self::HoleOutside { .. }
            | Self::HolesOverlap { .. }
            | Self::PartsMeet { .. }
            | Self::PartsOverlap { .. }
            | Self::ContactsUnchecked
            | Self::MoreWarnings { .. }
            | Self::UnknownZone { .. }
            | Self::ZoneReadAs { .. }
            | Self::ProvisionsNotHeld { .. }
            | Self::ZonesWithoutProvision { .. } => Severity::Warning,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.feature {
            Some(place) => write!(f, "{place}: {}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

const REPROJECT: &str =
    "write it in WGS 84, longitude first, for example with 'ogr2ogr -t_srs EPSG:4326 OUT.geojson IN'";

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyBytes { bytes_max } => {
                write!(f, "the file has more than {bytes_max} bytes; simplify the layer or split it by jurisdiction")
            }
            Self::NotUtf8 { offset } => {
                write!(f, "byte {offset} is not UTF-8; GeoJSON must be UTF-8, convert the file")
            }
            Self::NotJson { line, column, what } => write!(f, "line {line}:{column} is not JSON: {what}"),
            Self::NotAsExpected { line, column, what } => write!(f, "line {line}:{column} is not GeoJSON: {what}"),
            Self::NotFeatureCollection { found } => {
                write!(f, "the file is a {found}, a zoning layer must be a FeatureCollection")
            }
            Self::NoFeatures => write!(f, "the FeatureCollection has no features; was the export empty?"),
            Self::WrongCrs { found } => {
                write!(f, "the coordinates are in {found}, a layer is served in CRS84 (WGS 84); {REPROJECT}")
            }
            Self::TooManyFeatures { features_max } => {
                write!(f, "there are more than {features_max} features, the limit of one layer")
            }
            Self::TooManyLayerVertices { vertices_max } => {
                write!(f, "there are more than {vertices_max} vertices, the limit of one layer; simplify it")
            }
            Self::LooksSwapped { first } => write!(
                f,
                "all positions, from {first} on, are outside the United States but inside it with latitude and longitude swapped; GeoJSON positions are longitude first: swap them"
            ),
            Self::TooManyErrors { listed } => write!(f, "reading stopped after {listed} errors"),
            Self::NotAFeature { found } => write!(f, "this is a {found}, not a Feature"),
            Self::BadId => write!(f, "the id of a feature must be a text or a number"),
            Self::NoGeometry => write!(f, "the feature has no geometry; give it a polygon or remove it"),
            Self::NotPolygon { found } => {
                write!(f, "the geometry is a {found}, a zone must be a Polygon or MultiPolygon")
            }
            Self::BadCoordinates { what } => write!(f, "the coordinates are malformed: {what}"),
            Self::TooManyFeatureVertices { vertices_max } => {
                write!(f, "the feature has more than {vertices_max} vertices, the limit of one feature; simplify it")
            }
            Self::RingTooShort { part, ring, positions } => write!(
                f,
                "{} has {positions} positions, a closed ring needs 4 or more",
                RingName { part: *part, ring: *ring }
            ),
            Self::OutOfRange { found } => write_out_of_range(f, *found),
            Self::NoZone { property } => write!(
                f,
                "the property '{property}' that should contain the zone code is absent or empty; \
                 fill it in, remove the feature, or name another zone_property in the plan"
            ),
            Self::RingsClosed { rings } => {
                write!(f, "{rings} rings did not repeat their first position at the end; they were closed")
            }
            Self::RingsReversed { rings } => write!(
                f,
                "{rings} rings had the wrong winding; outer rings now run counter-clockwise and holes clockwise"
            ),
            Self::AltitudesDropped { positions } => {
                write!(f, "{positions} positions had more than longitude and latitude; the rest was dropped")
            }
            Self::IdsReplaced { features } => {
                write!(f, "{features} features repeat the id of another; they got a new one")
            }
            Self::NoArea { part, ring, at } => {
                write!(f, "{} at {at} encloses no area", RingName { part: *part, ring: *ring })
            }
            Self::RingMeetsItself { how, part, ring, places } => {
                write!(f, "{} {} itself {places}", RingName { part: *part, ring: *ring }, how.verb())
            }
            Self::RingsMeet { how, part, places } => {
                write!(f, "a ring of part {part} {} another {places}", how.verb())
            }
            Self::HoleOutside { part, hole, at } => {
                write!(f, "{} is outside the outer ring at {at}", RingName { part: *part, ring: *hole })
            }
            Self::HolesOverlap { part, at } => write!(f, "two holes of part {part} overlap at {at}"),
            Self::PartsMeet { how, places } => write!(f, "one part {} another {places}", how.verb()),
            Self::PartsOverlap { at } => write!(f, "two parts overlap at {at}"),
            Self::ContactsUnchecked => write!(
                f,
                "the boundaries are too complex to check for crossings within the limit; simplify the feature"
            ),
            Self::MoreWarnings { features } => write!(f, "{features} more features have warnings that are not listed"),
            Self::UnknownZone { code, features, near } => {
                write!(
                    f,
                    "zone code '{code}' ({features} features) is not in the table of zones; its features cite nothing"
                )?;
                match near.as_slice() {
                    [] => Ok(()),
                    near => write!(f, ". Similar known codes: {}", near.join(", ")),
                }
            }
            Self::ZoneReadAs { code, known, features } => {
                write!(f, "zone code '{code}' ({features} features) was read as '{known}'")
            }
            Self::ProvisionsNotHeld { zones, features, first } => write!(
                f,
                "{zones} zones ({features} features) cite provisions that are not in this snapshot, the first '{first}'; \
                 add their code to the plan"
            ),
            Self::ZonesWithoutProvision { zones, features, first } => write!(
                f,
                "{zones} zones ({features} features) have no provision in the table of zones, the first '{first}'"
            ),
        }
    }
}

/// The name of a ring in messages: the outer ring or a hole of a part. Parts are counted from zero, as in the file.
struct RingName {
    part: usize,
    ring: usize,
}

impl fmt::Display for RingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ring {
            0 => write!(f, "the outer ring of part {}", self.part),
            ring => write!(f, "hole {ring} of part {}", self.part),
        }
    }
}

fn write_out_of_range(f: &mut fmt::Formatter<'_>, found: Position) -> fmt::Result {
    write!(f, "position {found} is outside longitude -180 to 180, latitude -90 to 90; ")?;
    let swapped = Position { lon: found.lat, lat: found.lon };
    if swapped.is_in_range() {
        write!(f, "it looks like latitude before longitude: GeoJSON positions are longitude first, swap them")
    } else {
        write!(f, "it looks like projected feet or metres: {REPROJECT}")
    }
}

/// The errors because of which a layer cannot be used. The first one should be fixed first.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("cannot use zoning layer {file}{}", first_and_count(.errors))]
pub struct LayerRejected {
    /// The file name that the user knows.
    pub file: String,
    /// At least one.
    pub errors: Vec<Problem>,
}

/// The first error and the number of the others, for messages.
fn first_and_count(errors: &[Problem]) -> String {
    let Some((first, more)) = errors.split_first() else { return String::new() };
    match more.len() {
        0 => format!(": {first}"),
        1 => format!(": {first} (and 1 more error)"),
        more => format!(": {first} (and {more} more errors)"),
    }
}
