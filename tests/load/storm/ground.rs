//! What the clients meet: the real program on a directory of its own, with tenants that have a
//! project, a repository, a fast agent and a key each.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assay::accounts::keys::{self, NewKey};
use assay::accounts::{KeyScope, Plan, tenants};
use assay::base::{Clock, Entropy, Fault};
use assay::events::Bus;
use assay::projects::agents::Profile;
use assay::projects::settings::{Settings, VerifyCommand};
use assay::projects::{self, NewProject};
use assay::store::{Db, Tx};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// An agent that does its part at once.
const AGENT: &str = "[ \"$ASSAY_NODE\" = implement ] && echo x >\"$ASSAY_TICKET.txt\"; exit 0";

/// A tenant as its clients know it.
#[derive(Clone)]
pub(crate) struct Tenant {
    pub(crate) key: String,
    /// A text that stands in each of its tickets, and in nobody else's.
    pub(crate) mark: String,
}

/// The server and its ground.
pub(crate) struct Ground {
    dir: TempDir,
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) tenants: Vec<Tenant>,
}

impl Ground {
    /// Makes the ground and starts the program on it.
    pub(crate) fn make(assay: &Path, tenants: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::create_dir(&data).unwrap();
        let db = open(&data);
        let tenants = (0..tenants).map(|n| tenant(&db, dir.path(), n)).collect();
        drop(db);
        let mut child = program(assay)
            .args(["serve", "--listen", "127.0.0.1:0", "--rate-limit", "off", "--data"])
            .arg(&data)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(dir.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("the server says where it is").unwrap();
        let address = first.rsplit("http://").next().unwrap().parse().unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Self { dir, child, address, tenants }
    }

    /// Memory that the server holds, in KiB; 0 where the system does not say.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// Stops the server, and gives what it logged and its database.
    pub(crate) fn stop(mut self) -> (bool, String, Db, TempDir) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let well = self.child.wait().unwrap().success();
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap();
        let db = open(&self.dir.path().join("data"));
        let kept = std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap());
        (well, log, db, kept)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // Mostly it is gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn open(data: &Path) -> Db {
    Db::open(data, Clock::system(), Entropy::system(), Bus::default()).unwrap()
}

fn tenant(db: &Db, root: &Path, n: usize) -> Tenant {
    let repository = root.join(format!("repository-{n}"));
    make_repository(&repository);
    let agent = root.join("agent.sh");
    fs::write(&agent, AGENT).unwrap();
    let key = db.write_blocking(move |tx| furnish(tx, n, &repository, &agent)).unwrap();
    Tenant { key, mark: format!("only-of-tenant-{n}-") }
}

fn furnish(tx: &mut Tx<'_>, n: usize, place: &Path, agent: &Path) -> Result<String, Fault> {
    let name: &'static str = ["North", "East", "South", "West"][n];
    let tenant = tenants::create(tx, name, Plan::All)?;
    let mut settings = Settings::default();
    let command = vec!["sh".to_owned(), agent.to_str().unwrap().to_owned()];
    settings.agents.profiles.insert("script".to_owned(), Profile::script(command));
    settings.verify.push(VerifyCommand::new("tests", "true".to_owned()));
    let project = NewProject {
        name,
        key: Some(["NORTH", "EAST", "SOUTH", "WEST"][n]),
        repository: place.to_str(),
        base_branch: Some("main"),
        settings,
        ..NewProject::default()
    };
    projects::create(tx, tenant.id, project)?;
    let new = NewKey::plain("load", KeyScope::McpFull, "load");
    keys::create(tx, tenant.id, &new).map(|(_, key)| key.reveal().to_owned())
}

pub(crate) fn make_repository(place: &Path) {
    fs::create_dir(place).unwrap();
    fs::write(place.join("README.md"), "One\n").unwrap();
    for args in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-m", "First"],
    ] {
        let made = program(Path::new("git")).arg("-C").arg(place).args(args).status().unwrap();
        assert!(made.success(), "{args:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the server and git are started for the clients")]
pub(crate) fn program(path: &Path) -> Command {
    Command::new(path)
}
