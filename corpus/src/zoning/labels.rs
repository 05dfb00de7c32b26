//! What a publisher wrote on the features of a layer: published codes, streets, names of areas. People find places
//! by them where no address can be looked up.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::zoning::feature_lookup::{FeatureZone, LayerFeatures, LayerReadError};
use crate::zoning::shape::BoundingBox;
use crate::zoning::tiles::legend::Legend;

/// Longer values are remarks, which nobody types.
const CHARS_MAX: usize = 100;

/// A value of features' own properties.
#[derive(Clone, PartialEq, Debug)]
pub struct FeatureLabel {
    pub text: String,
    /// The zones of its features, as indices of the layer's list, in ascending order.
    pub zones: Vec<usize>,
    pub features: usize,
    /// The bounding box of its features.
    pub extent: BoundingBox,
}

#[derive(Deserialize)]
struct LabelledBody {
    geojson: LabelledCollection,
}

#[derive(Deserialize)]
struct LabelledCollection {
    features: Vec<LabelledFeature>,
}

#[derive(Deserialize)]
struct LabelledFeature {
    properties: LabelledProperties,
}

#[derive(Deserialize)]
struct LabelledProperties {
    source: BTreeMap<String, Value>,
}

/// The labels of a layer, in ascending order without regard to capitals.
pub(super) fn read(body: &[u8], places: &LayerFeatures, legend: &Legend) -> Result<Vec<FeatureLabel>, LayerReadError> {
    let body: LabelledBody = serde_json::from_slice(body).map_err(|error| LayerReadError::new(error.to_string()))?;
    let mut labels: BTreeMap<(String, String), FeatureLabel> = BTreeMap::new();
    let features = body.geojson.features.iter().zip(places.features()).zip(places.extents()).enumerate();
    for (place, ((feature, located), extent)) in features {
        let zone = legend.zone_of(place);
        let mut texts: Vec<&str> = feature.properties.source.values().filter_map(label).collect();
        texts.sort_unstable();
        texts.dedup();
        let FeatureZone { zone_code, zone_name, .. } = &located.zone;
        let is_zone = |text: &&str| *text == zone_code || zone_name.as_deref() == Some(*text);
        for text in texts.into_iter().filter(|text| !is_zone(text)) {
            let found = labels.entry((text.to_lowercase(), text.to_owned())).or_insert_with(|| FeatureLabel {
                text: text.to_owned(),
                zones: Vec::new(),
                features: 0,
                extent: BoundingBox::EMPTY_BOX,
            });
            if let Err(at) = found.zones.binary_search(&zone) {
                found.zones.insert(at, zone);
            }
            found.features += 1;
            found.extent = found.extent.join(*extent);
        }
    }
    Ok(labels.into_values().collect())
}

/// A text that a person would look for: no number, no identifier of a program.
fn label(value: &Value) -> Option<&str> {
    let text = value.as_str()?.trim();
    let is_identifier = text.len() >= 32 && text.chars().all(|c| c.is_ascii_hexdigit() || "{}-".contains(c));
    let is_sought = (2..=CHARS_MAX).contains(&text.chars().count())
        && text.chars().any(char::is_alphabetic)
        && !is_identifier
        && !text.contains("://");
    is_sought.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"geojson": {"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": 1, "properties": {"zoneCode": "PD", "citationStatus": "placeholder",
          "zoneName": "Plan",
          "source": {"zone": "PD 9", "name": "Plan", "street": "Quay Street", "no": 7, "id": "{058BFDFE-0155-442E-B580-2CABE7E1D267}"}},
         "geometry": {"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0]]]}},
        {"type": "Feature", "id": 2, "properties": {"zoneCode": "R-1", "citationStatus": "placeholder",
          "source": {"zone": "R-1", "street": " Quay Street ", "seen": "https://example.org/a"}},
         "geometry": {"type": "Polygon", "coordinates": [[[4,4],[5,4],[5,5],[4,4]]]}}]}}"#;

    #[test]
    fn labels_are_the_words_that_the_publisher_wrote_on_features() {
        let places = LayerFeatures::read(BODY.as_bytes()).unwrap();
        let legend = Legend::of(&places, &["PD", "R-1"]).unwrap();
        let labels = read(BODY.as_bytes(), &places, &legend).unwrap();
        let shown: Vec<_> =
            labels.iter().map(|label| (label.text.as_str(), label.zones.as_slice(), label.features)).collect();
        assert_eq!(shown, [("PD 9", &[0][..], 1), ("Quay Street", &[0, 1], 2)]);
        assert_eq!(labels[1].extent, BoundingBox([0.0, 0.0, 5.0, 5.0]));
    }
}
