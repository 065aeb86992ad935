//! Data directories of a known size, and servers on them.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use assay::accounts::users::{self, NewUser};
use assay::accounts::{Role, passwords, sessions, tenants};
use assay::base::{Clock, Code, Entropy, Fault, Secret};
use assay::events::Bus;
use assay::store::{Blobs, Db};
use serde_json::Value;
use tempfile::TempDir;

use crate::load;

/// How long the demonstration may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A data directory with a project and a key, in which the demonstration has come to rest.
pub(crate) struct House {
    dir: TempDir,
    assay: PathBuf,
    /// A key for everything.
    pub(crate) key: String,
}

/// A program that serves, until it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// A program, started with its output read.
#[expect(clippy::disallowed_methods, reason = "what is measured is a program of its own")]
pub(crate) fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}

impl House {
    /// Makes one, with `ACME-1` landed by the product itself.
    pub(crate) async fn new(assay: &Path) -> anyhow::Result<Self> {
        let dir = tempfile::Builder::new().prefix("assay-bench-").tempdir()?;
        let mut house = Self { dir, assay: assay.to_owned(), key: String::new() };
        let server = house.serve(&["--demo"])?;
        let flags = ["key", "create", "--scope", "mcp_full", "--name", "bench", "--data"];
        let made = program(assay).args(flags).arg(house.data()).output()?;
        ensure!(made.status.success(), "no key was made");
        String::from_utf8(made.stdout)?.trim().clone_into(&mut house.key);
        // At rest the demonstration has landed two tickets and asks about the third.
        for (ticket, rests) in [("1", "succeeded"), ("2", "succeeded"), ("3", "awaiting_input")] {
            house.until(server.address, ticket, rests).await?;
        }
        server.stop()?;
        Ok(house)
    }

    async fn until(&self, at: SocketAddr, ticket: &str, status: &str) -> anyhow::Result<()> {
        let asked = self.invoke("get_ticket", &format!(r#"{{"ticket": "ACME-{ticket}"}}"#));
        let started = Instant::now();
        loop {
            let said: Value = serde_json::from_slice(&load::once(at, &asked).await?.body)?;
            if said["data"]["ticket"]["status"] == status {
                return Ok(());
            }
            ensure!(started.elapsed() < PATIENCE, "ACME-{ticket} is not {status}: {said}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// The folder it lies in, on the same disk.
    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// Starts the server and waits until it says where it is.
    pub(crate) fn serve(&self, flags: &[&str]) -> anyhow::Result<Server> {
        let mut command = program(&self.assay);
        command.args(["serve", "--listen", "127.0.0.1:0", "--rate-limit", "off", "--data"]);
        Server::start(command.arg(self.data()).args(flags))
    }

    /// A call of a tool at the invoke door.
    pub(crate) fn invoke(&self, tool: &str, args: &str) -> Vec<u8> {
        let body = format!(r#"{{"tool": "{tool}", "args": {args}}}"#);
        load::post("/api/mcp/v1/invoke", &[("X-API-Key", &self.key)], &body)
    }

    /// Opens the database beside whatever else runs.
    pub(crate) fn db(&self) -> anyhow::Result<Db> {
        self.db_at(Clock::system())
    }

    /// The same, by another clock.
    pub(crate) fn db_at(&self, clock: Clock) -> anyhow::Result<Db> {
        Db::open(&self.data(), clock, Entropy::system(), Bus::default()).map_err(said)
    }

    /// Adds `count` finished tickets, with all that belongs to them where `whole`: copies of
    /// `ACME-1`, as the product left it.
    pub(crate) fn multiply(&self, count: u32, whole: bool) -> anyhow::Result<()> {
        let db = self.db()?;
        db.raw(CATEGORY).map_err(said)?;
        let parts: &[Part] = if whole { &PARTS } else { &PARTS[..1] };
        for part in parts {
            db.raw(&part.copy(&db, count)?).map_err(said)?;
        }
        db.raw(&format!("UPDATE projects SET last_seq = {count} + 100;")).map_err(said)?;
        Ok(())
    }

    /// Adds `count` proofs, lines of the audit log and jobs that have ended.
    pub(crate) fn fill(&self, count: u32) -> anyhow::Result<()> {
        let db = self.db()?;
        for part in &RECORDS {
            db.raw(&part.copy(&db, count)?).map_err(said)?;
        }
        Ok(())
    }

    /// Gives `ACME-1` a graph of `nodes`, each with a log of `lines`.
    pub(crate) fn widen(&self, nodes: u32, lines: u32) -> anyhow::Result<()> {
        let blobs = Blobs::open(self.data().join("blobs"), Entropy::system()).map_err(said)?;
        let mut log = String::new();
        for n in 1..=lines {
            writeln!(log, "\u{1b}[32mok\u{1b}[0m test {n} passed")?;
        }
        let hash = blobs.put(log.as_bytes()).map_err(said)?;
        let hash = hash.to_string();
        let db = self.db()?;
        let spread = Part {
            table: "nodes",
            from: "c CROSS JOIN nodes s ON s.ref = 'implement-1'
                   JOIN tickets t ON t.id = s.ticket_id AND t.n = 1",
            set: &[
                ("id", "randomblob(16)"),
                ("position", "100 + c.i"),
                ("ref", "'implement-' || (1 + c.i)"),
            ],
        };
        let there = "SELECT count(*) || '' FROM nodes
                     WHERE ticket_id = (SELECT id FROM tickets WHERE n = 1)";
        let there = db.raw_column(there).map_err(said)?;
        let there: u32 = there[0].parse()?;
        db.raw(&spread.copy(&db, nodes.saturating_sub(there))?).map_err(said)?;
        db.raw(&format!(
            "INSERT INTO node_edges (node_id, parent_id, tenant_id, ticket_id)
             SELECT n.id, p.id, n.tenant_id, n.ticket_id FROM nodes n
             JOIN nodes p ON p.ticket_id = n.ticket_id AND p.ref = 'contract-1'
             WHERE n.ref GLOB 'implement-*' AND n.ref <> 'implement-1';
             UPDATE nodes SET log_hash = x'{hash}', log_lines = {lines}
             WHERE ticket_id = (SELECT id FROM tickets WHERE n = 1);"
        ))
        .map_err(said)?;
        Ok(())
    }

    /// Gives the project an agent that never comes back, and one place for it: whatever else is
    /// filed stays queued.
    pub(crate) fn hold_work(&self) -> anyhow::Result<()> {
        let mut set = program(&self.assay);
        set.args(["project", "set", "ACME", "agent-command=sleep 100000", "concurrency=1"]);
        let made = set.arg("--data").arg(self.data()).stderr(Stdio::piped()).output()?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Ok(())
    }

    /// The cookie of somebody who is signed in.
    pub(crate) async fn sign_in(&self) -> anyhow::Result<String> {
        let hash = passwords::hash(&Secret::new("correct horse battery"), &Entropy::system());
        let hash = hash.map_err(said)?;
        let db = self.db()?;
        let token = db.write(move |tx| {
            let tenant = tenants::choose(tx, None)?
                .ok_or_else(|| Fault::new(Code::NotFound, "there is no tenant"))?;
            let new = NewUser {
                email: "bench@example.com",
                name: "Bench",
                role: Role::Owner,
                password: &hash,
            };
            let user = users::create(tx, tenant.id, &new)?;
            sessions::start(tx, &user, "bench", "127.0.0.1").map(|(_, token)| token)
        });
        Ok(token.await.map_err(said)?.reveal().to_owned())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps an error")]
pub(crate) fn said(fault: Fault) -> anyhow::Error {
    anyhow::anyhow!("{fault:?}")
}

impl Server {
    /// Starts a program whose first line ends with its address.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("the output is read")?;
        let mut lines = BufReader::new(output).lines();
        let first = lines.next().context("the server ended without a word")??;
        let address = first.rsplit("http://").next().unwrap_or_default().parse();
        let address = address.with_context(|| format!("no address in {first:?}"))?;
        // Whatever else it says is taken, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, address })
    }

    /// Waits until it does nothing of its own accord any more: it looks through a large database
    /// once after it has started.
    pub(crate) fn settle(&self) -> anyhow::Result<()> {
        let mut before = u64::MAX;
        loop {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
            let rest = stat.rsplit(')').next().unwrap_or_default();
            let mut ticks = rest.split_whitespace().skip(11).map(str::parse::<u64>);
            let used = ticks.next().context("utime")?? + ticks.next().context("stime")??;
            if used.saturating_sub(before) <= 1 && before != u64::MAX {
                return Ok(());
            }
            before = used;
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// The memory it holds, in MiB.
    pub(crate) fn memory(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
        Ok(kibibytes.context("the system tells no memory")? / 1_024.0)
    }

    /// Stops it as a service manager does.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Mostly it is gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A table of which rows are copied: where they come from, and what differs in a copy.
struct Part {
    table: &'static str,
    from: &'static str,
    set: &'static [(&'static str, &'static str)],
}

/// Every seventh ticket is in a category.
const CATEGORY: &str = "INSERT OR IGNORE INTO categories
    (id, tenant_id, project_id, name, name_norm, created_at)
    SELECT unhex('019c0000000070008000000000000001'), tenant_id, id, 'Pages', 'pages', 1
    FROM projects WHERE key = 'ACME';";

/// Ids of copies follow from the number of the copy, so that rows of one ticket find each other,
/// and lie in the order of filing as those of the product do.
const PARTS: [Part; 5] = [
    Part {
        table: "tickets",
        from: "c CROSS JOIN tickets s ON s.n = 1",
        set: &[
            ("n", "100 + c.i"),
            ("id", "unhex(printf('019%09x7000a%015x', c.i, c.i))"),
            ("seq", "100 + c.i"),
            ("title", "'Ticket ' || c.i || ': ' || s.title"),
            ("operation_key", "NULL"),
            (
                "category_id",
                "CASE WHEN c.i % 7 = 0 THEN unhex('019c0000000070008000000000000001') END",
            ),
            (
                "status",
                "CASE WHEN c.i % 20 = 0 THEN 'failed' WHEN c.i % 33 = 0 THEN 'cancelled' \
                 ELSE s.status END",
            ),
            ("created_at", "s.created_at + c.i"),
        ],
    },
    Part {
        table: "nodes",
        from: "c CROSS JOIN nodes s ON s.ticket_id = (SELECT id FROM tickets WHERE n = 1)",
        set: &[
            ("id", "unhex(printf('01a%09x7%05xb%013x', c.i, s.position, c.i))"),
            ("ticket_id", "unhex(printf('019%09x7000a%015x', c.i, c.i))"),
        ],
    },
    Part {
        table: "node_edges",
        from: "c CROSS JOIN node_edges s ON s.ticket_id = (SELECT id FROM tickets WHERE n = 1)
               JOIN nodes a ON a.id = s.node_id JOIN nodes b ON b.id = s.parent_id",
        set: &[
            ("node_id", "unhex(printf('01a%09x7%05xb%013x', c.i, a.position, c.i))"),
            ("parent_id", "unhex(printf('01a%09x7%05xb%013x', c.i, b.position, c.i))"),
            ("ticket_id", "unhex(printf('019%09x7000a%015x', c.i, c.i))"),
        ],
    },
    Part {
        table: "assertions",
        from: "c CROSS JOIN assertions s ON s.ticket_id = (SELECT id FROM tickets WHERE n = 1)",
        set: &[
            ("id", "unhex(printf('01b%09x7%05xb%013x', c.i, s.position, c.i))"),
            ("ticket_id", "unhex(printf('019%09x7000a%015x', c.i, c.i))"),
            ("proof_id", "NULL"),
        ],
    },
    Part {
        table: "ticket_events",
        from: "c CROSS JOIN ticket_events s ON s.ticket_id = (SELECT id FROM tickets WHERE n = 1)",
        set: &[("n", "NULL"), ("ticket_id", "unhex(printf('019%09x7000a%015x', c.i, c.i))")],
    },
];

/// What lists beside that of tickets show.
const RECORDS: [Part; 3] = [
    Part {
        table: "proofs",
        from: "c CROSS JOIN proofs s ON s.n = 1",
        set: &[
            ("n", "NULL"),
            ("id", "randomblob(16)"),
            ("ticket_id", "unhex(printf('019%09x7000a%015x', c.i, c.i))"),
            ("verdict", "CASE WHEN c.i % 25 = 0 THEN 'failed' ELSE s.verdict END"),
        ],
    },
    Part { table: "audit", from: "c CROSS JOIN audit s ON s.n = 1", set: &[("n", "NULL")] },
    Part {
        table: "jobs",
        from: "c CROSS JOIN jobs s ON s.n = (SELECT min(n) FROM jobs WHERE state = 'done'
               AND tenant_id IS NOT NULL)",
        set: &[("n", "NULL"), ("id", "randomblob(16)"), ("unique_key", "NULL")],
    },
];

impl Part {
    /// The statement that makes `count` copies, whatever columns the table has.
    fn copy(&self, db: &Db, count: u32) -> anyhow::Result<String> {
        let names = format!("SELECT name FROM pragma_table_info('{}')", self.table);
        let names = db.raw_column(&names).map_err(said)?;
        let values: Vec<String> = names
            .iter()
            .map(|name| match self.set.iter().find(|(set, _)| set == name) {
                Some((_, value)) => (*value).to_owned(),
                None => format!("s.{name}"),
            })
            .collect();
        let (columns, values) = (names.join(", "), values.join(", "));
        Ok(format!(
            "INSERT INTO {} ({columns})
             WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {count})
             SELECT {values} FROM {};",
            self.table, self.from
        ))
    }
}
