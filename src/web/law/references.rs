//! Lists all provisions that a provision cites or that cite it, page by page.

use ::http::StatusCode;
use maud::{Markup, html};

use super::address::day_parameter;
use crate::api::error::ApiError;
use crate::api::replies::{NodeLink, NodeReply, ReferencesReply};
use crate::mount::MountResponse;
use crate::web::formatting::{currency_of, status_of};
use crate::web::frame::{Page, SiteSection};
use crate::web::page_context::{OpenPage, OperationCall};
use crate::web::pager;
use crate::web::response::{self, CachePolicy};
use crate::web::untrusted_text::{UntrustedText, counted, short_heading};

/// References per page.
const PAGE_SIZE: &str = "100";

pub(super) async fn answer(mut opened: OpenPage<'_>, id: &str) -> Result<MountResponse, ApiError> {
    let direction = opened.parameter("direction").unwrap_or("out").to_owned();
    let page = opened.parameter("page").unwrap_or("1").to_owned();
    let query = [("direction", direction.as_str()), ("limit", PAGE_SIZE), ("page", &page)];
    let news = opened.call(OperationCall { of: &[("id", id)], ..OperationCall::read("references", &query) }).await?;
    let references: ReferencesReply<'_> = news.read()?;
    let cited = opened.call(OperationCall { of: &[("id", id)], ..OperationCall::read("node", &[]) }).await?;
    let cited: NodeReply<'_> = cited.read()?;
    let (is_in, day) = (&*references.direction == "in", opened.named_day());
    let main = html! {
        nav.crumbs aria-label="Place in the code" { ol { li { a href=(cited.url) { (UntrustedText(&cited.citation)) " " (UntrustedText(&cited.heading)) } } } }
        h1 { @if is_in { "Cited by" } @else { "Cites" } " " span.count { (counted(references.total)) } }
        @if references.nodes.is_empty() {
            p { @if is_in { "No provision of this snapshot cites it." } @else { "It cites no provision of this snapshot." } }
        }
        (currency_of(references.nodes.iter().map(|link| link.current_through), &references.notices))
        ul.links { @for link in &references.nodes { li { (entry(link)) } } }
        @if let Some(pages) = news.pages { (pager::of(pages, &format!("?direction={}{}&page=", references.direction, day_parameter('&', day.as_deref())), opened.list_edition())) }
    };
    let title = if is_in { "Cited by" } else { "Cites" };
    let html = Page::new(title, SiteSection::Contents, main).html(&opened.visitor);
    Ok(opened.answer(response::page(StatusCode::OK, html, CachePolicy::Revalidate)))
}

/// A list entry with citation and heading, and the status if it is not "in force".
pub(super) fn entry(link: &NodeLink<'_>) -> Markup {
    html! {
        a href=(link.url) {
            span.citation { (UntrustedText(&link.citation)) } " " span.heading { (short_heading(&link.heading)) }
            (status_of(link.status, link.effective_from, link.effective_to))
        }
    }
}
