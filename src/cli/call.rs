//! `assay call`: one tool, through the same gate as every other caller.

use std::io::Read;

use anyhow::Context;
use clap::Args;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::output;
use super::workspace::{Flags, Workspace};
use crate::base::{Clock, Entropy, RequestId};
use crate::contract::envelope;
use crate::projects::git::Git;
use crate::tools::{CallContext, Caller, Gate, RateLimit};

/// The flags of `assay call`.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// The tool, such as `list_tickets`
    tool: String,
    /// Its arguments as a JSON object; `-` reads them from standard input
    #[arg(default_value = "{}")]
    arguments: String,
    #[command(flatten)]
    flags: Flags,
}

/// Calls the tool and prints the envelope. A failure is printed too, and fails the command.
pub(super) fn run(args: &CallArgs) -> anyhow::Result<()> {
    let arguments = read(&args.arguments)?;
    let workspace = Workspace::open(&args.flags)?;
    let caller = Caller::of(workspace.actor()?);
    let (clock, entropy) = (Clock::system(), Entropy::system());
    let request: RequestId = entropy.id(clock.now());
    let gate = Gate::new(workspace.db().clone(), clock, RateLimit::Off, Git::default());
    let context =
        CallContext { via: "cli", progress: None, cancel: CancellationToken::new(), request };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(gate.call(&caller, &args.tool, arguments, context));
    match outcome {
        Ok(reply) => {
            let said = envelope::success(
                &args.tool,
                &reply.summary,
                &reply.data,
                &reply.warnings,
                &reply.next,
            );
            output::json(&said)
        }
        Err(fault) => {
            output::json(&envelope::failure(&args.tool, &fault).1)?;
            Err(fault.into())
        }
    }
}

fn read(text: &str) -> anyhow::Result<Value> {
    let text = match text {
        "-" => {
            let mut sent = String::new();
            std::io::stdin().read_to_string(&mut sent).context("standard input cannot be read")?;
            sent
        }
        text => text.to_owned(),
    };
    serde_json::from_str(&text).context("the arguments are not JSON")
}
