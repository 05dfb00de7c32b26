//! The operations table. Router, authorization, metering, OpenAPI, discovery, README and tests are rendered from it or
//! walk it: adding an operation is one row here and one file in `endpoints`.

use super::endpoints::{
    browse, checkout, code_bodies, coverage, formation_status, gis, gis_at, me, node, nodes, references, resolve,
    search, suggest,
};
use super::error::ErrorCode;
use super::operation::{Access, CHECKOUT_PATH, Cost, FORMAT_PARAMETER, Operation, Per, Tool};
use super::parameters::{Kind, Need, Parameter, Place};
use super::reply::Format;
use crate::accounts::scope::{Scope, ScopeSet};

const JSON: &[Format] = &[Format::Json];

const NOT_FOUND: &[ErrorCode] = &[ErrorCode::NotFound];

const fn metered(any_of: &[Scope], credits: u32, per: Per) -> Access {
    Access::Metered { any_of: ScopeSet::of(any_of), cost: Cost { credits, per } }
}

const fn tool(name: &'static str, older_name: &'static str) -> Option<Tool> {
    Some(Tool { name, older_name: Some(older_name) })
}

const fn in_path(name: &'static str, kind: Kind, meaning: &'static str) -> Parameter {
    Parameter { name, place: Place::Path, kind, need: Need::Required, meaning }
}

const fn required(name: &'static str, kind: Kind, meaning: &'static str) -> Parameter {
    Parameter { name, place: Place::Query, kind, need: Need::Required, meaning }
}

const fn optional(name: &'static str, kind: Kind, meaning: &'static str) -> Parameter {
    Parameter { name, place: Place::Query, kind, need: Need::Optional, meaning }
}

const fn with_default(name: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Parameter {
    Parameter { name, place: Place::Query, kind, need: Need::Default(default), meaning }
}

/// Results of one page at most.
const LIMIT_MAX: u32 = 100;

/// Suggestions at once at most: more than anybody reads while typing.
const SUGGESTIONS_MAX: u32 = 20;

const MODES: Kind = Kind::Choice(&["hybrid", "semantic", "keyword"]);
const FORMATS: Kind = Kind::Choice(&["json", "md", "txt"]);

pub static OPERATIONS: &[Operation] = &[
    Operation {
        name: "search",
        summary: "Search provisions by meaning and by words",
        path: "/api/v1/search",
        tool: tool("law.search", "search_law"),
        access: metered(&[Scope::Search], 1, Per::Call),
        parameters: &[
            required("q", Kind::Text, "a question, keywords, \"a phrase\", -excluded or a citation"),
            with_default(
                "page",
                Kind::Integer { min: 1, max: crate::search::RESULTS_MAX },
                "1",
                "from 1; page x limit may reach 10,000",
            ),
            with_default("limit", Kind::Integer { min: 1, max: LIMIT_MAX }, "20", "results per page"),
            with_default("mode", MODES, "hybrid", "hybrid (vector similarity fused with keyword), semantic or keyword"),
            optional("jurisdiction", Kind::ShortCode, "short code of a jurisdiction; includes what lies in it"),
            optional("codeBody", Kind::Uuid, "id of a code body, from code-bodies"),
            with_default("facets", Kind::Boolean, "false", "whether to count matches by jurisdiction and tag"),
        ],
        formats: JSON,
        errors: &[],
        example: "/api/v1/search?q=security%20deposit&jurisdiction=XA",
        reply: |generator| generator.subschema_for::<search::SearchReply<'static>>(),
        prepare: search::prepare,
    },
    Operation {
        name: "node",
        summary: "One provision or container: full text, citation, ancestors, provenance",
        path: "/api/v1/node/{id}",
        tool: tool("law.get_node", "get_law_node"),
        access: metered(&[Scope::Node], 1, Per::Call),
        parameters: &[
            in_path("id", Kind::Uuid, "nodeId of a search result"),
            optional(FORMAT_PARAMETER, FORMATS, "the form of the answer; it wins over the Accept header"),
        ],
        formats: &Format::ALL,
        errors: NOT_FOUND,
        example: "/api/v1/node/225f16f2-705a-51ad-94cb-52d662dc230c",
        reply: |generator| generator.subschema_for::<node::NodeReply<'static>>(),
        prepare: node::prepare,
    },
    Operation {
        name: "references",
        summary: "What a provision cites, or what cites it, page by page",
        path: "/api/v1/node/{id}/references",
        tool: None,
        access: metered(&[Scope::Node], 1, Per::Call),
        parameters: &[
            in_path("id", Kind::Uuid, "id of a node"),
            with_default(
                "direction",
                Kind::Choice(references::DIRECTIONS),
                "out",
                "out: what it cites; in: what cites it",
            ),
            with_default("page", Kind::Integer { min: 1, max: crate::search::RESULTS_MAX }, "1", "from 1"),
            with_default("limit", Kind::Integer { min: 1, max: LIMIT_MAX }, "20", "references per page"),
        ],
        formats: JSON,
        errors: NOT_FOUND,
        example: "/api/v1/node/225f16f2-705a-51ad-94cb-52d662dc230c/references?direction=in",
        reply: |generator| generator.subschema_for::<references::ReferencesReply>(),
        prepare: references::prepare,
    },
    Operation {
        name: "nodes",
        summary: "Several nodes at once; ids that no node has are listed as missing",
        path: "/api/v1/nodes",
        tool: None,
        access: metered(&[Scope::Node], 1, Per::Node),
        parameters: &[required("ids", Kind::Uuids { most: nodes::IDS_MAX }, "node ids parted by commas")],
        formats: JSON,
        errors: NOT_FOUND,
        example: "/api/v1/nodes?ids=225f16f2-705a-51ad-94cb-52d662dc230c,16cf6535-965b-52b8-88a6-03698c50a068",
        reply: |generator| generator.subschema_for::<nodes::NodesReply<'static>>(),
        prepare: nodes::prepare,
    },
    Operation {
        name: "resolve",
        summary: "What a citation names, in any spelling: one typed answer for each citation of a list",
        path: "/api/v1/resolve",
        tool: None,
        access: metered(&[Scope::Node], 1, Per::Call),
        parameters: &[required("citation", Kind::Text, "a citation or a list of them, such as 42 USC 1983(b)")],
        formats: JSON,
        errors: &[],
        example: "/api/v1/resolve?citation=Arden%20Rev.%20Stat.%20%C2%A7%2012-2-104",
        reply: |generator| generator.subschema_for::<resolve::ResolveReply>(),
        prepare: resolve::prepare,
    },
    Operation {
        name: "suggest",
        summary: "What somebody who types may be about to ask: headings and citations, and what was meant if it is misspelt",
        path: "/api/v1/suggest",
        tool: None,
        access: metered(&[Scope::Search], 1, Per::Call),
        parameters: &[
            required("q", Kind::Text, "what was typed so far, typos and all"),
            with_default("limit", Kind::Integer { min: 1, max: SUGGESTIONS_MAX }, "10", "how many suggestions"),
            optional("jurisdiction", Kind::ShortCode, "short code of a jurisdiction; includes what lies in it"),
        ],
        formats: JSON,
        errors: &[],
        example: "/api/v1/suggest?q=securty%20depo",
        reply: |generator| generator.subschema_for::<suggest::SuggestReply>(),
        prepare: suggest::prepare,
    },
    Operation {
        name: "code-bodies",
        summary: "The code bodies that are held",
        path: "/api/v1/code-bodies",
        tool: None,
        access: metered(&[Scope::Browse], 1, Per::Call),
        parameters: &[],
        formats: JSON,
        errors: &[],
        example: "/api/v1/code-bodies",
        reply: |generator| generator.subschema_for::<code_bodies::CodeBodiesReply<'static>>(),
        prepare: code_bodies::prepare,
    },
    Operation {
        name: "browse",
        summary: "The immediate children of a code body or of a node",
        path: "/api/v1/browse",
        tool: None,
        access: metered(&[Scope::Browse], 1, Per::Call),
        parameters: &[
            required("codeBodyId", Kind::Uuid, "id of a code body, from code-bodies"),
            optional("parent", Kind::Uuid, "id of a node of that code body; its top level where absent"),
        ],
        formats: JSON,
        errors: &[],
        example: "/api/v1/browse?codeBodyId=ba1b24fb-3dfa-535e-a2e5-fbe7681c7941",
        reply: |generator| generator.subschema_for::<browse::BrowseReply>(),
        prepare: browse::prepare,
    },
    Operation {
        name: "gis",
        summary: "A municipal zoning layer as GeoJSON, each zone with its citation",
        path: "/api/v1/gis/{shortCode}",
        tool: None,
        access: metered(&[Scope::Gis], 5, Per::Call),
        parameters: &[in_path("shortCode", Kind::ShortCode, "short code of a municipality, from coverage")],
        formats: JSON,
        errors: NOT_FOUND,
        example: "/api/v1/gis/XA-PORT-ARDEN",
        reply: |generator| generator.subschema_for::<gis::LayerReply>(),
        prepare: gis::prepare,
    },
    Operation {
        name: "gis-at",
        summary: "The zones at a point, each with the full text of the provision that defines it",
        path: "/api/v1/gis/{shortCode}/at",
        tool: None,
        access: metered(&[Scope::Gis], 5, Per::Call),
        parameters: &[
            in_path("shortCode", Kind::ShortCode, "short code of a municipality, from coverage"),
            required("lat", Kind::Number { min: -90, max: 90 }, "latitude in degrees, WGS 84"),
            required("lon", Kind::Number { min: -180, max: 180 }, "longitude in degrees, WGS 84; west is negative"),
        ],
        formats: JSON,
        errors: NOT_FOUND,
        example: "/api/v1/gis/XA-PORT-ARDEN/at?lat=44.054&lon=-124.217",
        reply: |generator| generator.subschema_for::<gis_at::PointReply<'static>>(),
        prepare: gis_at::prepare,
    },
    Operation {
        name: "coverage",
        summary: "Which jurisdictions are held, and how much of each; to be called before searching",
        path: "/api/v1/coverage",
        tool: tool("law.list_coverage", "list_coverage"),
        access: metered(&[Scope::Search, Scope::Node, Scope::Browse, Scope::Gis], 1, Per::Call),
        parameters: &[],
        formats: JSON,
        errors: &[],
        example: "/api/v1/coverage",
        reply: |generator| generator.subschema_for::<coverage::CoverageReply<'static>>(),
        prepare: coverage::prepare,
    },
    Operation {
        name: "me",
        summary: "Your account: tier, credits, limits, newest ledger entries, packs",
        path: "/api/v1/me",
        tool: Some(Tool { name: "account.status", older_name: None }),
        access: metered(&Scope::ALL, 1, Per::Call),
        parameters: &[],
        formats: JSON,
        errors: &[],
        example: "/api/v1/me",
        reply: |generator| generator.subschema_for::<crate::accounts::views::Me>(),
        prepare: me::prepare,
    },
    Operation {
        name: "formation-status",
        summary: "How a company-formation order stands",
        path: "/api/v1/formation/status/{orderId}",
        tool: None,
        access: metered(&[Scope::Formation], 1, Per::Call),
        parameters: &[
            in_path("orderId", Kind::Uuid, "id of the order"),
            required("token", Kind::Text, "the order's tracking token, issued when it was created"),
        ],
        formats: JSON,
        errors: NOT_FOUND,
        example: "/api/v1/formation/status/ORDER_ID?token=TOKEN",
        reply: |generator| generator.subschema_for::<crate::accounts::tracking::OrderView>(),
        prepare: formation_status::prepare,
    },
    Operation {
        name: "checkout",
        summary: "The packs of credits, and how to buy one here",
        path: CHECKOUT_PATH,
        tool: None,
        access: Access::Open,
        parameters: &[],
        formats: JSON,
        errors: &[],
        example: "/api/v1/billing/checkout",
        reply: |generator| generator.subschema_for::<checkout::CheckoutReply>(),
        prepare: checkout::prepare,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_contract() {
        let row = |path: &str| {
            let operation = OPERATIONS.iter().find(|operation| operation.path == path).unwrap();
            match operation.access {
                Access::Metered { any_of, cost } => (any_of.to_string(), cost.credits),
                Access::Open => (String::new(), 0),
            }
        };
        for (path, scopes, credits) in [
            ("/api/v1/search", "search", 1),
            ("/api/v1/node/{id}", "node", 1),
            ("/api/v1/code-bodies", "browse", 1),
            ("/api/v1/browse", "browse", 1),
            ("/api/v1/gis/{shortCode}", "gis", 5),
            ("/api/v1/coverage", "search,node,browse,gis", 1),
            ("/api/v1/me", "search,node,browse,gis,formation", 1),
            ("/api/v1/formation/status/{orderId}", "formation", 1),
        ] {
            assert_eq!(row(path), (scopes.to_owned(), credits), "{path}");
        }
    }

    #[test]
    fn names_and_paths_are_unique_and_path_parameters_stand_in_their_path() {
        for (place, operation) in OPERATIONS.iter().enumerate() {
            let earlier = &OPERATIONS[..place];
            assert!(earlier.iter().all(|other| other.name != operation.name && other.path != operation.path));
            let in_path = operation.parameters.iter().filter(|parameter| parameter.place == Place::Path);
            let written: Vec<String> = in_path.map(|parameter| format!("{{{}}}", parameter.name)).collect();
            assert_eq!(operation.path.matches('{').count(), written.len());
            assert!(written.iter().all(|name| operation.path.contains(name)), "{}", operation.name);
        }
    }
}
