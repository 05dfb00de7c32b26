//! The HTTP service over real sockets and the sample corpus: all operations, responses field by
//! field, the transport.

mod agents_form_companies;
mod answers;
mod as_of;
mod bad_input;
mod browser;
mod charging;
mod documents;
mod doors;
mod encrypted;
mod filters;
mod formation;
mod formation_lookup_naics;
mod formation_requirements;
mod frames;
mod house;
mod http2;
mod integrity;
mod mcp;
mod mcp_alike;
mod mcp_messages;
mod observed;
mod open_rate;
mod operations;
mod operator;
mod packing;
mod pages;
mod payments;
mod proxied;
mod refusals;
mod sessions;
mod settings;
mod strict;
mod swaps;
mod timeouts;
mod transport;
mod waiting;
mod zones;
mod zoning_pages;

#[path = "../support/bytes.rs"]
mod bytes;
#[path = "../support/sample.rs"]
mod sample;
#[path = "../support/stripe.rs"]
mod stripe;
