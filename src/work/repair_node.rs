//! A node that brings a ticket's branch up to its base: the merge is begun by the server, an agent
//! resolves what does not go together, and the checks run after it. What the agent cannot resolve
//! waits for a person, with the files.

use std::sync::Arc;

use super::agent_node;
use super::env::Env;
use super::result::{Came, Stopped, To};
use super::run_node::Task;
use super::workspace::{self, Desk};
use crate::base::text;
use crate::jobs::Ctx;
use crate::projects::git::CommitId;
use crate::projects::git::bring_up::{Begun, begin};
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::Left;
use crate::tickets::states::NodeKind;

pub(super) async fn run(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    mut desk: Desk,
) -> Result<Came, Stopped> {
    let tip = desk.repository.tip(&desk.base).await?;
    // What somebody left in the tree is kept before the merge may touch it.
    workspace::commit(env, &desk, &task.ticket, &task.node).await?;
    let begun = begin(&desk.repository, &desk.place, &tip, env.clock.now()).await?;
    let files = match begun {
        Begun::Conflicts(files) => files,
        Begun::Merged | Begun::UpToDate => {
            // What came with the merge is no change of the agent's.
            (desk.tree.head, ..) = workspace::commit(env, &desk, &task.ticket, &task.node).await?;
            Vec::new()
        }
    };
    if files.is_empty() && task.node.kind == NodeKind::MergeRepair {
        let said = format!("The branch and {} go together now; nothing is in conflict.", desk.base);
        let left = Left { summary: Some(said), ..Left::default() };
        return Ok(Came::verdict(Verdict::Good, left));
    }
    let came = agent_node::run(env, ctx, task, &desk).await?;
    if matches!(came.to, To::Question(_)) {
        return Ok(came);
    }
    let head = desk.repository.branch(desk.place.branch()).await?;
    let is_up = match &head {
        Some(head) => desk.repository.is_ancestor(&tip, head).await?,
        None => false,
    };
    if is_up {
        return Ok(came);
    }
    let why = match &came.to {
        To::Verdict(Verdict::Bad { reason } | Verdict::OutOfTime { reason }) => reason.as_str(),
        _ => "some of it is still in conflict.",
    };
    let why = format!("{} did not resolve it: {why}", task.node.name);
    let waits = Came::held(format!("{} {why}", advice(&desk, &tip, &files)));
    Ok(Came { to: waits.to, ..came })
}

/// What a person does about a conflict.
pub(super) fn advice(desk: &Desk, tip: &CommitId, files: &[String]) -> String {
    let list = text::cut(&files.join(", "), 1_000);
    format!(
        "The work conflicts with {} in {list}. In the ticket's work tree, run \
         `git -C {} merge {}`, resolve {list}, and commit; then answer that it can go on.",
        desk.base,
        desk.tree.path.display(),
        tip.short()
    )
}
