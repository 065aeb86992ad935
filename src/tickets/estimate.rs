//! What a dispatch would come to, told without filing anything: which nodes a ticket would have,
//! whether its brief would be split, and which ticket asks for the same.

use super::dispatch::{self, Dispatch};
use super::duplicates::{self, Duplicate};
use super::states::{Kind, NodeKind};
use super::{chain, classify};
use crate::base::{Fault, TenantId};
use crate::projects::Project;
use crate::store::Read;

/// What a dispatch would come to.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// The kind that the ticket would have.
    pub kind: Kind,
    /// The tickets, the first first; several where the brief would be split.
    pub tickets: Vec<Planned>,
    /// The ticket that asks for the same, if there is one.
    pub duplicate: Option<Duplicate>,
}

/// A ticket that would be filed.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Its title.
    pub title: String,
    /// The nodes of its first graph, in their order.
    pub nodes: Vec<NodeKind>,
}

/// What a dispatch would come to.
///
/// # Errors
/// `ProjectNotReady` where nothing could be filed.
pub fn estimate(
    read: &Read<'_>,
    tenant: TenantId,
    project: &Project,
    asked: &Dispatch,
) -> Result<Estimate, Fault> {
    dispatch::check_ready(project)?;
    let kind = asked.kind.unwrap_or_else(|| classify::kind(&asked.title, &asked.description));
    let look = duplicates::look(read, tenant, project, &asked.title, &asked.description)?;
    let duplicate = look.duplicate(read, tenant, project)?;
    let planned = |asked: &Dispatch, parents| Planned {
        title: asked.title.clone(),
        nodes: dispatch::planned(project, asked, kind, parents),
    };
    let phases = chain::phases(project, asked);
    let mut tickets = Vec::new();
    for (at, phase) in phases.iter().enumerate() {
        let own = Dispatch {
            title: phase.title.clone(),
            description: phase.description.clone(),
            ..asked.clone()
        };
        tickets.push(planned(&own, if at == 0 { asked.depends_on.len() } else { 1 }));
    }
    if tickets.is_empty() {
        tickets.push(planned(asked, asked.depends_on.len()));
    }
    Ok(Estimate { kind, tickets, duplicate })
}
