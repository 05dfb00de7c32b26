//! The Model Context Protocol: the operations as tools for agents, over HTTP and over standard input and output. The
//! only place that knows JSON-RPC.
//!
//! `jsonrpc` reads and writes messages, `version` knows the versions, `headers` which one a request speaks and whether
//! its headers agree with its body. `tools` are the rows of the operations table with a tool's name, `schemas` what they
//! take and return, `arguments` makes a call of a tool's arguments; `results`, `texts` and `slices` make a result of its
//! outcome. `resources`, `prompts` and `completion` are what the protocol has beside tools. `methods` answers a
//! request, whatever carries it, for the one `server`; `origin` and `limit` say whose and how many, `door` is the way in over HTTP, `stdio` over pipes, `forward` what pipes
//! send on to another server.
//!
//! Calls enter through [`Service::call`](crate::api::service::Service::call), as those of REST do: they are let in,
//! limited and paid for alike.

mod arguments;
mod completion;
mod door;
mod forward;
mod headers;
mod jsonrpc;
mod limit;
mod methods;
mod origin;
mod prompts;
mod resources;
mod results;
mod schemas;
mod server;
mod slices;
mod stdio;
mod texts;
mod tools;
mod version;

pub use door::{MCP_PATH, McpDoor, McpSettings};
pub use forward::Forward;
pub use jsonrpc::RpcError;
pub use server::{ExtraAnswer, Extras, Mcp};
pub use stdio::{Backend, Local, serve};
pub use tools::Names;
