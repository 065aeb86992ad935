//! `assay mcp`: for clients that only speak MCP over standard input and output. Each message goes
//! to a server as it is, and each answer comes back as one line. Nothing else is ever printed
//! there.

use std::io::IsTerminal;

use anyhow::Context;
use clap::Args;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, stdin, stdout};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::output;
use crate::base::text;

/// Bytes of a message at most; what the server takes.
const MESSAGE_MAX: usize = 4 << 20;

/// Calls that are under way at once at most.
const CALLS_MAX: usize = 64;

/// The flags of `assay mcp`.
#[derive(Debug, Args)]
pub(super) struct BridgeArgs {
    /// The server, such as `http://127.0.0.1:7171`
    #[arg(long, env = "ASSAY_URL", value_parser = server_url)]
    url: String,
    /// The key
    #[arg(long, env = "ASSAY_KEY", hide_env_values = true)]
    key: String,
}

/// An address that can be asked at all, so that a client that starts this hears of a slip at once.
fn server_url(text: &str) -> Result<String, &'static str> {
    const EXPECTED: &str = "expected the server's address, such as http://127.0.0.1:7171";
    let url = reqwest::Url::parse(text.trim()).map_err(|_| EXPECTED)?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(EXPECTED);
    }
    Ok(text.trim().to_owned())
}

/// Carries messages until standard input ends.
pub(super) fn run(args: &BridgeArgs) -> anyhow::Result<()> {
    if std::io::stdin().is_terminal() {
        output::note("This speaks MCP on standard input and output; a client should start it.");
    }
    let bridge = Bridge::new(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(bridge.carry())
}

#[derive(Clone)]
struct Bridge {
    client: reqwest::Client,
    url: String,
}

impl Bridge {
    fn new(args: &BridgeArgs) -> anyhow::Result<Self> {
        // Another part of the process may have chosen one already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut headers = HeaderMap::new();
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", args.key.trim()))
            .context("the key holds characters that no key has")?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let client = reqwest::Client::builder().default_headers(headers).build()?;
        let base = args.url.trim().trim_end_matches('/');
        let url = if base.ends_with("/mcp") { base.to_owned() } else { format!("{base}/mcp") };
        Ok(Self { client, url })
    }

    async fn carry(self) -> anyhow::Result<()> {
        let (answers, mut waiting) = mpsc::channel::<String>(CALLS_MAX);
        let printing = tokio::spawn(async move {
            let mut out = stdout();
            while let Some(line) = waiting.recv().await {
                out.write_all(line.as_bytes()).await?;
                out.write_all(b"\n").await?;
                out.flush().await?;
            }
            Ok::<(), std::io::Error>(())
        });
        let mut lines = BufReader::new(stdin()).lines();
        let mut calls = JoinSet::new();
        while let Some(line) = lines.next_line().await? {
            if line.trim().is_empty() {
                continue;
            }
            if calls.len() >= CALLS_MAX {
                calls.join_next().await;
            }
            let (bridge, answers) = (self.clone(), answers.clone());
            calls.spawn(async move { bridge.send(line, answers).await });
        }
        while calls.join_next().await.is_some() {}
        drop(answers);
        Ok(printing.await??)
    }

    /// Sends one message and passes its answers on. What fails is said as an answer too.
    async fn send(&self, message: String, answers: mpsc::Sender<String>) {
        let asked: Value = serde_json::from_str(&message).unwrap_or(Value::Null);
        let id = asked.get("id").cloned();
        if let Err(error) = self.post(message, &asked, &answers).await {
            // A notification has no answer, not even this one.
            if let Some(id) = id {
                let said = format!("The server at {} cannot be reached: {error:#}.", self.url);
                let error = json!({ "code": -32000, "message": text::cut(&said, 1_000) });
                let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
                drop(answers.send(answer.to_string()).await);
            }
        }
    }

    async fn post(
        &self,
        message: String,
        asked: &Value,
        answers: &mpsc::Sender<String>,
    ) -> anyhow::Result<()> {
        anyhow::ensure!(message.len() <= MESSAGE_MAX, "the message is larger than 4 MiB");
        let mut request = self.client.post(&self.url).body(message);
        for (name, value) in era_headers(asked) {
            request = request.header(name, value);
        }
        let response = request.send().await?;
        let streams = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if streams {
            return relay(response, answers).await;
        }
        let body = response.text().await?;
        if let Ok(answer) = serde_json::from_str::<Value>(&body) {
            drop(answers.send(answer.to_string()).await);
        } else {
            anyhow::ensure!(body.trim().is_empty(), "its answer is no JSON");
        }
        Ok(())
    }
}

/// The headers that the era of 2026-07-28 wants beside the message, from the message itself.
fn era_headers(asked: &Value) -> Vec<(&'static str, String)> {
    let meta = |name: &str| asked.pointer("/params/_meta").and_then(|meta| meta.get(name));
    let Some(version) = meta("io.modelcontextprotocol/protocolVersion").and_then(Value::as_str)
    else {
        return Vec::new();
    };
    let mut headers = vec![("mcp-protocol-version", version.to_owned())];
    if let Some(method) = asked.get("method").and_then(Value::as_str) {
        headers.push(("mcp-method", method.to_owned()));
    }
    let name = asked.pointer("/params/name").or_else(|| asked.pointer("/params/uri"));
    if let Some(name) = name.and_then(Value::as_str) {
        headers.push(("mcp-name", name.to_owned()));
    }
    headers
}

/// Passes the data of each event of a stream on, a line an event.
async fn relay(response: reqwest::Response, answers: &mpsc::Sender<String>) -> anyhow::Result<()> {
    let mut chunks = response.bytes_stream();
    let mut buffer = Vec::new();
    let mut data = String::new();
    while let Some(chunk) = chunks.next().await {
        buffer.extend_from_slice(&chunk?);
        anyhow::ensure!(buffer.len() <= 64 << 20, "an event is larger than 64 MiB");
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = buffer.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(part) = line.strip_prefix("data:") {
                data.push_str(part.strip_prefix(' ').unwrap_or(part));
            } else if line.is_empty() && !data.is_empty() {
                drop(answers.send(std::mem::take(&mut data)).await);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_address_is_one_of_http() {
        for text in ["notaurl", "127.0.0.1:7171", "ftp://a", "localhost:7171", "http://", ""] {
            assert!(server_url(text).is_err(), "{text}");
        }
        for text in ["http://127.0.0.1:7171", "https://assay.example/x/mcp"] {
            assert!(server_url(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_message_of_the_stateless_era_gets_its_headers() {
        let asked = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "get_ticket", "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }
        });

        let headers = era_headers(&asked);

        assert_eq!(headers[0], ("mcp-protocol-version", "2026-07-28".to_owned()));
        assert_eq!(headers[1].1, "tools/call");
        assert_eq!(headers[2].1, "get_ticket");
        assert!(era_headers(&json!({ "method": "initialize", "params": {} })).is_empty());
    }
}
