//! Finding tickets among many by their words: those that ask for the same as a new one, and those
//! that somebody looks for.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use assay::accounts::tenants;
use assay::base::{Clock, Code, Fault, Id};
use assay::projects::{self, Project};
use assay::store::Tx;
use assay::tickets::dispatch::{self, Dispatch};
use assay::tickets::states::{PassProfile, Preset};
use assay::tickets::ticket::Requester;
use serde_json::{Value, json};

use crate::house::{House, Server, said};
use crate::load::{self, Requests};
use crate::table::{Figures, Row, millis};
use crate::writes::text;
use crate::{Bench, say};

/// Tickets of the project.
const TICKETS: u64 = 100_000;

/// Tickets of one transaction while they are filed.
const AT_ONCE: u64 = 1_000;

/// Time between two of them: 100,000 are filed in a little less than two years.
const APART: Duration = Duration::from_mins(10);

/// Every tenth ticket is one of a family: the same brief about another thing, as forms are filled.
/// A family shares most of its words, so that a new member meets many.
const FAMILIES: u64 = 20;

/// Different calls of one kind.
const CALLS: u64 = 2_000;

/// Checks of new briefs against 100,000 tickets of the project, and searches among them.
pub(crate) async fn measure(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    const CHECK: &str = "`dispatch_ticket`, near copy of one of the project's 100,000, answered";
    const SEARCH: &str = "`search_tickets` among 100,000, the slowest kind of search";
    if !bench.wants(CHECK) && !bench.wants(SEARCH) {
        return Ok(());
    }
    say("Filing 100,000 tickets");
    let house = House::new(&bench.assay).await?;
    house.hold_work()?;
    file(&house).await?;
    if bench.wants(CHECK) {
        say(CHECK);
        rows.push(copies(bench, &house, CHECK).await?);
    }
    if bench.wants(SEARCH) {
        say(SEARCH);
        finish(&house)?;
        rows.push(searches(bench, &house, SEARCH).await?);
    }
    Ok(())
}

/// The brief of a ticket.
fn brief(n: u64) -> (String, Vec<String>) {
    if !n.is_multiple_of(10) {
        return text(n);
    }
    let (form, sentences) = text(TICKETS + n / 10 % FAMILIES);
    let (own, _) = text(n);
    let thing = own.split(' ').next().unwrap_or_default();
    (format!("{form} {thing}"), sentences)
}

/// Files all tickets, as the product does it, by a clock that ends today.
async fn file(house: &House) -> anyhow::Result<()> {
    let clock = Clock::fake(Clock::system().now().minus(APART * u32::try_from(TICKETS)?));
    let db = house.db_at(clock.clone())?;
    let project = db.raw_column("SELECT hex(id) FROM projects WHERE key = 'ACME'").map_err(said)?;
    let project = Id::from_uuid(project[0].parse()?);
    for first in (0..TICKETS).step_by(usize::try_from(AT_ONCE)?) {
        let clock = clock.clone();
        let filed = db.write(move |tx| {
            let tenant = tenants::choose(tx, None)?;
            let tenant = tenant.ok_or_else(|| Fault::new(Code::NotFound, "no tenant"))?.id;
            let project = projects::find(tx, tenant, project)?;
            let project = project.ok_or_else(|| Fault::new(Code::NotFound, "no project"))?;
            (first..first + AT_ONCE).try_for_each(|n| file_one(tx, &project, n))
        });
        filed.await.map_err(said)?;
        clock.advance(APART * u32::try_from(AT_ONCE)?);
    }
    Ok(())
}

fn file_one(tx: &mut Tx<'_>, project: &Project, n: u64) -> Result<(), Fault> {
    let (title, sentences) = brief(n);
    let asked = Dispatch {
        title,
        description: sentences.join(" "),
        kind: None,
        preset: Preset::Auto,
        pass_profile: PassProfile::Minimal,
        depends_on: Vec::new(),
        depends_on_reason: None,
        requester: Requester::default(),
        category: None,
        operation_key: None,
        override_duplicate: true,
        no_split: true,
        predrafted: true,
        conversation: Vec::new(),
        by_model: None,
        replaces: None,
        seed_from_ref: None,
        attached: None,
        source: "bench".to_owned(),
        actor: "bench".to_owned(),
    };
    dispatch::dispatch(tx, project.tenant, project, &asked, None).map(drop)
}

/// Copies of tickets, their sentences in another order and a word left out: all are answered with
/// the ticket that is there, so what a call takes is the check and the way to it.
async fn copies(bench: &Bench, house: &House, what: &'static str) -> anyhow::Result<Row> {
    let server = house.serve(&[])?;
    server.settle()?;
    let copy = |n: u64| {
        // Every tenth is a copy of one of the newest of its family.
        let own = n * (TICKETS / CALLS) + n % 10;
        let of = if own.is_multiple_of(10) { TICKETS - 10 * (1 + n / 10) } else { own };
        let (title, mut sentences) = brief(of);
        sentences.rotate_left(1);
        let left_out = sentences[0].find(' ').map_or(0, |at| at + 1);
        sentences[0].drain(..left_out);
        let args = json!({ "title": title, "project": "ACME", "pass_profile": "minimal",
                           "no_split": true, "description": sentences.join(" ") });
        house.invoke("dispatch_ticket", &args.to_string())
    };
    let requests: Requests = Arc::new((0..CALLS).map(copy).collect());
    for request in requests.iter().take(20) {
        let said = answer(&server, request).await?;
        let source = &said["data"]["duplicate"]["source"];
        ensure!(source == "near_duplicate", "a copy is not known: {said}");
    }
    let (middle, slow) = rounds(bench, &server, &requests).await?;
    let there = house.db()?.raw_column("SELECT count(*) || '' FROM tickets").map_err(said)?;
    // Beside those of the demonstration.
    ensure!(there == [(TICKETS + 3).to_string()], "copies were filed: {there:?}");
    Ok(Row {
        what,
        ours: format!("{}, p99 {}", middle.shown(millis), slow.shown(millis)),
        peer: String::new(),
        promise: "the check alone under 10 ms; here p99 of the whole call".to_owned(),
        kept: slow.median() < 10.0,
    })
}

/// Lets most tickets have ended, as they have in a house of that age.
fn finish(house: &House) -> anyhow::Result<()> {
    let ended = "UPDATE jobs SET state = 'cancelled', finished_at = 1
            WHERE kind = 'run_node' AND state = 'ready';
        UPDATE tickets SET started_at = created_at + 60000,
            completed_at = created_at + 3600000 * (1 + n % 48), graph_status = 'succeeded',
            status = CASE WHEN n % 20 = 0 THEN 'failed' ELSE 'succeeded' END
        WHERE status = 'queued' AND n % 100 <> 7 AND n % 5000 <> 8;
        UPDATE tickets SET status = 'awaiting_input' WHERE status = 'queued' AND n % 5000 = 8;";
    house.db()?.raw(ended).map_err(said)
}

/// Every kind of search, each with many words or dates. The slowest counts.
async fn searches(bench: &Bench, house: &House, what: &'static str) -> anyhow::Result<Row> {
    let server = house.serve(&[])?;
    // The first search finds the newest tickets too.
    answer(&server, &house.invoke("search_tickets", "{}")).await?;
    server.settle()?;
    let mut worst: Option<(&str, Figures, Figures)> = None;
    for (kind, calls) in kinds(house, &server).await? {
        let (middle, slow) = rounds(bench, &server, &Arc::new(calls)).await?;
        say(&format!("{kind}: {}, p99 {}", middle.shown(millis), slow.shown(millis)));
        if worst.as_ref().is_none_or(|(_, _, worst)| worst.median() < slow.median()) {
            worst = Some((kind, middle, slow));
        }
    }
    let (kind, middle, slow) = worst.context("there is a kind")?;
    Ok(Row {
        what,
        ours: format!("{kind}: {}, p99 {}", middle.shown(millis), slow.shown(millis)),
        peer: String::new(),
        promise: "p99 under 20 ms".to_owned(),
        kept: slow.median() < 20.0,
    })
}

type Kind = (&'static str, Vec<Vec<u8>>);

async fn kinds(house: &House, server: &Server) -> anyhow::Result<Vec<Kind>> {
    let call = |args: &Value| house.invoke("search_tickets", &args.to_string());
    let calls = |args: &dyn Fn(u64) -> Value| (0..CALLS).map(|n| call(&args(n))).collect();
    let word = |n: u64, at: usize| {
        let (title, _) = text(n * (TICKETS / CALLS) + 1);
        title.split(' ').nth(at).unwrap_or_default().to_owned()
    };
    let now = Clock::system().now();
    let day = |n: u64| {
        let at = now.minus(Duration::from_hours(24 * (1 + n * 680 / CALLS)));
        at.iso().chars().take(10).collect::<String>()
    };
    let pages = pages(house, server, &day(CALLS / 2)).await?;
    Ok(vec![
        ("two words", calls(&|n| json!({ "query": format!("{} {}", word(n, 0), word(n, 3)) }))),
        ("a word", calls(&|n| json!({ "query": word(n, 1) }))),
        (
            "a word, filed before a day",
            calls(&|n| json!({ "query": word(n, 2), "created_before": day(n) })),
        ),
        (
            "filed on a day",
            calls(&|n| json!({ "created_from": day(n), "created_before": day(n.max(9) - 9) })),
        ),
        (
            "filed on a day that has not come",
            calls(&|n| json!({ "created_from": day(n), "created_before": day(n) })),
        ),
        (
            "ended in half a year",
            calls(&|n| json!({ "completed_from": day(n + CALLS / 4), "completed_before": day(n) })),
        ),
        (
            "ended on a day, in a status",
            calls(&|n| {
                json!({ "completed_from": day(n), "completed_before": day(n.max(9) - 9),
                        "status": "failed" })
            }),
        ),
        (
            "a word, ended in a week",
            calls(&|n| {
                json!({ "query": word(n, 4), "completed_from": day(n + 20),
                        "completed_before": day(n) })
            }),
        ),
        (
            "a word of all, ended before a day",
            calls(&|n| json!({ "query": "ACME", "completed_before": day(n) })),
        ),
        (
            "a word of all, in a rare status",
            calls(
                &|n| json!({ "query": "ACME", "status": "awaiting_input", "created_from": day(n) }),
            ),
        ),
        (
            "in a rare status",
            calls(&|n| json!({ "status": "awaiting_input", "created_from": day(n) })),
        ),
        ("pages of 100 of two years", pages),
    ])
}

/// Calls of one search that go from page to page.
async fn pages(house: &House, server: &Server, from: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut args = json!({ "created_from": from, "limit": 100 });
    let mut calls = Vec::new();
    while u64::try_from(calls.len())? < CALLS {
        let request = house.invoke("search_tickets", &args.to_string());
        let said = answer(server, &request).await?;
        calls.push(request);
        let Some(next) = said["data"].get("nextCursor") else { break };
        args["cursor"] = next.clone();
    }
    ensure!(calls.len() > 100, "there are {} pages", calls.len());
    Ok(calls)
}

async fn answer(server: &Server, request: &[u8]) -> anyhow::Result<Value> {
    let said: Value = serde_json::from_slice(&load::once(server.address, request).await?.body)?;
    ensure!(said["ok"] == true, "{said}");
    Ok(said)
}

/// The middle and the slow calls of each round, one call at a time.
async fn rounds(
    bench: &Bench,
    server: &Server,
    requests: &Requests,
) -> anyhow::Result<(Figures, Figures)> {
    let (mut middle, mut slow) = (Figures::default(), Figures::default());
    load::run(server.address, requests, 1, bench.time).await?;
    for _ in 0..bench.rounds {
        let ran = load::run(server.address, requests, 1, bench.time).await?;
        middle.push(ran.percentile(50));
        slow.push(ran.percentile(99));
    }
    Ok((middle, slow))
}
