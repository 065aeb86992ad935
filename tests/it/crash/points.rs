//! The real program, held at each named point while several tickets are under way, killed there and
//! started again: every ticket that was asked for lands once, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;

use assay::base::stops::Stop;
use assay::projects::settings::VerifyCommand;
use assay::tickets::runner::ProcessId;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::house::{HELD, House, Server, open, until};
use crate::git::run_in;
use crate::pipeline::secrets::{Holder, NEEDS_SECRET, VALUE, digest_of};

/// The points of each test below, each with which passage of it holds the server.
const ACCEPTING: &[(Stop, u32)] =
    &[(Stop::CallDone, 2), (Stop::JobClaimed, 1), (Stop::GroupOpen, 9), (Stop::GroupCommitted, 7)];
const COMMITTING: &[(Stop, u32)] = &[(Stop::GroupOpen, 33), (Stop::GroupCommitted, 52)];
const STARTING: &[(Stop, u32)] =
    &[(Stop::TreeMade, 2), (Stop::ProcessSpawned, 2), (Stop::ProcessRecorded, 2)];
const WORKING: &[(Stop, u32)] =
    &[(Stop::ProcessWorks, 2), (Stop::ProcessEnded, 1), (Stop::WorkCommitted, 2)];
const CHECKING: &[(Stop, u32)] = &[(Stop::CheckEnded, 1), (Stop::ProcessWorks, 6)];
const KEEPING: &[(Stop, u32)] = &[(Stop::BlobWritten, 2), (Stop::BlobNamed, 3)];
const RECORDING: &[(Stop, u32)] = &[(Stop::NodeDone, 3), (Stop::NodeRecorded, 2)];
const LANDING: &[(Stop, u32)] = &[(Stop::LandingIntended, 1), (Stop::BaseMoved, 1)];
const APPLYING: &[Stop] = &[Stop::ScriptIntended, Stop::ScriptEnded];
const LANDED: &[(Stop, u32)] = &[(Stop::BaseLanded, 2), (Stop::LandingSettled, 1)];

/// The point at which `told.rs` kills.
const TELLING: &[Stop] = &[Stop::WebhookTold];

/// The point at which `copied.rs` kills.
const COPYING: &[Stop] = &[Stop::BackupWritten];

/// The points that only the first start on a directory passes.
const MAKING: &[Stop] = &[Stop::MigrationOpen, Stop::MigrationDone];

/// An agent whose tickets touch files of their own, and that works for a moment.
const AGENT: &str = "if is implement; then echo x >\"$ASSAY_TICKET.txt\"; sleep 0.1; fi";

/// How many tickets are under way.
const TICKETS: usize = 3;

#[test]
fn every_point_is_one_at_which_a_test_kills() {
    let sweeps =
        [ACCEPTING, COMMITTING, STARTING, WORKING, CHECKING, KEEPING, RECORDING, LANDING, LANDED];
    let held: BTreeSet<Stop> = sweeps.concat().into_iter().map(|(point, _)| point).collect();
    let others = MAKING.iter().chain(APPLYING).chain(TELLING).chain(COPYING).copied();
    let held: BTreeSet<Stop> = held.into_iter().chain(others).collect();

    assert_eq!(held, Stop::ALL.iter().copied().collect());
}

#[test]
fn a_build_for_use_has_no_points() {
    let manifest = include_str!("../../../Cargo.toml");

    assert!(!manifest.contains("debug-assertions"), "they come with the checks of a debug build");
}

#[test]
fn killed_while_tickets_are_accepted() {
    sweep(ACCEPTING);
}

#[test]
fn killed_while_changes_of_many_are_committed() {
    sweep(COMMITTING);
}

#[test]
fn killed_while_agents_start() {
    sweep(STARTING);
}

#[test]
fn killed_while_agents_work_and_end() {
    sweep(WORKING);
}

#[test]
fn killed_while_work_is_verified() {
    sweep(CHECKING);
}

#[test]
fn killed_while_logs_are_kept() {
    sweep(KEEPING);
}

#[test]
fn killed_while_what_a_node_came_to_is_recorded() {
    sweep(RECORDING);
}

#[test]
fn killed_while_the_base_moves() {
    sweep(LANDING);
}

/// An agent that writes the script of a data operation; applied, it adds a line to the data.
const SCRIPT: &str = r#"if is implement; then mkdir -p data-operations
    echo "[ \"\$1\" = --dry-run ] || echo line >>$STAGE/live" \
        >"data-operations/$ASSAY_TICKET.sh"; fi"#;

#[test]
fn killed_while_live_data_is_changed() {
    for (point, applied) in APPLYING.iter().zip([false, true]) {
        let house = House::new(SCRIPT);
        let server = house.serve_held(*point, 1);
        let asked = json!({ "title": "Add a line", "kind": "data_operation", "preset": "trivial" });
        let (_, said) = server.try_call("dispatch_ticket", &asked).unwrap();
        let ticket = said["data"]["ticket"]["ticketRef"].as_str().unwrap().to_owned();
        let approve = json!({ "ticket": ticket, "step": "apply", "decision": "approve" });
        server.until(&ticket, "awaiting_input");
        server.call("approve_ticket", &approve);
        until(point.word(), || house.path(HELD).exists().then_some(()));
        server.signal(Signal::KILL);
        drop(server);

        let server = house.serve();
        let asked = server.until(&ticket, "awaiting_input");

        assert!(asked["humanActions"][0].as_str().unwrap().contains("was it applied?"), "{point}");
        let answer = if applied { "It was applied" } else { "It was not applied" };
        server.call("reply_ticket", &json!({ "ticket": ticket, "message": answer }));
        if !applied {
            server.until(&ticket, "awaiting_input");
            server.call("approve_ticket", &approve);
        }
        let digest = server.until(&ticket, "succeeded");
        house.landed(&digest);
        assert_eq!(fs::read_to_string(house.path("live")).unwrap(), "line\n", "{point}");
        house.close(server);
    }
}

#[test]
fn killed_while_a_landing_is_recorded() {
    sweep(LANDED);
}

#[test]
fn killed_while_the_database_is_made() {
    for point in MAKING {
        let house = House::new("");
        fs::remove_dir_all(house.path("data")).unwrap();
        let mut first = house.start_held(*point);
        house.told(HELD);
        first.kill().unwrap();
        first.wait().unwrap();

        let server = house.serve();

        assert!(until_ready(&server), "{point}");
        assert!(server.stop().success(), "{point}");
        assert_eq!(integrity(&house), ["ok"], "{point}");
    }
}

fn until_ready(server: &Server) -> bool {
    // Nobody has a key of a database that was made anew; that it is asked for one is an answer.
    let refused = server.try_call("list_tickets", &json!({}));
    refused.is_some_and(|(status, _)| status == 401)
}

fn integrity(house: &House) -> Vec<String> {
    open(&house.path("data")).raw_column("PRAGMA integrity_check").unwrap()
}

fn sweep(points: &[(Stop, u32)]) {
    for (point, passage) in points {
        killed_at(*point, *passage);
    }
}

/// Kills the server at a point under load, and demands what was promised of the next start.
fn killed_at(point: Stop, passage: u32) {
    let house = House::with(AGENT, |settings, _| {
        settings.limits.concurrency = 3;
        settings.verify.push(VerifyCommand::new("first", "sleep 0.05"));
        settings.verify.push(VerifyCommand::new("second", "true"));
    });
    let server = house.serve_held(point, passage);
    let (answered, orphans) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&server));
        until(&format!("held at {point}"), || house.path(HELD).exists().then_some(()));
        server.signal(Signal::KILL);
        (asking.join().unwrap(), processes(&house))
    });
    drop(server);

    let server = house.serve();
    let tickets = ask(&server);

    for (first, again) in answered.iter().zip(&tickets) {
        let again = again.as_ref().expect("the second server answers");
        assert!(first.as_ref().is_none_or(|first| first == again), "{point}: {first:?} {again}");
        let digest = server.until(again, "succeeded");
        assert_eq!(digest["outcome"], "fully_verified", "{point}: {digest:#}");
        house.landed(&digest);
    }
    let alive = orphans.iter().filter(|process| process.is_alive()).count();
    assert_eq!(alive, 0, "{point}: processes of the dead server");
    let person = house.path("person");
    assert_eq!(run_in(&person, &["status", "--porcelain"]), "", "{point}: the person's checkout");
    assert_eq!(run_in(&person, &["branch", "--list", "assay/*"]), "", "{point}");
    let trees = fs::read_dir(house.path("data/worktrees")).unwrap().count();
    assert_eq!(trees, 0, "{point}: work trees");
    assert_eq!(filed(&server), TICKETS, "{point}: each operation key filed one ticket");
    house.close(server);
}

/// Files the tickets at once, each under its own operation key; the name of each, where the server
/// lived to say it.
fn ask(server: &Server) -> Vec<Option<String>> {
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..TICKETS)
            .map(|n| {
                scope.spawn(move || {
                    let args = json!({ "title": format!("No {n}"), "preset": "trivial",
                        "pass_profile": "minimal", "operation_key": format!("key-{n}") });
                    let (_, said) = server.try_call("dispatch_ticket", &args)?;
                    let name = &said["data"]["ticket"]["ticketRef"];
                    Some(name.as_str().unwrap_or_else(|| panic!("{said}")).to_owned())
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    })
}

/// Processes that were started for the house and are no server.
fn processes(house: &House) -> Vec<ProcessId> {
    let root = house.path("");
    let is_there = |pid: &u32| {
        fs::read_link(format!("/proc/{pid}/cwd"))
            .is_ok_and(|cwd| cwd.starts_with(&root) && cwd != root)
    };
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(is_there).filter_map(ProcessId::of).collect()
}

fn filed(server: &Server) -> usize {
    let said: Value = server.call("list_tickets", &json!({ "limit": 50 }));
    said["tickets"].as_array().unwrap().len()
}

#[test]
fn killed_between_the_giving_of_a_secret_and_its_use() {
    let house = House::new(&format!("[ -n \"$WEBHOOK_SECRET\" ] && await go; {NEEDS_SECRET}"));
    let server = house.serve();
    let ticket = server.dispatch("Wire the webhook");
    server.until(&ticket, "awaiting_input");
    let made = server.call("create_secret_link", &json!({ "ticket": ticket }));
    let url = made["url"].as_str().unwrap().to_owned();
    let given = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let (holder, ..) = Holder::open(&url).await;
        holder.give(VALUE).await
    });
    assert_eq!(given.0, 200, "{}", given.1);

    server.kill();
    let server = house.serve();
    fs::write(house.path("go"), "").unwrap();

    let digest = server.until(&ticket, "succeeded");
    house.landed(&digest);
    let landed = run_in(&house.path("person"), &["show", "main:digest.txt"]);
    assert_eq!(landed.trim(), digest_of(VALUE).trim());
    house.close(server);
}
