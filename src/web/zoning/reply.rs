//! The fields of the replies of `gis-zones` and `gis-tile` that the pages use.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LayerView<'b> {
    pub(super) short_code: &'b str,
    #[serde(borrow)]
    name: Option<Cow<'b, str>>,
    pub(super) feature_count: usize,
    /// West, south, east, north.
    pub(super) bbox: [f64; 4],
    #[serde(borrow)]
    pub(super) source: SourceView<'b>,
    pub(super) tiles: Tiles,
    #[serde(borrow)]
    pub(super) categories: Vec<CategoryView<'b>>,
    #[serde(borrow)]
    pub(super) zones: Vec<ZoneView<'b>>,
}

#[derive(Deserialize)]
pub(super) struct SourceView<'b> {
    #[serde(borrow)]
    pub(super) publisher: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) edition: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) retrieved: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) license: Option<Cow<'b, str>>,
    #[serde(borrow)]
    pub(super) url: Option<Cow<'b, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tiles {
    pub(super) zoom_max: u8,
    pub(super) grid: i32,
}

#[derive(Deserialize)]
pub(super) struct CategoryView<'b> {
    #[serde(borrow)]
    pub(super) name: Option<Cow<'b, str>>,
    pub(super) features: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ZoneView<'b> {
    #[serde(borrow)]
    pub(super) code: Cow<'b, str>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'b, str>>,
    pub(super) category: usize,
    #[serde(borrow)]
    pub(super) citation: Option<Cow<'b, str>>,
    pub(super) node_id: Option<&'b str>,
    reason: Option<&'b str>,
    #[serde(borrow)]
    pub(super) near: Vec<Cow<'b, str>>,
    pub(super) features: usize,
}

/// The shapes of a tile.
#[derive(Deserialize)]
pub(super) struct Tile {
    pub(super) zones: Vec<usize>,
    pub(super) categories: Vec<usize>,
    pub(super) rings: Vec<Vec<Vec<i32>>>,
}

impl LayerView<'_> {
    /// The name of the jurisdiction.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.short_code)
    }

    pub(super) fn pending(&self) -> usize {
        self.zones.iter().filter(|zone| zone.is_pending()).count()
    }

    pub(super) fn category_of(&self, zone: &ZoneView<'_>) -> &str {
        self.categories.get(zone.category).map_or(NO_CATEGORY, CategoryView::shown)
    }
}

const NO_CATEGORY: &str = "No category";

impl CategoryView<'_> {
    pub(super) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(NO_CATEGORY)
    }
}

impl ZoneView<'_> {
    /// Whether no provision is linked to the zone yet.
    pub(super) fn is_pending(&self) -> bool {
        self.reason.is_some()
    }

    /// The reason why the zone is pending.
    pub(super) fn why_pending(&self) -> &'static str {
        match self.reason {
            Some("unknown-zone-code") => "the code is not in the table of zones",
            Some("no-provision-named") => "no provision is listed for it",
            Some("provision-not-held") => "its provision is not in this snapshot",
            _ => "",
        }
    }
}
