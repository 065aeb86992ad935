//! Passwords. Hashing and verifying take some ten milliseconds of a processor on purpose: callers
//! on the async side run them on a thread that may block, and never inside a transaction.

use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::base::{Entropy, Fault, Secret};

/// The fewest characters of a password.
pub const CHARACTERS_MIN: usize = 10;
/// The most bytes of a password; longer ones would only cost time.
pub const BYTES_MAX: usize = 1024;

/// A password as its row holds it: a PHC string, salted, of Argon2id.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub(super) String);

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[password hash]")
    }
}

fn argon2id() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT)
}

/// Hashes a new password, or says why it cannot be one.
pub fn hash(password: &Secret, entropy: &Entropy) -> Result<PasswordHash, Fault> {
    let text = password.reveal();
    if text.chars().count() < CHARACTERS_MIN {
        let said = format!("it is too short; {CHARACTERS_MIN} characters are the fewest.");
        return Err(Fault::argument("password", said));
    }
    if text.len() > BYTES_MAX {
        let said = format!("it is too long; {BYTES_MAX} bytes are the most.");
        return Err(Fault::argument("password", said));
    }
    let hashed = argon2id().hash_password_with_salt(text.as_bytes(), &entropy.bytes::<16>());
    Ok(PasswordHash(hashed.map_err(|e| Fault::internal(e.to_string()))?.to_string()))
}

/// Whether the password belongs to the hash. Without a hash the answer is no, and it takes as
/// long, so that nobody learns from the time which addresses have a login.
#[must_use]
pub fn verify(password: &Secret, hash: Option<&PasswordHash>) -> bool {
    let text = password.reveal();
    if text.len() > BYTES_MAX {
        return false;
    }
    let Some(hash) = hash else {
        // The result is of no use; the time it took is.
        drop(argon2id().hash_password_with_salt(text.as_bytes(), &[0; 16]));
        return false;
    };
    argon2id().verify_password(text.as_bytes(), hash.0.as_str()).is_ok()
}

/// A password that nobody has to think of: 144 random bits.
#[must_use]
pub fn generate(entropy: &Entropy) -> Secret {
    Secret::new(URL_SAFE_NO_PAD.encode(entropy.bytes::<18>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_again_and_another_is_not() {
        let entropy = Entropy::seeded(1);
        let password = Secret::new("correct horse");

        let hash = hash(&password, &entropy).expect("the password is long enough");

        assert!(hash.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.0);
        assert!(verify(&password, Some(&hash)));
        assert!(!verify(&Secret::new("correct horse "), Some(&hash)));
        assert!(!verify(&password, None));
    }

    #[test]
    fn the_same_password_has_another_hash_each_time() {
        let entropy = Entropy::seeded(1);
        let password = generate(&entropy);

        assert_ne!(hash(&password, &entropy).ok(), hash(&password, &entropy).ok());
    }

    #[test]
    fn short_and_huge_passwords_are_refused() {
        for text in ["", "123456789", &"x".repeat(BYTES_MAX + 1)] {
            let fault = hash(&Secret::new(text), &Entropy::seeded(1)).expect_err("it is unusable");

            assert_eq!(fault.issues[0].path, "password");
        }
        assert!(!verify(&Secret::new("x".repeat(BYTES_MAX + 1)), None));
    }
}
