//! Secrets that turn up where they should not: none is shown, and none is kept.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::House;

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

/// Where the server's own log goes.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
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
    let log = Written::default();
    let sink = log.clone();
    let logging = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(move || sink.clone())
        .finish();
    let logging = tracing::subscriber::set_default(logging);
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
    seen.push(("log".to_owned(), String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned()));

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
