//! Tickets whose ends are known beforehand, filed by many clients while the server is killed again
//! and again. Some of their agents fail, hang or clash, and they wait for one another at random.

mod claims;
mod filing;
mod graph;
mod house;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use graph::Planned;
use house::House;

/// How often whoever kills looks whether it is time.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What is to be done.
pub(crate) struct Wanted<'a> {
    pub(crate) assay: &'a Path,
    pub(crate) seed: u64,
    pub(crate) tickets: usize,
    pub(crate) clients: usize,
    /// How long all of it may take.
    pub(crate) patience: Duration,
    /// Whether it is time to kill: asked again and again, with the time since the last start and
    /// how many tickets have ended.
    pub(crate) kills: &'a (dyn Fn(Duration, usize) -> bool + Sync),
}

/// What came of it.
#[derive(Default)]
pub(crate) struct Report {
    /// From the first call until the last ticket had ended.
    pub(crate) took: Duration,
    pub(crate) kills: usize,
    /// Tickets that ended, by how; with those that were refused because a parent had ended badly.
    pub(crate) ended: Vec<(String, usize)>,
    /// Runs that a kill cut short.
    pub(crate) interruptions: usize,
    /// Conflicts that an agent resolved.
    pub(crate) repairs: usize,
    /// What is not as it must be.
    pub(crate) problems: Vec<String>,
}

/// What became of a call to file a ticket.
#[derive(Debug, Clone)]
enum Filed {
    /// The ticket's ref.
    As(String),
    /// Refused: something that it was to wait for has ended badly.
    Refused,
}

impl Filed {
    fn named(&self) -> Option<&str> {
        match self {
            Self::As(named) => Some(named),
            Self::Refused => None,
        }
    }
}

/// What all clients share.
struct Yard<'a> {
    house: &'a House,
    planned: &'a [Planned],
    filed: Mutex<Vec<Option<Filed>>>,
    news: Condvar,
    ended: AtomicUsize,
    until: Instant,
    problems: Mutex<Vec<String>>,
}

impl Yard<'_> {
    fn problem(&self, what: String) {
        self.problems.lock().unwrap().push(what);
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }
}

/// Does all of it, and looks at what is left.
pub(crate) fn run(wanted: &Wanted<'_>) -> Report {
    let planned = graph::plan(wanted.tickets, wanted.seed);
    let house = House::make(wanted.assay);
    house.start();
    let started = Instant::now();
    let yard = Yard {
        house: &house,
        planned: &planned,
        filed: Mutex::new(vec![None; planned.len()]),
        news: Condvar::new(),
        ended: AtomicUsize::new(0),
        until: started + wanted.patience,
        problems: Mutex::default(),
    };
    let is_over = AtomicBool::new(false);
    let kills = std::thread::scope(|scope| {
        let killing = scope.spawn(|| kill_again(&house, wanted, &yard.ended, &is_over));
        std::thread::scope(|clients| {
            for number in 0..wanted.clients {
                let yard = &yard;
                clients.spawn(move || filing::client(yard, number, wanted.clients));
            }
        });
        is_over.store(true, Ordering::Relaxed);
        killing.join().unwrap()
    });
    let mut report = Report { took: started.elapsed(), kills, ..Report::default() };
    let filed = yard.filed.into_inner().unwrap();
    report.problems = yard.problems.into_inner().unwrap();
    claims::look(&house, &planned, &filed, &mut report);
    report
}

/// Kills the server whenever it is time, and starts it again. Says how often.
fn kill_again(
    house: &House,
    wanted: &Wanted<'_>,
    ended: &AtomicUsize,
    is_over: &AtomicBool,
) -> usize {
    let (mut kills, mut since) = (0, Instant::now());
    while !is_over.load(Ordering::Relaxed) {
        if (wanted.kills)(since.elapsed(), ended.load(Ordering::Relaxed)) {
            house.kill();
            house.start();
            (kills, since) = (kills + 1, Instant::now());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    kills
}
