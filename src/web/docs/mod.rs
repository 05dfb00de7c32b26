//! `/docs`: the documentation of the API for people, rendered from the operations table: a start page, and
//! a page for each subject. Each operation has a panel that calls it.
//!
//! `page` renders the pages, `start` the first one, and `parts` what is about more than one operation.
//! `cards` renders one operation each, `schema` the response objects, `clients` the connection settings of
//! agents, and `elements` is shared. All of them read `source`; `description` finds the page of a response
//! object. The panel is a script that sends the same requests as a program, with a key that the reader
//! pastes. The pages issue no key for this and do not bypass the key.

mod cards;
mod clients;
mod description;
mod elements;
mod page;
mod parts;
mod schema;
mod source;
mod start;

use std::sync::{Arc, PoisonError, RwLock};

use ::http::StatusCode;
use hornbook_base::hex;
use maud::{PreEscaped, html};
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use super::assets::{DOCS, VERSION};
use super::errors;
use super::frame::{Page, SiteSection};
use super::page_context::OpenPage;
use super::response::{self, CachePolicy};
use crate::api::documents::DocumentContext;
use crate::api::error::ApiError;
use crate::api::subject::{DOCS_PATH, Subject};
use crate::mount::MountResponse;
pub use page::{DocsPage, pages};

/// The rendered pages for the most recently requested snapshot.
#[derive(Default)]
pub(super) struct RenderedDocs {
    content: RwLock<Option<Arc<DocsContent>>>,
    /// Ensures that concurrent requests render the content only once.
    rendering: Mutex<()>,
}

struct DocsContent {
    snapshot: String,
    pages: Vec<VersionedPage>,
}

struct VersionedPage {
    page: DocsPage,
    /// A hash of the HTML.
    version: String,
}

/// The page with this name below `/docs`, or the start page.
pub(super) async fn answer(
    opened: OpenPage<'_>,
    kept: &RenderedDocs,
    name: Option<&str>,
) -> Result<MountResponse, ApiError> {
    let known = |name| Subject::ALL.into_iter().find(|subject| subject.name() == name);
    let subject = match name.map(known) {
        None => None,
        Some(Some(subject)) => Some(subject),
        Some(None) => return Ok(no_page(&opened)),
    };
    let content = content_for(&opened, kept).await?;
    let VersionedPage { page, version } = content.page(subject)?;
    let version = format!("{version}~{}{}", opened.visitor.page_variant(), VERSION.as_str());
    let held = opened.request.headers.get("if-none-match").and_then(|held| held.to_str().ok()).unwrap_or_default();
    if held.split(',').any(|tag| tag.trim().trim_start_matches("W/") == format!("\"{version}\"")) {
        return Ok(opened.answer(response::not_modified(&version, CachePolicy::Revalidate)));
    }
    let title = subject.map_or_else(|| "API".to_owned(), |subject| format!("{} · API", subject.title()));
    let path = subject.map_or_else(|| DOCS_PATH.to_owned(), Subject::path);
    let page = Page {
        head: html! {
            link rel="canonical" href={ (opened.shell.service.base_url()) (path) };
            @if let Some(subject) = subject { meta name="description" content=(subject.summary()); }
        },
        scripts: &[&DOCS],
        ..Page::new(&title, SiteSection::Api, PreEscaped(page.html.clone()))
    };
    let html = page.html(&opened.visitor);
    Ok(opened.answer(response::with_version(response::page(StatusCode::OK, html, CachePolicy::Revalidate), &version)))
}

/// The answer to an unknown address below `/docs`.
pub(super) fn no_page(opened: &OpenPage<'_>) -> MountResponse {
    errors::not_found_below(DOCS_PATH, "Documentation", &opened.visitor, opened.request.id)
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
    let examples = corpus.examples().await?;
    let rendered = tokio::task::spawn_blocking(move || {
        let tariff = &service.accounts().settings().tariff;
        let setting =
            DocumentContext { base_url: service.base_url(), snapshot: corpus.id(), examples: &examples, tariff };
        let pages = pages(&setting).into_iter().map(VersionedPage::of).collect();
        Arc::new(DocsContent { snapshot: corpus.id().to_owned(), pages })
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

impl DocsContent {
    fn page(&self, subject: Option<Subject>) -> Result<&VersionedPage, ApiError> {
        let found = self.pages.iter().find(|versioned| versioned.page.subject == subject);
        found.ok_or_else(|| ApiError::internal(format!("the documentation has no page for {subject:?}")))
    }
}

impl VersionedPage {
    fn of(page: DocsPage) -> Self {
        Self { version: hex::encode(&Sha256::digest(&page.html)[..12]), page }
    }
}
