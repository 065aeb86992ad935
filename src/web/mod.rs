//! The doors: what a browser or a client reaches over HTTP.

pub mod health;
pub mod host;
pub mod invoke;
pub mod key;
pub mod mcp;
pub mod schemas;
pub mod serve;
pub mod trace;
