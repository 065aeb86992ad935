//! The command line, one file a subcommand.

pub mod agent_shim;
pub mod demo_agent;
