//! What a repository is said to be like.

use assay::base::Code;
use assay::projects::git::inspect::{Ready, State};
use assay::projects::git::{Location, inspect};

use super::{Bench, branch, run_in, write};

async fn state(bench: &Bench, location: &str) -> State {
    let location = Location::parse(location).expect("a location");
    inspect(&bench.git, &location, Some(&branch("main"))).await.expect("git runs")
}

#[tokio::test]
async fn a_repository_in_use_is_ready_and_its_checkout_is_described() {
    let bench = Bench::new();
    let path = bench.person();
    let path = path.to_str().expect("a plain path");

    let clean = state(&bench, path).await;
    bench.write("README.md", "Changed\n");
    let dirty = state(&bench, path).await;

    let ready = |is_dirty| {
        State::Ready(Ready {
            base: branch("main"),
            tip: bench.tip("main"),
            is_bare: false,
            checked_out: Some(branch("main")),
            is_dirty,
        })
    };
    assert_eq!(clean, ready(false));
    assert_eq!(dirty, ready(true));
}

#[tokio::test]
async fn what_is_no_usable_repository_is_told_apart() {
    let bench = Bench::new();
    write(&bench.path("file"), "");
    write(&bench.person().join("sub/file"), "");
    let at = |name: &str| bench.path(name).to_str().expect("a plain path").to_owned();

    assert_eq!(state(&bench, &at("nowhere")).await, State::Missing);
    assert_eq!(state(&bench, &at("file")).await, State::NotARepository);
    assert_eq!(state(&bench, &at("person/sub")).await, State::NotARepository);
    assert_eq!(state(&bench, &at("person/.git")).await, State::GitDirectory);
}

#[tokio::test]
async fn a_repository_without_commits_is_a_clear_error() {
    let bench = Bench::empty();
    let path = bench.person();
    let location = Location::Local(path);

    let state = inspect(&bench.git, &location, None).await.expect("git runs");
    let fault = state.clone().ready(&location).expect_err("it is not ready");

    assert_eq!(state, State::NoCommits);
    assert_eq!(fault.code, Code::ProjectNotReady);
    assert!(fault.message.contains("git commit --allow-empty"), "{fault}");
}

#[tokio::test]
async fn an_empty_first_commit_is_enough() {
    let bench = Bench::empty();
    let tip = bench.person_commits("Nothing yet");
    let location = Location::Local(bench.person());

    let state = inspect(&bench.git, &location, None).await.expect("git runs");

    assert_eq!(state.ready(&location).expect("it is ready").tip, tip);
}

#[tokio::test]
async fn a_missing_base_branch_is_named_beside_those_that_are_there() {
    let bench = Bench::new();
    bench.run(&["branch", "dev"]);
    bench.run(&["tag", "release"]);
    let location = Location::Local(bench.person());

    let base = branch("release");
    let state = inspect(&bench.git, &location, Some(&base)).await.expect("git runs");

    let branches = vec!["dev".to_owned(), "main".to_owned()];
    assert_eq!(state, State::BaseMissing { base: Some("release".to_owned()), branches });
}

#[tokio::test]
async fn a_detached_head_asks_for_a_base_branch() {
    let bench = Bench::new();
    bench.run(&["switch", "--quiet", "--detach"]);
    let location = Location::Local(bench.person());

    let state = inspect(&bench.git, &location, None).await.expect("git runs");

    assert_eq!(state, State::BaseMissing { base: None, branches: vec!["main".to_owned()] });
}

#[tokio::test]
async fn a_bare_repository_and_a_remote_are_ready() {
    let bench = Bench::new();
    let bare = bench.bare();
    let path = bare.to_str().expect("a plain path");

    for location in [path.to_owned(), format!("file://{path}")] {
        let State::Ready(ready) = state(&bench, &location).await else {
            panic!("{location} is ready")
        };

        assert!(ready.is_bare);
        assert_eq!((ready.tip, ready.checked_out), (bench.tip("main"), None));
    }
}

#[tokio::test]
async fn a_remote_that_is_not_there_or_empty_is_told() {
    let bench = Bench::empty();
    let (gone, empty) = (bench.path("gone"), bench.person());

    let gone = state(&bench, &format!("file://{}", gone.display())).await;
    let empty = state(&bench, &format!("file://{}", empty.display())).await;

    assert!(matches!(gone, State::Unreachable { .. }), "{gone:?}");
    assert_eq!(empty, State::NoCommits);
}

#[tokio::test]
async fn looking_changes_nothing() {
    let bench = Bench::new();
    let path = bench.person();
    let index = || std::fs::metadata(path.join(".git/index")).and_then(|it| it.modified()).ok();
    bench.write("README.md", "One\nTwo\nThree\n");
    let before = (index(), std::fs::read(path.join(".git/config")).ok());

    state(&bench, path.to_str().expect("a plain path")).await;

    assert_eq!((index(), std::fs::read(path.join(".git/config")).ok()), before);
}

#[tokio::test]
async fn a_repository_cannot_run_programs_through_us() {
    let bench = Bench::new();
    let trap = bench.path("sprung");
    let script = format!("#!/bin/sh\ntouch {}\n", trap.display());
    let hook = bench.person().join(".git/hooks/post-checkout");
    write(&hook, &script);
    run_in(&bench.path(""), &["init", "--quiet", "x"]);
    bench.run(&["config", "core.fsmonitor", &format!("touch {}", trap.display())]);
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");

    state(&bench, bench.person().to_str().expect("a plain path")).await;
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;

    assert!(!trap.exists(), "a hook or monitor ran");
}
