//! A conversation becomes a ticket.

use serde_json::{Value, json};

use super::still;
use crate::golden;
use crate::harness::placed;

fn said(turns: &[(&str, &str)]) -> Value {
    let turn = |(role, content): &(&str, &str)| json!({ "role": role, "content": content });
    turns.iter().map(turn).collect()
}

/// A talk in which the last thing asked for is a toggle.
fn talk() -> Value {
    said(&[
        ("system", "You are Chip. The admin is called Zoe."),
        ("user", "The dashboard in web/src/Header.svelte is too bright at night."),
        ("assistant", "I can store the choice in localStorage. I will not touch the colours. OK?"),
        ("user", "Yes. Can you add a dark mode toggle to the header? It must not flash on load."),
    ])
}

fn talked(conversation: Value) -> Value {
    let mut args = json!({ "title": "Header", "project": "ACME", "description": "For nights." });
    args["conversation"] = conversation;
    args
}

#[tokio::test]
async fn a_conversation_is_drafted_and_kept() {
    let (app, caller) = still().await;

    let answer = caller.call("dispatch_ticket", talked(talk())).await;

    golden::matches("tickets/dispatch_drafted.json", &placed(&answer));
    let description = app.column("SELECT description FROM tickets").remove(0);
    golden::matches("tickets/drafted.md", &(description + "\n"));
    let kept = app.column("SELECT title || ' ' || description || turns FROM ticket_conversations");
    assert!(kept[0].starts_with("Header For nights.[{\"role\":\"system\""), "{kept:?}");
}

#[tokio::test]
async fn predrafted_files_title_and_description_as_they_are() {
    let (app, caller) = still().await;
    let mut args = talked(talk());
    args["predrafted"] = json!(true);

    let answer = caller.call("dispatch_ticket", args).await;

    assert_eq!(answer["ticket"]["title"], "Header");
    assert_eq!(app.column("SELECT description FROM tickets"), ["For nights."]);
    assert_eq!(app.column("SELECT count(*) || '' FROM ticket_conversations"), ["1"]);
}

#[tokio::test]
async fn the_kind_is_told_from_the_draft_unless_the_caller_says() {
    let (_app, caller) = still().await;
    let broken = said(&[("user", "Please fix the login on phones.")]);
    let mut told = talked(said(&[("user", "Please fix the search on phones.")]));
    told["kind"] = json!("refactor");

    let found = caller.dispatch(talked(broken)).await;
    let told = caller.dispatch(told).await;

    assert_eq!(
        (&found["title"], &found["kind"]),
        (&json!("Fix the login on phones"), &json!("fix"))
    );
    assert_eq!(told["kind"], "refactor");
}

#[tokio::test]
async fn the_same_conversation_twice_is_one_ticket_and_phases_in_it_are_split() {
    let (app, caller) = still().await;
    let phase = |n| format!("Phase {n}: do part {n}\nIn src/p{n}.rs.");
    let phases: Vec<String> = (1..=4).map(phase).collect();
    let phases = phases.join("\n");
    let large = said(&[("user", &format!("Please build the new shop in phases.\n\n{phases}"))]);

    let first = caller.call("dispatch_ticket", talked(talk())).await;
    let again = caller.call("dispatch_ticket", talked(talk())).await;
    let chain = caller.call("dispatch_ticket", talked(large)).await;

    assert_eq!(again["duplicate"]["existing_job_id"], first["ticket"]["id"]);
    assert_eq!(chain["chain"].as_array().unwrap().len(), 4, "{chain}");
    assert_eq!(app.column("SELECT count(*) || '' FROM ticket_conversations"), ["2"]);
}

#[tokio::test]
async fn no_secret_of_a_conversation_is_kept() {
    let (app, caller) = still().await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let told = said(&[("user", &format!("Please use the token {secret} to add a release job."))]);

    let answer = caller.call("dispatch_ticket", talked(told)).await;

    let rows = "SELECT title || description FROM tickets UNION ALL \
                SELECT turns FROM ticket_conversations";
    let kept = app.column(rows);
    assert_eq!(kept.len(), 2);
    assert!(!kept.concat().contains(secret) && !answer.to_string().contains(secret), "{kept:?}");
}

#[tokio::test]
async fn a_conversation_is_bounded_and_each_problem_has_its_place() {
    let (_app, caller) = still().await;
    let x = |n: usize| "x ".repeat(n / 2);
    for (conversation, path, says) in [
        (json!([{ "role": "robot", "content": "x" }]), "conversation[0].role", "none of"),
        (json!([{ "role": "user" }]), "conversation[0].content", "missing"),
        (said(&vec![("user", "x"); 201]), "conversation", "200"),
        (said(&[("user", &x(20_002))]), "conversation[0].content", "20000"),
        (said(&vec![("user", &*x(20_000)); 11]), "conversation", "220000 characters"),
        (json!("talk"), "conversation", "an array"),
    ] {
        let refusal = caller.refusal("dispatch_ticket", talked(conversation)).await;

        assert_eq!(refusal.code, "INVALID_ARGUMENT");
        assert_eq!(refusal.paths, [path], "{refusal:?}");
        assert!(refusal.message.contains(says), "{refusal:?}");
    }
}
