//! The fields of the reply of `coverage` that the page uses.

use std::borrow::Cow;

use serde::Deserialize;
use uuid::Uuid;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CoverageView<'b> {
    pub(super) published_gis_layers: usize,
    #[serde(borrow)]
    pub(super) jurisdictions: Vec<JurisdictionView<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JurisdictionView<'b> {
    pub(super) short_code: &'b str,
    #[serde(borrow)]
    pub(super) name: Cow<'b, str>,
    pub(super) level: &'b str,
    pub(super) node_count: u32,
    pub(super) placeholder: bool,
    pub(super) parent: Option<&'b str>,
    pub(super) gis_citation_quality: Option<&'b str>,
    #[serde(borrow)]
    pub(super) code_bodies: Vec<CoveredBodyView<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CoveredBodyView<'b> {
    pub(super) id: Uuid,
    pub(super) in_force_count: u32,
    #[serde(borrow)]
    pub(super) parts: PartsView<'b>,
}

#[derive(Deserialize)]
pub(super) struct PartsView<'b> {
    pub(super) level: Option<&'b str>,
    #[serde(borrow)]
    pub(super) missing: Option<Vec<Cow<'b, str>>>,
}
