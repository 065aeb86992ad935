//! `/healthz` says that the process is alive, `/readyz` that the database answers and the workers
//! run. Neither needs a key, and neither tells anything about anybody's data.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;

use crate::jobs::Worker;
use crate::store::Db;
use crate::work::env::Paths;

/// How long the oldest ready job may wait before the queue counts as stuck.
const WAIT_MAX: Duration = Duration::from_mins(15);

/// What the answers are made from.
#[derive(Clone)]
pub struct Health {
    /// The database.
    pub db: Db,
    /// The workers.
    pub worker: Worker,
    /// Whether the database was found to be damaged while it serves.
    pub damaged: Arc<AtomicBool>,
    /// The folders of the data directory.
    pub paths: Paths,
}

#[derive(Serialize)]
struct Alive {
    status: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    status: &'static str,
    version: &'static str,
    database: &'static str,
    storage: &'static str,
    workers: &'static str,
    running: usize,
    longest_wait_ms: u64,
    /// Jobs of kinds that this version does not know, by kind.
    unknown_jobs: BTreeMap<String, u64>,
}

/// `GET /healthz`.
pub async fn alive() -> Response {
    Json(Alive { status: "ok", version: env!("CARGO_PKG_VERSION") }).into_response()
}

/// `GET /readyz`: 200, or 503 with what is amiss.
pub async fn ready(State(health): State<Health>) -> Response {
    let mut said = Ready {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        database: "ok",
        storage: "ok",
        workers: "ok",
        running: 0,
        longest_wait_ms: 0,
        unknown_jobs: BTreeMap::new(),
    };
    match health.worker.health().await {
        Ok(found) => {
            said.running = found.running;
            said.longest_wait_ms =
                u64::try_from(found.longest_wait.as_millis()).unwrap_or(u64::MAX);
            said.unknown_jobs = found.unknown;
            if !found.serving {
                said.workers = "not running";
            } else if found.running == 0 && found.longest_wait > WAIT_MAX {
                // Behind long agents a job may wait for hours; behind nothing it may not.
                said.workers = "stuck";
            }
        }
        Err(fault) => {
            tracing::error!(?fault, "The database does not answer");
            said.database = "does not answer";
        }
    }
    if !health.db.is_in_place() {
        said.database = "moved away";
    }
    if health.damaged.load(Ordering::Relaxed) {
        said.database = "damaged";
    }
    if let Some(folder) = health.paths.unwritable() {
        tracing::error!(folder = %folder.display(), "The data directory cannot be written to");
        said.storage = "cannot be written";
    }
    let fit = [said.database, said.storage, said.workers].iter().all(|part| *part == "ok");
    let status = if fit { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    if !fit {
        said.status = "not ready";
    }
    (status, Json(said)).into_response()
}
