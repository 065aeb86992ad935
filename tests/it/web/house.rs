//! Jobs, the audit log, and the server itself.

use std::time::Duration;

use assay::accounts::Role;
use assay::store::{Backup, note_backup};
use http::StatusCode;
use serde_json::json;

use super::Server;

#[tokio::test]
async fn jobs_show_what_waits_and_lead_to_their_tickets() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    server.dispatch(&acme, "Run me").await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/jobs").await.body;

    assert!(page.contains("href=\"/tickets/ACME-1\""), "{page}");
    assert!(page.contains("Waiting") && page.contains("0 of 10"), "{page}");
    let (_, rest) = page.split_once("href=\"/jobs/").unwrap();
    let path = format!("/jobs/{}", rest.split('"').next().unwrap());
    let job = ada.get(&path).await;
    assert_eq!(job.status, StatusCode::OK);
    assert!(job.body.contains("Cancel the ticket") && !job.body.contains("Retry the ticket"));
    let eve = server.signed_in("eve@example.com").await;
    assert_eq!(eve.get(&path).await.status, StatusCode::NOT_FOUND);
    assert!(!eve.get("/jobs").await.body.contains("ACME-1"));
    let foreign = eve.submit("/jobs", &format!("{path}/cancel"), &[]).await;
    assert_eq!(foreign.status, StatusCode::NOT_FOUND);

    let cancelled = ada.submit(&path, &format!("{path}/cancel"), &[]).await;

    assert_eq!(cancelled.location(), format!("{path}?did=job-cancelled"));
    let after = ada.get(cancelled.location()).await.body;
    assert!(after.contains("The ticket of the job is cancelled"), "{after}");
    assert!(after.contains("Retry the ticket") && !after.contains("Cancel the ticket"), "{after}");
    let again = ada.submit(&path, &format!("{path}/retry"), &[]).await;
    assert_eq!(again.location(), format!("{path}?did=job-retried"));
    for query in ["state=cancelled", "state=ready&kind=run_node"] {
        let page = ada.get(&format!("/jobs?{query}")).await.body;
        assert!(page.contains("href=\"/jobs/"), "{query}: {page}");
    }
    let none = ada.get("/jobs?state=failed&kind=%3Cscript%3E").await.body;
    assert!(none.contains("No job has failed") && !none.contains("<script>\""), "{none}");
}

#[tokio::test]
async fn a_failed_job_shows_its_attempts_as_they_were_written() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Viewer).await;
    server.dispatch(&acme, "Fail me").await;
    let failed = "UPDATE jobs SET state = 'failed', finished_at = 1785333600000, attempt = 2,
        claims = 2, errors = '[{\"attempt\":1,\"at\":1785333500000,\"message\":\"<b>no</b>\"},
        {\"attempt\":2,\"at\":1785333600000,\"message\":\"The disk is full.\\nFree some.\"}]'
        WHERE kind = 'run_node'";
    server.app.env().db.raw(failed).unwrap();
    let ada = server.signed_in("ada@example.com").await;

    let list = ada.get("/jobs").await.body;

    assert!(list.contains("The disk is full.") && !list.contains("Free some."), "{list}");
    let (_, rest) = list.split_once("href=\"/jobs/").unwrap();
    let path = format!("/jobs/{}", rest.split('"').next().unwrap());
    let job = ada.get(&path).await.body;
    assert!(job.contains("Attempt 1") && job.contains("&#60;b&#62;no"), "{job}");
    assert!(job.contains("2 of 10") && job.contains("Free some."), "{job}");
    assert!(!job.contains("Cancel the ticket"), "a viewer has no buttons: {job}");
    let pressed = ada.submit(&path, &format!("{path}/cancel"), &[]).await;
    assert_eq!(pressed.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_audit_log_is_filtered_by_who_what_and_when() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Admin).await;
    let other = server.team("Other", "eve@example.com", Role::Owner).await;
    server.dispatch(&acme, "One").await;
    server.dispatch(&other, "Not for Ada").await;
    server.clock.advance(Duration::from_hours(48));
    let ada = server.signed_in("ada@example.com").await;
    ada.submit("/tickets/ACME-1", "/tickets/ACME-1/cancel", &[]).await;
    let late = json!({ "project": "Acme Widgets", "title": "Two", "description": "x" });
    server.call(&acme, "dispatch_ticket", late).await;
    let rows = |body: &str| body.matches("<td class=\"nowrap\"><code>").count();

    let all = ada.get("/audit").await.body;

    assert_eq!(rows(&all), 3, "{all}");
    assert!(all.contains("user ada@example.com") && all.contains("Command line"), "{all}");
    for (query, wanted) in [
        ("who=ADA", 1),
        ("who=nobody", 0),
        ("action=dispatch", 2),
        ("action=cancel_ticket&who=ada", 1),
        ("to=2026-07-29", 1),
        ("to=2026-07-28", 0),
        ("from=2026-07-30", 2),
        ("from=2026-07-29&to=2026-07-31", 3),
        ("from=soon", 3),
    ] {
        let page = ada.get(&format!("/audit?{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}");
        assert_eq!(rows(&page.body), wanted, "{query}: {}", page.body);
    }
    let unread = ada.get("/audit?from=%22%3E%3Cscript%3E").await.body;
    assert!(unread.contains("A day is written as") && !unread.contains("\"><script>"), "{unread}");
}

#[tokio::test]
async fn the_audit_log_has_pages() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    for n in 0..130 {
        let args = json!({ "name": format!("Project {n}"), "confirm": true });
        server.call(&acme, "create_project", args).await;
    }
    let ada = server.signed_in("ada@example.com").await;
    let rows = |body: &str| body.matches("<code>create_project</code>").count();

    let first = ada.get("/audit?who=command&action=create").await.body;
    let (before, _) = first.split_once("\" rel=\"next\"").unwrap();
    let next = before.rsplit("href=\"").next().unwrap().replace("&#38;", "&");
    let second = ada.get(&next).await.body;

    assert_eq!((rows(&first), rows(&second)), (100, 30), "{next}");
    assert!(!second.contains("rel=\"next\""));
}

#[tokio::test]
async fn the_server_says_how_it_stands_without_a_secret() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Admin).await;
    server.dispatch(&acme, "Wait").await;
    server.app.env().blobs.put(b"a log").unwrap();
    server.clock.advance(Duration::from_hours(3));
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/system").await.body;

    for said in [
        env!("CARGO_PKG_VERSION"),
        "3 h",
        "1 file, 5 B",
        "0001_foundation",
        "127.0.0.1:7171",
        "--rate-limit",
        "Found, version",
        "free of",
        "The check of the whole file has not ended yet.",
        "Run node",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let data = server.app.env().paths.data().display().to_string();
    assert!(page.contains(&data), "{page}");
}

#[tokio::test]
async fn what_is_the_host_s_is_shown_to_the_team_that_runs_it_alone() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Admin).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    server.dispatch(&acme, "Wait").await;
    let (ada, eve) =
        (server.signed_in("ada@example.com").await, server.signed_in("eve@example.com").await);
    let data = server.app.env().paths.data().display().to_string();
    let of_host = [&*data, "127.0.0.1:7171", "free of", "Memory", "Run node", "Write-ahead", "Git"];

    let (shown, kept_back) = (ada.get("/system").await.body, eve.get("/system").await);

    assert_eq!(kept_back.status, StatusCode::OK);
    for fact in of_host.into_iter().filter(|fact| *fact != "Write-ahead") {
        assert!(shown.contains(fact), "{fact}: {shown}");
    }
    for fact in of_host.into_iter().chain(["Acme", "acme"]) {
        assert!(!kept_back.body.contains(fact), "{fact}: {}", kept_back.body);
    }
    for fact in [env!("CARGO_PKG_VERSION"), "The check of the whole file", "those who run it"] {
        assert!(kept_back.body.contains(fact), "{fact}: {}", kept_back.body);
    }
}

#[tokio::test]
async fn the_system_page_tells_of_the_last_backup() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let taken_at = server.clock.now();
    let none = ada.get("/system").await.body;
    assert!(none.contains("None was taken yet") && none.contains("assay backup DIR"), "{none}");
    let backup = Backup {
        taken_at,
        folder: "/copies/<b>".into(),
        bytes: 2_048,
        took_ms: 1_500,
        has_key: false,
    };
    server.write(move |tx| note_backup(tx, &backup)).await;
    server.clock.advance(Duration::from_hours(3));

    let page = ada.get("/system").await.body;

    for said in ["The last one was taken 3 h ago", "without secrets.key", "/copies/&#60;b&#62;"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("assay backup DIR"), "{page}");
    server.clock.advance(Duration::from_hours(24 * 8));
    let old = ada.get("/system").await.body;
    assert!(old.contains("8 d ago") && old.contains("assay backup DIR"), "{old}");
}

#[tokio::test]
async fn the_house_is_for_those_who_manage_it() {
    let server = Server::start();
    server.team("Acme", "mo@example.com", Role::Member).await;
    let mo = server.signed_in("mo@example.com").await;

    for path in ["/audit", "/system", "/people"] {
        assert_eq!(mo.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(server.browser().get(path).await.status, StatusCode::SEE_OTHER, "{path}");
    }
    let home = mo.get("/jobs").await.body;
    assert!(!home.contains("href=\"/audit\"") && home.contains("href=\"/account\""), "{home}");
}
