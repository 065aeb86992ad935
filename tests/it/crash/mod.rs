//! The real program, killed at the worst moments and started again on the same data: every ticket
//! that was accepted ends as promised, once.

#[cfg(debug_assertions)]
mod copied;
mod disk;
mod house;
#[cfg(debug_assertions)]
mod points;
mod refusing;
#[cfg(debug_assertions)]
mod told;

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assay::projects::settings::VerifyCommand;
use rustix::process::Signal;
use serde_json::json;

use self::house::{House, open, until};
use crate::git::run_in;
use crate::pipeline::{landings, left_in};

/// An agent that waits the first time and works the second.
const WAITS_ONCE: &str = "if is implement; then echo half >half.txt
    if once first; then echo $$ >\"$STAGE/pid\"; tell ready; sleep 60; fi
    echo whole >whole.txt; fi";

#[test]
fn what_was_accepted_before_a_crash_is_done_after_it() {
    let house = House::new("if is implement; then echo x >\"$ASSAY_TICKET.txt\"; fi");
    let server = house.serve();
    let tickets: Vec<String> = (0..3).map(|n| server.dispatch(&format!("No {n}"))).collect();
    server.kill();

    let server = house.serve();

    for ticket in &tickets {
        house.landed(&server.until(ticket, "succeeded"));
    }
    house.close(server);
}

#[test]
fn a_lock_that_a_killed_server_leaves_behind_for_a_moment_is_waited_for() {
    let house = House::new("");
    house.serve().kill();
    let lock = fs::File::open(house.path("data/lock")).unwrap();
    lock.lock().unwrap();
    let log = || fs::read_to_string(house.path(house::LOG)).unwrap_or_default();

    let server = std::thread::scope(|scope| {
        let starting = scope.spawn(|| house.serve());
        until("it waits", || log().contains("The data directory is locked").then_some(()));
        lock.unlock().unwrap();
        starting.join().unwrap()
    });

    house.close(server);
}

#[test]
fn a_crash_while_an_agent_works_ends_the_agent_and_starts_it_again_on_its_branch() {
    let house = House::new(WAITS_ONCE);
    let server = house.serve();
    let ticket = server.dispatch("Say hello");
    house.told("ready");
    server.kill();
    let pid = fs::read_to_string(house.path("pid")).unwrap();
    // One that has ended works nowhere, even while nobody has taken note of its end.
    let orphan = PathBuf::from(format!("/proc/{}/cwd", pid.trim()));
    assert!(fs::read_link(&orphan).is_ok(), "the agent outlives the server");

    let server = house.serve();

    let digest = server.until(&ticket, "succeeded");
    assert!(fs::read_link(&orphan).is_err(), "the agent of the dead server is gone");
    assert_eq!(digest["graphAmbientInterruptCount"], 1, "{digest}");
    house.landed(&digest);
    assert!(house.path("person/half.txt").exists() && house.path("person/whole.txt").exists());
    house.close(server);
}

#[test]
fn a_crash_while_a_check_runs_runs_it_again() {
    let house =
        House::with("if is implement; then echo hello >hello.txt; fi", |settings, person| {
            let stage = person.replace("/person", "");
            let check = format!("[ -e {stage}/checked ] || {{ : >{stage}/checked; sleep 60; }}");
            settings.verify.push(VerifyCommand::new("slow", check));
        });
    let server = house.serve();
    let ticket = server.dispatch("Say hello");
    house.told("checked");
    server.kill();

    let server = house.serve();

    let digest = server.until(&ticket, "succeeded");
    assert_eq!(digest["outcome"], "fully_verified");
    house.landed(&digest);
    house.close(server);
}

#[test]
fn a_crash_while_a_merge_is_checked_leaves_no_trace_of_it() {
    let script = "if is implement; then echo hello >hello.txt; tell ready; await go; fi";
    let house = House::with(script, |settings, person| {
        let stage = person.replace("/person", "");
        let check = format!(
            "case $PWD in */landing-*) [ -e {stage}/landing ] || {{ : >{stage}/landing; sleep 60; }}
             esac"
        );
        settings.verify.push(VerifyCommand::new("slow to land", check));
    });
    let server = house.serve();
    let ticket = server.dispatch("Say hello");
    house.told("ready");
    let person = house.path("person");
    run_in(&person, &["commit", "--quiet", "--allow-empty", "-m", "By hand"]);
    fs::write(house.path("go"), "").unwrap();
    house.told("landing");
    server.kill();

    let server = house.serve();

    house.landed(&server.until(&ticket, "succeeded"));
    assert_eq!(run_in(&person, &["branch", "--list", "assay/*"]), "");
    house.close(server);
}

#[test]
fn a_crash_between_the_landing_and_its_record_lands_nothing_twice() {
    let house = House::with("if is implement; then echo hello >hello.txt; fi", |_, person| {
        let stage = person.replace("/person", "");
        let bare = format!("{stage}/bare.git");
        run_in(Path::new(&*person), &["clone", "--quiet", "--bare", ".", &bare]);
        // The hook runs once the branch has moved, while the one who pushed waits for the answer.
        let hook = format!("{bare}/hooks/post-receive");
        let wait = format!("while [ ! -e {stage}/go ]; do sleep 0.01; done");
        fs::create_dir_all(format!("{bare}/hooks")).unwrap();
        fs::write(&hook, format!("#!/bin/sh\n: >{stage}/received\n{wait}\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        *person = format!("file://{bare}");
    });
    let server = house.serve();
    let ticket = server.dispatch("Say hello");
    house.told("received");
    server.kill();
    fs::write(house.path("go"), "").unwrap();

    let server = house.serve();

    let digest = server.until(&ticket, "succeeded");
    let bare = house.path("bare.git");
    assert_eq!(landings(&bare, &ticket), 1);
    assert_eq!(digest["ticket"]["commitSha"], run_in(&bare, &["rev-parse", "main"]).as_str());
    house.close(server);
}

#[test]
fn crashes_one_after_the_other_lose_nothing_and_land_nothing_twice() {
    let script = "if is implement; then echo x >\"$ASSAY_TICKET.txt\"; tell \"$ASSAY_TICKET\"; fi";
    let house = House::with(script, |settings, _| {
        settings.verify.push(VerifyCommand::new("tests", "true"));
    });
    let mut server = house.serve();
    let tickets: Vec<String> = (0..4).map(|n| server.dispatch(&format!("No {n}"))).collect();

    for ticket in &tickets[..3] {
        house.told(ticket);
        server.kill();
        server = house.serve();
    }

    for ticket in &tickets {
        house.landed(&server.until(ticket, "succeeded"));
    }
    house.close(server);
}

#[test]
fn a_data_directory_is_served_by_one_program_alone() {
    let house = House::new("");
    let server = house.serve();

    let said = house.refusal();

    assert!(said.contains("Another Assay serves the data directory"), "{said}");
    assert!(said.contains("--data"), "{said}");
    server.call("list_tickets", &json!({}));
    house.close(server);
}

#[test]
fn a_stop_hands_jobs_back_and_the_next_start_goes_on() {
    let house = House::new(WAITS_ONCE);
    let server = house.serve();
    let ticket = server.dispatch("Say hello");
    house.told("ready");

    assert_eq!(server.stop().code(), Some(0));

    assert_eq!(left_in(house.dir.path()), Vec::<String>::new());
    {
        let db = open(&house.path("data"));
        let jobs = "SELECT state || ' ' || attempt FROM jobs WHERE kind = 'run_node' \
                    ORDER BY n DESC LIMIT 1";
        assert_eq!(db.raw_column(jobs).unwrap(), ["ready 0"]);
    }
    let server = house.serve();
    let digest = server.until(&ticket, "succeeded");
    assert_eq!(digest["graphAmbientInterruptCount"], 0, "a stop in good order counts for nothing");
    house.landed(&digest);
    house.close(server);
}

#[test]
fn a_claim_of_an_editor_outlives_the_server_with_all_that_it_was_given() {
    let house = House::with("exit 1", |settings, _| {
        settings.agents.profiles.clear();
        settings.agents.default = Some("editor".to_owned());
    });
    let server = house.serve();
    let place = json!({ "project": "ACME", "original_name": "brief.txt",
        "content_type": "text/plain", "size_bytes": 5 });
    let minted = server.call("mint_attachment_upload_url", &place);
    server.put(minted["upload_url"].as_str().unwrap(), "text/plain", "hello");
    let file = json!({ "key": minted["key"], "original_name": "brief.txt",
        "content_type": "text/plain", "size_bytes": 5 });
    let asked = json!({ "title": "Do as the brief says", "preset": "trivial",
        "pass_profile": "minimal", "job_id": minted["job_id"], "attachments": [file] });
    let filed = server.call("dispatch_ticket", &asked);
    let claimed = server.call("claim_ticket_node", &json!({}));
    let runs = || fs::read_dir(house.path("data/runs")).unwrap().flatten().collect::<Vec<_>>();
    let given = runs()[0].path().join("attachments/brief.txt");
    fs::create_dir(house.path("data/runs/of-nobody")).unwrap();
    server.kill();

    let server = house.serve();
    until("the start", || (!house.path("data/runs/of-nobody").exists()).then_some(()));
    server.call("list_tickets", &json!({}));

    assert_eq!(fs::read_to_string(given).unwrap(), "hello");
    assert!(PathBuf::from(claimed["worktree_path"].as_str().unwrap()).exists());
    let report = json!({ "claim_id": claimed["claim"]["id"], "outcome": "succeeded",
        "summary": "Done." });
    server.call("submit_node_report", &report);
    assert_eq!(runs().len(), 0, "what was given goes with the claim");
    let named = filed["ticket"]["ticketRef"].as_str().unwrap();
    server.call("cancel_ticket", &json!({ "ticket": named }));
    house.close(server);
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let house = House::new(&WAITS_ONCE.replace("tell ready", "trap '' TERM; tell ready"));
    let mut server = house.serve();
    let ticket = server.dispatch("Say hello");
    house.told("ready");

    server.signal(Signal::TERM);
    // It stops listening first; the agent takes no notice of being asked to end.
    until("the stop", || TcpStream::connect(server.address).is_err().then_some(()));
    server.signal(Signal::INT);

    assert_eq!(server.child.wait().unwrap().code(), Some(130));
    let server = house.serve();
    house.landed(&server.until(&ticket, "succeeded"));
    house.close(server);
}

#[test]
fn a_database_of_a_newer_version_is_left_alone() {
    let house = House::new("");
    let path = house.path("data/assay.db");
    let mut bytes = fs::read(&path).unwrap();
    // Where SQLite keeps the version that its user gave the schema.
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    fs::write(&path, &bytes).unwrap();

    let said = house.refusal();

    assert!(said.contains("written by a newer Assay"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}
