//! `/docs`: the documentation of the API for people, rendered from the operations table. Each
//! operation has a panel that calls it.
//!
//! `page` renders the whole page, `cards` one operation each, `schema` the response objects,
//! `clients` the connection settings of agents, and `parts` the shared elements. The panel is a
//! script that sends the same requests as a program, with a key that the reader pastes. The pages
//! issue no key for this and do not bypass the key.

mod cards;
mod clients;
mod elements;
mod page;
mod schema;

use std::sync::{Arc, PoisonError, RwLock};

use ::http::StatusCode;
use hornbook_base::hex;
use maud::PreEscaped;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use super::assets::{DOCS, VERSION};
use super::frame::{Page, SiteSection};
use super::page_context::OpenPage;
use super::response::{self, CachePolicy};
use crate::api::documents::{DocumentContext, Examples};
use crate::api::error::ApiError;
use crate::mount::MountResponse;
pub use page::content;

/// The rendered content for the most recently requested snapshot.
#[derive(Default)]
pub(super) struct RenderedDocs {
    content: RwLock<Option<Arc<DocsContent>>>,
    /// Ensures that concurrent requests render the content only once.
    rendering: Mutex<()>,
}

struct DocsContent {
    snapshot: String,
    html: String,
    /// A hash of the HTML.
    version: String,
}

pub(super) async fn answer(opened: OpenPage<'_>, kept: &RenderedDocs) -> Result<MountResponse, ApiError> {
    let content = content_for(&opened, kept).await?;
    let version = format!("{}~{}{}", content.version, opened.visitor.page_variant(), VERSION.as_str());
    let held = opened.request.headers.get("if-none-match").and_then(|held| held.to_str().ok()).unwrap_or_default();
    if held.split(',').any(|tag| tag.trim().trim_start_matches("W/") == format!("\"{version}\"")) {
        return Ok(opened.answer(response::not_modified(&version, CachePolicy::Revalidate)));
    }
    let page = Page { scripts: &[&DOCS], ..Page::new("API", SiteSection::Api, PreEscaped(content.html.clone())) };
    let html = page.html(&opened.visitor);
    Ok(opened.answer(response::with_version(response::page(StatusCode::OK, html, CachePolicy::Revalidate), &version)))
}

async fn content_for(opened: &OpenPage<'_>, kept: &RenderedDocs) -> Result<Arc<DocsContent>, ApiError> {
    if let Some(content) = kept.of(opened.corpus.id()) {
        return Ok(content);
    }
    let _rendering = kept.rendering.lock().await;
    if let Some(content) = kept.of(opened.corpus.id()) {
        return Ok(content);
    }
    let (service, corpus) = (Arc::clone(&opened.shell.service), Arc::clone(&opened.corpus));
    let rendered = tokio::task::spawn_blocking(move || {
        let tariff = &service.accounts().settings().tariff;
        let examples = Examples::of(&corpus);
        let setting =
            DocumentContext { base_url: service.base_url(), snapshot: corpus.id(), examples: &examples, tariff };
        let html = content(&setting);
        let version = hex::encode(&Sha256::digest(&html)[..12]);
        Arc::new(DocsContent { snapshot: corpus.id().to_owned(), html, version })
    });
    let rendered = rendered.await.map_err(|error| ApiError::internal(format!("render the documentation: {error}")))?;
    *kept.content.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&rendered));
    Ok(rendered)
}

impl RenderedDocs {
    fn of(&self, snapshot: &str) -> Option<Arc<DocsContent>> {
        let kept = self.content.read().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|content| content.snapshot == snapshot).cloned()
    }
}
