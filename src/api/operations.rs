//! The operations table. The router, authorization, metering, OpenAPI, discovery, README and tests are
//! generated from it or iterate over it. To add an operation, write one file in `endpoints` with its row, and list the
//! row here.

use super::endpoints::{
    browse, changes, check, checkout, code_bodies, connector_fetch, connector_search, coverage, formation_handoff,
    formation_lookup_naics, formation_requirements, formation_status, gis, gis_at, gis_tile, gis_zones, handoff_status,
    history, keys, me, node, node_diff, nodes, purchase, references, resolve, search, suggest, verify_quote,
    watch_reports, watches,
};
use super::operation::Operation;

/// In the order in which documents show them.
pub static OPERATIONS: &[Operation] = &[
    search::OPERATION,
    node::OPERATION,
    references::OPERATION,
    nodes::OPERATION,
    resolve::OPERATION,
    history::OPERATION,
    node_diff::OPERATION,
    check::OPERATION,
    verify_quote::OPERATION,
    suggest::OPERATION,
    code_bodies::OPERATION,
    browse::OPERATION,
    changes::OPERATION,
    gis::OPERATION,
    gis_at::OPERATION,
    gis_zones::OPERATION,
    gis_tile::OPERATION,
    coverage::OPERATION,
    me::OPERATION,
    formation_requirements::OPERATION,
    formation_lookup_naics::OPERATION,
    formation_handoff::OPERATION,
    formation_status::OPERATION,
    handoff_status::OPERATION,
    checkout::OPERATION,
    purchase::OPERATION,
    keys::LIST,
    keys::CREATE,
    keys::REVOKE,
    watches::LIST,
    watches::CREATE,
    watches::REMOVE,
    watch_reports::OPERATION,
    watch_reports::WEBHOOK,
    connector_search::OPERATION,
    connector_fetch::OPERATION,
];

#[cfg(test)]
mod tests {
    use super::*;

    use crate::api::operation::{Cost, CostUnit, Metering, Method, NODE_PATH, Route};
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
