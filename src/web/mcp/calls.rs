//! The calls that are under way, so that a cancellation that comes as a request of its own reaches
//! the one it means.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::base::KeyId;

/// Which call: whose, in which session, under which request id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Name {
    /// The key that made it: nobody cancels another key's calls.
    pub(super) key: Option<KeyId>,
    /// The session id that the client sent; none where it sent none.
    pub(super) session: Option<String>,
    /// The id of its request, as JSON text: `7` and `"7"` are two.
    pub(super) request: String,
}

/// The calls under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(Arc<Mutex<ByName>>);

/// The calls of each name, told apart by a number: clients may use one name twice.
type ByName = HashMap<Name, Vec<(u64, CancellationToken)>>;

/// Keeps a call in the list for as long as it lives.
#[derive(Debug)]
pub(super) struct UnderWay {
    calls: Calls,
    name: Name,
    number: u64,
}

impl Calls {
    /// Enters a call.
    pub(super) fn enter(&self, name: Name, cancel: CancellationToken) -> UnderWay {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = map.entry(name.clone()).or_default();
        let number = same.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
        same.push((number, cancel));
        drop(map);
        UnderWay { calls: self.clone(), name, number }
    }

    /// Cancels the call of that name. Where two clients that share a key and name no session have
    /// a call of the same id each, none is cancelled, for it could be the other's.
    pub(super) fn cancel(&self, name: &Name) -> bool {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match map.get(name).map(Vec::as_slice) {
            Some([(_, cancel)]) => {
                cancel.cancel();
                true
            }
            _ => false,
        }
    }

    /// Cancels every call of one session of one key.
    pub(super) fn end_session(&self, key: Option<KeyId>, session: &str) {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let meant = map
            .iter()
            .filter(|(name, _)| name.key == key && name.session.as_deref() == Some(session));
        for (_, cancel) in meant.flat_map(|(_, same)| same) {
            cancel.cancel();
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut map = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = map.get_mut(&self.name) {
            same.retain(|(number, _)| *number != self.number);
            if same.is_empty() {
                map.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Entropy, Millis};

    fn key(name: &str) -> KeyId {
        Entropy::seeded(u64::from(name.as_bytes()[0])).id(Millis(1))
    }

    fn name(of: &str, session: Option<&str>, request: &str) -> Name {
        Name {
            key: Some(key(of)),
            session: session.map(str::to_owned),
            request: request.to_owned(),
        }
    }

    #[test]
    fn a_cancellation_reaches_the_one_call_it_names() {
        let calls = Calls::default();
        let mine = CancellationToken::new();
        let kept = calls.enter(name("k", Some("s"), "1"), mine.clone());

        for other in [
            name("l", Some("s"), "1"),
            name("k", None, "1"),
            name("k", Some("t"), "1"),
            name("k", Some("s"), "\"1\""),
        ] {
            assert!(!calls.cancel(&other));
        }
        assert!(!mine.is_cancelled());
        assert!(calls.cancel(&name("k", Some("s"), "1")));
        assert!(mine.is_cancelled());

        drop(kept);
        assert!(!calls.cancel(&name("k", Some("s"), "1")));
        assert!(calls.0.lock().expect("no panic").is_empty());
    }

    #[test]
    fn two_calls_of_one_name_are_not_cancelled_until_one_is_left() {
        let calls = Calls::default();
        let (one, two) = (CancellationToken::new(), CancellationToken::new());
        let first = calls.enter(name("k", None, "1"), one.clone());
        let _second = calls.enter(name("k", None, "1"), two.clone());

        assert!(!calls.cancel(&name("k", None, "1")));
        drop(first);
        assert!(calls.cancel(&name("k", None, "1")));

        assert!(!one.is_cancelled());
        assert!(two.is_cancelled());
    }

    #[test]
    fn the_end_of_a_session_ends_its_calls_only() {
        let calls = Calls::default();
        let (mine, other) = (CancellationToken::new(), CancellationToken::new());
        let _mine = calls.enter(name("k", Some("s"), "1"), mine.clone());
        let _other = calls.enter(name("l", Some("s"), "1"), other.clone());

        calls.end_session(Some(key("k")), "s");

        assert!(mine.is_cancelled());
        assert!(!other.is_cancelled());
    }
}
