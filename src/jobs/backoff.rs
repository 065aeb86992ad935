//! How long a failed job waits before it is tried again.

use std::time::Duration;

const FIRST_MS: u64 = 1_000;
const LONGEST_MS: u64 = 60 * 60 * 1_000;

/// The wait after attempt number `attempt` (the first is 1) failed: it doubles from one second up
/// to one hour, and `jitter`, any random number, takes off up to half of it, so that jobs that
/// failed together do not come back together.
#[must_use]
pub fn backoff(attempt: u32, jitter: u64) -> Duration {
    let doublings = attempt.saturating_sub(1).min(20);
    let whole = (FIRST_MS << doublings).min(LONGEST_MS);
    let half = whole / 2;
    Duration::from_millis(whole - jitter % (half + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_wait_doubles_up_to_an_hour() {
        let waits = [1, 2, 3, 12, 13, 1_000].map(|attempt| backoff(attempt, 0).as_secs());

        assert_eq!(waits, [1, 2, 4, 2_048, 3_600, 3_600]);
    }

    proptest! {
        #[test]
        fn jitter_takes_off_at_most_half(attempt: u32, jitter: u64) {
            let whole = backoff(attempt, 0);
            let wait = backoff(attempt, jitter);

            prop_assert!(wait <= whole && wait >= whole / 2);
        }

        #[test]
        fn a_later_attempt_never_waits_shorter_than_half_an_earlier_one(
            attempt in 1_u32..100, jitter: u64, other: u64,
        ) {
            prop_assert!(backoff(attempt + 1, jitter) >= backoff(attempt, other) / 2);
        }
    }
}
