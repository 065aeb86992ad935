//! Copies of the data directory, taken by the program beside a server that is at work.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay::accounts::KeyScope;
use assay::store::Hash;
use serde_json::{Value, json};

use crate::harness::{Caller, TestApp};

/// How many clients file tickets while the copy is taken.
const CLIENTS: usize = 4;

async fn assay(args: &[&str], paths: &[&Path]) -> Output {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_assay"));
    command.env_clear().args(args).args(paths);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

async fn backup(app: &TestApp, to: &Path, more: &[&str]) -> Output {
    let data = app.dir().join("data");
    assay(&[&["backup", "--data", data.to_str().unwrap()], more].concat(), &[to]).await
}

async fn restore(from: &Path, to: &Path) -> Output {
    assay(&["restore", "--data"], &[to, from]).await
}

fn words(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).unwrap()
}

/// Files tickets until it is told to stop, and notes each that was accepted.
async fn file(caller: Caller, client: usize, accepted: Arc<Mutex<Vec<String>>>, stop: &AtomicBool) {
    for n in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let title = format!("Paint wall {n} of house {client}");
        let ticket = caller.dispatch(json!({ "title": title, "project": "SITE" })).await;
        accepted.lock().unwrap().push(ticket["ticketRef"].as_str().unwrap().to_owned());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_serves_all_that_was_accepted_before_it() {
    let app = TestApp::still().await;
    let acme = app.tenant("Acme").await;
    acme.project("Site", "SITE").await;
    let caller = acme.key(KeyScope::McpFull).await;
    let log = app.app.env().blobs.put(b"a log").unwrap();
    let file_of_ticket = app.app.env().uploads.blobs().put(b"a brief").unwrap();
    std::fs::write(app.dir().join("data/secrets.key"), [7; 32]).unwrap();
    let (accepted, stop) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (caller, accepted, stop) = (caller.clone(), accepted.clone(), stop.clone());
            tokio::spawn(async move { file(caller, client, accepted, &stop).await })
        })
        .collect();
    let count = || accepted.lock().unwrap().len();
    while count() < 20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let before = accepted.lock().unwrap().clone();
    let (copy, place) = (app.dir().join("copy"), tempfile::tempdir().unwrap());

    let taken = backup(&app, &copy, &["--json"]).await;

    assert!(taken.status.success(), "{taken:?}");
    assert!(count() > before.len(), "nobody wrote meanwhile");
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    let said: Value = serde_json::from_slice(&taken.stdout).unwrap();
    assert_eq!((&said["hasKey"], said["folder"].as_str()), (&json!(true), copy.to_str()));
    let restored = restore(&copy, &place.path().join("data")).await;
    assert!(restored.status.success(), "{restored:?}");
    assert!(words(&restored.stdout).starts_with("assay serve --data "), "{restored:?}");
    let served = TestApp::still_on(place).await;
    assert_eq!(served.column("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(served.column("SELECT \"table\" FROM pragma_foreign_key_check"), [""; 0]);
    let caller = caller.at(&served);
    for ticket in before {
        caller.call("get_ticket", json!({ "ticket": ticket })).await;
    }
    assert_eq!(served.app.env().blobs.get(log).unwrap().unwrap(), b"a log");
    let kept = served.app.env().uploads.blobs().get(file_of_ticket).unwrap();
    assert_eq!(kept.unwrap(), b"a brief");
    assert_eq!(std::fs::read(served.dir().join("data/secrets.key")).unwrap(), [7; 32]);
    // It is on record where it was taken, with who did it.
    assert_eq!(app.column("SELECT folder FROM backups"), [copy.to_str().unwrap()]);
    assert!(app.audit().contains(&"backup cli ok".to_owned()), "{:?}", app.audit());
}

#[tokio::test]
async fn nothing_that_is_there_is_written_over() {
    let app = TestApp::still().await;
    app.tenant("Acme").await;
    let data = app.dir().join("data");
    let at = |name: &str| -> PathBuf { app.dir().join(name) };
    std::fs::create_dir(at("mine")).unwrap();
    std::fs::write(at("mine/file"), "mine").unwrap();

    for taken in [at("mine"), at("mine/file"), data.clone(), data.join("copy"), at("no/where")] {
        let refused = backup(&app, &taken, &[]).await;
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(words(&refused.stderr).contains("cannot be used") || taken.starts_with(&data));
    }
    assert!(backup(&app, &at("copy"), &["--without-key"]).await.status.success());
    for (from, to) in [("mine", "new"), ("data", "new"), ("copy", "mine"), ("copy", "data")] {
        let refused = restore(&at(from), &at(to)).await;
        assert_eq!(refused.status.code(), Some(1), "{from} to {to}: {refused:?}");
    }

    assert_eq!(std::fs::read_to_string(at("mine/file")).unwrap(), "mine");
    let mut names: Vec<_> = std::fs::read_dir(app.dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["copy", "data", "mine"], "what failed left nothing");
}

#[tokio::test]
async fn the_key_stays_out_where_that_is_asked_for_and_damage_is_told() {
    let app = TestApp::still().await;
    app.tenant("Acme").await;
    std::fs::write(app.dir().join("data/secrets.key"), [7; 32]).unwrap();
    let log = app.app.env().blobs.put(b"a log").unwrap();
    let (copy, new) = (app.dir().join("copy"), app.dir().join("new"));

    assert!(backup(&app, &copy, &["--without-key"]).await.status.success());

    assert!(!copy.join("secrets.key").exists());
    let blob = |root: &Path, hash: Hash| {
        let name = hash.to_string();
        root.join("blobs").join(&name[..2]).join(&name[2..])
    };
    std::fs::write(blob(&copy, log), "another log").unwrap();
    let told = restore(&copy, &new).await;
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    assert!(words(&told.stderr).contains(&log.to_string()), "{told:?}");

    // A database that is damaged is not restored at all.
    let database = copy.join("assay.db");
    let mut bytes = std::fs::read(&database).unwrap();
    bytes[4_096..40_960].fill(0x55);
    std::fs::write(&database, bytes).unwrap();
    let other = app.dir().join("other");
    let told = restore(&copy, &other).await;
    assert!(words(&told.stderr).contains("is damaged"), "{told:?}");
    assert!(!other.exists());
}
