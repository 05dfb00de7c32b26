//! The grant of an agent that a person let in: what its key stores in addition to other keys, and the refresh token by
//! which the agent gets its next access token.
//!
//! Access tokens and refresh tokens change with every refresh. All refresh tokens of a grant share a secret part, the
//! family. So a token that was used before is recognized, however old it is, and nobody else can invent one.

use std::fmt;
use std::io;

use hornbook_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use super::entropy::Entropy;
use super::ids::KeyId;
use super::key::{KeyDigest, LinkToken};

/// The part of an agent's key that other keys do not have. It contains no secret, only digests.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Where the answer of the person was sent, as it was shown: a host, or the scheme of a native app.
    pub returns_to: String,
    /// The digest of the client's id. No other client may refresh the grant.
    pub client: KeyDigest,
    /// The digest of the part that all refresh tokens of the grant share.
    pub family: KeyDigest,
    /// The digest of the refresh token that works now.
    pub refresh: KeyDigest,
    /// When the present access token ends.
    pub access_ends_at: UnixMillis,
}

const PREFIX: &str = "hb_refr_";

/// The number of characters of each secret part.
const PART_CHARS: usize = 32;

/// A refresh token: `hb_refr_`, the number of the key, `_`, the family, and a part that is new in every token. `Debug`
/// does not show it.
#[derive(Clone)]
pub struct RefreshToken {
    key: KeyId,
    family: LinkToken,
    turn: LinkToken,
}

impl RefreshToken {
    /// The first token of a grant.
    pub(crate) fn first(key: KeyId, entropy: &mut dyn Entropy) -> io::Result<Self> {
        Ok(Self { key, family: LinkToken::generate(entropy)?, turn: LinkToken::generate(entropy)? })
    }

    /// The same token for another key.
    pub(crate) fn of_key(self, key: KeyId) -> Self {
        Self { key, ..self }
    }

    /// The token after this one.
    pub(crate) fn next(&self, entropy: &mut dyn Entropy) -> io::Result<Self> {
        Ok(Self { turn: LinkToken::generate(entropy)?, ..self.clone() })
    }

    /// None for a text that cannot be a refresh token.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let key = KeyId(number.parse().ok().filter(|key: &u32| key.to_string() == number)?);
        let (family, turn) = secret.split_at_checked(PART_CHARS)?;
        Some(Self { key, family: LinkToken::parse(family)?, turn: LinkToken::parse(turn)? })
    }

    /// The text of the token, to be handed to the agent once.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}_{}{}", self.key.0, self.family.reveal(), self.turn.reveal())
    }

    pub(crate) fn key(&self) -> KeyId {
        self.key
    }

    pub(crate) fn family(&self) -> KeyDigest {
        self.family.digest()
    }

    pub(crate) fn digest(&self) -> KeyDigest {
        KeyDigest::of_secret(&self.reveal())
    }
}

impl fmt::Debug for RefreshToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RefreshToken(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::super::entropy::SeededEntropy;
    use super::*;

    #[test]
    fn a_token_reads_back_and_the_next_one_is_of_the_same_family() {
        let mut entropy = SeededEntropy(1);
        let first = RefreshToken::first(KeyId(17), &mut entropy).unwrap();
        let text = first.reveal();
        let read = RefreshToken::parse(&text).unwrap();
        assert_eq!((read.key(), read.reveal().as_str()), (KeyId(17), text.as_str()));
        let next = first.next(&mut entropy).unwrap();
        assert!(next.family().matches(&first.family()) && !next.digest().matches(&first.digest()));
        assert_eq!(format!("{first:?}"), "RefreshToken(secret)");
        let secret = "a".repeat(64);
        for wrong in [
            "",
            &text[1..],
            &text[..text.len() - 1],
            &format!("{text}a"),
            &format!("hb_refr_017_{secret}"),
            &format!("hb_refr_+17_{secret}"),
            &format!("hb_refr_4294967296_{secret}"),
            &format!("hb_auth_17_{secret}"),
            &format!("hb_refr_17_{}-", &secret[1..]),
            &format!("hb_refr_17_{}", "é".repeat(32)),
        ] {
            assert!(RefreshToken::parse(wrong).is_none(), "{wrong}");
        }
    }
}
