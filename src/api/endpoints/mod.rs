//! One operation per file: its parameters, the types of its answer, its own checks, and its work. Several
//! operations share `paging` and `filters`.

pub(super) mod browse;
pub(super) mod budget;
pub(super) mod changes;
pub(crate) mod check;
pub(super) mod checkout;
pub(super) mod code_bodies;
pub(super) mod connector_fetch;
pub(super) mod connector_search;
pub(super) mod coverage;
pub(super) mod filters;
pub(super) mod formation_handoff;
pub(super) mod formation_lookup_naics;
pub(super) mod formation_requirements;
pub(super) mod formation_status;
pub(super) mod gis;
pub(super) mod gis_at;
pub(super) mod gis_tile;
pub(super) mod gis_zones;
pub(super) mod handoff_status;
pub(super) mod history;
pub(super) mod include;
pub(super) mod keys;
mod law_markdown;
pub(super) mod me;
pub(super) mod node;
pub(super) mod node_diff;
mod node_formats;
pub(super) mod node_id;
pub(super) mod nodes;
pub(super) mod paging;
pub(super) mod purchase;
pub(super) mod references;
pub(super) mod resolve;
pub(super) mod search;
pub(super) mod suggest;
pub(super) mod verify_quote;
