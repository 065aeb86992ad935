//! Bytes that only the holder of a key can read, and only as what they were sealed for: `ChaCha20`
//! with Poly1305. What is sealed says which key it was sealed with, so that another key can be told
//! from damage.

use std::fmt;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest, Sha256};

use super::fault::{Code, Fault};
use super::id::Entropy;

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;

/// The first byte of everything that is sealed: the form of the rest.
const FORM: u8 = 1;

/// Bytes by which a key is known without being told.
const MARK_BYTES: usize = 8;

/// Bytes before the sealed text: the form, the key's mark, the nonce.
const HEAD_BYTES: usize = 1 + MARK_BYTES + NONCE_LEN;

/// A key that seals and opens.
pub struct SealingKey {
    key: LessSafeKey,
    mark: [u8; MARK_BYTES],
}

/// Why something sealed cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unopened {
    /// It was sealed with another key.
    OtherKey,
    /// It is not what was sealed, or was sealed for something else.
    Damaged,
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherKey => "it was encrypted with another key file than the one that is there",
            Self::Damaged => "it is damaged",
        })
    }
}

impl From<Unopened> for Fault {
    fn from(unopened: Unopened) -> Self {
        Self::new(Code::Internal, format!("A stored secret cannot be read: {unopened}."))
    }
}

impl SealingKey {
    /// The key of these bytes, which must be as good as random.
    ///
    /// # Panics
    /// Never: the bytes are as many as a key has.
    #[must_use]
    pub fn new(bytes: &[u8; KEY_BYTES]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).expect("the key has the right length");
        let digest = Sha256::new_with_prefix(b"assay sealing key").chain_update(bytes).finalize();
        let mut mark = [0; MARK_BYTES];
        mark.copy_from_slice(&digest[..MARK_BYTES]);
        Self { key: LessSafeKey::new(key), mark }
    }

    /// Seals bytes for one purpose. They can be opened only by naming the same parts again, each
    /// of which counts: whose it is, what it belongs to, its name.
    ///
    /// # Panics
    /// Beyond 256 GiB, which nobody seals.
    #[must_use]
    pub fn seal(&self, purpose: &[&[u8]], plain: &[u8], entropy: &Entropy) -> Vec<u8> {
        // Random nonces of 96 bits are good for more than the 2^32 texts a key will ever seal.
        let nonce: [u8; NONCE_LEN] = entropy.bytes();
        let mut text = plain.to_vec();
        self.key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(self.bound(purpose)),
                &mut text,
            )
            .expect("nobody seals gigabytes");
        [&[FORM][..], &self.mark, &nonce, &text].concat()
    }

    /// Opens what was sealed for the same purpose.
    pub fn open(&self, purpose: &[&[u8]], sealed: &[u8]) -> Result<Vec<u8>, Unopened> {
        let (head, text) = sealed.split_at_checked(HEAD_BYTES).ok_or(Unopened::Damaged)?;
        let (mark, nonce) = head[1..].split_at(MARK_BYTES);
        if head[0] != FORM {
            return Err(Unopened::Damaged);
        }
        if mark != self.mark {
            return Err(Unopened::OtherKey);
        }
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Unopened::Damaged)?;
        let mut text = text.to_vec();
        let plain = self.key.open_in_place(nonce, Aad::from(self.bound(purpose)), &mut text);
        plain.map(|plain| plain.to_vec()).map_err(|_| Unopened::Damaged)
    }

    /// The purpose as bytes in which no part runs into the next.
    fn bound(&self, purpose: &[&[u8]]) -> Vec<u8> {
        let mut out = [&[FORM][..], &self.mark].concat();
        for part in purpose {
            out.extend_from_slice(&(part.len() as u64).to_le_bytes());
            out.extend_from_slice(part);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PURPOSE: &[&[u8]] = &[b"tenant", b"ticket", b"NAME"];

    fn key(seed: u64) -> SealingKey {
        SealingKey::new(&Entropy::seeded(seed).bytes())
    }

    #[test]
    fn only_the_same_key_and_purpose_open() {
        let sealed = key(1).seal(PURPOSE, b"value", &Entropy::seeded(2));

        assert_eq!(key(1).open(PURPOSE, &sealed).as_deref(), Ok(&b"value"[..]));
        assert_eq!(key(3).open(PURPOSE, &sealed), Err(Unopened::OtherKey));
        let others: [&[&[u8]]; 3] = [
            &[b"tenant", b"ticket"],
            &[b"tenantt", b"icket", b"NAME"],
            &[b"x", b"ticket", b"NAME"],
        ];
        for other in others {
            assert_eq!(key(1).open(other, &sealed), Err(Unopened::Damaged));
        }
    }

    #[test]
    fn equal_texts_are_sealed_differently() {
        let entropy = Entropy::seeded(1);

        assert_ne!(key(1).seal(PURPOSE, b"x", &entropy), key(1).seal(PURPOSE, b"x", &entropy));
    }

    proptest! {
        #[test]
        fn whatever_is_changed_is_noticed(
            plain in proptest::collection::vec(any::<u8>(), 0..60),
            at in any::<prop::sample::Index>(),
            bits in 1_u8..,
        ) {
            let mut sealed = key(1).seal(PURPOSE, &plain, &Entropy::seeded(2));
            prop_assert_eq!(key(1).open(PURPOSE, &sealed), Ok(plain));

            let at = at.index(sealed.len());
            sealed[at] ^= bits;
            prop_assert!(key(1).open(PURPOSE, &sealed).is_err());
            sealed.truncate(at);
            prop_assert!(key(1).open(PURPOSE, &sealed).is_err());
        }
    }
}
