//! The service without its transports: its operations, what they cost, and the only entry point for calls.
//!
//! The modules, from the bottom up:
//! - `error`, `json`, `parameters`, `idempotency_key` and `reply` are the parts of a call; `reply_text` is a
//!   string in a reply.
//! - `corpus` is the snapshot as operations use it, `examples` chooses working examples from it, `map_cache` caches
//!   parts of its maps, `cards` is the interface to a card payment provider, and `order_payments` how an
//!   accepted order is paid.
//! - `shelf` has the other editions that are kept beside the snapshot, `node_history` follows a provision through
//!   them, `edition_choice` says which edition answers a call, `pinned_snapshot` lets the caller say it, and
//!   `former_numbers` what an old number is now.
//! - `as_of` is the day that a call asks about, `edition_freshness` is what an edition does
//!   not know about that day, and `currency` says how current it is.
//! - `subject` lists the subjects of the documentation.
//! - `operation` defines what an operation is, `endpoints` has one operation in each file, and
//!   `operations` is the table of all operations, from which everything else is rendered. `replies` lists
//!   the replies, and `model_text` turns them into text for language models.
//! - `visitors` admits people without an account.
//! - `queue` is where heavy work waits for a thread, and `deep_search` has the queue for deep searches.
//! - `service` holds what calls share, and `call` is the entry point for every transport.
//! - `watch_matches` finds what a new snapshot changed among the things that keys watch.
//! - `served_snapshots` has the served snapshot and for a while the one before it, `snapshot_reload` replaces it, and
//!   `integrity` watches it for damage.
//! - `documents`, with `openapi`, renders the table for programs and people.
//!
//! Nothing here depends on hyper or MCP, and the modules have no circular dependencies.

pub mod as_of;
pub mod call;
pub mod call_terms;
pub mod cards;
pub mod corpus;
pub mod currency;
pub mod deep_search;
pub mod documents;
mod edition_choice;
mod edition_freshness;
mod endpoints;
pub mod error;
pub mod examples;
mod fields;
mod former_numbers;
pub mod headers;
pub mod idempotency_key;
pub mod integrity;
pub mod json;
mod map_cache;
pub mod model_text;
pub(crate) mod node_history;
pub(crate) mod node_lookup;
pub(crate) mod openapi;
pub mod operation;
pub mod operations;
pub mod order_payments;
pub mod own_synonyms;
pub(crate) mod page_links;
pub mod parameters;
pub mod pinned_snapshot;
mod queue;
pub mod replies;
pub mod reply;
pub mod reply_text;
mod rows;
mod served_snapshots;
pub mod service;
mod shelf;
pub mod snapshot_reload;
pub mod subject;
pub mod unread;
mod view;
pub mod visitors;
pub mod watch_matches;

pub use endpoints::check::{DOCUMENT_BODY_BYTES_MAX, body_of_document};
