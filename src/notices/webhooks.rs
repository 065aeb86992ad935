//! The webhooks of a project.

use super::address;
use super::event::Event;
use super::signature;
use crate::base::redact::redact;
use crate::base::text::{cut, printable};
use crate::base::{Code, Fault, Millis, ProjectId, Secret, TenantId, WebhookId};
use crate::store::{Read, Row, Tx, to_json};
use crate::{params, sql};

/// Webhooks of a project at most.
pub const MOST: usize = 20;

/// The same, as a statement takes it.
const MOST_ROWS: u32 = 20;

/// Characters of the reason that one is off.
const REASON_MAX: usize = 300;

/// Somebody who is told of a project's events.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The webhook.
    pub id: WebhookId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The project that it is told of.
    pub project: ProjectId,
    /// Where it is told. Some receivers take the address itself for a password.
    pub url: String,
    /// What it is told of.
    pub events: Vec<Event>,
    /// Whether it may lead to this machine and its own network.
    pub is_private: bool,
    /// The sealed secret.
    pub secret: Vec<u8>,
    /// Why it is off; `None` while it is on.
    pub off: Option<String>,
    /// Deliveries that failed since the last that did not.
    pub failures: u32,
    /// Since when they fail.
    pub failing_since: Option<Millis>,
    /// Until when it is left alone.
    pub paused_until: Option<Millis>,
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_at: Millis,
}

impl Webhook {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            project: row.get("project_id")?,
            url: row.get("url")?,
            events: row.json("events")?,
            is_private: row.get("is_private")?,
            secret: row.get("secret")?,
            off: row.get("off_reason")?,
            failures: row.get("failures")?,
            failing_since: row.get("failing_since")?,
            paused_until: row.get("paused_until")?,
            created_by: row.get("created_by")?,
            created_at: row.get("created_at")?,
        })
    }

    /// The secret that signs what it is told. `None` where it cannot be read any more.
    pub fn secret(&self, read: &Read<'_>) -> Result<Option<Secret>, Fault> {
        let opened = read.vault().open(&purpose(&self.tenant, &self.id), &self.secret)?;
        Ok(opened.ok().and_then(|text| String::from_utf8(text).ok()).map(Secret::new))
    }
}

/// What the secret of a webhook is sealed for.
fn purpose<'a>(tenant: &'a TenantId, id: &'a WebhookId) -> [&'a [u8]; 3] {
    [tenant.bytes(), b"webhook", id.bytes()]
}

/// A webhook to be made.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// The project.
    pub project: ProjectId,
    /// Where it is told.
    pub url: String,
    /// What it is told of; none for everything.
    pub events: Vec<Event>,
    /// Whether it may lead to this machine and its own network, which only an owner may say.
    pub is_private: bool,
    /// Who makes it, as the audit log names them.
    pub by: String,
}

/// Makes a webhook, and the secret that signs what it is told: shown this once.
///
/// # Errors
/// An address that it may not have, an event that is none, and one webhook too many are refused.
pub fn create(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    new: &NewWebhook,
) -> Result<(Webhook, Secret), Fault> {
    let url = address::parse(&new.url, new.is_private)?;
    if new.events.contains(&Event::Test) {
        return Err(Fault::argument("events", "webhook.test is sent to each when it is tried."));
    }
    if list(tx, tenant, new.project)?.len() >= MOST {
        let said = format!("The project has {MOST} webhooks, and may not have more. Remove one.");
        return Err(Fault::new(Code::Conflict, said));
    }
    let mut events =
        if new.events.is_empty() { Event::choosable().collect() } else { new.events.clone() };
    events.sort_unstable();
    events.dedup();
    let (id, now): (WebhookId, _) = (tx.new_id(), tx.now());
    let secret = signature::new_secret(tx.entropy());
    let sealed = tx.vault().seal(&purpose(&tenant, &id), secret.reveal().as_bytes())?;
    tx.run_one(
        sql!("webhooks.sql", "insert"),
        params! { ":id": id, ":tenant": tenant, ":project": new.project, ":url": url.as_str(),
        ":events": to_json(&events)?, ":private": new.is_private, ":secret": sealed,
        ":by": new.by, ":now": now },
    )?;
    let made = find(tx, tenant, id)?;
    Ok((made.ok_or_else(|| Fault::internal("a webhook that was just made is gone"))?, secret))
}

/// The webhook with this id.
pub fn find(read: &Read<'_>, tenant: TenantId, id: WebhookId) -> Result<Option<Webhook>, Fault> {
    let by_id = params! { ":tenant": tenant, ":id": id };
    read.find(sql!("webhooks.sql", "find"), by_id, Webhook::from_row)
}

/// The webhook with this id, or the answer that hides whether it is absent or another tenant's.
pub fn get(read: &Read<'_>, tenant: TenantId, id: WebhookId) -> Result<Webhook, Fault> {
    let absent = || Fault::new(Code::NotFound, "There is no such webhook.");
    find(read, tenant, id)?.ok_or_else(absent)
}

/// A project's webhooks, oldest first.
pub fn list(read: &Read<'_>, tenant: TenantId, project: ProjectId) -> Result<Vec<Webhook>, Fault> {
    let of = params! { ":tenant": tenant, ":project": project, ":limit": MOST_ROWS };
    read.list(sql!("webhooks.sql", "list"), of, Webhook::from_row)
}

/// Switches a webhook on, as if it had never failed.
pub fn switch_on(tx: &mut Tx<'_>, tenant: TenantId, id: WebhookId) -> Result<(), Fault> {
    let which = params! { ":tenant": tenant, ":id": id };
    tx.run_one(sql!("webhooks.sql", "switch_on"), which)
}

/// Switches a webhook off. What it has not been told yet is dropped.
pub fn switch_off(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: WebhookId,
    why: &str,
) -> Result<(), Fault> {
    let why = cut(&printable(&redact(why)), REASON_MAX);
    let which = params! { ":tenant": tenant, ":id": id, ":why": why };
    tx.run_one(sql!("webhooks.sql", "switch_off"), which)?;
    drop_pending(tx, tenant, id)
}

/// Removes a webhook and its secret. Its log is kept as long as that of others.
pub fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: WebhookId) -> Result<(), Fault> {
    let now = tx.now();
    let which = params! { ":tenant": tenant, ":id": id, ":now": now };
    tx.run_one(sql!("webhooks.sql", "remove"), which)?;
    drop_pending(tx, tenant, id)
}

fn drop_pending(tx: &mut Tx<'_>, tenant: TenantId, id: WebhookId) -> Result<(), Fault> {
    let now = tx.now();
    let which = params! { ":tenant": tenant, ":webhook": id, ":now": now };
    tx.run(sql!("webhooks.sql", "drop_pending"), which).map(drop)
}

/// Events by their words, which commas or spaces part.
///
/// # Errors
/// Names a word that is no event, and lists those that are.
pub fn parse_events(text: &str) -> Result<Vec<Event>, Fault> {
    let words = text.split([',', ' ', '\n']).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let event = Event::parse(word).filter(|event| *event != Event::Test);
            event.ok_or_else(|| {
                let known: Vec<&str> = Event::choosable().map(Event::word).collect();
                let said = format!("{word:?} is none; there are {}.", known.join(", "));
                Fault::argument("events", said)
            })
        })
        .collect()
}
