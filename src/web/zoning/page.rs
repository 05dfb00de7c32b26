//! The page of a layer: map, zone search, selected zone, legend, table, source.
//!
//! `zoning.js` draws the map and reads the addresses of its parts from the attributes of `#map`.
//! Without scripts, the page shows a picture of the whole layer instead, and the table links to
//! every provision.

use hornbook_corpus::zoning::shape::BoundingBox;
use maud::{Markup, html};

use super::address::{ZONING_PATH, path};
use super::finding::FoundPlace;
use super::layer_text::{category_of, has_hatching, layer_name, pending};
use super::{legend, map_parts, table};
use crate::api::error::ApiError;
use crate::api::replies::{ZoneReply, ZonesReply};
use crate::web::formatting::written_day;
use crate::web::pager::ListEdition;
use crate::web::untrusted_text::{UntrustedText, attribute_text, counted};

pub(super) struct LayerPage<'p> {
    pub(super) layer: &'p ZonesReply<'p>,
    pub(super) edition: ListEdition<'p>,
    /// The pass for the map parts, if they are not open to everybody.
    pub(super) pass: Option<&'p str>,
    /// Whether reading a provision is free for this reader.
    pub(super) reads_are_free: bool,
    /// What the reader looks for, and what that is.
    pub(super) asked: Option<&'p str>,
    pub(super) found: Option<&'p FoundPlace>,
    pub(super) page: Option<u32>,
}

impl LayerPage<'_> {
    pub(super) fn main(&self) -> Result<Markup, ApiError> {
        let layer = self.layer;
        let chosen = self.found.and_then(FoundPlace::zone);
        Ok(html! {
            nav.crumbs aria-label="Place" { ol { li { a href=(ZONING_PATH) { "Zoning" } } } }
            h1 { "Zoning map: " (UntrustedText(layer_name(layer))) }
            (self.summary())
            @if let (Some(asked), Some(found)) = (self.asked, self.found) { (found.shown(layer, asked)) }
            div.zoning {
                div.map-column { (self.finder()) (self.map(chosen)) }
                div.map-side {
                    section #zone aria-label="The chosen zone" hidden[chosen.is_none()] {
                        @if let Some(zone) = chosen.and_then(|place| layer.zones.get(place)) { (self.zone(zone)) }
                    }
                    (legend::shown(layer))
                }
            }
            (table::of(layer, chosen, self.page, self.edition))
            (self.origin())
        })
    }

    fn summary(&self) -> Markup {
        let layer = self.layer;
        html! {
            p.lead {
                (counted(layer.zones.len())) " zones in " (counted(layer.feature_count)) " areas. "
                @match pending(layer) {
                    0 => { "Every zone is linked to the provision that defines it." }
                    all if all == layer.zones.len() => {
                        "Text not loaded: no zone is linked to the provision that defines it yet."
                    }
                    1 => { "Text not loaded for one zone: the provision that defines it is not linked yet." }
                    pending => {
                        "Text not loaded for " (counted(pending))
                        " zones: the provisions that define them are not linked yet."
                    }
                }
            }
        }
    }

    /// The search for a place. It opens the page again with what it found. With scripts, it suggests zones and moves
    /// the map to them.
    fn finder(&self) -> Markup {
        html! {
            form.find-zone role="search" aria-label="Zones" method="get" action=(path(self.layer.short_code.as_str())) {
                label for="find" { "Find a zone" }
                div.box {
                    input #find type="search" name="zone" value=(attribute_text(self.asked.unwrap_or_default()))
                        placeholder="Code, name or place" aria-describedby="find-hint" autocomplete="off" maxlength="200";
                    button type="submit" { "Show" }
                }
                p #find-hint .remark {
                    "Also by coordinates (latitude, longitude), or by a street or area that the publisher wrote on the map. Addresses cannot be looked up here."
                }
            }
        }
    }

    fn map(&self, chosen: Option<usize>) -> Markup {
        let layer = self.layer;
        let shown = self
            .found
            .and_then(FoundPlace::extent)
            .map(|BoundingBox([west, south, east, north])| format!("{west},{south},{east},{north}"));
        let [west, south, east, north] = layer.bbox;
        let parts = map_parts::path(layer.short_code.as_str(), self.edition.snapshot);
        let label = attribute_text(&format!("Zoning map of {}", layer_name(layer)));
        html! {
            div #map.map.scripts-only data-parts=(parts) data-pass=[self.pass] data-bbox={ (west) "," (south) "," (east) "," (north) }
                data-shown=[shown] data-chosen=[chosen] data-hatched=[has_hatching(layer).then_some("")] data-zoom-max=(layer.tiles.zoom_max) data-grid=(layer.tiles.grid)
                data-reads=(if self.reads_are_free { "free" } else { "paid" }) {
                div.canvas role="application" aria-label=(label) aria-describedby="map-keys" tabindex="0" {}
                div.map-buttons role="group" aria-label="Map" {
                    button type="button" data-do="in" aria-label="Zoom in" { "+" }
                    button type="button" data-do="out" aria-label="Zoom out" { "−" }
                    button type="button" data-do="fit" aria-label="Show the whole map" { "⤢" }
                }
                p.map-report hidden {}
            }
            p #map-keys .remark.scripts-only {
                "Arrows move the map, " kbd { "+" } " and " kbd { "−" } " zoom, " kbd { "Home" } " shows all, " kbd { "Enter" }
                " chooses the zone in the middle, " kbd { "Esc" } " clears the choice. The table below has the same zones."
            }
            p #map-said .unseen role="status" {}
            noscript {
                picture.overview {
                    source srcset={ (parts) "/overview/dark" (self.pass_query()) } media="(prefers-color-scheme: dark)";
                    img src={ (parts) "/overview/light" (self.pass_query()) } alt={ (label) ": the colours are those of the categories, the table below has every zone" };
                }
            }
        }
    }

    fn pass_query(&self) -> String {
        self.pass.map(|pass| format!("?pass={pass}")).unwrap_or_default()
    }

    fn zone(&self, zone: &ZoneReply<'_>) -> Markup {
        html! {
            h2 { (UntrustedText(&zone.code)) @if let Some(name) = &zone.name { " " span.heading { (UntrustedText(name)) } } }
            dl {
                dt { "Category" } dd { (UntrustedText(category_of(self.layer, zone))) }
                dt { "Areas" } dd { (counted(zone.features)) }
                dt { "Defined in" } dd { (table::defined_in(zone)) }
            }
        }
    }

    fn origin(&self) -> Markup {
        let source = &self.layer.source;
        let facts = [
            ("Publisher", &source.publisher),
            ("Edition", &source.edition),
            ("Retrieved", &source.retrieved),
            ("License", &source.license),
        ];
        html! {
            section.provenance aria-labelledby="origin" {
                h2 #origin { "Source of this map" }
                dl {
                    @for (name, value) in facts { @if let Some(value) = value { dt { (name) } dd { (UntrustedText(value)) } } }
                    @if let Some(url) = source.url.as_deref().filter(|url| url.starts_with("https://") || url.starts_with("http://")) {
                        dt { "Source" } dd { a rel="external noreferrer" href=(url) { (UntrustedText(url)) } }
                    }
                    @if let Some(through) = self.layer.current_through {
                        dt { "Law of the zones" } dd { "current through " (written_day(through)) }
                    }
                    dt { "Snapshot" } dd { code.hash { (self.edition.snapshot) } }
                }
            }
        }
    }
}
