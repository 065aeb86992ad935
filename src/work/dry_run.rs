//! What a verification does for whoever has to approve a change: the dry run of a data operation's
//! script, and what the branch changes.

use std::path::Path;
use std::sync::Arc;

use super::agent_log::AgentLog;
use super::apply_script::{SCRIPT_TIME, last_words};
use super::checks::{self, Line, Ran};
use super::env::Env;
use super::result::Stopped;
use super::run_node::{Task, stopped};
use super::verify_node::{Checked, command_detail, tail};
use super::workspace::Desk;
use crate::base::Fault;
use crate::jobs::Ctx;
use crate::projects::git::diff;
use crate::tickets::data_operation;
use crate::tickets::pipeline::rounds::has_rounds_left;
use crate::tickets::states::{ItemKind, Kind};

/// Files that are named to whoever has to approve a change.
const FILES_SHOWN: usize = 100;

/// The kind of proof of a data operation's script.
const SCRIPT: &str = "script";

/// The script of a data operation, unless it has been applied already.
pub(super) async fn script_to_try(env: &Env, task: &Task) -> Result<Option<String>, Fault> {
    if task.ticket.kind != Kind::DataOperation {
        return Ok(None);
    }
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let applied = env.db.read(move |read| data_operation::is_applied(read, tenant, ticket)).await?;
    Ok((!applied).then(|| data_operation::script(&task.ticket)))
}

/// What the branch changes, for whoever has to approve it.
pub(super) async fn changes(task: &Task, desk: &Desk) -> Result<Option<String>, Fault> {
    if !task.project.settings.approvals.land && task.ticket.kind != Kind::DataOperation {
        return Ok(None);
    }
    let base = desk.repository.tip(&desk.base).await?;
    let change = diff::summary(&desk.repository, &base, &desk.tree.head).await?;
    let mut lines = vec![format!(
        "### What changes\n\n{} files, {} lines more, {} lines less.\n",
        change.file_count, change.added, change.deleted
    )];
    lines.extend(change.files.iter().take(FILES_SHOWN).map(|file| {
        match (file.added, file.deleted) {
            (Some(added), Some(deleted)) => format!("- `{}` +{added} −{deleted}", file.path),
            _ => format!("- `{}` (not text)", file.path),
        }
    }));
    if change.file_count > FILES_SHOWN {
        lines.push(format!("- and {} more", change.file_count - FILES_SHOWN));
    }
    Ok(Some(lines.join("\n")))
}

/// Runs a data operation's script as it is run first: saying what it would do, and doing nothing.
pub(super) async fn try_script(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    tree: &Path,
    log: &AgentLog,
    script: &str,
) -> Result<Checked, Stopped> {
    let command = format!("sh {script} --dry-run");
    let line = Line { command: &command, time: SCRIPT_TIME, tree };
    let ran = checks::run(env, task, &line, log, ctx).await?;
    if ctx.cancel.is_cancelled() {
        return Err(stopped(ctx));
    }
    let mut checked = script_checked(&format!("The dry run of {script} ends well"), &command, &ran);
    checked.said = format!("{}\n\n{}", ran.ending(), fenced(&ran.tail));
    if !ran.passed() {
        checked.said = format!("{} ({})", last_words(&ran), ran.ending());
        let tail = tail(&ran);
        checked.finding = Some(format!("The dry run of {script}: {}\n{tail}", ran.ending()));
    }
    Ok(checked)
}

/// Lines of output as Markdown shows them word for word.
fn fenced(lines: &[String]) -> String {
    format!("```text\n{}\n```", lines.join("\n").replace("```", "'''"))
}

/// A run of a data operation's script, as it is proved.
pub(super) fn script_checked(claim: &str, command: &str, ran: &Ran) -> Checked {
    Checked {
        claim: claim.to_owned(),
        kind: SCRIPT,
        found: ran.verdict(),
        said: ran.ending(),
        detail: command_detail(command, ran),
        evidence: vec![ran.evidence("output")],
        answers: None,
        finding: None,
    }
}

/// What a person has to do where a dry run fails and no round of work is left.
pub(super) async fn needs_person(
    env: &Env,
    task: &Task,
    checked: &[Checked],
) -> Result<Vec<(ItemKind, String)>, Fault> {
    let ticket = task.ticket.clone();
    let failed = checked.iter().find(|one| one.kind == SCRIPT && one.finding.is_some());
    let Some(failed) = failed else { return Ok(Vec::new()) };
    if env.db.read(move |read| has_rounds_left(read, &ticket)).await? {
        return Ok(Vec::new());
    }
    let act = format!(
        "Look at what the dry run of {} says and set it right before the ticket is tried again: {}",
        data_operation::script(&task.ticket),
        failed.said
    );
    Ok(vec![(ItemKind::HumanAction, act)])
}
