//! Trying an agent: it runs in a place of its own, says what it printed, and leaves nothing.

use serde_json::{Value, json};

use super::stage::Stage;

/// Tries the stage's agent and waits for what came of it.
async fn tried(stage: &Stage) -> Value {
    let begun = stage.try_call("try_agent", json!({ "confirm": true })).await.unwrap();
    let ended = "SELECT state FROM jobs WHERE kind = 'try_agent' AND state <> 'ready'
        AND state <> 'running'";
    stage.until_so("the try ends", || !stage.column(ended).is_empty()).await;
    let asked = json!({ "jobId": begun["jobId"] });
    stage.try_call("get_job_status", asked).await.unwrap()
}

fn branches(stage: &Stage) -> String {
    stage.git(&["for-each-ref", "--format=%(refname) %(objectname)"])
}

#[tokio::test]
async fn a_try_says_what_the_agent_printed_and_leaves_nothing() {
    let stage = Stage::with(
        r#"echo "asked: $prompt"; pwd; echo "key: ${ASSAY_KEY:-none}"; echo "$TOKEN"; echo x >new"#,
        |settings, _| {
            for profile in settings.agents.profiles.values_mut() {
                profile.set.insert("TOKEN".to_owned(), "hunter2-hunter2".to_owned());
            }
        },
    )
    .await;
    let before = branches(&stage);

    let job = tried(&stage).await;

    assert_eq!(job["status"], "completed", "{job}");
    let result = &job["result"];
    assert_eq!(result["passed"], true, "{job}");
    let lines = result["lines"].to_string();
    assert!(lines.contains("Say hello in one sentence"), "{lines}");
    assert!(lines.contains("key: none") && !lines.contains("hunter2"), "{lines}");
    assert!(lines.contains("worktrees/try-"), "{lines}");
    assert_eq!(branches(&stage), before);
    assert_eq!(stage.read("new"), "");
    let left = std::fs::read_dir(stage.path("data/worktrees")).unwrap().count();
    let runs = std::fs::read_dir(stage.path("data/runs")).unwrap().count();
    assert_eq!((left, runs), (0, 0));
    stage.close().await;
}

#[tokio::test]
async fn a_try_that_goes_wrong_says_how() {
    let stage = Stage::new("echo no such model; exit 3").await;

    let job = tried(&stage).await;

    assert_eq!((&job["status"], &job["result"]["passed"]), (&json!("completed"), &json!(false)));
    let said = job["result"]["said"].as_str().unwrap();
    assert_eq!(said, "The agent ended with exit code 3.");
    assert!(job["result"]["lines"].to_string().contains("no such model"));
    stage.close().await;
}

#[tokio::test]
async fn a_try_that_commits_has_not_passed_and_its_commit_is_gone() {
    let stage = Stage::new(
        "echo x >new; git add new; git -c user.name=a -c user.email=a@b commit -qm mine",
    )
    .await;
    let before = branches(&stage);

    let job = tried(&stage).await;

    assert_eq!(job["result"]["passed"], false, "{job}");
    assert!(job["result"]["said"].as_str().unwrap().contains("moved its branch"), "{job}");
    assert_eq!(branches(&stage), before);
    stage.close().await;
}
