//! Many clients of several tenants at once, who dispatch, list, get, cancel and retry. What each
//! answer must be is known to whoever asked; what is wrong with one is a problem by name.

pub(crate) mod client;
pub(crate) mod ground;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use client::{Answer, Client};
pub(crate) use ground::{Ground, Tenant};

/// Tickets of one client that are under way at most; beyond that it files no more.
const OPEN_MAX: usize = 6;
/// Problems kept word for word.
const PROBLEMS_MAX: usize = 20;

/// What a cancel hears of a ticket that has ended or lands, and a retry of one that has not failed.
const TOO_LATE: [&str; 2] = ["there is nothing to cancel", "it cannot be cancelled any more"];
const TOO_EARLY: [&str; 1] = ["ticket can be tried again"];
/// What a stranger hears, and who asks for what is not there.
const HIDDEN: &str = "There is no such ticket, or it is not yours to see.";

/// What came of it.
#[derive(Default)]
pub(crate) struct Outcome {
    /// How long each call took, by what it was.
    pub(crate) took: BTreeMap<&'static str, Vec<Duration>>,
    /// Calls that were refused as they should be.
    pub(crate) refused: u64,
    /// The ticket of each operation key that was answered, by tenant and key.
    pub(crate) filed: BTreeMap<(usize, String), String>,
    /// What went wrong: the first few.
    pub(crate) problems: Vec<String>,
    /// How much went wrong.
    pub(crate) problem_count: u64,
}

impl Outcome {
    fn problem(&mut self, what: String) {
        self.problem_count += 1;
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(what);
        }
    }

    fn add(&mut self, other: Self) {
        for (what, took) in other.took {
            self.took.entry(what).or_default().extend(took);
        }
        self.refused += other.refused;
        self.problem_count += other.problem_count;
        self.problems.extend(other.problems);
        self.problems.truncate(PROBLEMS_MAX);
        for (key, ticket) in other.filed {
            if let Some(known) = self.filed.insert(key.clone(), ticket.clone())
                && known != ticket
            {
                self.problem(format!("{key:?} filed {known} and {ticket}"));
            }
        }
    }
}

/// Lets the clients loose, and says what came of it. Each goes on while `more` says so of the calls
/// that it has made.
pub(crate) fn storm(
    ground: &Ground,
    clients: usize,
    more: &(impl Fn(u32) -> bool + Sync),
) -> Outcome {
    let known = &Mutex::new(Vec::new());
    let mut whole = Outcome::default();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..clients)
            .map(|n| scope.spawn(move || Caller::new(ground, n, known).run(more)))
            .collect();
        for run in running {
            whole.add(run.join().expect("a client does not panic"));
        }
    });
    whole
}

/// What the server left behind must be true of all that was asked of it.
pub(crate) fn claims(ground: Ground, outcome: &mut Outcome) {
    let tenants = ground.tenants.len();
    let (well, log, db, dir) = ground.stop();
    if !well {
        outcome.problem("the server did not stop well".to_owned());
    }
    for word in ["database is locked", "panicked", "ERROR"] {
        for line in log.lines().filter(|line| line.contains(word)).take(3) {
            outcome.problem(format!("the log says: {line}"));
        }
    }
    let column = |sql: &str| db.raw_column(sql).expect("the database can be read");
    if column("PRAGMA integrity_check") != ["ok"] {
        outcome.problem("the database is damaged".to_owned());
    }
    for errors in column("SELECT errors FROM jobs WHERE state = 'failed'") {
        outcome.problem(format!("a job failed: {errors}"));
    }
    let marked = "SELECT t.operation_key || ' ' || lower(hex(t.id)) FROM tickets t";
    let mut rows: Vec<String> = column(marked);
    rows.sort();
    let mut answered: Vec<String> = outcome
        .filed
        .iter()
        .map(|((_, key), id)| format!("{key} {}", id.replace('-', "")))
        .collect();
    answered.sort();
    if rows != answered {
        let said = format!("{} tickets are there, {} were answered", rows.len(), answered.len());
        outcome.problem(said);
    }
    for n in 0..tenants {
        let title = format!("only-of-tenant-{n}-");
        let strangers = format!(
            "SELECT count(DISTINCT tenant_id) || '' FROM tickets WHERE title LIKE '{title}%'"
        );
        if column(&strangers) != ["1"] {
            outcome.problem(format!("tickets of tenant {n} stand in several tenants"));
        }
    }
    drop(dir);
}

/// A ticket of a client's own.
struct Own {
    id: String,
    is_open: bool,
}

/// One client.
struct Caller<'a> {
    number: usize,
    tenant: usize,
    tenants: &'a [Tenant],
    address: SocketAddr,
    /// A few tickets of everybody, by tenant: what a stranger may try to see.
    known: &'a Mutex<Vec<(usize, String)>>,
    own: Vec<Own>,
    filed: u32,
    chance: u64,
    outcome: Outcome,
}

impl<'a> Caller<'a> {
    fn new(ground: &'a Ground, number: usize, known: &'a Mutex<Vec<(usize, String)>>) -> Self {
        Self {
            number,
            tenant: number % ground.tenants.len(),
            tenants: &ground.tenants,
            address: ground.address,
            known,
            own: Vec::new(),
            filed: 0,
            chance: 0x9e37_79b9_7f4a_7c15 ^ ((number as u64 + 1) << 17),
            outcome: Outcome::default(),
        }
    }

    fn run(mut self, more: &impl Fn(u32) -> bool) -> Outcome {
        let key = self.tenants[self.tenant].key.clone();
        let mut client = match Client::connect(self.address, &key) {
            Ok(client) => client,
            Err(error) => {
                self.outcome.problem(format!("no connection: {error}"));
                return self.outcome;
            }
        };
        let mut calls = 0;
        while more(calls) {
            calls += 1;
            if let Err(error) = self.step(&mut client) {
                self.outcome.problem(format!("no answer: {error}"));
            }
        }
        self.outcome
    }

    /// The next number below `below`: xorshift, seeded by the client's number.
    fn roll(&mut self, below: usize) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance % below as u64).expect("it is smaller than a usize")
    }

    fn step(&mut self, client: &mut Client) -> io::Result<()> {
        let open = self.own.iter().filter(|own| own.is_open).count();
        match self.roll(100) {
            0..25 if open < OPEN_MAX => self.dispatch(client),
            25..50 => self.list(client),
            50..60 => self.change(client, "cancel_ticket", &TOO_LATE),
            60..70 => self.change(client, "retry_ticket", &TOO_EARLY),
            70..75 => self.get_a_strangers(client),
            _ => self.get(client),
        }
    }

    /// Takes note of an answer: never a fault of the server's, never another tenant's.
    fn note(&mut self, what: &'static str, answer: &Answer) {
        self.outcome.took.entry(what).or_default().push(answer.took);
        if answer.status >= 500 {
            let said = answer.text.chars().take(300).collect::<String>();
            self.outcome.problem(format!("{what}: {} {said}", answer.status));
        }
        for (n, tenant) in self.tenants.iter().enumerate() {
            if n != self.tenant && answer.text.contains(&tenant.mark) {
                self.outcome.problem(format!("{what}: tenant {} sees {n}", self.tenant));
            }
        }
    }

    fn ok(&mut self, what: &'static str, answer: &Answer) -> Option<Value> {
        self.note(what, answer);
        let said = answer.json();
        if answer.status == 200 && said["ok"] == true {
            return Some(said["data"].clone());
        }
        self.outcome.problem(format!("{what}: {} {}", answer.status, answer.text));
        None
    }

    fn dispatch(&mut self, client: &mut Client) -> io::Result<()> {
        self.filed += 1;
        let (mark, number, filed) = (&self.tenants[self.tenant].mark, self.number, self.filed);
        // Clients of different tenants use the same keys, which mean nothing to each other.
        let key = format!("key-{}-{filed}", number / self.tenants.len());
        let args = json!({ "title": format!("{mark}{number} files no {filed}"),
            "preset": "trivial", "pass_profile": "minimal", "operation_key": key });
        let answer = client.call("dispatch_ticket", &args)?;
        let Some(data) = self.ok("dispatch", &answer) else { return Ok(()) };
        let id = data["ticket"]["id"].as_str().unwrap_or_default().to_owned();
        self.outcome.filed.insert((self.tenant, key), id.clone());
        if self.roll(4) == 0 {
            let again = client.call("dispatch_ticket", &args)?;
            let data = self.ok("dispatch again", &again).unwrap_or_default();
            if data["ticket"]["id"] != id.as_str() {
                self.outcome.problem(format!("a key filed {id} and {}", data["ticket"]["id"]));
            }
        }
        if let Ok(mut known) = self.known.lock()
            && known.len() < 1_000
        {
            known.push((self.tenant, id.clone()));
        }
        self.own.push(Own { id, is_open: true });
        Ok(())
    }

    fn list(&mut self, client: &mut Client) -> io::Result<()> {
        let mut args = json!({ "limit": 20 });
        if self.roll(2) == 0 {
            let status = ["queued", "running", "succeeded", "cancelled"][self.roll(4)];
            args["status"] = json!(status);
        }
        let answer = client.call("list_tickets", &args)?;
        self.ok("list", &answer);
        Ok(())
    }

    /// One of its own, the newest more often.
    fn pick(&mut self) -> Option<usize> {
        let count = self.own.len();
        (count > 0).then(|| count - 1 - self.roll(count.min(12)))
    }

    fn get(&mut self, client: &mut Client) -> io::Result<()> {
        let Some(at) = self.pick() else { return self.list(client) };
        let id = self.own[at].id.clone();
        let answer = client.call("get_ticket", &json!({ "ticket": id }))?;
        let Some(data) = self.ok("get", &answer) else { return Ok(()) };
        if data["ticket"]["id"] != id.as_str() {
            self.outcome.problem(format!("asked for {id}, got {}", data["ticket"]["id"]));
        }
        self.own[at].is_open = data["ticket"]["completedAt"].is_null();
        Ok(())
    }

    fn get_a_strangers(&mut self, client: &mut Client) -> io::Result<()> {
        let at = self.roll(1_000);
        let strangers = self.known.lock().map(|known| {
            let others: Vec<_> = known.iter().filter(|(n, _)| *n != self.tenant).collect();
            others.get(at % others.len().max(1)).map(|(_, id)| id.clone())
        });
        let Ok(Some(id)) = strangers else { return self.get(client) };
        let answer = client.call("get_ticket", &json!({ "ticket": id }))?;
        self.note("get a stranger's", &answer);
        self.outcome.refused += 1;
        if answer.status >= 500 || !answer.text.contains(HIDDEN) {
            self.outcome.problem(format!("a stranger's ticket: {} {}", answer.status, answer.text));
        }
        Ok(())
    }

    /// Cancels or retries one of its own, which its state may not allow.
    fn change(
        &mut self,
        client: &mut Client,
        tool: &'static str,
        refusals: &[&str],
    ) -> io::Result<()> {
        let Some(at) = self.pick() else { return self.list(client) };
        let answer = client.call(tool, &json!({ "ticket": self.own[at].id }))?;
        self.note(tool, &answer);
        if answer.json()["ok"] == true {
            self.own[at].is_open = tool == "retry_ticket";
        } else if refusals.iter().any(|refusal| answer.text.contains(refusal)) {
            self.outcome.refused += 1;
        } else if answer.status < 500 {
            self.outcome.problem(format!("{tool}: {} {}", answer.status, answer.text));
        }
        Ok(())
    }
}
