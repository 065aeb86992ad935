//! The tickets family. Field names, presence and codes are those of the published tickets contract
//! (Tickets MCP Tool Schemas); what it leaves open is written into each tool's description.

mod cancel_ticket;
mod dispatch_ticket;
mod get_ticket;
mod get_ticket_graph;
mod get_ticket_reports;
mod list_tickets;
mod reply_ticket;
mod retry_ticket;
pub mod wire;

pub use cancel_ticket::CancelTicket;
pub use dispatch_ticket::DispatchTicket;
pub use get_ticket::GetTicket;
pub use get_ticket_graph::GetTicketGraph;
pub use get_ticket_reports::GetTicketReports;
pub use list_tickets::ListTickets;
pub use reply_ticket::ReplyTicket;
pub use retry_ticket::RetryTicket;

use crate::accounts::Actor;
use crate::base::{Code, Fault};
use crate::store::Read;
use crate::tickets::{Ticket, reference};

/// The ticket that a caller names, if the caller may see it.
pub fn find(read: &Read<'_>, actor: &Actor, named: &str) -> Result<Ticket, Fault> {
    let ticket = reference::resolve(read, actor.tenant, actor.default_project, named)?;
    if actor.may_reach(ticket.project) {
        return Ok(ticket);
    }
    let message = format!("This key does not reach the project of {}.", ticket.reference());
    Err(Fault::new(Code::Forbidden, message))
}
