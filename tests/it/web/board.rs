//! The board: where tickets stand, what it says where there are none, and whose they are.

use assay::accounts::Role;
use serde_json::json;

use super::Server;

#[tokio::test]
async fn a_board_has_a_column_for_each_state() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "Add a <toggle>").await;
    let waits = json!({ "title": "Use the toggle", "depends_on": ["ACME-1"],
        "depends_on_reason": "Uses the toggle that it adds." });
    server.call(&acme, "dispatch_ticket", waits).await;
    server.dispatch(&acme, "Sweep the yard").await;
    let late = "UPDATE tickets SET status = 'timeout', completed_at = created_at WHERE seq = 3";
    server.app.env().db.raw(late).unwrap();
    server.team("Other", "eve@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let eve = server.signed_in("eve@example.com").await;

    let page = ada.get("/tickets?view=board").await.body;
    let column = |title: &str| {
        let (_, rest) = page.split_once(&format!("id=\"col-{title}\"")).unwrap();
        rest.split("</section>").next().unwrap().to_owned()
    };

    assert!(column("queued").contains("Add a &#60;toggle&#62;"), "{page}");
    assert!(column("blocked").contains("Use the toggle"), "{page}");
    assert!(column("running").contains("Nothing runs."), "{page}");
    assert!(column("failed").contains("Sweep the yard") && column("failed").contains("Timed out"));
    assert!(column("queued").contains("0 of 6 nodes done"), "{page}");
    assert!(page.contains("data-events=\"/events\""));
    let narrowed = ada.get("/tickets?view=board&q=yard").await.body;
    assert!(narrowed.contains("Sweep the yard") && !narrowed.contains("Use the toggle"));
    assert!(!eve.get("/tickets?view=board").await.body.contains("toggle"));
}
