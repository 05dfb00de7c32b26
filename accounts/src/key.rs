//! API keys: `hb_live_` or `hb_test_`, 32 random base62 characters, and 6 checksum characters. The access token of a
//! signed-in agent has the same form, with `hb_auth_`.
//!
//! A [`PlainKey`] exists at two moments: when it is created, to be shown once, and when a caller
//! presents it. Only its [`KeyDigest`] is stored. The checksum lets the server refuse a mistyped
//! key without a lookup.

use std::fmt;
use std::io;

use hornbook_base::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::entropy::Entropy;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX_CHARS: usize = 8;
const SECRET_CHARS: usize = 32;
const CHECK_CHARS: usize = 6;
const KEY_CHARS: usize = PREFIX_CHARS + SECRET_CHARS + CHECK_CHARS;

/// How many characters of a key may be shown again: enough to recognize it, while 28 random
/// characters stay secret.
const SHOWN_CHARS: usize = PREFIX_CHARS + 4;

/// The largest multiple of 62 that fits in a byte. Bytes from here up are drawn again; otherwise
/// the first characters would be more frequent.
const FAIR_BELOW: u8 = 248;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    Live,
    Test,
    /// A key on which calls from web pages are metered. No text parses as such a key.
    Web,
    /// A person let an agent in. Its text is the present access token, which works only for agents.
    Agent,
}

impl KeyKind {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Live => "hb_live_",
            Self::Test => "hb_test_",
            Self::Web => "hb_page_",
            Self::Agent => "hb_auth_",
        }
    }
}

/// A whole key with valid checksum characters. `Debug` does not show it.
pub struct PlainKey {
    kind: KeyKind,
    text: [u8; KEY_CHARS],
}

impl PlainKey {
    pub fn generate(kind: KeyKind, entropy: &mut dyn Entropy) -> io::Result<Self> {
        let mut key = [0; KEY_CHARS];
        key[..PREFIX_CHARS].copy_from_slice(kind.prefix().as_bytes());
        let (signed, check) = key.split_at_mut(PREFIX_CHARS + SECRET_CHARS);
        draw_secret(&mut signed[PREFIX_CHARS..], entropy)?;
        check.copy_from_slice(&check_chars(signed));
        Ok(Self { kind, text: key })
    }

    /// Parses a key. None if the length, prefix or checksum is wrong.
    pub fn parse(text: &str) -> Option<Self> {
        let key: [u8; KEY_CHARS] = text.as_bytes().try_into().ok()?;
        let mut kinds = [KeyKind::Live, KeyKind::Test, KeyKind::Agent].into_iter();
        let kind = kinds.find(|kind| text.starts_with(kind.prefix()))?;
        let (signed, check) = key.split_at(PREFIX_CHARS + SECRET_CHARS);
        (check_chars(signed) == check).then_some(Self { kind, text: key })
    }

    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(self.text).into())
    }

    /// The text of the key, to be handed to its owner once. There is no other way to get it.
    pub fn reveal(&self) -> String {
        self.text.iter().map(|byte| char::from(*byte)).collect()
    }

    /// The beginning of the key, by which its owner recognizes it.
    pub fn shown_prefix(&self) -> String {
        self.text[..SHOWN_CHARS].iter().map(|byte| char::from(*byte)).collect()
    }
}

impl fmt::Debug for PlainKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlainKey(secret)")
    }
}

fn draw_secret(secret: &mut [u8], entropy: &mut dyn Entropy) -> io::Result<()> {
    let mut filled = 0;
    while filled < secret.len() {
        let mut draw = [0; SECRET_CHARS];
        entropy.fill(&mut draw)?;
        for byte in draw {
            if byte < FAIR_BELOW && filled < secret.len() {
                secret[filled] = ALPHABET[usize::from(byte % 62)];
                filled += 1;
            }
        }
    }
    Ok(())
}

/// The secret part of a link: 32 random base62 characters. Anyone who has it may do what the link
/// allows. `Debug` does not show it.
#[derive(Clone)]
pub struct LinkToken([u8; SECRET_CHARS]);

impl LinkToken {
    pub fn generate(entropy: &mut dyn Entropy) -> io::Result<Self> {
        let mut token = [0; SECRET_CHARS];
        draw_secret(&mut token, entropy)?;
        Ok(Self(token))
    }

    /// None for a text that cannot be a token.
    pub fn parse(text: &str) -> Option<Self> {
        let token: [u8; SECRET_CHARS] = text.as_bytes().try_into().ok()?;
        token.iter().all(u8::is_ascii_alphanumeric).then_some(Self(token))
    }

    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(self.0).into())
    }

    /// The text of the token, to put it into the link.
    pub fn reveal(&self) -> String {
        self.0.iter().map(|byte| char::from(*byte)).collect()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for LinkToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkToken(secret)")
    }
}

fn check_chars(signed: &[u8]) -> [u8; CHECK_CHARS] {
    let mut rest = crc32fast::hash(signed);
    let mut chars = [0; CHECK_CHARS];
    for char in chars.iter_mut().rev() {
        *char = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    chars
}

/// SHA-256 of a key or another bearer secret. A key has 190 bits of randomness, so it needs no salt
/// and no slow hash.
#[derive(Clone, Copy)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    pub fn of_secret(secret: &str) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// A random digest. No secret with this digest is known.
    pub(crate) fn random(entropy: &mut dyn Entropy) -> io::Result<Self> {
        let mut digest = [0; 32];
        entropy.fill(&mut digest)?;
        Ok(Self(digest))
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub fn to_hex(self) -> String {
        hex::encode(&self.0)
    }

    /// The key of the digest in a hash map. Its lookup time reveals nothing useful: an attacker who
    /// can choose digests can already find secrets.
    pub fn bucket(&self) -> u128 {
        u128::from_le_bytes(*self.0.first_chunk().unwrap_or(&[0; 16]))
    }

    pub fn matches(&self, other: &Self) -> bool {
        same_bytes(&self.0, &other.0)
    }
}

/// Compares in constant time, wherever the first difference is.
pub(crate) fn same_bytes(ours: &[u8; 32], theirs: &[u8; 32]) -> bool {
    let difference = ours.iter().zip(theirs).fold(0, |difference, (ours, theirs)| difference | (ours ^ theirs));
    std::hint::black_box(difference) == 0
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(..)")
    }
}

impl Serialize for KeyDigest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for KeyDigest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(deserializer)?;
        hex::decode(&digits).map(Self).ok_or_else(|| serde::de::Error::custom("a key digest has 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::entropy::SeededEntropy;
    use super::*;

    #[test]
    fn a_key_round_trips_and_typing_errors_are_refused() {
        let key = PlainKey::generate(KeyKind::Live, &mut SeededEntropy(3)).unwrap();
        let text = key.reveal();
        assert_eq!(text.len(), 46);
        assert!(text.starts_with("hb_live_") && text.starts_with(&key.shown_prefix()));
        assert!(PlainKey::parse(&text).unwrap().digest().matches(&key.digest()));
        for at in 0..text.len() {
            for wrong in ["0", "z", " ", "_"] {
                let mut mistyped = text.clone();
                mistyped.replace_range(at..=at, wrong);
                assert!(mistyped == text || PlainKey::parse(&mistyped).is_none(), "{mistyped}");
            }
        }
        assert!(PlainKey::parse(&text[..45]).is_none() && PlainKey::parse("").is_none());
        assert!(PlainKey::parse(&"é".repeat(23)).is_none());
    }

    #[test]
    fn the_token_of_a_link_reads_back() {
        let token = LinkToken::generate(&mut SeededEntropy(3)).unwrap();
        let text = token.reveal();
        assert_eq!(text.len(), 32);
        assert!(LinkToken::parse(&text).unwrap().digest().matches(&token.digest()));
        for wrong in ["", &text[1..], &format!("{text}a"), &format!("{}-", &text[1..]), &"é".repeat(16)] {
            assert!(LinkToken::parse(wrong).is_none(), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "LinkToken(secret)");
    }

    #[test]
    fn secrets_do_not_print() {
        let key = PlainKey::generate(KeyKind::Test, &mut SeededEntropy(4)).unwrap();
        let shown = format!("{key:?} {:?}", key.digest());
        assert_eq!(shown, "PlainKey(secret) KeyDigest(..)");
    }

    #[test]
    fn a_digest_matches_only_itself() {
        let digest = KeyDigest::of_secret("a");
        for at in 0..32 {
            let mut other = digest;
            other.0[at] ^= 1;
            assert!(!digest.matches(&other));
        }
        let json = serde_json::to_string(&digest).unwrap();
        assert!(serde_json::from_str::<KeyDigest>(&json).unwrap().matches(&digest));
    }
}
