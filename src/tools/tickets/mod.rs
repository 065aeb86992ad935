//! The tickets family. Field names, presence and codes are those of the published tickets contract
//! (Tickets MCP Tool Schemas); what it leaves open is written into each tool's description.

mod approve_ticket;
mod ask_person;
mod attach;
mod attach_evidence;
mod cancel_ticket;
mod category;
mod claim_ticket_node;
mod conversation;
mod create_secret_link;
mod delete_category;
mod dispatch_ticket;
mod dispatch_ticket_graph;
mod dispatched;
mod file_child_ticket;
mod get_ticket;
mod get_ticket_graph;
mod get_ticket_reports;
mod list_categories;
mod list_tickets;
mod mint_attachment_upload_url;
mod release_node;
mod rename_category;
mod reply_ticket;
mod repoint;
mod report_node_progress;
mod retry_ticket;
mod search_tickets;
mod seed;
mod submit_node_report;
pub mod wire;
mod work;

pub use approve_ticket::ApproveTicket;
pub use ask_person::AskPerson;
pub use attach_evidence::AttachEvidence;
pub use cancel_ticket::CancelTicket;
pub use claim_ticket_node::ClaimTicketNode;
pub use create_secret_link::CreateSecretLink;
pub use delete_category::DeleteCategory;
pub use dispatch_ticket::DispatchTicket;
pub use dispatch_ticket_graph::DispatchTicketGraph;
pub use file_child_ticket::FileChildTicket;
pub use get_ticket::GetTicket;
pub use get_ticket_graph::GetTicketGraph;
pub use get_ticket_reports::GetTicketReports;
pub use list_categories::ListCategories;
pub use list_tickets::ListTickets;
pub use mint_attachment_upload_url::MintAttachmentUploadUrl;
pub use release_node::ReleaseNode;
pub use rename_category::RenameCategory;
pub use reply_ticket::ReplyTicket;
pub use report_node_progress::ReportNodeProgress;
pub use retry_ticket::RetryTicket;
pub use search_tickets::SearchTickets;
pub use submit_node_report::SubmitNodeReport;

use crate::accounts::{Actor, Reach};
use crate::base::{Code, Fault, ProjectId};
use crate::store::Read;
use crate::tickets::{Ticket, reference};

/// The ticket that a caller names, if the caller may see it.
pub fn find(read: &Read<'_>, actor: &Actor, named: &str) -> Result<Ticket, Fault> {
    let only = match &actor.reach {
        Reach::Only(projects) if projects.len() == 1 => projects.first().copied(),
        _ => None,
    };
    find_in(read, actor, actor.default_project.or(only), named)
}

/// The same, where a bare number means a ticket of `project`.
fn find_in(
    read: &Read<'_>,
    actor: &Actor,
    project: Option<ProjectId>,
    named: &str,
) -> Result<Ticket, Fault> {
    let ticket = reference::resolve(read, actor.tenant, project, named).map_err(|fault| {
        // The candidates may lie in projects that a limited key has no business to know of.
        if fault.code == Code::AmbiguousTicketRef && actor.reach != Reach::All {
            let message =
                "Several projects have a ticket of that number. Name it by its ref or id.";
            return Fault::new(Code::AmbiguousTicketRef, message);
        }
        fault
    })?;
    if actor.may_reach(ticket.project) {
        return Ok(ticket);
    }
    let message = format!("This key does not reach the project of {}.", ticket.reference());
    Err(Fault::new(Code::Forbidden, message))
}
