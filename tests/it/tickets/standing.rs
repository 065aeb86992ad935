//! Tickets that stand still although something could be done: the sweep moves them on.

use assay::jobs::{self, Enqueue};
use assay::tickets::jobs::SweepTickets;
use serde_json::json;

use super::{still, titled};
use crate::harness::TestApp;

/// Sweeps once, and runs whatever becomes due by it.
async fn sweep(app: &TestApp) {
    let job = SweepTickets::default();
    let asked = app.app.env().db.write(move |tx| jobs::enqueue(tx, &job, Enqueue::default()));
    asked.await.unwrap();
    app.app.worker().drain().await.unwrap();
}

/// Leaves the first node of every ticket running, with a job that ended without it.
const DESERTED: &str = "
    UPDATE tickets SET status = 'running';
    UPDATE nodes SET status = 'running', attempt = 1 WHERE job_id IS NOT NULL;
    UPDATE jobs SET state = 'done', finished_at = created_at;";

const INTERRUPTED: &str = "SELECT seq || ' ' || interrupt_count FROM tickets ORDER BY n";

#[tokio::test]
async fn a_node_that_is_said_to_run_and_has_no_job_is_run_again() {
    let (app, caller) = still().await;
    caller.dispatch(titled("Its job ended without it")).await;
    app.app.env().db.raw(DESERTED).unwrap();

    sweep(&app).await;

    assert_eq!(app.column(INTERRUPTED), ["1 1"]);
    let first = "SELECT attempt || ' ' || status FROM nodes ORDER BY position LIMIT 1";
    assert_eq!(app.column(first), ["2 failed"], "it ran, and the project has no repository");
}

#[tokio::test]
async fn one_row_that_cannot_be_read_keeps_no_other_ticket_from_moving_on() {
    let (app, caller) = still().await;
    caller.dispatch(titled("Of a version that nobody knows")).await;
    caller.dispatch(titled("Its job is gone")).await;
    let db = &app.app.env().db;
    db.raw(DESERTED).unwrap();
    db.raw(
        "DELETE FROM jobs; PRAGMA ignore_check_constraints = ON;
         UPDATE tickets SET preset = 'unheard of' WHERE seq = 1",
    )
    .unwrap();

    sweep(&app).await;

    assert_eq!(app.column(INTERRUPTED), ["1 0", "2 1"]);
    db.raw("UPDATE tickets SET preset = 'trivial' WHERE seq = 1").unwrap();
}

#[tokio::test]
async fn a_ticket_that_waits_for_nothing_any_more_is_let_go() {
    let (app, caller) = still().await;
    caller.dispatch(titled("Parent")).await;
    let mut child = titled("Child");
    child["depends_on"] = json!(["ACME-1"]);
    child["depends_on_reason"] = json!("It builds on its parent.");
    assert_eq!(caller.dispatch(child).await["status"], "blocked");
    let landed = "DELETE FROM jobs;
        UPDATE tickets SET status = 'succeeded', completed_at = created_at WHERE seq = 1";
    app.app.env().db.raw(landed).unwrap();

    sweep(&app).await;

    let status = "SELECT status FROM tickets WHERE seq = 2";
    assert_eq!(app.column(status), ["failed"], "it ran, and the project has no repository");
}

#[tokio::test]
async fn a_ticket_that_is_interrupted_again_and_again_ends_and_a_retry_starts_the_count_anew() {
    let (app, caller) = still().await;
    caller.dispatch(titled("Too often")).await;
    let db = &app.app.env().db;
    db.raw(DESERTED).unwrap();
    db.raw("UPDATE nodes SET interrupts = 10 WHERE status = 'running'").unwrap();
    let reason = "SELECT failure_reason FROM tickets";

    sweep(&app).await;
    assert!(app.column(reason)[0].contains("was interrupted 10 times"), "{:?}", app.column(reason));
    caller.call("retry_ticket", json!({ "ticket": "ACME-1" })).await;
    db.raw(
        "UPDATE tickets SET status = 'running';
         UPDATE nodes SET status = 'running', attempt = 1 WHERE status = 'queued'
                AND job_id IS NOT NULL;
         DELETE FROM jobs;",
    )
    .unwrap();
    sweep(&app).await;

    assert_eq!(app.column(INTERRUPTED), ["1 2"]);
    assert!(!app.column(reason)[0].contains("interrupted"), "{:?}", app.column(reason));
}
