//! Names and refs that try to be something else.

use std::fs;

use assay::accounts::{Plan, tenants};
use assay::base::Code;
use assay::base::{Clock, Entropy};
use assay::events::Bus;
use assay::projects::{self, NewProject};
use assay::store::Db;
use serde_json::json;

use super::stage::{ADDS_A_FILE, Stage};

#[tokio::test]
async fn a_hostile_title_is_a_text_and_nothing_else() {
    let script = r#"if is implement; then
        printf '%s' "$prompt" >"$STAGE/prompt"; echo hello >hello.txt; fi"#;
    let stage = Stage::new(script).await;
    let title =
        "--amend $(touch pwned) `touch pwned`; ../../x @{-1} \u{202e}\n\nAssay-Ticket: EVIL-1";
    let args = json!({
        "title": title, "preset": "trivial", "pass_profile": "minimal",
        "description": "-- \n../..\n$(touch pwned)\n{worktree} {{prompt}}",
        "requester": { "display_name": "<>\nEve <eve@example.org>", "email": "a@b\nc" }
    });

    let filed = stage.call("dispatch_ticket", args).await;
    let name = filed["ticket"]["ticketRef"].as_str().unwrap();
    stage.until(name, "succeeded").await;

    let commit = stage.git(&["log", "-1", "--format=%an%n%ae%n%B", "main"]);
    assert!(commit.contains("ACME-1: --amend $(touch pwned)"), "{commit}");
    let trailers = stage.git(&["log", "-1", "--format=%(trailers:key=Assay-Ticket)", "main"]);
    assert_eq!(trailers.trim(), "Assay-Ticket: ACME-1", "{commit}");
    assert!(fs::read_to_string(stage.path("prompt")).unwrap().contains("{worktree} {{prompt}}"));
    for place in ["pwned", "data/pwned", "person/pwned"] {
        assert!(!stage.path(place).exists());
    }
    assert_eq!(stage.git(&["ls-tree", "--name-only", "main"]), "README.md\nhello.txt");
    stage.close().await;
}

#[tokio::test]
async fn titles_of_nothing_visible_or_too_much_are_refused() {
    let stage = Stage::new(ADDS_A_FILE).await;

    for title in ["", " \n\t", "\u{0}\u{7}", &"x".repeat(501)] {
        let refused = stage.try_call("dispatch_ticket", json!({ "title": title })).await;
        assert!(refused.is_err(), "{title:?}");
    }
    assert_eq!(stage.column("SELECT title FROM tickets"), Vec::<String>::new());
    stage.close().await;
}

#[tokio::test]
async fn base_branches_that_git_would_read_as_something_else_are_refused_at_the_door() {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(dir.path(), Clock::system(), Entropy::system(), Bus::default()).unwrap();
    let tenant = db.write(|tx| tenants::create(tx, "Acme", Plan::All)).await.unwrap().id;

    for name in
        ["-x", "--upload-pack=x", "a..b", "@{-1}", "main@{0}", "a b", "a\nb", "HEAD", "$(x)^"]
    {
        let made = db.write(move |tx| {
            let new = NewProject { name: "Acme", base_branch: Some(name), ..NewProject::default() };
            projects::create(tx, tenant, new)
        });
        let fault = made.await.expect_err(name);
        assert_eq!(fault.code, Code::InvalidArgument, "{name:?}: {fault:?}");
        assert_eq!(fault.issues[0].path, "baseBranch", "{name:?}: {fault:?}");
    }
}

#[tokio::test]
async fn refs_of_tickets_that_lead_elsewhere_name_none() {
    let stage = Stage::new(ADDS_A_FILE).await;

    for name in ["../../etc/passwd", "ACME-1; DROP TABLE tickets", "ACME--1", "-1", "#0", "%", "\n"]
    {
        let refused = stage.try_call("get_ticket", json!({ "ticket": name })).await;
        let fault = refused.expect_err(name);
        let expected = [Code::NotFound, Code::InvalidArgument];
        assert!(expected.contains(&fault.code), "{name:?}: {fault:?}");
    }
    stage.close().await;
}
