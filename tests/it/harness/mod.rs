//! The whole program as its callers meet it: opened on a directory of its own, served over real
//! HTTP on loopback, gone with the test.

mod authority;
mod caller;
mod golden_text;
mod postbox;
mod receiver;
mod tenant;
mod written;

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay::accounts::{Plan, tenants};
use assay::app::{App, Opening};
use assay::base::{Clock, Entropy, MailServer, Millis, RateLimit};
use assay::web::serve;
use assay::work::model::Endpoint;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub(crate) use authority::Authority;
pub(crate) use caller::{Caller, Refusal};
pub(crate) use golden_text::placed;
pub(crate) use postbox::{Covered, Manner, Postbox};
pub(crate) use receiver::{Answer, Heard, Receiver};
pub(crate) use tenant::{Tenant, script};
pub(crate) use written::Written;

/// Where a clock stands that only a test moves.
const AT: Millis = Millis(1_785_333_600_000);

/// The program, served.
pub(crate) struct TestApp {
    /// The program itself, for what no door shows.
    pub(crate) app: Arc<App>,
    url: String,
    client: reqwest::Client,
    shutdown: CancellationToken,
    dir: TempDir,
}

impl TestApp {
    /// Everything, workers too, by the machine's clock: agents run.
    pub(crate) async fn start() -> Self {
        let (app, listener) = Self::open(Clock::system(), RateLimit::Off).await;
        app.work(listener)
    }

    /// Everything, with a server that takes mails.
    pub(crate) async fn start_with_mail(server: MailServer) -> Self {
        let clock = Clock::system();
        let (app, listener) = Self::open_as(clock, RateLimit::Off, Some(server), |app| app).await;
        app.work(listener)
    }

    fn work(self, listener: TcpListener) -> Self {
        let (served, shutdown) = (self.app.clone(), self.shutdown.clone());
        tokio::spawn(async move { served.serve(listener, shutdown).await });
        self
    }

    /// The doors alone, perhaps with a server that takes mails.
    pub(crate) async fn still_with_mail(server: Option<MailServer>) -> Self {
        let clock = Clock::fake(AT);
        let (app, listener) = Self::open_as(clock, RateLimit::Off, server, |app| app).await;
        app.answer(listener)
    }

    /// The doors alone, by a clock that stands: a ticket stays as the last call left it.
    pub(crate) async fn still() -> Self {
        Self::still_with(RateLimit::Off).await
    }

    /// The doors alone, on a data directory that is there: the folder `data` of a directory.
    pub(crate) async fn still_on(dir: TempDir) -> Self {
        let (clock, limit) = (Clock::fake(AT), RateLimit::Off);
        let (app, listener) = Self::open_in(dir, clock, limit, None, |app| app).await;
        app.answer(listener)
    }

    /// The doors alone, where a key may call so many times a minute.
    pub(crate) async fn limited_to(calls: u32) -> Self {
        Self::still_with(RateLimit::PerMinute(NonZeroU32::new(calls).unwrap())).await
    }

    async fn still_with(limit: RateLimit) -> Self {
        let (app, listener) = Self::open(Clock::fake(AT), limit).await;
        app.answer(listener)
    }

    /// The doors alone, with a language model that drafts.
    pub(crate) async fn still_with_model(endpoint: Endpoint) -> Self {
        let drafting = |app: App| app.drafting_with(endpoint).unwrap();
        let (app, listener) = Self::open_as(Clock::fake(AT), RateLimit::Off, None, drafting).await;
        app.answer(listener)
    }

    /// Answers at its doors, and does nothing by itself.
    fn answer(self, listener: TcpListener) -> Self {
        let router = self.app.router(&self.shutdown);
        tokio::spawn(serve::serve(listener, router, self.shutdown.clone()));
        self
    }

    async fn open(clock: Clock, rate_limit: RateLimit) -> (Self, TcpListener) {
        Self::open_as(clock, rate_limit, None, |app| app).await
    }

    async fn open_as(
        clock: Clock,
        rate_limit: RateLimit,
        mail: Option<MailServer>,
        change: impl FnOnce(App) -> App,
    ) -> (Self, TcpListener) {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self::open_in(dir, clock, rate_limit, mail, change).await
    }

    async fn open_in(
        dir: TempDir,
        clock: Clock,
        rate_limit: RateLimit,
        mail: Option<MailServer>,
        change: impl FnOnce(App) -> App,
    ) -> (Self, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = listener.local_addr().unwrap();
        let app = App::open(Opening {
            data: dir.path().join("data"),
            listen,
            public_url: None,
            allowed_hosts: Vec::new(),
            mail,
            rate_limit,
            assay: env!("CARGO_BIN_EXE_assay").into(),
            clock,
            entropy: Entropy::seeded(1),
        });
        // Another test may have installed it already.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let app = Self {
            app: Arc::new(change(app.unwrap())),
            url: format!("http://{listen}"),
            client,
            shutdown: CancellationToken::new(),
            dir,
        };
        (app, listener)
    }

    /// A new tenant with every feature.
    pub(crate) async fn tenant(&self, name: &'static str) -> Tenant<'_> {
        self.tenant_with(name, Plan::All).await
    }

    /// A new tenant with a plan.
    pub(crate) async fn tenant_with(&self, name: &'static str, plan: Plan) -> Tenant<'_> {
        let db = &self.app.env().db;
        let made = db.write(move |tx| tenants::create(tx, name, plan)).await.unwrap();
        Tenant { app: self, id: made.id }
    }

    /// Somebody who calls with that key; the empty key is none.
    pub(crate) fn caller(&self, key: &str) -> Caller {
        Caller {
            url: self.url.clone(),
            client: self.client.clone(),
            key: key.to_owned(),
            bus: self.app.env().bus.clone(),
        }
    }

    /// The directory of this test alone.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Waits until the first column of a query's only row is as it should be.
    pub(crate) async fn until(&self, sql: &str, expected: &str) {
        let looks = async {
            while self.column(sql) != [expected] {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let seen = tokio::time::timeout(Duration::from_secs(30), looks).await;
        seen.unwrap_or_else(|_| panic!("{sql} is {:?}", self.column(sql)));
    }

    /// The audit log, oldest first: action, door and outcome of each row.
    pub(crate) fn audit(&self) -> Vec<String> {
        self.column("SELECT action || ' ' || via || ' ' || outcome FROM audit ORDER BY n")
    }

    /// Changes rows past the program, for what would take days.
    pub(crate) fn raw(&self, sql: &str) {
        self.app.env().db.raw(sql).unwrap();
    }

    /// The first column of a query's rows.
    pub(crate) fn column(&self, sql: &str) -> Vec<String> {
        self.app.env().db.raw_column(sql).unwrap()
    }
}

impl Drop for TestApp {
    /// Whatever a test is about, background work must not have broken beneath it: a ticket that
    /// fails is an outcome, a job that fails is a fault of ours.
    fn drop(&mut self) {
        self.shutdown.cancel();
        if std::thread::panicking() {
            return;
        }
        let failed = self.column("SELECT kind || ' ' || errors FROM jobs WHERE state = 'failed'");
        assert_eq!(failed, Vec::<String>::new(), "jobs failed");
    }
}
