//! Proof Key for Code Exchange (RFC 7636): only the program that asked can use the code. The method `plain` is not
//! accepted.

use hornbook_accounts::key::KeyDigest;
use hornbook_base::base64::Base64;
use sha2::{Digest, Sha256};

/// The digest of a verifier, as the client sent it with its request.
#[derive(Clone)]
pub(super) struct Challenge(String);

impl Challenge {
    /// None for a text that is not the base64 of a SHA-256.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_digest = Base64::Url.decode(text).is_some_and(|bytes| bytes.len() == 32);
        is_digest.then(|| Self(text.to_owned()))
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }

    /// Whether this is the challenge of a verifier of the right form. Compares in constant time.
    pub(super) fn is_of(&self, verifier: &str) -> bool {
        let is_verifier = (43..=128).contains(&verifier.len())
            && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
        let made = Base64::Url.encode(&Sha256::digest(verifier));
        KeyDigest::of_secret(&made).matches(&KeyDigest::of_secret(&self.0)) && is_verifier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc_matches_and_nothing_else() {
        let challenge = Challenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap();
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert!(challenge.is_of(verifier));
        for wrong in ["", &verifier[1..], &format!("{verifier}a"), &verifier.replace('d', "e")] {
            assert!(!challenge.is_of(wrong), "{wrong}");
        }
        for (length, char, is_right) in
            [(42, "a", false), (43, "a", true), (128, "a", true), (129, "a", false), (43, "+", false)]
        {
            let verifier = char.repeat(length);
            let challenge = Challenge::parse(&Base64::Url.encode(&Sha256::digest(&verifier))).unwrap();
            assert_eq!(challenge.is_of(&verifier), is_right, "{verifier}");
        }
        for wrong in ["", "short", verifier_with_padding().as_str(), &"a".repeat(44)] {
            assert!(Challenge::parse(wrong).is_none(), "{wrong}");
        }
    }

    fn verifier_with_padding() -> String {
        Base64::Standard.encode(&Sha256::digest("a"))
    }
}
