//! Time as a value that somebody hands over: the only place that asks the system for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// A moment, as milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl Millis {
    /// The moment `wait` later.
    #[must_use]
    pub fn plus(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The moment `wait` earlier.
    #[must_use]
    pub fn minus(self, wait: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; zero if it is not.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The moment that a text names: `2026-07-29T14:00:00Z`, with any offset, or a date alone,
    /// which begins at midnight UTC.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(at) = text.parse::<jiff::Timestamp>() {
            return Some(Self(at.as_millisecond()));
        }
        let is_date = text.len() == 10 && text.bytes().all(|b| b == b'-' || b.is_ascii_digit());
        let midnight = format!("{text}T00:00:00Z").parse::<jiff::Timestamp>();
        midnight.ok().filter(|_| is_date).map(|at| Self(at.as_millisecond()))
    }

    /// ISO 8601 in UTC with milliseconds, as every contract writes it: `2026-07-29T14:00:00.000Z`.
    #[must_use]
    pub fn iso(self) -> String {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => format!("{at:.3}"),
            Err(_) => "9999-12-31T23:59:59.999Z".to_owned(),
        }
    }
}

/// What time it is, and how to wait. Tests hold a clock that moves only when told.
#[derive(Clone)]
pub struct Clock(Arc<Kind>);

enum Kind {
    System,
    Fake(watch::Sender<Millis>),
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Arc::new(Kind::System))
    }

    /// A clock that stands at `start` until [`Clock::advance`] moves it.
    #[must_use]
    pub fn fake(start: Millis) -> Self {
        Self(Arc::new(Kind::Fake(watch::Sender::new(start))))
    }

    /// Now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system")]
    pub fn now(&self) -> Millis {
        match &*self.0 {
            Kind::System => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                let millis = since.unwrap_or_default().as_millis();
                Millis(i64::try_from(millis).unwrap_or(i64::MAX))
            }
            Kind::Fake(now) => *now.borrow(),
        }
    }

    /// Waits. On a fake clock, until somebody has advanced it far enough.
    pub async fn sleep(&self, wait: Duration) {
        match &*self.0 {
            Kind::System => tokio::time::sleep(wait).await,
            Kind::Fake(now) => {
                let until = now.borrow().plus(wait);
                // The sender lives in `self`, so the only error, a closed channel, cannot come.
                drop(now.subscribe().wait_for(|at| *at >= until).await);
            }
        }
    }

    /// Moves a fake clock back, as the machine's goes when somebody sets it right.
    pub fn set_back(&self, by: Duration) {
        if let Kind::Fake(now) = &*self.0 {
            now.send_modify(|at| *at = at.minus(by));
        }
    }

    /// Moves a fake clock forward and wakes who waits on it. The machine's clock stays as it is.
    pub fn advance(&self, by: Duration) {
        if let Kind::Fake(now) = &*self.0 {
            now.send_modify(|at| *at = at.plus(by));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_with_milliseconds_and_z() {
        assert_eq!(Millis(1_785_333_600_000).iso(), "2026-07-29T14:00:00.000Z");
        assert_eq!(Millis(1_785_333_600_007).iso(), "2026-07-29T14:00:00.007Z");
    }

    #[test]
    fn a_moment_is_read_as_it_is_written_or_as_a_date() {
        let at = Millis(1_785_333_600_007);

        assert_eq!(Millis::parse(&at.iso()), Some(at));
        assert_eq!(Millis::parse("2026-07-29T16:00:00.007+02:00"), Some(at));
        assert_eq!(Millis::parse("2026-07-29"), Some(Millis(1_785_283_200_000)));
        for other in ["", "today", "2026-07", "2026-13-01", "29.07.2026", "2026-07-29T14:00"] {
            assert_eq!(Millis::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_fake_clock_stands_still_until_told() {
        let clock = Clock::fake(Millis(5));
        clock.advance(Duration::from_secs(1));

        assert_eq!(clock.now(), Millis(1_005));
        assert_eq!(Millis(5).since(Millis(9)), Duration::ZERO);
    }
}
