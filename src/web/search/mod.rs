//! The search page: the search box, the results, and advice if there are none.
//!
//! `query` is the address of a page of results, `page` the HTML with the filters of `facets`, `containers` what
//! each result is part of, `nothing` the advice if there are none, and `snippet` splits the snippets of results.

mod containers;
mod facets;
mod nothing;
mod page;
mod query;
mod snippet;

use std::cmp::Reverse;

use ::http::StatusCode;
use hornbook_search::PlaceEffect;

use super::assets::SEARCH;
use super::frame::{Page, SiteSection};
use super::law;
use super::page_context::{OpenPage, OperationCall};
use super::response::{self, CachePolicy};
use crate::api::corpus::Corpus;
use crate::api::error::{ApiError, ErrorCode};
use crate::api::examples::is_citation;
use crate::api::replies::{SearchReply, SearchResultItem, SuggestReply};
use crate::api::visitors::VisitorAction;
use crate::mount::MountResponse;
use containers::{ContainerLinks, searched_part};
use law::cited::target_path;
use page::{Choices, Results, Samples};
use query::{SearchPageQuery, Sort};

/// Minimum length of query words that are compared with the highlights of the results, in
/// characters.
const LETTERS_MIN: usize = 4;

/// A page of results, or the start page if there is no query.
pub(super) async fn answer(mut opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
    let query = SearchPageQuery::of(&opened);
    if query.text.is_empty() {
        return start(opened, &query).await;
    }
    let cited = match query.is_first() && is_citation(opened.corpus.snapshot(), &query.text) {
        true => law::resolve(&mut opened, &query.text).await?.answers.into_iter().next(),
        false => None,
    };
    if let Some(path) = cited.as_ref().and_then(target_path).filter(|_| !query.is_text_search) {
        return Ok(opened.answer(response::redirect(&path)));
    }
    let parameters = query.parameters();
    let wish = wish(&opened, &query).await?;
    let news = opened.call(OperationCall { wish, ..OperationCall::read("search", &parameters) }).await;
    let news = match news {
        Ok(news) => news,
        Err(error) => return refused(opened, &query, error).await,
    };
    let mut found: SearchReply<'_> = news.read()?;
    sort_results(&mut found.results, query.sort, &opened.corpus);
    let is_as_typed = found.corrected_query.is_none() && !query.is_exact;
    let meant = match is_as_typed && has_unknown_word(&query.text, &found) && query.is_first() {
        true => spelling_suggestion(&mut opened, &query).await,
        false => None,
    };
    let (containers, inside) = (ContainerLinks::of(&opened, &found.results)?, searched_part(&opened, &query));
    let (pages, cited) = (news.pages.filter(|_| query.sort.is_none()), cited.as_ref());
    let results = Results {
        query: &query,
        found: &found,
        containers,
        inside,
        pages,
        edition: opened.list_edition(),
        cited,
        meant,
    };
    let main = page::results(&Choices::of(&opened, &query), &results);
    let title = format!("{} · Search", query.title_text());
    Ok(page_of(opened, StatusCode::OK, &title, main))
}

/// Sorts the best results in the order that the reader chose.
fn sort_results(results: &mut [SearchResultItem<'_>], sort: Option<Sort>, corpus: &Corpus) {
    match sort {
        None => {}
        Some(Sort::Code) => results.sort_by_key(|hit| corpus.snapshot().outline.ordinal(hit.node_id)),
        Some(Sort::Newest) => results.sort_by_key(|hit| Reverse(hit.effective_from)),
    }
}

fn page_of(opened: OpenPage<'_>, status: StatusCode, title: &str, main: maud::Markup) -> MountResponse {
    let page = Page { scripts: &[&SEARCH], has_search_box: false, ..Page::new(title, SiteSection::Search, main) };
    let html = page.html(&opened.visitor);
    opened.answer(response::page(status, html, CachePolicy::Revalidate))
}

async fn start(opened: OpenPage<'_>, query: &SearchPageQuery) -> Result<MountResponse, ApiError> {
    let samples = Samples::of(&opened).await?;
    let main = page::start(&Choices::of(&opened, query), &samples);
    Ok(page_of(opened, StatusCode::OK, "Hornbook: search the law", main))
}

/// Shows the error of an invalid search next to the search box, where the person can change the
/// query.
async fn refused(opened: OpenPage<'_>, query: &SearchPageQuery, error: ApiError) -> Result<MountResponse, ApiError> {
    if !matches!(error.code, ErrorCode::InvalidApiKey | ErrorCode::ValidationError) {
        return Err(error);
    }
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
    let samples = Samples::of(&opened).await?;
    let main = page::refused(&Choices::of(&opened, query), &samples, &error);
    let answer = page_of(opened, status, "Search", main);
    Ok(MountResponse { error: Some(error.code.code()), ..answer })
}

/// Sample searches are for everybody who may read. They count as page reads.
async fn wish(opened: &OpenPage<'_>, query: &SearchPageQuery) -> Result<VisitorAction, ApiError> {
    let may_be_sample = query.is_plain() && !opened.shell.visitors.is_allowed(VisitorAction::Search);
    let is_sample = may_be_sample && opened.corpus.examples().await?.searches().contains(&query.text);
    Ok(if is_sample { VisitorAction::Sample } else { VisitorAction::Search })
}

/// Whether a longer word of the query occurs in none of the highlighted passages.
fn has_unknown_word(text: &str, found: &SearchReply<'_>) -> bool {
    let marked: Vec<String> = found
        .results
        .iter()
        .flat_map(|hit| snippet::parts(&hit.snippet, &hit.highlights))
        .filter(|(_, is_marked)| *is_marked)
        .map(|(part, _)| part.to_lowercase())
        .collect();
    // The words of a place that became a filter were not searched for.
    let place = found.understood.as_ref().filter(|place| place.effect == PlaceEffect::Filter);
    let text = place.map_or_else(|| text.to_owned(), |place| text.replace(&*place.words, " "));
    let words = text.split(|letter: char| !letter.is_alphabetic()).filter(|word| word.chars().count() >= LETTERS_MIN);
    words.map(str::to_lowercase).any(|word| {
        let end = word.char_indices().nth(LETTERS_MIN).map_or(word.len(), |(end, _)| end);
        !marked.iter().any(|marked| marked.contains(&word[..end]))
    })
}

/// The spelling correction of the query. None if it fails: the results are then shown without it.
async fn spelling_suggestion(opened: &mut OpenPage<'_>, query: &SearchPageQuery) -> Option<String> {
    let parameters = [("q", query.text.as_str()), ("limit", "1")];
    let news = opened
        .call(OperationCall { wish: VisitorAction::Complete, ..OperationCall::read("suggest", &parameters) })
        .await
        .ok()?;
    news.read::<SuggestReply>().ok()?.did_you_mean.filter(|meant| *meant != query.text)
}

/// Completions of the typed text as JSON, for the script of the search box.
pub(super) async fn suggestions(mut opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
    let query = SearchPageQuery::of(&opened);
    let mut parameters = vec![("q", query.text.as_str()), ("limit", "8")];
    parameters.extend(query.jurisdiction.as_deref().map(|code| ("jurisdiction", code)));
    // A completion is not a search, so it is free for signed-in people. Readers who may not search
    // get no completions.
    let wish = if opened.may(VisitorAction::Search) { VisitorAction::Complete } else { VisitorAction::Search };
    let news = opened.call(OperationCall { wish, ..OperationCall::read("suggest", &parameters) }).await?;
    Ok(opened.answer(response::text(StatusCode::OK, "application/json", news.bytes, CachePolicy::FiveMinutes)))
}
