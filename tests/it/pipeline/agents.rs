//! Agents that do what agents do wrong.

use assay::projects::agents::{OutputFormat, Profile};
use assay::projects::limits::Bounds;
use assay::projects::settings::Settings;
use serde_json::json;

use super::stage::{ADDS_A_FILE, Digest, Stage};

/// A ticket whose implementing agent is a script, and which is to end as told.
async fn ends(script: &str, status: &str) -> (Stage, Digest) {
    ends_with(script, status, |_| ()).await
}

async fn ends_with(
    script: &str,
    status: &str,
    change: impl FnOnce(&mut Settings),
) -> (Stage, Digest) {
    let script = format!("if is implement; then\n{script}\nfi");
    let stage = Stage::with(&script, |settings, _| change(settings)).await;
    let digest = stage.ends(status).await;
    (stage, digest)
}

/// The settings of the one agent.
fn limits(settings: &mut Settings, timeout_secs: u64, idle_secs: u64, output: u64) {
    let profile = settings.agents.profiles.get_mut("script").unwrap();
    profile.timeout_secs = timeout_secs;
    profile.idle_timeout_secs = idle_secs;
    profile.max_output_bytes = output;
}

#[tokio::test]
async fn an_agent_that_is_not_installed_fails_with_the_shells_own_code() {
    let stage = Stage::with("", |settings, _| {
        let profile = settings.agents.profiles.get_mut("script").unwrap();
        profile.command = vec!["no-such-agent".to_owned()];
    })
    .await;

    let digest = stage.ends("failed").await;

    assert!(digest.reason().starts_with("The agent's command was not found"));
    assert!(digest.reason().contains("no-such-agent"), "{}", digest.reason());
    let graph = stage.call("get_ticket_graph", json!({ "ticket": digest.name() })).await;
    assert_eq!(graph["graph"]["nodes"][0]["exitCode"], 127);
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_hangs_ends_as_timeout_and_what_it_wrote_is_kept() {
    let script = "echo half >half.txt; while :; do echo working; sleep 0.1; done";
    let (stage, digest) =
        ends_with(script, "timeout", |settings| limits(settings, 1, 60, 1 << 20)).await;

    assert_eq!(digest.outcome(), "timeout");
    assert!(digest.reason().starts_with("The agent did not end within its time limit of "));
    assert!(digest.reason().contains("working"), "{}", digest.reason());
    let kept = stage.git(&["show", &format!("{}:half.txt", digest.branch())]);
    assert_eq!(kept, "half");
    assert!(digest.0["salvageNote"].as_str().unwrap().contains(&digest.branch()));
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_says_nothing_for_too_long_ends_as_timeout() {
    let (stage, digest) =
        ends_with("sleep 60", "timeout", |settings| limits(settings, 60, 1, 1 << 20)).await;

    assert!(digest.reason().starts_with("The agent printed nothing for "));
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_floods_its_output_is_ended() {
    let (stage, digest) =
        ends_with("yes hello", "failed", |settings| limits(settings, 60, 60, 20_000)).await;

    assert!(digest.reason().starts_with("The agent printed more than "));
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_ends_well_and_changed_nothing_has_done_nothing() {
    let (stage, digest) = ends("exit 0", "failed").await;

    assert_eq!(digest.reason(), "The agent left no report. It changed nothing either.");
    assert_eq!(stage.landings(digest.name()), 0);
    stage.close().await;

    let (stage, digest) =
        ends(r#"report '{"outcome":"done","summary":"All done"}'"#, "failed").await;

    assert!(digest.reason().contains("it changed nothing"), "{}", digest.reason());
    stage.close().await;
}

#[tokio::test]
async fn an_invalid_report_is_told_field_by_field_and_the_work_is_kept() {
    let script = r#"echo hello >hello.txt
        report '{"outcome":"finished","deferred":3}'"#;
    let (stage, digest) = ends(script, "failed").await;

    assert!(digest.reason().starts_with("The agent's report is invalid."), "{}", digest.reason());
    assert!(digest.reason().contains("outcome: must be done"), "{}", digest.reason());
    assert!(digest.reason().contains("deferred: must be a list"), "{}", digest.reason());
    assert_eq!(stage.git(&["show", &format!("{}:hello.txt", digest.branch())]), "hello");
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_deletes_its_worktree_loses_nothing_that_was_committed() {
    let script = r#"if once tried; then echo one >one.txt; git add .; git commit -qm One
        rm -rf "$PWD"; else echo two >two.txt; fi"#;
    let (stage, digest) = ends(script, "failed").await;
    assert_eq!(digest.reason(), "The agent deleted its worktree.");
    assert_eq!(stage.git(&["show", &format!("{}:one.txt", digest.branch())]), "one");

    stage.call("retry_ticket", json!({ "ticket": digest.name() })).await;

    stage.until(digest.name(), "succeeded").await;
    assert_eq!((stage.read("one.txt"), stage.read("two.txt")), ("one\n".into(), "two\n".into()));
    stage.close().await;
}

#[tokio::test]
async fn an_agent_may_commit_by_itself() {
    let script = "echo hello >hello.txt; git add .; git commit -qm 'By the agent'; \
                  echo more >more.txt";
    let (stage, digest) = ends(script, "succeeded").await;

    let subjects = stage.git(&["log", "--format=%s", "main"]);
    assert!(subjects.contains("By the agent"), "{subjects}");
    assert_eq!(stage.read("more.txt"), "more\n");
    assert_eq!(stage.landings(digest.name()), 1);
    stage.close().await;
}

#[tokio::test]
async fn commits_on_a_branch_of_the_agents_own_come_along() {
    let script = "git switch -qc elsewhere; echo hello >hello.txt; git add .; git commit -qm Hello";
    let (stage, _) = ends(script, "succeeded").await;

    assert_eq!(stage.read("hello.txt"), "hello\n");
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_leaves_for_other_commits_fails_with_its_log_kept() {
    let script = "echo leaving; git switch -q --orphan elsewhere; echo x >x.txt; git add .; \
                  git commit -qm Elsewhere";
    let (stage, digest) = ends(script, "failed").await;

    assert!(digest.reason().contains("has left the branch"), "{}", digest.reason());
    let logs = "SELECT CAST(log_lines AS TEXT) FROM nodes WHERE kind = 'implement'";
    assert_eq!(stage.column(logs), ["1"]);
    stage.close().await;
}

#[tokio::test]
async fn a_grandchild_that_leaves_the_group_is_ended_with_the_run() {
    let script = r#"echo hello >hello.txt
        setsid sh -c 'trap "" TERM; : >"$STAGE/grandchild"; sleep 60' </dev/null >/dev/null 2>&1 &
        await grandchild"#;
    let (stage, _) = ends(script, "succeeded").await;

    stage.close().await;
}

#[tokio::test]
async fn what_a_reader_changes_or_commits_never_lands() {
    let script = "
        if is review; then echo evil >evil.txt; git add .; git commit -qm Evil; echo x >x.txt; fi
        if is implement; then echo hello >hello.txt; fi";
    let stage = Stage::new(script).await;

    stage.ends("succeeded").await;

    assert_eq!(stage.git(&["ls-tree", "--name-only", "main"]), "README.md\nhello.txt");
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_puts_a_pipe_in_place_of_its_log_holds_nobody_up() {
    let script = r#"cd "$(dirname "$ASSAY_REPORT")" && rm log.txt && mkfifo log.txt
        cd "$OLDPWD"; echo hello >hello.txt"#;
    let (stage, _) = ends(script, "succeeded").await;

    stage.close().await;
}

#[tokio::test]
async fn a_lock_that_a_killed_git_left_on_the_branch_is_in_nobodys_way() {
    let script = r#"echo hello >hello.txt; common=$(git rev-parse --git-common-dir)
        : >"$common/$(git symbolic-ref HEAD).lock"; : >"$(git rev-parse --git-dir)/index.lock""#;
    let (stage, _) = ends(script, "succeeded").await;

    assert_eq!(stage.read("hello.txt"), "hello\n");
    stage.close().await;
}

#[tokio::test]
async fn the_key_of_an_agent_is_never_shown_and_dies_with_its_node() {
    let script = r#"echo "my key is $ASSAY_KEY"; echo "$ASSAY_KEY" >"$STAGE/key"
        echo hello >hello.txt; report "{\"outcome\":\"done\",\"summary\":\"key $ASSAY_KEY\"}""#;
    let (stage, digest) = ends(script, "succeeded").await;

    let key = std::fs::read_to_string(stage.path("key")).unwrap();
    let reports = stage.call("get_ticket_reports", json!({ "ticket": digest.name() })).await;
    assert!(!reports.to_string().contains(key.trim()), "{reports}");
    assert!(reports.to_string().contains("key ["), "{reports}");
    stage.close().await;
}

#[tokio::test]
async fn a_ticket_that_landed_leaves_neither_branch_nor_worktree() {
    let stage = Stage::new(ADDS_A_FILE).await;

    let digest = stage.ends("succeeded").await;

    assert!(!stage.path("data/worktrees").join(digest.id()).exists());
    let listed = stage.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(listed.matches("worktree ").count(), 1, "{listed}");
    assert_eq!(stage.git(&["branch", "--list", "agent/*"]), "");
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_tells_that_it_crossed_a_limit_is_ended_then() {
    let said = r#"{"type":"assistant","message":{"id":"m1","content":[],
        "usage":{"input_tokens":90,"output_tokens":30}}}"#;
    let script = format!("if is implement; then echo '{}'; sleep 600; fi", said.replace('\n', ""));
    for (of_ticket, name) in [(false, "implement-1"), (true, "ACME-1")] {
        let stage = Stage::with(&script, |settings, _| {
            let profile = settings.agents.profiles.get_mut("script").unwrap();
            profile.output = OutputFormat::ClaudeStreamJson;
            settings.agents.default = Some("script".to_owned());
            let bounds = Bounds { tokens: Some(100), ..Bounds::default() };
            let limits = &mut settings.limits;
            *(if of_ticket { &mut limits.ticket } else { &mut limits.node }) = bounds;
            let quiet = Profile { output: OutputFormat::Plain, ..profile_of(settings) };
            settings.agents.profiles.insert("quiet".to_owned(), quiet);
            settings.agents.nodes.insert("contract".to_owned(), "quiet".to_owned());
        })
        .await;

        let digest = stage.ends("timeout").await;

        let reason = digest.reason();
        assert!(reason.starts_with(&format!("{name} has used 120 of 100 tokens")), "{reason}");
        let used = stage.column("SELECT input_tokens || ' ' || output_tokens FROM tickets");
        assert_eq!(used, ["90 30"]);
        stage.close().await;
    }
}

fn profile_of(settings: &Settings) -> Profile {
    settings.agents.profiles["script"].clone()
}
