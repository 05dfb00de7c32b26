//! A search as people get it, with the reasons for its ranking. It costs nothing.

use std::str::FromStr;

use ::http::StatusCode;
use hornbook_accounts::error::ChangeError;
use hornbook_search::{Mode, SearchRequest};
use maud::{Markup, html};

use super::shared::OperatorContext;
use crate::api::as_of::today;
use crate::api::page_links::page_path;
use crate::mount::MountResponse;
use crate::web::page_error::PageError;
use crate::web::page_request::PageRequest;
use crate::web::untrusted_text::{UntrustedText, short_heading};

pub(super) const PATH: &str = "/operator/search";

const HITS: u32 = 20;

/// A hit with its reasons.
struct ExplainedHit {
    path: String,
    citation: String,
    heading: String,
    status: &'static str,
    why: String,
}

struct ExplainedSearch {
    hits: Vec<ExplainedHit>,
    total: u64,
    corrected: Option<String>,
    /// How the query was understood.
    query: String,
}

pub(super) async fn shown(shared: &OperatorContext, seen: &PageRequest<'_>) -> Result<MountResponse, PageError> {
    let query = seen.parameter("q").unwrap_or_default().trim().to_owned();
    let mode = Mode::from_str(seen.parameter("mode").unwrap_or(Mode::default().name()))
        .map_err(|error| PageError::Refused(error.to_string()))?;
    let is_exact = seen.parameter("exact") == Some("true");
    let found = match query.is_empty() {
        true => None,
        false => Some(search(shared, &query, mode, is_exact).await?),
    };
    let main = html! {
        h1 { "Search preview" }
        p { "A search of the served snapshot with the reasons for the order of its results. It is not charged." }
        (form(&query, mode, is_exact))
        @if let Some(found) = &found { (results(found)) }
        p { a href="/operator" { "Back" } }
    };
    Ok(seen.page(StatusCode::OK, "Search preview", main))
}

pub(super) fn form(query: &str, mode: Mode, is_exact: bool) -> Markup {
    html! {
        form.entry method="get" action=(PATH) {
            label for="search-preview" { "Query" }
            input #search-preview type="text" name="q" value=(query) required maxlength="1000";
            label { "By "
                select name="mode" {
                    @for one in Mode::ALL { option value=(one.name()) selected[one == mode] { (one.meaning()) } }
                }
            }
            label.tick { input type="checkbox" name="exact" value="true" checked[is_exact]; " Exactly as typed" }
            button type="submit" { "Search and explain" }
        }
    }
}

async fn search(
    shared: &OperatorContext,
    query: &str,
    mode: Mode,
    is_exact: bool,
) -> Result<ExplainedSearch, PageError> {
    let (corpus, query) = (shared.shell.service.corpus(), query.to_owned());
    let day = today(shared.shell.service.now());
    let work = shared.shell.desk.operator_work(move || {
        let refused = |error: &dyn std::fmt::Display| ChangeError::Refused(error.to_string());
        let engine = corpus.engine();
        let request = SearchRequest {
            mode,
            limit: HITS,
            explain: true,
            exact: is_exact,
            day: Some(day),
            ..SearchRequest::new(&query)
        };
        let mut response = engine.search(&request).map_err(|error| refused(&error))?;
        let shown = engine.show(&mut response).map_err(|error| refused(&error))?;
        let hits = response.hits.iter().zip(&shown).map(|(hit, shown)| {
            Ok(ExplainedHit {
                path: page_path(corpus.snapshot(), hit.node).map_err(|error| refused(&error.message))?,
                citation: shown.provision.citation.to_owned(),
                heading: shown.provision.heading.clone().into_owned(),
                status: shown.provision.shown.status.as_str(),
                why: hit.explain.as_ref().map(ToString::to_string).unwrap_or_default(),
            })
        });
        Ok(ExplainedSearch {
            hits: hits.collect::<Result<_, ChangeError>>()?,
            total: response.total.into(),
            query: response.explained().unwrap_or_default(),
            corrected: response.corrected_query.clone(),
        })
    });
    work.await
}

fn results(found: &ExplainedSearch) -> Markup {
    html! {
        section aria-labelledby="found" {
            h2 #found { (found.hits.len()) " of " (found.total) }
            @if let Some(corrected) = &found.corrected { p { "Searched for " q { (UntrustedText(corrected)) } "." } }
            p { code { (UntrustedText(&found.query)) } }
            ol.rows {
                @for hit in &found.hits {
                    li {
                        span {
                            a href=(hit.path) { (UntrustedText(&hit.citation)) } " " (short_heading(&hit.heading))
                            span.count { " " (hit.status) }
                            br;
                            code { (UntrustedText(&hit.why)) }
                        }
                    }
                }
            }
        }
    }
}
