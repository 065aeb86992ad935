//! The `assay` program.

use std::ffi::OsString;
use std::process::ExitCode;

use assay::cli::{agent_shim, demo_agent};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.split_first() {
        Some((name, rest)) if name == "agent-shim" => agent_shim::run(rest),
        Some((name, rest)) if name == "demo-agent" => demo_agent::run(rest),
        _ => ExitCode::SUCCESS,
    }
}
