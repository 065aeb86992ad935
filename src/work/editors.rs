//! Agents in somebody's editor: what a call of theirs needs done outside the database. The work
//! tree is made ready after the claim is on record, and before it is answered: a crash in between
//! leaves a lease that lapses.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};

use super::agent_log::remove_folder;
use super::agent_node::{take_in, told};
use super::attached;
use super::env::Env;
use super::exhibit;
use super::reported::{full_text, is_idle, judge};
use super::result::{Came, may_heal};
use super::run_node::{self, Task};
use super::workspace;
use crate::base::redact::{Redactor, redact};
use crate::base::{Code, Fault, TicketId, text};
use crate::projects::git::CommitId;
use crate::proofs::Evidence;
use crate::store::Hash;
use crate::tickets::Ticket;
use crate::tickets::claims::{self, Claim, EndedAs};
use crate::tickets::editors::{Editors, Exhibit, HandedIn, Prepared};
use crate::tickets::pending;
use crate::tickets::pipeline::claim::{self, Taken};
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record;
use crate::tickets::prompt::prompt_for_editor;
use crate::tickets::runner::report;
use crate::tickets::ticket;

/// How long a lease lasts at least while a report is taken.
const SETTLING: Duration = Duration::from_mins(10);

/// Characters of a report's own words at most.
const TEXT_MAX: usize = 64_000;

/// The server's side of agents in editors. Cheap to clone.
#[derive(Clone)]
pub struct Bench(Arc<Env>);

impl Bench {
    /// The bench of this server.
    #[must_use]
    pub const fn new(env: Arc<Env>) -> Self {
        Self(env)
    }
}

impl Editors for Bench {
    fn lapse(&self) -> BoxFuture<'_, Result<(), Fault>> {
        lapse(&self.0).boxed()
    }

    fn prepare(&self, taken: Taken) -> BoxFuture<'_, Result<Prepared, Fault>> {
        prepare(&self.0, taken).boxed()
    }

    fn submit(&self, claim: Claim, handed: HandedIn) -> BoxFuture<'_, Result<Ticket, Fault>> {
        submit(&self.0, claim, handed).boxed()
    }

    fn release(&self, claim: Claim, why: String) -> BoxFuture<'_, Result<(), Fault>> {
        let released = async move {
            if end(&self.0, &claim, EndedAs::Released, why).await? {
                return Ok(());
            }
            Err(over(&self.0, &claim).await)
        };
        released.boxed()
    }

    fn keep(
        &self,
        ticket: TicketId,
        label: String,
        exhibit: Exhibit,
        redactor: Redactor,
    ) -> BoxFuture<'_, Result<Evidence, Fault>> {
        exhibit::keep(&self.0, ticket, label, exhibit, redactor).boxed()
    }
}

/// Ends the claims whose lease is over.
pub(super) async fn lapse(env: &Env) -> Result<(), Fault> {
    for claim in env.db.glance(claims::due)? {
        let why = format!("the lease of {} lapsed", claim.holder);
        end(env, &claim, EndedAs::Lapsed, why).await?;
    }
    Ok(())
}

/// Ends a claim without a result. `false` where it was over already.
async fn end(env: &Env, claim: &Claim, how: EndedAs, why: String) -> Result<bool, Fault> {
    let log = keep_log(env, claim).await?;
    let id = (claim.tenant, claim.id);
    let ended = env
        .db
        .write(move |tx| {
            let Some(claim) = claims::find(tx, id.0, id.1)? else { return Ok(false) };
            // Its holder may have reported since it was found to be over.
            if how == EndedAs::Lapsed && claim.is_open_at(tx.now()) {
                return Ok(false);
            }
            claim::give_back(tx, &claim, how, &why, &claim::left(&claim, log))
        })
        .await?;
    if ended {
        remove_folder(&env.paths.run(claim.node, claim.attempt)).await;
    }
    Ok(ended)
}

/// Keeps what the holder said as the node's log.
async fn keep_log(env: &Env, claim: &Claim) -> Result<Option<(Hash, u64)>, Fault> {
    let said = claim.clone();
    let lines = env.db.read(move |read| claims::lines(read, &said)).await?;
    if lines.is_empty() {
        return Ok(None);
    }
    let count = lines.len() as u64;
    let bytes = (lines.join("\n") + "\n").into_bytes();
    Ok(Some((exhibit::put(env, bytes).await?, count)))
}

/// Why a claim can no longer be acted on.
async fn over(env: &Env, claim: &Claim) -> Fault {
    let (tenant, id) = (claim.tenant, claim.id);
    match env.db.read(move |read| claims::find(read, tenant, id)).await {
        Ok(found) => found.as_ref().unwrap_or(claim).over(),
        Err(fault) => fault,
    }
}

fn task(taken: &Taken) -> Task {
    Task {
        tenant: taken.ticket.tenant,
        project: taken.project.clone(),
        ticket: taken.ticket.clone(),
        node: taken.node.clone(),
    }
}

async fn prepare(env: &Arc<Env>, taken: Taken) -> Result<Prepared, Fault> {
    let fault = match set_out(env, &taken).await {
        Ok(prepared) => return Ok(prepared),
        Err(fault) => fault,
    };
    match may_heal(fault) {
        // As for a process, what time may heal is tried again, so many times.
        Ok(fault) => {
            let why = format!("it could not be made ready: {}", fault.message);
            end_unready(env, taken.claim, why).await?;
            Err(fault)
        }
        Err(fault) => {
            fail(env, taken, fault.message.clone()).await?;
            Err(fault)
        }
    }
}

async fn end_unready(env: &Env, claim: Claim, why: String) -> Result<bool, Fault> {
    let left = claim::left(&claim, None);
    let given = move |tx: &mut crate::store::Tx<'_>| {
        claim::give_back(tx, &claim, EndedAs::Lapsed, &why, &left)
    };
    env.db.write(given).await
}

/// Ends the node of a claim that can never be made ready.
async fn fail(env: &Env, taken: Taken, reason: String) -> Result<(), Fault> {
    env.db
        .write(move |tx| {
            if claims::close(tx, &taken.claim, EndedAs::Released)? {
                let left = claim::left(&taken.claim, None);
                let bad = Verdict::Bad { reason };
                record::finish(tx, taken.ticket.tenant, &taken.node, bad, &left)?;
            }
            Ok(())
        })
        .await
}

async fn set_out(env: &Arc<Env>, taken: &Taken) -> Result<Prepared, Fault> {
    let _turn = env.desks.take(&taken.ticket.id.to_string()).await;
    let desk = workspace::prepare(env, &taken.project, &taken.ticket).await?;
    let (node, claim) = (taken.node.clone(), taken.claim.clone());
    let (tenant, id, head) = (taken.ticket.tenant, taken.ticket.id, desk.tree.head.clone());
    let ticket = env
        .db
        .write(move |tx| {
            record::begin_on(tx, &node, head.as_str())?;
            claims::note_head(tx, &claim, head.as_str())?;
            ticket::get(tx, tenant, id)
        })
        .await?;
    let task = Task { ticket, ..task(taken) };
    let files = attached::lay_out(env, &task).await?.map(|laid| laid.files).unwrap_or_default();
    Ok(Prepared {
        worktree: desk.tree.path.clone(),
        branch: task.ticket.working_branch(),
        base_commit: desk.base_commit.as_str().to_owned(),
        repository: desk.repository.dir().to_owned(),
        prompt: told(env, &task, files, prompt_for_editor).await?,
    })
}

async fn submit(env: &Arc<Env>, claim: Claim, handed: HandedIn) -> Result<Ticket, Fault> {
    let _turn = env.desks.take(&claim.ticket.to_string()).await;
    let folder = env.paths.run(claim.node, claim.attempt);
    let used = handed.used.clone();
    let (taken, asks) = env
        .db
        .write(move |tx| {
            let claim = claims::extend(tx, &claim, SETTLING)?;
            claims::say(tx, &claim, None, None, &used)?;
            let claim = claims::find(tx, claim.tenant, claim.id)?.unwrap_or(claim);
            let asks = pending::asked(tx, claim.tenant, claim.node)?;
            Ok((claim::taken(tx, claim)?, asks))
        })
        .await?;
    let log = keep_log(env, &taken.claim).await?;
    let mut left = claim::left(&taken.claim, log);
    let task = task(&taken);
    let mut desk = workspace::prepare(env, &taken.project, &taken.ticket).await?;
    if let Some(head) = taken.claim.head.as_deref().and_then(CommitId::parse) {
        desk.tree.head = head;
    }
    let (node, head) = (task.node.clone(), desk.tree.head.clone());
    let began_on = env.db.write(move |tx| record::begin_on(tx, &node, head.as_str())).await?;
    let kept = take_in(env, &task, &desk, &began_on).await?;
    left.checkpoint_commits = kept.ahead;
    let came = came(&task, handed, asks, kept.changed, left)?;
    let ticket = env
        .db
        .write(move |tx| {
            if !claims::close(tx, &taken.claim, EndedAs::Reported)? {
                let found = claims::find(tx, taken.claim.tenant, taken.claim.id)?;
                return Err(found.as_ref().unwrap_or(&taken.claim).over());
            }
            run_node::settle(tx, &task, &came)?;
            ticket::get(tx, task.tenant, task.ticket.id)
        })
        .await?;
    remove_folder(&folder).await;
    Ok(ticket)
}

/// What a report comes to. One that a person would send back at once is refused instead of ending
/// the ticket: its holder is there to hear it.
fn came(
    task: &Task,
    handed: HandedIn,
    asks: Option<pending::Asked>,
    changed: bool,
    mut left: record::Left,
) -> Result<Came, Fault> {
    let HandedIn { report, text, .. } = handed;
    let summary = report.summary.trim();
    left.summary = Some(summary.to_owned()).filter(|summary| !summary.is_empty());
    left.report = Some(match text {
        Some(text) => text::cut(&redact(&text), TEXT_MAX),
        None => full_text(&report),
    });
    match (report.outcome, asks) {
        (report::Outcome::NeedsInput, Some(asks)) if report.question.is_none() => {
            Ok(Came::question(asks, left))
        }
        (report::Outcome::NeedsInput, None) if report.question.is_none() => {
            let said = "is needed with the outcome awaiting_input, unless ask_person was called.";
            Err(Fault::argument("question", said))
        }
        (report::Outcome::Done, _) if is_idle(task.node.kind, changed) => {
            let message = format!(
                "Nothing has changed on {}. Do the work in the node's work tree, or bring it onto \
                 that branch there, and hand the report in again. If nothing had to be changed, \
                 say so with no_changes: true.",
                task.ticket.working_branch()
            );
            Err(Fault::new(Code::Conflict, message))
        }
        _ => Ok(judge(task, report, changed, left)),
    }
}
