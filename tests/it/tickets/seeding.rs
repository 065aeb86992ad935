//! `seed_from_ref`: a ticket goes on with a branch that is there.

use assay::accounts::KeyScope;
use assay::projects::agents::Profile;
use serde_json::json;

use crate::git::run_in;
use crate::harness::{Tenant, TestApp, script};

async fn widgets(tenant: &Tenant<'_>, agent: Profile) -> std::path::PathBuf {
    let path = tenant.project_with_repo("Acme Widgets", "ACME", agent).await;
    for args in [
        &["switch", "--quiet", "--create", "half-done"][..],
        &["commit", "--quiet", "--allow-empty", "--message=Half"],
    ] {
        run_in(&path, args);
    }
    std::fs::write(path.join("half.txt"), "half\n").unwrap();
    for args in [
        &["add", "--all"][..],
        &["commit", "--quiet", "--message=The other half"],
        &["switch", "--quiet", "main"],
        &["commit", "--quiet", "--allow-empty", "--message=Base moves on"],
    ] {
        run_in(&path, args);
    }
    path
}

#[tokio::test]
async fn a_ticket_starts_from_the_branch_that_it_names_and_lands_with_it() {
    let app = TestApp::start().await;
    let tenant = app.tenant("Acme").await;
    let line = "[ \"$ASSAY_NODE\" != implement ] || cat half.txt >whole.txt; \
        echo '{\"outcome\":\"done\",\"summary\":\"Done.\",\"verdict\":\"approve\"}' >$ASSAY_REPORT";
    let path = widgets(&tenant, script(line)).await;
    let caller = tenant.key(KeyScope::McpFull).await;

    let args = json!({ "title": "Finish it", "project": "ACME", "seed_from_ref": "half-done" });
    caller.dispatch(args).await;
    caller.wait_for("ACME-1", "succeeded").await;

    assert_eq!(std::fs::read_to_string(path.join("whole.txt")).unwrap(), "half\n");
    let base = app.column("SELECT base_commit FROM tickets").remove(0);
    assert_eq!(base, run_in(&path, &["merge-base", "half-done", "main~1"]).trim());
    let log = run_in(&path, &["log", "--format=%s", "main"]);
    assert!(log.contains("The other half") && log.contains("Base moves on"), "{log}");
}

#[tokio::test]
async fn a_branch_that_is_not_there_is_refused_with_its_code() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    widgets(&tenant, script("exit 1")).await;
    let caller = tenant.key(KeyScope::McpFull).await;

    for named in ["half", "agent/none", "half-done~1", "refs/heads/..", "-x"] {
        let args = json!({ "title": "T", "project": "ACME", "seed_from_ref": named });
        let refusal = caller.refusal("dispatch_ticket", args).await;

        let found = (refusal.code.as_str(), refusal.status, &*refusal.paths);
        assert_eq!(
            found,
            ("INVALID_SEED_FROM_REF", 400, &["seed_from_ref".to_owned()][..]),
            "{named}"
        );
    }
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["0"]);
}
