//! The handler of the public pages: search, law, contents, coverage, zoning maps, the
//! documentation, and the pages for search engines. The operator's settings limit what visitors may
//! see.

use std::sync::Arc;

use ::http::Response;
use bytes::Bytes;

use super::contents;
use super::coverage;
use super::docs;
use super::errors;
use super::indexing;
use super::law;
use super::page_context::{OpenPage, PageContext};
use super::search;
use super::visitor::Visitor;
use super::zoning;
use crate::api::error::ApiError;
use crate::mount::{ErrorPageInfo, Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};

pub struct PublicPages {
    shell: Arc<PageContext>,
    docs: docs::RenderedDocs,
}

impl PublicPages {
    pub fn new(shell: Arc<PageContext>) -> Self {
        Self { shell, docs: docs::RenderedDocs::default() }
    }

    async fn visited(&self, request: MountRequest<'_>) -> MountResponse {
        let opened = self.shell.opened(&request);
        let (visitor, debits) = (opened.visitor.clone(), opened.debits.clone());
        let answered = self.page(opened).await;
        let answer = answered.unwrap_or_else(|error| errors::answer(&error, &visitor, request.id));
        debits.settle(answer, request.progress).await
    }

    async fn page(&self, opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
        let names: Vec<&str> = opened.request.segments.iter().map(AsRef::as_ref).collect();
        match names.as_slice() {
            [""] => search::answer(opened).await,
            ["suggest"] => search::suggestions(opened).await,
            ["browse"] => contents::all(opened).await,
            ["browse", body] => contents::of_body(opened, body).await,
            ["browse", body, "level"] => contents::level_fragment(opened, body).await,
            ["law", "cite", citation @ ..] if !citation.is_empty() => {
                law::by_citation(opened, &citation.join("/")).await
            }
            ["docs"] | ["docs", ""] => docs::answer(opened, &self.docs).await,
            ["coverage"] => coverage::answer(opened).await,
            ["zoning"] => zoning::all(opened).await,
            ["zoning", short_code] => zoning::of_layer(opened, short_code).await,
            ["robots.txt"] => Ok(indexing::robots(opened)),
            ["sitemap.xml"] => Ok(indexing::index(opened)),
            ["sitemap", name] => indexing::of_body(opened, name).await,
            ["law", id, "references"] => law::references::answer(opened, id).await,
            ["law", id] => law::by_id(opened, id).await,
            _ => Ok(errors::not_found(&opened.visitor, opened.request.id)),
        }
    }
}

impl Mount for PublicPages {
    fn matches_path(&self, path: &str) -> bool {
        let first = path.split('/').nth(1);
        matches!(first, Some("" | "suggest" | "law" | "browse" | "coverage" | "docs" | "zoning"))
            || (self.shell.is_indexed && matches!(first, Some("robots.txt" | "sitemap.xml" | "sitemap")))
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::Get
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(self.visited(request))
    }

    fn error_page(&self, error: &ErrorPageInfo<'_>) -> Option<Response<Bytes>> {
        Some(errors::page(error, &Visitor::Anonymous))
    }
}
