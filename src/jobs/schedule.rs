//! Recurring jobs: when each kind is due next is kept in the database, so a restart neither
//! forgets a run nor repeats one.

use std::time::Duration;

use super::job::{Enqueue, Enqueued, Job};
use super::queue::enqueue_as;
use crate::base::{Fault, Millis};
use crate::store::Tx;
use crate::{params, sql};

/// The unique key of a recurring job that has none of its own.
const KEY: &str = "recurring";

/// A kind that is enqueued again and again.
#[derive(Clone)]
pub(super) struct Recurring {
    kind: &'static str,
    period: Duration,
    enqueue: fn(&mut Tx<'_>) -> Result<Enqueued, Fault>,
}

impl Recurring {
    pub(super) fn of<J: Job + Default>(period: Duration) -> Self {
        Self { kind: J::KIND, period, enqueue: enqueue_default::<J> }
    }
}

fn enqueue_default<J: Job + Default>(tx: &mut Tx<'_>) -> Result<Enqueued, Fault> {
    let job = J::default();
    let key = job.unique();
    enqueue_as(tx, &job, Some(key.as_deref().unwrap_or(KEY)), Enqueue::default())
}

/// Enqueues what is due, and says when the next will be.
pub(super) fn tick(tx: &mut Tx<'_>, recurring: &[Recurring]) -> Result<Option<Millis>, Fault> {
    let now = tx.now();
    let mut soonest: Option<Millis> = None;
    for each in recurring {
        let kind = params! { ":kind": each.kind };
        let noted: Option<Millis> =
            tx.find(sql!("jobs.sql", "find_schedule"), kind, |row| row.get("next_at"))?;
        if noted.is_some_and(|at| at <= now) {
            (each.enqueue)(tx)?;
        }
        let next = following(noted, each.period, now);
        if noted != Some(next) {
            let row = params! { ":kind": each.kind, ":next_at": next };
            tx.run_one(sql!("jobs.sql", "set_schedule"), row)?;
        }
        soonest = Some(soonest.map_or(next, |soonest| soonest.min(next)));
    }
    Ok(soonest)
}

/// The moment after `now` at which the kind is due: the noted one, or the first of its rhythm that
/// is still to come. A period that became shorter counts at once.
fn following(noted: Option<Millis>, period: Duration, now: Millis) -> Millis {
    let latest = now.plus(period.max(Duration::from_millis(1)));
    match noted {
        Some(at) if at > now => at.min(latest),
        Some(at) => {
            let period_ms = latest.0 - now.0;
            let missed = (now.0 - at.0) / period_ms;
            Millis(at.0 + (missed + 1) * period_ms)
        }
        None => latest,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn a_kind_keeps_its_rhythm_and_skips_what_it_missed() {
        for (noted, now, next) in [
            (None, 1_000, 61_000),
            (Some(61_000), 1_000, 61_000),
            (Some(61_000), 61_000, 121_000),
            (Some(61_000), 61_005, 121_000),
            (Some(61_000), 600_000, 601_000),
            (Some(86_400_000), 1_000, 61_000),
        ] {
            let found = following(noted.map(Millis), MINUTE, Millis(now));

            assert_eq!(found, Millis(next), "{noted:?} at {now}");
        }
    }

    proptest! {
        #[test]
        fn the_next_moment_is_always_to_come_and_within_a_period(
            noted in proptest::option::of(0_i64..1 << 40),
            period_ms in 0_u64..1 << 30,
            now in 0_i64..1 << 40,
        ) {
            let period = Duration::from_millis(period_ms);
            let next = following(noted.map(Millis), period, Millis(now));

            prop_assert!(next > Millis(now));
            prop_assert!(next <= Millis(now).plus(period.max(Duration::from_millis(1))));
        }
    }
}
