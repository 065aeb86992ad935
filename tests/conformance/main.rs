//! The server that the official conformance suite of MCP is run against: the suite's own tools,
//! resources and prompts behind the product's transport, its guard of hosts and its listener. So
//! what the suite finds is true of the door that people use, without a fixture in the product.
//!
//! The suite has no way to send a key, so none is asked for, and the server listens on loopback
//! alone. Its older scenarios ask the client back, for which sessions are kept at `/mcp`; at
//! `/as-served/mcp` none are, as in the product.
//!
//! `cargo run --example conformance` listens on a free port and says where.

mod asked;
mod content;
mod handler;
mod listed;
mod prompts;
mod resources;
mod rounds;

use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::Arc;

use assay::web::host::{self, Hosts};
use assay::web::mcp::{Sessions, Transport};
use assay::web::serve;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::any;
use handler::Fixtures;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

type Door = Transport<Fixtures>;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let here = listener.local_addr()?;
    let hosts = Arc::new(Hosts::new(None, &[], here));
    let mcp = |sessions| {
        let door = Door::new(Fixtures::default(), sessions);
        Router::new().route("/mcp", any(enter)).with_state(Arc::new(door))
    };
    let router = mcp(Sessions::Kept)
        .nest("/as-served", mcp(Sessions::Off))
        .layer(from_fn_with_state(hosts, host::guard));
    writeln!(std::io::stdout(), "The fixtures are at http://{here}/mcp")?;
    let shutdown = CancellationToken::new();
    let signal = shutdown.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            signal.cancel();
        }
    });
    serve::serve(listener, router, shutdown).await;
    Ok(())
}

async fn enter(State(door): State<Arc<Door>>, request: Request<Body>) -> Response {
    door.open(request).await
}
