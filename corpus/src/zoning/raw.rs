//! A GeoJSON file as serde reads it, feature by feature, before any check.

use std::fmt;

use geo::Coord;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

#[derive(Deserialize)]
pub(crate) struct RawFeature {
    #[serde(rename = "type")]
    pub kind: Option<Value>,
    pub id: Option<Value>,
    pub properties: Option<Map<String, Value>>,
    pub geometry: Option<RawGeometry>,
    pub crs: Option<Value>,
}

#[derive(Deserialize)]
pub(crate) struct RawGeometry {
    #[serde(rename = "type")]
    pub kind: Option<Value>,
    pub coordinates: Option<Nested>,
    pub crs: Option<Value>,
}

/// Coordinates of any geometry. The first element distinguishes positions from lists.
pub(crate) enum Nested {
    Number(f64),
    Position { at: Coord<f64>, has_more: bool },
    List(Vec<Nested>),
}

/// The other members of the collection. They may come before or after its features.
#[derive(Default)]
pub(crate) struct CollectionHeader {
    pub kind: Option<Value>,
    pub crs: Option<Value>,
    pub has_features_member: bool,
}

/// Whether to continue after a feature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeatureStep {
    Continue,
    Stop,
}

/// Parses a file and calls `each` with every feature. If `each` returns `Stop`, the result is an error, whose
/// reason the caller knows.
pub(crate) fn each_feature(
    text: &str,
    header: &mut CollectionHeader,
    each: &mut dyn FnMut(RawFeature) -> FeatureStep,
) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Collection { header, each }.deserialize(&mut deserializer)?;
    deserializer.end()
}

struct Collection<'a> {
    header: &'a mut CollectionHeader,
    each: &'a mut dyn FnMut(RawFeature) -> FeatureStep,
}

impl<'de> DeserializeSeed<'de> for Collection<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Collection<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a FeatureCollection object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "type" => self.header.kind = map.next_value()?,
                "crs" => self.header.crs = map.next_value()?,
                "features" if self.header.has_features_member => {
                    return Err(A::Error::custom("there are two 'features' members"));
                }
                "features" => {
                    self.header.has_features_member = true;
                    map.next_value_seed(FeaturesVisitor { each: self.each })?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct FeaturesVisitor<'a> {
    each: &'a mut dyn FnMut(RawFeature) -> FeatureStep,
}

impl<'de> DeserializeSeed<'de> for FeaturesVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for FeaturesVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(feature) = seq.next_element()? {
            if (self.each)(feature) == FeatureStep::Stop {
                return Err(A::Error::custom("reading was stopped"));
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NestedVisitor)
    }
}

struct NestedVisitor;

impl<'de> Visitor<'de> for NestedVisitor {
    type Value = Nested;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("coordinates: a number or an array")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Nested, E> {
        Ok(Nested::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Nested, E> {
        Ok(Nested::Number(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Nested, E> {
        Ok(Nested::Number(number as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Nested, A::Error> {
        match seq.next_element::<Nested>()? {
            None => Ok(Nested::List(Vec::new())),
            Some(Nested::Number(lon)) => position(lon, seq),
            Some(first) => list(first, seq),
        }
    }
}

fn position<'de, A: SeqAccess<'de>>(lon: f64, mut seq: A) -> Result<Nested, A::Error> {
    let lat = seq.next_element::<f64>()?;
    let lat =
        lat.ok_or_else(|| A::Error::custom("a position needs a longitude and a latitude, there is one number"))?;
    let mut has_more = false;
    while seq.next_element::<f64>()?.is_some() {
        has_more = true;
    }
    Ok(Nested::Position { at: Coord { x: lon, y: lat }, has_more })
}

fn list<'de, A: SeqAccess<'de>>(first: Nested, mut seq: A) -> Result<Nested, A::Error> {
    let mut items = vec![first];
    while let Some(item) = seq.next_element()? {
        if matches!(item, Nested::Number(_)) {
            return Err(A::Error::custom("there is a number among arrays of coordinates"));
        }
        items.push(item);
    }
    Ok(Nested::List(items))
}
