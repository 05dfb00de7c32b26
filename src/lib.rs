//! Hornbook as a library: what the binary, its tests and its benches share.

pub mod accounts;
pub mod admin;
pub mod api;
pub mod bench;
mod byte_cache;
pub mod client;
pub mod clock;
pub mod config;
mod decimal;
pub mod door;
pub mod formation;
pub mod hex;
pub mod http;
pub mod log;
pub mod mcp;
pub mod metrics;
pub mod network;
pub mod notices;
pub mod payments;
mod percent;
pub mod random;
mod rate;
pub mod search;
pub mod sources;
pub mod state;
pub mod tls_client;
pub mod web;
