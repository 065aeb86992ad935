//! What a ticket leaves on disk, and when it goes.

use std::fs;

use assay::jobs::{self, Enqueue};
use assay::tickets::jobs::SweepTickets;

use super::stage::{ADDS_A_FILE, Digest, Stage};

/// An agent that leaves work on its branch and fails.
const FAILS: &str = r#"if is implement; then echo half >half.txt; git add .; git commit -qm Half
    report '{"outcome":"failed","summary":"No"}'; fi"#;

async fn sweep(stage: &Stage) {
    let swept = "SELECT count(*) || '' FROM jobs WHERE kind = 'sweep_tickets' AND state = 'done'";
    let before = stage.column(swept);
    let job = SweepTickets::default();
    stage.write(move |tx| jobs::enqueue(tx, &job, Enqueue::default()).map(drop)).await;
    stage.until_so("swept", || stage.column(swept) != before).await;
}

/// Lets a ticket have ended so many hours ago.
fn age(stage: &Stage, hours: i64) {
    let ms = hours * 3_600_000;
    stage.raw(&format!("UPDATE tickets SET completed_at = completed_at - {ms}"));
}

fn has_tree(stage: &Stage, digest: &Digest) -> bool {
    stage.path("data/worktrees").join(digest.id()).exists()
}

#[tokio::test]
async fn a_landed_ticket_leaves_neither_tree_nor_branch() {
    let stage = Stage::new(ADDS_A_FILE).await;

    let digest = stage.ends("succeeded").await;

    assert!(!has_tree(&stage, &digest));
    assert_eq!(stage.git(&["branch", "--list", "agent/*"]), "");
    stage.close().await;
}

#[tokio::test]
async fn a_failed_tickets_tree_goes_after_its_time_and_its_branch_never() {
    let stage = Stage::new(FAILS).await;
    let digest = stage.ends("failed").await;

    age(&stage, 23);
    sweep(&stage).await;
    assert!(has_tree(&stage, &digest), "it is kept for a day");

    age(&stage, 2);
    sweep(&stage).await;
    assert!(!has_tree(&stage, &digest));
    let kept = format!("{}:half.txt", digest.branch());
    assert_eq!(stage.git(&["show", &kept]), "half");
    stage.close().await;
}

#[tokio::test]
async fn what_is_locked_or_not_committed_or_no_trees_place_is_left_alone() {
    let stage = Stage::new(FAILS).await;
    let (locked, changed) = (stage.ends("failed").await, stage.ends("failed").await);
    let trees = stage.path("data/worktrees");
    let path = trees.join(locked.id());
    stage.git(&["worktree", "lock", path.to_str().unwrap()]);
    fs::write(trees.join(changed.id()).join("mine.txt"), "mine\n").unwrap();
    fs::create_dir(trees.join("somebody-elses")).unwrap();
    age(&stage, 100);

    sweep(&stage).await;

    assert!(has_tree(&stage, &locked) && has_tree(&stage, &changed));
    assert!(trees.join("somebody-elses").exists());
    stage.git(&["worktree", "unlock", path.to_str().unwrap()]);
    fs::remove_file(trees.join(changed.id()).join("mine.txt")).unwrap();
    sweep(&stage).await;
    assert!(!has_tree(&stage, &locked) && !has_tree(&stage, &changed));
    stage.close().await;
}
