//! The real program on a directory of its own, killed and started again as often as somebody likes,
//! and the repository that its tickets land in.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use assay::accounts::keys::{self, NewKey};
use assay::accounts::{KeyScope, Plan, tenants};
use assay::base::Fault;
use assay::projects::agents::Profile;
use assay::projects::settings::{Settings, VerifyCommand};
use assay::projects::{self, NewProject};
use assay::store::{Db, Tx};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::storm::ground::{make_repository, open, program};

/// The agent: it reads its part from the ticket's title, and fails where something that the ticket
/// builds on is not there.
const AGENT: &str = r#"
prompt=$(cat)
after() { printf '%s\n' "$prompt" | sed -n "s/^$1 //p" | sed 1q; }
echo "$ASSAY_NODE of $ASSAY_TICKET"
case $ASSAY_NODE in
implement) ;;
merge_repair)
    joined="$STAGE/joined-$ASSAY_TICKET"
    for file in $(git diff --name-only --diff-filter=U); do
        grep -v -e '^<<<<<<<' -e '^=======' -e '^>>>>>>>' "$file" >"$joined"
        mv "$joined" "$file"
    done
    exit ;;
*) exit ;;
esac
set -- $(after "Title: No")
number=$1 fate=$2 other=$4
for parent in $(after "Builds on:"); do
    [ -e "tickets/$parent.txt" ] || { echo "No $parent is not there" >&2; exit 9; }
done
mkdir -p tickets
echo "$number" >"tickets/$number.txt"
case $fate in
fails) echo "as it is asked to" >&2; exit 3 ;;
hangs) while :; do sleep 60; done ;;
clashes)
    : >"$STAGE/began-$number"
    tries=0
    until [ -e "$STAGE/began-$other" ] || [ $tries -ge 20 ]; do
        echo "waits for $other"; sleep 0.1; tries=$((tries + 1))
    done
    [ "$number" -lt "$other" ] && line=$number || line=$other
    mkdir -p shared
    echo "$number" >"shared/$line.txt" ;;
esac
"#;

/// What an agent may print nothing for. One that hangs is known by it.
const SILENCE_SECS: u64 = 4;

/// Tickets of the project that run at once.
const PLACES: u32 = 8;

/// A data directory, a repository, and a server on it.
pub(crate) struct House {
    dir: TempDir,
    assay: PathBuf,
    pub(crate) key: String,
    server: Mutex<Option<(Child, SocketAddr)>>,
}

impl House {
    /// Makes everything; the server is not started.
    pub(crate) fn make(assay: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (data, repository) = (root.join("data"), root.join("repository"));
        fs::create_dir(&data).unwrap();
        make_repository(&repository);
        fs::write(root.join("agent.sh"), AGENT).unwrap();
        let db = open(&data);
        let key = db.write_blocking(move |tx| furnish(tx, &root)).unwrap();
        Self { dir, assay: assay.to_owned(), key, server: Mutex::new(None) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// Where the server is now; `None` while it is down.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.server.lock().unwrap().as_ref().map(|(_, address)| *address)
    }

    /// Starts the server, and waits until it says where it is.
    pub(crate) fn start(&self) {
        let mut options = File::options();
        let log = options.create(true).append(true).open(self.path("log")).unwrap();
        let mut child = program(&self.assay)
            .args(["serve", "--listen", "127.0.0.1:0", "--rate-limit", "off", "--data"])
            .arg(self.path("data"))
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let Some(Ok(first)) = lines.next() else {
            let log = self.log();
            let end: Vec<&str> = log.lines().rev().take(20).collect();
            panic!("the server did not start ({:?}), last line first: {end:#?}", child.wait());
        };
        let address = first.rsplit("http://").next().unwrap().parse().unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        *self.server.lock().unwrap() = Some((child, address));
    }

    /// Kills the server where it stands.
    pub(crate) fn kill(&self) {
        let (mut child, _) = self.server.lock().unwrap().take().expect("it serves");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Asks the server to stop; whether it did so well.
    pub(crate) fn stop(&self) -> bool {
        let (mut child, _) = self.server.lock().unwrap().take().expect("it serves");
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        child.wait().unwrap().success()
    }

    /// Everything that all servers logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap()
    }

    /// The database, while no server is on it.
    pub(crate) fn database(&self) -> Db {
        open(&self.path("data"))
    }

    /// The names of the work trees that are there.
    pub(crate) fn trees(&self) -> Vec<String> {
        let folders = fs::read_dir(self.path("data/worktrees")).into_iter().flatten().flatten();
        folders.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Lets two hours go by for the tickets, so that nothing of them is to be kept any longer, and
    /// a server sweep at once. Waits until every work tree is gone or a while is over.
    pub(crate) fn sweep(&self) {
        let later = "UPDATE tickets SET created_at = created_at - 7200000,
                started_at = started_at - 7200000, completed_at = completed_at - 7200000;
            UPDATE job_schedules SET next_at = 0 WHERE kind = 'sweep_tickets'";
        self.database().raw(later).unwrap();
        self.start();
        for _ in 0..600 {
            if self.trees().is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What git says in the repository.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let git =
            program(Path::new("git")).arg("-C").arg(self.path("repository")).args(args).output();
        let output = git.unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Processes that work under the directory and are no server.
    pub(crate) fn processes(&self) -> Vec<String> {
        let root = self.path("");
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let works_here = |process: &Path| {
            fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&root))
        };
        let found = entries.map(|entry| entry.path()).filter(|process| works_here(process));
        let named = found.map(|process| fs::read(process.join("cmdline")).unwrap_or_default());
        named.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some((mut child, _)) = self.server.lock().unwrap().take() {
            // Mostly it is gone already.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn furnish(tx: &mut Tx<'_>, root: &Path) -> Result<String, Fault> {
    let text = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let tenant = tenants::create(tx, "Acme", Plan::All)?;
    let mut profile = Profile::script(vec!["sh".to_owned(), text("agent.sh")]);
    profile.set.insert("STAGE".to_owned(), text(""));
    profile.idle_timeout_secs = SILENCE_SECS;
    let mut settings = Settings::default();
    settings.agents.profiles.insert("script".to_owned(), profile);
    let unmarked = "! grep -qrs '^<<<<<<<' shared".to_owned();
    settings.verify.push(VerifyCommand::new("no mark of a conflict", unmarked));
    settings.limits.concurrency = PLACES;
    settings.clean_up.keep_failed_hours = 1;
    let project = NewProject {
        name: "Acme",
        key: Some("ACME"),
        repository: Some(&text("repository")),
        base_branch: Some("main"),
        settings,
        ..NewProject::default()
    };
    projects::create(tx, tenant.id, project)?;
    let new = NewKey::plain("load", KeyScope::McpFull, "load");
    keys::create(tx, tenant.id, &new).map(|(_, key)| key.reveal().to_owned())
}
