//! Tickets as far as a list must see them to pick from: a hundred times as many are looked at as
//! are shown, and reading all of each would take most of the time.

use super::states::{Kind, Status};
use super::ticket::{Of, Ticket};
use crate::base::{CategoryId, Fault, Millis, ProjectId, TenantId};
use crate::store::{Read, Row, to_json};
use crate::{params, sql};

/// What a list picks by.
#[derive(Debug, Clone)]
pub(super) struct Glimpse {
    pub(super) n: i64,
    pub(super) status: Status,
    pub(super) kind: Kind,
    pub(super) project: ProjectId,
    pub(super) category: Option<CategoryId>,
    pub(super) requester_name: Option<String>,
    pub(super) requester_email: Option<String>,
    pub(super) filed_by: String,
    /// When it last began, ended or was filed.
    pub(super) changed_at: Millis,
}

impl Glimpse {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            n: row.get("n")?,
            status: row.word("status", Status::parse)?,
            kind: row.word("kind", Kind::parse)?,
            project: row.get("project_id")?,
            category: row.get("category_id")?,
            requester_name: row.get("requester_name")?,
            requester_email: row.get("requester_email")?,
            filed_by: row.get("filed_by")?,
            changed_at: row.get("changed_at")?,
        })
    }

    /// The same of a ticket that was read.
    pub(super) fn of(ticket: Ticket) -> Self {
        Self {
            n: ticket.n,
            status: ticket.status,
            kind: ticket.kind,
            project: ticket.project,
            category: ticket.category.map(|category| category.id),
            requester_name: ticket.requester.name,
            requester_email: ticket.requester.email,
            filed_by: ticket.filed_by,
            changed_at: ticket.completed_at.or(ticket.started_at).unwrap_or(ticket.created_at),
        }
    }
}

/// The whole tickets of some glimpses, in their order.
pub(super) fn load(
    read: &Read<'_>,
    tenant: TenantId,
    picked: &[Glimpse],
) -> Result<Vec<Ticket>, Fault> {
    if picked.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<i64> = picked.iter().map(|glimpse| glimpse.n).collect();
    let (json, limit) = (to_json(&numbers)?, u32::try_from(numbers.len()).unwrap_or(u32::MAX));
    let mut tickets = read.list(
        sql!("browse.sql", "whole"),
        params! { ":tenant": tenant, ":numbers": json, ":limit": limit },
        Ticket::from_row,
    )?;
    tickets.sort_by_key(|ticket| numbers.iter().position(|n| *n == ticket.n));
    Ok(tickets)
}

/// Those that were filed last, before the ticket `before`.
pub(super) fn newest(
    read: &Read<'_>,
    tenant: TenantId,
    of: Of,
    status: Option<Status>,
    limit: u32,
    before: Option<i64>,
) -> Result<Vec<Glimpse>, Fault> {
    let (status, before) = (status.map(Status::word), before.unwrap_or(i64::MAX));
    match (of, status) {
        (Of::Tenant, None) => read.list(
            sql!("browse.sql", "newest"),
            params! { ":tenant": tenant, ":before": before, ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Tenant, Some(status)) => read.list(
            sql!("browse.sql", "newest_status"),
            params! { ":tenant": tenant, ":status": status, ":before": before, ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Project(id), None) => read.list(
            sql!("browse.sql", "newest_project"),
            params! { ":tenant": tenant, ":project": id, ":before": before, ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Project(id), Some(status)) => read.list(
            sql!("browse.sql", "newest_project_status"),
            params! { ":tenant": tenant, ":project": id, ":status": status, ":before": before,
            ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Category(id), None) => read.list(
            sql!("browse.sql", "newest_category"),
            params! { ":tenant": tenant, ":category": id, ":before": before, ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Category(id), Some(status)) => read.list(
            sql!("browse.sql", "newest_category_status"),
            params! { ":tenant": tenant, ":category": id, ":status": status, ":before": before,
            ":limit": limit },
            Glimpse::from_row,
        ),
    }
}

/// Those that were filed first, after the ticket `after`.
pub(super) fn oldest(
    read: &Read<'_>,
    tenant: TenantId,
    of: Of,
    status: Option<Status>,
    limit: u32,
    after: Option<i64>,
) -> Result<Vec<Glimpse>, Fault> {
    let (status, after) = (status.map(Status::word), after.unwrap_or(0));
    match (of, status) {
        (Of::Tenant, None) => read.list(
            sql!("browse.sql", "oldest"),
            params! { ":tenant": tenant, ":after": after, ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Tenant, Some(status)) => read.list(
            sql!("browse.sql", "oldest_status"),
            params! { ":tenant": tenant, ":status": status, ":after": after, ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Project(id), None) => read.list(
            sql!("browse.sql", "oldest_project"),
            params! { ":tenant": tenant, ":project": id, ":after": after, ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Project(id), Some(status)) => read.list(
            sql!("browse.sql", "oldest_project_status"),
            params! { ":tenant": tenant, ":project": id, ":status": status, ":after": after,
            ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Category(id), None) => read.list(
            sql!("browse.sql", "oldest_category"),
            params! { ":tenant": tenant, ":category": id, ":after": after, ":limit": limit },
            Glimpse::from_row,
        ),
        (Of::Category(id), Some(status)) => read.list(
            sql!("browse.sql", "oldest_category_status"),
            params! { ":tenant": tenant, ":category": id, ":status": status, ":after": after,
            ":limit": limit },
            Glimpse::from_row,
        ),
    }
}

/// Those that changed last, behind a time and a ticket.
pub(super) fn last_changed(
    read: &Read<'_>,
    tenant: TenantId,
    project: Option<ProjectId>,
    (changed, before): (i64, i64),
    limit: u32,
) -> Result<Vec<Glimpse>, Fault> {
    match project {
        None => read.list(
            sql!("browse.sql", "changed"),
            params! { ":tenant": tenant, ":changed": changed, ":before": before, ":limit": limit },
            Glimpse::from_row,
        ),
        Some(project) => read.list(
            sql!("browse.sql", "changed_project"),
            params! { ":tenant": tenant, ":project": project, ":changed": changed,
            ":before": before, ":limit": limit },
            Glimpse::from_row,
        ),
    }
}
