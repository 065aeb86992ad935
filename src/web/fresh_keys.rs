//! Keys that were just made, on their way to the one page that shows them. Kept in memory alone,
//! for a moment: a key is stored nowhere, and its page is another request than the one that made
//! it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::base::{Millis, Secret};

/// How long a key waits for its page.
const KEPT: Duration = Duration::from_mins(1);

/// A key that was just made.
#[derive(Debug)]
pub struct Made {
    /// Its name.
    pub name: String,
    /// Its text.
    pub secret: Secret,
}

/// The keys that wait for their page; one a login.
#[derive(Debug, Default)]
pub struct FreshKeys(Mutex<HashMap<String, (Millis, Made)>>);

impl FreshKeys {
    /// Keeps a key for the login that made it, and forgets what nobody came for.
    pub fn put(&self, session: &str, made: Made, now: Millis) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (since, _)| now.since(*since) < KEPT);
        kept.insert(session.to_owned(), (now, made));
    }

    /// Hands out the key that a login has just made, this once.
    pub fn take(&self, session: &str, now: Millis) -> Option<Made> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, made) = kept.remove(session)?;
        (now.since(since) < KEPT).then_some(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> Made {
        Made { name: "laptop".to_owned(), secret: Secret::new("alch_1") }
    }

    #[test]
    fn a_key_is_handed_out_once_and_to_its_login_alone() {
        let keys = FreshKeys::default();
        keys.put("ada", made(), Millis(0));

        assert!(keys.take("eve", Millis(1)).is_none());
        assert_eq!(keys.take("ada", Millis(1)).unwrap().name, "laptop");
        assert!(keys.take("ada", Millis(1)).is_none());
    }

    #[test]
    fn a_key_that_nobody_came_for_is_forgotten() {
        let keys = FreshKeys::default();
        keys.put("ada", made(), Millis(0));

        assert!(keys.take("ada", Millis(60_000)).is_none());
    }
}
