//! The program as a value: opened, served, closed. `main` and the tests build the same one.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::accounts::setup;
use crate::base::{BootId, Clock, Code, Entropy, Fault, MailServer, Network, RateLimit, Secret};
use crate::events::Bus;
use crate::jobs::{self, Worker};
use crate::notices::mails;
use crate::projects::git::Git;
use crate::store::{Blobs, Db, Uploads};
use crate::tickets::duplicates::Place;
use crate::tools::{Gate, Premises};
use crate::web::ci::{self, Ci};
use crate::web::health::{self, Health};
use crate::web::host::{self, Hosts};
use crate::web::invoke::{self, Invoke};
use crate::web::live_logs::LiveLogs;
use crate::web::mcp::{self, Door, Setting};
use crate::web::metrics::{self, Meter, Metrics};
use crate::web::proxies::Proxies;
use crate::web::site::{About, Setup, Site};
use crate::web::uploads::{self, Uploading};
use crate::web::{dashboard, framing, schemas, serve, trace};
use crate::work::model::{Endpoint, Model};
use crate::work::{self, Bench, Env, Paths};

/// How long jobs may take to come to a stop when the server stops.
const STOP_TIME: Duration = Duration::from_secs(10);

/// What an app is opened with.
pub struct Opening {
    /// The data directory; it is made where there is none.
    pub data: PathBuf,
    /// Where the app will listen.
    pub listen: SocketAddr,
    /// The address that people and agents use, where it differs from where the app listens.
    pub public_url: Option<String>,
    /// More hosts that requests may be addressed to.
    pub allowed_hosts: Vec<String>,
    /// The server that takes mails to those who asked for tickets, where there is one.
    pub mail: Option<MailServer>,
    /// How often a key may call.
    pub rate_limit: RateLimit,
    /// This very program, which agents are started through.
    pub assay: PathBuf,
    /// The time.
    pub clock: Clock,
    /// Randomness.
    pub entropy: Entropy,
}

/// An opened app.
pub struct App {
    env: Arc<Env>,
    gate: Arc<Gate>,
    worker: Worker,
    hosts: Arc<Hosts>,
    logs: LiveLogs,
    base_url: String,
    proxies: Proxies,
    about: About,
    meter: Meter,
    /// Held as long as the app lives: one process for a data directory.
    _lock: File,
}

impl App {
    /// Opens the data directory and everything on it. Every failure is a sentence for the person at
    /// the terminal.
    pub fn open(opening: Opening) -> Result<Self, Fault> {
        let data = make_directory(&opening.data)?;
        let lock = lock(&data)?;
        let (clock, entropy, bus) = (opening.clock, opening.entropy, Bus::default());
        let db = Db::open(&data, clock.clone(), entropy.clone(), bus.clone())?;
        switch_mails(&db, opening.mail.is_some())?;
        let paths = Paths::new(data);
        let blobs = Blobs::open(paths.blobs(), entropy.clone())?;
        let uploads = Uploads::open(paths.uploads(), entropy.clone())?;
        let git = Git::default();
        let boot: BootId = entropy.id(clock.now());
        let local = format!("http://{}", from_here(opening.listen));
        let env = Arc::new(Env {
            db: db.clone(),
            blobs,
            uploads,
            bus: bus.clone(),
            clock: clock.clone(),
            entropy,
            git: git.clone(),
            boot,
            paths,
            assay: opening.assay,
            url: local.clone(),
            origin: opening.public_url.clone().unwrap_or_else(|| local.clone()),
            mail: opening.mail,
            landings: work::env::Turns::default(),
            desks: work::env::Turns::default(),
            keys_swept: std::sync::Mutex::new(Place::START),
        });
        let worker = Worker::new(jobs::Setup {
            db: db.clone(),
            clock: clock.clone(),
            bus,
            boot,
            registry: work::registry(&env),
            options: jobs::Options { grace: STOP_TIME, ..jobs::Options::default() },
        });
        let about = About {
            started: clock.now(),
            data: env.paths.data().to_owned(),
            worktrees: env.paths.worktrees(),
            listen: opening.listen,
            public_url: opening.public_url.clone(),
            allowed_hosts: opening.allowed_hosts.clone(),
            rate_limit: opening.rate_limit,
            has_open_metrics: false,
            damaged: Arc::default(),
            checked_at: Arc::default(),
        };
        let public_url = opening.public_url.as_deref();
        let premises =
            Premises { url: public_url.unwrap_or(&local).to_owned(), mirrors: env.paths.mirrors() };
        let gate = Gate::new(db, clock, opening.rate_limit, git, premises);
        Ok(Self {
            gate: Arc::new(gate.with_editors(Arc::new(Bench::new(env.clone())))),
            worker,
            hosts: Arc::new(Hosts::new(public_url, &opening.allowed_hosts, opening.listen)),
            logs: LiveLogs::default(),
            // A server that is reached by another address has a proxy in front, or may have.
            proxies: public_url.map(|_| Proxies::of_this_machine()).unwrap_or_default(),
            about,
            meter: Meter::default(),
            base_url: opening.public_url.unwrap_or(local),
            env,
            _lock: lock,
        })
    }

    /// The same with these proxies in front, instead of those of this machine.
    #[must_use]
    pub fn behind(self, proxies: Vec<Network>) -> Self {
        Self { proxies: Proxies::new(proxies), ..self }
    }

    /// The same with a language model that drafts tickets from conversations. It is asked for
    /// before anybody else has the gate.
    ///
    /// # Errors
    /// Where the gate is in use already, or no client can be made.
    pub fn drafting_with(self, endpoint: Endpoint) -> Result<Self, Fault> {
        let model = Model::new(endpoint, self.env.clock.clone())?;
        let gate = Arc::into_inner(self.gate)
            .ok_or_else(|| Fault::internal("the gate is in use before it is complete"))?;
        Ok(Self { gate: Arc::new(gate.with_drafter(Arc::new(model))), ..self })
    }

    /// The same with metrics that everybody may read who reaches the server.
    #[must_use]
    pub fn with_open_metrics(mut self) -> Self {
        self.about.has_open_metrics = true;
        self
    }

    /// What background work works with.
    #[must_use]
    pub const fn env(&self) -> &Arc<Env> {
        &self.env
    }

    /// The gate to every tool.
    #[must_use]
    pub const fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// The workers.
    #[must_use]
    pub const fn worker(&self) -> &Worker {
        &self.worker
    }

    /// The address that people and agents use, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// A one-time link by which somebody becomes the first owner; `None` once somebody has a login.
    pub async fn setup_link(&self) -> Result<Option<String>, Fault> {
        let token: Option<Secret> = self.env.db.write(setup::mint).await?;
        Ok(token.map(|token| format!("{}/setup/{}", self.base_url, token.reveal())))
    }

    /// Serves until `shutdown`: then takes nothing new, finishes requests, hands jobs back.
    pub async fn serve(&self, listener: TcpListener, shutdown: CancellationToken) {
        if let Err(fault) = work::end_orphans(&self.env).await {
            tracing::error!(?fault, "Processes of an earlier start were not all ended");
        }
        work::remove_runs(&self.env).await;
        let streams = CancellationToken::new();
        let router = self.router(&streams);
        let ends_streams = async {
            // Streams never end by themselves, so they end first.
            shutdown.cancelled().await;
            streams.cancel();
        };
        tokio::join!(
            serve::serve(listener, router, shutdown.clone()),
            self.worker.run(shutdown.clone()),
            self.logs.follow(&self.env.bus, streams.clone()),
            ends_streams,
            self.look_for_damage(),
        );
    }

    /// Checks a database that was too large to be checked before it serves.
    async fn look_for_damage(&self) {
        match self.env.db.check_if_large().await {
            Ok(()) => self.about.checked_at.store(self.env.clock.now().0, Ordering::Relaxed),
            Err(fault) => {
                tracing::error!(?fault, "The database is damaged");
                self.about.damaged.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Every route. `shutdown` ends the streams that are open.
    pub fn router(&self, shutdown: &CancellationToken) -> Router {
        let env = &self.env;
        let invoke = Invoke::new(self.gate.clone(), env.clock.clone(), env.entropy.clone());
        let posted = invoke.clone();
        let door = Door::new(
            self.gate.clone(),
            Setting {
                invoke: Arc::new(move |parts, body| {
                    let invoke = posted.clone();
                    Box::pin(async move { invoke.answer(parts, body).await })
                }),
                public_url: self.base_url.clone(),
                clock: env.clock.clone(),
                entropy: env.entropy.clone(),
            },
        );
        let site = Site::new(Setup {
            db: env.db.clone(),
            blobs: env.blobs.clone(),
            uploads: env.uploads.clone(),
            gate: self.gate.clone(),
            clock: env.clock.clone(),
            entropy: env.entropy.clone(),
            bus: env.bus.clone(),
            logs: self.logs.clone(),
            git: env.git.clone(),
            mirrors: env.paths.mirrors(),
            origin: self.base_url.clone(),
            proxies: self.proxies.clone(),
            shutdown: shutdown.clone(),
            about: self.about.clone(),
        });
        let health = Health {
            db: env.db.clone(),
            worker: self.worker.clone(),
            damaged: self.about.damaged.clone(),
            paths: env.paths.clone(),
        };
        let metrics = Metrics {
            gate: self.gate.clone(),
            db: env.db.clone(),
            meter: self.meter.clone(),
            about: self.about.clone(),
        };
        let uploading = Uploading { db: env.db.clone(), uploads: env.uploads.clone() };
        let ci = Ci { gate: self.gate.clone(), db: env.db.clone() };
        let machine = Router::new()
            .route("/api/mcp/v1/invoke", any(invoke::enter).with_state(invoke))
            .route("/api/ci/projects", get(ci::list_projects).with_state(ci))
            .route("/api/{*path}", any(ci::unknown))
            .route("/uploads/{token}", any(uploads::enter).with_state(uploading))
            .route("/metrics", get(metrics::show).with_state(metrics))
            .route("/schemas", get(schemas::index))
            .route("/schemas/", get(schemas::index))
            .route("/schemas/{format}/{file}", get(schemas::show))
            .merge(mcp::routes(Arc::new(door)));
        Router::new()
            .merge(machine)
            .merge(dashboard::routes(site))
            .layer(from_fn_with_state(self.hosts.clone(), host::guard))
            .route("/healthz", get(health::alive))
            .route("/readyz", get(health::ready).with_state(health))
            .layer(from_fn(framing::layer))
            .layer(from_fn_with_state(self.meter.clone(), trace::layer))
    }
}

/// The address by which this machine reaches what listens there: an unspecified address is a place
/// to listen, not one to call.
fn from_here(listen: SocketAddr) -> SocketAddr {
    match listen.ip() {
        ip if !ip.is_unspecified() => listen,
        IpAddr::V4(_) => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listen.port()),
        IpAddr::V6(_) => SocketAddr::new(Ipv6Addr::LOCALHOST.into(), listen.port()),
    }
}

/// Writes down whether there is a server that takes mails, where that has changed: who writes what
/// a mail tells of sees only the database.
fn switch_mails(db: &Db, are_on: bool) -> Result<(), Fault> {
    if db.read_blocking(mails::are_on)? == are_on {
        return Ok(());
    }
    // Who opens an app may be a task, in which nothing may wait for the writer.
    std::thread::scope(|scope| {
        let written = scope.spawn(|| db.write_blocking(move |tx| mails::switch(tx, are_on)));
        written.join().unwrap_or_else(|_| Err(Fault::internal("the thread that writes panicked")))
    })
}

/// The data directory as an absolute path without links. It holds keys and logins, so it is for its
/// owner alone.
fn make_directory(data: &Path) -> Result<PathBuf, Fault> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(data);
    made.and_then(|()| data.canonicalize()).map_err(|error| {
        let message = format!(
            "The data directory {} cannot be made or opened: {error}. Choose another with --data, \
             or give this user the right to write there.",
            data.display()
        );
        Fault::new(Code::Unavailable, message).because(error)
    })
}

/// How long a data directory may stay locked before another server is said to work on it, and how
/// often that is looked at.
const LOCKED_FOR: Duration = Duration::from_secs(3);
const LOCK_AGAIN: Duration = Duration::from_millis(20);

fn lock(data: &Path) -> Result<File, Fault> {
    let path = data.join("lock");
    let unusable = |error: std::io::Error| {
        let message = format!(
            "The file {} cannot be used: {error}. Choose another data directory with --data, or \
             give this user the right to write there.",
            path.display()
        );
        Fault::new(Code::Unavailable, message).because(error)
    };
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(unusable)?;
    // A server that was killed while it started a program lives on in that for a moment, and a
    // command beside it looks at the lock.
    let mut locked = file.try_lock();
    let began = Instant::now();
    while matches!(locked, Err(TryLockError::WouldBlock)) && began.elapsed() < LOCKED_FOR {
        if began.elapsed() < LOCK_AGAIN {
            tracing::info!("The data directory is locked; waiting whether it stays so");
        }
        std::thread::sleep(LOCK_AGAIN);
        locked = file.try_lock();
    }
    match locked {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!(
                "Another Assay serves the data directory {}. Stop it first, or choose another \
                 directory with --data.",
                data.display()
            );
            Err(Fault::new(Code::Conflict, message))
        }
        Err(TryLockError::Error(error)) => Err(unusable(error)),
    }
}
