//! What callers may ask. Every door — MCP, invoke, the command line, a button of the dashboard —
//! calls the one [`Gate`], which checks in a fixed order: find the tool, the caller's scope, the
//! plan, the rate limit, the arguments, the confirmation; then it runs the tool, audits and
//! replies.
//!
//! A tool is one file in its family's folder and one line in [`registry`]; its schema, catalog
//! entry, documentation page, scope and quota all come from that definition.

pub mod arguments;
mod check;
pub mod context;
pub mod gate;
pub mod jobs;
pub mod projects;
mod rate;
pub mod registry;
pub mod schema;
pub mod tickets;
pub mod tool;

pub use context::{CallContext, Cx, Premises, Step};
pub use gate::{Caller, Gate};
pub use registry::Registry;
pub use tool::{Done, Effect, Entry, Family, Reply, Tool};
