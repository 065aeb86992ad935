//! The integration tests: one binary, a file or folder a subject.
#![expect(clippy::unwrap_used, reason = "a test that unwraps says where it broke")]

mod accounts;
mod acp_agent;
mod backups;
mod claims;
mod cli;
mod contract;
mod crash;
#[path = "../load/fates/mod.rs"]
mod fates;
mod git;
mod golden;
mod harness;
mod hostile;
mod jobs;
mod load;
mod mcp;
mod notices;
mod pipeline;
mod projects;
mod runner;
mod schema;
mod sim;
mod sql;
mod store;
#[path = "../load/storm/mod.rs"]
mod storm;
mod tickets;
mod tidy;
mod tools;
mod web;
