//! `assay serve`: the server.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::demo::{self, Demo};
use super::output;
use crate::app::{App, Opening};
use crate::base::{Clock, Code, Entropy, Fault, NextAction};
use crate::config::{self, Config, ServeArgs};
use crate::web::{dashboard, serve};

/// Runs the server until it is told to stop.
pub(super) fn run(args: ServeArgs) -> anyhow::Result<()> {
    let config = Config::new(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(&config));
    // What still blocks a thread, such as a read of a slow disk, is not waited for.
    runtime.shutdown_background();
    served
}

async fn serve(config: &Config) -> anyhow::Result<()> {
    let shutdown = stop_on_signals()?;
    let assay = std::env::current_exe().context("this program's own path is unknown")?;
    let opening = |listen: SocketAddr| Opening {
        data: config.data.clone(),
        listen,
        public_url: config.public_url.as_ref().map(ToString::to_string),
        allowed_hosts: config.allowed_hosts.clone(),
        mail: config.mail.clone(),
        rate_limit: config.rate_limit,
        assay: assay.clone(),
        clock: Clock::system(),
        entropy: Entropy::system(),
    };
    // With port 0 the system chooses, and the app must know what; otherwise the data directory is
    // taken first, so that a second server on it hears of that and not of the port.
    let (app, listener) = if config.listen.port() == 0 {
        let listener = listen(config).await?;
        (App::open(opening(listener.local_addr()?))?, listener)
    } else {
        (App::open(opening(config.listen))?, listen(config).await?)
    };
    let app = match config.trusted_proxies.as_slice() {
        [] => app,
        proxies => app.behind(proxies.to_vec()),
    };
    let app = match &config.model {
        None => app,
        Some(endpoint) => app.drafting_with(endpoint.clone())?,
    };
    let app = if config.open_metrics { app.with_open_metrics() } else { app };
    serve::raise_file_limit();
    let demo = if config.demo { Some(demo::make(&app, &assay).await?) } else { None };
    greet(&app, &config.data, demo.as_ref()).await?;
    app.serve(listener, shutdown).await;
    output::note("Stopped. What was under way goes on at the next start.");
    Ok(())
}

async fn listen(config: &Config) -> Result<TcpListener, Fault> {
    let (address, data) = (config.listen, config::data_flag(&config.data));
    TcpListener::bind(address).await.map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::AddrInUse => "another program listens there",
            io::ErrorKind::PermissionDenied => "this user may not listen there",
            io::ErrorKind::AddrNotAvailable => "this machine has no such address",
            _ => "the system refuses",
        };
        Fault::new(Code::Unavailable, format!("Cannot listen on {address}: {why}."))
            .because(error)
            .next(NextAction::Run(format!("assay serve --listen 127.0.0.1:0{data}")))
    })
}

/// A token that SIGTERM or Ctrl-C cancels. A second one ends the process at once.
fn stop_on_signals() -> anyhow::Result<CancellationToken> {
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let token = CancellationToken::new();
    let stop = token.clone();
    tokio::spawn(async move {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        tracing::info!("Stopping: requests finish, jobs are handed back. Once more ends at once.");
        stop.cancel();
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        end_at_once();
    });
    Ok(token)
}

#[expect(clippy::exit, reason = "somebody asked twice; everything durable is on disk already")]
fn end_at_once() {
    std::process::exit(130);
}

/// What the terminal says at the start: where, how to get in, how to connect.
async fn greet(app: &App, data: &Path, demo: Option<&Demo>) -> anyhow::Result<()> {
    let url = app.base_url();
    output::line(&format!("Assay {} is at {url}", env!("CARGO_PKG_VERSION")))?;
    if let Some(link) = app.setup_link().await? {
        output::line("")?;
        output::line("Nobody has a login yet. Open this link once to make the first one:")?;
        output::line(&format!("  {link}"))?;
        if demo.is_none() {
            output::line("")?;
            output::line("Make a key for your agent, in another terminal:")?;
            let data = config::data_flag(data);
            output::line(&format!("  assay key create --scope mcp_full --name my-agent{data}"))?;
            output::line("")?;
            output::line("and connect a client, with the key in place of YOUR_KEY:")?;
            clients(url, "YOUR_KEY")?;
        }
    }
    if let Some(demo) = demo {
        output::line("")?;
        output::line(&format!("The demonstration works on {}", demo.repository.display()))?;
        output::line(&format!("Its key is {}", demo.key.reveal()))?;
        output::line("")?;
        output::line("Connect a client:")?;
        clients(url, demo.key.reveal())?;
    }
    output::line("")?;
    output::line("Ctrl-C stops the server; what is under way goes on at the next start.")?;
    Ok(())
}

fn clients(url: &str, key: &str) -> anyhow::Result<()> {
    for client in dashboard::client_configurations(url, key) {
        output::line("")?;
        output::line(&format!("  {}. {}", client.name, client.where_to))?;
        for line in client.text.lines() {
            output::line(&format!("    {line}"))?;
        }
    }
    Ok(())
}
