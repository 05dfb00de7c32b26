//! The words in which the pages describe a layer, its categories and its zones.

use hornbook_corpus::zoning::layer::PlaceholderReason;

use crate::api::replies::{CategoryReply, ZoneReply, ZonesReply};

const NO_CATEGORY: &str = "No category";

/// The name of the layer's jurisdiction.
pub(super) fn layer_name<'l>(layer: &'l ZonesReply<'_>) -> &'l str {
    layer.name.as_deref().unwrap_or(layer.short_code.as_str())
}

/// The number of zones to which no provision is linked yet.
pub(super) fn pending(layer: &ZonesReply<'_>) -> usize {
    layer.zones.iter().filter(|zone| zone.is_pending()).count()
}

/// Whether zones without a provision are hatched. If all zones were, the hatching would distinguish nothing and cover the
/// map; then the page says it in words.
pub(super) fn has_hatching(layer: &ZonesReply<'_>) -> bool {
    (1..layer.zones.len()).contains(&pending(layer))
}

pub(super) fn category_of<'l>(layer: &'l ZonesReply<'_>, zone: &ZoneReply<'_>) -> &'l str {
    layer.categories.get(zone.category).map_or(NO_CATEGORY, category_name)
}

pub(super) fn category_name<'l>(category: &'l CategoryReply<'_>) -> &'l str {
    category.name.as_deref().unwrap_or(NO_CATEGORY)
}

/// The reason why the zone is pending.
pub(super) const fn why_pending(zone: &ZoneReply<'_>) -> &'static str {
    match zone.reason {
        Some(PlaceholderReason::UnknownZoneCode) => "the code is not in the table of zones",
        Some(PlaceholderReason::NoProvisionNamed) => "no provision is listed for it",
        Some(PlaceholderReason::ProvisionNotHeld) => "its provision is not in this snapshot",
        None => "",
    }
}
