//! Many clients at once for a while: `load [--seconds N] [--clients N] [--tenants N]`. Prints what
//! was called, how fast it was answered and what the server held in memory, and ends with 1 where
//! anything was not as promised.
#![expect(clippy::unwrap_used, reason = "a program for developers that unwraps says where")]
#![expect(clippy::print_stdout, reason = "its table is what it is for")]

mod storm;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use storm::{Ground, Outcome, claims, storm};

/// How much more memory than at half time the end may show: a twentieth, and this in KiB, which the
/// caches of the database and the allocator take their time to fill.
const GROWTH_MAX: u64 = 12 << 10;

fn main() -> ExitCode {
    let seconds = option("--seconds", 300);
    let clients = usize::try_from(option("--clients", 64)).unwrap();
    let tenants = usize::try_from(option("--tenants", 3)).unwrap();
    let assay = std::env::current_exe().unwrap().parent().unwrap().join("../assay");
    let ground = Ground::make(&assay.canonicalize().unwrap(), tenants);
    println!("{clients} clients of {tenants} tenants, {seconds} s");

    let (mut outcome, memory) = measured(&ground, clients, Duration::from_secs(seconds));
    claims(ground, &mut outcome);
    table(&outcome, seconds);
    let at = |part: usize| memory[(memory.len() - 1) * part / 20];
    let (start, mid, end) = (at(2), at(10), at(20));
    println!(
        "memory: {} MiB at the start, {} at half time, {} at the end",
        mib(start),
        mib(mid),
        mib(end)
    );
    if end > mid + mid / 20 + GROWTH_MAX {
        outcome.problems.push("memory grows".to_owned());
        outcome.problem_count += 1;
    }
    println!(
        "{} operation keys, each one ticket; {} refused as they should be",
        outcome.filed.len(),
        outcome.refused
    );
    for problem in &outcome.problems {
        println!("PROBLEM {problem}");
    }
    println!("{} problems", outcome.problem_count);
    if outcome.problem_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The number after a flag.
fn option(name: &str, otherwise: u64) -> u64 {
    let mut args = std::env::args().skip_while(|arg| arg != name);
    args.nth(1).map_or(otherwise, |value| value.parse().expect("a number comes after the flag"))
}

/// The storm, and the server's memory of each second of it.
fn measured(ground: &Ground, clients: usize, time: Duration) -> (Outcome, Vec<u64>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut seen = vec![ground.memory()];
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_secs(1));
                seen.push(ground.memory());
            }
            seen
        });
        let started = Instant::now();
        let outcome = storm(ground, clients, &|_| started.elapsed() < time);
        is_over.store(true, Ordering::Relaxed);
        (outcome, looking.join().unwrap())
    })
}

fn mib(kib: u64) -> u64 {
    kib >> 10
}

fn table(outcome: &Outcome, seconds: u64) {
    println!(
        "{:<18}{:>9}{:>9}{:>10}{:>10}{:>10}",
        "call", "calls", "calls/s", "p50 ms", "p99 ms", "max ms"
    );
    let mut all = Vec::new();
    for (what, took) in &outcome.took {
        all.extend(took);
        row(what, took.clone(), seconds);
    }
    row("all", all, seconds);
}

fn row(what: &str, mut took: Vec<Duration>, seconds: u64) {
    took.sort();
    let at = |part: usize| {
        let at = (took.len() * part / 100).min(took.len().saturating_sub(1));
        took.get(at).copied().unwrap_or_default().as_secs_f64() * 1_000.0
    };
    println!(
        "{what:<18}{:>9}{:>9}{:>10.1}{:>10.1}{:>10.1}",
        took.len(),
        took.len() as u64 / seconds.max(1),
        at(50),
        at(99),
        at(100)
    );
}
