//! `/metrics`: figures of the whole server in the text format that Prometheus reads. They count and
//! measure; no text that anybody wrote is among them. They are the host's, so they are for a key of
//! an owner or admin of its tenant, or, where the server was started so, for everybody who reaches
//! it. A scrape reads a few short rows, however many tickets there are.

mod machine;
mod meter;
mod text;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};

pub(super) use self::machine::memory;
pub use self::meter::Meter;
use self::text::{Kind, Text};
use super::key;
use super::site::About;
use crate::accounts::{Reach, keys, tenants};
use crate::base::{Code, Fault, Millis};
use crate::contract::code::wire;
use crate::jobs::{self, Depth};
use crate::store::{Backup, Db, Written, last_backup};
use crate::tickets::states::Status;
use crate::tickets::ticket;
use crate::tools::Gate;

/// The form of the answer.
const FORM: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// What the figures are taken from.
#[derive(Clone)]
pub struct Metrics {
    /// Who calls.
    pub gate: Arc<Gate>,
    /// The database.
    pub db: Db,
    /// Requests that were answered.
    pub meter: Meter,
    /// What is known of the server.
    pub about: About,
}

/// What is read from the database for one answer.
struct Rows {
    now: Millis,
    tickets: Vec<(Status, u64)>,
    jobs: Vec<Depth>,
    backup: Option<Backup>,
}

/// `GET /metrics`.
pub async fn show(State(metrics): State<Metrics>, headers: HeaderMap) -> Response {
    match metrics.text(&headers).await {
        Ok(text) => {
            let kept = (CACHE_CONTROL, HeaderValue::from_static("no-store"));
            ([(CONTENT_TYPE, FORM), kept], text).into_response()
        }
        Err(fault) => refuse(&fault),
    }
}

fn refuse(fault: &Fault) -> Response {
    let status = StatusCode::from_u16(wire(fault.code).status);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if status.is_server_error() {
        tracing::error!(?fault, "The metrics were not told");
    }
    let mut response = (status, format!("{}\n", fault.message)).into_response();
    if fault.code == Code::Unauthenticated {
        let challenge = HeaderValue::from_static("Bearer realm=\"assay\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

impl Metrics {
    async fn text(&self, headers: &HeaderMap) -> Result<String, Fault> {
        if !self.about.has_open_metrics {
            self.demand_operator(headers).await?;
        }
        let rows = self.db.read(|read| {
            Ok(Rows {
                now: read.now(),
                tickets: ticket::counts_of_all(read)?,
                jobs: jobs::depth(read)?,
                backup: last_backup(read)?,
            })
        });
        let rows = rows.await?;
        let mut text = Text::default();
        self.program(&mut text, rows.now);
        work(&mut text, &rows);
        self.meter.tell(&mut text);
        store(&mut text, &self.db.written());
        self.machine(&mut text);
        backup(&mut text, rows.backup.as_ref());
        Ok(text.finish())
    }

    /// Refuses who has no key of an owner or admin of the host's tenant that reaches all of it.
    async fn demand_operator(&self, headers: &HeaderMap) -> Result<(), Fault> {
        let caller = self.gate.caller(key::sent(headers).as_ref()).await?;
        let may = self.db.read(move |read| {
            let actor = &caller.actor;
            let is_host = tenants::host(read)?.is_some_and(|host| host.id == actor.tenant);
            let reaches_all = actor.can_read() && actor.reach == Reach::All;
            Ok(is_host && reaches_all && keys::is_of_admin(read, actor)?)
        });
        if may.await? {
            return Ok(());
        }
        let said = "The metrics are of the whole server: use a key, not limited to projects, that \
                    an owner or admin of its first team made, or start it with --open-metrics.";
        Err(Fault::new(Code::Forbidden, said))
    }

    fn program(&self, text: &mut Text, now: Millis) {
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        text.head("assay_build_info", Kind::Gauge, "The version that runs.");
        text.line("assay_build_info", &version, 1.0);
        let about = "Seconds since the server started.";
        text.one(
            "assay_uptime_seconds",
            Kind::Gauge,
            about,
            seconds(now.since(self.about.started)),
        );
        let is_damaged = self.about.damaged.load(Ordering::Relaxed);
        let about = "Whether the database was found to be damaged.";
        text.one("assay_database_damaged", Kind::Gauge, about, f64::from(u8::from(is_damaged)));
    }

    fn machine(&self, text: &mut Text) {
        let size = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |about| about.len());
        let mut log = self.db.path().as_os_str().to_owned();
        log.push("-wal");
        text.head("assay_database_bytes", Kind::Gauge, "Sizes of the files of the database.");
        for (file, path) in [("database", self.db.path()), ("log", std::path::Path::new(&log))] {
            text.line("assay_database_bytes", &[("file", file)], number(size(path)));
        }
        if let Ok(disk) = rustix::fs::statvfs(&self.about.data) {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let about = "Free bytes of the disk that holds the data directory.";
            text.one("assay_disk_free_bytes", Kind::Gauge, about, number(free));
        }
        if let Some((now, _)) = memory() {
            let about = "Memory that the process holds.";
            text.one("process_resident_memory_bytes", Kind::Gauge, about, number(now));
        }
        if let Some(used) = machine::processor_seconds() {
            let about = "Time that the process had of processors.";
            text.one("process_cpu_seconds_total", Kind::Counter, about, used);
        }
    }
}

fn work(text: &mut Text, rows: &Rows) {
    text.head("assay_tickets", Kind::Gauge, "Tickets of all teams by where they stand.");
    for status in Status::ALL {
        let count = rows.tickets.iter().find(|(other, _)| other == status).map_or(0, |one| one.1);
        text.line("assay_tickets", &[("status", status.word())], number(count));
    }
    text.head("assay_jobs", Kind::Gauge, "Open jobs: due, due later, running.");
    for depth in &rows.jobs {
        let kind = ("kind", depth.kind.as_str());
        for (state, count) in
            [("due", depth.due), ("later", depth.later), ("running", depth.running)]
        {
            text.line("assay_jobs", &[kind, ("state", state)], number(count));
        }
    }
    let oldest = rows.jobs.iter().filter_map(|depth| depth.oldest).min();
    let waits = oldest.map_or(0.0, |at| seconds(rows.now.since(at)));
    let about = "How long the job waits that is due longest.";
    text.one("assay_jobs_longest_wait_seconds", Kind::Gauge, about, waits);
}

fn store(text: &mut Text, written: &Written) {
    for (name, about, count) in [
        ("assay_store_groups_total", "Groups of changes that were committed.", written.groups),
        ("assay_store_changes_total", "Changes that were asked for.", written.changes),
        ("assay_store_groups_lost_total", "Groups that could not be committed.", written.lost),
    ] {
        text.one(name, Kind::Counter, about, number(count));
    }
    let about = "Time from the first change of each group until it was on disk.";
    text.one("assay_store_group_seconds_total", Kind::Counter, about, seconds(written.busy));
}

fn backup(text: &mut Text, backup: Option<&Backup>) {
    let Some(backup) = backup else { return };
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are far below 2^52")]
    let at = backup.taken_at.0 as f64 / 1_000.0;
    let about = "When the last backup was taken.";
    text.one("assay_backup_timestamp_seconds", Kind::Gauge, about, at);
    let about = "The size of the last backup.";
    text.one("assay_backup_bytes", Kind::Gauge, about, number(backup.bytes));
}

const fn seconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "a figure beyond 2^52 needs no last digit")]
const fn number(count: u64) -> f64 {
    count as f64
}
