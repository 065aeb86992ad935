//! The disk under the real program: full, read-only, forbidden, moved away. Each is told plainly,
//! nothing is lost, and what was under way goes on without a restart once the disk is well again.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay::store::Db;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};

use super::house::{House, Server, assay, open, until};
use crate::pipeline::landings;

/// An agent that counts its runs outside the data directory and waits before it ends.
const COUNTED: &str = "if is implement; then echo run >>\"$STAGE/runs\"
    echo hello >\"$ASSAY_TICKET.txt\"; tell ready; await go; echo done; tell gone; fi";

/// How the disk of a server can be filled. A file system of its own is the real thing; where this
/// user may not mount one, a limit on the size of files is the nearest.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Disk {
    Small,
    Limited,
}

impl Disk {
    fn here() -> Self {
        let mount = ["-c", "mount -t tmpfs -o size=1m none /mnt"];
        let may = program("unshare").args(namespace()).arg("sh").args(mount).output();
        if may.is_ok_and(|output| output.status.success()) { Self::Small } else { Self::Limited }
    }

    /// A server on such a disk, which has room so far.
    fn serve(self, house: &House) -> Server {
        let script = match self {
            Self::Small => {
                "mount -t tmpfs -o size=24m,mode=700 none data && cp -a seed/. data && exec \"$@\""
            }
            Self::Limited => "trap '' XFSZ; exec \"$@\"",
        };
        fs::rename(house.path("data"), house.path("seed")).unwrap();
        fs::create_dir(house.path("data")).unwrap();
        if self == Self::Limited {
            fs::remove_dir(house.path("data")).unwrap();
            fs::rename(house.path("seed"), house.path("data")).unwrap();
        }
        house.serve_in(self.shell(script))
    }

    /// What comes before the program and its arguments.
    fn shell(self, script: &str) -> Vec<String> {
        let mut before = match self {
            Self::Small => [&["unshare"], namespace()].concat(),
            Self::Limited => Vec::new(),
        };
        before.extend(["sh", "-c", script, "sh"]);
        before.into_iter().map(str::to_owned).collect()
    }

    /// The data directory as this process reaches it.
    fn data(self, house: &House, server: &Server) -> PathBuf {
        let data = house.path("data");
        match self {
            Self::Small => {
                let root = PathBuf::from(format!("/proc/{}/root", server.child.id()));
                root.join(data.strip_prefix("/").unwrap())
            }
            Self::Limited => data,
        }
    }

    /// The database as it stands. `SQLite` follows links itself, and would come to our own
    /// directory: it gets a copy.
    fn database(self, house: &House, server: &Server) -> Db {
        let copy = house.path("copy");
        fs::create_dir(&copy).unwrap();
        for name in ["assay.db", "assay.db-wal"] {
            fs::copy(self.data(house, server).join(name), copy.join(name)).unwrap();
        }
        open(&copy)
    }

    fn fill(self, house: &House, server: &Server) {
        match self {
            Self::Small => {
                let mut file = File::create(self.data(house, server).join("filler")).unwrap();
                // The largest pieces first, then what is left to the last byte.
                for size in [1 << 16, 1 << 10, 1] {
                    while file.write_all(&vec![b'x'; size]).is_ok() {}
                }
            }
            Self::Limited => limit(server, Some(0)),
        }
    }

    fn make_room(self, house: &House, server: &Server) {
        match self {
            Self::Small => fs::remove_file(self.data(house, server).join("filler")).unwrap(),
            Self::Limited => limit(server, None),
        }
    }
}

/// A mount that goes with its process, and needs no right where the system lets everybody have it.
pub(super) fn namespace() -> &'static [&'static str] {
    if rustix::process::getuid().is_root() { &["-m"] } else { &["-r", "-m"] }
}

pub(super) fn limit(server: &Server, bytes: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(server.child.id()).unwrap());
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a program of the system prepares the disk")]
pub(super) fn program(name: &str) -> Command {
    Command::new(name)
}

pub(super) fn runs(house: &House) -> usize {
    fs::read_to_string(house.path("runs")).unwrap_or_default().lines().count()
}

/// A dispatch that must be refused for the disk's sake: the status and the words. What the disk
/// still takes before it is really full is told to `taken`.
fn refused(server: &Server, taken: &mut Vec<String>) -> (u16, String) {
    for n in 0..2_000 {
        let args = json!({ "title": format!("More {n}"), "description": "x".repeat(4_000),
            "preset": "trivial", "pass_profile": "minimal" });
        let (status, said) = server.try_call("dispatch_ticket", &args).unwrap();
        if said["ok"] != true {
            return (status, said.to_string());
        }
        taken.push(said["data"]["ticket"]["ticketRef"].as_str().unwrap().to_owned());
    }
    panic!("the disk takes everything");
}

#[test]
fn a_full_disk_is_told_and_a_run_that_ends_meanwhile_is_kept_once_there_is_room() {
    let disk = Disk::here();
    println!("the disk of this test: {disk:?}");
    let house = House::new(COUNTED);
    let server = disk.serve(&house);
    let ticket = server.dispatch("Say hello");
    house.told("ready");

    disk.fill(&house, &server);
    let mut taken = Vec::new();
    let (status, said) = refused(&server, &mut taken);
    fs::write(house.path("go"), "").unwrap();
    let log = until("the run's end", || trouble(&house));
    let read = server.call("get_ticket", &json!({ "ticket": ticket }));
    disk.make_room(&house, &server);

    match disk {
        Disk::Small => assert!(status == 507 && said.contains("is full"), "{status} {said}"),
        Disk::Limited => assert!(status == 503 && said.contains("cannot be written"), "{said}"),
    }
    assert!(said.contains("Nothing of this call was kept"), "{said}");
    assert!(!log.contains("panicked"), "{log}");
    assert_eq!(read["ticket"]["status"], "running", "reading goes on");
    let landed = server.until(&ticket, "succeeded");
    assert_eq!(landed["graphAmbientInterruptCount"], 0, "{landed}");
    for ticket in &taken {
        server.until(ticket, "succeeded");
        assert_eq!(landings(&house.path("person"), ticket), 1, "{ticket}");
    }
    assert_eq!(landings(&house.path("person"), &ticket), 1);
    assert_eq!(runs(&house), 1 + taken.len(), "no agent did its work twice");
    let db = disk.database(&house, &server);
    let logs = "SELECT DISTINCT log_lines || ' of ' || length(log_hash) FROM nodes
        WHERE kind = 'implement'";
    assert_eq!(db.raw_column(logs).unwrap(), ["1 of 32"], "what agents said meanwhile is kept");
    assert_eq!(db.raw_column("PRAGMA integrity_check").unwrap(), ["ok"]);
    assert_eq!(db.raw_column("SELECT errors FROM jobs WHERE state = 'failed'").unwrap(), [""; 0]);
    assert!(server.stop().success());
}

/// What the server logged, once it has met the disk while it kept what a run had done.
pub(super) fn trouble(house: &House) -> Option<String> {
    let log = fs::read_to_string(house.path(LOG)).unwrap_or_default();
    log.contains("The disk is in the way").then_some(log)
}

const LOG: &str = super::house::LOG;

#[test]
fn a_disk_too_small_for_the_database_is_told_and_a_larger_one_will_do() {
    let disk = Disk::here();
    println!("the disk of this test: {disk:?}");
    let script = match disk {
        Disk::Small => {
            "mount -t tmpfs -o size=96k,mode=700 none data
             \"$@\" 2>said; echo \"exit $?\" >>said
             mount -o remount,size=16m data && exec \"$@\""
        }
        Disk::Limited => {
            "trap '' XFSZ; (ulimit -f 64; \"$@\" 2>said; echo \"exit $?\" >>said); exec \"$@\""
        }
    };
    let house = House::new("");
    fs::remove_dir_all(house.path("data")).unwrap();
    fs::create_dir(house.path("data")).unwrap();

    let server = house.serve_in(disk.shell(script));

    let said = fs::read_to_string(house.path("said")).unwrap();
    let words = if disk == Disk::Small { "is full" } else { "cannot be written" };
    assert!(said.contains(words) && said.contains("exit 1"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let (status, _) = server.try_call("list_tickets", &json!({})).unwrap();
    assert_eq!(status, 401, "it serves, and knows nobody yet");
    let db = disk.database(&house, &server);
    assert_eq!(db.raw_column("PRAGMA integrity_check").unwrap(), ["ok"]);
    assert!(server.stop().success());
}

#[test]
fn a_data_directory_on_storage_that_is_read_only_is_refused_plainly() {
    if Disk::here() == Disk::Limited {
        println!("without the right to mount, what may not be written is the nearest");
        return a_data_directory_without_permission();
    }
    let house = House::new("");
    let script = "mount -t tmpfs none data && cp -a seed/. data && mount -o remount,ro data
        exec \"$@\"";
    fs::rename(house.path("data"), house.path("seed")).unwrap();
    fs::create_dir(house.path("data")).unwrap();

    let said = house.refusal_in(Disk::Small.shell(script));

    assert!(said.contains("Read-only file system") && said.contains("--data"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_data_directory_without_permission_is_refused_plainly() {
    a_data_directory_without_permission();
}

fn a_data_directory_without_permission() {
    let house = House::new("");
    let unwritable = |name: &str, mode| {
        fs::set_permissions(house.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    // The account that may do anything is asked to do without that.
    let capabilities = "--bounding-set=-dac_override,-dac_read_search";
    let before: &[&str] =
        if rustix::process::getuid().is_root() { &["setpriv", capabilities] } else { &[] };
    let before: Vec<String> = before.iter().map(|&word| word.to_owned()).collect();
    for (name, mode) in [("data/assay.db", 0o400), ("data", 0o500), ("data", 0o000)] {
        unwritable(name, mode);

        let said = house.refusal_in(before.clone());

        assert!(said.contains("data"), "{name} {mode:o}: {said}");
        assert!(said.contains("may write") || said.contains("right to write"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        unwritable(name, 0o700);
    }
    fs::remove_dir_all(house.path("data")).unwrap();
    fs::write(house.path("data"), "a file").unwrap();

    let said = house.refusal_in(before);

    assert!(said.contains("data") && said.contains("--data"), "{said}");
}

#[test]
fn a_data_directory_that_is_moved_away_takes_no_writes_and_goes_on_once_it_is_back() {
    let house = House::new(COUNTED);
    let server = house.serve();
    let ticket = server.dispatch("Say hello");
    house.told("ready");

    fs::rename(house.path("data"), house.path("elsewhere")).unwrap();
    let args = json!({ "title": "Lost", "preset": "trivial" });
    let (status, said) = server.try_call("dispatch_ticket", &args).unwrap();
    let ready = server.get("/readyz");
    fs::write(house.path("go"), "").unwrap();
    house.told("gone");
    let made_anew = house.path("data").exists();
    fs::rename(house.path("elsewhere"), house.path("data")).unwrap();

    assert!(status == 503 && said.to_string().contains("moved or removed"), "{status} {said}");
    assert!(ready.contains("503") && ready.contains("moved away"), "{ready}");
    assert!(!made_anew, "nothing is written where the directory was");
    house.landed(&server.until(&ticket, "succeeded"));
    assert_eq!(runs(&house), 1, "the agent did its work once");
    let said: Value = server.call("list_tickets", &json!({}));
    assert_eq!(said["tickets"].as_array().unwrap().len(), 1, "{said}");
    house.close(server);
}

#[test]
fn a_command_beside_the_server_says_plainly_that_the_directory_cannot_be_used() {
    let house = House::new("");
    fs::remove_dir_all(house.path("data")).unwrap();
    fs::write(house.path("data"), "a file").unwrap();

    let output = assay()
        .args(["key", "create", "--scope", "mcp_full", "--name", "x", "--data"])
        .arg(Path::new(&house.path("data")))
        .output()
        .unwrap();

    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && !said.contains("panicked"), "{said}");
    assert!(said.contains("data"), "{said}");
}
