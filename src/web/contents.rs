//! The contents: all code bodies, and each as a tree that opens level by level.

use std::borrow::Cow;

use ::http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{Page, Section};
use super::law::address;
use super::letters::{Letters, brief};
use super::pager;
use super::response::{self, Keep};
use super::shell::{Ask, Opened};
use crate::api::error::ApiError;
use crate::door::DoorAnswer;

const BROWSE_PATH: &str = "/browse";

/// Children on a page.
const PAGE_SIZE: &str = "500";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeBodies<'b> {
    #[serde(borrow)]
    pub(super) code_bodies: Vec<CodeBody<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeBody<'b> {
    pub(super) id: &'b str,
    #[serde(borrow)]
    pub(super) name: Cow<'b, str>,
    pub(super) jurisdiction: &'b str,
    pub(super) provision_count: u32,
}

#[derive(Deserialize)]
struct Children<'b> {
    #[serde(borrow)]
    nodes: Vec<Child<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Child<'b> {
    id: &'b str,
    #[serde(borrow)]
    citation: Cow<'b, str>,
    #[serde(borrow)]
    heading: Cow<'b, str>,
    status: &'b str,
    child_count: usize,
}

/// The page of a code body's contents.
pub(super) fn path(code_body: &str) -> String {
    format!("{BROWSE_PATH}/{code_body}")
}

/// All code bodies, by jurisdiction.
pub(super) async fn all(mut opened: Opened<'_>) -> Result<DoorAnswer, ApiError> {
    let news = opened.call(Ask::read("code-bodies", &[])).await?;
    let bodies: CodeBodies<'_> = news.read()?;
    let names = |code: &str| {
        let found = opened.corpus.catalogue().jurisdictions.iter().find(|known| known.short_code.as_str() == code);
        found.map_or_else(|| code.to_owned(), |jurisdiction| jurisdiction.name.clone())
    };
    let main = html! {
        h1 { "Contents" }
        @for group in bodies.code_bodies.chunk_by(|one, other| one.jurisdiction == other.jurisdiction) {
            section id=(group[0].jurisdiction) {
                h2 { (Letters(&names(group[0].jurisdiction))) }
                ul.links {
                    @for body in group {
                        li { a href=(path(body.id)) {
                            span.heading { (Letters(&body.name)) } " " span.count { (body.provision_count) " provisions" }
                        } }
                    }
                }
            }
        }
        @if bodies.code_bodies.is_empty() { p { "This snapshot has no law." } }
    };
    let html = Page::new("Contents", Section::Contents, main).html(&opened.visitor);
    Ok(opened.answer(response::page(StatusCode::OK, html, Keep::Asking)))
}

/// The top level of a code body.
pub(super) async fn of_body(mut opened: Opened<'_>, body: &str) -> Result<DoorAnswer, ApiError> {
    let name = opened.corpus.catalogue().code_bodies.iter().find(|known| known.id.0.to_string() == body);
    let Some(name) = name.map(|body| body.name.clone()) else {
        return Err(ApiError::not_found("there is no such code in this snapshot"));
    };
    let list = children(&mut opened, body, None).await?;
    let main = html! {
        nav.crumbs aria-label="Place in the code" { ol { li { a href=(BROWSE_PATH) { "Contents" } } } }
        h1 { (Letters(&name)) }
        (list)
    };
    let html = Page::new(&name, Section::Contents, main).html(&opened.visitor);
    Ok(opened.answer(response::page(StatusCode::OK, html, Keep::Asking)))
}

/// What lies in a container or a code body, as a list.
pub(super) async fn children(opened: &mut Opened<'_>, body: &str, parent: Option<&str>) -> Result<Markup, ApiError> {
    let page = opened.parameter("page").unwrap_or("1").to_owned();
    let mut query = vec![("codeBodyId", body), ("limit", PAGE_SIZE), ("page", &page)];
    query.extend(parent.map(|parent| ("parent", parent)));
    let news = opened.call(Ask::read("browse", &query)).await?;
    let children: Children<'_> = news.read()?;
    Ok(html! {
        ul.links.tree { @for child in &children.nodes { li { (entry(child)) } } }
        @if let Some(pages) = news.pages { (pager::of(pages, "?page=")) }
    })
}

fn entry(child: &Child<'_>) -> Markup {
    let Child { id, citation, heading, status, child_count } = child;
    html! {
        a href=(address::path(id)) {
            span.citation { (Letters(citation)) } " " span.heading { (brief(heading)) }
            @if *child_count > 0 { " " span.count { (child_count) } }
            @if *status != "in force" { " " span.gone { (status) } }
        }
    }
}
