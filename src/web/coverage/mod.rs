//! The coverage page: the loaded jurisdictions with their codes, editions and counts, the missing
//! ones, and a tile map of the states.
//!
//! `tiles` draws the tile map.

mod tiles;

use ::http::StatusCode;
use hornbook_base::thousands::grouped;
use hornbook_corpus::catalogue::{CodeBody, Source};
use hornbook_corpus::ids::NodeOrdinal;
use maud::{Markup, html};

use super::contents;
use super::formatting::{day_form, written_day};
use super::frame::{Page, SiteSection};
use super::law::cited::NOT_LOADED;
use super::page_context::{OpenPage, OperationCall};
use super::response::{self, CachePolicy};
use super::untrusted_text::UntrustedText;
use super::zoning::address;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::replies::{CoverageReply, CoveredBodyReply, JurisdictionReply};
use crate::mount::MountResponse;

pub(super) async fn answer(mut opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
    let news = opened.call(OperationCall::read("coverage", &[])).await?;
    let coverage: CoverageReply<'_> = news.read()?;
    let main = html! {
        h1 { "Coverage" }
        (totals(&opened, &coverage))
        (day_form("/coverage", opened.named_day().as_deref()))
        (tiles::map(&coverage.jurisdictions))
        (outdated(&coverage))
        (codes(&opened.corpus, &coverage)?)
        (missing_jurisdictions(&coverage))
    };
    let html = Page::new("Coverage", SiteSection::Coverage, main).html(&opened.visitor);
    Ok(opened.answer(response::page(StatusCode::OK, html, CachePolicy::Revalidate)))
}

fn totals(opened: &OpenPage<'_>, coverage: &CoverageReply<'_>) -> Markup {
    let with_law = coverage.jurisdictions.iter().filter(|one| !one.placeholder).count();
    let provisions: u32 = opened.corpus.catalogue().jurisdictions.iter().map(|one| one.provisions).sum();
    let figures = [
        (grouped(provisions), "provisions"),
        (with_law.to_string(), "jurisdictions with law"),
        (opened.corpus.catalogue().code_bodies.len().to_string(), "codes"),
        (coverage.published_gis_layers.to_string(), "zoning maps"),
    ];
    html! {
        ul.figures { @for (figure, name) in figures { li { strong { (figure) } " " span { (name) } } } }
        p.also { "Snapshot " code.hash { (opened.corpus.id()) } }
    }
}

/// A warning if editions ended more than a year before the day.
fn outdated(coverage: &CoverageReply<'_>) -> Markup {
    let count = coverage.jurisdictions.iter().flat_map(|one| &one.code_bodies).filter(|body| body.is_outdated).count();
    html! {
        @if count > 0 {
            p.banner.mild role="note" {
                @if count == 1 { "One code is" } @else { (count) " codes are" }
                " from editions that end more than a year before " (written_day(coverage.as_of))
                ". The law may have changed since then."
            }
        }
    }
}

/// The number of provisions in force, shown if some provisions are not in force.
fn in_force(jurisdiction: &JurisdictionReply<'_>, body: &CodeBody) -> Markup {
    let covered = covered(jurisdiction, body);
    let in_force = covered.map(|covered| covered.in_force_count).filter(|count| *count < body.provisions);
    html! { @if let Some(count) = in_force { " " span.count { (grouped(count)) " in force" } } }
}

/// The table of all codes in the snapshot, with their editions.
fn codes(corpus: &Corpus, coverage: &CoverageReply<'_>) -> Result<Markup, ApiError> {
    let bodies = &corpus.catalogue().code_bodies;
    let of = |code: &str| bodies.iter().filter(|body| body.jurisdiction.as_str() == code).collect::<Vec<_>>();
    let has_maps = coverage.jurisdictions.iter().any(|one| !one.placeholder && one.gis_citation_quality.is_some());
    let columns = if has_maps { "4" } else { "3" };
    Ok(html! {
        h2 { "Loaded codes" }
        div.table role="group" aria-label="Codes" tabindex="0" {
            table.codes {
                thead { tr { th scope="col" { "Code" } th scope="col" { "Provisions" } th scope="col" { "Edition" } @if has_maps { th scope="col" { "Zoning map" } } } }
                @for jurisdiction in coverage.jurisdictions.iter().filter(|one| !one.placeholder) {
                    tbody id=(jurisdiction.short_code) {
                        tr { th.place colspan=(columns) scope="rowgroup" { (UntrustedText(&jurisdiction.name)) " " span.count { (jurisdiction.short_code) " · " (jurisdiction.level.as_str()) } } }
                        @for (place, body) in of(jurisdiction.short_code.as_str()).into_iter().enumerate() {
                            tr {
                                th scope="row" {
                                    a href=(contents::path(&body.id.0.to_string())) { (UntrustedText(&body.name)) }
                                    (missing(jurisdiction, body))
                                }
                                td.number { (grouped(body.provisions)) (in_force(jurisdiction, body)) }
                                td { (edition(sources(corpus, body)?, covered(jurisdiction, body))) }
                                @if has_maps { td { @if place == 0 { (map_of(jurisdiction)) } } }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// The missing parts of a code.
fn missing(jurisdiction: &JurisdictionReply<'_>, body: &CodeBody) -> Markup {
    let covered = covered(jurisdiction, body);
    let parts = covered.map(|covered| &covered.parts);
    let missing = parts.and_then(|parts| parts.level.as_deref().zip(parts.missing.as_deref()));
    html! {
        @if let Some(lacks) = covered.and_then(|covered| covered.lacks.as_deref()) {
            br; span.count { "this copy lacks " (UntrustedText(lacks)) }
        }
        @if let Some((level, missing @ [_, ..])) = missing {
            br; span.count { "without " (level) (if missing.len() == 1 { " " } else { "s " }) (UntrustedText(&missing.join(", "))) }
        }
        @for title in parts.iter().flat_map(|parts| &parts.in_part) { br; span.count { (title.in_words()) } }
    }
}

/// The sources of the first and the last provision of a code.
fn sources<'c>(corpus: &'c Corpus, body: &CodeBody) -> Result<Option<[&'c Source; 2]>, ApiError> {
    let source = |node: u32| -> Result<Option<&Source>, ApiError> {
        let record = corpus.snapshot().nodes.get(NodeOrdinal(node))?;
        Ok(corpus.catalogue().sources.get(usize::from(record.source)))
    };
    let Some(last) = body.nodes.end.checked_sub(1).filter(|last| *last >= body.nodes.start) else { return Ok(None) };
    Ok(source(body.nodes.start)?.zip(source(last)?).map(<[_; 2]>::from))
}

fn covered<'c>(jurisdiction: &'c JurisdictionReply<'_>, body: &CodeBody) -> Option<&'c CoveredBodyReply<'c>> {
    jurisdiction.code_bodies.iter().find(|covered| covered.id == body.id)
}

fn edition(sources: Option<[&Source; 2]>, covered: Option<&CoveredBodyReply<'_>>) -> Markup {
    let through = covered.and_then(|covered| covered.current_through);
    let retrieved = covered.and_then(|covered| covered.retrieved_at);
    html! {
        @if let Some([first, last]) = sources {
            (UntrustedText(&first.edition))
            @if first != last { ", and other editions" }
            @match (through, retrieved) {
                (Some(through), _) => { ", current through " (written_day(through)) }
                (None, Some(retrieved)) => { ", which does not state through when it is current; copy of " (written_day(retrieved)) }
                (None, None) => { ", which does not state through when it is current" }
            }
            @if covered.is_some_and(|covered| covered.is_outdated) { " " span.gone { "over a year old" } }
            br; span.count { (UntrustedText(&first.publisher)) @if first.publisher != last.publisher { " and others" } ", retrieved " time { (UntrustedText(&first.retrieved)) } }
        }
    }
}

fn map_of(jurisdiction: &JurisdictionReply<'_>) -> Markup {
    let map = address::path(jurisdiction.short_code.as_str());
    html! {
        @match jurisdiction.gis_citation_quality.as_deref() {
            Some("linked") => { a href=(map) { "Map" } ", all zones linked" }
            Some(_) => { a href=(map) { "Map" } " " span.gone { "text of some zones not loaded" } }
            None => {}
        }
    }
}

/// The jurisdictions that are listed without law.
fn missing_jurisdictions(coverage: &CoverageReply<'_>) -> Markup {
    let missing: Vec<&JurisdictionReply<'_>> = coverage.jurisdictions.iter().filter(|one| one.placeholder).collect();
    html! {
        @if !missing.is_empty() {
            h2 { (NOT_LOADED) }
            p { "These are listed, but their text is not loaded, so a search in them finds nothing." }
            ul.gaps { @for one in missing { li {
                (UntrustedText(&one.name)) " " span.count { (one.short_code) }
                @if one.gis_citation_quality.is_some() { " " a href=(address::path(one.short_code.as_str())) { "Zoning map" } }
            } } }
        }
    }
}
