//! Reading pages: a provision or container of the law, found by its id or by a citation.
//!
//! `dated_provision` is what a page shows. `page` renders it, `standing` what comes before its text, and
//! `text` a text with the help of `lines` (its structure) and `mentions` (its citations). `citations`
//! contains the formats to copy, `metadata` the data for programs. `references` is the page with all
//! citing and cited provisions, `history` the one of its changes (`timeline` lists them, also on the page itself), `address` contains the paths, and `cited` the answer to a citation.

pub(super) mod address;
mod citations;
pub(super) mod cited;
mod dated_provision;
pub(super) mod history;
mod lines;
mod mentions;
mod metadata;
mod page;
mod references;
mod standing;
mod text;
pub(super) mod timeline;

use std::sync::Arc;

use ::http::StatusCode;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::NodeId;

use super::assets::{READING, TREE, VERSION};
use super::contents;
use super::frame::{Page, SiteSection};
use super::page_context::{CallResult, OpenPage, OperationCall, OperationReply};
use super::response::{self, CachePolicy};
use super::untrusted_text::attribute_text;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use crate::api::replies::ResolveReply;
use crate::api::reply::Format;
use crate::mount::MountResponse;
use address::{LawAddress, View};
use cited::target_path;
use dated_provision::DatedProvision;
use mentions::CitationLinks;
use page::ProvisionPage;
use timeline::Timeline;

/// The page of a provision or container, its text in another format, or its references.
pub(super) async fn at(opened: OpenPage<'_>, address: LawAddress) -> Result<MountResponse, ApiError> {
    let corpus = Arc::clone(&opened.corpus);
    let (written, query) = (opened.request.path, opened.request.query);
    let path = address.path(&corpus)?;
    if path != written {
        let moved = response::moved(&query.map_or_else(|| path.clone(), |query| format!("{path}?{query}")));
        return Ok(opened.answer(moved));
    }
    let id = corpus.node_id(address.node)?.to_string();
    match address.view {
        View::Page => in_format(opened, &id, Format::Json).await,
        View::Markdown => in_format(opened, &id, Format::Markdown).await,
        View::Text => in_format(opened, &id, Format::Text).await,
        View::References => references::answer(opened, &id).await,
        View::History => history::answer(opened, &id, &path).await,
    }
}

/// The edition that a page shows: that of the day in its address, for the provision in its path.
pub(super) fn edition_of_page(opened: &OpenPage<'_>) -> Arc<Corpus> {
    let served = &opened.corpus;
    match opened.named_day().and_then(|day| day.parse().ok()) {
        Some(day) => {
            let id = served.in_any_edition(|edition| id_at(edition, opened.request.path));
            served.for_page(day, id, opened.request.parameters)
        }
        None => Arc::clone(served),
    }
}

fn id_at(edition: &Corpus, path: &str) -> Option<NodeId> {
    edition.snapshot().outline.id(LawAddress::of(edition, path)?.node)
}

/// The last day of the newest edition that has a page which the served edition does not have.
pub(super) fn last_day_of_page(opened: &OpenPage<'_>) -> Option<Day> {
    if opened.named_day().is_some() {
        return None;
    }
    let id = opened.corpus.in_any_edition(|edition| id_at(edition, opened.request.path))?;
    opened.corpus.last_edition_with(id)?.current_through
}

pub(super) fn no_provision() -> ApiError {
    ApiError::not_found("there is no provision at this address")
}

async fn in_format(mut opened: OpenPage<'_>, id: &str, format: Format) -> Result<MountResponse, ApiError> {
    let mark = format!("~{}{}{}", opened.visitor.page_variant(), VERSION.as_str(), opened.served.shelf_version());
    let known = known_versions(&opened, &mark);
    let ask =
        OperationCall { of: &[("id", id)], format, known_versions: Some(&known), ..OperationCall::read("node", &[]) };
    let news = match opened.ask(ask).await? {
        CallResult::Unchanged(version) => {
            return Ok(opened.answer(response::not_modified(&(version + &mark), CachePolicy::Revalidate)));
        }
        CallResult::News(news) => news,
    };
    let version = news.version.clone().unwrap_or_default() + &mark;
    let answered = match format {
        Format::Markdown => {
            response::text(StatusCode::OK, "text/markdown; charset=utf-8", news.bytes, CachePolicy::Revalidate)
        }
        Format::Text => {
            response::text(StatusCode::OK, "text/plain; charset=utf-8", news.bytes, CachePolicy::Revalidate)
        }
        Format::Json => response::page(StatusCode::OK, html(&mut opened, &news).await?, CachePolicy::Revalidate),
    };
    Ok(opened.answer(response::with_version(answered, &version)))
}

/// The cached versions that the browser sent, without the suffix that pages append to the
/// operation's version.
fn known_versions(opened: &OpenPage<'_>, mark: &str) -> String {
    let held = opened.request.headers.get("if-none-match").and_then(|held| held.to_str().ok()).unwrap_or_default();
    let ours = held.split(',').map(str::trim).filter_map(|tag| tag.strip_suffix('"')?.strip_suffix(mark));
    ours.map(|tag| format!("{tag}\"")).collect::<Vec<_>>().join(", ")
}

async fn html(opened: &mut OpenPage<'_>, news: &OperationReply) -> Result<String, ApiError> {
    let provision = DatedProvision { reply: news.read()?, named_day: opened.named_day() };
    let (corpus, law) = (Arc::clone(&opened.corpus), opened.law());
    let shell = opened.shell;
    let base_url = shell.service.base_url();
    let contents = match provision.code_body_id {
        Some(body) if provision.child_count > 0 => {
            let (body, id) = (body.to_string(), provision.id.to_string());
            Some(contents::children(opened, &body, Some(&id), &provision.level).await?)
        }
        _ => None,
    };
    let mentions = CitationLinks::of(&corpus, &law, &opened.links(), &provision)?;
    let layouts = provision.layouts(&corpus, &law)?;
    let day = opened.day();
    let timeline = Timeline::of(&opened.served, provision.id)?;
    let setting = ProvisionPage { provision: &provision, mentions, layouts, contents, timeline, day, base_url };
    let title = attribute_text(&format!("{} {}", provision.citation, provision.heading));
    let title = &title[..title.floor_char_boundary(TITLE_BYTES_MAX)];
    let page = Page {
        head: metadata::head(&provision, base_url, shell.is_indexed),
        scripts: if provision.child_count > 0 { &[&READING, &TREE] } else { &[&READING] },
        ..Page::new(title, SiteSection::Contents, setting.main())
    };
    Ok(page.html(&opened.visitor))
}

/// Maximum length of the title. Headings may be as long as a provision.
const TITLE_BYTES_MAX: usize = 200;

/// The answers for all citations in the text, in order.
pub(super) async fn resolve(opened: &mut OpenPage<'_>, citation: &str) -> Result<ResolveReply, ApiError> {
    opened.call(OperationCall::read("resolve", &[("citation", citation)])).await?.read()
}

/// Redirects to the provision that a citation refers to, or lists the candidates.
pub(super) async fn by_citation(mut opened: OpenPage<'_>, citation: &str) -> Result<MountResponse, ApiError> {
    let resolved = resolve(&mut opened, citation).await?;
    if let [only] = resolved.answers.as_slice()
        && let Some(path) = target_path(only)
    {
        return Ok(opened.answer(response::redirect(&path)));
    }
    let is_found = resolved.answers.iter().any(|answer| !answer.candidates.is_empty());
    let status = if is_found { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let page = Page::new("Citation", SiteSection::Search, page::candidates(citation, &resolved));
    let html = page.html(&opened.visitor);
    Ok(opened.answer(response::page(status, html, CachePolicy::NoStore)))
}
