//! Hornbook as a library: the code that the binary, its tests and its benches share.

pub mod admin;
pub mod api;
pub mod bench;
pub mod channel_files;
pub mod client;
pub mod config;
pub mod evaluate;
pub mod formation;
pub mod http;
pub mod log;
pub mod mcp;
pub mod metrics;
pub mod mount;
pub mod network;
pub mod notices;
pub mod oauth;
pub mod payments;
mod percent;
mod single_flight;
pub mod sources;
pub mod state_location;
pub mod tls_client;
mod token_buckets;
pub mod watches;
pub mod web;
pub mod web_origin;
mod webhook;
