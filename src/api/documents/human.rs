//! `/docs`: the documentation for people, one page without scripts, rendered from the table.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::error::ErrorCode;
use super::super::headers::{HEADERS, Header, SentOn};
use super::super::openapi;
use super::super::operation::{Method, Operation, Route};
use super::super::operations::OPERATIONS;
use super::super::parameters::{Location, Need, Parameter};
use super::super::reply::Format;
use super::html::{escaped, prose};
use super::style::STYLE;
use super::{Document, Setting, markdown, schema};
use crate::accounts::tier::{PackName, Tariff};

/// The parts of the page, by their anchors.
const PARTS: &[(&str, &str)] = &[
    ("first-call", "Your first call"),
    ("credits", "Keys, credits and limits"),
    ("headers", "Response headers"),
    ("operations", "Operations"),
    ("objects", "Response objects"),
    ("errors", "Errors"),
    ("documents", "For programs"),
];

pub(super) fn page(setting: &Setting<'_>) -> String {
    let description = openapi::document(setting.base_url);
    let bodies = [
        first_call(setting),
        credits(setting.tariff),
        headers(),
        OPERATIONS.iter().filter_map(|operation| operation_card(operation, setting, &description)).collect(),
        objects(&description["components"]["schemas"]),
        errors(),
        documents(setting.base_url),
    ];
    let mut main = String::new();
    for ((anchor, title), body) in PARTS.iter().zip(bodies) {
        let _ = write!(
            main,
            "<section aria-labelledby=\"{anchor}\">\n<h2 id=\"{anchor}\">{title}</h2>\n{body}</section>\n"
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Hornbook API</title>\n\
         <meta name=\"description\" content=\"US federal and state law as citable records: the API of Hornbook.\">\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
         <div class=\"frame\">\n{}<main id=\"main\">\n<header>\n<h1>Hornbook API</h1>\n\
         <p class=\"lead\">US federal and state law as uniform, citable records: search, provisions with full text and \
         provenance, citations, browsing, zoning, accounts. Read-only JSON over HTTP.</p>\n</header>\n{main}</main>\n\
         </div>\n</body>\n</html>\n",
        contents()
    )
}

fn contents() -> String {
    let mut out = "<nav aria-label=\"Contents\">\n<ul>\n".to_owned();
    for (anchor, title) in PARTS {
        let _ = write!(out, "<li><a href=\"#{anchor}\">{title}</a>");
        if *anchor == "operations" {
            out += "\n<ul>\n";
            for Operation { name, .. } in OPERATIONS.iter().filter(|operation| operation.route.is_some()) {
                let _ = writeln!(out, "<li><a href=\"#{name}\">{name}</a></li>");
            }
            out += "</ul>\n";
        }
        out += "</li>\n";
    }
    out + "</ul>\n</nav>\n"
}

fn first_call(setting: &Setting<'_>) -> String {
    let search = OPERATIONS.iter().find(|operation| operation.name == "search").and_then(|search| search.route);
    let search = search.map_or_else(String::new, |route| setting.examples.fill(route.example));
    format!(
        "<p>Ask the operator of this service for a key. Set it as <code>HORNBOOK_KEY</code>, from which the examples on \
         this page read it, and search:</p>\n{}\
         <p>To cite safely, call <a href=\"#coverage\">coverage</a> to see which law is here, then \
         <a href=\"#search\">search</a>, then <a href=\"#node\">node</a> with the <code>nodeId</code> of a result. Quote \
         its <code>citation</code> word for word. Its <code>provenance</code> names the source of the text. The \
         examples use ids and words of the law that is served here.</p>\n",
        shell(&format!("export HORNBOOK_KEY=hb_live_...\n{}", curl(setting.base_url, &search, None)))
    )
}

fn credits(tariff: &Tariff) -> String {
    let mut rows = String::new();
    for name in PackName::ALL {
        let pack = tariff.pack(name);
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th><td class=\"number\">${}.{:02}</td><td class=\"number\">{}</td><td \
             class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            name.tier().name(),
            pack.price_cents / 100,
            pack.price_cents % 100,
            pack.credits.0,
            pack.limits.per_minute,
            pack.limits.per_day
        );
    }
    let free = tariff.free;
    format!(
        "<p>Send your key as <code>Authorization: Bearer KEY</code>, never in the address. A key has scopes; a call needs \
         any one of the scopes that its operation lists. Failed calls are free, and so is a <code>304</code> to \
         <code>If-None-Match</code>. The free units of a month, {} on a free account, are used before credits. Credits \
         never expire. If you retry a request with the same <code>Idempotency-Key</code> within a few minutes, you are \
         charged once.</p>\n{}\
         <p>A free account has {} calls a minute and {} calls a day. <a href=\"#checkout\">checkout</a> says how to \
         buy a pack. Requests that need no key are limited by address.</p>\n",
        free.monthly_units,
        table("Packs, bought once", &["pack", "price", "credits", "calls a minute", "calls a day"], &rows),
        free.limits.per_minute,
        free.limits.per_day
    )
}

fn headers() -> String {
    let row = |Header { name, kind, on, meaning, .. }: &Header| {
        format!(
            "<tr><th scope=\"row\"><code>{name}</code></th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            kind.name(),
            sent_on(*on),
            prose(meaning)
        )
    };
    let rows: String = HEADERS.iter().map(row).collect();
    table("Headers of responses", &["header", "type", "sent on", "meaning"], &rows)
}

const fn sent_on(on: SentOn) -> &'static str {
    match on {
        SentOn::Every => "every response",
        SentOn::Paid => "200 to a metered call",
        SentOn::Counted => "responses to a call with a good key",
        SentOn::Versioned => "200 and 304 of operations whose answers have a version",
        SentOn::Paged => "200 of operations with pages",
        SentOn::Wait => "429 and 503",
        SentOn::Unauthorized => "401",
        SentOn::MethodNotAllowed => "405",
    }
}

/// Nothing for an operation without an address.
fn operation_card(operation: &Operation, setting: &Setting<'_>, description: &Value) -> Option<String> {
    let Operation { name, summary, details, .. } = operation;
    let Route { method, path, example } = operation.route?;
    let (base, example) = (setting.base_url, setting.examples.fill(example));
    let mut out = format!(
        "<article aria-labelledby=\"{name}\">\n<h3 id=\"{name}\">{name}</h3>\n<p>{}{}</p>\n\
         <p class=\"route\"><b>{}</b><code>{}</code></p>\n{}",
        prose(summary),
        details.map_or_else(String::new, |details| format!(". {}", prose(details))),
        method.as_str(),
        escaped(path),
        facts(operation, method, path, description)
    );
    if !operation.parameters.is_empty() {
        let rows: String = operation.parameters.iter().map(parameter_row).collect();
        out += "<h4>Parameters</h4>\n";
        out += &table(&format!("Parameters of {name}"), &["name", "in", "default", "meaning"], &rows);
    }
    out += "<h4>Example</h4>\n";
    out += &shell(&match operation.metering() {
        None => format!("curl '{base}{example}'"),
        Some(_) => curl(base, &example, operation.body.map(|body| body.example)),
    });
    Some(out + "</article>\n")
}

fn facts(operation: &Operation, method: Method, path: &str, description: &Value) -> String {
    let answer = &description["paths"][path][method.as_str().to_ascii_lowercase()]["responses"]["200"]["content"];
    let answer = schema::kind(&answer[Format::Json.media_type()]["schema"]);
    let mut facts =
        vec![("scope", markdown::scopes(operation)), ("credits", markdown::credits(operation)), ("response", answer)];
    if operation.formats.len() > 1 {
        let forms: Vec<&str> = operation.formats.iter().map(|format| format.media_type()).collect();
        facts.push(("available as", forms.join(", ")));
    }
    let mut statuses: Vec<String> = operation.all_errors().iter().map(|error| error.status().to_string()).collect();
    statuses.dedup();
    facts.push(("error statuses", format!("<a href=\"#errors\">{}</a>", statuses.join(", "))));
    let facts = facts.iter().map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
    format!("<dl class=\"facts\">\n{}</dl>\n", facts.collect::<String>())
}

fn parameter_row(parameter: &Parameter) -> String {
    let default = match parameter.need {
        Need::Required => "<span class=\"needed\">required</span>".to_owned(),
        Need::Optional => String::new(),
        Need::Default(default) => format!("<code>{}</code>", escaped(default)),
    };
    let place = if parameter.location == Location::Path { "path" } else { "query" };
    format!(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{place}</td><td>{default}</td><td>{}; {}</td></tr>\n",
        parameter.name,
        prose(parameter.meaning),
        escaped(&parameter.kind.rule())
    )
}

fn objects(schemas: &Value) -> String {
    let Some(schemas) = schemas.as_object() else { return String::new() };
    let mut out = String::new();
    for (name, object) in schemas {
        let name = escaped(name);
        let _ = write!(
            out,
            "<article aria-labelledby=\"object-{name}\">\n<h3 id=\"object-{name}\">{name}</h3>\n{}{}</article>\n",
            object["description"].as_str().map_or_else(String::new, |text| format!("<p>{}</p>\n", prose(text))),
            match schema::fields(object) {
                rows if rows.is_empty() => format!("<p>{}</p>\n", schema::kind(object)),
                rows => table(&format!("Fields of {name}"), &["field", "type", "meaning"], &rows),
            }
        );
    }
    out
}

fn errors() -> String {
    let row = |error: &ErrorCode| {
        format!(
            "<tr><th scope=\"row\">{}</th><td><code>{}</code></td><td>{}</td></tr>\n",
            error.status(),
            error.code(),
            prose(error.meaning())
        )
    };
    let rows: String = ErrorCode::ALL.iter().map(row).collect();
    "<p>Every error is an <a href=\"#object-Error\">Error</a> object. Its <code>message</code> says what to do next. Errors \
     are free.</p>\n"
        .to_owned()
        + &table("Errors", &["status", "error", "meaning"], &rows)
}

fn documents(base: &str) -> String {
    let row = |document: &Document| {
        let path = document.paths()[0];
        let media_type = document.media_type().split(';').next().unwrap_or_default();
        format!(
            "<tr><th scope=\"row\"><a href=\"{0}{path}\">{path}</a></th><td>{media_type}</td></tr>\n",
            escaped(base)
        )
    };
    let rows: String = Document::ALL.iter().map(row).collect();
    table("Documents about the service", &["path", "type"], &rows)
}

/// A table that scrolls by itself where it is wider than the page, reachable by keyboard.
fn table(caption: &str, head: &[&str], rows: &str) -> String {
    let head: String = head.iter().map(|title| format!("<th scope=\"col\">{title}</th>")).collect();
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n<table>\n\
         <caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}

/// With a body it is a POST.
fn curl(base: &str, example: &str, body: Option<&str>) -> String {
    let body = body.map_or_else(String::new, |body| format!("--json '{body}' \\\n  "));
    format!("curl -H \"Authorization: Bearer $HORNBOOK_KEY\" \\\n  {body}'{base}{example}'")
}

fn shell(text: &str) -> String {
    format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(text))
}
