//! Many clients of several tenants at once, for so many calls: what `tests/load/run` does for
//! minutes.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::fates::{self, Wanted};
use crate::storm::{Ground, claims, storm};

#[test]
fn many_clients_of_several_tenants_get_what_is_theirs_and_each_key_files_one_ticket() {
    let ground = Ground::make(Path::new(env!("CARGO_BIN_EXE_assay")), 2);

    let mut outcome = storm(&ground, 16, &|calls| calls < 40);
    assert!(ground.memory() < 256 << 10, "{} KiB", ground.memory());
    claims(ground, &mut outcome);

    assert_eq!(outcome.problems, Vec::<String>::new());
    let calls: usize = outcome.took.values().map(Vec::len).sum();
    assert!(calls >= 16 * 40 && outcome.filed.len() > 16, "{calls} {}", outcome.filed.len());
    for what in ["dispatch", "dispatch again", "list", "get", "cancel_ticket", "retry_ticket"] {
        assert!(outcome.took.contains_key(what), "no client came to {what}");
    }
}

#[test]
fn tickets_end_as_they_must_however_often_the_server_is_killed() {
    let assay = Path::new(env!("CARGO_BIN_EXE_assay"));
    let seed = seed();
    // Twice, so long after a start that agents are at work.
    let killed = AtomicUsize::new(0);
    let kills = &|since: Duration, ended: usize| {
        let is_time = since.as_secs() >= 2 && ended > 0 && killed.load(Ordering::Relaxed) < 2;
        is_time && killed.fetch_add(1, Ordering::Relaxed) < 2
    };
    let patience = Duration::from_mins(5);

    let report = fates::run(&Wanted { assay, seed, tickets: 40, clients: 8, patience, kills });

    println!("{:?}, {} kills, {:?}", report.took, report.kills, report.ended);
    assert_eq!(report.problems, Vec::<String>::new());
    assert!(report.kills > 0 && report.interruptions > 0, "{} kills", report.kills);
    assert!(report.repairs > 0, "nothing clashed");
    for status in ["succeeded", "failed", "timeout", "cancelled"] {
        assert!(report.ended.iter().any(|(ended, _)| ended == status), "none {status}");
    }
}

/// Which tickets there are.
#[expect(clippy::disallowed_methods, reason = "a seed that somebody wants to see again")]
fn seed() -> u64 {
    std::env::var("ASSAY_LOAD_SEED").ok().map_or(7, |seed| seed.parse().expect("a number"))
}
