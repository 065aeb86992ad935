//! Repositories that cannot be used, and one behind an address.

use std::fs;

use assay::base::Code;
use serde_json::json;

use super::stage::{ADDS_A_FILE, Digest, Stage};
use crate::git::run_in;

/// A ticket on a repository that was put at `place` by `make`, and is then to fail.
async fn fails_at(place: &str, make: impl FnOnce(&Stage)) -> (Stage, Digest) {
    let stage = Stage::with(ADDS_A_FILE, |_, location| {
        *location = location.replace("/person", &format!("/{place}"));
    })
    .await;
    make(&stage);
    let digest = stage.ends("failed").await;
    assert_eq!(digest.outcome(), "failed");
    (stage, digest)
}

#[tokio::test]
async fn a_repository_that_is_not_there_is_named() {
    let (stage, digest) = fails_at("nowhere", |_| ()).await;

    let expected = format!("There is nothing at {}.", stage.path("nowhere").display());
    assert!(digest.reason().starts_with(&expected), "{}", digest.reason());
    stage.close().await;
}

#[tokio::test]
async fn a_folder_that_is_no_repository_is_refused_and_left_as_it_is() {
    let (stage, digest) = fails_at("folder", |stage| {
        fs::create_dir(stage.path("folder")).unwrap();
        fs::write(stage.path("folder/mine.txt"), "mine").unwrap();
    })
    .await;

    assert!(digest.reason().contains("is not the top directory of a git repository"));
    assert_eq!(fs::read_dir(stage.path("folder")).unwrap().count(), 1);
    stage.close().await;
}

#[tokio::test]
async fn a_repository_without_commits_says_how_to_make_one() {
    let (stage, digest) = fails_at("empty", |stage| {
        fs::create_dir(stage.path("empty")).unwrap();
        run_in(&stage.path("empty"), &["init", "--quiet", "--initial-branch=main"]);
    })
    .await;

    assert!(digest.reason().contains("has no commits"), "{}", digest.reason());
    assert!(digest.reason().contains("git commit --allow-empty"), "{}", digest.reason());
    stage.close().await;
}

#[tokio::test]
async fn an_empty_first_commit_is_enough() {
    let stage = Stage::with(ADDS_A_FILE, |_, location| {
        *location = location.replace("/person", "/empty");
        fs::create_dir(&*location).unwrap();
        let place = std::path::Path::new(&*location);
        run_in(place, &["init", "--quiet", "--initial-branch=main"]);
        run_in(place, &["commit", "--quiet", "--allow-empty", "-m", "First"]);
    })
    .await;

    stage.ends("succeeded").await;

    assert_eq!(fs::read_to_string(stage.path("empty/hello.txt")).unwrap(), "hello\n");
    stage.close().await;
}

#[tokio::test]
async fn a_base_branch_that_is_gone_is_named_with_those_that_are_there() {
    let (stage, digest) = fails_at("person", |stage| {
        stage.git(&["branch", "-m", "main", "trunk"]);
    })
    .await;

    assert!(digest.reason().contains("has no branch “main”"), "{}", digest.reason());
    assert!(digest.reason().contains("trunk"), "{}", digest.reason());
    stage.close().await;
}

#[tokio::test]
async fn a_ticket_that_failed_for_its_repository_goes_on_once_that_is_mended() {
    let (stage, digest) = fails_at("person", |stage| {
        stage.git(&["branch", "-m", "main", "trunk"]);
    })
    .await;
    stage.git(&["branch", "-m", "trunk", "main"]);

    stage.call("retry_ticket", json!({ "ticket": digest.name() })).await;

    stage.until(digest.name(), "succeeded").await;
    assert_eq!(stage.read("hello.txt"), "hello\n");
    stage.close().await;
}

#[tokio::test]
async fn a_remote_that_does_not_answer_is_named_with_its_words() {
    let stage = Stage::with(ADDS_A_FILE, |_, location| {
        *location = format!("file://{}", location.replace("/person", "/nowhere.git"));
    })
    .await;

    let digest = stage.ends("failed").await;

    assert!(digest.reason().contains("cannot be reached"), "{}", digest.reason());
    assert!(digest.reason().contains("nowhere.git"), "{}", digest.reason());
    stage.close().await;
}

#[tokio::test]
async fn a_ticket_lands_on_a_remote_by_push() {
    let stage = Stage::with(ADDS_A_FILE, |_, location| {
        let bare = location.replace("/person", "/bare.git");
        run_in(location.as_ref(), &["clone", "--quiet", "--bare", ".", &bare]);
        *location = format!("file://{bare}");
    })
    .await;

    let digest = stage.ends("succeeded").await;

    let tip = run_in(&stage.path("bare.git"), &["rev-parse", "main"]);
    assert_eq!(digest.0["ticket"]["commitSha"], tip.as_str());
    assert_eq!(run_in(&stage.path("bare.git"), &["show", "main:hello.txt"]), "hello");
    assert_eq!(stage.read("hello.txt"), "", "the person's repository is another one");
    stage.close().await;
}

#[tokio::test]
async fn a_remote_that_refuses_the_push_fails_with_its_words() {
    let stage = Stage::with(ADDS_A_FILE, |_, location| {
        let bare = location.replace("/person", "/bare.git");
        run_in(location.as_ref(), &["clone", "--quiet", "--bare", ".", &bare]);
        run_in(bare.as_ref(), &["config", "receive.denyNonFastForwards", "true"]);
        let hook = format!("{bare}/hooks/pre-receive");
        fs::create_dir_all(format!("{bare}/hooks")).unwrap();
        fs::write(&hook, "#!/bin/sh\necho 'main is frozen' >&2\nexit 1\n").unwrap();
        set_mode(&hook, 0o755);
        *location = format!("file://{bare}");
    })
    .await;
    let ticket = stage.dispatch("Say hello").await;

    // It is tried again for a while; what is wrong can be seen from the first refusal on.
    let said = "SELECT text FROM ticket_events WHERE text LIKE '%main is frozen%' \
                OR text LIKE '%pre-receive hook declined%'";
    stage.until_so("the refusal is told", || !stage.column(said).is_empty()).await;

    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;
    let digest = stage.until(&ticket, "cancelled").await;
    assert!(stage.digest(digest.name()).await.0["salvageNote"].is_string());
}

/// A stage on a remote, of which the mirror is made already, and a person's clone of it.
async fn mirrored() -> Stage {
    let script = "if is implement; then cat half-*.txt >whole-$ASSAY_TICKET.txt; fi";
    let stage = Stage::with(script, |_, location| {
        let bare = location.replace("/person", "/bare.git");
        run_in(location.as_ref(), &["clone", "--quiet", "--bare", ".", &bare]);
        run_in(location.as_ref(), &["remote", "add", "origin", &bare]);
        run_in(location.as_ref(), &["branch", "early"]);
        run_in(location.as_ref(), &["push", "--quiet", "origin", "early"]);
        *location = format!("file://{bare}");
    })
    .await;
    let first = stage.call("dispatch_ticket", seeded("First", "early")).await;
    let first = first["ticket"]["ticketRef"].as_str().unwrap().to_owned();
    stage.until(&first, "failed").await;
    stage
}

/// Moves a branch on in the person's repository and pushes it.
fn push(stage: &Stage, branch: &str, text: &str) {
    stage.git(&["switch", "--quiet", "-C", branch]);
    fs::write(stage.person().join(format!("half-{branch}.txt")), text).unwrap();
    stage.git(&["add", "--all"]);
    stage.git(&["commit", "--quiet", "--message=Half"]);
    stage.git(&["push", "--quiet", "origin", branch]);
}

fn seeded(title: &str, branch: &str) -> serde_json::Value {
    json!({ "title": title, "preset": "trivial", "pass_profile": "minimal",
        "seed_from_ref": branch, "override_duplicate": true })
}

#[tokio::test]
async fn a_ticket_starts_from_a_remote_s_branch_as_it_is_there_now() {
    let stage = mirrored().await;
    push(&stage, "newer", "of a branch that the mirror lacks\n");
    stage.git(&["switch", "--quiet", "main"]);
    push(&stage, "early", "of one that moved on\n");

    for (branch, expected) in
        [("newer", "of a branch that the mirror lacks"), ("early", "of one that moved on")]
    {
        let filed = stage.call("dispatch_ticket", seeded("Finish it", branch)).await;
        let named = filed["ticket"]["ticketRef"].as_str().unwrap();
        stage.until(named, "succeeded").await;

        let whole = format!("main:whole-{named}.txt");
        assert_eq!(run_in(&stage.path("bare.git"), &["show", &whole]), expected);
    }
    stage.close().await;
}

#[tokio::test]
async fn a_branch_that_a_remote_has_not_or_that_cannot_be_asked_for_files_nothing() {
    let stage = mirrored().await;
    stage.git(&["push", "--quiet", "origin", "--delete", "early"]);
    let filed = || stage.column("SELECT count(*) || '' FROM tickets");
    let before = filed();

    let gone = stage.try_call("dispatch_ticket", seeded("It is gone", "early")).await;
    let never = stage.try_call("dispatch_ticket", seeded("It never was", "never")).await;
    fs::rename(stage.path("bare.git"), stage.path("elsewhere.git")).unwrap();
    let away = stage.try_call("dispatch_ticket", seeded("Nobody answers", "other")).await;
    fs::rename(stage.path("elsewhere.git"), stage.path("bare.git")).unwrap();

    for refusal in [gone, never] {
        let fault = refusal.unwrap_err();
        assert_eq!(fault.code, Code::InvalidSeedFromRef, "{fault}");
    }
    let fault = away.unwrap_err();
    assert_eq!(fault.code, Code::Upstream, "{fault}");
    assert!(fault.message.contains("cannot be looked for"), "{fault}");
    assert!(fault.message.contains("bare.git"), "{fault}");
    assert_eq!(filed(), before);
}

fn set_mode(path: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
