//! Tickets whose runs nobody is left to end: what a crash, or many of them, took.

use assay::accounts::KeyScope;
use assay::accounts::keys::{self, NewKey};
use assay::base::{Fault, NodeId, TenantId, TicketId};
use assay::store::Tx;
use assay::tickets::landing::{self, Intent};
use assay::tickets::node::Node;
use assay::tickets::pipeline::record;
use serde_json::json;

use super::{still, titled};
use crate::harness::TestApp;

async fn write(
    app: &TestApp,
    change: impl FnOnce(&mut Tx<'_>) -> Result<(), Fault> + Send + 'static,
) {
    app.app.env().db.write(change).await.unwrap();
}

fn uuid(app: &TestApp, sql: &str) -> uuid::Uuid {
    app.column(sql)[0].parse().unwrap()
}

/// The only ticket.
fn ticket(app: &TestApp) -> (TenantId, TicketId) {
    let tenant = uuid(app, "SELECT hex(tenant_id) FROM tickets");
    (TenantId::from_uuid(tenant), TicketId::from_uuid(uuid(app, "SELECT hex(id) FROM tickets")))
}

/// The node of the landing, which has started.
fn landing_node(tx: &mut Tx<'_>, tenant: TenantId, id: NodeId) -> Result<Node, Fault> {
    let started = record::start(tx, tenant, id, None)?;
    Ok(started.expect("it may start").1)
}

#[tokio::test]
async fn a_key_of_an_agent_ends_with_its_ticket_however_that_ends() {
    let (app, caller) = still().await;
    caller.dispatch(titled("T")).await;
    let (tenant, ticket) = ticket(&app);
    write(&app, move |tx| {
        let plain = NewKey::plain("agent", KeyScope::McpRead, "assay");
        keys::create(tx, tenant, &NewKey { ticket: Some(ticket), ..plain }).map(drop)
    })
    .await;

    caller.call("cancel_ticket", json!({ "ticket": "#1" })).await;

    let good = "SELECT name FROM api_keys WHERE ticket_id IS NOT NULL AND revoked_at IS NULL";
    assert_eq!(app.column(good), Vec::<String>::new());
}

#[tokio::test]
async fn a_landing_that_may_have_moved_the_base_is_never_given_up() {
    let (app, caller) = still().await;
    caller.dispatch(titled("T")).await;
    let (tenant, ticket) = ticket(&app);
    let land = NodeId::from_uuid(uuid(&app, "SELECT hex(id) FROM nodes WHERE kind = 'land'"));

    write(&app, move |tx| {
        let running = landing_node(tx, tenant, land)?;
        let (before, commit) = ("a".repeat(40), "b".repeat(40));
        let intent = Intent {
            repository: "r",
            base_branch: "main",
            base_before: &before,
            commit: &commit,
            head: &commit,
        };
        landing::intend(tx, tenant, ticket, &intent)?;
        for _ in 0..3 * record::INTERRUPTIONS_MAX {
            assert!(record::interrupt(tx, tenant, &running)?);
        }
        record::lose(tx, tenant, land, "The run was cut short before it could report.")
    })
    .await;

    let stands = "SELECT t.status || ' ' || n.status FROM tickets t JOIN nodes n
        ON n.ticket_id = t.id WHERE n.kind = 'land'";
    assert_eq!(app.column(stands), ["running queued"]);
}

/// More blocked children of the first ticket than are looked at in one go, as the second is one.
const MANY_CHILDREN: &str = "
    INSERT INTO tickets (id, tenant_id, project_id, seq, title, description, status, kind, preset,
                         pass_profile, origin, graph_status, filed_by, created_at)
    WITH RECURSIVE k (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM k WHERE i < 1102)
    SELECT randomblob(16), tenant_id, project_id, i, 'Child ' || i, '', 'blocked', kind, preset,
           pass_profile, origin, graph_status, filed_by, created_at
    FROM   k, tickets WHERE seq = 2;
    INSERT INTO ticket_dependencies (ticket_id, parent_id, tenant_id)
    SELECT c.id, p.id, p.tenant_id FROM tickets c, tickets p WHERE p.seq = 1 AND c.seq > 2;";

#[tokio::test]
async fn every_child_of_a_ticket_that_failed_is_cancelled_however_many_they_are() {
    let (app, caller) = still().await;
    caller.dispatch(titled("Parent")).await;
    let (tenant, _) = ticket(&app);
    let child = json!({ "title": "Child", "depends_on": ["#1"],
        "depends_on_reason": "It builds on its parent." });
    caller.dispatch(child).await;
    app.app.env().db.raw(MANY_CHILDREN).unwrap();
    let first = "SELECT hex(n.id) FROM nodes n JOIN tickets t ON t.id = n.ticket_id
        WHERE t.seq = 1 ORDER BY n.position";
    let node = NodeId::from_uuid(uuid(&app, first));

    write(&app, move |tx| record::lose(tx, tenant, node, "The run was cut short.")).await;

    let ends = "SELECT status || ' ' || count(*) FROM tickets GROUP BY status ORDER BY status";
    assert_eq!(app.column(ends), ["cancelled 1101", "failed 1"]);
}
