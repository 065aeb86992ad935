//! How a failure is said outside: one table of codes and the three dialects made from it, their
//! JSON Schemas, and the entries of the error reference. Nothing here knows a domain or a door.
//!
//! Every dialect reads a [`crate::base::Fault`] and says it in full; which one a caller hears is
//! the door's choice. All three redact what they say in the same way, before they cut it.

pub mod code;
pub mod envelope;
pub mod error_object;
pub mod jsonrpc;
pub mod reference;
pub mod schema;
mod spoken;

pub use code::{Wire, wire};
