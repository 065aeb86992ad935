//! The full name of a commit.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A commit's object id: 40 lower-case hexadecimal digits, or 64 in a SHA-256 repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

impl CommitId {
    /// The id in `text`, where it is a full one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (matches!(text.len(), 40 | 64) && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    /// The full id, as it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits, as it is shown.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<CommitId> for String {
    fn from(id: CommitId) -> Self {
        id.0
    }
}

impl TryFrom<String> for CommitId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("expected the 40 hexadecimal digits of a commit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_id_is_a_commit_id() {
        let id = "0123456789abcdef0123456789abcdef01234567";

        assert_eq!(
            CommitId::parse(id).map(|id| id.short().to_owned()),
            Some("0123456789ab".into())
        );
        for text in ["", "HEAD", "0123456", &id.to_uppercase(), &format!("{id}^")] {
            assert_eq!(CommitId::parse(text), None, "{text}");
        }
    }
}
