//! The net under the pipeline: a ticket that stands still although something could be done moves
//! on, whatever left it so.

use super::{advance, end, record, start_waiting};
use crate::base::{Fault, TenantId, TicketId};
use crate::jobs;
use crate::store::Tx;
use crate::tickets::claims;
use crate::tickets::limits;
use crate::tickets::node::{self, Node};
use crate::tickets::states::{NodeStatus, Status};
use crate::tickets::ticket::{self, Ticket};
use crate::{params, sql};

/// Moves a ticket on, if it can move.
pub fn heal(tx: &mut Tx<'_>, tenant: TenantId, id: TicketId) -> Result<(), Fault> {
    let ticket = ticket::get(tx, tenant, id)?;
    match ticket.status {
        Status::Running => {
            let project = super::project_of(tx, &ticket)?;
            if limits::enforce(tx, &ticket, &project)? {
                return Ok(());
            }
            restart_lost(tx, &ticket)?;
            advance(tx, tenant, id)
        }
        Status::Queued => {
            let project = super::project_of(tx, &ticket)?;
            start_waiting(tx, tenant, &project)
        }
        Status::Blocked => {
            end::release(tx, &ticket, "All it waited for has landed; nothing is left to wait for.")
        }
        _ => Ok(()),
    }
}

/// Puts running nodes back that nobody runs: their job has ended without them, or is gone.
fn restart_lost(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<(), Fault> {
    for node in node::list(tx, ticket.tenant, ticket.id)? {
        if node.status != NodeStatus::Running || is_run(tx, &node)? {
            continue;
        }
        if !record::interrupt(tx, ticket.tenant, &node)? {
            return Ok(());
        }
        let of = params! { ":tenant": ticket.tenant, ":id": node.id };
        tx.run_one(sql!("nodes.sql", "requeue"), of)?;
    }
    Ok(())
}

fn is_run(tx: &Tx<'_>, node: &Node) -> Result<bool, Fault> {
    if claims::of_node(tx, node.tenant, node.id)?.is_some() {
        return Ok(true);
    }
    let Some(job) = node.job else { return Ok(false) };
    Ok(jobs::find(tx, node.tenant, job)?.is_some_and(|job| !job.state.is_final()))
}
