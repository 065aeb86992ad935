//! A data directory that refuses while the real program runs: its disk turns read-only, or the
//! server's user may not write there any more. Each is told plainly and blamed on no ticket, and
//! all goes on without a restart once it can be written to again.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::json;

use super::disk::{limit, namespace, program, runs, trouble};
use super::house::{House, Server, until};

/// An agent that writes in its work tree before and after it is told to go, or ends badly.
const WRITES: &str = "if is implement; then echo run >>\"$STAGE/runs\"
    echo hello >\"$ASSAY_TICKET.txt\"; tell ready; await go
    echo more >>\"$PWD/$ASSAY_TICKET.txt\" || exit 7; echo done; fi";

/// How the directory of a server is made to refuse.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// It is mounted anew, for reading alone. Files that are open stay so, as a system lets no disk
    /// turn read-only beneath them unless that is broken; a limit on the size of files stands for
    /// that.
    ReadOnly,
    /// The rights to its folders are taken away.
    Forbidden,
}

/// Folders in which the server makes files while it runs.
const FOLDERS: [&str; 6] =
    ["data", "data/blobs", "data/uploads", "data/runs", "data/worktrees", "data/repositories"];

impl Way {
    /// Whether this machine lets us do it.
    fn is_possible(self) -> bool {
        let is_root = rustix::process::getuid().is_root();
        let mut trial = match self {
            Self::ReadOnly => {
                let mut trial = program("unshare");
                let mount = "mount --bind /mnt /mnt && mount -o remount,bind,ro /mnt && \
                             nsenter --version";
                trial.args(namespace()).args(["sh", "-c", mount]);
                trial
            }
            Self::Forbidden if is_root => {
                let mut trial = program("setpriv");
                trial.args([WITHOUT_POWER, "true"]);
                trial
            }
            Self::Forbidden => return true,
        };
        trial.output().is_ok_and(|output| output.status.success())
    }

    fn serve(self, house: &House) -> Server {
        let is_root = rustix::process::getuid().is_root();
        let before = match self {
            Self::ReadOnly => {
                [&["unshare"], namespace(), &["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"]]
                    .concat()
            }
            // The account that may do anything is asked to do without that.
            Self::Forbidden if is_root => vec!["setpriv", WITHOUT_POWER],
            Self::Forbidden => Vec::new(),
        };
        house.serve_in(before.into_iter().map(str::to_owned).collect())
    }

    fn refuse(self, house: &House, server: &Server) {
        match self {
            Self::ReadOnly => {
                let data = house.path("data").to_str().unwrap().to_owned();
                let mount = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"";
                within(server, &["sh", "-c", mount, &data]);
            }
            Self::Forbidden => permit(house, 0o500),
        }
    }

    fn relent(self, house: &House, server: &Server) {
        match self {
            Self::ReadOnly => {
                let data = house.path("data").to_str().unwrap().to_owned();
                within(server, &["mount", "-o", "remount,bind,rw", &data]);
            }
            Self::Forbidden => permit(house, 0o700),
        }
    }
}

const WITHOUT_POWER: &str = "--bounding-set=-dac_override,-dac_read_search";

/// Does something where the server is.
fn within(server: &Server, words: &[&str]) {
    let mut enter: Command = program("nsenter");
    enter.args(["--target", &server.child.id().to_string(), "--mount"]);
    if !rustix::process::getuid().is_root() {
        enter.args(["--user", "--preserve-credentials"]);
    }
    let output = enter.args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

fn permit(house: &House, mode: u32) {
    for folder in FOLDERS.iter().map(|name| house.path(name)).filter(|folder| folder.exists()) {
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
    }
}

fn refused_and_gone_on(way: Way) {
    let house = House::new(WRITES);
    let server = way.serve(&house);
    let ticket = server.dispatch("Say hello");
    house.told("ready");
    let announced = json!({ "original_name": "brief.txt", "content_type": "text/plain",
        "size_bytes": 5 });
    let minted = server.call("mint_attachment_upload_url", &announced);
    let upload = minted["upload_url"].as_str().unwrap();

    way.refuse(&house, &server);
    let ready = server.get("/readyz");
    let uploaded = server.try_put(upload, "text/plain", "hello");
    // The database takes what it can be told, and what that needs of the disk waits.
    let waiting = server.dispatch("Say hello again");
    fs::write(house.path("go"), "").unwrap();
    let log = until("the run's end", || trouble(&house));
    until("the next one's wait", || waits(&house));
    limit(&server, Some(0).filter(|_| way == Way::ReadOnly));
    let filed = server.try_call("dispatch_ticket", &json!({ "title": "Too late" }));
    let read = server.call("get_ticket", &json!({ "ticket": ticket }));
    limit(&server, None);
    way.relent(&house, &server);

    assert!(ready.contains(" 503 ") && ready.contains("cannot be written"), "{ready}");
    assert!(uploaded.contains(" 503 ") && uploaded.contains("cannot be written"), "{uploaded}");
    assert!(uploaded.contains("right to write there"), "{uploaded}");
    let (status, said) = filed.unwrap();
    match way {
        Way::ReadOnly => {
            assert!(status == 503 && said.to_string().contains("cannot be written"), "{said}");
        }
        Way::Forbidden => assert_eq!(status, 200, "{said}"),
    }
    assert!(!log.contains("panicked"), "{log}");
    assert_eq!(read["ticket"]["status"], "running", "reading goes on");
    for ticket in [&ticket, &waiting] {
        let digest = server.until(ticket, "succeeded");
        assert_eq!(digest["graphAmbientInterruptCount"], 0, "{digest}");
        house.landed(&digest);
    }
    if let Some(third) = said["data"]["ticket"]["ticketRef"].as_str() {
        server.until(third, "succeeded");
    }
    // Three tickets where the third could be filed; else two, of which the first agent could not
    // write, and ran again.
    assert_eq!(runs(&house), 3, "no agent did its work twice");
    server.put(upload, "text/plain", "hello");
    assert!(server.get("/readyz").contains(" 200 "));
    house.close(server);
}

/// Whether a node was put back because nothing could be written for it.
fn waits(house: &House) -> Option<()> {
    let log = fs::read_to_string(house.path(super::house::LOG)).unwrap_or_default();
    log.contains("A node waits for the disk").then_some(())
}

#[test]
fn a_disk_that_turns_read_only_is_told_and_work_goes_on_once_it_is_not() {
    if !Way::ReadOnly.is_possible() {
        println!("SKIPPED: this user may not mount");
        return;
    }
    refused_and_gone_on(Way::ReadOnly);
}

#[test]
fn folders_that_are_forbidden_are_told_and_work_goes_on_once_they_are_not() {
    if !Way::Forbidden.is_possible() {
        println!("SKIPPED: there is no setpriv to drop rights with");
        return;
    }
    refused_and_gone_on(Way::Forbidden);
}
