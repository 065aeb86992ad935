//! A project whose repository is a remote: mirrored, fetched before use, pushed with a lease.

use assay::base::Code;
use assay::projects::git::landing::{
    Checkout, Outcome, Preparation, Prepared, Strategy, apply, landed_before, prepare,
};
use assay::projects::git::{CommitId, Repository};

use super::{Bench, branch, request, run_in, tip_in, write};

/// A mirror of a bare remote, fetched.
async fn mirrored(bench: &Bench) -> (Repository, std::path::PathBuf) {
    let bare = bench.bare();
    let repository = bench.open_at(&format!("file://{}", bare.display())).await;
    repository.refresh().await.expect("it fetches");
    (repository, bare)
}

async fn prepared(repository: &Repository, tip: CommitId) -> Prepared {
    match prepare(repository, &request(tip, Strategy::Squash)).await.expect("it prepares") {
        Preparation::Ready(prepared) => prepared,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn work_on_a_remote_lands_there() {
    let bench = Bench::new();
    let (repository, bare) = mirrored(&bench).await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;

    let ready = prepared(&repository, tip).await;
    let outcome = apply(&repository, &ready).await.expect("it applies");
    let again = apply(&repository, &ready).await.expect("it applies");

    let (commit, base_before) = (ready.commit.clone(), ready.base_before.clone());
    assert_eq!(outcome, Outcome::Landed { commit, base_before, checkout: Checkout::None });
    assert_eq!(again, outcome);
    assert_eq!(tip_in(&bare, "main"), ready.commit);
    assert!(landed_before(&repository, &ready).await.expect("an answer").is_some());
    assert_eq!(run_in(&bare, &["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
}

#[tokio::test]
async fn a_remote_that_moved_is_noticed_and_fetched() {
    let bench = Bench::new();
    let (repository, bare) = mirrored(&bench).await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    let ready = prepared(&repository, tip.clone()).await;
    bench.write("b.txt", "b\n");
    let theirs = bench.person_commits("Theirs");
    bench.run(&["push", "--quiet", bare.to_str().expect("a plain path"), "main"]);

    let moved = apply(&repository, &ready).await.expect("it applies");
    let ready = prepared(&repository, tip).await;

    assert_eq!(moved, Outcome::BaseMoved { base_tip: theirs.clone() });
    assert_eq!(ready.base_before, theirs);
}

#[tokio::test]
async fn a_remote_that_refuses_is_quoted() {
    let bench = Bench::new();
    let (repository, bare) = mirrored(&bench).await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    let hook = bare.join("hooks/pre-receive");
    write(&hook, "#!/bin/sh\necho 'only on Tuesdays' >&2\nexit 1\n");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");

    let ready = prepared(&repository, tip).await;
    let fault = apply(&repository, &ready).await.expect_err("it is refused");

    assert_eq!(fault.code, Code::Upstream);
    assert!(fault.message.contains("only on Tuesdays"), "{fault}");
    assert_eq!(tip_in(&bare, "main"), ready.base_before);
}

#[tokio::test]
async fn a_remote_that_is_gone_is_a_clear_error() {
    let bench = Bench::new();
    let (repository, bare) = mirrored(&bench).await;
    std::fs::rename(&bare, bench.path("elsewhere")).expect("it moves");

    let fault = repository.refresh().await.expect_err("it is gone");

    assert_eq!(fault.code, Code::Upstream);
    assert!(fault.message.contains("cannot be reached"), "{fault}");
}

#[tokio::test]
async fn fetches_at_the_same_time_do_not_fail_each_other() {
    let bench = Bench::new();
    let (repository, bare) = mirrored(&bench).await;
    for number in 0..20 {
        bench.run(&["branch", &format!("b{number}")]);
    }
    bench.write("b.txt", "b\n");
    bench.person_commits("More");
    bench.run(&["push", "--quiet", "--all", bare.to_str().expect("a plain path")]);

    let fetches = (0..6).map(|_| repository.refresh());
    let done = futures_util::future::join_all(fetches).await;

    for fetch in done {
        fetch.expect("it fetches");
    }
    assert_eq!(repository.tip(&branch("b19")).await.expect("it is there"), bench.tip("b19"));
}

#[tokio::test]
async fn the_tickets_branches_survive_a_fetch() {
    let bench = Bench::new();
    let (repository, _) = mirrored(&bench).await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;

    repository.refresh().await.expect("it fetches");

    assert_eq!(repository.branch(&branch("agent/t1")).await.expect("an answer"), Some(tip));
}
