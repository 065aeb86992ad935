//! `assay call`: one tool, through the same gate as every other caller.

use std::io::Read;

use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::output;
use super::workspace::{Flags, Workspace};
use crate::base::text::shell_word;
use crate::base::{Clock, Code, Entropy, Fault, RateLimit, RequestId};
use crate::config::PublicUrl;
use crate::contract::envelope;
use crate::projects::git::Git;
use crate::tools::{CallContext, Caller, Gate, Premises, Registry, Reply};
use crate::work::Paths;

/// Where a server listens that was told nothing else.
const DEFAULT_URL: &str = "http://127.0.0.1:7171";

/// The flags of `assay call`.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// The tool, such as `list_tickets`
    tool: String,
    /// Its arguments as a JSON object; `-` reads them from standard input
    #[arg(default_value = "{}")]
    arguments: String,
    /// The address under which people and agents reach the server, for answers that name one
    #[arg(long, value_name = "URL", env = "ASSAY_PUBLIC_URL")]
    public_url: Option<PublicUrl>,
    #[command(flatten)]
    flags: Flags,
}

/// Calls the tool and prints the envelope. A failure is printed too, and fails the command.
pub(super) fn run(args: &CallArgs) -> anyhow::Result<()> {
    let arguments = read(&args.tool, &args.arguments)?;
    let workspace = Workspace::open(&args.flags)?;
    let caller = Caller::of(workspace.actor()?);
    let (clock, entropy) = (Clock::system(), Entropy::system());
    let request: RequestId = entropy.id(clock.now());
    let premises = Premises {
        url: args.public_url.as_ref().map_or_else(|| DEFAULT_URL.to_owned(), ToString::to_string),
        mirrors: Paths::new(workspace.dir()).mirrors(),
    };
    let gate = Gate::new(workspace.db().clone(), clock, RateLimit::Off, Git::default(), premises);
    let context =
        CallContext { via: "cli", progress: None, cancel: CancellationToken::new(), request };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(gate.call(&caller, &args.tool, arguments, context));
    match outcome {
        Ok(reply) => {
            let Reply { summary, data, warnings, next } = reply;
            output::json(&envelope::success(&args.tool, &summary, data, warnings, &next))?;
            if gate.find(&args.tool)?.background && workspace.is_idle() {
                output::note(
                    "No server is running on this data directory; the ticket starts when one does.",
                );
            }
            Ok(())
        }
        Err(fault) => {
            output::json(&envelope::failure(&args.tool, &fault).1)?;
            Err(fault.into())
        }
    }
}

fn read(tool: &str, text: &str) -> anyhow::Result<Value> {
    let text = match text {
        "-" => {
            let mut sent = String::new();
            std::io::stdin().read_to_string(&mut sent).context("standard input cannot be read")?;
            sent
        }
        text => text.to_owned(),
    };
    let sent: Option<Value> = serde_json::from_str(&text).ok();
    let usable = match &sent {
        Some(Value::Object(_) | Value::Null) => true,
        // Some shells hand an object over in quotes.
        Some(Value::String(text)) => serde_json::from_str::<Map<String, Value>>(text).is_ok(),
        _ => false,
    };
    sent.filter(|_| usable).ok_or_else(|| no_object(tool, &text).into())
}

/// What to write in place of arguments that are no JSON object: the same value under the name of
/// the tool's one required argument, or else the tool's example.
fn no_object(tool: &str, text: &str) -> Fault {
    let registry = Registry::new();
    let said = "The arguments must be one JSON object.";
    let Some(entry) = registry.find(tool) else { return Fault::new(Code::InvalidArgument, said) };
    let required = entry.input_schema.get("required").and_then(Value::as_array);
    let value = text.trim().trim_matches('"');
    let sole = match required.map(Vec::as_slice) {
        Some([Value::String(name)]) if !value.is_empty() && !value.contains(['{', '[']) => {
            Some(format!("{{{}: {}}}", Value::from(name.as_str()), Value::from(value)))
        }
        _ => None,
    };
    let right = sole.unwrap_or_else(|| entry.example.to_owned());
    let said = format!("{said} Write: assay call {tool} {}", shell_word(&right));
    Fault::new(Code::InvalidArgument, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_value_is_answered_with_the_object_to_write() {
        let said = |tool, text| read(tool, text).expect_err("it is no object").to_string();

        let right = r#"assay call get_ticket '{"ticket": "SITE-1"}'"#;
        assert!(said("get_ticket", "SITE-1").ends_with(right));
        assert!(said("get_ticket", "\"SITE-1\"").ends_with(right));
        assert!(said("dispatch_ticket", "{\"title\": }").contains("assay call dispatch_ticket '{"));
        assert!(said("fly", "1").ends_with("one JSON object."));
        assert!(read("get_ticket", "{}").is_ok());
    }
}
