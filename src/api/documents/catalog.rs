//! `/.well-known/api-catalog`: links to the descriptions of this service, as a linkset (RFC 9727, RFC 9264).

use serde_json::{Value, json};

use super::ApiDocument;
use crate::api::subject::DOCS_PATH;

pub(super) fn document(base: &str) -> Value {
    let at = |document: ApiDocument| format!("{base}{}", document.paths()[0]);
    let link = |document: ApiDocument| json!({ "href": at(document), "type": essence(document) });
    let api = at(ApiDocument::Discovery);
    json!({
        "linkset": [
            { "anchor": at(ApiDocument::Catalog), "item": [{ "href": api }] },
            {
                "anchor": api,
                "service-desc": [link(ApiDocument::OpenApi)],
                "service-doc": [{ "href": format!("{base}{DOCS_PATH}"), "type": "text/html" }, link(ApiDocument::Llms)],
                "service-meta": [{
                    "href": format!("{base}{}", ApiDocument::Discovery.paths()[1]),
                    "type": essence(ApiDocument::Discovery),
                }],
                "status": [{ "href": format!("{base}/readyz"), "type": "application/json" }],
            },
        ],
    })
}

/// The value of the `Link` header that RFC 9727 requires, also in responses to HEAD.
pub(super) fn links() -> String {
    let (catalog, api) = (ApiDocument::Catalog.paths()[0], ApiDocument::Discovery.paths()[0]);
    format!("<{catalog}>; rel=\"api-catalog\"; type=\"{}\", <{api}>; rel=\"item\"", essence(ApiDocument::Catalog))
}

/// The media type without its parameters.
fn essence(document: ApiDocument) -> &'static str {
    document.media_type().split(';').next().unwrap_or_default()
}
