//! The HTTP service over real sockets and the sample corpus: all operations, responses field by
//! field, the transport.

mod account_pages;
mod agents_form_companies;
mod as_of;
mod bad_input;
mod browser;
mod budgets;
mod charging;
mod checking;
mod compression;
mod coverage;
mod docs_pages;
mod documents;
mod editions;
mod examples;
mod exports;
mod fields;
mod filters;
mod formation;
mod formation_lookup_naics;
mod formation_requirements;
mod http2;
mod http2_frames;
mod idle_connections;
mod keyless_rate_limit;
mod mcp;
mod mcp_equals_rest;
mod mcp_messages;
mod mounts;
mod oauth;
mod observability;
mod operations;
mod operator;
mod pages;
mod payments;
mod pinned_snapshots;
mod proxies;
mod reading_pages;
mod refusals;
mod resources;
mod responses;
mod results;
mod sessions;
mod snapshot_damage;
mod strict;
mod swaps;
mod test_server;
mod timeouts;
mod tls;
mod tool_choices;
mod transport;
mod watches;
mod zones;
mod zoning_pages;

#[path = "../support/bytes.rs"]
mod bytes;
#[path = "../support/sample.rs"]
mod sample;
#[path = "../support/stripe.rs"]
mod stripe;
