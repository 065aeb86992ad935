//! From what happened to what is to be told of it, in one transaction with what happened. A project
//! that tells nobody costs one look at the database.

use super::TellWebhook;
use super::event::{Event, Facts, ProofFacts, TicketFacts};
use crate::base::redact::redact;
use crate::base::text::{cut, first_line, printable};
use crate::base::{Fault, MessageId, Millis, ProjectId, ProofId, TenantId, TicketId, WebhookId};
use crate::jobs::{self, Enqueue};
use crate::store::{Read, Row, Tx, to_json};
use crate::{params, sql};

/// What a webhook may have to be told at most; what comes beyond that is dropped, and its log says
/// so.
pub const PENDING_MAX: u64 = 1_000;

/// How often a message is tried before it is given up, see
/// [`wait_after`](super::deliveries::wait_after).
pub const ATTEMPTS_MAX: u32 = 8;

/// Webhooks of a project that are told of one event.
const LISTENERS_MAX: u32 = 20;

/// Characters of what is said in words, and of a title.
const TEXT_MAX: usize = 500;

/// What happened to a ticket.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'a> {
    /// It has come to where it stands.
    Status,
    /// Its work was put on its base branch.
    Landed,
    /// A proof was made for it.
    Proof {
        /// The proof.
        id: ProofId,
        /// What was found.
        verdict: &'a str,
    },
}

/// Somebody who wants to know.
struct Listener {
    webhook: WebhookId,
    paused_until: Option<Millis>,
    pending: u64,
}

impl Listener {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            webhook: row.get("id")?,
            paused_until: row.get("paused_until")?,
            pending: row.unsigned("pending")?,
        })
    }
}

/// Says what happened to a ticket to everybody who wants to know. `text` is in words; what looks
/// like a credential is left out of it.
pub fn tell(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    happening: Happening<'_>,
    text: &str,
) -> Result<(), Fault> {
    let Some(facts) = subject(tx, tenant, ticket, happening, text)? else { return Ok(()) };
    let status = facts.ticket.as_ref().map_or("", |ticket| ticket.status.as_str());
    let event = match happening {
        Happening::Status => Event::of_status(status),
        Happening::Landed => Some(Event::TicketLanded),
        Happening::Proof { .. } => Some(Event::ProofMade),
    };
    let Some(event) = event else { return Ok(()) };
    let wanted = params! { ":tenant": tenant, ":project": facts.project, ":event": event.word(),
    ":limit": LISTENERS_MAX };
    let listeners = tx.list(sql!("webhooks.sql", "listeners"), wanted, Listener::from_row)?;
    for listener in listeners {
        put(tx, tenant, &listener, event, &facts)?;
    }
    Ok(())
}

/// What is said of a ticket; `None` where its project tells nobody.
fn subject(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    happening: Happening<'_>,
    text: &str,
) -> Result<Option<Facts>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    let found = read.find(sql!("webhooks.sql", "subject"), of, |row| {
        if !row.get::<bool>("has_webhooks")? {
            return Ok(None);
        }
        Ok(Some(Facts {
            project: row.get("project_id")?,
            project_name: clean(&row.get::<String>("project_name")?),
            ticket: Some(TicketFacts {
                id: ticket,
                reference: reference(row)?,
                title: clean(&row.get::<String>("title")?),
                status: row.get("status")?,
                commit: row.get("commit_sha")?,
                base_branch: row.get("base_branch")?,
            }),
            project_key: row.get("project_key")?,
            text: clean(text),
            proof: match happening {
                Happening::Proof { id, verdict } => {
                    Some(ProofFacts { id, verdict: verdict.to_owned() })
                }
                Happening::Status | Happening::Landed => None,
            },
        }))
    })?;
    Ok(found.flatten())
}

/// How a ticket is named in what is said of it.
pub(super) fn reference(row: &Row<'_>) -> Result<String, Fault> {
    let (key, number): (Option<String>, _) = (row.get("project_key")?, row.unsigned("seq")?);
    Ok(match key {
        Some(key) => format!("{key}-{number}"),
        None => format!("#{number}"),
    })
}

/// One line without credentials and control characters.
pub(super) fn clean(text: &str) -> String {
    let text = redact(text);
    cut(&printable(first_line(&text)).replace('\t', " "), TEXT_MAX)
}

/// A message for one webhook, to see whether it arrives.
pub fn test(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    project: ProjectId,
    webhook: WebhookId,
) -> Result<MessageId, Fault> {
    let of = params! { ":tenant": tenant, ":project": project };
    let facts = tx.find(sql!("webhooks.sql", "project_subject"), of, |row| {
        Ok(Facts {
            project,
            project_key: row.get("project_key")?,
            project_name: clean(&row.get::<String>("project_name")?),
            text: "A test of this webhook.".to_owned(),
            ticket: None,
            proof: None,
        })
    })?;
    let facts = facts.ok_or_else(|| Fault::internal("a webhook has no project"))?;
    let listener = Listener { webhook, paused_until: None, pending: 0 };
    put(tx, tenant, &listener, Event::Test, &facts)
}

fn put(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    listener: &Listener,
    event: Event,
    facts: &Facts,
) -> Result<MessageId, Fault> {
    let (id, now): (MessageId, _) = (tx.new_id(), tx.now());
    let has_room = listener.pending < PENDING_MAX;
    tx.run_one(
        sql!("webhooks.sql", "add_message"),
        params! { ":id": id, ":tenant": tenant, ":webhook": listener.webhook,
        ":event": event.word(), ":facts": to_json(facts)?,
        ":state": if has_room { "pending" } else { "dropped" }, ":attempts_max": ATTEMPTS_MAX,
        ":next_at": has_room.then_some(now), ":now": now,
        ":settled_at": (!has_room).then_some(now) },
    )?;
    if has_room {
        wake(tx, tenant, listener.webhook, listener.paused_until)?;
    }
    Ok(id)
}

/// Has a webhook told what is due: at once, or where it is left alone for a while, after that.
pub(super) fn wake(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    webhook: WebhookId,
    paused_until: Option<Millis>,
) -> Result<(), Fault> {
    let (job, now) = (TellWebhook { webhook }, tx.now());
    match paused_until.filter(|until| *until > now) {
        // Its job is there and waits; where it is not, it begins when the webhook may be called.
        Some(until) => {
            let later = Enqueue { run_at: Some(until), ..Enqueue::of(tenant) };
            jobs::enqueue(tx, &job, later)?
        }
        None => jobs::enqueue_now(tx, &job, Enqueue::of(tenant))?,
    };
    Ok(())
}
