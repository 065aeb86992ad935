//! Refiling a cancelled ticket: what waited for it waits for the new one instead. Each of these
//! tickets is moved in a transaction of its own, so that one which cannot be keeps none of the
//! others back.

use super::{again, end};
use crate::base::{Code, Fault, TenantId, TicketId};
use crate::store::{Read, Tx};
use crate::tickets::dependencies;
use crate::tickets::states::Status;
use crate::tickets::ticket::{self, Ticket};
use crate::tickets::timeline::{self, Happened, Line, SERVER};
use crate::{params, sql};

/// Whether a ticket may be refiled: only a cancelled one may.
pub fn check(replaced: &Ticket) -> Result<(), Fault> {
    if replaced.status == Status::Cancelled {
        return Ok(());
    }
    let message = format!(
        "{} is {}; only a cancelled ticket can be replaced.",
        replaced.reference(),
        replaced.status
    );
    Err(Fault::new(Code::ReplacesNotCancelled, message).issue("replaces", "is not cancelled"))
}

/// The tickets that `replacement` takes over: those that still wait for the ticket it replaces, and
/// those that were moved to it already. In the order of filing.
pub fn dependents(read: &Read<'_>, replacement: &Ticket) -> Result<Vec<Ticket>, Fault> {
    let Some(replaced) = replacement.replaces else { return Ok(Vec::new()) };
    let tenant = replacement.tenant;
    let mut found = dependencies::all_children(read, tenant, replaced)?;
    // Nothing can have named a ticket before it was there.
    let moved = dependencies::all_children(read, tenant, replacement.id)?;
    found.extend(moved.into_iter().filter(|child| child.n < replacement.n));
    found.sort_by_key(|ticket| ticket.n);
    found.dedup_by_key(|ticket| ticket.n);
    Ok(found)
}

/// Lets one ticket wait for `replacement` instead of for the ticket that it replaces. A ticket that
/// was cancelled only because that one did not land comes back to blocked, and so do those that
/// were cancelled for its own sake. Says nothing new where it has been moved already.
///
/// # Errors
/// `Conflict` or `DependencyCycle`, whose message says why the ticket stays as it is.
pub fn repoint(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    dependent: TicketId,
    replacement: TicketId,
    actor: &str,
) -> Result<(), Fault> {
    let to = ticket::get(tx, tenant, replacement)?;
    let child = ticket::get(tx, tenant, dependent)?;
    let parents = dependencies::parent_ids(tx, tenant, child.id)?;
    let Some(from) = to.replaces.filter(|from| parents.contains(from)) else {
        if parents.contains(&to.id) {
            return Ok(());
        }
        return Err(stays(format!("{} waits for it no more.", child.reference())));
    };
    let is_lost = child.status == Status::Cancelled && child.lost_parent == Some(from);
    check_movable(&child, &to, is_lost)?;
    let ends = params! { ":tenant": tenant, ":ticket": child.id, ":parent": from };
    tx.run_one(sql!("tickets.sql", "remove_dependency"), ends)?;
    dependencies::add(tx, tenant, child.id, to.id)?;
    let said = format!("Waits for {} now, which replaces a cancelled ticket.", to.reference());
    let line = Line { happened: Happened::Repointed, actor, text: &said, node: None };
    timeline::record(tx, tenant, child.id, line)?;
    if is_lost {
        revive_all(tx, child.clone())?;
    }
    end::release(tx, &child, &format!("{} landed; nothing is left to wait for.", to.reference()))
}

fn check_movable(child: &Ticket, to: &Ticket, is_lost: bool) -> Result<(), Fault> {
    if child.status != Status::Blocked && !is_lost {
        let (named, status) = (child.reference(), child.status);
        return Err(stays(match status {
            Status::Cancelled => format!("{named} was cancelled by itself."),
            _ => format!("{named} is {status} and waits for nothing."),
        }));
    }
    if matches!(to.status, Status::Failed | Status::Timeout | Status::Cancelled) {
        return Err(stays(format!("{} is {} already.", to.reference(), to.status)));
    }
    Ok(())
}

fn stays(why: String) -> Fault {
    Fault::new(Code::Conflict, why)
}

/// Brings back a ticket that was cancelled for its parent's sake, and those below it.
fn revive_all(tx: &mut Tx<'_>, first: Ticket) -> Result<(), Fault> {
    if let Some(dead) = dead_parent(tx, &first)? {
        let (named, dead, status) = (first.reference(), dead.reference(), dead.status);
        return Err(stays(format!("{named} waits for {dead} too, which is {status}.")));
    }
    let mut lost = vec![first];
    while let Some(ticket) = lost.pop() {
        revive(tx, &ticket)?;
        for child in dependencies::all_children(tx, ticket.tenant, ticket.id)? {
            let is_lost = child.status == Status::Cancelled && child.lost_parent == Some(ticket.id);
            if is_lost && dead_parent(tx, &child)?.is_none() {
                lost.push(child);
            }
        }
    }
    Ok(())
}

fn revive(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<(), Fault> {
    let of = params! { ":tenant": ticket.tenant, ":id": ticket.id };
    tx.run_one(sql!("tickets.sql", "revive"), of)?;
    again::reopen_graph(tx, ticket)?;
    let text = "What it waited for was filed anew: it waits again.";
    let line = Line { happened: Happened::Revived, actor: SERVER, text, node: None };
    timeline::record(tx, ticket.tenant, ticket.id, line)
}

/// A parent that ended without landing and that nobody has cancelled to file it anew.
fn dead_parent(read: &Read<'_>, ticket: &Ticket) -> Result<Option<Ticket>, Fault> {
    let parents = dependencies::parents(read, ticket.tenant, ticket.id)?;
    let is_dead = |parent: &Ticket| matches!(parent.status, Status::Failed | Status::Timeout);
    Ok(parents.into_iter().find(is_dead))
}
