//! The parts of the pages that are about more than one operation: calls and their prices, agents and their
//! tools, errors and headers.

use hornbook_accounts::tier::{PackName, Tariff};
use hornbook_accounts::watches::WATCHES_MAX;
use hornbook_base::thousands::grouped;
use maud::{Markup, html};

use super::clients;
use super::description::ERROR_OBJECT;
use super::elements::{link_to, link_to_operation, prose, table};
use super::source::DocsSource;
use crate::api::documents::markdown;
use crate::api::error::ErrorCode;
use crate::api::headers::{HEADERS, Header, HeaderScope};
use crate::api::operation::WATCHES_PAGE_PATH;
use crate::api::operations::OPERATIONS;
use crate::api::subject::Subject;
use crate::api::watch_matches::WATCHED_RESULTS;
use crate::web::formatting::dollars;

/// A part of a page.
pub(super) struct Part {
    pub(super) anchor: &'static str,
    pub(super) title: &'static str,
    pub(super) body: fn(&DocsSource<'_>) -> Markup,
}

/// The parts with which the page of a subject begins.
pub(super) const fn parts_of(subject: Subject) -> &'static [Part] {
    match subject {
        Subject::Account => &[
            Part { anchor: "credits", title: "How calls are paid", body: credits },
            Part { anchor: "prices", title: "What a call costs", body: prices },
        ],
        Subject::Agents => &[
            Part { anchor: "agents", title: "Connecting agents", body: agents },
            Part { anchor: "tools", title: "Tools", body: tools },
        ],
        Subject::Errors => &[
            Part { anchor: "errors", title: "Errors", body: errors },
            Part { anchor: "response-headers", title: "Response headers", body: headers },
        ],
        Subject::Watching => &[Part { anchor: "watching", title: "How watching works", body: watching }],
        Subject::Search
        | Subject::Law
        | Subject::Changes
        | Subject::Checks
        | Subject::Browsing
        | Subject::Zoning
        | Subject::Formation
        | Subject::FormationOrders => &[],
    }
}

fn credits(source: &DocsSource<'_>) -> Markup {
    let Tariff { free, .. } = source.setting.tariff;
    html! {
        p {
            "Send your key as " code { "Authorization: Bearer KEY" } ", never in the address. A key has scopes; a call \
             needs any one of the scopes that its operation lists. Failed calls are free, and so is a " code { "304" }
            " to " code { "If-None-Match" } ". The free units of a month, " (grouped(free.monthly_units))
            " on a free account, are used before credits. Credits never expire. If you retry a request with the same " code { "Idempotency-Key" }
            " within a few minutes, you are charged once."
        }
        p {
            "Every call with a key takes " code { "maxCost=CREDITS" } ", above which it is refused, and "
            code { "dryRun=true" } ", which answers with a " code { "204" } " and the price in " code { "X-Credits-Cost" }
            "; both are free. A key may have a budget: credits in all, in a month and on a day (UTC). A call beyond it is a "
            code { "402" } " " code { "budget_exceeded" } ". A key creates keys for programs and agents with "
            code { "key-create" } ": they have at most its scopes, time and rate limits, spend from its budget too, and end with it."
        }
        (table("Packs, bought once", &["pack", "price", "credits", "calls per minute", "calls per day"], &html! {
            @for name in PackName::ALL {
                @let pack = source.setting.tariff.pack(name);
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
            "A free account has " (grouped(free.limits.per_minute)) " calls per minute and "
            (grouped(free.limits.per_day)) " calls per day. "
            (link_to("checkout")) " explains how to buy a pack. Requests that need no key are limited by address."
        }
    }
}

/// The prices and scopes from the operations table.
fn prices(_: &DocsSource<'_>) -> Markup {
    table(
        "Credits by operation",
        &["operation", "scope (any one of)", "credits"],
        &html! {
            @for operation in OPERATIONS {
                tr {
                    th scope="row" { (link_to_operation(operation)) @if operation.route.is_none() { " (tool)" } }
                    td { (markdown::scopes(operation)) }
                    td.number { (markdown::credits(operation)) }
                }
            }
        },
    )
}

fn watching(_: &DocsSource<'_>) -> Markup {
    html! {
        p {
            "A key watches up to " (grouped(WATCHES_MAX as u64)) " provisions, containers, citations and searches, for free ("
            (link_to("watch-create")) "). A provision is watched under whatever number it gets; a container with everything in it; \
             a citation as whatever has that number; of a search, the first " (WATCHED_RESULTS) " results. Whenever a newer edition \
             is served here, what it changed among them is reported once: at " (link_to("watch-changes")) ", to people at "
            a href=(WATCHES_PAGE_PATH) { (WATCHES_PAGE_PATH) } ", and to a webhook (" (link_to("watch-webhook")) ") where the operator allows it."
        }
        p {
            "A webhook receives a " code { "POST" } " with a JSON object: " code { "kind" } " is " code { "law.changed" } ", "
            code { "id" } " is the same if the report is sent again, " code { "changes" } " are the first hundred of " code { "total" }
            ", as above. The header " code { "hornbook-signature: t=TIME,v1=TAG" } " has the time in seconds and the HMAC-SHA256 of "
            code { "TIME.BODY" } " under the secret, in hexadecimal digits: compute it over the bytes received, compare, and refuse \
             times more than five minutes away. Answer with 2xx within ten seconds; anything else, also a redirect, counts as a failure, \
             after which the report is sent again, up to eleven times in 17 hours. A replaced key hands its watches and its webhook to the \
             new one; they end with the key."
        }
    }
}

fn agents(source: &DocsSource<'_>) -> Markup {
    clients::section(source.setting.base_url)
}

fn tools(_: &DocsSource<'_>) -> Markup {
    table(
        "Tools and their operations",
        &["tool", "operation", "what it answers"],
        &html! {
            @for operation in OPERATIONS {
                @if let Some(tool) = operation.tool {
                    tr {
                        th scope="row" { code { (tool.name) } }
                        td { (link_to_operation(operation)) }
                        td { (prose(operation.summary)) }
                    }
                }
            }
        },
    )
}

fn errors(source: &DocsSource<'_>) -> Markup {
    html! {
        p {
            "Every error is an " a href=[source.description.address(ERROR_OBJECT)] { (ERROR_OBJECT) } " object. Its "
            code { "message" } " says what to do next. Errors are free."
        }
        (table("Error codes", &["status", "error", "meaning"], &html! {
            @for error in ErrorCode::ALL {
                tr {
                    th scope="row" { (error.status()) }
                    td { code { (error.code()) } }
                    td { (prose(error.meaning())) }
                }
            }
        }))
    }
}

fn headers(_: &DocsSource<'_>) -> Markup {
    table(
        "Headers of responses",
        &["header", "type", "sent on", "meaning"],
        &html! {
            @for Header { name, kind, on, meaning, .. } in HEADERS {
                tr {
                    th scope="row" { code { (name) } }
                    td { (kind.name()) }
                    td { (sent_on(*on)) }
                    td { (prose(meaning)) }
                }
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
