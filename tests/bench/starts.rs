//! How fast the program starts, and how little it needs.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::house::{House, program};
use crate::load;
use crate::table::{Figures, Row, in_millis, mebibytes, millis};
use crate::{Bench, say};

const TICKETS: u32 = 100_000;

/// How long a start may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a server is left alone before its memory is read.
const IDLE: Duration = Duration::from_secs(5);

/// Bytes in a MiB.
const MEBIBYTE: f64 = 1_048_576.0;

/// The start on a large database, the memory after it, and the binary.
pub(crate) fn measure(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    const START: &str = "start to the first `/readyz`, 100,000 tickets";
    const MEMORY: &str = "memory of an idle server, 100,000 tickets";
    const BINARY: &str = "the release binary";
    if ![START, MEMORY, BINARY].iter().any(|name| bench.wants(name)) {
        return Ok(());
    }
    say(START);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let house = runtime.block_on(House::new(&bench.assay))?;
    house.multiply(TICKETS, true)?;
    let (mut ready, mut version, mut ratio) =
        (Figures::default(), Figures::default(), Figures::default());
    for round in 0..=bench.rounds * 4 {
        let took = runtime.block_on(until_ready(&house))?;
        let its = version_time(&bench.assay)?;
        // The first start settles what copying the rows left behind.
        if round > 0 {
            ready.push(took);
            version.push(its);
            ratio.push(took / its);
        }
    }
    rows.push(Row {
        what: START,
        ours: ready.shown(millis),
        peer: format!("`assay --version`: {}", version.shown(millis)),
        promise: format!(
            "under 150 ms, and under 10 times that: {}",
            ratio.shown(|figure| format!("{figure:.1}"))
        ),
        kept: ready.median() < 150.0 && ratio.median() < 10.0,
    });
    say(MEMORY);
    let server = house.serve(&[])?;
    std::thread::sleep(IDLE);
    let memory = server.memory()?;
    rows.push(Row {
        what: MEMORY,
        ours: mebibytes(memory),
        peer: String::new(),
        promise: "under 30 MiB".to_owned(),
        kept: memory < 30.0,
    });
    let size = size_of(&bench.assay)?;
    rows.push(Row {
        what: BINARY,
        ours: mebibytes(size),
        peer: String::new(),
        promise: "under 25 MiB".to_owned(),
        kept: size < 25.0,
    });
    Ok(())
}

/// From the start of the program to the first answer that it is ready, in milliseconds.
async fn until_ready(house: &House) -> anyhow::Result<f64> {
    let started = Instant::now();
    let server = house.serve(&[])?;
    // Asked again at once until it is ready: the listener stands before the workers do.
    while load::once(server.address, &load::get("/readyz", &[])).await.is_err() {
        ensure!(started.elapsed() < PATIENCE, "it is not ready after {PATIENCE:?}");
    }
    let took = in_millis(started.elapsed());
    server.stop()?;
    Ok(took)
}

fn version_time(assay: &Path) -> anyhow::Result<f64> {
    let started = Instant::now();
    let output = program(assay).arg("--version").output()?;
    ensure!(output.status.success(), "it has no version");
    Ok(in_millis(started.elapsed()))
}

#[expect(clippy::cast_precision_loss, reason = "a file is far smaller than 2^52 bytes")]
fn size_of(file: &Path) -> anyhow::Result<f64> {
    Ok(std::fs::metadata(file)?.len() as f64 / MEBIBYTE)
}
