//! A data directory with what a server needs, and the server on it, which may be killed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use assay::base::stops::Stop;
use assay::base::{Clock, Entropy};
use assay::events::Bus;
use assay::projects::settings::Settings;
use assay::store::Db;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::pipeline::{furnish, landings, left_in, make_repository, settings};

/// How long anything may take to come about.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where servers say what they have to say.
pub(super) const LOG: &str = "said-by-servers";

/// The file that tells that a server is held.
pub(super) const HELD: &str = "held";

/// A data directory with a project on a person's repository.
pub(super) struct House {
    pub(super) dir: TempDir,
    key: String,
}

/// The program, serving.
pub(super) struct Server {
    pub(super) child: Child,
    pub(super) address: SocketAddr,
    key: String,
}

/// Waits until something is there.
pub(super) fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "it never came about: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl House {
    pub(super) fn new(script: &str) -> Self {
        Self::with(script, |_, _| ())
    }

    pub(super) fn with(script: &str, change: impl FnOnce(&mut Settings, &mut String)) -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let root = dir.path().canonicalize().unwrap();
        make_repository(&root.join("person"));
        fs::create_dir(root.join("data")).unwrap();
        let mut settings = settings(&root, script);
        let mut location = root.join("person").to_str().unwrap().to_owned();
        change(&mut settings, &mut location);
        let db = open(&root.join("data"));
        let key = db.write_blocking(move |tx| furnish(tx, &location, settings)).unwrap();
        Self { dir, key: key.reveal().to_owned() }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn told(&self, name: &str) {
        let path = self.path(name);
        until(name, || path.exists().then_some(()));
    }

    pub(super) fn command(&self) -> Command {
        let mut command = assay();
        command.env_clear().env("PATH", env!("PATH")).current_dir(self.dir.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(self.path("data"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(super) fn serve(&self) -> Server {
        self.start(self.command())
    }

    /// A server that is held at a point, once it passes it for the `passage`th time.
    pub(super) fn serve_held(&self, point: Stop, passage: u32) -> Server {
        let mut command = self.command();
        command.env("ASSAY_STOP_AT", format!("{point}:{passage}"));
        command.env("ASSAY_STOP_MARK", self.path(HELD));
        self.start(command)
    }

    /// A server behind some words of another program, which becomes it. What it says on standard
    /// error is in [`LOG`], as it is of every server.
    pub(super) fn serve_in(&self, before: Vec<String>) -> Server {
        self.start(self.command_in(before))
    }

    fn command_in(&self, before: Vec<String>) -> Command {
        let plain = self.command();
        let mut words = before.into_iter().map(OsString::from).collect::<Vec<_>>();
        words.push(plain.get_program().to_owned());
        words.extend(plain.get_args().map(OsStr::to_owned));
        let mut command = program(&words[0]);
        command.args(&words[1..]).env_clear().env("PATH", env!("PATH"));
        command.current_dir(self.dir.path()).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        command
    }

    fn log(&self) -> File {
        let mut options = File::options();
        options.create(true).append(true).open(self.path(LOG)).unwrap()
    }

    /// A first start that is held before it says anything.
    pub(super) fn start_held(&self, point: Stop) -> Child {
        let mut command = self.command();
        command.env("ASSAY_STOP_AT", point.word()).env("ASSAY_STOP_MARK", self.path(HELD));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn start(&self, mut command: Command) -> Server {
        let mut child = command.spawn().unwrap();
        // Not the file itself: the disk of the server may be no good.
        let (mut said, mut log) = (child.stderr.take().unwrap(), self.log());
        std::thread::spawn(move || drop(std::io::copy(&mut said, &mut log)));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("the server says where it is").unwrap();
        let address = first.rsplit("http://").next().unwrap().parse().unwrap();
        // Whatever else it says is taken, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Server { child, address, key: self.key.clone() }
    }

    /// What a start that must fail says.
    pub(super) fn refusal(&self) -> String {
        self.refusal_in(Vec::new())
    }

    /// The same behind some words of another program.
    pub(super) fn refusal_in(&self, before: Vec<String>) -> String {
        let output = self.command_in(before).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Stops the server and demands that nothing is left behind and nothing is broken.
    pub(super) fn close(self, server: Server) {
        assert!(server.stop().success());
        assert_eq!(left_in(self.dir.path()), Vec::<String>::new(), "left behind");
        let db = open(&self.path("data"));
        let column = |sql: &str| db.raw_column(sql).unwrap();
        assert_eq!(column("PRAGMA integrity_check"), ["ok"]);
        for sql in [
            "SELECT hex(run_id) FROM processes",
            "SELECT name FROM api_keys WHERE ticket_id IS NOT NULL AND revoked_at IS NULL",
            "SELECT commit_sha FROM landings WHERE state = 'intended'",
            "SELECT errors FROM jobs WHERE state = 'failed'",
            "SELECT kind FROM jobs WHERE state <> 'done' AND kind = 'run_node'",
        ] {
            assert_eq!(column(sql), Vec::<String>::new(), "{sql}");
        }
    }

    /// Demands that a ticket landed once, and that its worktree is gone.
    pub(super) fn landed(&self, digest: &Value) {
        let name = digest["ticket"]["ticketRef"].as_str().unwrap();
        assert_eq!(landings(&self.path("person"), name), 1, "{name}");
        let tree = digest["ticket"]["id"].as_str().unwrap();
        assert!(!self.path("data/worktrees").join(tree).exists(), "{name}");
    }
}

impl Server {
    /// Calls a tool over HTTP, which must go well.
    pub(super) fn call(&self, tool: &str, args: &Value) -> Value {
        let (_, said) = self.try_call(tool, args).expect("the server answers");
        assert_eq!(said["ok"], true, "{said}");
        said["data"].clone()
    }

    /// Calls a tool: the status and what was answered. `None` where the server is gone before it
    /// answers.
    pub(super) fn try_call(&self, tool: &str, args: &Value) -> Option<(u16, Value)> {
        let body = json!({ "tool": tool, "args": args }).to_string();
        let mut stream = TcpStream::connect(self.address).ok()?;
        write!(
            stream,
            "POST /api/mcp/v1/invoke HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            self.address,
            self.key,
            body.len()
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let said = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
        Some((status, said))
    }

    /// Gets a page: the whole answer.
    pub(super) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let host = self.address;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Uploads a small file.
    pub(super) fn put(&self, url: &str, media_type: &str, bytes: &str) {
        let answer = self.try_put(url, media_type, bytes);
        assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    }

    /// The same, however it goes: the whole answer.
    pub(super) fn try_put(&self, url: &str, media_type: &str, bytes: &str) -> String {
        let path = url.splitn(4, '/').nth(3).unwrap();
        let (host, length) = (self.address, bytes.len());
        let request = format!(
            "PUT /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {media_type}\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{bytes}"
        );
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(super) fn dispatch(&self, title: &str) -> String {
        let args = json!({ "title": title, "preset": "trivial", "pass_profile": "minimal" });
        let filed = self.call("dispatch_ticket", &args);
        filed["ticket"]["ticketRef"].as_str().unwrap().to_owned()
    }

    pub(super) fn until(&self, ticket: &str, status: &str) -> Value {
        until(ticket, || {
            let digest = self.call("get_ticket", &json!({ "ticket": ticket }));
            let is_so = digest["ticket"]["status"] == status;
            let ended = !digest["ticket"]["completedAt"].is_null();
            assert!(is_so || !ended, "{ticket} did not come to be {status}: {digest:#}");
            is_so.then_some(digest)
        })
    }

    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub(super) fn stop(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Mostly it is gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[expect(clippy::disallowed_methods, reason = "the program is killed, so it must be spawned")]
pub(super) fn assay() -> Command {
    Command::new(env!("CARGO_BIN_EXE_assay"))
}

#[expect(clippy::disallowed_methods, reason = "the program is started by another one")]
fn program(name: &OsStr) -> Command {
    Command::new(name)
}

pub(super) fn open(data: &Path) -> Db {
    Db::open(data, Clock::system(), Entropy::system(), Bus::default()).unwrap()
}
