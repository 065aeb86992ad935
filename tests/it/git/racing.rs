//! Several landings on one base: each lands once, none is lost, none is lost upon another.

use assay::projects::git::landing::{Outcome, Preparation, Strategy, apply, prepare};

use assay::projects::git::removal::{Removal, Uncommitted, remove};

use super::{Bench, request};

#[tokio::test]
async fn of_two_landings_on_the_same_base_one_wins() {
    let bench = Bench::new();
    bench.run(&["switch", "--quiet", "--detach"]);
    let repository = bench.open().await;
    let mut ready = Vec::new();
    for (ticket, file) in [("t1", "a.txt"), ("t2", "b.txt")] {
        let tip = bench.work(&repository, ticket, file, "x\n").await;
        let made = prepare(&repository, &request(tip, Strategy::Squash)).await;
        let Ok(Preparation::Ready(prepared)) = made else { panic!("{made:?}") };
        ready.push(prepared);
    }

    let (one, other) = tokio::join!(apply(&repository, &ready[0]), apply(&repository, &ready[1]));

    let outcomes = [one.expect("it applies"), other.expect("it applies")];
    let winner = outcomes.iter().position(|it| matches!(it, Outcome::Landed { .. }));
    let winner = winner.expect("one wins");
    let base_tip = ready[winner].commit.clone();
    assert_eq!(bench.tip("main"), base_tip);
    assert_eq!(outcomes[1 - winner], Outcome::BaseMoved { base_tip });
}

#[tokio::test]
async fn landings_that_try_again_all_arrive() {
    let bench = Bench::new();
    bench.run(&["switch", "--quiet", "--detach"]);
    let repository = bench.open().await;
    let mut tips = Vec::new();
    for number in 0..4 {
        let (ticket, file) = (format!("t{number}"), format!("{number}.txt"));
        tips.push(bench.work(&repository, &ticket, &file, "x\n").await);
    }
    let land = async |mut tip| loop {
        let request = request(tip, Strategy::Merge);
        let made = prepare(&repository, &request).await.expect("it prepares");
        let Preparation::Ready(prepared) = made else { panic!("{made:?}") };
        match apply(&repository, &prepared).await.expect("it applies") {
            Outcome::Landed { .. } => break,
            Outcome::BaseMoved { .. } => tip = request.tip,
            other @ Outcome::CheckoutDirty { .. } => panic!("{other:?}"),
        }
    };

    futures_util::future::join_all(tips.into_iter().map(land)).await;

    assert_eq!(bench.run(&["ls-tree", "--name-only", "main"]).lines().count(), 5);
    assert_eq!(bench.run(&["rev-list", "--count", "--first-parent", "main"]), "5");
}

#[tokio::test]
async fn worktrees_come_and_go_beside_each_other() {
    let bench = Bench::new();
    let repository = bench.open().await;
    let live = async |number: u32| {
        let ticket = format!("t{number}");
        for round in 0..2 {
            bench.work(&repository, &ticket, "a.txt", &format!("{round}\n")).await;
            let gone = remove(&repository, &bench.place(&ticket), Uncommitted::Keep).await;
            assert_eq!(gone.expect("it goes"), Removal::Removed);
        }
    };

    futures_util::future::join_all((0..6).map(live)).await;

    assert_eq!(bench.run(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(bench.run(&["branch", "--list", "agent/*"]).lines().count(), 6);
}
