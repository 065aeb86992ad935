//! Who is told of what happens, through the real doors, to receivers on loopback.

mod forms;
mod mails;
mod receivers;
mod tls;
mod webhooks;

use assay::base::{Fault, Id, MessageId, ProjectId, Secret, TenantId, WebhookId};
use assay::notices::deliveries::{self, Attempt, Message};
use assay::notices::webhooks::{NewWebhook, create, find};
use assay::notices::{Event, outbox};

use crate::harness::{Receiver, TestApp};

/// A webhook, and what signs what it is told.
struct Hooked {
    tenant: TenantId,
    project: ProjectId,
    id: WebhookId,
    secret: Secret,
}

/// Adds a webhook that leads to a receiver of this machine.
async fn hook(
    app: &TestApp,
    (tenant, project): (TenantId, ProjectId),
    receiver: &Receiver,
    events: &[Event],
) -> Hooked {
    let new = wanted(project, receiver.url(), events);
    let made = app.app.env().db.write(move |tx| create(tx, tenant, &new)).await;
    let (webhook, secret) = made.unwrap();
    Hooked { tenant, project, id: webhook.id, secret }
}

/// The one project that there is.
fn sole_project(app: &TestApp) -> ProjectId {
    id_of(&app.column("SELECT hex(id) FROM projects")[0])
}

/// The id whose bytes the database writes so.
pub(crate) fn id_of<K>(hex: &str) -> Id<K> {
    Id::from_uuid(uuid::Uuid::parse_str(hex).unwrap())
}

fn wanted(project: ProjectId, url: String, events: &[Event]) -> NewWebhook {
    NewWebhook { project, url, events: events.to_vec(), is_private: true, by: "test".to_owned() }
}

impl Hooked {
    /// Has it told that this is a test.
    async fn test(&self, app: &TestApp) -> MessageId {
        let (tenant, project, id) = (self.tenant, self.project, self.id);
        let put = app.app.env().db.write(move |tx| outbox::test(tx, tenant, project, id));
        put.await.unwrap()
    }

    async fn send_again(&self, app: &TestApp, message: MessageId) -> Result<Message, Fault> {
        let tenant = self.tenant;
        app.app.env().db.write(move |tx| deliveries::send_again(tx, tenant, message)).await
    }

    /// What it was told, newest first, with the last try of each.
    async fn log(&self, app: &TestApp) -> Vec<(Message, Option<Attempt>)> {
        let (tenant, id) = (self.tenant, self.id);
        app.app.env().db.read(move |read| deliveries::log(read, tenant, id, 200)).await.unwrap()
    }

    /// Why it is off, if it is.
    async fn off(&self, app: &TestApp) -> Option<String> {
        let (tenant, id) = (self.tenant, self.id);
        let found = app.app.env().db.read(move |read| find(read, tenant, id)).await;
        found.unwrap().unwrap().off
    }
}
