//! The doors.

pub mod host;
pub mod key;
pub mod mcp;
