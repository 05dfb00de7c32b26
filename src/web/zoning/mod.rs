//! Zoning maps: the list of layers, a page for each layer with its map and zone table, and the map
//! parts.
//!
//! `address` contains the paths, `layer_text` the words for a layer and its zones. `page` renders the page of a
//! layer, `table` its zones, `legend` the colours and patterns; `finding` looks up what a reader typed. `map_parts`
//! serves tiles, zone lists and overview pictures; `overview` draws the picture for browsers without scripts.

pub(super) mod address;
mod finding;
mod layer_text;
mod legend;
pub mod map_parts;
mod overview;
mod page;
mod table;

use std::sync::Arc;

use ::http::StatusCode;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::zoning::catalogue::{LayerEntry, ZoningLayer};
use hornbook_corpus::zoning::layer::LayerStatus;
use maud::{Markup, html};

use super::assets::{ZONING, ZONING_TILES};
use super::frame::{Page, SiteSection};
use super::page_context::{OpenPage, OperationCall};
use super::response::{self, CachePolicy};
use super::untrusted_text::{UntrustedText, attribute_text, counted};
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::replies::ZonesReply;
use crate::api::visitors::VisitorAction;
use crate::mount::MountResponse;
use address::path;
use finding::FoundPlace;
use layer_text::layer_name;
use page::LayerPage;

/// The list of all published layers in the snapshot.
pub(super) async fn all(mut opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
    opened.call(OperationCall::read("coverage", &[])).await?;
    let corpus = &opened.corpus;
    let layers: Vec<&LayerEntry> = corpus
        .snapshot()
        .zoning
        .iter()
        .map(|layer| layer.entry())
        .filter(|entry| entry.status == LayerStatus::Published)
        .collect();
    let main = html! {
        h1 { "Zoning maps" }
        p.lead {
            @if layers.iter().all(|layer| layer.placeholders.is_empty()) {
                "Zoning maps of cities and towns. Each zone leads to the provision that defines it."
            } @else {
                "Zoning maps of cities and towns. A zone leads to the provision that defines it, where the text of that law is here; the table says for how many zones it is."
            }
        }
        @if layers.is_empty() {
            p { "This snapshot has no zoning maps." }
        } @else {
            div.table role="group" aria-label="Zoning maps" tabindex="0" { (list(corpus, &layers)) }
        }
    };
    let html = Page::new("Zoning", SiteSection::Zoning, main).html(&opened.visitor);
    Ok(opened.answer(response::page(StatusCode::OK, html, CachePolicy::Revalidate)))
}

fn list(corpus: &Corpus, layers: &[&LayerEntry]) -> Markup {
    let name = |entry: &LayerEntry| {
        let found = corpus.catalogue().jurisdictions.iter().find(|one| one.short_code == entry.short_code);
        found.map_or_else(|| entry.short_code.to_string(), |one| one.name.clone())
    };
    html! {
        table.layers {
            thead { tr { th scope="col" { "Map" } th.number scope="col" { "Zones" } th.number scope="col" { "Areas" } th scope="col" { "Linked to the law" } th scope="col" { "Edition" } } }
            tbody { @for entry in layers {
                tr {
                    th scope="row" { a href=(path(entry.short_code.as_str())) { (UntrustedText(&name(entry))) } " " span.count { (entry.short_code) } }
                    td.number { (counted(entry.zones.len())) }
                    td.number { (counted(entry.feature_count)) }
                    td { @match (entry.placeholders.len(), entry.zones.len()) {
                        (0, _) => { "all zones" }
                        (pending, zones) if pending == zones => { span.gone { "none: text not loaded" } }
                        (pending, zones) => { (counted(zones - pending)) " of " (counted(zones)) "; " span.gone { (counted(pending)) ": text not loaded" } }
                    } }
                    td {
                        @if let Some(edition) = &entry.source.edition { (UntrustedText(edition)) }
                        @if let Some(publisher) = &entry.source.publisher { br; span.count { (UntrustedText(publisher)) } }
                    }
                }
            } }
        }
    }
}

fn number_of_page(text: &str) -> Result<u32, ApiError> {
    let number = text.parse::<u32>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| ApiError::invalid_parameter("page", "page is a whole number from 1"))
}

/// The page of a layer, with its map and its zones.
pub(super) async fn of_layer(mut opened: OpenPage<'_>, short_code: &str) -> Result<MountResponse, ApiError> {
    // Check the page number before the call charges anything.
    let shown = opened.parameter("page").map(number_of_page).transpose()?;
    let of = [("shortCode", short_code)];
    let ask = OperationCall { wish: VisitorAction::Map, of: &of, ..OperationCall::read("gis-zones", &[]) };
    let news = opened.call(ask).await?;
    let layer: ZonesReply<'_> = news.read()?;
    let asked = opened.parameter("zone").map(|asked| asked.trim().to_owned()).filter(|asked| !asked.is_empty());
    let found = match &asked {
        Some(asked) => Some(found(&opened, layer.short_code.clone().into_owned(), asked.clone()).await?),
        None => None,
    };
    let pass = opened.map_pass(&of);
    let title = attribute_text(&format!("Zoning of {}", layer_name(&layer)));
    let setting = LayerPage {
        layer: &layer,
        edition: opened.list_edition(),
        pass: pass.as_deref(),
        reads_are_free: opened.reads_are_free(),
        asked: asked.as_deref(),
        found: found.as_ref(),
        page: shown,
    };
    let page = Page { scripts: &[&ZONING_TILES, &ZONING], ..Page::new(&title, SiteSection::Zoning, setting.main()?) };
    let html = page.html(&opened.visitor);
    Ok(opened.answer(response::page(StatusCode::OK, html, CachePolicy::Revalidate)))
}

/// A zone's own code is looked up at once. Anything else may read the whole layer, on a thread for heavy work.
async fn found(opened: &OpenPage<'_>, short_code: ShortCode, asked: String) -> Result<FoundPlace, ApiError> {
    if let Some(zone) = FoundPlace::of_code(layer_of(&opened.corpus, &short_code)?.entry(), &asked) {
        return Ok(zone);
    }
    let corpus = Arc::clone(&opened.corpus);
    let find = move || {
        let found = FoundPlace::within(layer_of(&corpus, &short_code)?, &asked);
        found.map_err(|error| ApiError::internal(format!("{short_code}: {error}")))
    };
    opened.shell.service.heavy(find).await
}

fn layer_of<'c>(corpus: &'c Corpus, short_code: &ShortCode) -> Result<&'c ZoningLayer, ApiError> {
    let layer = corpus.snapshot().zoning.layer(short_code);
    layer.ok_or_else(|| ApiError::internal(format!("the layer of {short_code} is missing")))
}
