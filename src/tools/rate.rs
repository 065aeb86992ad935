//! How many calls a key may make in a minute.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, Reference};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};

use crate::base::{Clock, Code, Fault, KeyId, RateLimit};

type Keyed = RateLimiter<KeyId, DefaultKeyedStateStore<KeyId>, Ours, NoOpMiddleware<Nanos>>;

/// Counts the calls of each key.
pub(super) struct Limiter(Option<(Keyed, NonZeroU32, Ours)>);

/// Our clock as the limiter reads it.
#[derive(Clone)]
struct Ours(Clock);

impl governor::clock::Clock for Ours {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::from(Duration::from_millis(u64::try_from(self.0.now().0).unwrap_or(0)))
    }
}

/// Keys that have been idle are forgotten once there are this many.
const KEYS_KEPT: usize = 10_000;

impl Limiter {
    pub(super) fn new(limit: RateLimit, clock: Clock) -> Self {
        Self(match limit {
            RateLimit::Off => None,
            RateLimit::PerMinute(calls) => {
                let clock = Ours(clock);
                let quota = Quota::per_minute(calls);
                let store = DefaultKeyedStateStore::default();
                Some((RateLimiter::new(quota, store, clock.clone()), calls, clock))
            }
        })
    }

    /// Counts a call, or says when the next one will go through.
    pub(super) fn admit(&self, key: KeyId) -> Result<(), Fault> {
        let Some((limiter, calls, clock)) = &self.0 else { return Ok(()) };
        if limiter.len() > KEYS_KEPT {
            limiter.retain_recent();
        }
        limiter.check_key(&key).map_err(|until| {
            let now = clock.now();
            let wait = Duration::from(until.earliest_possible().duration_since(now));
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
            let message = format!(
                "This key has made its {calls} calls of the minute. Call again in {wait_ms} ms, or \
                 start the server with a higher --rate-limit."
            );
            Fault::new(Code::RateLimited, message).retry_after_ms(wait_ms)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Entropy, Millis};

    #[test]
    fn a_key_that_is_over_its_limit_hears_when_to_come_back() {
        let clock = Clock::fake(Millis(1_000_000));
        let two = RateLimit::PerMinute(NonZeroU32::new(2).unwrap());
        let limiter = Limiter::new(two, clock.clone());
        let entropy = Entropy::seeded(1);
        let (key, other) = (entropy.id(Millis(1)), entropy.id(Millis(1)));

        limiter.admit(key).unwrap();
        limiter.admit(key).unwrap();
        let refused = limiter.admit(key).unwrap_err();
        assert_eq!(refused.code, Code::RateLimited);
        limiter.admit(other).unwrap();

        clock.advance(Duration::from_millis(refused.retry_after_ms.unwrap()));
        limiter.admit(key).unwrap();
    }
}
