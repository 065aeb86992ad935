//! Verification: runs the project's commands and answers every assertion of the contract. Each
//! check leaves a proof, written in the transaction that records what the node came to.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::agent_log::AgentLog;
use super::checks::{self, Line, Ran};
use super::dry_run::{changes, needs_person, script_to_try, try_script};
use super::env::Env;
use super::result::{Came, Stopped};
use super::run_node::{Task, stopped};
use super::workspace::Desk;
use crate::base::Fault;
use crate::jobs::Ctx;
use crate::projects::git::discard::discard;
use crate::projects::settings::VerifyCommand;
use crate::proofs::{self, Evidence, NewProof, Verdict as Found};
use crate::store::Tx;
use crate::tickets::contract::{self, Assertion, Check};
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::Left;
use crate::tickets::pipeline::rounds::has_rounds_left;
use crate::tickets::states::AssertionState;

/// Lines of a failed check's output that the next round reads.
const TAIL_LINES: usize = 25;

/// One thing that was checked.
pub(super) struct Checked {
    pub(super) claim: String,
    pub(super) kind: &'static str,
    pub(super) found: Found,
    pub(super) said: String,
    pub(super) detail: String,
    pub(super) evidence: Vec<Evidence>,
    /// The assertion it answers, with the answer.
    pub(super) answers: Option<(Assertion, AssertionState)>,
    /// What the next round has to set right.
    pub(super) finding: Option<String>,
}

pub(super) async fn run(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
) -> Result<Came, Stopped> {
    discard(&desk.repository, &desk.place, &desk.tree.head).await?;
    let assertions = of_ticket(env, task).await?;
    let script = script_to_try(env, task).await?;
    if assertions.is_empty() && task.project.settings.verify.is_empty() && script.is_none() {
        let left = Left {
            summary: Some("There is nothing to verify by: no commands, no assertions.".to_owned()),
            report: changes(task, desk).await?,
            head: Some(desk.tree.head.as_str().to_owned()),
            ..Left::default()
        };
        return Ok(Came::verdict(Verdict::NotNeeded, left));
    }
    let log = AgentLog::start(env, task).await?;
    let checked = check_all(env, ctx, task, desk, &log, (script, assertions)).await;
    let logged = log.keep(env, ctx).await;
    let came = conclude(env, task, desk, checked).await;
    came.map(|came| came.logged(logged)).map_err(|stopped| stopped.logged(logged))
}

/// From what was checked to what the node came to. What lands is what was looked at, whatever the
/// commands left in the work tree.
async fn conclude(
    env: &Env,
    task: &Task,
    desk: &Desk,
    checked: Result<Vec<Checked>, Stopped>,
) -> Result<Came, Stopped> {
    let checked = checked?;
    discard(&desk.repository, &desk.place, &desk.tree.head).await?;
    let verdict = judge(env, task, &checked).await?;
    let mut left = told(&checked, &verdict);
    left.head = Some(desk.tree.head.as_str().to_owned());
    if let Some(changes) = changes(task, desk).await? {
        let report = left.report.take().unwrap_or_default();
        left.report = Some(format!("{report}\n\n{changes}"));
    }
    let items = match &verdict {
        Verdict::NotYet { .. } => needs_person(env, task, &checked).await?,
        _ => Vec::new(),
    };
    Ok(Came { items, checked, ..Came::verdict(verdict, left) })
}

async fn of_ticket(env: &Env, task: &Task) -> Result<Vec<Assertion>, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    env.db.read(move |read| contract::assertions(read, tenant, ticket)).await
}

async fn check_all(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
    log: &AgentLog,
    (script, assertions): (Option<String>, Vec<Assertion>),
) -> Result<Vec<Checked>, Stopped> {
    let mut checked = Vec::new();
    if let Some(script) = script {
        checked.push(try_script(env, ctx, task, &desk.tree.path, log, &script).await?);
    }
    for command in &task.project.settings.verify {
        let ran = command_run(env, ctx, task, &desk.tree.path, log, command).await?;
        checked.push(of_command(command, &ran));
    }
    for assertion in assertions {
        checked.push(answer(env, ctx, task, &desk.tree.path, log, assertion).await?);
    }
    Ok(checked)
}

/// Runs one of the project's verify commands.
pub(super) async fn command_run(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    tree: &Path,
    log: &AgentLog,
    command: &VerifyCommand,
) -> Result<Ran, Stopped> {
    let time = Duration::from_secs(command.timeout_secs);
    let line = Line { command: &command.command, time, tree };
    let ran = checks::run(env, task, &line, log, ctx).await?;
    if ctx.cancel.is_cancelled() {
        return Err(stopped(ctx));
    }
    Ok(ran)
}

/// Whether there is anything to check in another tree.
pub(super) async fn has_checks(env: &Env, task: &Task) -> Result<bool, Fault> {
    if !task.project.settings.verify.is_empty() {
        return Ok(true);
    }
    Ok(of_ticket(env, task).await?.iter().any(holds_by_machine))
}

/// Whether an assertion was confirmed by something that can be run again.
fn holds_by_machine(assertion: &Assertion) -> bool {
    let can_run = matches!(assertion.check, Check::Command(_) | Check::File { .. });
    can_run && assertion.state == AssertionState::Confirmed
}

/// Checks everything in another tree, such as the result of a merge. Says what fails there that a
/// landing needs: a command, or an assertion that was confirmed before.
pub(super) async fn check_in(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    tree: &Path,
    log: &AgentLog,
) -> Result<Option<String>, Stopped> {
    let mut checked = Vec::new();
    for command in &task.project.settings.verify {
        let ran = command_run(env, ctx, task, tree, log, command).await?;
        let mut one = of_command(command, &ran);
        one.claim = format!("{} on the moved base", one.claim);
        checked.push(one);
    }
    for assertion in of_ticket(env, task).await?.into_iter().filter(holds_by_machine) {
        let mut one = answer(env, ctx, task, tree, log, assertion).await?;
        one.claim = format!("{} (on the moved base)", one.claim);
        checked.push(one);
    }
    let findings: Vec<String> = checked.iter().filter_map(|one| one.finding.clone()).collect();
    let of = task.clone();
    env.db.write(move |tx| prove(tx, &of, &checked)).await?;
    Ok((!findings.is_empty()).then(|| findings.join("\n\n")))
}

pub(super) fn of_command(command: &VerifyCommand, ran: &Ran) -> Checked {
    let tail = tail(ran);
    let finding = (!ran.passed()).then(|| {
        format!("The check {:?} ({}): {}\n{tail}", command.name, command.command, ran.ending())
    });
    Checked {
        claim: format!("{} passes", command.name),
        kind: "command",
        found: ran.verdict(),
        said: ran.ending(),
        detail: command_detail(&command.command, ran),
        evidence: vec![ran.evidence("output")],
        answers: None,
        finding,
    }
}

/// The end of what a check printed.
pub(super) fn tail(ran: &Ran) -> String {
    ran.tail[ran.tail.len().saturating_sub(TAIL_LINES)..].join("\n")
}

pub(super) fn command_detail(command: &str, ran: &Ran) -> String {
    let exit_code = match ran.exit {
        crate::tickets::runner::Exit::Code(code) => Some(code),
        _ => None,
    };
    let command = crate::base::redact::redact(command);
    json!({ "command": command, "exitCode": exit_code, "ending": ran.ending(),
        "durationMs": ran.duration_ms })
    .to_string()
}

/// Checks one assertion.
async fn answer(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    tree: &Path,
    log: &AgentLog,
    assertion: Assertion,
) -> Result<Checked, Stopped> {
    let (state, said, kind, detail, evidence) = match &assertion.check {
        Check::Command(command) => {
            let line = Line::of_assertion(command, tree);
            let ran = checks::run(env, task, &line, log, ctx).await?;
            if ctx.cancel.is_cancelled() {
                return Err(stopped(ctx));
            }
            let confirmed =
                if ran.passed() { AssertionState::Confirmed } else { AssertionState::Unconfirmed };
            let said = format!("`{command}`: {}", ran.ending());
            let detail = command_detail(command, &ran);
            (confirmed, said, "command", detail, vec![ran.evidence("output")])
        }
        Check::File { path, contains } => {
            let (state, said) = checks::look_at_file(tree, path, contains.as_deref()).await;
            log.say(env, format!("{}: {said}", assertion.text)).await;
            (state, said, "file", json!({ "path": path }).to_string(), Vec::new())
        }
        Check::Person(what) => {
            let said = format!("A person has to look: {what}");
            (AssertionState::Unconfirmed, said, "person", "{}".to_owned(), Vec::new())
        }
        Check::None => {
            let said = "The contract names no way to check it.".to_owned();
            (AssertionState::Unconfirmed, said, "none", "{}".to_owned(), Vec::new())
        }
    };
    let can_be_set_right = matches!(kind, "command" | "file");
    let finding = (state != AssertionState::Confirmed && can_be_set_right)
        .then(|| format!("The assertion {:?} does not hold. {said}", assertion.text));
    Ok(Checked {
        claim: assertion.text.clone(),
        kind,
        found: match state {
            AssertionState::Confirmed => Found::Proven,
            AssertionState::Partial | AssertionState::Unconfirmed if can_be_set_right => {
                Found::Failed
            }
            _ => Found::Inconclusive,
        },
        said,
        detail,
        evidence,
        answers: Some((assertion, state)),
        finding,
    })
}

/// A failed command never lands. A failed assertion asks for another round while there is one, and
/// then lands as a gap that is told, unless the project wants everything confirmed.
async fn judge(env: &Env, task: &Task, checked: &[Checked]) -> Result<Verdict, Fault> {
    let findings: Vec<&str> = checked.iter().filter_map(|one| one.finding.as_deref()).collect();
    let command_failed = checked.iter().any(|one| one.answers.is_none() && one.finding.is_some());
    let strict = task.project.settings.landing.require_fully_verified;
    if findings.is_empty() {
        let open = checked.iter().any(|one| one.found != Found::Proven);
        let reason = "The project lands only what is fully verified, and some assertions need a \
                      person to look.";
        let refused = Verdict::Bad { reason: reason.to_owned() };
        return Ok(if open && strict { refused } else { Verdict::Good });
    }
    let ticket = task.ticket.clone();
    let more = env.db.read(move |read| has_rounds_left(read, &ticket)).await?;
    if command_failed || strict || more {
        return Ok(Verdict::NotYet { findings: findings.join("\n\n") });
    }
    Ok(Verdict::Good)
}

fn told(checked: &[Checked], verdict: &Verdict) -> Left {
    let proven = checked.iter().filter(|one| one.found == Found::Proven).count();
    let lines: Vec<String> = checked
        .iter()
        .map(|one| format!("- **{}** {}: {}", one.found, one.claim, one.said))
        .collect();
    let outcome = if *verdict == Verdict::Good { "Passed" } else { "Not passed" };
    Left {
        summary: Some(format!("{outcome}: {proven} of {} checks confirmed.", checked.len())),
        report: Some(lines.join("\n")),
        ..Left::default()
    }
}

/// Writes a proof for each check, and its answer to the assertion.
pub(super) fn prove(tx: &mut Tx<'_>, task: &Task, checked: &[Checked]) -> Result<(), Fault> {
    for one in checked {
        let proof = proofs::record(
            tx,
            task.tenant,
            &NewProof {
                project: task.project.id,
                ticket: Some(task.ticket.id),
                node: Some(task.node.id),
                kind: one.kind,
                claim: &one.claim,
                verdict: one.found,
                detail: &one.detail,
                evidence: &one.evidence,
            },
        )?;
        if let Some((assertion, state)) = &one.answers {
            contract::settle(tx, task.tenant, assertion.id, *state, &one.said, Some(proof))?;
        }
    }
    Ok(())
}
