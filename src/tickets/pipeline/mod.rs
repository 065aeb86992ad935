//! How a ticket moves. A graph is planned at dispatch and kept in rows; every step is a fact that
//! is recorded in one transaction together with the job that comes next, so a crash at any point
//! resumes where the record ends. Nothing here runs anything: that is `work/`.
//!
//! [`plan`] says which nodes a ticket has; [`mod@advance`], which of them may start and which
//! tickets have a place, in their project and with their agent; [`record`], what a node's run came
//! to; [`decide`], what follows from it; [`rounds`], what is done again; [`approve`], what starts
//! only after a person's word; [`end`], how a ticket ends and what that means for those that wait
//! for it; [`heal`], what to do where one stands still; [`people`], [`again`] and [`replace`] are
//! what callers do to it; [`claim`], how agents in editors come to their nodes.

pub mod advance;
pub mod again;
pub mod approve;
pub mod claim;
pub mod decide;
pub mod end;
pub mod heal;
pub mod people;
pub mod plan;
mod profile_places;
pub mod record;
pub mod replace;
pub mod rounds;

pub use advance::{advance, start_waiting};

use crate::base::Fault;
use crate::projects::{self, Project};
use crate::store::Read;
use crate::tickets::Ticket;

/// The project of a ticket. Projects are never removed, so its absence is a fault of ours.
pub fn project_of(read: &Read<'_>, ticket: &Ticket) -> Result<Project, Fault> {
    projects::find(read, ticket.tenant, ticket.project)?
        .ok_or_else(|| Fault::internal(format!("project {} is gone", ticket.project)))
}
