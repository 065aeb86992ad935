//! The doors: what a browser or a client reaches over HTTP.

pub mod ansi;
pub mod assets;
pub mod dashboard;
pub mod graph;
pub mod host;
pub mod humane;
pub mod key;
pub mod markdown;
pub mod mcp;
pub mod page;
