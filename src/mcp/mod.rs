//! The Model Context Protocol: the operations as tools for agents, over HTTP and over standard input and
//! output. Only this module uses JSON-RPC.
//!
//! - `jsonrpc` reads and writes messages, `version` lists the versions, and `headers` finds the version
//!   of a request and checks that its headers agree with its body.
//! - `tools` are the rows of the operations table that have a tool name, `schemas` describes what they
//!   take and return, `names` replaces names and citations by ids, and `arguments` turns a tool's
//!   arguments into those of a call.
//! - `results`, `texts` and `slices` turn the outcome of a call into a result.
//! - `resources`, `prompts` and `completion` are the other features of the protocol.
//! - `methods` answers a request from any transport, `instructions` is what a model reads first, and
//!   `server` is the server that all transports share.
//! - `origin` checks hosts and origins, and `limit` limits how often a client may send.
//! - `mount` is the transport over HTTP, `stdio` the one over standard input and output, and `forward`
//!   passes messages from `stdio` on to another server.
//!
//! Calls enter through [`Service::call`](crate::api::service::Service::call), as those of REST do. They
//! are admitted, limited and charged in the same way.

mod arguments;
mod completion;
mod forward;
mod headers;
mod http_transport;
mod instructions;
mod jsonrpc;
mod limit;
mod methods;
mod names;
mod origin;
mod prompts;
mod resources;
mod results;
mod schemas;
mod server;
mod stdio;
mod text_parts;
mod texts;
mod tools;
mod version;

pub use forward::Forward;
pub use http_transport::{MCP_PATH, McpMount, McpSettings};
pub use jsonrpc::RpcError;
pub use server::{ExtraAnswer, Extras, Mcp};
pub use stdio::{Backend, Local, serve};
pub use tools::ToolNameStyle;
