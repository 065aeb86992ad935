//! What each kind of node is for, and when there is one.

use assay::projects::steps::{DeployVerify, Pipeline};
use serde_json::{Value, json};

use super::stage::{ADDS_A_FILE, Stage};

async fn filed(stage: &Stage, args: Value) -> String {
    let filed = stage.call("dispatch_ticket", args).await;
    filed["ticket"]["ticketRef"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_found_out_before_the_plan_reaches_those_that_work() {
    let script = r#"
        if is research; then report '{"outcome":"done","summary":"Queue B is faster"}'; fi
        if is investigate; then echo x >left.txt
            report '{"outcome":"done","summary":"The date is null"}'; fi
        if is implement; then case "$prompt" in
            *"Queue B is faster"*"The date is null"*) echo hello >hello.txt;; esac; fi
        if is qa_authoring; then echo test >test.txt; fi"#;
    let stage = Stage::new(script).await;
    let ticket = filed(
        &stage,
        json!({ "title": "The report crashes on Mondays", "kind": "fix",
        "description": "Compare two queues, and add a test.", "pass_profile": "minimal" }),
    )
    .await;

    stage.until(&ticket, "succeeded").await;

    let expected = [
        "research-1 succeeded",
        "investigate-1 succeeded",
        "plan-1 skipped",
        "contract-1 skipped",
        "implement-1 succeeded",
        "qa_authoring-1 succeeded",
        "review-1 skipped",
        "verification-1 skipped",
        "land-1 succeeded",
    ];
    assert_eq!(stage.nodes(&ticket).await, expected);
    assert_eq!((stage.read("test.txt"), stage.read("left.txt")), ("test\n".into(), String::new()));
    let noted = "SELECT ref FROM nodes WHERE report LIKE '%thrown away%'";
    assert_eq!(stage.column(noted), ["investigate-1"], "what a reader changed is noted");
    stage.close().await;
}

#[tokio::test]
async fn a_ticket_that_builds_on_several_joins_them_first() {
    let script = r#"if is integration; then echo joined >joined.txt; fi
        if is implement; then echo x >"$ASSAY_TICKET.txt"; fi"#;
    let stage = Stage::new(script).await;
    let (one, two) = (stage.dispatch("One").await, stage.dispatch("Two").await);
    let both = filed(
        &stage,
        json!({ "title": "Both", "pass_profile": "minimal",
        "depends_on": [one, two], "depends_on_reason": "It shows what both of them wrote." }),
    )
    .await;

    stage.until(&both, "succeeded").await;

    assert_eq!(stage.nodes(&both).await[0], "integration-1 succeeded");
    assert_eq!(stage.read("joined.txt"), "joined\n");
    stage.close().await;
}

#[tokio::test]
async fn a_look_at_the_deployment_undoes_no_landing() {
    for (command, status, asks) in
        [("test -e hello.txt", "succeeded", false), ("echo it is down; exit 3", "failed", true)]
    {
        let stage = Stage::with(ADDS_A_FILE, |settings, _| {
            let (command, timeout_secs) = (command.to_owned(), 60);
            settings.landing.deploy_verify = Some(DeployVerify { command, timeout_secs });
        })
        .await;

        let digest = stage.ends("succeeded").await;

        let nodes = stage.nodes(digest.name()).await;
        assert_eq!(nodes.last(), Some(&format!("deploy_verify-1 {status}")));
        assert_eq!(digest.0["humanActionRequired"], asks, "{}", digest.human_actions());
        assert_eq!((stage.landings(digest.name()), digest.merge()), (1, "merged"));
        assert_eq!(stage.git(&["branch", "--list", "a*"]), "", "nothing is left behind");
        stage.close().await;
    }
}

#[tokio::test]
async fn the_fixed_five_passes_count_themselves_and_show_no_graph() {
    let script = r#"tell "$ASSAY_NODE"; await "go-$ASSAY_NODE"
        if is implement; then echo hello >hello.txt; fi"#;
    let stage = Stage::with(script, |settings, _| {
        settings.pipeline = Pipeline::FivePassV1;
    })
    .await;
    let ticket = stage.dispatch("Say hello").await;

    let before = stage.digest(&ticket).await;
    assert!(before.0.get("graph").is_none(), "{:#}", before.0);
    for (pass, node) in (1..).zip(["plan", "implement", "review", "security", "docs"]) {
        stage.told(node).await;
        assert_eq!(stage.digest(&ticket).await.0["ticket"]["currentPass"], pass, "{node}");
        stage.tell(&format!("go-{node}"));
    }

    let digest = stage.until(&ticket, "succeeded").await;
    assert!(digest.0.get("graph").is_none());
    let graph = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    assert_eq!(graph["graph"]["origin"], "five_pass_v1");
    stage.close().await;
}
