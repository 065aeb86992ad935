//! The doors: what a browser or a client reaches over HTTP.

pub mod ansi;
pub mod assets;
pub mod auth;
pub mod ci;
pub mod dashboard;
pub mod framing;
pub mod fresh_keys;
pub mod graph;
pub mod health;
pub mod host;
pub mod humane;
pub mod invoke;
pub mod key;
pub mod live_logs;
pub mod log_file;
pub mod markdown;
pub mod mcp;
pub mod page;
pub mod proxies;
mod reading;
pub mod schemas;
pub mod serve;
pub mod site;
pub mod sse;
pub mod trace;
pub mod trouble;
pub mod uploads;
