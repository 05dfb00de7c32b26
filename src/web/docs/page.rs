//! The complete documentation page.

use hornbook_accounts::tier::{PackName, Tariff};
use maud::{Markup, html};
use serde_json::Value;

use super::cards::card;
use super::clients;
use super::elements::{curl, lines, prose, table};
use super::schema;
use crate::api::documents::{ApiDocument, DOCS_PATH, DocumentContext, markdown};
use crate::api::error::ErrorCode;
use crate::api::headers::{HEADERS, Header, HeaderScope};
use crate::api::openapi;
use crate::api::operation::{Operation, Route};
use crate::api::operations::OPERATIONS;
use crate::web::formatting::dollars;
use crate::web::untrusted_text::grouped;

/// The sections of the page with their anchors.
const PARTS: &[(&str, &str)] = &[
    ("first-call", "Your first call"),
    ("credits", "Keys, credits and limits"),
    ("prices", "What a call costs"),
    ("response-headers", "Response headers"),
    ("operations", "Operations"),
    ("agents", "Agents: the Model Context Protocol"),
    ("objects", "Response objects"),
    ("errors", "Errors"),
    ("documents", "For programs"),
];

/// The content of the page, inside the frame of the site.
pub fn content(setting: &DocumentContext<'_>) -> String {
    let description = openapi::document(setting.base_url);
    let bodies = [
        first_call(setting),
        credits(setting.tariff),
        prices(),
        headers(),
        operations(setting, &description),
        clients::section(setting.base_url),
        objects(&description["components"]["schemas"]),
        errors(),
        documents(setting.base_url),
    ];
    let page = html! {
        div.docs {
            (contents())
            div {
                h1 { "Hornbook API" }
                p.lead {
                    "US federal and state law as uniform, citable records: search, provisions with full text and \
                     provenance, citations, browsing, zoning, accounts. Read-only JSON over HTTP."
                }
                @for ((anchor, title), body) in PARTS.iter().zip(bodies) {
                    section aria-labelledby=(anchor) { h2 id=(anchor) { (title) } (body) }
                }
            }
        }
    };
    page.into_string()
}

fn contents() -> Markup {
    html! {
        nav aria-label="Contents of this page" {
            ul {
                @for (anchor, title) in PARTS {
                    li {
                        a href={ "#" (anchor) } { (title) }
                        @if *anchor == "operations" {
                            ul { @for Operation { name, .. } in OPERATIONS.iter().filter(|operation| operation.route.is_some()) {
                                li { a href={ "#" (name) } { (name) } }
                            } }
                        }
                    }
                }
            }
        }
    }
}

fn first_call(setting: &DocumentContext<'_>) -> Markup {
    let search = OPERATIONS.iter().find(|operation| operation.name == "search").and_then(|search| search.route);
    let search = search.map_or_else(String::new, |route| setting.examples.fill(route.example));
    let call = curl(setting.base_url, &search, None, true);
    html! {
        p {
            "Create a key in " a href="/settings" { "your settings" } ", or ask the operator of this service for one. Set it as "
            code { "HORNBOOK_KEY" } ", from which the examples on this page read it, and search:"
        }
        (lines(&format!("export HORNBOOK_KEY=hb_live_...\n{call}")))
        p {
            "To cite safely, call " a href="#coverage" { "coverage" } " to see which law is here, then "
            a href="#search" { "search" } ", then " a href="#node" { "node" } " with the " code { "nodeId" }
            " of a result. Quote its " code { "citation" } " word for word. Its " code { "provenance" }
            " names the source of the text. The examples use ids and words of the law that is served here."
        }
    }
}

fn credits(tariff: &Tariff) -> Markup {
    let free = tariff.free;
    html! {
        p {
            "Send your key as " code { "Authorization: Bearer KEY" } ", never in the address. A key has scopes; a call needs \
             any one of the scopes that its operation lists. Failed calls are free, and so is a " code { "304" } " to "
            code { "If-None-Match" } ". The free units of a month, " (grouped(free.monthly_units)) " on a free account, are used before \
             credits. Credits never expire. If you retry a request with the same " code { "Idempotency-Key" }
            " within a few minutes, you are charged once."
        }
        (table("Packs, bought once", &["pack", "price", "credits", "calls per minute", "calls per day"], &html! {
            @for name in PackName::ALL {
                @let pack = tariff.pack(name);
                tr {
                    th scope="row" { (name.tier().name()) }
                    td.number { (dollars(pack.price_cents)) }
                    td.number { (grouped(pack.credits.0)) }
                    td.number { (grouped(pack.limits.per_minute)) }
                    td.number { (grouped(pack.limits.per_day)) }
                }
            }
        }))
        p {
            "A free account has " (grouped(free.limits.per_minute)) " calls per minute and " (grouped(free.limits.per_day)) " calls per day. "
            a href="#checkout" { "checkout" } " explains how to buy a pack. Requests that need no key are limited by address."
        }
    }
}

/// The prices and scopes from the operations table.
fn prices() -> Markup {
    table(
        "Credits by operation",
        &["operation", "scope (any one of)", "credits"],
        &html! {
            @for operation in OPERATIONS {
                tr {
                    th scope="row" {
                        @match (operation.route, operation.tool) {
                            (Some(_), _) => { a href={ "#" (operation.name) } { (operation.name) } }
                            (None, Some(tool)) => { code { (tool.name) } " (tool)" }
                            (None, None) => { (operation.name) }
                        }
                    }
                    td { (markdown::scopes(operation)) }
                    td.number { (markdown::credits(operation)) }
                }
            }
        },
    )
}

fn headers() -> Markup {
    table(
        "Headers of responses",
        &["header", "type", "sent on", "meaning"],
        &html! {
            @for Header { name, kind, on, meaning, .. } in HEADERS {
                tr { th scope="row" { code { (name) } } td { (kind.name()) } td { (sent_on(*on)) } td { (prose(meaning)) } }
            }
        },
    )
}

const fn sent_on(on: HeaderScope) -> &'static str {
    match on {
        HeaderScope::Every => "every response",
        HeaderScope::Paid => "200 to a metered call",
        HeaderScope::RateLimited => "responses to a call with a valid key",
        HeaderScope::Versioned => "200 and 304 of operations whose responses have a version",
        HeaderScope::Paged => "200 of operations with pages",
        HeaderScope::RetryLater => "429 and 503",
        HeaderScope::Unauthorized => "401",
        HeaderScope::MethodNotAllowed => "405",
    }
}

fn operations(setting: &DocumentContext<'_>, description: &Value) -> Markup {
    html! {
        // The script unhides the form. Without scripts, readers can use the shell commands.
        form #key-form hidden {
            label for="key" { "Your key, to call operations from this page" }
            div.row {
                input #key type="password" autocomplete="off" spellcheck="false" placeholder="hb_live_..." aria-describedby="key-note";
                button.quiet type="reset" { "Forget the key" }
            }
            p.also #key-note {
                "It is kept in this tab until you close it, and is sent to this server only, in the header of your calls. Calls from \
                 this page cost the same as all others. " a href="/settings" { "Make a key" }
            }
        }
        @for operation in OPERATIONS {
            @if let Some(Route { method, path, example }) = operation.route {
                (card(operation, Route { method, path, example }, setting, description))
            }
        }
    }
}

fn objects(schemas: &Value) -> Markup {
    html! { @for (name, schema) in schemas.as_object().into_iter().flatten() { (schema::object(name, schema)) } }
}

fn errors() -> Markup {
    html! {
        p {
            "Every error is an " a href="#object-Error" { "Error" } " object. Its " code { "message" }
            " says what to do next. Errors are free."
        }
        (table("Error codes", &["status", "error", "meaning"], &html! {
            @for error in ErrorCode::ALL {
                tr { th scope="row" { (error.status()) } td { code { (error.code()) } } td { (prose(error.meaning())) } }
            }
        }))
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
