//! What a call that replaces a cancelled ticket says of the tickets that waited for that one.

use schemars::JsonSchema;
use serde::Serialize;

use crate::accounts::Actor;
use crate::base::{Code, Fault, ProjectId, TicketId};
use crate::store::Read;
use crate::tickets::Ticket;
use crate::tickets::pipeline::replace;
use crate::tickets::ticket;
use crate::tools::Cx;

/// What became of a ticket that waited for the replaced one.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RepointResult {
    /// The ticket.
    ticket_id: TicketId,
    /// Whether it waits for the new ticket now.
    ok: bool,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The cancelled ticket that a call names.
pub(super) fn replaced(
    read: &Read<'_>,
    actor: &Actor,
    project: ProjectId,
    named: &str,
) -> Result<Ticket, Fault> {
    let found = super::find_in(read, actor, Some(project), named);
    let found = found.map_err(|fault| match fault.code {
        Code::InvalidArgument => {
            Fault::argument("replaces", "expected a ref such as ACME-42, a UUID, #42 or 42")
        }
        _ => fault,
    })?;
    replace::check(&found)?;
    Ok(found)
}

/// Moves what waited for the ticket that `replacement` replaces, each in a transaction of its own.
/// Tickets beyond the caller's reach stay as they are, and it hears nothing of them.
pub(super) async fn all(cx: &Cx, replacement: TicketId) -> Result<Vec<RepointResult>, Fault> {
    let dependents = cx
        .read(move |read, actor| {
            let replacement = ticket::get(read, actor.tenant, replacement)?;
            let mut found = replace::dependents(read, &replacement)?;
            found.retain(|dependent| actor.may_reach(dependent.project));
            Ok(found)
        })
        .await?;
    let mut results = Vec::new();
    for dependent in dependents {
        let (id, named) = (dependent.id, dependent.reference());
        let moved = cx
            .write(move |tx, actor| {
                let label = actor.label();
                replace::repoint(tx, actor.tenant, id, replacement, &label)?;
                Ok(((), named))
            })
            .await;
        let reason = moved.err().map(|fault| {
            if fault.code == Code::Internal {
                tracing::error!(?fault, ticket = %id, "A ticket was not moved to its new parent");
            }
            fault.message
        });
        results.push(RepointResult { ticket_id: id, ok: reason.is_none(), reason });
    }
    Ok(results)
}
