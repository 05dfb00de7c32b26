//! Metadata of reading pages for programs: schema.org `Legislation`, the canonical address, Open
//! Graph.

use hornbook_corpus::outline::Status;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::address::{View, is_web, without_day};
use super::dated_provision::DatedProvision;
use crate::web::frame::data_block;
use crate::web::untrusted_text::attribute_text;

/// Maximum length of a description, in characters.
const DESCRIPTION_CHARS: usize = 200;

pub(super) fn head(provision: &DatedProvision<'_>, base_url: &str, is_indexed: bool) -> Markup {
    let address = format!("{base_url}{}", provision.path());
    let title = attribute_text(&shortened(&format!("{} {}", provision.citation, provision.heading)));
    let beginning = provision.text.split('\n').find(|line| !line.trim().is_empty()).unwrap_or(&provision.heading);
    let description = attribute_text(&shortened(beginning));
    html! {
        link rel="canonical" href=(address);
        @if !is_indexed { meta name="robots" content="noindex"; }
        @if let Some(previous) = &provision.previous { link rel="prev" href=(previous.url); }
        @if let Some(next) = &provision.next { link rel="next" href=(next.url); }
        link rel="alternate" type="text/markdown" href=(provision.path_of(View::Markdown));
        link rel="alternate" type="text/plain" href=(provision.path_of(View::Text));
        meta name="description" content=(description);
        meta property="og:type" content="article";
        meta property="og:site_name" content="Hornbook";
        meta property="og:title" content=(title);
        meta property="og:description" content=(description);
        meta property="og:url" content=(address);
        (data_block(&legislation(provision, base_url, &address)))
    }
}

fn legislation(provision: &DatedProvision<'_>, base_url: &str, address: &str) -> Value {
    let force = match provision.status {
        Status::InForce => Some("https://schema.org/InForce"),
        Status::Uncertain => None,
        _ => Some("https://schema.org/NotInForce"),
    };
    let part_of = provision.path.last().map(|above| {
        let address = format!("{base_url}{}", without_day(&above.url));
        json!({ "@type": "Legislation", "name": attribute_text(&above.heading), "legislationIdentifier": attribute_text(&above.citation), "url": address })
    });
    let part_of = part_of
        .or_else(|| Some(json!({ "@type": "Legislation", "name": attribute_text(provision.code_body.as_ref()?) })));
    let mut legislation = json!({
        "@context": "https://schema.org",
        "@type": "Legislation",
        "@id": address,
        "url": address,
        "name": attribute_text(&shortened(&provision.heading)),
        "legislationIdentifier": attribute_text(&provision.citation),
        "legislationType": attribute_text(&provision.level),
        "legislationLegalForce": force,
        "legislationJurisdiction": provision.jurisdiction,
        "inLanguage": "en",
        "isPartOf": part_of,
        "isBasedOn": based_on(provision),
        "license": provision.provenance.license.as_deref(),
        "version": provision.provenance.edition.as_deref(),
        "legislationDateVersion": provision.effective_from,
        "keywords": provision.tags,
    });
    if let Some(members) = legislation.as_object_mut() {
        members.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    }
    legislation
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(DESCRIPTION_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
/// The provision at its publisher, or else the address it was read from.
fn based_on<'p>(provision: &'p DatedProvision<'_>) -> Option<&'p str> {
    let provenance = &provision.provenance;
    provenance.official_url.as_deref().or(provenance.source_url.as_deref()).filter(|url| is_web(url))
}
