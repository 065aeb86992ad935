//! The command line, as it changes and tries webhooks beside a running server.

use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use crate::harness::{Answer, Receiver, TestApp};

fn run(app: &TestApp, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.env_clear().env("PATH", env!("PATH")).env("ASSAY_DATA", app.dir().join("data"));
    command.args(args).output().unwrap()
}

/// What a command that succeeds prints.
fn out(app: &TestApp, args: &[&str]) -> String {
    let output = run(app, args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(app: &TestApp, args: &[&str]) -> Value {
    serde_json::from_str(&out(app, &[args, &["--json"]].concat())).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_adds_tries_shows_and_removes_webhooks() {
    let app = TestApp::start().await;
    let acme = app.tenant("Acme").await;
    acme.project("Own", "OWN").await;
    let receiver = Receiver::answering(|number| match number {
        1 => Answer::Says(500, "out of order".to_owned()),
        _ => Answer::Says(200, "thanks".to_owned()),
    });
    let url = receiver.url();

    let refused = run(&app, &["webhook", "add", "OWN", &url]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("expected https://"), "{said}");
    let odd = run(&app, &["webhook", "add", "OWN", &url, "--private", "--events", "ticket.odd"]);
    let said = String::from_utf8(odd.stderr).unwrap();
    assert!(said.contains("\"ticket.odd\" is none") && said.contains("ticket.failed"), "{said}");
    let chosen = "ticket.failed,ticket.awaiting_input";
    let secret = out(&app, &["webhook", "add", "OWN", &url, "--private", "--events", chosen]);
    assert!(secret.starts_with("whsec_") && secret.trim().len() == 6 + 44, "{secret}");
    let listed = json(&app, &["webhook", "list", "OWN"]);
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(listed[0]["events"].as_array().unwrap().len(), 2);
    assert!(!out(&app, &["webhook", "list", "OWN"]).contains("whsec_"));

    let tried = json(&app, &["webhook", "test", id]);
    assert_eq!(tried["state"], "delivered", "{tried}");
    assert_eq!(tried["attempts"][0]["answer"], "thanks");
    let failed = run(&app, &["webhook", "test", id]);
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8(failed.stderr).unwrap();
    assert!(said.contains("It answered 500."), "{said}");
    let message = json(&app, &["webhook", "log", id])[0]["id"].as_str().unwrap().to_owned();
    let again = json(&app, &["webhook", "replay", &message]);
    assert_eq!(
        (again["state"].as_str(), again["id"].as_str()),
        (Some("delivered"), Some(&*message))
    );
    let log = out(&app, &["webhook", "log", id, "--message", &message]);
    assert!(log.contains("It answered 500.") && log.contains("thanks"), "{log}");

    out(&app, &["webhook", "disable", id]);
    let off = run(&app, &["webhook", "test", id]);
    assert!(!off.status.success(), "one that is off is told nothing");
    out(&app, &["webhook", "enable", id]);
    out(&app, &["webhook", "remove", id]);
    assert_eq!(json(&app, &["webhook", "list", "OWN"]), serde_json::json!([]));
    assert!(!run(&app, &["webhook", "log", id]).status.success());
    let audit: Vec<String> =
        app.audit().into_iter().filter(|row| row.contains("webhook")).collect();
    let expected = ["create", "test", "test", "replay", "disable", "enable", "remove"];
    assert_eq!(audit, expected.map(|verb| format!("{verb}_webhook cli ok")));
}
