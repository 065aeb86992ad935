//! Whether an agent is asked once more to make a ticket's work and a base that has moved go
//! together.

use super::env::Env;
use super::run_node::Task;
use super::workspace::Desk;
use crate::base::Fault;
use crate::projects::git::CommitId;
use crate::store::Read;
use crate::tickets::states::NodeKind;
use crate::tickets::{node, timeline};

/// How often an agent is asked in vain, before a person is.
const IN_VAIN_MAX: usize = 2;

/// How often in all, where each time the branch has taken in what the base was, and the base has
/// moved on again.
const IN_ALL_MAX: usize = 10;

/// Whether an agent may still be asked for such a repair, for each try of a person's.
pub(super) async fn has(
    env: &Env,
    task: &Task,
    desk: &Desk,
    base_tip: &CommitId,
    kind: NodeKind,
) -> Result<bool, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    if task.project.settings.agents.choose(kind.word(), task.ticket.preset.word()).is_none() {
        return Ok(false);
    }
    let had = move |read: &Read<'_>| {
        let mut had = node::list(read, tenant, ticket)?;
        had.retain(|node| node.kind == kind);
        Ok((had, timeline::retries(read, tenant, ticket)? as usize + 1))
    };
    let (had, tries) = env.db.read(had).await?;
    if had.len() >= IN_ALL_MAX.saturating_mul(tries) {
        return Ok(false);
    }
    let mut in_vain = 0;
    let shared = desk.repository.merge_base(&desk.tree.head, base_tip).await?;
    for repair in &had {
        let began_on = repair.began_on.as_deref().and_then(CommitId::parse);
        let shared_then = match began_on {
            Some(began_on) => desk.repository.merge_base(&began_on, base_tip).await?,
            None => None,
        };
        // One after which the branch has come nearer to the base has done its part.
        in_vain += usize::from(shared_then.is_none() || shared_then == shared);
    }
    Ok(in_vain < IN_VAIN_MAX.saturating_mul(tries))
}
