//! The zones of a layer as a table, page by page: an alternative for people who cannot use the map.

use maud::{Markup, html};

use super::address::path;
use super::layer_text::{category_of, why_pending};
use crate::api::page_links::LAW_PATH;
use crate::api::replies::{ZoneReply, ZonesReply};
use crate::api::reply::Pages;
use crate::percent;
use crate::web::pager::{self, ListEdition};
use crate::web::untrusted_text::{UntrustedText, counted};

/// Zones per page.
const PAGE_SIZE: usize = 100;

/// The requested page of the table, or else the page that contains the selected zone.
pub(super) fn of(layer: &ZonesReply<'_>, zone: Option<usize>, page: Option<u32>, edition: ListEdition<'_>) -> Markup {
    let last = layer.zones.len().div_ceil(PAGE_SIZE).max(1);
    let wanted = page.map_or_else(|| zone.map_or(1, |zone| zone / PAGE_SIZE + 1), |page| page as usize);
    let page = wanted.clamp(1, last);
    let from = (page - 1) * PAGE_SIZE;
    let rows = layer.zones.iter().enumerate().skip(from).take(PAGE_SIZE);
    let number = |page: usize| u32::try_from(page).unwrap_or(u32::MAX);
    html! {
        h2 #table { "All zones " span.count { (counted(layer.zones.len())) } }
        div.table role="group" aria-label="Zones" tabindex="0" {
            table.zones {
                thead { tr { th scope="col" { "Code" } th scope="col" { "Zone" } th scope="col" { "Category" } th.number scope="col" { "Areas" } th scope="col" { "Defined in" } } }
                tbody { @for (place, one) in rows { (row(layer, place, one, zone == Some(place))) } }
            }
        }
        (pager::of(Pages { page: number(page), last: number(last) }, "?page=", edition))
    }
}

fn row(layer: &ZonesReply<'_>, place: usize, zone: &ZoneReply<'_>, is_chosen: bool) -> Markup {
    let to_zone = format!("{}?zone={}", path(layer.short_code.as_str()), percent::encoded(&zone.code));
    html! {
        tr aria-current=[is_chosen.then_some("true")] {
            th scope="row" { a href=(to_zone) data-zone=(place) { (UntrustedText(&zone.code)) } }
            td { @if let Some(name) = &zone.name { (UntrustedText(name)) } }
            td { (UntrustedText(category_of(layer, zone))) }
            td.number { (counted(zone.features)) }
            td { (defined_in(zone)) }
        }
    }
}

/// The provision that defines a zone, or the reason why there is none.
pub(super) fn defined_in(zone: &ZoneReply<'_>) -> Markup {
    html! {
        @if let (Some(id), Some(citation)) = (zone.node_id, &zone.citation) {
            a href={ (LAW_PATH) (id) } { (UntrustedText(citation)) }
        } @else {
            span.gone { "text not loaded" } " " (why_pending(zone))
            @if let Some(citation) = &zone.citation { ": " (UntrustedText(citation)) }
            @if !zone.near.is_empty() { "; similar: " (UntrustedText(&zone.near.join(", "))) }
        }
    }
}
