//! The command line, one file a subcommand. The commands work beside a running server, on the
//! same database.

pub mod agent_shim;
mod backup;
mod bridge;
mod call;
mod demo;
pub mod demo_agent;
mod key;
mod mail;
mod output;
mod password;
mod project;
mod project_set;
mod proof;
mod serve;
mod tenant;
mod user;
mod webhook;
mod webhook_view;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What a command ends with.
type Done = anyhow::Result<()>;

#[derive(Parser)]
#[command(name = "assay", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the server
    Serve(crate::config::ServeArgs),
    /// Speak MCP on standard input and output, for clients that know no other way
    Mcp(bridge::BridgeArgs),
    /// Call a tool and print its answer
    Call(call::CallArgs),
    /// Make, list and revoke API keys
    #[command(subcommand)]
    Key(key::Command),
    /// Add people, list them, change their passwords
    #[command(subcommand)]
    User(user::Command),
    /// Make projects, look at them, change them
    #[command(subcommand)]
    Project(project::Command),
    /// Tell others of a project's events over HTTP
    #[command(subcommand)]
    Webhook(webhook::Command),
    /// Try out whether mails arrive
    #[command(subcommand)]
    Mail(mail::Command),
    /// Check proofs that were exported
    #[command(subcommand)]
    Proof(proof::Command),
    /// Copy the data directory, beside a server that may be at work
    Backup(backup::BackupArgs),
    /// Make a data directory of a backup
    Restore(backup::RestoreArgs),
    /// Make and list tenants
    #[command(subcommand)]
    Tenant(tenant::Command),
}

/// Runs the program with its arguments, the program's own name first. Exit code 0 is success, 1
/// failure, 2 a command line that says nothing usable.
pub fn run(args: &[OsString]) -> ExitCode {
    // These two are started by the server, and take what follows as it stands.
    match args.get(1).and_then(|name| name.to_str()) {
        Some("agent-shim") => return agent_shim::run(&args[2..]),
        Some("demo-agent") => return demo_agent::run(&args[2..]),
        _ => {}
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // With nobody to print to, the code still tells.
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    crate::telemetry::start(log_filter().as_deref());
    let done = match cli.command {
        Command::Serve(args) => serve::run(args),
        Command::Mcp(args) => bridge::run(&args),
        Command::Call(args) => call::run(&args),
        Command::Key(command) => key::run(command),
        Command::User(command) => user::run(command),
        Command::Project(command) => project::run(command),
        Command::Webhook(command) => webhook::run(command),
        Command::Mail(command) => mail::run(command),
        Command::Proof(command) => proof::run(&command),
        Command::Backup(args) => backup::take(&args),
        Command::Restore(args) => backup::restore(&args),
        Command::Tenant(command) => tenant::run(command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::failure(&error),
    }
}

/// What is logged: `ASSAY_LOG`. Clap reads every other setting; this one is wanted before it.
#[expect(clippy::disallowed_methods, reason = "a setting that has no flag, for it comes first")]
fn log_filter() -> Option<String> {
    std::env::var("ASSAY_LOG").ok()
}
