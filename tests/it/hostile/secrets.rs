//! Secrets that turn up where they should not: none is shown, and none is kept.
//! A secret that a person gave is held to the same, however its agent writes it.

use std::path::Path;

use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{Method, StatusCode, header};
use serde_json::json;

use super::{FORM, House, request};
use crate::harness::Written;
use crate::pipeline::secrets::hex;

/// A token of the form that a well-known host gives out, made for this test.
fn token(letter: char) -> String {
    format!("ghp_{}", letter.to_string().repeat(36))
}

/// One line of a private key, which only the line before all of them gives away.
const KEY_LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

/// How much of a token is printed before its colour begins.
const HALF: usize = 20;

/// An agent that gives away a token in every way there is.
fn script(tokens: [&String; 7]) -> String {
    let [out, coloured, asked, summary, listed, found, reason] = tokens;
    let (half, rest) = coloured.split_at(HALF);
    format!(
        r#"echo 'token {out}'; echo "key $ASSAY_KEY" >&2
        printf 'grep: {half}\033[01;31m{rest}\033[m\n'
        printf -- '-----BEGIN PRIVATE KEY-----\n{KEY_LINE}\n'
        printf -- '{KEY_LINE}\n-----END PRIVATE KEY-----\n'
        if is plan && once asked; then
            report '{{"outcome":"needs_input","question":{{"text":"Is it {asked}?"}}}}'
            exit 0
        fi
        if is implement; then echo 'the end {reason}'; exit 3; fi
        report '{{"outcome":"done","summary":"Used {summary}","followUps":["{listed}"],
            "findings":[{{"text":"{found}","severity":"advisory"}}]}}'"#
    )
}

/// All bytes of all files of a folder, but for those of git.
fn bytes_in(folder: &Path, all: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            bytes_in(&path, all);
        } else if let Ok(bytes) = std::fs::read(&path) {
            all.push((path.display().to_string(), bytes));
        }
    }
}

#[tokio::test]
async fn no_secret_that_an_agent_prints_reports_or_asks_is_shown_or_kept() {
    let (log, logging) = Written::take(tracing::Level::DEBUG);
    let [out, coloured, asked, summary, listed, found, reason] =
        ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map(token);
    let (_, rest) = coloured.split_at(HALF);
    let script = script([&out, &coloured, &asked, &summary, &listed, &found, &reason]);
    let house = House::at_work(&script).await;
    let title = token('H');
    let named = format!("Rotate {title} now");
    let ticket = json!({ "title": named, "description": title, "project": "ACME" });
    house.invoke("dispatch_ticket", &ticket).await;

    house.until("ACME-1", &["awaiting_input"]).await;
    let asking = house.read("/tickets/ACME-1").await.text();
    let mut seen = vec![("question".to_owned(), asking)];
    house.invoke("reply_ticket", &json!({ "ticket": "ACME-1", "message": "No." })).await;
    house.until("ACME-1", &["failed"]).await;
    seen.extend(house.pages_of("ACME-1").await);
    let one = json!({ "ticket": "ACME-1" });
    for tool in ["get_ticket", "get_ticket_graph", "get_ticket_reports", "list_tickets"] {
        let args = if tool == "list_tickets" { json!({}) } else { one.clone() };
        seen.push((tool.to_owned(), house.invoke(tool, &args).await.to_string()));
    }
    let uri = json!({ "uri": "assay://tickets/ACME-1" });
    let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": uri });
    seen.push(("resource".to_owned(), house.post("/mcp", read.to_string()).await.text()));
    let wrong = house.read(&format!("/tickets/{title}")).await;
    seen.push(("error".to_owned(), wrong.text()));
    let wrong = house.invoke("get_ticket", &json!({ "ticket": title })).await;
    seen.push(("fault".to_owned(), wrong.to_string()));
    drop(logging);
    seen.push(("log".to_owned(), log.text()));

    let planted = [&out, &coloured, &asked, &summary, &listed, &found, &reason];
    for (place, text) in &seen {
        for secret in planted.into_iter().chain([&title]) {
            assert!(!text.contains(secret.as_str()), "{place} shows {secret}: {text}");
        }
        assert!(!text.contains(rest), "{place} shows half of a secret");
        assert!(!text.contains(KEY_LINE), "{place} shows a private key");
        assert!(!text.contains("key alch_"), "{place} shows the agent's own key");
    }
    let shown = seen.iter().filter(|(_, text)| text.contains("[redacted]")).count();
    assert!(shown >= 5, "what was taken out is marked: {shown}");
    let mut kept = Vec::new();
    bytes_in(&house.dir.path().join("data"), &mut kept);
    for (place, bytes) in kept {
        for secret in planted {
            let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_there, "{place} keeps {secret}");
        }
    }
}

/// A secret of no known form, so that nothing but its value gives it away.
const GIVEN: &str = "Zu/gvogel+4711 ~aus";

/// An agent that gives a secret away in every way it knows, once it has it. What it commits is in a
/// cipher of its own, for as it is it would not land.
const GIVES_AWAY: &str = r#"if is implement; then
    if [ -z "$WEBHOOK_SECRET" ]; then report '{"outcome":"needs_input",
        "question":{"text":"What signs it?","secret":"WEBHOOK_SECRET"}}'; exit 0; fi
    echo "it is $WEBHOOK_SECRET"; env >&2; env | base64 -w 0; echo
    printf %s "$WEBHOOK_SECRET" | base64; printf 'u:%s' "$WEBHOOK_SECRET" | base64
    printf %s "$WEBHOOK_SECRET" | od -An -v -tx1 | tr -d ' \n'; echo
    echo 'at https://x.test/?a=Zu%2Fgvogel%2B4711%20~aus&b=1'
    echo "$ASSAY_KEY" >"$STAGE/key.part"; mv "$STAGE/key.part" "$STAGE/key"; await go
    echo "$WEBHOOK_SECRET" | tr a-z n-za-m >done.txt
    report "{\"outcome\":\"done\",\"summary\":\"Used $WEBHOOK_SECRET\",
        \"followUps\":[\"$WEBHOOK_SECRET\"],\"humanActions\":[\"Rotate $WEBHOOK_SECRET\"]}"
fi
if is contract; then report '{"outcome":"done","assertions":[
    {"text":"It is shown","check":{"command":"tr a-z n-za-m <done.txt"}}]}'; fi"#;

#[tokio::test]
async fn no_secret_that_a_person_gave_is_shown_or_kept_whatever_its_agent_does_with_it() {
    let (log, logging) = Written::take(tracing::Level::TRACE);
    let house = House::at_work(GIVES_AWAY).await;
    let one = json!({ "ticket": "ACME-1" });
    let ticket = json!({ "title": "Wire the webhook", "project": "ACME", "preset": "trivial" });
    house.invoke("dispatch_ticket", &ticket).await;
    house.until("ACME-1", &["awaiting_input"]).await;
    let refused = json!({ "ticket": "ACME-1", "message": GIVEN });
    let refused = house.invoke("reply_ticket", &refused).await;
    assert_eq!(refused["nextActions"][0]["tool"], "create_secret_link", "{refused}");
    let mut seen = vec![("refusal".to_owned(), refused.to_string())];

    let made = house.invoke("create_secret_link", &one).await;
    let url = made["data"]["url"].as_str().unwrap();
    let path = url.strip_prefix("http://127.0.0.1:7171").unwrap();
    let page = house.read(path).await;
    let cookie = page.header(header::SET_COOKIE).split(';').next().unwrap().to_owned();
    let form = format!(
        "csrf={}&value={}",
        page.text().split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap(),
        assay::web::page::in_query(GIVEN)
    );
    let sent = request(Method::POST, path)
        .header(header::COOKIE, format!("{}; {cookie}", house.cookie))
        .header(header::CONTENT_TYPE, FORM);
    let taken = house.send(sent.body(Body::from(form)).unwrap()).await;
    assert_eq!(taken.status, StatusCode::OK, "{}", taken.text());
    seen.push(("taken".to_owned(), taken.text()));
    let given = house.column("SELECT actor FROM audit WHERE action = 'give_secret'");
    assert_eq!(given, ["user ada@example.com"], "a member who is signed in is named");

    by_its_own_key(&house, &mut seen).await;
    std::fs::write(house.dir.path().canonicalize().unwrap().join("go"), "").unwrap();
    house.until("ACME-1", &["succeeded", "failed"]).await;
    seen.extend(house.pages_of("ACME-1").await);
    for tool in ["get_ticket", "get_ticket_graph", "get_ticket_reports", "list_tickets"] {
        let args = if tool == "list_tickets" { json!({}) } else { one.clone() };
        seen.push((tool.to_owned(), house.invoke(tool, &args).await.to_string()));
    }
    let found = house.invoke("search_tickets", &json!({ "query": "gvogel" })).await;
    assert_eq!(found["data"]["tickets"], json!([]), "{found}");
    drop(logging);
    seen.push(("log".to_owned(), log.text()));

    let forms = forms_of(GIVEN);
    for (place, text) in &seen {
        for form in &forms {
            assert!(!text.contains(form), "{place} shows {form}: {text}");
        }
    }
    let shown = seen.iter().filter(|(_, text)| text.contains("[redacted]")).count();
    assert!(shown >= 4, "what was taken out is marked: {shown}");
    let link = path.rsplit('/').next().unwrap().to_owned();
    let mut kept = Vec::new();
    bytes_in(&house.dir.path().join("data"), &mut kept);
    assert!(kept.iter().any(|(place, _)| place.ends_with("secrets.key")));
    for (place, bytes) in kept {
        for form in forms.iter().chain([&link]) {
            let is_there = bytes.windows(form.len()).any(|window| window == form.as_bytes());
            assert!(!is_there, "{place} keeps {form}");
        }
    }
    assert_eq!(house.column("SELECT name FROM ticket_secrets"), Vec::<String>::new());
}

/// What the agent could do with its own key while it runs.
async fn by_its_own_key(house: &House, seen: &mut Vec<(String, String)>) {
    let key = house.dir.path().canonicalize().unwrap().join("key");
    while !key.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let key = std::fs::read_to_string(key).unwrap();
    let said = format!("It is {GIVEN}.");
    for (tool, args) in [
        ("attach_evidence", json!({ "claim": said, "label": GIVEN, "text": said })),
        ("file_child_ticket", json!({ "title": said, "description": said })),
        ("ask_person", json!({ "question": said, "choices": [GIVEN, "none"] })),
    ] {
        let body = json!({ "tool": tool, "args": args }).to_string();
        let sent = request(Method::POST, "/api/mcp/v1/invoke")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {}", key.trim()));
        let answer = house.send(sent.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        seen.push((tool.to_owned(), answer.text()));
    }
}

/// The value, and how it may be written.
fn forms_of(value: &str) -> Vec<String> {
    let hex = hex(value.as_bytes());
    let base64 = |text: String| STANDARD.encode(text)[4..24].to_owned();
    let percent = assay::web::page::in_query(value);
    let written = vec![base64(value.to_owned()), base64(format!("u:{value}")), hex, percent];
    [vec![value.to_owned()], written].concat()
}
