//! The service without its transports: what can be asked, what it costs, and the one way in.
//!
//! From below: `error`, `json`, `parameters`, `idempotency_key` and `reply` are what calls are made of; `corpus` is the snapshot as operations see it, with the parts of maps that `map_cache` keeps, `cards` whoever takes payments by card;
//! `as_of` is the day that a call asks about, `currency` what an edition cannot say of it;
//! `operation` says what an operation is; `endpoints` has one in each file; `operations` is the table of them that
//! everything is rendered from. `visitors` lets in people without an account; `queue` is where heavy work waits for its turn, `deep` where deep searches do, `service` holds what calls share, `call` is
//! the way in for every door, `renewal` puts the next snapshot in place of the one that is served, `integrity` watches
//! over that one; `documents`, with
//! `discovery` and `openapi`, are the table as it is read by programs and people. Nothing here knows hyper or MCP, and no
//! module uses one that uses it.

pub mod as_of;
pub mod call;
pub mod cards;
pub mod corpus;
mod currency;
pub mod deep;
pub mod documents;
mod endpoints;
pub mod error;
pub mod headers;
pub mod idempotency_key;
pub mod integrity;
pub mod json;
mod map_cache;
pub(crate) mod openapi;
pub mod operation;
pub mod operations;
pub mod parameters;
mod queue;
pub mod renewal;
pub mod reply;
pub mod service;
pub mod unread;
pub mod visitors;
