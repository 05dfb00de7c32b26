//! `/.well-known/api-catalog`: links to the descriptions of this service, as a linkset (RFC 9727, RFC 9264).

use serde_json::{Value, json};

use super::{DOCS_PATH, Document};

pub(super) fn document(base: &str) -> Value {
    let at = |document: Document| format!("{base}{}", document.paths()[0]);
    let link = |document: Document| json!({ "href": at(document), "type": essence(document) });
    let api = at(Document::Discovery);
    json!({
        "linkset": [
            { "anchor": at(Document::Catalog), "item": [{ "href": api }] },
            {
                "anchor": api,
                "service-desc": [link(Document::OpenApi)],
                "service-doc": [{ "href": format!("{base}{DOCS_PATH}"), "type": "text/html" }, link(Document::Llms)],
                "service-meta": [{
                    "href": format!("{base}{}", Document::Discovery.paths()[1]),
                    "type": essence(Document::Discovery),
                }],
                "status": [{ "href": format!("{base}/readyz"), "type": "application/json" }],
            },
        ],
    })
}

/// The value of the `Link` header that RFC 9727 requires, also in responses to HEAD.
pub(super) fn links() -> String {
    let (catalog, api) = (Document::Catalog.paths()[0], Document::Discovery.paths()[0]);
    format!("<{catalog}>; rel=\"api-catalog\"; type=\"{}\", <{api}>; rel=\"item\"", essence(Document::Catalog))
}

/// The media type without its parameters.
fn essence(document: Document) -> &'static str {
    document.media_type().split(';').next().unwrap_or_default()
}
