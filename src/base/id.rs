//! Identifiers: UUIDs of version 7, one Rust type for each thing named, and the source they
//! come from, which tests seed.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::{Builder, Uuid};

use super::time::Millis;

/// The UUID of one kind of thing. `K` is a marker and never exists as a value.
pub struct Id<K>(Uuid, PhantomData<fn() -> K>);

impl<K> Id<K> {
    /// The id with these bits.
    #[must_use]
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }

    /// The bits.
    #[must_use]
    pub const fn uuid(self) -> Uuid {
        self.0
    }

    /// The id as rows hold it: 16 bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// The id in `text`, where it is a UUID in its usual hyphenated form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // The other spellings of a UUID (braces, urn, no hyphens) are not ours to accept: two
        // spellings of one id would be two cache keys and two log lines.
        (text.len() == 36).then(|| Uuid::parse_str(text).ok()).flatten().map(Self::from_uuid)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K> std::hash::Hash for Id<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<K> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}
impl<K> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}
impl<K> FromStr for Id<K> {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        Self::parse(text).ok_or(NotAnId)
    }
}
impl<K> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de, K> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected a UUID"))
    }
}
impl<K> schemars::JsonSchema for Id<K> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Uuid".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "uuid" })
    }
}

/// The text is not a hyphenated UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a UUID such as 0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b")
    }
}
impl std::error::Error for NotAnId {}

/// Where randomness comes from: the operating system, or a seed in tests.
#[derive(Clone)]
pub struct Entropy(Arc<Source>);

enum Source {
    System,
    Seeded(Mutex<Seeded>),
}

struct Seeded {
    seed: u64,
    drawn: u64,
}

impl Entropy {
    /// The operating system's.
    #[must_use]
    pub fn system() -> Self {
        Self(Arc::new(Source::System))
    }

    /// The same sequence for the same seed. For tests: never for keys that guard anything.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Source::Seeded(Mutex::new(Seeded { seed, drawn: 0 }))))
    }

    /// `N` random bytes.
    ///
    /// # Panics
    /// If the operating system has no randomness to give: nothing safe could go on.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut out = [0; N];
        match &*self.0 {
            Source::System => {
                getrandom::fill(&mut out).expect("the operating system gives randomness");
            }
            Source::Seeded(state) => {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.drawn += 1;
                let mut hasher = blake3::Hasher::new();
                hasher.update(&state.seed.to_le_bytes());
                hasher.update(&state.drawn.to_le_bytes());
                hasher.finalize_xof().fill(&mut out);
            }
        }
        out
    }

    /// A fresh id, sortable by its time of making.
    #[must_use]
    pub fn id<K>(&self, now: Millis) -> Id<K> {
        let millis = u64::try_from(now.0).unwrap_or(0);
        Id::from_uuid(Builder::from_unix_timestamp_millis(millis, &self.bytes()).into_uuid())
    }

    /// A number in `0..below`, even enough for jitter; 0 where `below` is 0.
    #[must_use]
    pub fn below(&self, below: u64) -> u64 {
        u64::from_le_bytes(self.bytes()).checked_rem(below).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Thing {}

    #[test]
    fn an_id_reads_back_what_it_shows() {
        let id: Id<Thing> = Entropy::seeded(1).id(Millis(1_700_000_000_000));

        assert_eq!(Id::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn only_the_usual_spelling_is_an_id() {
        for text in ["", "42", "{0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b}", "0190a5b27c3d7e4f"] {
            assert_eq!(Id::<Thing>::parse(text), None, "{text}");
        }
    }

    #[test]
    fn later_ids_sort_after_earlier_ones() {
        let entropy = Entropy::seeded(2);

        assert!(entropy.id::<Thing>(Millis(1_000)) < entropy.id::<Thing>(Millis(1_001)));
    }

    #[test]
    fn a_seed_gives_the_same_sequence_again() {
        let draw = |seed| (Entropy::seeded(seed).bytes::<8>(), Entropy::seeded(seed).bytes::<8>());

        let (first, second) = draw(7);
        assert_eq!(first, second);
        assert_ne!(draw(8).0, first);
    }
}
