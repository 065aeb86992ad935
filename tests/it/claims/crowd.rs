//! Many claimers at once: every node is done, and none of them twice. The claims, leases and
//! records are the program's own, through its gate. The work trees are left out, so that a thousand
//! nodes take seconds; with `ASSAY_CLAIMS=trees` they are made and committed in too.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay::accounts::keys::{self, NewKey};
use assay::accounts::{KeyScope, Plan, tenants};
use assay::app::{App, Opening};
use assay::base::redact::Redactor;
use assay::base::{Clock, Code, Entropy, Fault, Millis, RateLimit, TicketId};
use assay::projects::git::Git;
use assay::projects::settings::Settings;
use assay::projects::{self, NewProject};
use assay::proofs::Evidence;
use assay::store::Db;
use assay::tickets::claims::{self, Claim, EndedAs};
use assay::tickets::editors::{Editors, Exhibit, HandedIn, Prepared};
use assay::tickets::pipeline::claim::{self, Taken};
use assay::tickets::pipeline::decide::Verdict;
use assay::tickets::pipeline::record;
use assay::tickets::{Ticket, ticket};
use assay::tools::{CallContext, Caller, Gate, Premises};
use assay::work::Bench;
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::pipeline::make_repository;

const CLAIMERS: usize = 64;
const PROJECTS: usize = 5;
const TICKETS_EACH: usize = 50;
/// Plan, contract, implement and review of each ticket.
const NODES: usize = PROJECTS * TICKETS_EACH * 4;
/// One claim of so many is never reported on.
const LOST_ONE_IN: u64 = 20;

/// The server without its work trees.
struct Light(Bench, Db);

impl Editors for Light {
    fn lapse(&self) -> BoxFuture<'_, Result<(), Fault>> {
        self.0.lapse()
    }

    fn prepare(&self, taken: Taken) -> BoxFuture<'_, Result<Prepared, Fault>> {
        let prepared = Prepared {
            worktree: "/nowhere".into(),
            branch: taken.ticket.working_branch(),
            base_commit: String::new(),
            repository: "/nowhere".into(),
            prompt: String::new(),
        };
        async move { Ok(prepared) }.boxed()
    }

    fn submit(&self, claim: Claim, _: HandedIn) -> BoxFuture<'_, Result<Ticket, Fault>> {
        let recorded = self.1.write(move |tx| {
            let claim = claims::extend(tx, &claim, Duration::ZERO)?;
            let taken = claim::taken(tx, claim)?;
            assert!(claims::close(tx, &taken.claim, EndedAs::Reported)?);
            let left = claim::left(&taken.claim, None);
            let (tenant, node) = (taken.ticket.tenant, &taken.node);
            assert!(record::finish(tx, tenant, node, Verdict::Good, &left)?);
            ticket::get(tx, tenant, taken.ticket.id)
        });
        recorded.boxed()
    }

    fn release(&self, claim: Claim, why: String) -> BoxFuture<'_, Result<(), Fault>> {
        self.0.release(claim, why)
    }

    fn keep(
        &self,
        ticket: TicketId,
        label: String,
        exhibit: Exhibit,
        redactor: Redactor,
    ) -> BoxFuture<'_, Result<Evidence, Fault>> {
        self.0.keep(ticket, label, exhibit, redactor)
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own variable, not a setting")]
fn with_trees() -> bool {
    std::env::var("ASSAY_CLAIMS").is_ok_and(|value| value == "trees")
}

struct Crowd {
    app: App,
    gate: Gate,
    clock: Clock,
    chance: Entropy,
    done: AtomicUsize,
    /// Claims that somebody still means to report on.
    alive: AtomicUsize,
    reported: Mutex<HashMap<String, usize>>,
    lost: Mutex<Vec<Value>>,
    /// How the claims went.
    tally: Mutex<BTreeMap<&'static str, usize>>,
    _dir: tempfile::TempDir,
}

impl Crowd {
    async fn gather() -> (Arc<Self>, Vec<Caller>) {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let clock = Clock::fake(Millis(1_785_333_600_000));
        let app = App::open(Opening {
            data: dir.path().join("data"),
            listen: "127.0.0.1:1".parse().unwrap(),
            public_url: None,
            allowed_hosts: Vec::new(),
            mail: None,
            rate_limit: RateLimit::Off,
            assay: env!("CARGO_BIN_EXE_assay").into(),
            clock: clock.clone(),
            entropy: Entropy::seeded(7),
        })
        .unwrap();
        let repository = dir.path().join("person");
        make_repository(&repository);
        let db = app.env().db.clone();
        let bench = Bench::new(app.env().clone());
        let editors: Arc<dyn Editors> =
            if with_trees() { Arc::new(bench) } else { Arc::new(Light(bench, db.clone())) };
        let premises = Premises { url: "http://localhost:7171".to_owned(), mirrors: "/".into() };
        let gate = Gate::new(db.clone(), clock.clone(), RateLimit::Off, Git::default(), premises);
        let gate = gate.with_editors(editors);
        let place = repository.to_str().unwrap().to_owned();
        let keys = db.write(move |tx| furnish(tx, &place)).await.unwrap();
        let mut callers = Vec::new();
        for key in keys {
            callers.push(gate.caller(Some(&key)).await.unwrap());
        }
        let crowd = Self {
            app,
            gate,
            clock,
            chance: Entropy::seeded(11),
            done: AtomicUsize::new(0),
            alive: AtomicUsize::new(0),
            reported: Mutex::default(),
            lost: Mutex::default(),
            tally: Mutex::default(),
            _dir: dir,
        };
        (Arc::new(crowd), callers)
    }

    async fn call(&self, caller: &Caller, tool: &str, args: Value) -> Result<Value, Fault> {
        let context = CallContext {
            via: "mcp",
            progress: None,
            cancel: CancellationToken::new(),
            request: self.chance.id(self.clock.now()),
        };
        Ok(self.gate.call(caller, tool, args, context).await?.value())
    }

    fn count(&self, what: &'static str) {
        *self.tally.lock().unwrap().entry(what).or_default() += 1;
    }

    /// Takes one node after the other until all are done.
    async fn work(self: Arc<Self>, caller: Caller) {
        while self.done.load(Ordering::SeqCst) < NODES {
            self.alive.fetch_add(1, Ordering::SeqCst);
            let said = self.call(&caller, "claim_ticket_node", json!({})).await.unwrap();
            if said["claim"].is_null() {
                let others = self.alive.fetch_sub(1, Ordering::SeqCst) - 1;
                // Whatever is still under way is held by nobody who will report.
                if others == 0 && self.done.load(Ordering::SeqCst) < NODES {
                    self.clock.advance(Duration::from_mins(16));
                    self.count("waits for leases");
                }
                tokio::task::yield_now().await;
                continue;
            }
            self.do_it(&caller, &said).await;
            self.alive.fetch_sub(1, Ordering::SeqCst);
        }
    }

    async fn do_it(&self, caller: &Caller, claimed: &Value) {
        let id = claimed["claim"]["id"].clone();
        self.count("claims");
        if self.chance.below(LOST_ONE_IN) == 0 {
            self.count("lost");
            self.lost.lock().unwrap().push(id);
            return;
        }
        if self.chance.below(20) == 0 {
            self.count("released");
            let back = json!({ "claim_id": id, "reason": "Not mine" });
            self.call(caller, "release_node", back).await.unwrap();
            return;
        }
        let done = json!({
            "claim_id": id, "outcome": "succeeded", "summary": "Done.", "no_changes": true,
        });
        match self.call(caller, "submit_node_report", done).await {
            Ok(_) => {
                let name = format!("{} {}", claimed["ticket"]["id"], claimed["node"]["ref"]);
                *self.reported.lock().unwrap().entry(name).or_default() += 1;
                self.done.fetch_add(1, Ordering::SeqCst);
            }
            // Another moved the clock while this one was at work.
            Err(fault) if fault.code == Code::Conflict => self.count("too late"),
            Err(fault) => panic!("{fault:?}"),
        }
    }
}

fn furnish(tx: &mut assay::store::Tx<'_>, place: &str) -> Result<Vec<assay::base::Secret>, Fault> {
    let tenant = tenants::create(tx, "Acme", Plan::All)?.id;
    for n in 0..PROJECTS {
        let mut settings = Settings::default();
        settings.agents.default = Some("editor".to_owned());
        settings.limits.concurrency = 64;
        let (name, key) = (format!("Project {n}"), format!("P{n}"));
        let new = NewProject {
            name: &name,
            key: Some(&key),
            repository: Some(place),
            base_branch: Some("main"),
            settings,
            ..NewProject::default()
        };
        projects::create(tx, tenant, new)?;
    }
    (0..CLAIMERS)
        .map(|n| {
            let name = format!("claimer {n}");
            let new = NewKey::plain(&name, KeyScope::McpFull, "test");
            keys::create(tx, tenant, &new).map(|(_, key)| key)
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_thousand_nodes_that_64_claim_none_is_done_twice_and_none_is_forgotten() {
    let (crowd, callers) = Crowd::gather().await;
    for n in 0..PROJECTS * TICKETS_EACH {
        let args = json!({ "title": format!("Ticket {n}"), "project": format!("P{}", n % PROJECTS),
            "pass_profile": "minimal", "override_duplicate": true });
        crowd.call(&callers[0], "dispatch_ticket", args).await.unwrap();
    }

    let at_work = callers.iter().map(|caller| tokio::spawn(crowd.clone().work(caller.clone())));
    for ended in futures_util::future::join_all(at_work).await {
        ended.unwrap();
    }

    let column = |sql: &str| crowd.app.env().db.raw_column(sql).unwrap();
    let reported = crowd.reported.lock().unwrap().clone();
    assert_eq!(reported.len(), NODES, "each was done");
    assert!(reported.values().all(|times| *times == 1), "and once");
    let standing = "SELECT status || ' ' || count(*) FROM nodes
        WHERE kind NOT IN ('verification', 'land') GROUP BY status";
    assert_eq!(column(standing), [format!("succeeded {NODES}")]);
    let done = "SELECT count(*) || ' ' || count(DISTINCT node_id) FROM claims
        WHERE ended_as = 'reported'";
    assert_eq!(column(done), [format!("{NODES} {NODES}")]);
    assert_eq!(column("SELECT count(*) || '' FROM claims WHERE ended_at IS NULL"), ["0"]);
    let tally = crowd.tally.lock().unwrap().clone();
    let lost = crowd.lost.lock().unwrap().clone();
    assert!(lost.len() > 10 && tally["released"] > 10, "{tally:?}");
    let lapsed = column("SELECT count(*) || '' FROM claims WHERE ended_as = 'lapsed'");
    let late = tally.get("too late").copied().unwrap_or(0);
    assert!(lapsed[0].parse::<usize>().unwrap() >= lost.len(), "{lapsed:?}, {late} too late");
    // Whoever comes back after its lease hears so.
    for id in &lost {
        let late = json!({ "claim_id": id, "outcome": "succeeded", "summary": "Late." });
        let mut answers = Vec::new();
        for caller in &callers {
            if let Err(fault) = crowd.call(caller, "submit_node_report", late.clone()).await {
                answers.push(fault.code);
            }
        }
        assert_eq!(answers.len(), CLAIMERS);
        assert_eq!(answers.iter().filter(|code| **code == Code::Conflict).count(), 1, "its own");
    }
}
