//! What a ticket waits for, and what waits for it.

use super::ticket::Ticket;
use crate::base::{Code, Fault, TenantId, TicketId};
use crate::store::{Read, Tx};
use crate::{params, sql};

/// Parents of a ticket at most.
pub const PARENTS_MAX: u32 = 50;

/// Children of a ticket that are read at once.
const AT_ONCE: u32 = 200;

/// The tickets that this one waits for, in the order of filing.
pub fn parents(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<Ticket>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": PARENTS_MAX };
    read.list(sql!("tickets.sql", "parents"), of, Ticket::from_row)
}

/// The ids of the tickets that this one waits for.
pub fn parent_ids(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Vec<TicketId>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": PARENTS_MAX };
    read.list(sql!("tickets.sql", "parent_ids"), of, |row| row.get("parent_id"))
}

/// At most `limit` of the tickets that wait for this one, in the order of filing.
pub fn children(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    limit: u32,
) -> Result<Vec<Ticket>, Fault> {
    children_after(read, tenant, ticket, 0, limit)
}

/// All tickets that wait for this one, in the order of filing.
pub fn all_children(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Vec<Ticket>, Fault> {
    let mut all: Vec<Ticket> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last.n);
        let next = children_after(read, tenant, ticket, after, AT_ONCE)?;
        let is_last = next.len() < AT_ONCE as usize;
        all.extend(next);
        if is_last {
            return Ok(all);
        }
    }
}

fn children_after(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    after: i64,
    limit: u32,
) -> Result<Vec<Ticket>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":after": after, ":limit": limit };
    read.list(sql!("tickets.sql", "children"), of, Ticket::from_row)
}

/// The next tickets behind the one numbered `after` that are blocked and wait for a parent, in the
/// order of filing, a bounded number of them; none once all were given.
pub fn blocked_children(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    after: i64,
) -> Result<Vec<Ticket>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":after": after, ":limit": AT_ONCE };
    read.list(sql!("tickets.sql", "blocked_children"), of, Ticket::from_row)
}

/// How many parents have not landed.
pub fn unmet(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<u64, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    let unmet = read.find(sql!("tickets.sql", "unmet_parents"), of, |row| row.unsigned("unmet"))?;
    Ok(unmet.unwrap_or(0))
}

/// Lets `ticket` wait for `parent`, unless `parent` already waits for `ticket`, however far off.
pub fn add(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    parent: TicketId,
) -> Result<(), Fault> {
    let above = sql!("tickets.sql", "is_ancestor");
    let way = params! { ":tenant": tenant, ":from": parent, ":ticket": ticket };
    if ticket == parent || tx.find(above, way, |_| Ok(()))?.is_some() {
        let message =
            format!("Waiting for {parent} would close a cycle: it waits for this ticket.");
        return Err(Fault::new(Code::DependencyCycle, message));
    }
    tx.run(
        sql!("tickets.sql", "add_dependency"),
        params! { ":tenant": tenant, ":ticket": ticket, ":parent": parent },
    )?;
    Ok(())
}
