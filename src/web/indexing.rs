//! Pages for search engines, if the operator allows indexing: robots.txt, and sitemaps for every
//! code and for the documentation.

use std::fmt::Write as _;
use std::sync::Arc;

use ::http::StatusCode;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};

use super::page_context::OpenPage;
use super::response::{self, CachePolicy};
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::page_links::page_path;
use crate::api::subject::{DOCS_PATH, Subject};
use crate::mount::MountResponse;

/// Nodes per sitemap. The protocol allows 50,000 addresses.
const NODES_PER_MAP: u32 = 20_000;

/// The name of the sitemap of the documentation.
const DOCS_MAP: &str = "docs.xml";

const XML: &str = "application/xml; charset=utf-8";

pub(super) fn robots(opened: OpenPage<'_>) -> MountResponse {
    let base_url = opened.shell.service.base_url();
    let text = format!(
        "User-agent: *\nDisallow: /api/\nDisallow: /suggest\nDisallow: /?q=\nSitemap: {base_url}/sitemap.xml\n"
    );
    opened.answer(response::text(StatusCode::OK, "text/plain; charset=utf-8", text.into(), CachePolicy::Revalidate))
}

/// The index of all sitemaps.
pub(super) fn index(opened: OpenPage<'_>) -> MountResponse {
    let base_url = opened.shell.service.base_url();
    let mut xml = begun("sitemapindex");
    for body in &opened.corpus.catalogue().code_bodies {
        for part in 0..body.nodes.len().div_ceil(NODES_PER_MAP) {
            let _ = write!(xml, "<sitemap><loc>{base_url}/sitemap/{}-{part}.xml</loc></sitemap>", body.id.0);
        }
    }
    let _ = write!(xml, "<sitemap><loc>{base_url}/sitemap/{DOCS_MAP}</loc></sitemap>");
    xml += "</sitemapindex>\n";
    opened.answer(response::text(StatusCode::OK, XML, xml.into(), CachePolicy::Revalidate))
}

/// The sitemap with this name: that of the documentation, or of one part of a code.
pub(super) async fn sitemap(opened: OpenPage<'_>, name: &str) -> Result<MountResponse, ApiError> {
    if name == DOCS_MAP {
        let xml = docs_urls(opened.shell.service.base_url());
        return Ok(opened.answer(response::text(StatusCode::OK, XML, xml.into(), CachePolicy::Revalidate)));
    }
    let gone = || ApiError::not_found("there is no such sitemap in this snapshot");
    let (body, part) = name.strip_suffix(".xml").and_then(|name| name.rsplit_once('-')).ok_or_else(gone)?;
    let part: u32 = part.parse().map_err(|_| gone())?;
    let nodes = opened.corpus.catalogue().code_bodies.iter().find(|known| known.id.0.to_string() == body);
    let nodes = nodes.map(|body| body.nodes).ok_or_else(gone)?;
    let start =
        part.checked_mul(NODES_PER_MAP).and_then(|skipped| nodes.start.checked_add(skipped)).ok_or_else(gone)?;
    if start >= nodes.end {
        return Err(gone());
    }
    let range = OrdinalRange { start, end: nodes.end.min(start + NODES_PER_MAP) };
    let (corpus, base_url) = (Arc::clone(&opened.corpus), opened.shell.service.base_url().to_owned());
    let xml = opened.shell.service.heavy(move || urls(&corpus, range, &base_url)).await?;
    Ok(opened.answer(response::text(StatusCode::OK, XML, xml.into(), CachePolicy::Revalidate)))
}

fn docs_urls(base_url: &str) -> String {
    let mut xml = begun("urlset");
    for path in Subject::ALL.map(Subject::path).iter().map(String::as_str).chain([DOCS_PATH]) {
        let _ = write!(xml, "<url><loc>{base_url}{path}</loc></url>");
    }
    xml + "</urlset>\n"
}

fn urls(corpus: &Corpus, range: OrdinalRange, base_url: &str) -> Result<String, ApiError> {
    let outline = &corpus.snapshot().outline;
    let mut xml = begun("urlset");
    for node in (range.start..range.end).map(NodeOrdinal).filter(|node| outline.is_provision(*node)) {
        let _ = write!(xml, "<url><loc>{base_url}{}</loc></url>", page_path(corpus.snapshot(), node)?);
    }
    Ok(xml + "</urlset>\n")
}

fn begun(root: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"
    )
}
