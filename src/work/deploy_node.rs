//! Looks at what was deployed, once a ticket has landed. What it finds undoes no landing: the
//! ticket has succeeded, and a person is asked to look.

use std::sync::Arc;

use super::agent_log::AgentLog;
use super::clear;
use super::env::Env;
use super::merged::{make, remove_tree};
use super::result::{Came, Stopped};
use super::run_node::Task;
use super::verify_node::{command_run, of_command};
use super::workspace::Desk;
use crate::base::Fault;
use crate::jobs::Ctx;
use crate::projects::git::CommitId;
use crate::projects::settings::VerifyCommand;
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::Left;
use crate::tickets::states::ItemKind;
use crate::tickets::{landing, node};

pub(super) async fn run(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
) -> Result<Came, Stopped> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let landed = env.db.read(move |read| landing::landed(read, tenant, ticket)).await?;
    let commit = landed.as_ref().and_then(|landed| CommitId::parse(&landed.commit));
    let check = task.project.settings.landing.deploy_verify.as_ref();
    let came = if let (Some(check), Some(commit)) = (check, commit) {
        let timeout_secs = check.timeout_secs;
        let command = VerifyCommand {
            timeout_secs,
            ..VerifyCommand::new("The deployment", check.command.clone())
        };
        let log = AgentLog::start(env, task).await?;
        let came = look(env, ctx, task, desk, &command, &commit, &log).await;
        let logged = log.keep(env, ctx).await;
        came.map(|came| came.logged(logged)).map_err(|stopped| stopped.logged(logged))?
    } else {
        let said = "The project names no command that looks at what was deployed.".to_owned();
        let left = Left { summary: Some(said), ..Left::default() };
        Came::verdict(Verdict::NotNeeded, left)
    };
    clear::desk(env, task, desk).await;
    Ok(came)
}

async fn look(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
    command: &VerifyCommand,
    commit: &CommitId,
    log: &AgentLog,
) -> Result<Came, Stopped> {
    let (place, tree) = make(env, task, &desk.repository, commit).await?;
    let ran = command_run(env, ctx, task, &tree.path, log, command).await;
    remove_tree(&desk.repository, &place).await?;
    let ran = ran?;
    let passed = ran.passed();
    let checked = of_command(command, &ran);
    let said = format!("`{}`: {}", command.command, ran.ending());
    let verdict = if passed { Verdict::Good } else { Verdict::Bad { reason: said.clone() } };
    let left = Left { summary: Some(said.clone()), ..Left::default() };
    let mut came = Came { checked: vec![checked], ..Came::verdict(verdict, left) };
    if !passed {
        let act = format!(
            "The work landed as {}, but the deployment did not pass its check. {said}",
            commit.short()
        );
        came.items.push((ItemKind::HumanAction, act));
    }
    Ok(came)
}

/// Whether a node waits for this one, as the look at a deployment waits for the landing.
pub(super) async fn follows(env: &Env, task: &Task) -> Result<bool, Fault> {
    let node = task.node.clone();
    Ok(!env.db.read(move |read| node::waiting_for(read, &node)).await?.is_empty())
}
