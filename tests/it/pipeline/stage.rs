//! The stage of a test: a server in this process, a repository that a person works in, one project,
//! and one agent, which is a shell script.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay::accounts::keys::{self, NewKey};
use assay::accounts::{KeyScope, Plan, tenants};
use assay::app::{App, Opening};
use assay::base::{Clock, Entropy, Fault, RateLimit, Secret, TicketId};
use assay::projects::agents::Profile;
use assay::projects::settings::Settings;
use assay::projects::{self, NewProject};
use assay::store::Tx;
use assay::tools::{CallContext, Caller};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::leftovers::left_in;
use crate::git::run_in;

/// How long anything may take to come about.
const PATIENCE: Duration = Duration::from_mins(1);
/// How soon to look again, should an event have been missed.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What every agent script begins with. `$STAGE` is the test's own folder.
const PRELUDE: &str = r#"
prompt=$(cat)
is() { [ "$ASSAY_NODE" = "$1" ]; }
report() { printf '%s\n' "$1" >"$ASSAY_REPORT"; }
tell() { : >"$STAGE/$1"; }
await() { while [ ! -e "$STAGE/$1" ]; do sleep 0.01; done; }
once() { [ ! -e "$STAGE/$1" ] && : >"$STAGE/$1"; }
"#;

/// An agent that adds a file.
pub(super) const ADDS_A_FILE: &str = "if is implement; then echo hello >hello.txt; fi";

pub(super) struct Stage {
    app: Arc<App>,
    caller: Caller,
    shutdown: CancellationToken,
    serving: JoinHandle<()>,
    dir: TempDir,
}

impl Stage {
    /// A stage whose agent is a script.
    pub(super) async fn new(script: &str) -> Self {
        Self::with(script, |_, _| ()).await
    }

    /// The same after its project was changed; the settings and the repository's location are
    /// given.
    pub(super) async fn with(
        script: &str,
        change: impl FnOnce(&mut Settings, &mut String),
    ) -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let root = dir.path().canonicalize().unwrap();
        make_repository(&root.join("person"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let opening = Opening {
            data: root.join("data"),
            listen: listener.local_addr().unwrap(),
            public_url: None,
            allowed_hosts: Vec::new(),
            mail: None,
            rate_limit: RateLimit::Off,
            assay: env!("CARGO_BIN_EXE_assay").into(),
            clock: Clock::system(),
            entropy: Entropy::system(),
        };
        let app = Arc::new(App::open(opening).unwrap());
        let mut settings = settings(&root, script);
        let mut location = root.join("person").to_str().unwrap().to_owned();
        change(&mut settings, &mut location);
        let key = app.env().db.write(move |tx| furnish(tx, &location, settings)).await.unwrap();
        let caller = app.gate().caller(Some(&key)).await.unwrap();
        let shutdown = CancellationToken::new();
        let (served, stop) = (app.clone(), shutdown.clone());
        let serving = tokio::spawn(async move { served.serve(listener, stop).await });
        Self { app, caller, shutdown, serving, dir }
    }

    /// Something in the test's own folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// The person's repository.
    pub(super) fn person(&self) -> PathBuf {
        self.path("person")
    }

    /// Runs git as the person in their repository.
    pub(super) fn git(&self, args: &[&str]) -> String {
        run_in(&self.person(), args)
    }

    /// A file of the person's checkout; empty where it is not there.
    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.person().join(name)).unwrap_or_default()
    }

    /// The person commits a file on whatever is checked out.
    pub(super) fn person_commits(&self, name: &str, text: &str) {
        fs::write(self.person().join(name), text).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", "By hand"]);
    }

    /// Calls a tool.
    pub(super) async fn try_call(&self, tool: &str, args: Value) -> Result<Value, Fault> {
        self.call_as(&self.caller, tool, args).await
    }

    /// Another caller of the tenant, with a key that `made_by` made.
    pub(super) async fn caller(&self, made_by: &'static str, ticket: Option<&str>) -> Caller {
        let tenant = self.caller.actor.tenant;
        let ticket = ticket.map(|id| TicketId::from_uuid(id.parse().unwrap()));
        let make = move |tx: &mut Tx<'_>| {
            let plain = NewKey::plain("other", KeyScope::McpFull, made_by);
            keys::create(tx, tenant, &NewKey { ticket, ..plain }).map(|(_, key)| key)
        };
        let key = self.app.env().db.write(make).await.unwrap();
        self.app.gate().caller(Some(&key)).await.unwrap()
    }

    /// Calls a tool as somebody else.
    pub(super) async fn call_as(
        &self,
        caller: &Caller,
        tool: &str,
        args: Value,
    ) -> Result<Value, Fault> {
        let context = CallContext {
            via: "mcp",
            progress: None,
            cancel: CancellationToken::new(),
            request: Entropy::system().id(Clock::system().now()),
        };
        Ok(self.app.gate().call(caller, tool, args, context).await?.value())
    }

    /// Calls a tool with another key than the stage's own.
    pub(super) async fn call_with(
        &self,
        key: &Secret,
        tool: &str,
        args: Value,
    ) -> Result<Value, Fault> {
        let caller = self.app.gate().caller(Some(key)).await?;
        let context = CallContext {
            via: "mcp",
            progress: None,
            cancel: CancellationToken::new(),
            request: Entropy::system().id(Clock::system().now()),
        };
        Ok(self.app.gate().call(&caller, tool, args, context).await?.value())
    }

    /// Another key of the same tenant.
    pub(super) async fn another_key(&self) -> Secret {
        let tenant = self.caller.actor.tenant;
        let made = self.app.env().db.write(move |tx| {
            keys::create(tx, tenant, &NewKey::plain("another", KeyScope::McpFull, "test"))
        });
        made.await.unwrap().1
    }

    /// Calls a tool, which must go well.
    pub(super) async fn call(&self, tool: &str, args: Value) -> Value {
        let said = self.try_call(tool, args).await;
        said.unwrap_or_else(|fault| panic!("{tool}: {fault:?}"))
    }

    /// Files a ticket of the shortest plan and gives its name.
    pub(super) async fn dispatch(&self, title: &str) -> String {
        let args = json!({ "title": title, "preset": "trivial", "pass_profile": "minimal" });
        let filed = self.call("dispatch_ticket", args).await;
        filed["ticket"]["ticketRef"].as_str().unwrap().to_owned()
    }

    /// A ticket's digest.
    pub(super) async fn digest(&self, ticket: &str) -> Digest {
        Digest(self.call("get_ticket", json!({ "ticket": ticket })).await)
    }

    /// Waits until a ticket stands somewhere. Fails at once where it ended elsewhere.
    pub(super) async fn until(&self, ticket: &str, status: &str) -> Digest {
        let mut events = self.app.env().bus.watch();
        let looks = async {
            loop {
                let digest = self.digest(ticket).await;
                if digest.status() == status {
                    return digest;
                }
                let ended = !digest.0["ticket"]["completedAt"].is_null();
                assert!(!ended, "{ticket} did not come to be {status}: {:#}", digest.0);
                drop(tokio::time::timeout(LOOK_EVERY, events.recv()).await);
            }
        };
        let seen = tokio::time::timeout(PATIENCE, looks).await;
        if let Ok(digest) = seen {
            return digest;
        }
        let digest = self.digest(ticket).await.0;
        panic!("{ticket} never came to be {status}: {digest:#}")
    }

    /// Files a ticket and waits until it stands somewhere.
    pub(super) async fn ends(&self, status: &str) -> Digest {
        let ticket = self.dispatch("Say hello").await;
        self.until(&ticket, status).await
    }

    /// Waits until something is so.
    pub(super) async fn until_so(&self, what: &str, so: impl Fn() -> bool) {
        let looks = async {
            while !so() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let seen = tokio::time::timeout(PATIENCE, looks).await;
        seen.unwrap_or_else(|_| panic!("it never came about: {what}"));
    }

    /// Waits until an agent has told something.
    pub(super) async fn told(&self, name: &str) {
        let path = self.path(name);
        self.until_so(name, || path.exists()).await;
    }

    /// Tells a waiting agent something.
    pub(super) fn tell(&self, name: &str) {
        fs::write(self.path(name), "").unwrap();
    }

    /// The first column of a query's rows.
    pub(super) fn column(&self, sql: &str) -> Vec<String> {
        self.app.env().db.raw_column(sql).unwrap()
    }

    /// Runs statements as they are.
    pub(super) fn raw(&self, sql: &str) {
        self.app.env().db.raw(sql).unwrap();
    }

    /// Writes, past every door.
    pub(super) async fn write(
        &self,
        change: impl FnOnce(&mut Tx<'_>) -> Result<(), Fault> + Send + 'static,
    ) {
        self.app.env().db.write(change).await.unwrap();
    }

    /// The commits of the base branch that landed a ticket.
    pub(super) fn landings(&self, ticket: &str) -> usize {
        landings(&self.person(), ticket)
    }

    /// The names of a ticket's nodes with how they stand, in reading order.
    pub(super) async fn nodes(&self, ticket: &str) -> Vec<String> {
        let said = self.call("get_ticket_graph", json!({ "ticket": ticket })).await;
        let nodes = said["graph"]["nodes"].as_array().unwrap().clone();
        let show = |node: &Value| {
            format!("{} {}", node["ref"].as_str().unwrap(), node["status"].as_str().unwrap())
        };
        nodes.iter().map(show).collect()
    }

    /// Waits until nothing runs, stops the server, and demands that nothing is left behind and
    /// that the server was well all along.
    pub(super) async fn close(mut self) {
        let idle = async {
            loop {
                let health = self.app.worker().health().await.unwrap();
                if health.serving && health.running == 0 {
                    return;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(PATIENCE, idle).await.expect("the workers run on, and jobs end");
        self.app.env().db.check().await.unwrap();
        self.shutdown.cancel();
        (&mut self.serving).await.unwrap();

        let none = Vec::<String>::new();
        let failed = "SELECT kind || ' ' || errors FROM jobs WHERE state = 'failed'";
        assert_eq!(self.column(failed), none, "jobs failed");
        assert_eq!(self.column("SELECT hex(run_id) FROM processes"), none, "processes recorded");
        let keys = "SELECT name FROM api_keys WHERE ticket_id IS NOT NULL AND revoked_at IS NULL";
        assert_eq!(self.column(keys), none, "keys of agents");
        let open = "SELECT commit_sha FROM landings WHERE state = 'intended'";
        assert_eq!(self.column(open), none, "landings");
        assert_eq!(left_in(&self.path("")), none, "left behind");
    }
}

/// What `get_ticket` says.
pub(super) struct Digest(pub(super) Value);

impl Digest {
    pub(super) fn status(&self) -> &str {
        self.0["ticket"]["status"].as_str().unwrap()
    }

    /// The ticket's name.
    pub(super) fn name(&self) -> &str {
        self.0["ticket"]["ticketRef"].as_str().unwrap()
    }

    /// The ticket's id, which its worktree and branch are named by.
    pub(super) fn id(&self) -> &str {
        self.0["ticket"]["id"].as_str().unwrap()
    }

    pub(super) fn branch(&self) -> String {
        format!("agent/{}", self.id())
    }

    pub(super) fn outcome(&self) -> &str {
        self.0["outcome"].as_str().unwrap()
    }

    /// Why it ended as it did.
    pub(super) fn reason(&self) -> &str {
        self.0["ticket"]["failureReason"].as_str().unwrap_or_default()
    }

    /// How putting it on the base branch goes.
    pub(super) fn merge(&self) -> &str {
        self.0["autoMergeStatus"].as_str().unwrap_or_default()
    }

    /// What a person has to do, in one text.
    pub(super) fn human_actions(&self) -> String {
        self.0["humanActions"].to_string()
    }
}

/// The settings of a project whose agent is a script kept at `root`.
pub(crate) fn settings(root: &Path, script: &str) -> Settings {
    let path = root.join("agent.sh");
    fs::write(&path, format!("{PRELUDE}{script}\n")).unwrap();
    let command = vec!["sh".to_owned(), path.to_str().unwrap().to_owned()];
    let mut profile = Profile::script(command);
    profile.set.insert("STAGE".to_owned(), root.to_str().unwrap().to_owned());
    let mut settings = Settings::default();
    settings.agents.profiles.insert("script".to_owned(), profile);
    settings
}

/// A tenant, a project `ACME` and a key.
pub(crate) fn furnish(
    tx: &mut Tx<'_>,
    location: &str,
    settings: Settings,
) -> Result<Secret, Fault> {
    let tenant = tenants::create(tx, "Acme", Plan::All)?;
    let project = NewProject {
        name: "Acme",
        key: Some("ACME"),
        repository: Some(location),
        base_branch: Some("main"),
        settings,
        ..NewProject::default()
    };
    projects::create(tx, tenant.id, project)?;
    // Made at the machine, and so by somebody who manages the tenant.
    let new = NewKey::plain("test", KeyScope::McpFull, "command line");
    keys::create(tx, tenant.id, &new).map(|(_, key)| key)
}

/// A repository with one commit on `main`, which is checked out.
pub(crate) fn make_repository(place: &Path) {
    fs::create_dir(place).unwrap();
    run_in(place, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(place.join("README.md"), "One\nTwo\nThree\n").unwrap();
    run_in(place, &["add", "--all"]);
    run_in(place, &["commit", "--quiet", "-m", "First"]);
}

/// How many commits of the base branch landed a ticket.
pub(crate) fn landings(repository: &Path, ticket: &str) -> usize {
    let subject = format!("--grep=^{ticket}: ");
    let args = ["log", "--first-parent", "--format=%H", &subject, "refs/heads/main", "--"];
    run_in(repository, &args).lines().count()
}
