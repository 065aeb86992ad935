//! Filing a ticket: replay, parents, number, graph, and the first step, all in one transaction.

use super::draft::model::Draft;
use super::draft::{self, Turn};
use super::duplicates::{self, Duplicate, Look};
use super::pipeline::{self, plan};
use super::states::{Kind, NodeKind, Origin, PassProfile, Preset, Status};
use super::ticket::{self, Requester, Ticket};
use super::timeline::{self, Happened, Line};
use super::{attachments, chain, classify, conversations, dependencies, node, reference};
use crate::base::{AttachmentId, Code, Fault, NextAction, ScopeId, TenantId, TicketId, text};
use crate::projects::steps::Pipeline;
use crate::projects::{self, Project};
use crate::store::{Read, Tx, to_int};
use crate::{params, sql};

/// Characters of a title at most; a limit of the contract.
pub const TITLE_MAX: usize = 500;

/// Characters of a brief at most.
pub const DESCRIPTION_MAX: usize = 100_000;

/// Characters of an operation key at most.
pub const OPERATION_KEY_MAX: usize = 200;

/// Characters that a reason for waiting has at least; a limit of the contract.
pub const REASON_MIN: usize = 10;

/// What a caller asks for, checked for shape but not against other tickets.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The title.
    pub title: String,
    /// The brief.
    pub description: String,
    /// The kind, where the caller said.
    pub kind: Option<Kind>,
    /// Which agent profile does the work.
    pub preset: Preset,
    /// Which passes run.
    pub pass_profile: PassProfile,
    /// Refs of the parents.
    pub depends_on: Vec<String>,
    /// What is needed of the parents.
    pub depends_on_reason: Option<String>,
    /// Who asked.
    pub requester: Requester,
    /// The category's name.
    pub category: Option<String>,
    /// The idempotency key.
    pub operation_key: Option<String>,
    /// Whether it is filed although a ticket like it is there.
    pub override_duplicate: bool,
    /// Whether it stays one ticket, however large.
    pub no_split: bool,
    /// Whether title and description are filed as they are: neither drafted nor split.
    pub predrafted: bool,
    /// What was said before, oldest first. Title and description are drafted from it.
    pub conversation: Vec<Turn>,
    /// What a language model drafted from it, where one did.
    pub by_model: Option<Draft>,
    /// The cancelled ticket that this one refiles.
    pub replaces: Option<TicketId>,
    /// The branch that its own starts from, instead of from the base branch.
    pub seed_from_ref: Option<String>,
    /// The files that come with it.
    pub attached: Option<Attached>,
    /// How the ticket came in: `mcp`, `dashboard` and the like.
    pub source: String,
    /// Who filed it.
    pub actor: String,
}

/// Files that come with a ticket, and the id under which they were announced.
#[derive(Debug, Clone)]
pub struct Attached {
    /// The id that the ticket gets.
    pub job: TicketId,
    /// The files, checked by [`super::attachments::claim`].
    pub files: Vec<AttachmentId>,
}

/// What dispatching came to.
#[derive(Debug, Clone)]
pub enum Dispatched {
    /// A new ticket.
    Filed {
        /// The ticket.
        ticket: Ticket,
        /// The ref of the ticket like it in spite of which it was filed.
        despite: Option<String>,
    },
    /// The ticket that the same operation key made before.
    Replayed(Ticket),
    /// A ticket that asks for the same; nothing was filed.
    Folded(Duplicate),
}

/// The ticket of an earlier dispatch with the same key.
pub fn replay(
    read: &Read<'_>,
    tenant: TenantId,
    key: Option<&str>,
) -> Result<Option<Ticket>, Fault> {
    match key {
        Some(key) => ticket::find_by_operation_key(read, tenant, key),
        None => Ok(None),
    }
}

/// Files a ticket, or finds the one that the same call filed before. The writer runs one call after
/// the other, so two equal calls at the same moment make one ticket. `look` is what was seen of the
/// project's tickets with the very title and description that are asked.
pub fn dispatch(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: &Project,
    asked: &Dispatch,
    look: Option<Look>,
) -> Result<Dispatched, Fault> {
    if let Some(earlier) = replay(tx, tenant, asked.operation_key.as_deref())? {
        return Ok(Dispatched::Replayed(earlier));
    }
    check_ready(project)?;
    let parents = find_parents(tx, tenant, project, asked)?;
    let (sent, drafted) = (asked, draft::drafted(asked));
    let drafted_by = drafted.as_ref().map(|(_, by)| *by);
    let asked = drafted.as_ref().map_or(sent, |(asked, _)| asked);
    let look = match look.filter(|_| drafted.is_none()) {
        Some(look) => look,
        None => duplicates::look(tx, tenant, project, &asked.title, &asked.description)?,
    };
    let like = look.duplicate(tx, tenant, project)?;
    if let Some(like) = like.as_ref().filter(|_| !asked.override_duplicate) {
        return Ok(Dispatched::Folded(like.clone()));
    }
    let despite = like.map(|like| like.ticket.reference());
    let ticket = file_whole(tx, tenant, project, asked, &parents, despite.as_deref())?;
    pipeline::start_waiting(tx, tenant, project)?;
    duplicates::remember(tx, tenant, &ticket, look.profile())?;
    conversations::record(tx, tenant, ticket.id, sent, drafted_by)?;
    Ok(Dispatched::Filed { ticket, despite })
}

/// A ticket's place among those that one call files together.
#[derive(Debug, Clone)]
pub struct InBatch {
    /// What they have in common.
    pub scope: ScopeId,
    /// What the call calls this one.
    pub name: String,
}

/// Files what is asked as one ticket, or as a chain of which it answers the root.
fn file_whole(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: &Project,
    asked: &Dispatch,
    parents: &[Ticket],
    despite: Option<&str>,
) -> Result<Ticket, Fault> {
    let filed = despite.map_or_else(
        || FILED.to_owned(),
        |like| format!("Filed although {like} asks for the same (override_duplicate)."),
    );
    let phases = chain::phases(project, asked);
    if phases.is_empty() {
        return file(tx, tenant, project, asked, parents, &filed, None);
    }
    let kind = asked.kind.unwrap_or_else(|| classify::kind(&asked.title, &asked.description));
    let whole = Dispatch { kind: Some(kind), ..asked.clone() };
    let mut tickets: Vec<Ticket> = Vec::with_capacity(phases.len());
    for (at, phase) in (1..).zip(&phases) {
        let before = tickets.last();
        let own = chain::asked_as(&whole, phase, before);
        let parents = before.map_or(parents, std::slice::from_ref).to_vec();
        let said = format!("{filed} It is phase {at} of {}.", phases.len());
        tickets.push(file(tx, tenant, project, &own, &parents, &said, None)?);
    }
    chain::record(tx, tenant, asked, &tickets)?;
    Ok(tickets.swap_remove(0))
}

/// What the timeline says of a ticket that was filed like most.
pub(super) const FILED: &str = "Filed.";

/// Files one ticket with its graph. It does not start before [`pipeline::start_waiting`]. `said` is
/// what its timeline says of it.
pub(super) fn file(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: &Project,
    asked: &Dispatch,
    parents: &[Ticket],
    said: &str,
    batch: Option<&InBatch>,
) -> Result<Ticket, Fault> {
    let kind = asked.kind.unwrap_or_else(|| classify::kind(&asked.title, &asked.description));
    let id = insert(tx, tenant, project, asked, kind, parents, batch)?;
    if let Some(attached) = &asked.attached {
        attachments::attach(tx, tenant, id, &attached.files)?;
    }
    for parent in parents {
        dependencies::add(tx, tenant, id, parent.id)?;
    }
    add_graph(tx, project, id, asked, kind, parents.len())?;
    let filed = Line {
        happened: Happened::Filed,
        actor: &asked.actor,
        text: &filed_text(said, parents),
        node: None,
    };
    timeline::record(tx, tenant, id, filed)?;
    ticket::get(tx, tenant, id)
}

/// Whether the project has what a ticket needs before anything can run.
pub(super) fn check_ready(project: &Project) -> Result<(), Fault> {
    let health = projects::health::judge(project, None);
    let Some(blocker) = health.blockers.first() else { return Ok(()) };
    let message = format!("{} {}", blocker.message, "A ticket needs it before it can be filed.");
    let mut fault = Fault::new(Code::ProjectNotReady, message);
    if let Some(section) = blocker.code.section() {
        let page = format!("/projects/{}/settings/{section}", project.slug);
        fault = fault.next(NextAction::Open(page));
    }
    Err(fault.next(NextAction::Run(blocker.fix.clone())))
}

fn find_parents(
    tx: &Tx<'_>,
    tenant: TenantId,
    project: &Project,
    asked: &Dispatch,
) -> Result<Vec<Ticket>, Fault> {
    if asked.depends_on.is_empty() {
        return Ok(Vec::new());
    }
    if !gives_reason(asked) {
        let message = "depends_on needs depends_on_reason: one sentence of at least 10 characters \
                       that names the landed output of the parent which this ticket consumes.";
        return Err(Fault::new(Code::DependsOnReasonRequired, message)
            .issue("depends_on_reason", "at least 10 characters"));
    }
    let mut parents: Vec<Ticket> = Vec::new();
    for (index, named) in asked.depends_on.iter().enumerate() {
        let parent = reference::resolve(tx, tenant, Some(project.id), named)
            .map_err(|fault| blame(fault, index))?;
        check_parent(&parent, index)?;
        if parents.iter().all(|known| known.id != parent.id) {
            parents.push(parent);
        }
    }
    Ok(parents)
}

/// Whether the sentence that names what is needed of the parents is one.
pub(super) fn gives_reason(asked: &Dispatch) -> bool {
    let reason = asked.depends_on_reason.as_deref().unwrap_or("").trim();
    reason.chars().count() >= REASON_MIN
}

/// A ref that leads nowhere, blamed on its own argument.
fn blame(fault: Fault, index: usize) -> Fault {
    let path = format!("depends_on[{index}]");
    match fault.code {
        Code::InvalidArgument => {
            Fault::argument(path, "expected a ref such as ACME-42, a UUID, #42 or 42")
        }
        _ => fault.issue(path, "no such ticket"),
    }
}

fn check_parent(parent: &Ticket, index: usize) -> Result<(), Fault> {
    let dead = matches!(parent.status, Status::Failed | Status::Timeout | Status::Cancelled);
    if !dead {
        return Ok(());
    }
    let message = format!(
        "{} is {} and will not land, so nothing can wait for it. Try it again with retry_ticket \
         first, or leave it out.",
        parent.reference(),
        parent.status
    );
    let path = format!("depends_on[{index}]");
    Err(Fault::new(Code::InvalidDependsOn, message).issue(path, format!("is {}", parent.status)))
}

fn insert(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: &Project,
    asked: &Dispatch,
    kind: Kind,
    parents: &[Ticket],
    batch: Option<&InBatch>,
) -> Result<TicketId, Fault> {
    let category = match asked.category.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => Some(projects::categories::ensure(tx, tenant, project.id, name)?.id),
        None => None,
    };
    let seq = to_int(projects::next_number(tx, tenant, project.id)?);
    let unmet = parents.iter().any(|parent| parent.status != Status::Succeeded);
    let status = if unmet { Status::Blocked } else { Status::Queued };
    let id = asked.attached.as_ref().map_or_else(|| tx.new_id(), |attached| attached.job);
    let now = tx.now();
    let requester = &asked.requester;
    tx.run_one(
        sql!("tickets.sql", "insert"),
        params! { ":id": id, ":tenant": tenant, ":project": project.id, ":seq": seq,
        ":title": asked.title, ":description": asked.description, ":status": status.word(),
        ":kind": kind.word(), ":preset": asked.preset.word(),
        ":pass_profile": asked.pass_profile.word(), ":origin": origin(project).word(),
        ":source": asked.source, ":depends_on_reason": asked.depends_on_reason,
        ":scope": batch.map(|batch| batch.scope),
        ":local_name": batch.map(|batch| batch.name.as_str()), ":replaces": asked.replaces,
        ":seed": asked.seed_from_ref,
        ":operation_key": asked.operation_key, ":category": category,
        ":requester_name": requester.name, ":requester_email": requester.email,
        ":requester_avatar_url": requester.avatar_url, ":requester_channel": requester.channel,
        ":requester_ref": requester.external_ref, ":filed_by": asked.actor, ":now": now },
    )?;
    Ok(id)
}

/// How the project plans its tickets.
const fn origin(project: &Project) -> Origin {
    match project.settings.pipeline {
        Pipeline::Dynamic => Origin::Dynamic,
        Pipeline::FivePassV1 => Origin::FivePassV1,
    }
}

/// The nodes of the first graph of a ticket, in their order.
pub(super) fn planned(
    project: &Project,
    asked: &Dispatch,
    kind: Kind,
    parents: usize,
) -> Vec<NodeKind> {
    plan::plan(&plan::Asked {
        kind,
        preset: asked.preset,
        passes: asked.pass_profile,
        title: &asked.title,
        description: &asked.description,
        parents,
        pipeline: project.settings.pipeline,
        looks_at_deployment: project.settings.landing.deploy_verify.is_some(),
    })
}

fn add_graph(
    tx: &mut Tx<'_>,
    project: &Project,
    ticket: TicketId,
    asked: &Dispatch,
    kind: Kind,
    parents: usize,
) -> Result<(), Fault> {
    let planned = planned(project, asked, kind, parents);
    let mut before = Vec::new();
    for (index, kind) in (1_i64..).zip(planned) {
        let added = node::add(
            tx,
            project.tenant,
            &node::NewNode {
                ticket,
                position: index * plan::SPACING,
                kind,
                ordinal: 1,
                brief: None,
                parents: &before,
            },
        )?;
        before = vec![added];
    }
    Ok(())
}

fn filed_text(said: &str, parents: &[Ticket]) -> String {
    let waits: Vec<String> = parents
        .iter()
        .filter(|parent| parent.status != Status::Succeeded)
        .map(Ticket::reference)
        .collect();
    if waits.is_empty() {
        said.to_owned()
    } else {
        text::cut(&format!("{said} Waits for {}.", waits.join(", ")), 500)
    }
}
