//! Worktrees: made, made again, put in order, and never in the wrong place.

use std::os::unix::fs::symlink;

use assay::base::Code;
use assay::projects::git::removal::{Removal, Uncommitted, drop_branch, remove};
use assay::projects::git::worktree::ensure;
use assay::projects::git::{Place, diff, log};

use super::{AT, Bench, branch, run_in, write};

#[tokio::test]
async fn a_worktree_is_made_once_at_the_base_commit() {
    let bench = Bench::new();
    let base = bench.tip("main");
    bench.person_commits("The base moves on");
    let repository = bench.open().await;
    let place = bench.place("t1");

    let first = ensure(&repository, &place, &base).await.expect("it is made");
    let again = ensure(&repository, &place, &bench.tip("main")).await.expect("it is there");

    assert!(first.is_new && !again.is_new);
    assert_eq!((&first.head, &again.head), (&base, &base));
    assert_eq!(first.branch, branch("agent/t1"));
    assert_eq!(bench.run(&["status", "--porcelain"]), "");
    assert_eq!(bench.run(&["symbolic-ref", "--short", "HEAD"]), "main");
}

#[tokio::test]
async fn a_worktree_that_somebody_deleted_comes_back_from_its_branch() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    std::fs::remove_dir_all(bench.root().join("t1")).expect("it is there");

    let place = bench.place("t1");
    let made = ensure(&repository, &place, &bench.tip("main")).await.expect("it comes back");

    assert!(made.is_new);
    assert_eq!(made.head, tip);
    assert!(made.path.join("a.txt").exists());
}

#[tokio::test]
async fn files_whose_link_to_the_repository_was_deleted_are_kept() {
    let bench = Bench::new();
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;
    let top = bench.root().join("t1");
    write(&top.join("unsaved.txt"), "work\n");
    std::fs::remove_file(top.join(".git")).expect("it is there");

    let place = bench.place("t1");
    let made = ensure(&repository, &place, &bench.tip("main")).await.expect("it is mended");

    assert!(!made.is_new);
    assert!(made.path.join("unsaved.txt").exists());
}

#[tokio::test]
async fn a_branch_that_is_checked_out_elsewhere_is_a_hard_error() {
    let bench = Bench::new();
    bench.run(&["switch", "--quiet", "-c", "agent/t1"]);
    let repository = bench.open().await;

    let fault = ensure(&repository, &bench.place("t1"), &bench.tip("main"))
        .await
        .expect_err("a person is on it");

    assert_eq!(fault.code, Code::ProjectNotReady);
    assert!(fault.message.contains("person"), "{fault}");
    assert!(!bench.root().join("t1").exists());
}

#[tokio::test]
async fn a_branch_called_agent_is_explained() {
    let bench = Bench::new();
    bench.run(&["branch", "agent"]);
    let repository = bench.open().await;

    let fault = ensure(&repository, &bench.place("t1"), &bench.tip("main")).await;

    assert!(fault.expect_err("no room").message.contains("“agent”"));
}

#[tokio::test]
async fn what_stands_in_the_way_is_refused_and_left_alone() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let base = bench.tip("main");
    write(&bench.root().join("files/notes.txt"), "mine\n");
    write(&bench.root().join("repo/.git/HEAD"), "ref: refs/heads/main\n");
    symlink(bench.person(), bench.root().join("link")).expect("a link");
    write(&bench.root().join("plain"), "");

    for name in ["files", "repo", "link", "plain"] {
        let place = bench.place(name);
        let made = ensure(&repository, &place, &base).await.expect_err(name);
        let removed = remove(&repository, &place, Uncommitted::Discard).await.expect_err(name);

        assert_eq!((made.code, removed.code), (Code::ProjectNotReady, Code::ProjectNotReady));
    }
    assert!(bench.root().join("files/notes.txt").exists());
    assert!(bench.root().join("repo/.git/HEAD").exists());
    assert!(bench.person().join("README.md").exists());
}

#[tokio::test]
async fn the_repository_itself_is_never_taken_for_a_worktree() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let root = bench.path("");
    let place = Place::new(&root, "person", branch("agent/t1")).expect("a place");

    let made = ensure(&repository, &place, &bench.tip("main")).await;
    let removed = remove(&repository, &place, Uncommitted::Discard).await;

    assert!(made.is_err() && removed.is_err());
    assert!(bench.person().join(".git").is_dir());
}

#[tokio::test]
async fn a_link_bent_to_another_work_tree_is_not_followed() {
    let bench = Bench::new();
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;
    bench.work(&repository, "t2", "b.txt", "b\n").await;
    let lock = bench.person().join(".git/index.lock");
    write(&lock, "");
    let link = bench.root().join("t1/.git");
    let other = std::fs::read_to_string(bench.root().join("t2/.git")).expect("it is there");

    for bent in [format!("gitdir: {}\n", bench.person().join(".git").display()), other] {
        write(&link, &bent);
        let place = bench.place("t1");

        assert!(ensure(&repository, &place, &bench.tip("main")).await.is_err(), "{bent}");
    }
    assert!(lock.exists(), "the person's lock was taken away");
}

#[tokio::test]
async fn a_rebase_left_in_conflict_is_put_away_and_nothing_committed_is_lost() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let base = bench.tip("main");
    let tip = bench.work(&repository, "t1", "README.md", "Mine\n").await;
    bench.write("README.md", "Theirs\n");
    bench.person_commits("Theirs");
    let top = bench.root().join("t1");
    let rebase = assert_cmd::Command::new("git")
        .args(["rebase", "main"])
        .current_dir(&top)
        .env("GIT_EDITOR", "true")
        .output();
    assert!(!rebase.expect("git runs").status.success());
    write(&bench.person().join(".git/worktrees/t1/index.lock"), "");

    let made = ensure(&repository, &bench.place("t1"), &base).await.expect("it is put in order");

    assert_eq!(made.head, tip);
    assert_eq!(run_in(&top, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn commits_that_an_agent_made_beside_its_branch_are_brought_onto_it() {
    let bench = Bench::new();
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;
    let top = bench.root().join("t1");
    run_in(&top, &["switch", "--quiet", "-c", "fix"]);
    run_in(&top, &["commit", "--quiet", "--allow-empty", "-m", "Beside"]);
    write(&top.join("b.txt"), "b\n");

    let tip = bench.commit(&repository, &bench.place("t1")).await;

    assert_eq!(bench.tip("agent/t1"), tip);
    let subjects = bench.run(&["log", "--format=%s", "main..agent/t1"]);
    assert_eq!(subjects, "Add a button\nBeside\nAdd a button");
}

#[tokio::test]
async fn commits_are_attributed_and_made_only_when_something_changed() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let base = bench.tip("main");
    let first = bench.work(&repository, "t1", "dir/ä.txt", "1\n2\n").await;

    let second = bench.commit(&repository, &bench.place("t1")).await;

    assert_eq!(second, first);
    let show = bench.run(&["show", "-s", "--format=%an|%ae|%cn|%at|%B", first.as_str()]);
    assert_eq!(
        show,
        "Ada agent|ada@example.org|Assay|1785333600|Add a button\n\nAssay-Ticket: ACME-1"
    );
    assert_eq!(diff::commits_ahead(&repository, &base, &first).await.expect("a count"), 1);
    let summary = diff::summary(&repository, &base, &first).await.expect("a summary");
    assert_eq!((summary.files[0].path.as_str(), summary.added), ("dir/ä.txt", 2));
    let (text, is_cut) = diff::text(&repository, &base, &first, &[], 60).await.expect("a text");
    assert!(is_cut && text.starts_with("diff --git") && text.len() <= 60, "{text}");
    let landed = diff::parent_of(&first);
    let (of_both, whole) = diff::whole(&repository, &landed, &first, 60).await.expect("both");
    assert_eq!((of_both, whole), (summary, text));
    let (_, whole) = diff::whole(&repository, &base, &first, 10_000).await.expect("both");
    assert!(whole.ends_with("+1\n+2\n"), "{whole}");
    let (none, whole) = diff::whole(&repository, &first, &first, 60).await.expect("nothing");
    assert_eq!((none.file_count, whole.as_str()), (0, ""));
    let (commits, has_more) = log::list(&repository, &base, &first, 10).await.expect("a log");
    assert_eq!((commits.len(), has_more, commits[0].at), (1, false, AT));
}

#[tokio::test]
async fn removing_keeps_the_branch_and_refuses_to_lose_work() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    let (place, top) = (bench.place("t1"), bench.root().join("t1"));
    write(&top.join("b.txt"), "not committed\n");

    let kept = remove(&repository, &place, Uncommitted::Keep).await.expect("an answer");
    run_in(&top, &["switch", "--quiet", "--detach"]);
    std::fs::remove_file(top.join("b.txt")).expect("it is there");
    run_in(&top, &["commit", "--quiet", "--allow-empty", "-m", "On no branch"]);
    let stray = remove(&repository, &place, Uncommitted::Keep).await.expect("an answer");
    run_in(&top, &["switch", "--quiet", "agent/t1"]);
    let removed = remove(&repository, &place, Uncommitted::Keep).await.expect("an answer");
    let absent = remove(&repository, &place, Uncommitted::Keep).await.expect("an answer");

    assert_eq!(kept, Removal::Kept { files: vec!["b.txt".to_owned()] });
    assert_eq!(stray, Removal::Kept { files: Vec::new() });
    assert_eq!((removed, absent), (Removal::Removed, Removal::Absent));
    assert!(!top.exists());
    assert_eq!(bench.tip("agent/t1"), tip);
}

#[tokio::test]
async fn a_locked_worktree_is_left_alone() {
    let bench = Bench::new();
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;
    let top = bench.root().join("t1");
    bench.run(&["worktree", "lock", "--reason", "in use", top.to_str().expect("a plain path")]);

    let removal = remove(&repository, &bench.place("t1"), Uncommitted::Discard).await;

    assert_eq!(removal.expect("an answer"), Removal::Locked { reason: "in use".to_owned() });
    assert!(top.join("a.txt").exists());
}

#[tokio::test]
async fn a_worktree_whose_making_was_killed_is_made_anew() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    write(&bench.person().join(".git/worktrees/t1/locked"), "initializing");
    std::fs::remove_file(bench.person().join(".git/worktrees/t1/index")).expect("it is there");

    let made = ensure(&repository, &bench.place("t1"), &tip).await.expect("it is made");

    assert!(made.is_new);
    assert_eq!(run_in(&made.path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn other_stale_registrations_are_not_ours_to_forget() {
    let bench = Bench::new();
    let (unmounted, away) = (bench.path("unmounted"), bench.path("away"));
    bench.run(&["worktree", "add", "--quiet", "-b", "own", unmounted.to_str().expect("plain")]);
    std::fs::rename(&unmounted, &away).expect("it moves");
    let repository = bench.open().await;

    bench.work(&repository, "t1", "a.txt", "a\n").await;
    std::fs::remove_dir_all(bench.root().join("t1")).expect("it is there");
    ensure(&repository, &bench.place("t1"), &bench.tip("main")).await.expect("it comes back");

    std::fs::rename(&away, &unmounted).expect("it moves back");
    assert_eq!(run_in(&unmounted, &["symbolic-ref", "--short", "HEAD"]), "own");
}

#[tokio::test]
async fn a_branch_goes_only_at_the_tip_that_landed() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    let (place, name) = (bench.place("t1"), branch("agent/t1"));
    let base = bench.tip("main");
    let dropped = async |tip| drop_branch(&repository, &name, tip).await.expect("an answer");

    assert!(!dropped(&tip).await, "its worktree is still there");
    remove(&repository, &place, Uncommitted::Keep).await.expect("it goes");
    assert!(!dropped(&base).await, "that is not its tip");
    assert!(dropped(&tip).await);
    assert!(dropped(&tip).await, "gone is gone");
}
