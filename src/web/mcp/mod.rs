//! The MCP door: `/api/mcp` and `/mcp`, one address for three kinds of visitor. A browser or a
//! script that asks for JSON reads the public catalog; a client that posts `{tool, args}` gets the
//! envelope; everything else is the Model Context Protocol over Streamable HTTP, which `rmcp`
//! speaks in both of its eras.
//!
//! Nothing is remembered between two requests, so a restart of the server is not noticed and a
//! session id of an earlier process is as good as any. The id that `initialize` hands out serves
//! one purpose: a later cancellation names its call by it.
//!
//! `?tools=tickets,jobs` narrows the list of tools by family or name, and
//! `?errors=envelope|jsonrpc|object` chooses one dialect of failure for all of them.

mod address;
pub(super) mod answer;
pub(super) mod body;
mod calls;
mod catalog;
mod door;
mod handler;
mod plain;
mod prompts;
mod resources;
mod transport;

pub use address::{Address, Dialect};
pub use door::{Door, Invoke, Setting, routes};
pub use transport::{Sessions, Transport};
