//! The operations table. The router, authorization, metering, OpenAPI, discovery, README and tests are
//! generated from it or iterate over it. To add an operation, add one row here and one file in
//! `endpoints`.

use hornbook_accounts::scope::{Scope, ScopeSet};

use super::as_of::AS_OF;
use super::deep_search::DEPTH;
use super::endpoints::filters::{CODE_BODIES, JURISDICTION, JURISDICTIONS, MIN_SCORE, STATUSES, SUBTREE, TAGS};
use super::endpoints::include::INCLUDE;
use super::endpoints::paging::{LIMIT, PAGE};
use super::endpoints::{
    browse, changes, check, checkout, code_bodies, connector_fetch, connector_search, coverage, formation_handoff,
    formation_lookup_naics, formation_requirements, formation_status, gis, gis_at, gis_tile, gis_zones, handoff_status,
    history, keys, me, node, node_diff, node_id, nodes, purchase, references, resolve, search, suggest, verify_quote,
    watch_reports, watches,
};
use super::error::ErrorCode;
use super::fields::FIELDS;
use super::model_text::written_for_model;
use super::operation::{
    Access, BodySpec, CHECK_PATH, CHECKOUT_PATH, Cost, CostUnit, Handler, KeyHolder, LawReader, Metering, Method,
    Operation, Route, Tool, ToolAnswer,
};
use super::reply::{FORMAT, Format};
use super::subject::Subject;
use crate::formation::intake::Intake;

const JSON: &[Format] = &[Format::Json];

const KEYS_PATH: &str = "/api/v1/keys";

const WATCHES_PATH: &str = "/api/v1/watches";

const NOT_FOUND: &[ErrorCode] = &[ErrorCode::NotFound];

const fn metered(any_of: &[Scope], credits: u32, per: CostUnit, handler: Handler<KeyHolder>) -> Access {
    Access::Metered(Metering { any_of: ScopeSet::of(any_of), cost: Cost { credits, per } }, handler)
}

const fn law(any_of: &[Scope], credits: u32, per: CostUnit, handler: Handler<LawReader>) -> Access {
    Access::Law(Metering { any_of: ScopeSet::of(any_of), cost: Cost { credits, per } }, handler)
}

const fn route(path: &'static str, example: &'static str) -> Option<Route> {
    Some(Route { method: Method::Get, path, example })
}

const fn tool(name: &'static str, older_name: &'static str, use_for: &'static str) -> Option<Tool> {
    Some(Tool { name, older_name: Some(older_name), use_for, defaults: &[], answer: ToolAnswer::Both })
}

/// A tool whose answers are law.
const fn law_tool(
    name: &'static str,
    older_name: &'static str,
    use_for: &'static str,
    defaults: &'static [(&'static str, &'static str)],
) -> Option<Tool> {
    Some(Tool { name, older_name: Some(older_name), use_for, defaults, answer: ToolAnswer::Law })
}

/// A tool for research connectors, which expect this name.
const fn connector(
    name: &'static str,
    use_for: &'static str,
    defaults: &'static [(&'static str, &'static str)],
) -> Option<Tool> {
    Some(Tool { name, older_name: None, use_for, defaults, answer: ToolAnswer::JsonText })
}

pub static OPERATIONS: &[Operation] = &[
    Operation {
        name: "search",
        subject: Subject::Search,
        summary: "Search provisions by meaning and by words",
        details: Some(
            "If `q` names a jurisdiction or a code (\"in DC\"), only its law is searched or its law ranks higher, as `understood` reports; `exact=true` turns this off.",
        ),
        route: route("/api/v1/search", "/api/v1/search?q={words}&jurisdiction={jurisdiction}"),
        tool: law_tool(
            "law.search",
            "search_law",
            "Use it for a question or words of any kind. If you have a citation, use law.resolve.",
            &[("limit", "8")],
        ),
        parameters: &[
            search::Q.rule,
            PAGE.rule,
            LIMIT.rule,
            search::MODE.rule,
            DEPTH.rule,
            JURISDICTIONS.rule,
            CODE_BODIES.rule,
            SUBTREE.rule,
            TAGS.rule,
            STATUSES.rule,
            MIN_SCORE.rule,
            search::FACETS.rule,
            search::EXACT.rule,
            FIELDS.rule,
            AS_OF.rule,
        ],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<search::SearchReply<'static>>(),
        model_text: Some(|json| written_for_model::<search::SearchReply<'_>>(json)),
        access: law(&[Scope::Search], 1, CostUnit::Call, search::prepare),
    },
    Operation {
        name: "node",
        subject: Subject::Law,
        summary: "One provision or container: full text, citation, ancestors, provenance",
        details: None,
        route: route("/api/v1/node/{id}", "/api/v1/node/{node}"),
        tool: law_tool(
            "law.get_node",
            "get_law_node",
            "Use it to read law whose id, citation or address you have. To find law, use law.search.",
            &[("include", "law")],
        ),
        parameters: &[node_id::ID.rule, INCLUDE.rule, FORMAT.rule, FIELDS.rule, AS_OF.rule],
        body: None,
        formats: &Format::ALL,
        errors: NOT_FOUND,
        has_version: true,
        reply: |generator| generator.subschema_for::<node::NodeReply<'static>>(),
        model_text: Some(|json| written_for_model::<node::NodeReply<'_>>(json)),
        access: law(&[Scope::Node], 1, CostUnit::Call, node::prepare),
    },
    Operation {
        name: "references",
        subject: Subject::Law,
        summary: "The provisions that a provision cites, or that cite it",
        details: None,
        route: route("/api/v1/node/{id}/references", "/api/v1/node/{node}/references?direction=in"),
        tool: tool(
            "law.references",
            "law_references",
            "Use it for what a provision cites, or who cites it; its id may be a citation. For its surroundings, use law.browse.",
        ),
        parameters: &[node_id::ID.rule, references::DIRECTION.rule, PAGE.rule, LIMIT.rule, FIELDS.rule, AS_OF.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<references::ReferencesReply>(),
        model_text: Some(|json| written_for_model::<references::ReferencesReply<'_>>(json)),
        access: law(&[Scope::Node], 1, CostUnit::Call, references::prepare),
    },
    Operation {
        name: "nodes",
        subject: Subject::Law,
        summary: "Several nodes in one call; unknown ids are listed as missing",
        details: None,
        route: route("/api/v1/nodes", "/api/v1/nodes?ids={node},{other_node}"),
        tool: None,
        parameters: &[nodes::IDS.rule, FIELDS.rule, AS_OF.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<nodes::NodesReply<'static>>(),
        model_text: None,
        access: law(&[Scope::Node], 1, CostUnit::Node, nodes::prepare),
    },
    Operation {
        name: "resolve",
        subject: Subject::Law,
        summary: "The provisions that a citation names, in any spelling; one answer for each citation of a list",
        details: None,
        route: route("/api/v1/resolve", "/api/v1/resolve?citation={citation}"),
        tool: tool(
            "law.resolve",
            "law_resolve",
            "Use it to find or check citations, also many at once. To read one, use law.get_node; for words, law.search.",
        ),
        parameters: &[resolve::CITATION.rule, FIELDS.rule, AS_OF.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<resolve::ResolveReply>(),
        model_text: Some(|json| written_for_model::<resolve::ResolveReply>(json)),
        access: law(&[Scope::Node], 1, CostUnit::Call, resolve::prepare),
    },
    Operation {
        name: "history",
        subject: Subject::Changes,
        summary: "What became of a provision in the editions that are kept, under whatever number",
        details: None,
        route: route("/api/v1/node/{id}/history", "/api/v1/node/{node}/history"),
        tool: law_tool(
            "law.history",
            "law_history",
            "Use it for when a provision changed, and what its number was; its id may be a citation. For a whole code, use law.changes.",
            &[],
        ),
        parameters: &[node_id::ID.rule, FIELDS.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<history::HistoryReply>(),
        model_text: Some(|json| written_for_model::<history::HistoryReply>(json)),
        access: law(&[Scope::Node], 1, CostUnit::Call, history::prepare),
    },
    Operation {
        name: "diff",
        subject: Subject::Changes,
        summary: "The words of a provision on two days, compared",
        details: Some(
            "Each day is answered by the edition that is current on it, and by the wording that is law on that day in it.",
        ),
        route: route("/api/v1/node/{id}/diff", "/api/v1/node/{node}/diff"),
        tool: None,
        parameters: &[node_id::ID.rule, node_diff::FROM.rule, node_diff::TO.rule, FIELDS.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<node_diff::DiffReply>(),
        model_text: Some(|json| written_for_model::<node_diff::DiffReply>(json)),
        access: law(&[Scope::Node], 1, CostUnit::Call, node_diff::prepare),
    },
    Operation {
        name: "check",
        subject: Subject::Checks,
        summary: "The citations and quotations of a document, each compared with the law",
        details: Some(
            "The body is JSON, or the document itself with its media type: text/plain, text/markdown, text/html, .docx or application/pdf, at most 1 MB. \
             Short forms (`id.`, `§ 12(b)`) are followed where only one provision can be meant. A quotation is compared with the \
             citation near it; typography makes no difference, and brackets and ellipses may announce changes. `dryRun=true` says the price.",
        ),
        route: Some(Route { method: Method::Post, path: CHECK_PATH, example: CHECK_PATH }),
        tool: law_tool(
            "law.check",
            "law_check",
            "Use it before you hand out a text that cites or quotes law. For one quotation, use law.verify_quote.",
            &[],
        ),
        parameters: &[AS_OF.rule, check::SINCE.rule],
        body: Some(BodySpec {
            schema: |generator| generator.subschema_for::<check::CheckRequest>(),
            takes_documents: true,
            is_stored: false,
            example: check::EXAMPLE,
        }),
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<check::CheckReply>(),
        model_text: Some(|json| written_for_model::<check::CheckReply>(json)),
        access: law(&[Scope::Search, Scope::Node], 1, CostUnit::TenFindings, check::prepare),
    },
    Operation {
        name: "verify",
        subject: Subject::Checks,
        summary: "Whether a quotation has the words of the law that it cites, or which law has these words",
        details: None,
        route: route("/api/v1/verify", "/api/v1/verify?citation={citation}&quote={words}"),
        tool: law_tool(
            "law.verify_quote",
            "law_verify_quote",
            "Use it for one quotation, with or without its citation. For a whole text, use law.check.",
            &[],
        ),
        parameters: &[verify_quote::QUOTE.rule, verify_quote::CITATION.rule, FIELDS.rule, AS_OF.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<verify_quote::VerifyReply>(),
        model_text: Some(|json| written_for_model::<verify_quote::VerifyReply>(json)),
        access: law(&[Scope::Search, Scope::Node], 1, CostUnit::Call, verify_quote::prepare),
    },
    Operation {
        name: "suggest",
        subject: Subject::Search,
        summary: "Completions of a heading or citation while it is typed, with spelling correction",
        details: None,
        route: route("/api/v1/suggest", "/api/v1/suggest?q={typed}"),
        tool: None,
        parameters: &[suggest::Q.rule, suggest::LIMIT.rule, JURISDICTION.rule, FIELDS.rule, AS_OF.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<suggest::SuggestReply>(),
        model_text: None,
        access: law(&[Scope::Search], 1, CostUnit::Call, suggest::prepare),
    },
    Operation {
        name: "code-bodies",
        subject: Subject::Browsing,
        summary: "All code bodies",
        details: None,
        route: route("/api/v1/code-bodies", "/api/v1/code-bodies"),
        tool: tool(
            "law.code_bodies",
            "law_code_bodies",
            "Use it for the ids and names of the codes. For how much law a place has, use law.list_coverage.",
        ),
        parameters: &[FIELDS.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<code_bodies::CodeBodiesReply<'static>>(),
        model_text: Some(|json| written_for_model::<code_bodies::CodeBodiesReply<'_>>(json)),
        access: law(&[Scope::Browse], 1, CostUnit::Call, code_bodies::prepare),
    },
    Operation {
        name: "browse",
        subject: Subject::Browsing,
        summary: "The direct children of a code body or of a node",
        details: None,
        route: route("/api/v1/browse", "/api/v1/browse?codeBodyId={code_body}"),
        tool: tool(
            "law.browse",
            "law_browse",
            "Use it for a table of contents, from a code by name, level by level. For law on a subject, use law.search.",
        ),
        parameters: &[
            browse::CODE_BODY_ID.rule,
            browse::PARENT.rule,
            browse::PAGE.rule,
            browse::LIMIT.rule,
            FIELDS.rule,
            AS_OF.rule,
        ],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<browse::BrowseReply>(),
        model_text: Some(|json| written_for_model::<browse::BrowseReply<'_>>(json)),
        access: law(&[Scope::Browse], 1, CostUnit::Call, browse::prepare),
    },
    Operation {
        name: "changes",
        subject: Subject::Changes,
        summary: "What changed in the law from one edition to the next, or what will change",
        details: Some(
            "Every change says of which day it is: `effective` is the publisher's day, `edition` the day through which the newer edition is current, \
             `first_seen` the day on which it was retrieved. Texts are compared without typography and spacing. A title or chapter that the newer \
             edition lacks stands for all that was in it.",
        ),
        route: route("/api/v1/changes", "/api/v1/changes?jurisdiction={jurisdiction}"),
        tool: law_tool(
            "law.changes",
            "law_changes",
            "Use it for what was amended, added or repealed since a day, or will be (pending=true). For one provision, use law.history.",
            &[("limit", "20")],
        ),
        parameters: &[
            changes::SINCE.rule,
            changes::KINDS.rule,
            changes::PENDING.rule,
            JURISDICTIONS.rule,
            CODE_BODIES.rule,
            SUBTREE.rule,
            PAGE.rule,
            LIMIT.rule,
            FIELDS.rule,
        ],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<changes::ChangesReply<'static>>(),
        model_text: Some(|json| written_for_model::<changes::ChangesReply<'_>>(json)),
        access: law(&[Scope::Browse], 1, CostUnit::Call, changes::prepare),
    },
    Operation {
        name: "gis",
        subject: Subject::Zoning,
        summary: "The zoning layer of a municipality as GeoJSON, each zone with its citation",
        details: None,
        route: route("/api/v1/gis/{shortCode}", "/api/v1/gis/{short_code}"),
        tool: None,
        parameters: &[gis::SHORT_CODE.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: true,
        reply: |generator| generator.subschema_for::<gis::LayerReply>(),
        model_text: None,
        access: law(&[Scope::Gis], 5, CostUnit::Call, gis::prepare),
    },
    Operation {
        name: "gis-at",
        subject: Subject::Zoning,
        summary: "The zones at a point, each with the citation that defines it; with the scope node also the full texts",
        details: None,
        route: route("/api/v1/gis/{shortCode}/at", "/api/v1/gis/{short_code}/at?lat={lat}&lon={lon}"),
        tool: tool(
            "law.zoning_at",
            "law_zoning_at",
            "Use it for what may be built at a latitude and longitude. It knows no street addresses.",
        ),
        parameters: &[gis::SHORT_CODE.rule, gis_at::LAT.rule, gis_at::LON.rule, AS_OF.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: true,
        reply: |generator| generator.subschema_for::<gis_at::PointReply<'static>>(),
        model_text: Some(|json| written_for_model::<gis_at::PointReply<'_>>(json)),
        access: law(&[Scope::Gis], 5, CostUnit::Call, gis_at::prepare),
    },
    Operation {
        name: "gis-zones",
        subject: Subject::Zoning,
        summary: "The zones and categories of a zoning layer: counts, extents, what defines each; without shapes",
        details: None,
        route: route("/api/v1/gis/{shortCode}/zones", "/api/v1/gis/{short_code}/zones"),
        tool: None,
        parameters: &[gis::SHORT_CODE.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: true,
        reply: |generator| generator.subschema_for::<gis_zones::ZonesReply<'static>>(),
        model_text: None,
        access: law(&[Scope::Gis], 5, CostUnit::Call, gis_zones::prepare),
    },
    Operation {
        name: "gis-tile",
        subject: Subject::Zoning,
        summary: "The part of a zoning layer in one tile of the web map, simplified for its zoom",
        details: Some(
            "Tiles are those of web maps in the Mercator projection, 2^z by 2^z, counted from the north-west. A unit of the \
             grid is a quarter of a pixel of a map that draws tiles 512 pixels wide.",
        ),
        route: route("/api/v1/gis/{shortCode}/tiles/{z}/{x}/{y}", "/api/v1/gis/{short_code}/tiles/{z}/{x}/{y}"),
        tool: None,
        parameters: &[gis::SHORT_CODE.rule, gis_tile::Z.rule, gis_tile::X.rule, gis_tile::Y.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: true,
        reply: |generator| generator.subschema_for::<gis_tile::TileReply<'static>>(),
        model_text: None,
        access: law(&[Scope::Gis], 1, CostUnit::Call, gis_tile::prepare),
    },
    Operation {
        name: "coverage",
        subject: Subject::Browsing,
        summary: "All jurisdictions, with the number of provisions and the editions of each",
        details: None,
        route: route("/api/v1/coverage", "/api/v1/coverage"),
        tool: Some(Tool {
            name: "law.list_coverage",
            use_for: "Use it for which places have law or zoning here, and how current it is. No search needs it first.",
            older_name: Some("list_coverage"),
            defaults: &[("placeholders", "false")],
            answer: ToolAnswer::Both,
        }),
        parameters: &[coverage::PLACEHOLDERS.rule, FIELDS.rule, AS_OF.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<coverage::CoverageReply<'static>>(),
        model_text: Some(|json| written_for_model::<coverage::CoverageReply<'_>>(json)),
        access: law(&[Scope::Search, Scope::Node, Scope::Browse, Scope::Gis], 1, CostUnit::Call, coverage::prepare),
    },
    Operation {
        name: "me",
        subject: Subject::Account,
        summary: "Your account: tier, credits, limits, latest ledger entries, packs",
        details: Some(
            "Costs a credit like every call. With an empty wallet and no free units left it returns 402. Every paid response \
             reports the balance in its headers as well.",
        ),
        route: route("/api/v1/me", "/api/v1/me"),
        tool: Some(Tool {
            name: "account.status",
            use_for: "Use it for what is left to spend, and for limits and prices. No call needs it first.",
            older_name: None,
            defaults: &[("ledger", "false")],
            answer: ToolAnswer::Both,
        }),
        parameters: &[me::LEDGER.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<me::AccountReply>(),
        model_text: None,
        access: metered(&Scope::ALL, 1, CostUnit::Call, me::prepare),
    },
    Operation {
        name: "formation-requirements",
        subject: Subject::Formation,
        summary: "What a state requires of a new company: office, form, facts, fee, duties; each figure with its source",
        details: Some(
            "Figures not yet compared with their sources are marked unverified, and unknown values are null. \
             Statutes have a node id if this corpus contains them.",
        ),
        route: route("/api/v1/formation/requirements", "/api/v1/formation/requirements?state=DE&entityType=llc"),
        tool: tool(
            "formation.requirements",
            "formation_requirements",
            "Use it first for a new company, or to compare states. It opens no order.",
        ),
        parameters: &[formation_requirements::STATE.rule, formation_requirements::ENTITY_TYPE.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<formation_requirements::RequirementsReply>(),
        model_text: None,
        access: metered(&[Scope::Formation], 0, CostUnit::Call, formation_requirements::prepare),
    },
    Operation {
        name: "formation-lookup-naics",
        subject: Subject::Formation,
        summary: "NAICS 2022 industry codes by code, by its first digits, or by a plain description of the business",
        details: Some(
            "Typing errors are corrected. Industries with `foundBy` `meaning` are guesses: no word of the query matches them.",
        ),
        route: route("/api/v1/formation/naics", "/api/v1/formation/naics?q=dog%20grooming%20van"),
        tool: tool(
            "formation.lookup_naics",
            "lookup_naics",
            "Use it for the industry code of a business. For law on an industry, use law.search.",
        ),
        parameters: &[formation_lookup_naics::Q.rule, formation_lookup_naics::LIMIT.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<formation_lookup_naics::NaicsReply>(),
        model_text: None,
        access: metered(&[Scope::Formation], 0, CostUnit::Call, formation_lookup_naics::prepare),
    },
    Operation {
        name: "formation-handoff",
        subject: Subject::FormationOrders,
        summary: "Check the intake of a company formation, and get a link on which a person reviews, accepts and pays it",
        details: Some(
            "All faults are reported at once, each with the path of its field. The intake is stored encrypted, and deleted if nobody \
             accepts it. Call formation-requirements first to learn what the state requires.",
        ),
        route: Some(Route {
            method: Method::Post,
            path: "/api/v1/formation/handoff",
            example: "/api/v1/formation/handoff",
        }),
        tool: tool(
            "formation.handoff",
            "formation_handoff",
            "Use it when you have all facts; faults are listed. It files and pays nothing: a person does, at the link.",
        ),
        parameters: &[],
        body: Some(BodySpec {
            schema: |generator| generator.subschema_for::<Intake>(),
            takes_documents: false,
            is_stored: true,
            example: formation_handoff::EXAMPLE,
        }),
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<formation_handoff::HandoffReply>(),
        model_text: None,
        access: metered(&[Scope::Formation], 0, CostUnit::Call, formation_handoff::prepare),
    },
    Operation {
        name: "formation-status",
        subject: Subject::FormationOrders,
        summary: "The status of a company-formation order",
        details: None,
        route: route("/api/v1/formation/status/{orderId}", "/api/v1/formation/status/{order_id}?token={token}"),
        tool: None,
        parameters: &[formation_status::ORDER_ID.rule, formation_status::TOKEN.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<formation_status::OrderReply>(),
        model_text: None,
        access: metered(&[Scope::Formation], 1, CostUnit::Call, formation_status::prepare),
    },
    Operation {
        name: "handoff-status",
        subject: Subject::FormationOrders,
        summary: "What became of an intake that this account handed over: waiting for a person, or the stage of its order",
        details: None,
        route: None,
        tool: tool(
            "formation.status",
            "formation_status",
            "Use it after formation.handoff, with the id that it returned. It knows no other orders.",
        ),
        parameters: &[handoff_status::HANDOFF_ID.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<handoff_status::HandoffStatusReply>(),
        model_text: Some(|json| written_for_model::<handoff_status::HandoffStatusReply>(json)),
        access: metered(&[Scope::Formation], 0, CostUnit::Call, handoff_status::prepare),
    },
    Operation {
        name: "checkout",
        subject: Subject::Account,
        summary: "The packs of credits and how to buy one",
        details: None,
        route: route(CHECKOUT_PATH, "/api/v1/billing/checkout"),
        tool: None,
        parameters: &[],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<checkout::CheckoutReply>(),
        model_text: None,
        access: Access::Open(checkout::prepare),
    },
    Operation {
        name: "purchase",
        subject: Subject::Account,
        summary: "Buy a pack of credits: the answer says how to pay",
        details: Some(
            "Send `{\"pack\": \"starter\"}`. A request repeated with the same `Idempotency-Key` returns the same purchase, \
             no matter how late.",
        ),
        route: Some(Route { method: Method::Post, path: CHECKOUT_PATH, example: "/api/v1/billing/checkout" }),
        tool: None,
        parameters: &[],
        body: Some(BodySpec {
            schema: |generator| generator.subschema_for::<purchase::PurchaseRequest>(),
            takes_documents: false,
            is_stored: true,
            example: r#"{"pack": "starter"}"#,
        }),
        formats: JSON,
        errors: &[ErrorCode::PaymentUnavailable],
        has_version: false,
        reply: |generator| generator.subschema_for::<purchase::PurchaseReply>(),
        model_text: None,
        access: metered(&Scope::ALL, 0, CostUnit::Call, purchase::prepare),
    },
    Operation {
        name: "keys",
        subject: Subject::Account,
        summary: "The keys that this key created, with their budgets",
        details: None,
        route: route(KEYS_PATH, "/api/v1/keys"),
        tool: None,
        parameters: &[],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<keys::KeysReply>(),
        model_text: None,
        access: metered(&Scope::ALL, 0, CostUnit::Call, keys::prepare_list),
    },
    Operation {
        name: "key-create",
        subject: Subject::Account,
        summary: "Create a key for a program or agent, with a budget",
        details: Some(
            "The key has at most the scopes and the time of the key that creates it, shares its rate limits, and ends with \
             it. What it spends also counts for the budget of that key. Its text is in the answer and shown only there.",
        ),
        route: Some(Route { method: Method::Post, path: KEYS_PATH, example: "/api/v1/keys" }),
        tool: None,
        parameters: &[],
        body: Some(BodySpec {
            schema: |generator| generator.subschema_for::<keys::NewKeyRequest>(),
            takes_documents: false,
            is_stored: true,
            example: r#"{"name": "my agent", "budget": {"perDay": 100}}"#,
        }),
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<keys::KeyReply>(),
        model_text: None,
        access: metered(&Scope::ALL, 0, CostUnit::Call, keys::prepare_create),
    },
    Operation {
        name: "key-revoke",
        subject: Subject::Account,
        summary: "Revoke a key that this key created, and the keys that it created",
        details: None,
        route: Some(Route { method: Method::Post, path: "/api/v1/keys/revoke", example: "/api/v1/keys/revoke" }),
        tool: None,
        parameters: &[],
        body: Some(BodySpec {
            schema: |generator| generator.subschema_for::<keys::RevokeRequest>(),
            takes_documents: false,
            is_stored: true,
            example: r#"{"id": "KEY_ID"}"#,
        }),
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<keys::KeyReply>(),
        model_text: None,
        access: metered(&Scope::ALL, 0, CostUnit::Call, keys::prepare_revoke),
    },
    Operation {
        name: "watches",
        subject: Subject::Watching,
        summary: "What this key watches",
        details: None,
        route: route(WATCHES_PATH, "/api/v1/watches"),
        tool: None,
        parameters: &[PAGE.rule, LIMIT.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<watches::WatchesReply>(),
        model_text: None,
        access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, watches::prepare_list),
    },
    Operation {
        name: "watch-create",
        subject: Subject::Watching,
        summary: "Watch a provision, a container, a citation or a search",
        details: Some(
            "A key watches up to 1,000 things, for free. Whenever a newer edition is served, what it changed among them is \
             reported. Something that the key watches already keeps its watch.",
        ),
        route: Some(Route { method: Method::Post, path: WATCHES_PATH, example: "/api/v1/watches" }),
        tool: None,
        parameters: &[],
        body: Some(BodySpec {
            schema: |generator| generator.subschema_for::<watches::NewWatchRequest>(),
            takes_documents: false,
            is_stored: true,
            example: watches::NEW_WATCH_EXAMPLE,
        }),
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<watches::WatchReply>(),
        model_text: None,
        access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, watches::prepare_create),
    },
    Operation {
        name: "watch-remove",
        subject: Subject::Watching,
        summary: "Stop watching something",
        details: None,
        route: Some(Route { method: Method::Post, path: "/api/v1/watches/remove", example: "/api/v1/watches/remove" }),
        tool: None,
        parameters: &[],
        body: Some(BodySpec {
            schema: |generator| generator.subschema_for::<watches::WatchToRemove>(),
            takes_documents: false,
            is_stored: false,
            example: r#"{"id": "WATCH_ID"}"#,
        }),
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<watches::WatchReply>(),
        model_text: None,
        access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, watches::prepare_remove),
    },
    Operation {
        name: "watch-changes",
        subject: Subject::Watching,
        summary: "What changed among the things that this key watches",
        details: Some(
            "One report for each time that a newer edition was served and changed something watched, the newest first; the \
             newest 50 are kept. `since` compares with the day of the report.",
        ),
        route: route("/api/v1/watches/changes", "/api/v1/watches/changes"),
        tool: None,
        parameters: &[changes::SINCE.rule, PAGE.rule, LIMIT.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<watch_reports::WatchReportsReply>(),
        model_text: None,
        access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, watch_reports::prepare),
    },
    Operation {
        name: "watch-webhook",
        subject: Subject::Watching,
        summary: "Set the address that the reports of this key are sent to, or none",
        details: Some(
            "Each report is one POST with JSON, signed with the secret in the answer, and sent again for 17 hours until it is \
             answered with 2xx. The operator must allow it (`watches.webhooks`).",
        ),
        route: Some(Route {
            method: Method::Post,
            path: "/api/v1/watches/webhook",
            example: "/api/v1/watches/webhook",
        }),
        tool: None,
        parameters: &[],
        body: Some(BodySpec {
            schema: |generator| generator.subschema_for::<watch_reports::WebhookRequest>(),
            takes_documents: false,
            is_stored: true,
            example: watch_reports::WEBHOOK_EXAMPLE,
        }),
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<watch_reports::WebhookReply>(),
        model_text: None,
        access: metered(&[Scope::Search, Scope::Node], 0, CostUnit::Call, watch_reports::prepare_webhook),
    },
    Operation {
        name: "connector-search",
        subject: Subject::Agents,
        summary: "Search provisions for research; ids, titles and addresses only",
        details: None,
        route: None,
        tool: connector("search", "Only for research connectors, which need this name; otherwise use law.search.", &[]),
        parameters: &[connector_search::QUERY.rule],
        body: None,
        formats: JSON,
        errors: &[],
        has_version: false,
        reply: |generator| generator.subschema_for::<connector_search::ConnectorResults>(),
        model_text: None,
        access: law(&[Scope::Search], 1, CostUnit::Call, connector_search::prepare),
    },
    Operation {
        name: "connector-fetch",
        subject: Subject::Agents,
        summary: "The text of a search result; also by citation or by an address of this service",
        details: None,
        route: None,
        tool: connector(
            "fetch",
            "Only for research connectors, which need this name; otherwise use law.get_node.",
            &[("include", "law")],
        ),
        parameters: &[connector_fetch::ID.rule, INCLUDE.rule],
        body: None,
        formats: JSON,
        errors: NOT_FOUND,
        has_version: false,
        reply: |generator| generator.subschema_for::<connector_fetch::ConnectorDocument<'static>>(),
        model_text: None,
        access: law(&[Scope::Node], 1, CostUnit::Call, connector_fetch::prepare),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operation::NODE_PATH;
    use crate::api::parameters::{Location, Need};

    /// Path, scopes and cost of each endpoint, as in the table of the API contract.
    #[test]
    fn the_table_is_that_of_the_contract() {
        let row = |path: &str| {
            let operation = OPERATIONS.iter().find(|operation| operation.route.is_some_and(|route| route.path == path));
            let Metering { any_of, cost } = operation.unwrap().metering().unwrap();
            (any_of.to_string(), cost)
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
            assert_eq!(row(path), (scopes.to_owned(), Cost { credits, per: CostUnit::Call }), "{path}");
        }
    }

    #[test]
    fn names_and_paths_are_unique_and_paths_contain_their_parameters() {
        for (place, operation) in OPERATIONS.iter().enumerate() {
            let earlier = &OPERATIONS[..place];
            assert!(earlier.iter().all(|other| other.name != operation.name));
            let in_path = operation.parameters.iter().filter(|parameter| parameter.location == Location::Path);
            let written: Vec<String> = in_path.map(|parameter| format!("{{{}}}", parameter.name)).collect();
            let Some(Route { method, path, .. }) = operation.route else {
                assert!(written.is_empty(), "{} has no path", operation.name);
                continue;
            };
            let is_same =
                |other: &Operation| other.route.is_some_and(|route| (route.method, route.path) == (method, path));
            assert!(!earlier.iter().any(is_same), "{path} is listed twice");
            assert_eq!(operation.body.is_some(), method == Method::Post, "{}: POST brings a body", operation.name);
            assert_eq!(path.matches('{').count(), written.len());
            assert!(written.iter().all(|name| path.contains(name)), "{}", operation.name);
        }
    }

    #[test]
    fn links_to_nodes_lead_to_the_operation_of_nodes() {
        let node = OPERATIONS.iter().find(|operation| operation.name == "node").and_then(|node| node.route);
        assert_eq!(node.map(|route| route.path.to_owned()), Some(format!("{NODE_PATH}{{id}}")));
    }

    #[test]
    fn every_default_is_valid() {
        for parameter in OPERATIONS.iter().flat_map(|operation| operation.parameters) {
            if let Need::Default(default) = parameter.need {
                assert!(parameter.kind.accepts(default), "{} = {default}", parameter.name);
            }
        }
    }
}
