//! Values that must never be shown: passwords, keys, tokens.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A secret text. Its `Debug` and `Display` never show it; [`Secret::reveal`] does.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text that must not be shown.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself. Call it only where it leaves for the one who may have it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the text: what is stored of a secret that has enough entropy of its own.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Whether two byte strings are equal, in a time that does not tell where they differ.
#[must_use]
pub fn same(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new("hunter2");

        assert_eq!(format!("{secret} {secret:?}"), "[secret] [secret]");
        assert!(same(&secret.digest(), &Secret::new("hunter2").digest()));
        assert!(!same(&secret.digest(), &Secret::new("hunter3").digest()));
    }
}
