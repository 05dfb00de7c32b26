//! The handler of the public pages: search, law, contents, coverage, zoning maps, the
//! documentation, and the pages for search engines. The operator's settings limit what visitors may
//! see.

use std::sync::Arc;

use ::http::header::{HeaderName, HeaderValue};
use ::http::{HeaderMap, Response};
use bytes::Bytes;
use hornbook_accounts::Accounts;

use super::changes;
use super::check;
use super::contents;
use super::coverage;
use super::docs;
use super::errors;
use super::form_security::BrowserCookies;
use super::indexing;
use super::law;
use super::law::address::{LawAddress, day_parameter};
use super::page_context::{OpenPage, PageContext};
use super::response;
use super::search;
use super::visitor::Visitor;
use super::zoning;
use crate::api::error::ApiError;
use crate::api::headers::CORPUS_SNAPSHOT;
use crate::api::operation::CHECK_PAGE_PATH;
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
        let mut opened = self.shell.opened(&request);
        opened.corpus = law::edition_of_page(&opened);
        let edition = Arc::clone(&opened.corpus);
        let (visitor, debits) = (opened.visitor.clone(), opened.debits.clone());
        let answered = self.page(opened).await;
        let answer = answered.unwrap_or_else(|error| errors::answer(&error, &visitor, request.id));
        let mut answer = debits.settle(answer, request.progress).await;
        let snapshot = (CORPUS_SNAPSHOT.name.parse::<HeaderName>(), HeaderValue::from_str(edition.id()));
        if let (Ok(name), Ok(id)) = snapshot {
            answer.response.headers_mut().insert(name, id);
        }
        answer
    }

    async fn page(&self, opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
        let names: Vec<&str> = opened.request.segments.iter().map(AsRef::as_ref).collect();
        match names.as_slice() {
            [""] => search::answer(opened).await,
            ["suggest"] => search::suggestions(opened).await,
            ["browse"] => contents::all(opened).await,
            ["browse", body] => contents::of_body(opened, body).await,
            ["browse", body, "level"] => contents::level_fragment(opened, body).await,
            ["search"] => Ok(moved_to(opened, "/", "/search")),
            ["cite", citation @ ..] if !citation.is_empty() => law::by_citation(opened, &citation.join("/")).await,
            ["law", "cite", ..] => Ok(moved_to(opened, "/cite", "/law/cite")),
            ["docs"] | ["docs", ""] => docs::answer(opened, &self.docs, None).await,
            ["docs", name] | ["docs", name, ""] => docs::answer(opened, &self.docs, Some(*name)).await,
            ["docs", ..] => Ok(docs::no_page(&opened)),
            ["changes"] => changes::page(opened).await,
            ["changes.atom"] => changes::feed(opened).await,
            ["check"] => check::answer(opened).await,
            ["coverage"] => coverage::answer(opened).await,
            ["zoning"] => zoning::all(opened).await,
            ["zoning", short_code] => zoning::of_layer(opened, short_code).await,
            ["robots.txt"] => Ok(indexing::robots(opened)),
            ["sitemap.xml"] => Ok(indexing::index(opened)),
            ["sitemap", name] => indexing::sitemap(opened, name).await,
            names => match (LawAddress::of(&opened.corpus, opened.request.path), law::last_day_of_page(&opened)) {
                (Some(address), _) => law::at(opened, address).await,
                (None, Some(day)) => {
                    let target = format!("{}{}", opened.request.path, day_parameter('?', Some(&day.to_string())));
                    Ok(opened.answer(response::redirect(&target)))
                }
                (None, None) if names.first() == Some(&"law") => Err(law::no_provision()),
                (None, None) => Ok(errors::not_found(&opened.visitor, opened.request.id)),
            },
        }
    }
}

/// Redirects to the same path below another beginning, with the same parameters.
fn moved_to(opened: OpenPage<'_>, beginning: &str, old: &str) -> MountResponse {
    let rest = opened.request.path.strip_prefix(old).unwrap_or_default();
    let query = opened.request.query.map(|query| format!("?{query}")).unwrap_or_default();
    let target = format!("{beginning}{rest}{query}");
    opened.answer(response::moved(&target))
}

impl Mount for PublicPages {
    fn matches_path(&self, path: &str) -> bool {
        let first = path.split('/').nth(1);
        match first {
            Some(
                "" | "browse" | "changes" | "changes.atom" | "check" | "cite" | "coverage" | "docs" | "law" | "search"
                | "suggest" | "zoning",
            ) => true,
            Some("robots.txt" | "sitemap.xml" | "sitemap") => self.shell.is_indexed,
            _ => self.shell.service.corpus().in_any_edition(|edition| LawAddress::of(edition, path)).is_some(),
        }
    }

    fn methods(&self, path: &str) -> Methods {
        if path == CHECK_PAGE_PATH { Methods::GetAndPost } else { Methods::Get }
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn needs_newest(&self, headers: &HeaderMap, accounts: &Accounts) -> bool {
        BrowserCookies::of(headers).is_unknown_to(accounts)
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(self.visited(request))
    }

    fn error_page(&self, error: &ErrorPageInfo<'_>) -> Option<Response<Bytes>> {
        Some(errors::page(error, &Visitor::Anonymous))
    }
}
