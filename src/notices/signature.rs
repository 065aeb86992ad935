//! The signature of a webhook, as the Standard Webhooks specification (1.0) has it: HMAC-SHA256
//! over the message's id, the time of sending and the body, with the secret that both sides know.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use crate::base::{Entropy, Millis, Secret};

/// The headers that a delivery carries.
pub const ID: &str = "webhook-id";
/// See [`ID`].
pub const TIMESTAMP: &str = "webhook-timestamp";
/// See [`ID`].
pub const SIGNATURE: &str = "webhook-signature";

/// What the text of a secret starts with.
const PREFIX: &str = "whsec_";

/// Bytes of a secret that is made here; the specification wants 24 to 64.
const SECRET_BYTES: usize = 32;

/// A new secret.
#[must_use]
pub fn new_secret(entropy: &Entropy) -> Secret {
    Secret::new(format!("{PREFIX}{}", STANDARD.encode(entropy.bytes::<SECRET_BYTES>())))
}

/// The value of the header [`SIGNATURE`]: `v1,` and the signature in base64. `None` where the text
/// is no secret.
#[must_use]
pub fn sign(secret: &Secret, id: &str, at: Millis, body: &[u8]) -> Option<String> {
    let key = STANDARD.decode(secret.reveal().strip_prefix(PREFIX)?).ok()?;
    let mut signed = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &key));
    signed.update(format!("{id}.{}.", seconds(at)).as_bytes());
    signed.update(body);
    Some(format!("v1,{}", STANDARD.encode(signed.sign())))
}

/// The value of the header [`TIMESTAMP`].
#[must_use]
pub const fn seconds(at: Millis) -> i64 {
    at.0.div_euclid(1_000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_vector_of_the_reference_libraries_is_met() {
        // From the tests of the libraries at github.com/standard-webhooks/standard-webhooks.
        let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let at = Millis(1_614_265_330_000);

        let said = sign(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, b"{\"test\": 2432232314}");

        assert_eq!(said.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }

    #[test]
    fn what_is_no_secret_signs_nothing() {
        for text in ["", "whsec_", "whsec_***", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
            let said = sign(&Secret::new(text), "id", Millis(0), b"");
            assert_eq!(said.is_some(), text == "whsec_", "{text:?}");
        }
    }

    /// HMAC by its definition (RFC 2104), from nothing but SHA-256.
    fn by_definition(key: &[u8], text: &[u8]) -> Vec<u8> {
        use sha2::{Digest, Sha256};
        let mut block = [0_u8; 64];
        block[..key.len()].copy_from_slice(key);
        let pad = |with: u8| block.map(|byte| byte ^ with);
        let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
        Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().to_vec()
    }

    proptest! {
        #[test]
        fn a_signature_is_hmac_over_id_time_and_body(
            seed: u64, id in "[ -~]{0,40}", at in 0_i64..1 << 50,
            body in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let secret = new_secret(&Entropy::seeded(seed));
            let key = STANDARD.decode(secret.reveal().strip_prefix(PREFIX).unwrap()).unwrap();
            prop_assert_eq!(key.len(), SECRET_BYTES);
            let text = [format!("{id}.{}.", at / 1_000).as_bytes(), &body].concat();

            let said = sign(&secret, &id, Millis(at), &body).unwrap();

            let expected = format!("v1,{}", STANDARD.encode(by_definition(&key, &text)));
            prop_assert_eq!(said, expected);
        }

        #[test]
        fn whatever_is_changed_changes_the_signature(
            body in proptest::collection::vec(any::<u8>(), 1..100),
            at in any::<prop::sample::Index>(), bits in 1_u8..,
        ) {
            let secret = new_secret(&Entropy::seeded(1));
            let now = Millis(1_000);
            let said = sign(&secret, "id", now, &body);
            let mut other = body.clone();
            other[at.index(body.len())] ^= bits;

            prop_assert_ne!(&said, &sign(&secret, "id", now, &other));
            prop_assert_ne!(&said, &sign(&secret, "ie", now, &body));
            prop_assert_ne!(&said, &sign(&secret, "id", Millis(2_000), &body));
            prop_assert_ne!(&said, &sign(&new_secret(&Entropy::seeded(2)), "id", now, &body));
        }
    }
}
