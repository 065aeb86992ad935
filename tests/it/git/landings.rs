//! Landing on a local repository, with and without a person in it.

use assay::projects::git::landing::{
    Checkout, Outcome, Preparation, Prepared, Strategy, apply, landed_before, prepare,
};
use assay::projects::git::{CommitId, Repository};

use super::{Bench, request};

async fn prepared(repository: &Repository, tip: CommitId, strategy: Strategy) -> Prepared {
    match prepare(repository, &request(tip, strategy)).await.expect("it prepares") {
        Preparation::Ready(prepared) => prepared,
        other => panic!("{other:?}"),
    }
}

fn landed(prepared: &Prepared, checkout: Checkout) -> Outcome {
    let (commit, base_before) = (prepared.commit.clone(), prepared.base_before.clone());
    Outcome::Landed { commit, base_before, checkout }
}

#[tokio::test]
async fn a_merge_lands_and_a_clean_checkout_follows() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "src/a.txt", "a\n").await;
    bench.write("README.md", "One\nTwo\nThree\nFour\n");
    bench.person_commits("The base moves on");
    bench.write("untracked.txt", "mine\n");

    let ready = prepared(&repository, tip.clone(), Strategy::Merge).await;
    let before = bench.tip("main");
    let outcome = apply(&repository, &ready).await.expect("it applies");

    assert_eq!(before, ready.base_before, "preparing moves nothing");
    assert_eq!(outcome, landed(&ready, Checkout::Updated(bench.person())));
    assert_eq!(bench.tip("main"), ready.commit);
    assert_eq!(bench.run(&["status", "--porcelain"]), "?? untracked.txt");
    assert_eq!(
        (bench.read("src/a.txt"), bench.read("untracked.txt")),
        ("a\n".into(), "mine\n".into())
    );
    let parents = bench.run(&["show", "-s", "--format=%P|%an|%cn", "main"]);
    assert_eq!(parents, format!("{before} {tip}|Ada agent|Assay"));
    assert!(landed_before(&repository, &ready).await.expect("an answer").is_some());
}

#[tokio::test]
async fn a_squash_is_one_commit_with_one_parent() {
    let bench = Bench::new();
    let repository = bench.open().await;
    bench.work(&repository, "t1", "a.txt", "a\n").await;
    let tip = bench.work(&repository, "t1", "b.txt", "b\n").await;

    let ready = prepared(&repository, tip.clone(), Strategy::Squash).await;
    apply(&repository, &ready).await.expect("it applies");

    assert_eq!(bench.run(&["rev-list", "--count", "main"]), "2");
    assert_eq!((bench.read("a.txt"), bench.read("b.txt")), ("a\n".into(), "b\n".into()));
    let never = Prepared { commit: tip.clone(), ..ready.clone() };
    assert_eq!(landed_before(&repository, &never).await.expect("an answer"), None);
    assert!(landed_before(&repository, &ready).await.expect("an answer").is_some());
    let again = prepare(&repository, &request(tip, Strategy::Squash)).await.expect("it prepares");
    assert_eq!(again, Preparation::NothingToLand { base_tip: ready.commit });
}

#[tokio::test]
async fn a_dirty_checkout_is_not_touched() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    bench.write("README.md", "Half a thought\n");
    let before = bench.tip("main");

    let ready = prepared(&repository, tip, Strategy::Merge).await;
    let outcome = apply(&repository, &ready).await.expect("it applies");

    let Outcome::CheckoutDirty { path, files, advice } = outcome else { panic!("{outcome:?}") };
    assert_eq!((path, files), (bench.person(), vec!["README.md".to_owned()]));
    assert!(advice.contains("stash"), "{advice}");
    assert_eq!((bench.tip("main"), bench.read("README.md")), (before, "Half a thought\n".into()));

    bench.run(&["checkout", "--quiet", "--", "README.md"]);
    let outcome = apply(&repository, &ready).await.expect("it applies");
    assert_eq!(outcome, landed(&ready, Checkout::Updated(bench.person())));
}

#[tokio::test]
async fn a_staged_change_and_a_rebase_count_as_dirty() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    let ready = prepared(&repository, tip, Strategy::Merge).await;
    bench.write("new.txt", "staged\n");
    bench.run(&["add", "new.txt"]);

    let staged = apply(&repository, &ready).await.expect("it applies");
    bench.run(&["rm", "--quiet", "-f", "new.txt"]);
    bench.run(&["switch", "--quiet", "--detach"]);
    bench.write(".git/rebase-merge/head-name", "refs/heads/main\n");
    let rebasing = apply(&repository, &ready).await.expect("it applies");

    assert!(matches!(staged, Outcome::CheckoutDirty { .. }), "{staged:?}");
    let Outcome::CheckoutDirty { advice, .. } = rebasing else { panic!("{rebasing:?}") };
    assert!(advice.contains("rebase"), "{advice}");
    assert_eq!(bench.tip("main"), ready.base_before);
}

#[tokio::test]
async fn files_that_git_does_not_know_are_never_written_over() {
    let bench = Bench::new();
    bench.write(".gitignore", "*.env\n");
    bench.person_commits("Ignore settings");
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", ".gitignore", "").await;
    let tip = {
        let top = bench.root().join("t1");
        super::write(&top.join("my.env"), "theirs\n");
        super::write(&top.join("dir/file"), "theirs\n");
        let committed = bench.commit(&repository, &bench.place("t1")).await;
        assert_ne!(committed, tip);
        committed
    };
    let ready = prepared(&repository, tip, Strategy::Squash).await;

    for name in ["my.env", "dir"] {
        bench.write(name, "mine\n");
        let outcome = apply(&repository, &ready).await.expect("it applies");

        assert!(matches!(outcome, Outcome::CheckoutDirty { .. }), "{name}: {outcome:?}");
        assert_eq!(bench.read(name), "mine\n");
        std::fs::remove_file(bench.person().join(name)).expect("it is there");
    }
    let outcome = apply(&repository, &ready).await.expect("it applies");
    assert_eq!(outcome, landed(&ready, Checkout::Updated(bench.person())));
    assert_eq!(bench.read("my.env"), "theirs\n");
}

#[tokio::test]
async fn a_file_that_was_only_touched_is_clean() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "README.md", "Better\n").await;
    bench.write("README.md", "Other\n");
    bench.write("README.md", "One\nTwo\nThree\n");

    let ready = prepared(&repository, tip, Strategy::Merge).await;
    let outcome = apply(&repository, &ready).await.expect("it applies");

    assert_eq!(outcome, landed(&ready, Checkout::Updated(bench.person())));
    assert_eq!(bench.read("README.md"), "Better\n");
}

#[tokio::test]
async fn a_conflict_names_the_files_and_leaves_nothing_behind() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "README.md", "Mine\n").await;
    bench.write("README.md", "Theirs\n");
    let base_tip = bench.person_commits("Theirs");
    let refs = bench.run(&["for-each-ref"]);

    let conflict = prepare(&repository, &request(tip, Strategy::Merge)).await.expect("it prepares");

    let files = vec!["README.md".to_owned()];
    assert_eq!(conflict, Preparation::Conflicts { files, base_tip });
    assert_eq!(bench.run(&["for-each-ref"]), refs);
    assert_eq!(bench.run(&["status", "--porcelain"]), "");
    assert_eq!(super::run_in(&bench.root().join("t1"), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_branch_without_a_change_has_nothing_to_land() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let base_tip = bench.tip("main");

    let nothing = prepare(&repository, &request(base_tip.clone(), Strategy::Merge)).await;

    assert_eq!(nothing.expect("it prepares"), Preparation::NothingToLand { base_tip });
}

#[tokio::test]
async fn a_base_that_nobody_has_checked_out_just_moves() {
    let bench = Bench::new();
    bench.run(&["switch", "--quiet", "-c", "other"]);
    bench.write("README.md", "Half a thought\n");
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;

    let ready = prepared(&repository, tip, Strategy::Merge).await;
    let outcome = apply(&repository, &ready).await.expect("it applies");

    assert_eq!(outcome, landed(&ready, Checkout::None));
    assert_eq!(bench.read("README.md"), "Half a thought\n");
}

#[tokio::test]
async fn a_bare_repository_takes_a_landing() {
    let bench = Bench::new();
    let bare = bench.bare();
    let repository = bench.open_at(bare.to_str().expect("a plain path")).await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;

    let ready = prepared(&repository, tip, Strategy::Squash).await;
    let outcome = apply(&repository, &ready).await.expect("it applies");

    assert_eq!(outcome, landed(&ready, Checkout::None));
    assert_eq!(super::tip_in(&bare, "main"), ready.commit);
}

#[tokio::test]
async fn a_crash_between_branch_and_files_is_made_good() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    let ready = prepared(&repository, tip, Strategy::Merge).await;
    bench.run(&["update-ref", "refs/heads/main", ready.commit.as_str()]);

    let outcome = apply(&repository, &ready).await.expect("it applies");
    let again = apply(&repository, &ready).await.expect("it applies");

    assert_eq!(outcome, landed(&ready, Checkout::Updated(bench.person())));
    assert_eq!(again, outcome);
    assert_eq!(
        (bench.run(&["status", "--porcelain"]), bench.read("a.txt")),
        (String::new(), "a\n".into())
    );
}

#[tokio::test]
async fn a_landing_that_others_built_upon_is_still_landed() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let tip = bench.work(&repository, "t1", "a.txt", "a\n").await;
    let ready = prepared(&repository, tip, Strategy::Squash).await;
    apply(&repository, &ready).await.expect("it applies");
    bench.write("README.md", "More\n");
    bench.person_commits("On top");
    bench.write("README.md", "Half a thought\n");

    let outcome = apply(&repository, &ready).await.expect("it applies");

    assert!(matches!(outcome, Outcome::Landed { .. }), "{outcome:?}");
    assert_eq!(bench.read("README.md"), "Half a thought\n");
}
