//! Divides a GeoJSON file into its features, before any check. The crate geojson reads each of them: its own
//! streaming reader takes the first bracket of a file for the start of the features, does not see a coordinate
//! reference system, and reads nothing after a feature with an error.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// What a feature that cannot be read as one says about itself, for its error.
#[derive(Deserialize)]
pub(crate) struct FeatureOutline<'t> {
    #[serde(rename = "type")]
    pub kind: Option<Value>,
    pub id: Option<Value>,
    #[serde(borrow)]
    pub geometry: Option<&'t RawValue>,
}

/// The same for its geometry.
#[derive(Deserialize)]
pub(crate) struct GeometryOutline<'t> {
    #[serde(rename = "type")]
    pub kind: Option<Value>,
    #[serde(borrow)]
    pub coordinates: Option<&'t RawValue>,
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

/// Parses a file and calls `each` with the text of every feature. If `each` returns `Stop`, the result is an error, whose
/// reason the caller knows.
pub(crate) fn each_feature(
    text: &str,
    header: &mut CollectionHeader,
    each: &mut dyn FnMut(&str) -> FeatureStep,
) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Collection { header, each }.deserialize(&mut deserializer)?;
    deserializer.end()
}

struct Collection<'a> {
    header: &'a mut CollectionHeader,
    each: &'a mut dyn FnMut(&str) -> FeatureStep,
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
    each: &'a mut dyn FnMut(&str) -> FeatureStep,
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
        while let Some(feature) = seq.next_element::<&RawValue>()? {
            if (self.each)(feature.get()) == FeatureStep::Stop {
                return Err(A::Error::custom("reading was stopped"));
            }
        }
        Ok(())
    }
}
