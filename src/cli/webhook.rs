//! `assay webhook`: who is told of a project's events over HTTP. `add` prints the secret alone on
//! standard output, so that a script can take it as it stands.

use std::time::{Duration, Instant};

use clap::{Args, Subcommand};

use super::Done;
use super::output;
use super::webhook_view::{MessageView, WebhookView, rows};
use super::workspace::{Flags, Workspace, record};
use crate::accounts::Actor;
use crate::base::{Code, Fault, MessageId, TenantId, WebhookId};
use crate::notices::deliveries::{self, Attempt, Message};
use crate::notices::webhooks::{self, NewWebhook, Webhook};
use crate::notices::{Event, outbox};
use crate::projects;
use crate::store::Tx;

/// How long `test` and `replay` wait for the server to try.
const PATIENCE: Duration = Duration::from_secs(15);

/// How often they look.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Subcommand)]
pub(super) enum Command {
    /// Add a webhook and print the secret that signs what it is told
    Add(Add),
    /// List the webhooks of a project
    List {
        /// Its id, key, slug or name
        project: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Remove a webhook; what it was not told yet is dropped
    Remove(One),
    /// Send a test event, and say how that went
    Test(One),
    /// Show what a webhook was told, newest first, or every try of one message
    Log {
        /// Its id
        #[arg(value_name = "WEBHOOK")]
        webhook: String,
        /// Only this message
        #[arg(long, value_name = "MESSAGE")]
        message: Option<String>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Send a message again under the same id, and say how that went
    Replay {
        /// The message's id, as the log shows it
        message: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Switch a webhook on again
    Enable(One),
    /// Switch a webhook off; what it was not told yet is dropped
    Disable(One),
}

#[derive(Args)]
pub(super) struct Add {
    /// The project: its id, key, slug or name
    project: String,
    /// Where it is told: https, or http where it is private
    url: String,
    /// What it is told of, with commas between; everything where it is left out
    #[arg(long, value_name = "EVENTS", default_value = "")]
    events: String,
    /// Let it lead to this machine and its own network, which outsiders cannot reach
    #[arg(long)]
    private: bool,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Args)]
pub(super) struct One {
    /// Its id
    #[arg(value_name = "WEBHOOK")]
    webhook: String,
    #[command(flatten)]
    flags: Flags,
}

pub(super) fn run(command: Command) -> Done {
    match command {
        Command::Add(args) => add(args),
        Command::List { project, flags } => list(&project, &flags),
        Command::Remove(one) => change(&one, "remove_webhook", "is removed", webhooks::remove),
        Command::Enable(one) => change(&one, "enable_webhook", "is on", webhooks::switch_on),
        Command::Disable(one) => change(&one, "disable_webhook", "is off", switch_off),
        Command::Test(one) => test(&one),
        Command::Log { webhook, message, flags } => log(&webhook, message.as_deref(), &flags),
        Command::Replay { message, flags } => replay(&message, &flags),
    }
}

fn add(args: Add) -> Done {
    let workspace = Workspace::open(&args.flags)?;
    let actor = workspace.actor()?;
    let events = webhooks::parse_events(&args.events)?;
    let (webhook, secret) = workspace.write(move |tx| {
        let project = projects::named(tx, &actor, &args.project)?;
        let (url, by) = (args.url, actor.label());
        let new = NewWebhook { project: project.id, url, events, is_private: args.private, by };
        let made = webhooks::create(tx, actor.tenant, &new)?;
        record(tx, &actor, "create_webhook", &made.0.id.to_string())?;
        Ok(made)
    })?;
    if args.flags.json {
        let mut view = WebhookView::new(webhook, 0);
        view.secret = Some(secret.reveal().to_owned());
        return output::json(&view);
    }
    output::note(&format!(
        "Added the webhook {}. What it is told is signed with this secret, shown only this once:",
        webhook.id
    ));
    Ok(output::line(secret.reveal())?)
}

fn list(project: &str, flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let all = workspace.read(|read| {
        let project = projects::named(read, &actor, project)?;
        let with_pending = |webhook: Webhook| {
            let pending = deliveries::pending(read, actor.tenant, webhook.id)?;
            Ok(WebhookView::new(webhook, pending))
        };
        let all = webhooks::list(read, actor.tenant, project.id)?;
        all.into_iter().map(with_pending).collect::<Result<Vec<_>, Fault>>()
    })?;
    if flags.json {
        return output::json(&all);
    }
    let row = |webhook: &WebhookView| {
        let events = match webhook.events.len() {
            n if n == Event::choosable().count() => "all".to_owned(),
            n => n.to_string(),
        };
        let state = match (&webhook.off_reason, &webhook.failing_since) {
            (Some(why), _) => format!("off: {why}"),
            (None, Some(since)) => format!("failing since {since}"),
            (None, None) => "on".to_owned(),
        };
        let pending = webhook.pending.to_string();
        [webhook.id.clone(), webhook.url.clone(), events, pending, state]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    Ok(output::table(["id", "url", "events", "pending", "state"], &rows)?)
}

/// What a command does to one webhook.
type Change = fn(&mut Tx<'_>, TenantId, WebhookId) -> Result<(), Fault>;

fn switch_off(tx: &mut Tx<'_>, tenant: TenantId, id: WebhookId) -> Result<(), Fault> {
    webhooks::switch_off(tx, tenant, id, "Somebody switched it off.")
}

fn change(one: &One, action: &'static str, said: &str, change: Change) -> Done {
    let workspace = Workspace::open(&one.flags)?;
    let actor = workspace.actor()?;
    let id = webhook_id(&one.webhook)?;
    let webhook = workspace.write(move |tx| {
        let webhook = webhooks::get(tx, actor.tenant, id)?;
        change(tx, actor.tenant, id)?;
        record(tx, &actor, action, &id.to_string())?;
        Ok(webhooks::find(tx, actor.tenant, id)?.unwrap_or(webhook))
    })?;
    if one.flags.json {
        return output::json(&WebhookView::new(webhook, 0));
    }
    output::note(&format!("The webhook {id} {said}."));
    Ok(())
}

fn test(one: &One) -> Done {
    let workspace = Workspace::open(&one.flags)?;
    let actor = workspace.actor()?;
    let (id, by) = (webhook_id(&one.webhook)?, actor.clone());
    let message = workspace.write(move |tx| {
        let webhook = webhooks::get(tx, by.tenant, id)?;
        if webhook.off.is_some() {
            let said = "The webhook is off. Switch it on with `assay webhook enable`.";
            return Err(Fault::new(Code::Conflict, said));
        }
        let message = outbox::test(tx, by.tenant, webhook.project, id)?;
        deliveries::wake_now(tx, by.tenant, id)?;
        record(tx, &by, "test_webhook", &id.to_string())?;
        Ok(message)
    })?;
    tell(&workspace, &actor, message, 1, &one.flags)
}

fn replay(text: &str, flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let (id, by) = (message_id(text)?, actor.clone());
    let before = workspace.write(move |tx| {
        let message = deliveries::send_again(tx, by.tenant, id)?;
        record(tx, &by, "replay_webhook", &id.to_string())?;
        Ok(message)
    })?;
    tell(&workspace, &actor, id, before.attempts + 1, flags)
}

/// Waits until a message was tried so often, where a server runs that tries, and says how it went.
fn tell(workspace: &Workspace, actor: &Actor, id: MessageId, attempts: u32, flags: &Flags) -> Done {
    let since = Instant::now();
    let look = || {
        workspace.read(|read| {
            let message = deliveries::message(read, actor.tenant, id)?;
            Ok((message, deliveries::attempts(read, actor.tenant, id)?))
        })
    };
    let (mut message, mut made) = look()?;
    while message.attempts < attempts && !workspace.is_idle() && since.elapsed() < PATIENCE {
        std::thread::sleep(LOOK);
        (message, made) = look()?;
    }
    if flags.json {
        return output::json(&MessageView::new(&message, made));
    }
    match made.last().filter(|_| message.attempts >= attempts) {
        None => {
            output::note(&format!("The message {id} is sent as soon as the server runs."));
            Ok(())
        }
        Some(Attempt { error: Some(error), .. }) => {
            let said = format!("The message {id} was not taken: {error}");
            Err(Fault::new(Code::Upstream, said).into())
        }
        Some(tried) => {
            let (status, took) = (tried.status.unwrap_or(0), tried.took.as_millis());
            output::note(&format!("Delivered as {id}: {status} after {took} ms."));
            Ok(())
        }
    }
}

fn log(webhook: &str, message: Option<&str>, flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let id = webhook_id(webhook)?;
    let message = message.map(message_id).transpose()?;
    let all = workspace.read(|read| {
        webhooks::get(read, actor.tenant, id)?;
        let Some(message) = message else {
            let newest = deliveries::log(read, actor.tenant, id, 50)?;
            let view = |(message, last): (Message, Option<Attempt>)| {
                MessageView::new(&message, last.into_iter().collect())
            };
            return Ok(newest.into_iter().map(view).collect());
        };
        let found = deliveries::message(read, actor.tenant, message)?;
        let tries = deliveries::attempts(read, actor.tenant, message)?;
        Ok(vec![MessageView::new(&found, tries)])
    })?;
    if flags.json {
        return output::json(&all);
    }
    let rows: Vec<[String; 7]> = all.iter().flat_map(rows).collect();
    let heads = ["message", "event", "at", "state", "try", "status", "said"];
    Ok(output::table(heads, &rows)?)
}

fn webhook_id(text: &str) -> Result<WebhookId, Fault> {
    let said = "expected the id of a webhook, as `assay webhook list PROJECT` shows it.";
    WebhookId::parse(text.trim()).ok_or_else(|| Fault::argument("webhook", said))
}

fn message_id(text: &str) -> Result<MessageId, Fault> {
    let said = "expected the id of a message, as `assay webhook log WEBHOOK` shows it.";
    let text = text.trim();
    MessageId::parse(text.strip_prefix("msg_").unwrap_or(text))
        .ok_or_else(|| Fault::argument("message", said))
}
