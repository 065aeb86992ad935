//! What the server does by itself: one file a background job, and the few steps that several share.
//! Here the domains meet: a node of a ticket runs an agent, git, checks and proofs.

mod agent_log;
mod agent_node;
mod apply_script;
mod attached;
mod checks;
mod clear;
mod deploy_node;
mod dry_run;
pub mod editors;
pub mod env;
mod exhibit;
mod insist;
mod land_node;
mod leaks;
mod mail_text;
mod merged;
pub mod model;
mod orphans;
mod recorded;
mod repair_node;
mod repairs_left;
mod reported;
mod result;
mod run_node;
mod secrets;
mod send_mail;
pub mod smtp;
mod sweep_notices;
mod sweep_tickets;
mod sweep_uploads;
mod tell_webhook;
mod try_agent;
mod verify_node;
pub mod webhook_body;
mod workspace;

use std::sync::Arc;
use std::time::Duration;

pub use editors::Bench;
pub use env::{Env, Paths};
pub use orphans::{end_orphans, remove_runs};

use crate::accounts;
use crate::base::Fault;
use crate::events::Event;
use crate::jobs::{Ending, JobError, Registry};
use crate::notices::{SendMail, TellWebhook};
use crate::projects::tries::TryAgent;
use crate::store::Tx;
use crate::tickets::jobs::{RunNode, SweepTickets};
use crate::tickets::node;
use crate::tickets::pipeline::record;

/// How often tickets that stand still are looked for.
const SWEEP_EVERY: Duration = Duration::from_mins(1);

/// What is noted of a node that is put back because the server stops.
const SERVER_STOPS: &str = "the server stops, and its next start goes on";

/// Everything that background work does, by kind.
#[must_use]
pub fn registry(env: &Arc<Env>) -> Registry {
    let (nodes, webhooks, mails) = (env.clone(), env.clone(), env.clone());
    let (sweeps, tries) = (env.clone(), env.clone());
    Registry::new()
        .on(move |ctx, job: RunNode| {
            let env = nodes.clone();
            async move { run_node::run(&env, &ctx, job).await.map(|()| None) }
        })
        .at_end::<RunNode, _>(node_lost)
        .on(move |ctx, job: TellWebhook| {
            let env = webhooks.clone();
            async move { tell_webhook::run(&env, &ctx, job).await.map(|()| None) }
        })
        .on(move |ctx, job: SendMail| {
            let env = mails.clone();
            async move { send_mail::run(&env, &ctx, job).await.map(|()| None) }
        })
        .on(move |_, _: SweepTickets| {
            let env = sweeps.clone();
            async move {
                editors::lapse(&env).await?;
                sweep_tickets::run(&env).await?;
                clear::sweep(&env).await;
                sweep_tickets::forget_words(&env).await?;
                env.db.write(accounts::sessions::sweep).await?;
                sweep_uploads::run(&env).await?;
                sweep_notices::run(&env).await?;
                Ok::<_, JobError>(None)
            }
        })
        .every::<SweepTickets>(SWEEP_EVERY)
        .on(move |ctx, job: TryAgent| {
            let env = tries.clone();
            async move { try_agent::run(&env, &ctx, job).await }
        })
        .at_end::<TryAgent, _>(|tx, job, _| {
            tx.emit(Event::JobEnded { tenant: job.tenant.uuid() });
            Ok(())
        })
}

/// A node whose job was given up has failed, and one whose job was handed back starts again,
/// whoever is left to say so.
fn node_lost(tx: &mut Tx<'_>, job: RunNode, ending: &Ending) -> Result<(), Fault> {
    let Some(tenant) = node::tenant_of(tx, job.node)? else { return Ok(()) };
    match ending {
        Ending::Failed { message } => record::lose(tx, tenant, job.node, message),
        Ending::HandedBack => match node::find(tx, tenant, job.node)? {
            Some(node) => record::put_back(tx, tenant, &node, SERVER_STOPS),
            None => Ok(()),
        },
        Ending::Cancelled => Ok(()),
    }
}
