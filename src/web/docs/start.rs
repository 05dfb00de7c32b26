//! The start page: the first call, the subjects, and an index of what their pages describe.

use maud::{Markup, html};

use super::elements::{curl, lines, link_to, operations_of, table};
use super::parts::parts_of;
use super::source::DocsSource;
use crate::api::documents::ApiDocument;
use crate::api::operation::Operation;
use crate::api::operations::OPERATIONS;
use crate::api::subject::{DOCS_PATH, Subject};

pub(super) fn content(source: &DocsSource<'_>) -> Markup {
    html! {
        h1 { "Hornbook API" }
        p.lead {
            "US federal and state law as uniform, citable records: search, provisions with full text and \
             provenance, citations, browsing, zoning, accounts. Read-only JSON over HTTP."
        }
        section aria-labelledby="first-call" { h2 #first-call { "Your first call" } (first_call(source)) }
        section aria-labelledby="operations" { h2 #operations { "Subjects" } (subjects()) }
        section aria-labelledby="objects" { h2 #objects { "Response objects" } (objects(source)) }
        section aria-labelledby="documents" { h2 #documents { "For programs" } (documents(source.setting.base_url)) }
    }
}

fn first_call(source: &DocsSource<'_>) -> Markup {
    let setting = source.setting;
    let search = OPERATIONS.iter().find(|operation| operation.name == "search").and_then(|search| search.route);
    let search = search.and_then(|route| setting.examples.fill(route.example));
    let call = search.map(|search| format!("\n{}", curl(setting.base_url, &search, None, true)));
    html! {
        p {
            "Create a key in " a href="/settings" { "your settings" } ", or ask the operator of this service for one. Set \
             it as " code { "HORNBOOK_KEY" } ", from which the examples on these pages read it" @if call.is_some() { ", and search" } ":"
        }
        (lines(&format!("export HORNBOOK_KEY=hb_live_...{}", call.unwrap_or_default())))
        p {
            "To cite safely, call " (link_to("coverage")) " to see which law is here, then " (link_to("search"))
            ", then " (link_to("node")) " with the " code { "nodeId" } " of a result. Quote its " code { "citation" }
            " word for word. Its " code { "provenance" } " names the source of the text. The examples use ids and \
             words of the law that is served here."
        }
    }
}

/// The subjects with links to what their pages describe. Their anchors are those of the former single
/// page, so that old links lead to the new ones.
fn subjects() -> Markup {
    html! {
        dl.subjects {
            @for subject in Subject::ALL {
                dt { a href=(subject.path()) { (subject.title()) } }
                dd {
                    p { (subject.summary()) }
                    ul {
                        @for part in parts_of(subject) {
                            li { a id=(part.anchor) href={ (subject.path()) "#" (part.anchor) } { (part.title) } }
                        }
                        @for operation in operations_of(subject) {
                            @let Operation { name, .. } = operation;
                            li { a id=(name) href={ (subject.path()) "#" (name) } { code { (name) } } }
                        }
                    }
                }
            }
        }
    }
}

fn objects(source: &DocsSource<'_>) -> Markup {
    let objects = || source.description.objects();
    html! {
        details {
            summary { "All " (objects().count()) " by name" }
            ul.gaps {
                @for (name, _) in objects() {
                    li { a id={ "object-" (name) } href=[source.description.address(name)] { (name) } }
                }
            }
        }
    }
}

fn documents(base: &str) -> Markup {
    let rendered = ApiDocument::ALL.map(|document| (document.paths()[0], document.media_type()));
    table(
        "Documents about the service",
        &["path", "type"],
        &html! {
            @for (path, media_type) in rendered.into_iter().chain([(DOCS_PATH, "text/html")]) {
                tr {
                    th scope="row" { a href={ (base) (path) } { (path) } }
                    td { (media_type.split(';').next().unwrap_or_default()) }
                }
            }
        },
    )
}
