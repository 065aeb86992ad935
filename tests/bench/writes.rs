//! Writing durably, and starting what was asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use assay::base::{Clock, Entropy};
use assay::events::Bus;
use assay::jobs::{self, Ctx, Enqueue, Job, Registry, Setup, Worker};
use assay::store::Db;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::house::House;
use crate::load;
use crate::table::{Figures, Row, in_millis, millis, rate};
use crate::{Bench, peers, say};

const CONNECTIONS: usize = 32;

/// Jobs of which the start is measured.
const JOBS: usize = 1_000;

/// Tickets filed as fast as they are taken, against rows that one thread commits alone.
pub(crate) async fn dispatches(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    const WHAT: &str = "`dispatch_ticket`, durable, 32 connections";
    if !bench.wants(WHAT) {
        return Ok(());
    }
    say(WHAT);
    let house = House::new(&bench.assay).await?;
    // What is measured is filing: nothing that is filed may start.
    house.hold_work()?;
    let server = house.serve(&[])?;
    // Every run files briefs that no other run filed.
    let mut filed = 0;
    let mut requests = || {
        let new = filed..filed + BRIEFS;
        filed = new.end;
        Arc::new(new.map(|n| house.invoke("dispatch_ticket", &brief(n))).collect())
    };
    load::run(server.address, &requests(), CONNECTIONS, bench.time).await?;
    let (mut ours, mut peer, mut ratio, mut slow) =
        (Figures::default(), Figures::default(), Figures::default(), Figures::default());
    for _ in 0..bench.rounds {
        let mine = load::run(server.address, &requests(), CONNECTIONS, bench.time).await?;
        let its = peers::commits(house.folder(), bench.time)?;
        ours.push(mine.rate());
        peer.push(its);
        ratio.push(mine.rate() / its);
        slow.push(mine.percentile(99));
    }
    rows.push(Row {
        what: WHAT,
        ours: format!("{}, p99 {}", ours.shown(rate), millis(slow.median())),
        peer: format!("durable single-row commits of one thread: {}", peer.shown(rate)),
        promise: format!("0.6 of it: {}", ratio.shown(|figure| format!("{figure:.2}"))),
        kept: ratio.median() >= 0.6,
    });
    Ok(())
}

/// Briefs of one run, filed one after the other, and again from the first where they run out.
const BRIEFS: usize = 20_000;

/// The arguments of a call. A brief that comes again is filed all the same, so that every call did
/// all the work.
fn brief(n: usize) -> String {
    let (title, sentences) = text(n as u64);
    json!({ "title": title, "project": "ACME", "description": sentences.join(" "),
            "override_duplicate": true })
    .to_string()
}

/// A brief: a title of 6 words and a description of 4 sentences, all of words of its own.
pub(crate) fn text(n: u64) -> (String, Vec<String>) {
    let mut state = n;
    let mut words = |count: usize| {
        let words: Vec<String> = (0..count).map(|_| word(&mut state)).collect();
        words.join(" ")
    };
    let title = words(6);
    (title, (0..4).map(|_| format!("{}.", words(11))).collect())
}

/// One of 8,000 words, as a generator of random numbers (`SplitMix64`) has it.
fn word(state: &mut u64) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "co", "di", "fe", "gu", "ha", "jo", "ki", "le", "mu", "na", "po", "qui", "re", "su",
        "ta", "vo", "wi", "xe", "zu",
    ];
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mut mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33;
    let mut word = String::new();
    for _ in 0..3 {
        word.push_str(SYLLABLES[usize::try_from(mixed % 20).unwrap_or(0)]);
        mixed /= 20;
    }
    word
}

#[derive(Serialize, Deserialize)]
struct Tick;

impl Job for Tick {
    const KIND: &'static str = "bench_tick";
    const CONCURRENCY: usize = 1;
}

/// From the moment that a job's commit was answered to the first line of its handler.
pub(crate) fn job_starts(bench: &Bench, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    const WHAT: &str = "start of an immediate job, after its commit";
    if !bench.wants(WHAT) {
        return Ok(());
    }
    say(WHAT);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut millis_taken = runtime.block_on(latencies())?;
    millis_taken.sort_by(f64::total_cmp);
    let at = |percent: usize| millis_taken[(millis_taken.len() - 1) * percent / 100];
    let (middle, slow) = (at(50), at(99));
    rows.push(Row {
        what: WHAT,
        ours: format!("p50 {}, p99 {}", millis(middle), millis(slow)),
        peer: String::new(),
        promise: "p50 under 3 ms, p99 under 15 ms".to_owned(),
        kept: middle < 3.0 && slow < 15.0,
    });
    Ok(())
}

async fn latencies() -> anyhow::Result<Vec<f64>> {
    let dir = tempfile::tempdir()?;
    let (clock, entropy, bus) = (Clock::system(), Entropy::system(), Bus::default());
    let said = |fault| anyhow::anyhow!("{fault:?}");
    let db = Db::open(dir.path(), clock.clone(), entropy.clone(), bus.clone()).map_err(said)?;
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let registry = Registry::new().on(move |_: Ctx, _: Tick| {
        told.send(Instant::now()).expect("the other half waits for each");
        async { Ok(None) }
    });
    let worker = Worker::new(Setup {
        db: db.clone(),
        clock: clock.clone(),
        bus,
        boot: entropy.id(clock.now()),
        registry,
        options: jobs::Options::default(),
    });
    let shutdown = CancellationToken::new();
    let running = tokio::spawn({
        let shutdown = shutdown.clone();
        async move { worker.run(shutdown).await }
    });
    let taken = Arc::new(Mutex::new(Vec::with_capacity(JOBS)));
    for turn in 0..JOBS + JOBS / 10 {
        let enqueued = db.write(|tx| jobs::enqueue(tx, &Tick, Enqueue::default())).await;
        enqueued.map_err(said)?;
        let committed = Instant::now();
        let started = heard.recv().await.context("the worker ended")?;
        if turn >= JOBS / 10 {
            let waited = started.saturating_duration_since(committed);
            taken.lock().unwrap_or_else(PoisonError::into_inner).push(in_millis(waited));
        }
        // The job before is over, and the worker waits again.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    shutdown.cancel();
    running.await?;
    Ok(Arc::into_inner(taken).context("nobody else counts")?.into_inner()?)
}
