//! The page of what changed in the law, and the same as an Atom feed.

use ::http::StatusCode;
use hornbook_base::sentence::sentence;
use hornbook_base::thousands::grouped;
use hornbook_editions::ChangeKind;
use maud::{Markup, PreEscaped, html};

use super::formatting;
use super::frame::{Page, SiteSection};
use super::law::address::{HISTORY_SUFFIX, without_day};
use super::law::timeline::{is_reworded, what_happened};
use super::page_context::{OpenPage, OperationCall, OperationReply};
use super::pager;
use super::response::{self, CachePolicy};
use super::untrusted_text::{UntrustedText, counted, short_heading};
use crate::api::error::ApiError;
use crate::api::operation::{CHANGES_FEED_PATH, CHANGES_PAGE_PATH};
use crate::api::replies::{ChangeItem, ChangesReply};
use crate::mount::MountResponse;
use crate::percent;

/// The parameters that page, feed and operation share.
const FILTERS: [&str; 6] = ["since", "kind", "pending", "jurisdiction", "codeBody", "subtree"];

const PAGE_SIZE: &str = "50";

pub(super) async fn page(mut opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
    let news = changes(&mut opened).await?;
    let reply: ChangesReply<'_> = news.read()?;
    let filters = filters(&opened);
    let query: String = filters.iter().map(|(name, value)| format!("{name}={}&", percent::encoded(value))).collect();
    let is_pending = filters.iter().any(|(name, value)| *name == "pending" && value == "true");
    let feed = format!("{CHANGES_FEED_PATH}?{}", query.trim_end_matches('&'));
    let main = html! {
        h1 { @if is_pending { "What will change" } @else { "What changed" } " " span.count { (counted(reply.total)) } }
        (form(&opened, &filters))
        @for notice in &reply.notices { p.also role="note" { (formatting::notice(notice)) } }
        @if reply.changes.is_empty() && reply.notices.is_empty() { p { "Nothing." } }
        ul.links { @for item in &reply.changes { li { (entry(item)) } } }
        @if let Some(pages) = news.pages { (pager::of(pages, &format!("?{query}page="), opened.list_edition())) }
        (kept(&reply))
    };
    let head = html! { link rel="alternate" type="application/atom+xml" title="Changes of the law" href=(feed); };
    let html = Page { head, ..Page::new("Changes", SiteSection::Contents, main) }.html(&opened.visitor);
    Ok(opened.answer(response::page(StatusCode::OK, html, CachePolicy::NoStore)))
}

/// The filters in the page's address.
fn filters(opened: &OpenPage<'_>) -> Vec<(&'static str, String)> {
    FILTERS.into_iter().filter_map(|name| Some((name, opened.parameters(name)?))).collect()
}

async fn changes(opened: &mut OpenPage<'_>) -> Result<OperationReply, ApiError> {
    let filters = filters(opened);
    let page = opened.parameter("page").unwrap_or("1").to_owned();
    let mut query: Vec<(&str, &str)> = filters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    query.extend([("limit", PAGE_SIZE), ("page", &page)]);
    opened.call(OperationCall::read("changes", &query)).await
}

fn form(opened: &OpenPage<'_>, filters: &[(&'static str, String)]) -> Markup {
    let value = |wanted: &str| filters.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value.as_str());
    let bodies = &opened.corpus.catalogue().code_bodies;
    html! {
        form.filters method="get" action=(CHANGES_PAGE_PATH) {
            label { "Code "
                select name="codeBody" {
                    option value="" { "all" }
                    @for body in bodies {
                        @let id = body.id.to_string();
                        option value=(id) selected[value("codeBody") == id] { (UntrustedText(&body.name)) }
                    }
                }
            }
            " " label { "Kind "
                select name="kind" {
                    option value="" { "all but notes" }
                    @for kind in ChangeKind::ALL { option value=(kind.as_str()) selected[value("kind") == kind.as_str()] { (kind.as_str()) } }
                }
            }
            " " label { "Since " input type="date" name="since" value=(value("since")); }
            " " label { input type="checkbox" name="pending" value="true" checked[value("pending") == "true"]; " What will change instead" }
            " " button type="submit" { "Show" }
        }
    }
}

fn entry(item: &ChangeItem<'_>) -> Markup {
    let change = &item.change;
    html! {
        a href=(item.url) {
            span.citation { (UntrustedText(&change.node.citation)) } " " span.heading { (short_heading(&change.node.heading)) }
        }
        " " span.also {
            (UntrustedText(&sentence(&what_happened(change)))) " " (formatting::notice(&sentence(&change.date.sentence())))
            @if !change.acts.is_empty() { " By " (UntrustedText(&change.acts.join("; "))) "." }
            @if is_reworded(change) { " " a href={ (without_day(&item.url)) (HISTORY_SUFFIX) "#compare" } { "Compare" span.unseen { " the wordings of " (change.node.citation) } } }
        }
    }
}

fn kept(reply: &ChangesReply<'_>) -> Markup {
    html! {
        @if !reply.editions.is_empty() {
            h2 { "Editions kept here" }
            ul {
                @for body in &reply.editions {
                    li {
                        (UntrustedText(&body.code_body)) ": "
                        @for (place, edition) in body.editions.iter().enumerate() {
                            @if place > 0 { ", " }
                            @match edition.current_through {
                                Some(day) => { (formatting::written_day(day)) },
                                None => { (UntrustedText(&edition.edition)) },
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The changes as an Atom feed (RFC 4287).
pub(super) async fn feed(mut opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
    let news = changes(&mut opened).await?;
    let reply: ChangesReply<'_> = news.read()?;
    let base_url = opened.shell.service.base_url();
    let filters = filters(&opened);
    let query: Vec<String> =
        filters.iter().map(|(name, value)| format!("{name}={}", percent::encoded(value))).collect();
    let query = query.join("&");
    let newest = reply.changes.iter().filter_map(|item| item.change.date.day).max();
    let newest = newest.map_or_else(|| opened.day().to_string(), |day| day.to_string());
    let snapshot = opened.corpus.id().to_owned();
    let xml = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" {
            id { (base_url) (CHANGES_FEED_PATH) "?" (query) }
            title { "Changes of the law" }
            updated { (newest) "T00:00:00Z" }
            (link("self", &format!("{base_url}{CHANGES_FEED_PATH}?{query}")))
            (link("alternate", &format!("{base_url}{CHANGES_PAGE_PATH}?{query}")))
            author { name { "Hornbook" } }
            subtitle { (grouped(u64::try_from(reply.total).unwrap_or(u64::MAX))) " changes in all" }
            @for item in &reply.changes {
                @let day = item.change.date.day.map_or_else(|| newest.clone(), |day| day.to_string());
                entry {
                    id { (base_url) "/law/" (item.change.node.node_id) "#" (snapshot) "-" (item.change.kind.as_str()) "-" (day) }
                    title { (item.change.node.citation) " " (item.change.node.heading) ": " (what_happened(&item.change)) }
                    updated { (day) "T00:00:00Z" }
                    (link("alternate", &absolute(base_url, &item.url)))
                    category term=(item.change.kind.as_str()) {}
                    summary {
                        (sentence(&what_happened(&item.change))) " " (sentence(&item.change.date.sentence()))
                        @if !item.change.acts.is_empty() { " By " (item.change.acts.join("; ")) "." }
                    }
                }
            }
        }
    };
    let bytes = xml.into_string().into();
    let answered =
        response::text(StatusCode::OK, "application/atom+xml; charset=utf-8", bytes, CachePolicy::FiveMinutes);
    Ok(opened.answer(answered))
}

/// An element that HTML would leave open.
fn link(rel: &str, href: &str) -> Markup {
    let attributes = html! { span rel=(rel) href=(href) {} }.into_string();
    let attributes = attributes.trim_start_matches("<span").trim_end_matches("></span>");
    PreEscaped(format!("<link{attributes}/>"))
}

/// Links within the site have no host.
fn absolute(base_url: &str, url: &str) -> String {
    if url.starts_with('/') { format!("{base_url}{url}") } else { url.to_owned() }
}
