//! A ticket as its row holds it, and the ways to find tickets.

use super::states::{GraphStatus, Kind, Origin, PassProfile, Preset, Status};
use crate::base::redact::redact;
use crate::base::{CategoryId, Code, Fault, Millis, ProjectId, ScopeId, TenantId, TicketId};
use crate::store::{Read, Row};
use crate::{params, sql};

/// A ticket.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// The stable handle, and the job id of the contract.
    pub id: TicketId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The project's key, if it has one.
    pub project_key: Option<String>,
    /// The N of `KEY-N`.
    pub seq: u64,
    /// The title, 1 to 500 characters.
    pub title: String,
    /// The brief.
    pub description: String,
    /// Where it stands.
    pub status: Status,
    /// What sort of work it is.
    pub kind: Kind,
    /// Which agent profile does it.
    pub preset: Preset,
    /// Which passes run.
    pub pass_profile: PassProfile,
    /// The number of the running pass; only for the fixed five passes.
    pub current_pass: Option<u32>,
    /// How its graph was planned.
    pub origin: Origin,
    /// How its graph stands.
    pub graph_status: GraphStatus,
    /// The branch it lands on, once it has started.
    pub base_branch: Option<String>,
    /// The commit its branch was made from, once it has started.
    pub base_commit: Option<String>,
    /// The branch it is worked on, once it has started.
    pub branch: Option<String>,
    /// The commit that landed it.
    pub commit_sha: Option<String>,
    /// How putting it on the base branch went: `merged`, `conflicts` and the like.
    pub auto_merge_status: Option<String>,
    /// Why it failed or ran out of time.
    pub failure_reason: Option<String>,
    /// What was done, written when it ended.
    pub completion_summary: Option<String>,
    /// What the newest node said.
    pub latest_phase_summary: Option<String>,
    /// Commits on its branch that are not on the base branch.
    pub checkpoint_commits: u64,
    /// How it was dispatched: `mcp`, `dashboard` and the like.
    pub source: Option<String>,
    /// What it needs of its parents.
    pub depends_on_reason: Option<String>,
    /// The batch it was dispatched in.
    pub scope: Option<ScopeId>,
    /// What the call that filed the batch called it.
    pub local_name: Option<String>,
    /// The cancelled ticket that it refiles.
    pub replaces: Option<TicketId>,
    /// The branch that its own starts from, instead of from the base branch.
    pub seed_from_ref: Option<String>,
    /// The parent that did not land, where it was cancelled for that and nothing else.
    pub lost_parent: Option<TicketId>,
    /// Its category.
    pub category: Option<Category>,
    /// Who asked for it. For display; never authority.
    pub requester: Requester,
    /// Who filed it, as the audit log names them.
    pub filed_by: String,
    /// Agent turns used so far.
    pub turns_used: u64,
    /// Tokens read by models so far.
    pub input_tokens: u64,
    /// Tokens written by models so far.
    pub output_tokens: u64,
    /// Times it was held for lack of credit.
    pub credit_block_count: u64,
    /// Since when it is held for lack of credit, while it is.
    pub held_at: Option<Millis>,
    /// Times it was put back because the server or its process went away.
    pub interrupt_count: u64,
    /// When it was filed.
    pub created_at: Millis,
    /// When work on it began.
    pub started_at: Option<Millis>,
    /// When it ended.
    pub completed_at: Option<Millis>,
    /// Its place in the order of filing.
    pub n: i64,
}

/// A ticket's category.
#[derive(Debug, Clone)]
pub struct Category {
    /// The category.
    pub id: CategoryId,
    /// Its name.
    pub name: String,
    /// Whether it has been deleted since.
    pub deleted: bool,
}

/// Who asked for a ticket, as far as the caller said.
#[derive(Debug, Clone, Default)]
pub struct Requester {
    /// A name to show.
    pub name: Option<String>,
    /// Where to write when the ticket waits for an answer.
    pub email: Option<String>,
    /// A picture; always `https`.
    pub avatar_url: Option<String>,
    /// Where the request was made.
    pub channel: Option<String>,
    /// An opaque pointer back to there.
    pub external_ref: Option<String>,
}

impl Ticket {
    /// `KEY-N`, or `#N` where the project has no key.
    #[must_use]
    pub fn reference(&self) -> String {
        match &self.project_key {
            Some(key) => format!("{key}-{}", self.seq),
            None => format!("#{}", self.seq),
        }
    }

    /// The path of its page.
    #[must_use]
    pub fn page(&self) -> String {
        match self.project_key {
            Some(_) => format!("/tickets/{}", self.reference()),
            None => format!("/tickets/{}", self.id),
        }
    }

    /// The branch that the ticket is worked on, whether it has started or not.
    #[must_use]
    pub fn working_branch(&self) -> String {
        format!("agent/{}", self.id)
    }

    /// Reads one row of the view `ticket_rows`.
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            project: row.get("project_id")?,
            project_key: row.get("project_key")?,
            seq: row.unsigned("seq")?,
            // A title goes everywhere: into lists, pages, commits, the tools' answers.
            title: redact(&row.get::<String>("title")?).into_owned(),
            description: row.get("description")?,
            status: row.word("status", Status::parse)?,
            kind: row.word("kind", Kind::parse)?,
            preset: row.word("preset", Preset::parse)?,
            pass_profile: row.word("pass_profile", PassProfile::parse)?,
            current_pass: row.get("current_pass")?,
            origin: row.word("origin", Origin::parse)?,
            graph_status: row.word("graph_status", GraphStatus::parse)?,
            base_branch: row.get("base_branch")?,
            base_commit: row.get("base_commit")?,
            branch: row.get("branch")?,
            commit_sha: row.get("commit_sha")?,
            auto_merge_status: row.get("auto_merge_status")?,
            failure_reason: row.get("failure_reason")?,
            completion_summary: row.get("completion_summary")?,
            latest_phase_summary: row.get("latest_phase_summary")?,
            checkpoint_commits: row.unsigned("checkpoint_commits")?,
            source: row.get("source")?,
            depends_on_reason: row.get("depends_on_reason")?,
            scope: row.get("scope_id")?,
            local_name: row.get("local_name")?,
            replaces: row.get("replaces_id")?,
            seed_from_ref: row.get("seed_from_ref")?,
            lost_parent: row.get("lost_parent_id")?,
            category: category(row)?,
            requester: requester(row)?,
            filed_by: row.get("filed_by")?,
            turns_used: row.unsigned("turns_used")?,
            input_tokens: row.unsigned("input_tokens")?,
            output_tokens: row.unsigned("output_tokens")?,
            credit_block_count: row.unsigned("credit_block_count")?,
            held_at: row.get("held_at")?,
            interrupt_count: row.unsigned("interrupt_count")?,
            created_at: row.get("created_at")?,
            started_at: row.get("started_at")?,
            completed_at: row.get("completed_at")?,
            n: row.get("n")?,
        })
    }
}

fn category(row: &Row<'_>) -> Result<Option<Category>, Fault> {
    let Some(id) = row.get("category_id")? else { return Ok(None) };
    let deleted_at: Option<Millis> = row.get("category_deleted_at")?;
    Ok(Some(Category { id, name: row.get("category_name")?, deleted: deleted_at.is_some() }))
}

fn requester(row: &Row<'_>) -> Result<Requester, Fault> {
    Ok(Requester {
        name: row.get("requester_name")?,
        email: row.get("requester_email")?,
        avatar_url: row.get("requester_avatar_url")?,
        channel: row.get("requester_channel")?,
        external_ref: row.get("requester_ref")?,
    })
}

/// The ticket with this id.
pub fn find(read: &Read<'_>, tenant: TenantId, id: TicketId) -> Result<Option<Ticket>, Fault> {
    let by_id = sql!("tickets.sql", "find");
    read.find(by_id, params! { ":tenant": tenant, ":id": id }, Ticket::from_row)
}

/// The ticket with this id, whosever it is: for what the server finds in its own folders.
pub fn find_any(read: &Read<'_>, id: TicketId) -> Result<Option<Ticket>, Fault> {
    read.find(sql!("tickets.sql", "find_any"), params! { ":id": id }, Ticket::from_row)
}

/// The ticket with this id, or the answer that hides whether it is absent or another tenant's.
pub fn get(read: &Read<'_>, tenant: TenantId, id: TicketId) -> Result<Ticket, Fault> {
    find(read, tenant, id)?.ok_or_else(not_found)
}

/// The one answer for a ticket that is absent and for one that is another tenant's.
#[must_use]
pub fn not_found() -> Fault {
    Fault::new(Code::NotFound, "There is no such ticket, or it is not yours to see.")
}

/// The ticket that a dispatch with this operation key made.
pub fn find_by_operation_key(
    read: &Read<'_>,
    tenant: TenantId,
    key: &str,
) -> Result<Option<Ticket>, Fault> {
    let by_key = sql!("tickets.sql", "find_by_operation_key");
    read.find(by_key, params! { ":tenant": tenant, ":key": key }, Ticket::from_row)
}

/// Which tickets a list holds.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    /// All of the tenant's.
    Tenant,
    /// One project's.
    Project(ProjectId),
    /// One category's.
    Category(CategoryId),
}

/// Tickets, newest first, at most `limit` of them, filed before the ticket at `before` if given.
pub fn list(
    read: &Read<'_>,
    tenant: TenantId,
    of: Of,
    status: Option<Status>,
    limit: u32,
    before: Option<i64>,
) -> Result<Vec<Ticket>, Fault> {
    let (status, before) = (status.map(Status::word), before.unwrap_or(i64::MAX));
    match (of, status) {
        (Of::Tenant, None) => read.list(
            sql!("tickets.sql", "list"),
            params! { ":tenant": tenant, ":before": before, ":limit": limit },
            Ticket::from_row,
        ),
        (Of::Tenant, Some(status)) => read.list(
            sql!("tickets.sql", "list_status"),
            params! { ":tenant": tenant, ":status": status, ":before": before, ":limit": limit },
            Ticket::from_row,
        ),
        (Of::Project(id), None) => read.list(
            sql!("tickets.sql", "list_project"),
            params! { ":tenant": tenant, ":project": id, ":before": before, ":limit": limit },
            Ticket::from_row,
        ),
        (Of::Project(id), Some(status)) => read.list(
            sql!("tickets.sql", "list_project_status"),
            params! { ":tenant": tenant, ":project": id, ":status": status, ":before": before,
            ":limit": limit },
            Ticket::from_row,
        ),
        (Of::Category(id), None) => read.list(
            sql!("tickets.sql", "list_category"),
            params! { ":tenant": tenant, ":category": id, ":before": before, ":limit": limit },
            Ticket::from_row,
        ),
        (Of::Category(id), Some(status)) => read.list(
            sql!("tickets.sql", "list_category_status"),
            params! { ":tenant": tenant, ":category": id, ":status": status, ":before": before,
            ":limit": limit },
            Ticket::from_row,
        ),
    }
}

/// The tickets that landed last, the last one first.
pub fn landed(read: &Read<'_>, tenant: TenantId, limit: u32) -> Result<Vec<Ticket>, Fault> {
    let of = params! { ":tenant": tenant, ":limit": limit };
    read.list(sql!("tickets.sql", "list_landed"), of, Ticket::from_row)
}

/// How many tickets have landed since a moment.
pub fn landed_since(read: &Read<'_>, tenant: TenantId, since: Millis) -> Result<u64, Fault> {
    let of = params! { ":tenant": tenant, ":since": since };
    let counted =
        read.find(sql!("tickets.sql", "count_landed"), of, |row| row.unsigned("tickets"))?;
    Ok(counted.unwrap_or(0))
}

/// How many of the tenant's tickets stand where. Statuses without tickets are left out.
pub fn counts(read: &Read<'_>, tenant: TenantId) -> Result<Vec<(Status, u64)>, Fault> {
    read.list(sql!("tickets.sql", "counts"), params! { ":tenant": tenant }, |row| {
        Ok((row.word("status", Status::parse)?, row.unsigned("tickets")?))
    })
}

/// How many tickets of all tenants stand where.
pub fn counts_of_all(read: &Read<'_>) -> Result<Vec<(Status, u64)>, Fault> {
    read.list(sql!("tickets.sql", "counts_of_all"), params! {}, |row| {
        Ok((row.word("status", Status::parse)?, row.unsigned("tickets")?))
    })
}

/// A ticket that is queued or running, as the sweep sees it.
#[derive(Debug, Clone, Copy)]
pub struct Unfinished {
    /// The ticket.
    pub id: TicketId,
    /// Whose it is.
    pub tenant: TenantId,
    /// Its place in the order of filing.
    pub n: i64,
}

/// Everybody's queued and running tickets filed after the one at `after`, oldest first.
pub fn unfinished(read: &Read<'_>, after: i64, limit: u32) -> Result<Vec<Unfinished>, Fault> {
    let of = params! { ":after": after, ":limit": limit };
    read.list(sql!("tickets.sql", "unfinished"), of, |row| {
        Ok(Unfinished { id: row.get("id")?, tenant: row.get("tenant_id")?, n: row.get("n")? })
    })
}
