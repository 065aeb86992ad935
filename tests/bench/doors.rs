//! Reading over both doors.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::house::{House, Server, program};
use crate::load::{self, Requests};
use crate::table::{Figures, Row, millis, rate};
use crate::{Bench, say};

const CONNECTIONS: usize = 32;

/// Tickets in the database that is read from.
const TICKETS: u32 = 100_000;

/// Different tickets that are asked for, spread over all.
const ASKED: u32 = 2_000;

const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
const LEGACY: (&str, &str) = ("MCP-Protocol-Version", "2025-11-25");
const MODERN: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");

/// What the newer era says with each request.
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {}}"#;

/// One side of a comparison.
struct Side {
    address: SocketAddr,
    requests: Requests,
}

/// `get_ticket` at the invoke door and over MCP in both eras.
pub(crate) async fn measure(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    if !bench.wants("get_ticket over invoke MCP 2025-11-25 2026-07-28") {
        return Ok(());
    }
    say("Making a database of 100,000 tickets");
    let house = House::new(&bench.assay).await?;
    house.multiply(TICKETS, true)?;
    let server = house.serve(&[])?;
    server.settle()?;
    let refs: Vec<String> =
        (0..ASKED).map(|n| format!("ACME-{}", 101 + n * (TICKETS / ASKED))).collect();

    let invoke = side(
        &server,
        refs.iter().map(|name| house.invoke("get_ticket", &format!(r#"{{"ticket": "{name}"}}"#))),
    );
    let bare = peer("axum")?;
    let body = r#"{"tool": "get_ticket", "args": {"ticket": "ACME-1"}}"#;
    let bare_side = side(&bare, [load::post("/", &[], body)]);
    compare(
        bench,
        rows,
        Comparison {
            what: "`get_ticket` over invoke, 100,000 tickets, 32 connections",
            against: "a bare axum handler",
            least: 0.25,
            ours: &invoke,
            peer: &bare_side,
        },
    )
    .await?;
    drop(bare);

    protocol(bench, rows, &house, &server, &refs).await
}

/// The same over MCP, in both eras.
async fn protocol(
    bench: &Bench,
    rows: &mut Vec<Row>,
    house: &House,
    server: &Server,
    refs: &[String],
) -> anyhow::Result<()> {
    let library = peer("rmcp")?;
    for (era, names) in [
        (
            LEGACY,
            ["`get_ticket` over MCP, 2025-11-25", "`get_ticket` over MCP, 2025-11-25, once more"],
        ),
        (
            MODERN,
            ["`get_ticket` over MCP, 2026-07-28", "`get_ticket` over MCP, 2026-07-28, once more"],
        ),
    ] {
        let ours = refs.iter().map(|name| {
            let args = format!(r#"{{"ticket": "{name}"}}"#);
            call("/mcp", era, Some(&house.key), "get_ticket", &args)
        });
        let ours = side(server, ours);
        let add = call("/", era, None, "add", r#"{"a": 1, "b": 2}"#);
        compare(
            bench,
            rows,
            Comparison {
                what: names[0],
                against: "the trivial tool of an `rmcp` server",
                least: 0.6,
                ours: &ours,
                peer: &side(&library, [add]),
            },
        )
        .await?;
        let Some((node, script)) = &bench.script else {
            say("There is no node, so the TypeScript SDK is not compared with");
            continue;
        };
        let sdk = Server::start(program(node).arg(script))?;
        let add = call("/mcp", LEGACY, None, "add", r#"{"a": 1, "b": 2}"#);
        compare(
            bench,
            rows,
            Comparison {
                what: names[1],
                against: "the trivial tool of a TypeScript SDK server",
                least: 5.0,
                ours: &ours,
                peer: &side(&sdk, [add]),
            },
        )
        .await?;
    }
    Ok(())
}

/// A `tools/call`.
fn call(path: &str, era: (&str, &str), key: Option<&str>, tool: &str, args: &str) -> Vec<u8> {
    let bearer = key.map(|key| format!("Bearer {key}"));
    let mut headers = vec![BOTH, era];
    headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
    let mut meta = String::new();
    if era == MODERN {
        headers.extend([("Mcp-Method", "tools/call"), ("Mcp-Name", tool)]);
        meta = format!(r#", "_meta": {META}"#);
    }
    let body = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {{"name": "{tool}", "arguments": {args}{meta}}}}}"#
    );
    load::post(path, &headers, &body)
}

fn side(server: &Server, requests: impl IntoIterator<Item = Vec<u8>>) -> Side {
    Side { address: server.address, requests: Arc::new(requests.into_iter().collect()) }
}

fn peer(name: &str) -> anyhow::Result<Server> {
    Server::start(program(&std::env::current_exe()?).args(["peer", name]))
}

struct Comparison<'a> {
    what: &'static str,
    against: &'static str,
    /// The least share of the peer's rate that is promised.
    least: f64,
    ours: &'a Side,
    peer: &'a Side,
}

/// Measures two sides in turn, and compares the rates of each round.
async fn compare(bench: &Bench, rows: &mut Vec<Row>, of: Comparison<'_>) -> anyhow::Result<()> {
    if !bench.wants(of.what) {
        return Ok(());
    }
    say(&format!("{} against {}", of.what, of.against));
    for side in [of.ours, of.peer] {
        check(side).await?;
        load::run(side.address, &side.requests, CONNECTIONS, bench.time).await?;
    }
    let (mut ours, mut peer, mut ratio, mut slow) =
        (Figures::default(), Figures::default(), Figures::default(), Figures::default());
    for _ in 0..bench.rounds {
        let mine = load::run(of.ours.address, &of.ours.requests, CONNECTIONS, bench.time).await?;
        let its = load::run(of.peer.address, &of.peer.requests, CONNECTIONS, bench.time).await?;
        ours.push(mine.rate());
        peer.push(its.rate());
        ratio.push(mine.rate() / its.rate());
        slow.push(mine.percentile(99));
    }
    rows.push(Row {
        what: of.what,
        ours: format!("{}, p99 {}", ours.shown(rate), millis(slow.median())),
        peer: format!("{}: {}", of.against, peer.shown(rate)),
        promise: format!("{} of it: {}", of.least, ratio.shown(|figure| format!("{figure:.2}"))),
        kept: ratio.median() >= of.least,
    });
    Ok(())
}

/// An answer that is counted must be the right one.
async fn check(side: &Side) -> anyhow::Result<()> {
    let answer = load::once(side.address, &side.requests[0]).await?;
    let said: Value = serde_json::from_slice(&answer.body)?;
    let well = said["ok"] == true || said["result"]["structuredContent"].is_object();
    ensure!(well, "an answer that is no success: {said}");
    Ok(())
}

/// `list_tickets` with every filter, in a small and in a large database.
pub(crate) async fn lists(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    const WHAT: &str = "`list_tickets`, 20 of 1,000,000, any filter, p99";
    if !bench.wants(WHAT) {
        return Ok(());
    }
    let mut of = Vec::new();
    for count in [1_000, bench.many] {
        say(&format!("Making a database of {count} tickets"));
        of.push(filled(&bench.assay, count).await?);
    }
    say(WHAT);
    let (mut small, mut large, mut ratio) =
        (Figures::default(), Figures::default(), Figures::default());
    for round in 0..=bench.rounds {
        let mut slow = Vec::new();
        for (_, server, side) in &of {
            let ran = load::run(server.address, &side.requests, 1, bench.time).await?;
            slow.push(ran.percentile(99));
        }
        // The first round warms up.
        if round > 0 {
            small.push(slow[0]);
            large.push(slow[1]);
            ratio.push(slow[1] / slow[0]);
        }
    }
    rows.push(Row {
        what: WHAT,
        ours: large.shown(millis),
        peer: format!("the same with 1,000 tickets: {}", small.shown(millis)),
        promise: format!("under 5 times that: {}", ratio.shown(|figure| format!("{figure:.2}"))),
        kept: ratio.median() < 5.0,
    });
    Ok(())
}

async fn filled(assay: &Path, count: u32) -> anyhow::Result<(House, Server, Side)> {
    let house = House::new(assay).await?;
    house.multiply(count, false)?;
    let server = house.serve(&[])?;
    server.settle()?;
    let asked = house.invoke("get_ticket", r#"{"ticket": "ACME-1"}"#);
    let said: Value = serde_json::from_slice(&load::once(server.address, &asked).await?.body)?;
    let project = said["data"]["ticket"]["projectId"].as_str().context("a project")?.to_owned();
    let mut requests = Vec::new();
    for filter in [
        String::new(),
        r#", "status": "failed""#.to_owned(),
        r#", "status": "succeeded""#.to_owned(),
        r#", "status": "running""#.to_owned(),
        format!(r#", "project_id": "{project}""#),
        format!(r#", "project_id": "{project}", "status": "failed""#),
        format!(r#", "project_id": "{project}", "status": "queued""#),
        format!(r#", "project_id": "{project}", "category": "Pages""#),
        format!(r#", "project_id": "{project}", "category": "Pages", "status": "cancelled""#),
    ] {
        let request = house.invoke("list_tickets", &format!(r#"{{"limit": 20{filter}}}"#));
        let answer = load::once(server.address, &request).await?;
        let said: Value = serde_json::from_slice(&answer.body)?;
        ensure!(said["ok"] == true, "{said}");
        requests.push(request);
    }
    let side = side(&server, requests);
    Ok((house, server, side))
}
