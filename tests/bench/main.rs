//! Measures what Assay promises about speed, each figure beside a peer's in the same run, for both
//! share the machine's mood. `tests/bench/run` builds what is needed and calls it.

mod doors;
mod finding;
mod house;
mod load;
mod pages;
mod peers;
mod starts;
mod table;
mod writes;

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use table::Row;

/// What is compared, and how long.
pub(crate) struct Bench {
    /// The release binary.
    pub(crate) assay: PathBuf,
    /// A server of the official TypeScript SDK: node and its script, if there is one.
    pub(crate) script: Option<(PathBuf, PathBuf)>,
    /// How often both sides are measured, in turn.
    pub(crate) rounds: usize,
    /// How long each side runs in each round.
    pub(crate) time: Duration,
    /// Tickets in the large list.
    pub(crate) many: u32,
    /// Only figures whose name contains this.
    only: String,
}

impl Bench {
    fn of(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut bench = Self {
            assay: PathBuf::new(),
            script: None,
            rounds: 5,
            time: Duration::from_secs(3),
            many: 1_000_000,
            only: String::new(),
        };
        while let Some(flag) = arguments.next() {
            let value = arguments.next().with_context(|| format!("{flag} needs a value"))?;
            match flag.as_str() {
                "--assay" => bench.assay = PathBuf::from(value),
                "--node" => bench.script = Some((PathBuf::from(value), PathBuf::new())),
                "--script" => {
                    let node = bench.script.take().context("--node comes first")?.0;
                    bench.script = Some((node, PathBuf::from(value)));
                }
                "--rounds" => bench.rounds = value.parse()?,
                "--seconds" => bench.time = Duration::from_secs_f64(value.parse()?),
                "--many" => bench.many = value.parse()?,
                "--only" => bench.only = value,
                _ => anyhow::bail!("there is no flag {flag}"),
            }
        }
        ensure!(bench.assay.is_file(), "--assay names no program");
        Ok(bench)
    }

    /// Whether a figure is wanted.
    pub(crate) fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }
}

/// Says how far it is, beside the table.
pub(crate) fn say(text: &str) {
    // Nobody may be reading.
    drop(writeln!(std::io::stderr(), "{text}"));
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "peer").is_some() {
        return peers::serve(&arguments.next().context("which peer?")?);
    }
    let bench = Bench::of(arguments)?;
    let mut rows = Vec::new();
    let measured = measure(&bench, &mut rows);
    write!(std::io::stdout(), "{}", table::markdown(&rows))?;
    measured?;
    let broken: Vec<_> = rows.iter().filter(|row| !row.kept).map(|row| row.what).collect();
    ensure!(broken.is_empty(), "not kept: {}", broken.join("; "));
    Ok(())
}

fn measure(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    // One thread, as the load is meant to leave the rest of the machine to the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        doors::measure(bench, rows).await?;
        doors::lists(bench, rows).await?;
        writes::dispatches(bench, rows).await?;
        finding::measure(bench, rows).await?;
        pages::measure(bench, rows).await?;
        pages::tour(bench, rows).await
    })?;
    writes::job_starts(bench, rows)?;
    starts::measure(bench, rows)
}
