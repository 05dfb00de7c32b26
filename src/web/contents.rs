//! The contents pages: all code bodies, and each body as a tree that opens level by level.
//!
//! Every level is a page of links. With scripts, `tree.js` opens levels in place: it requests them
//! as page fragments.

use ::http::StatusCode;
use hornbook_base::thousands::grouped;
use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange};
use maud::{Markup, html};

use super::assets::TREE;
use super::formatting::{currency_of, status_of};
use super::frame::{Page, SiteSection};
use super::law::address;
use super::page_context::{OpenPage, OperationCall, OperationReply};
use super::pager;
use super::response::{self, CachePolicy};
use super::untrusted_text::{UntrustedText, attribute_text, short_heading};
use crate::api::as_of::AS_OF_NAME;
use crate::api::error::ApiError;
use crate::api::operation::CHANGES_PAGE_PATH;
use crate::api::replies::{BrowseReply, Child, CodeBodiesReply, NodeLink};
use crate::api::reply::Pages;
use crate::mount::MountResponse;

const BROWSE_PATH: &str = "/browse";

/// Children per page, and per fragment that opens in place.
const PAGE_SIZE: &str = "500";
const FRAGMENT_SIZE: &str = "200";

/// The path of a code body's contents page.
pub(super) fn path(code_body: &str) -> String {
    format!("{BROWSE_PATH}/{code_body}")
}

/// All code bodies, by jurisdiction.
pub(super) async fn all(mut opened: OpenPage<'_>) -> Result<MountResponse, ApiError> {
    let news = opened.call(OperationCall::read("code-bodies", &[])).await?;
    let bodies: CodeBodiesReply<'_> = news.read()?;
    let names = |code: &str| {
        let found = opened.corpus.catalogue().jurisdictions.iter().find(|known| known.short_code.as_str() == code);
        found.map_or_else(|| code.to_owned(), |jurisdiction| jurisdiction.name.clone())
    };
    let main = html! {
        h1 { "Contents" }
        p { a href=(CHANGES_PAGE_PATH) { "What changed, and what will change" } }
        @for group in bodies.code_bodies.chunk_by(|one, other| one.jurisdiction == other.jurisdiction) {
            section id=(group[0].jurisdiction) {
                h2 { (UntrustedText(&names(group[0].jurisdiction.as_str()))) }
                ul.links.tree {
                    @for body in group {
                        @let id = body.id.to_string();
                        li data-level=(fragment_path(&id, None, 1, None)) { a href=(path(&id)) {
                            span.heading { (UntrustedText(&body.name)) } " " span.count { (provisions(body.provision_count)) }
                        } }
                    }
                }
            }
        }
        @if bodies.code_bodies.is_empty() { p { "This snapshot contains no law." } }
    };
    Ok(page_of(opened, "Contents", main))
}

fn page_of(opened: OpenPage<'_>, title: &str, main: Markup) -> MountResponse {
    let page = Page { scripts: &[&TREE], ..Page::new(title, SiteSection::Contents, main) };
    let html = page.html(&opened.visitor);
    opened.answer(response::page(StatusCode::OK, html, CachePolicy::Revalidate))
}

/// The top level of a code body.
pub(super) async fn of_body(mut opened: OpenPage<'_>, body: &str) -> Result<MountResponse, ApiError> {
    let name = opened.corpus.catalogue().code_bodies.iter().find(|known| known.id.0.to_string() == body);
    let Some(name) = name.map(|body| body.name.clone()) else {
        return Err(ApiError::not_found("there is no such code in this snapshot"));
    };
    let list = children(&mut opened, body, None, "code").await?;
    let main = html! {
        nav.crumbs aria-label="Place in the code" { ol { li { a href=(BROWSE_PATH) { "Contents" } } } }
        h1 { (UntrustedText(&name)) }
        (list)
    };
    Ok(page_of(opened, &name, main))
}

/// A fragment of a level, which a script inserts into a page.
pub(super) async fn level_fragment(mut opened: OpenPage<'_>, body: &str) -> Result<MountResponse, ApiError> {
    let parent = opened.parameter("parent").map(str::to_owned);
    let news = browsed(&mut opened, body, parent.as_deref(), FRAGMENT_SIZE).await?;
    let children: BrowseReply<'_> = news.read()?;
    let day = opened.named_day();
    let rest = news.pages.filter(|Pages { page, last }| page < last);
    let main = html! {
        ul.links.tree {
            @for child in &children.nodes { (entry(&opened, child, body, day.as_deref())) }
            @if let Some(Pages { page, last }) = rest {
                li.more { a href=(fragment_path(body, parent.as_deref(), page + 1, day.as_deref())) { "More, part " (page + 1) " of " (last) } }
            }
        }
    };
    Ok(opened.answer(response::page(StatusCode::OK, main.into_string(), CachePolicy::Revalidate)))
}

/// The path of a fragment of a level.
fn fragment_path(body: &str, parent: Option<&str>, page: u32, day: Option<&str>) -> String {
    let parent = parent.map(|parent| format!("&parent={parent}")).unwrap_or_default();
    format!("{BROWSE_PATH}/{body}/level?page={page}{parent}") + &address::day_parameter('&', day)
}

/// The children of a container or a code body, as a list, below a box that searches inside it. `level` is what it is
/// called, such as title or code.
pub(super) async fn children(
    opened: &mut OpenPage<'_>,
    body: &str,
    parent: Option<&str>,
    level: &str,
) -> Result<Markup, ApiError> {
    let news = browsed(opened, body, parent, PAGE_SIZE).await?;
    let children: BrowseReply<'_> = news.read()?;
    let day = opened.named_day();
    let through = children.nodes.iter().map(|child| child.link.current_through);
    let inside = parent.map_or(("codeBody", body), |parent| ("subtree", parent));
    Ok(html! {
        (search_inside(inside, level, day.as_deref()))
        (currency_of(through, &children.notices))
        ul.links.tree { @for child in &children.nodes { (entry(opened, child, body, day.as_deref())) } }
        @if let Some(pages) = news.pages { (pager::of(pages, &match day.as_deref() {
            Some(day) => address::day_parameter('?', Some(day)) + "&page=",
            None => "?page=".to_owned(),
        }, opened.list_edition())) }
    })
}

/// A search box for a part of the law, which is the value of a parameter of the search page.
fn search_inside((parameter, id): (&str, &str), level: &str, day: Option<&str>) -> Markup {
    let label = format!("Search inside this {}", level.to_lowercase());
    html! {
        form.inside role="search" aria-label=(attribute_text(&label)) action="/" method="get" {
            label.unseen for="inside" { (UntrustedText(&label)) }
            input #inside type="search" name="q" placeholder=(attribute_text(&label)) maxlength="1024"
                autocomplete="off" required;
            input type="hidden" name=(parameter) value=(id);
            @if let Some(day) = day { input type="hidden" name=(AS_OF_NAME) value=(day); }
            button.quiet type="submit" { "Search" }
        }
    }
}

async fn browsed(
    opened: &mut OpenPage<'_>,
    body: &str,
    parent: Option<&str>,
    limit: &str,
) -> Result<OperationReply, ApiError> {
    let page = opened.parameter("page").unwrap_or("1").to_owned();
    let mut query = vec![("codeBodyId", body), ("limit", limit), ("page", &page)];
    query.extend(parent.map(|parent| ("parent", parent)));
    opened.call(OperationCall::read("browse", &query)).await
}

fn entry(opened: &OpenPage<'_>, child: &Child<'_>, body: &str, day: Option<&str>) -> Markup {
    let Child { link: NodeLink { id, url, citation, heading, status, effective_from, effective_to, .. }, child_count } =
        child;
    let level = (*child_count > 0).then(|| fragment_path(body, Some(&id.to_string()), 1, day));
    html! {
        li data-level=[level] {
            a href=(url) {
                @if *child_count == 0 || !heading_has_number(citation, heading) { span.citation { (UntrustedText(citation)) } " " }
                span.heading { (short_heading(heading)) }
                @if *child_count > 0 { " " span.count { (provisions(provisions_below(opened, *id))) } }
                (status_of(*status, *effective_from, *effective_to))
            }
        }
    }
}

/// The number of provisions in a container, at all levels.
fn provisions_below(opened: &OpenPage<'_>, container: NodeId) -> u32 {
    let outline = &opened.corpus.snapshot().outline;
    let OrdinalRange { start, end } = outline.ordinal(container).map(|node| outline.subtree(node)).unwrap_or_default();
    let provisions = (start..end).filter(|node| outline.is_provision(NodeOrdinal(*node)));
    u32::try_from(provisions.count()).unwrap_or(u32::MAX)
}

/// The unit of all counts of contents.
fn provisions(count: u32) -> String {
    format!("{} {}", grouped(count), if count == 1 { "provision" } else { "provisions" })
}

/// Whether a container's heading contains its number, like `Title 3—THE PRESIDENT`. Then the
/// citation is left out, because it would repeat the number.
fn heading_has_number(citation: &str, heading: &str) -> bool {
    let number = words(citation).last();
    number.is_some_and(|number| words(heading).take(2).any(|word| word.eq_ignore_ascii_case(number)))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_said_once() {
        assert!(heading_has_number("United States Code, Title 3, Chapter 1", "CHAPTER 1—PRESIDENTIAL ELECTIONS"));
        assert!(heading_has_number("D.C. Code, Title 32", "Title 32. Labor."));
        assert!(!heading_has_number("Arden Rev. Stat. Title 24", "Landlord and Tenant"));
        assert!(!heading_has_number("Title 2", "Fees before 2 p.m."));
    }
}
