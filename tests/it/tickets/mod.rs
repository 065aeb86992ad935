//! The ticket tools against the published tickets contract, through both doors.

mod arguments;
mod attachments;
mod batch;
mod categories;
mod chains;
mod dependencies;
mod drafting;
mod duplicates;
mod given_up;
mod likeness;
mod listing;
mod models;
mod refusals;
mod replacing;
mod replay;
mod running;
mod searching;
mod seeding;
mod shapes;
mod standing;

use assay::accounts::KeyScope;
use serde_json::{Value, json};

use crate::harness::{Caller, TestApp};

/// A program in which nothing moves, with a project `ACME` and a caller who may do everything.
async fn still() -> (TestApp, Caller) {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Acme Widgets", "ACME").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    (app, caller)
}

/// The least that files a ticket.
fn titled(title: &str) -> Value {
    json!({ "title": title, "project": "ACME" })
}
