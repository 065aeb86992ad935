//! What Assay is measured against, each in a process of its own as Assay is.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use axum::routing::{any_service, post};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Serves the peer of that name until it is killed; says its address on standard output.
pub(crate) fn serve(name: &str) -> anyhow::Result<()> {
    let router = match name {
        "axum" => Router::new().route("/", post(bare)),
        "rmcp" => Router::new().route("/", any_service(library())),
        _ => bail!("there is no peer {name:?}"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let address = listener.local_addr()?;
        writeln!(std::io::stdout(), "http://{address}")?;
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router).await.context("the peer stopped")
    })
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    args: Value,
}

#[derive(Serialize)]
struct Said {
    ok: bool,
    tool: String,
    data: Value,
}

/// The least that a JSON handler does: reads a document, writes one.
async fn bare(Json(call): Json<Call>) -> Json<Said> {
    Json(Said { ok: true, tool: call.tool, data: call.args })
}

/// A server of the protocol's own library, with a tool that adds two numbers.
fn library() -> StreamableHttpService<Adder, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    StreamableHttpService::new(|| Ok(Adder), Arc::new(NeverSessionManager::default()), config)
}

#[derive(Clone)]
struct Adder;

impl ServerHandler for Adder {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let number = |name: &str| given.get(name).and_then(Value::as_i64).unwrap_or_default();
        let sum = json!({ "sum": number("a") + number("b") });
        let mut result = CallToolResult::success(vec![ContentBlock::text(sum.to_string())]);
        result.structured_content = Some(sum);
        Ok(result.into())
    }
}

/// How many single rows a second one thread commits durably to a database of its own.
pub(crate) fn commits(folder: &Path, time: Duration) -> anyhow::Result<f64> {
    let path = folder.join("peer.db");
    let db = open(&path)?;
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, name TEXT, text TEXT) STRICT;
         CREATE INDEX IF NOT EXISTS rows_by_name ON rows (name);",
    )?;
    let mut insert = db.prepare("INSERT INTO rows (name, text) VALUES (?1, ?2)")?;
    let text = "x".repeat(300);
    let started = Instant::now();
    let mut done = 0_u32;
    while started.elapsed() < time {
        insert.execute((format!("row {done}"), &text))?;
        done += 1;
    }
    Ok(f64::from(done) / started.elapsed().as_secs_f64())
}

#[expect(clippy::disallowed_methods, reason = "the peer's database is its own")]
fn open(path: &Path) -> anyhow::Result<rusqlite::Connection> {
    Ok(rusqlite::Connection::open(path)?)
}
