//! The legend of a map: the zone and the category of each feature of a layer, and the extent of each zone.

use std::collections::HashMap;

use crate::zoning::feature_lookup::{LayerFeatures, LayerReadError};
use crate::zoning::shape::BoundingBox;

/// A category of zones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Category {
    /// `None` for features that have no category.
    pub name: Option<String>,
    pub features: usize,
}

/// The zones and categories of a layer's features.
#[derive(Debug)]
pub struct Legend {
    categories: Vec<Category>,
    zones: Vec<usize>,
    feature_categories: Vec<usize>,
    zone_extents: Vec<BoundingBox>,
    zone_categories: Vec<usize>,
}

impl Legend {
    /// Creates the legend. `zone_codes` are those of the layer, in ascending order. Categories are ordered by their
    /// number of features, largest first.
    pub fn of(places: &LayerFeatures, zone_codes: &[&str]) -> Result<Self, LayerReadError> {
        let mut counts: HashMap<Option<&str>, usize> = HashMap::new();
        for feature in places.features() {
            *counts.entry(feature.zone.category.as_deref()).or_default() += 1;
        }
        let mut counted: Vec<(Option<&str>, usize)> = counts.into_iter().collect();
        counted.sort_by(|(name, count), (other, more)| more.cmp(count).then(name.cmp(other)));
        let place: HashMap<Option<&str>, usize> =
            counted.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();

        let mut zones = Vec::with_capacity(places.features().len());
        let mut feature_categories = Vec::with_capacity(places.features().len());
        let mut zone_extents = vec![BoundingBox::EMPTY_BOX; zone_codes.len()];
        let mut zone_categories = vec![None; zone_codes.len()];
        for (feature, extent) in places.features().iter().zip(places.extents()) {
            let code = feature.zone.zone_code.as_str();
            let zone = zone_codes.binary_search(&code);
            let zone = zone.map_err(|_| LayerReadError::new(format!("the list of zones does not contain {code:?}")))?;
            let category = place.get(&feature.zone.category.as_deref()).copied().unwrap_or_default();
            zone_extents[zone] = zone_extents[zone].join(*extent);
            zone_categories[zone].get_or_insert(category);
            zones.push(zone);
            feature_categories.push(category);
        }
        let categories =
            counted.iter().map(|(name, features)| Category { name: name.map(str::to_owned), features: *features });
        Ok(Self {
            categories: categories.collect(),
            zones,
            feature_categories,
            zone_extents,
            zone_categories: zone_categories.into_iter().map(Option::unwrap_or_default).collect(),
        })
    }

    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// The index of a feature's zone in the layer's list.
    pub fn zone_of(&self, feature: usize) -> usize {
        self.zones.get(feature).copied().unwrap_or_default()
    }

    /// The index of a feature's category.
    pub fn category_of(&self, feature: usize) -> usize {
        self.feature_categories.get(feature).copied().unwrap_or_default()
    }

    /// The category of the zone's first feature. Features of one zone have different categories only if the source
    /// gives them.
    pub fn category_of_zone(&self, zone: usize) -> usize {
        self.zone_categories.get(zone).copied().unwrap_or_default()
    }

    /// The bounding box of all features of a zone.
    pub fn extent_of_zone(&self, zone: usize) -> BoundingBox {
        self.zone_extents.get(zone).copied().unwrap_or(BoundingBox::EMPTY_BOX)
    }
}
