//! Pages that people look at.

use std::sync::Arc;

use anyhow::{Context as _, ensure};

use crate::house::House;
use crate::load;
use crate::table::{Figures, Row, millis};
use crate::{Bench, say};

/// The graph of the page that is measured, and the log of each of its nodes.
const NODES: u32 = 30;
const LINES: u32 = 5_000;

/// Tickets, and as many proofs, jobs and lines of the audit log, of the house that is shown.
const MANY: u32 = 100_000;

/// Every page that people look at, lists with each of their filters.
const PAGES: [&str; 46] = [
    "/",
    "/tickets",
    "/tickets?status=failed",
    "/tickets?status=queued",
    "/tickets?status=succeeded&kind=fix",
    "/tickets?kind=feature",
    "/tickets?kind=refactor",
    "/tickets?category=Pages",
    "/tickets?requester=nobody",
    "/tickets?q=header",
    "/tickets?q=nothing-like-it",
    "/tickets?sort=oldest",
    "/tickets?sort=changed",
    "/tickets?sort=changed&status=failed&status=cancelled",
    "/tickets?view=board",
    "/tickets?view=board&category=Pages",
    "/tickets/new",
    "/tickets/suggest?q=header",
    "/tickets/ACME-1",
    "/tickets/ACME-1/changes",
    "/tickets/ACME-50100",
    "/tickets/ACME-1/nodes/implement-1/log",
    "/proofs",
    "/proofs?verdict=failed",
    "/proofs?kind=command",
    "/projects",
    "/projects/new",
    "/projects/acme-widgets",
    "/projects/acme-widgets/settings/agents",
    "/jobs",
    "/jobs?state=done",
    "/jobs?kind=run_node",
    "/audit",
    "/system",
    "/people",
    "/account",
    "/keys",
    "/find?q=header",
    "/find?q=ACME-77",
    "/docs/connect",
    "/docs/tools",
    "/docs/tools/dispatch_ticket",
    "/docs/errors",
    "/docs/schemas",
    "/docs/security",
    "/docs/design",
];

/// A tour of the dashboard of a team that has filed many tickets.
pub(crate) async fn tour(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    const WHAT: &str = "any page of the dashboard, 100,000 tickets: the slowest, the largest";
    if !bench.wants(WHAT) {
        return Ok(());
    }
    say(WHAT);
    let house = House::new(&bench.assay).await?;
    house.multiply(MANY, true)?;
    house.fill(MANY)?;
    let token = house.sign_in().await?;
    let server = house.serve(&[])?;
    server.settle()?;
    let cookie = format!("assay={token}");
    let (mut slowest, mut largest) = ((0.0, ""), (0, ""));
    for path in PAGES {
        let headers = [("Cookie", &*cookie), ("Accept-Encoding", "gzip")];
        let request = load::get(path, &headers);
        let page = load::once(server.address, &request).await?;
        ensure!(page.head.starts_with("HTTP/1.1 200 "), "{path} answered {}", page.head);
        let kilobytes = page.body.len().div_ceil(1_000);
        let ran = load::run(server.address, &Arc::new(vec![request]), 1, bench.time / 4).await?;
        let middle = ran.percentile(50);
        say(&format!("{middle:7.2} ms, p99 {:7.2} ms {kilobytes:4} kB {path}", ran.percentile(99)));
        if middle > slowest.0 {
            slowest = (middle, path);
        }
        if kilobytes > largest.0 {
            largest = (kilobytes, path);
        }
    }
    rows.push(Row {
        what: WHAT,
        ours: format!(
            "{} (`{}`); {} kB (`{}`)",
            millis(slowest.0),
            slowest.1,
            largest.0,
            largest.1
        ),
        peer: String::new(),
        promise: "under 15 ms and 100 kB".to_owned(),
        kept: slowest.0 < 15.0 && largest.0 < 100,
    });
    Ok(())
}

/// The page of a large ticket, and that of one node's log.
pub(crate) async fn measure(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    const TICKET: &str = "a ticket's page, 30 nodes with 5,000 log lines each";
    const LOG: &str = "a page of the log of 5,000 lines";
    if !bench.wants(TICKET) && !bench.wants(LOG) {
        return Ok(());
    }
    say(TICKET);
    let house = House::new(&bench.assay).await?;
    house.widen(NODES, LINES)?;
    let token = house.sign_in().await?;
    let server = house.serve(&[])?;
    let cookie = format!("assay={token}");
    for (what, path) in
        [(TICKET, "/tickets/ACME-1"), (LOG, "/tickets/ACME-1/nodes/implement-1/log")]
    {
        let request = load::get(path, &[("Cookie", &cookie)]);
        let page = load::once(server.address, &request).await?;
        ensure!(page.head.starts_with("HTTP/1.1 200 "), "{path} answered {}", page.head);
        let text = String::from_utf8(page.body).context("a page is text")?;
        let (said, most) =
            if what == TICKET { ("implement-20", 150) } else { ("test 100 passed", 500) };
        ensure!(text.contains(said), "{path} does not show {said}");
        let kilobytes = text.len().div_ceil(1_000);
        let requests = Arc::new(vec![request]);
        load::run(server.address, &requests, 1, bench.time).await?;
        let (mut middle, mut slow) = (Figures::default(), Figures::default());
        for _ in 0..bench.rounds {
            let ran = load::run(server.address, &requests, 1, bench.time).await?;
            middle.push(ran.percentile(50));
            slow.push(ran.percentile(99));
        }
        rows.push(Row {
            what,
            ours: format!(
                "{}, p99 {}; {kilobytes} kB",
                middle.shown(millis),
                millis(slow.median())
            ),
            peer: String::new(),
            promise: format!("under 10 ms and {most} kB"),
            kept: middle.median() < 10.0 && kilobytes < most,
        });
    }
    Ok(())
}
