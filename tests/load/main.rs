//! Many clients at once for a while: `load [--seconds N] [--clients N] [--tenants N]`. Prints what
//! was called, how fast it was answered and what the server held in memory, and ends with 1 where
//! anything was not as promised.
//!
//! With `--pipeline [--tickets N] [--clients N] [--kill-every N] [--seed N] [--minutes N]`:
//! tickets that wait for one another and whose agents fail, hang and clash, while the server is
//! killed every so many seconds. All must end as their seed says.
#![expect(clippy::unwrap_used, reason = "a program for developers that unwraps says where")]
#![expect(clippy::print_stdout, reason = "its table is what it is for")]

mod fates;
mod storm;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use fates::Wanted;
use storm::{Ground, Outcome, claims, storm};

/// How much more memory than at half time the end may show: a twentieth, and this in KiB, which the
/// caches of the database and the allocator take their time to fill.
const GROWTH_MAX: u64 = 12 << 10;

fn main() -> ExitCode {
    let assay = std::env::current_exe().unwrap().parent().unwrap().join("../assay");
    let assay = assay.canonicalize().unwrap();
    let problems = if std::env::args().any(|arg| arg == "--pipeline") {
        pipeline(&assay)
    } else {
        calls(&assay)
    };
    println!("{problems} problems");
    if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Tickets to their ends while the server is killed. Says how much is wrong.
fn pipeline(assay: &Path) -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let seed = option("--seed", now % 1_000_000);
    let tickets = usize::try_from(option("--tickets", 1_000)).unwrap();
    let clients = usize::try_from(option("--clients", 32)).unwrap();
    let every = Duration::from_secs(option("--kill-every", 10));
    let patience = Duration::from_secs(60 * option("--minutes", 90));
    println!("{tickets} tickets of {clients} clients, killed every {every:?}; --seed {seed}");
    let kills = &|since: Duration, _: usize| since >= every;
    let wanted = Wanted { assay, seed, tickets, clients, patience, kills };
    let report = fates::run(&wanted);
    let minutes = report.took.as_secs_f64() / 60.0;
    let per_minute = f64::from(u32::try_from(tickets).unwrap()) / minutes;
    println!("{minutes:.1} min, {per_minute:.0} tickets a minute, {} kills", report.kills);
    let (cut_short, repairs) = (report.interruptions, report.repairs);
    println!("{cut_short} runs cut short, {repairs} conflicts given to an agent");
    for (status, count) in &report.ended {
        println!("{count:>6} {status}");
    }
    for problem in &report.problems {
        println!("PROBLEM {problem}");
    }
    report.problems.len() as u64
}

/// Calls of many clients. Says how much is wrong.
fn calls(assay: &Path) -> u64 {
    let seconds = option("--seconds", 300);
    let clients = usize::try_from(option("--clients", 64)).unwrap();
    let tenants = usize::try_from(option("--tenants", 3)).unwrap();
    let ground = Ground::make(assay, tenants);
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
    outcome.problem_count
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
