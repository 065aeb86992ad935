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
