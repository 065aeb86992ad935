//! Runs the script of a data operation on live data, once, after a person has approved it. That it
//! is about to run is on record before it starts. A run that nobody saw the end of is never
//! repeated by itself: a person says what became of it.

use std::sync::Arc;
use std::time::Duration;

use super::agent_log::AgentLog;
use super::checks::{self, Line, Ran};
use super::dry_run::script_checked;
use super::env::Env;
use super::result::{Came, Stopped, To, Why};
use super::run_node::{Task, stopped};
use super::verify_node::prove;
use super::workspace::Desk;
use crate::base::stops::{self, Stop};
use crate::base::{Fault, QuestionId};
use crate::jobs::Ctx;
use crate::projects::git::discard::discard;
use crate::store::Read;
use crate::tickets::data_operation::{self, RunState};
use crate::tickets::node;
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::people::{WAS_APPLIED, WAS_NOT_APPLIED};
use crate::tickets::pipeline::record::{Left, is_current};
use crate::tickets::questions::{self, Asking};
use crate::tickets::states::{ItemKind, NodeKind, Pause};

/// How long the script may take, dry or not.
pub(super) const SCRIPT_TIME: Duration = Duration::from_hours(2);

/// Applies the ticket's script if that is still to be done. `None` where the ticket may land.
pub(super) async fn apply(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
    log: &AgentLog,
) -> Result<Option<Came>, Stopped> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let newest = env.db.read(move |read| data_operation::newest(read, tenant, ticket)).await?;
    match newest.map(|run| run.state) {
        Some(RunState::Applied) => return Ok(None),
        Some(RunState::Intended) => return Ok(Some(unclear(task))),
        Some(RunState::Failed | RunState::Abandoned) | None => {}
    }
    intend(env, task, desk).await?;
    stops::reach(Stop::ScriptIntended);
    let script = data_operation::script(&task.ticket);
    let command = format!("sh {script}");
    let line = Line { command: &command, time: SCRIPT_TIME, tree: &desk.tree.path };
    let ran = checks::run(env, task, &line, log, ctx).await?;
    if ctx.cancel.is_cancelled() {
        // The next start finds a run without an end, and asks.
        return Err(stopped(ctx));
    }
    stops::reach(Stop::ScriptEnded);
    settle(env, task, &script, &ran).await?;
    discard(&desk.repository, &desk.place, &desk.tree.head).await?;
    Ok((!ran.passed()).then(|| failed(&script, &ran)))
}

/// Writes down that the script is about to run, unless the approval or the ticket is gone.
async fn intend(env: &Env, task: &Task, desk: &Desk) -> Result<(), Stopped> {
    let (node, ticket) = (task.node.clone(), task.ticket.id);
    let (tenant, head) = (task.tenant, desk.tree.head.as_str().to_owned());
    let written = env.db.write(move |tx| {
        if !is_current(tx, &node)? {
            return Ok(false);
        }
        let Some(approval) = approval(tx, &node)? else { return Ok(false) };
        data_operation::intend(tx, tenant, ticket, approval, &head)?;
        Ok(true)
    });
    if written.await? { Ok(()) } else { Err(Why::Cancelled.into()) }
}

/// The approval that allows this run: of the verification that came last.
fn approval(read: &Read<'_>, land: &node::Node) -> Result<Option<QuestionId>, Fault> {
    let nodes = node::list(read, land.tenant, land.ticket)?;
    let checked = nodes.iter().rev().find(|n| n.kind == NodeKind::Verification && n.is_done());
    let about = checked.map_or(land.id, |checked| checked.id);
    questions::approved(read, land.tenant, land.ticket, about, Pause::Apply)
}

async fn settle(env: &Env, task: &Task, script: &str, ran: &Ran) -> Result<(), Fault> {
    let state = if ran.passed() { RunState::Applied } else { RunState::Failed };
    let checked = script_checked(&format!("{script} is applied"), &format!("sh {script}"), ran);
    let (of, tenant, ticket) = (task.clone(), task.tenant, task.ticket.id);
    let write = move |tx: &mut crate::store::Tx<'_>| {
        data_operation::settle(tx, tenant, ticket, state)?;
        prove(tx, &of, &[checked])
    };
    env.db.write(write).await
}

/// The last line that a script printed, as that mostly says why it ended.
pub(super) fn last_words(ran: &Ran) -> &str {
    ran.tail.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or("")
}

fn failed(script: &str, ran: &Ran) -> Came {
    let said = format!("{script} did not end well on live data ({}).", ran.ending());
    let mut came = Came::bad(format!("{said} {}", last_words(ran)).trim_end().to_owned());
    let act = format!(
        "{script} ran on live data and did not end well, so a part of it may be done. Look at its \
         output and at the data before the ticket is tried again."
    );
    came.items.push((ItemKind::HumanAction, act));
    came
}

/// Asks what became of a run that was cut short.
fn unclear(task: &Task) -> Came {
    let script = data_operation::script(&task.ticket);
    let text = format!(
        "The server went away while {script} was running on live data, or about to. It is not run \
         again by itself. Look at the data: was it applied?"
    );
    let choices = vec![WAS_APPLIED.to_owned(), WAS_NOT_APPLIED.to_owned()];
    let asking = Asking { text, choices, pause: Some(Pause::Unclear), secret: None };
    Came { to: To::Question(asking), ..Came::verdict(Verdict::Good, Left::default()) }
}
