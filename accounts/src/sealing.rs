//! Encrypts ("seals") personal data at rest with the key of the data directory, so that a copy of
//! the database alone does not reveal it.
//!
//! Each sealed text has its own key, derived from the directory's key and a secret of its owner.
//! The secret of a draft is the token of its link, and the state has only a hash of that token.
//! Once the draft is gone, the directory's key cannot decrypt its remains in free pages or backups.

use std::fmt;
use std::io;

use hornbook_base::hex;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::entropy::Entropy;
use super::error::ChangeError;
use crate::state::SEAL_KEY_BYTES;

/// The key of a data directory. `Debug` does not show it.
pub(crate) struct SealKey {
    key: [u8; SEAL_KEY_BYTES],
    id: KeyFingerprint,
}

/// Identifies a key in messages and records, and reveals nothing about it.
type KeyFingerprint = [u8; 4];

/// The owner of a sealed text. To open the text again, all fields must be the same.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'o> {
    pub(crate) kind: &'static str,
    pub(crate) id: Uuid,
    pub(crate) secret: &'o [u8],
}

/// A sealed text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sealed {
    /// Identifies the key of the directory. All fields are in hexadecimal digits.
    key: String,
    nonce: String,
    text: String,
}

/// The errors of ring have no content.
fn cipher_error() -> io::Error {
    io::Error::other("the cipher failed")
}

impl SealKey {
    pub(crate) fn new(key: [u8; SEAL_KEY_BYTES]) -> Self {
        let digest: [u8; 32] = Sha256::new().chain_update("hornbook seal key").chain_update(key).finalize().into();
        let [a, b, c, d, ..] = digest;
        Self { key, id: [a, b, c, d] }
    }

    /// Identifies the key, and reveals nothing of it.
    pub(crate) fn id(&self) -> [u8; 4] {
        self.id
    }

    pub(crate) fn seal(&self, owner: Owner<'_>, text: &[u8], entropy: &mut dyn Entropy) -> Result<Sealed, ChangeError> {
        let mut nonce = [0; NONCE_LEN];
        entropy.fill(&mut nonce).map_err(ChangeError::Entropy)?;
        let mut bytes = text.to_vec();
        let sealed = self.cipher(owner).and_then(|cipher| {
            let nonce = Nonce::assume_unique_for_key(nonce);
            cipher
                .seal_in_place_append_tag(nonce, Aad::from(owner.id.as_bytes()), &mut bytes)
                .map_err(|_| cipher_error())
        });
        sealed.map_err(ChangeError::Entropy)?;
        Ok(Sealed { key: hex::encode(&self.id), nonce: hex::encode(&nonce), text: hex::encode(&bytes) })
    }

    pub(crate) fn open(&self, owner: Owner<'_>, sealed: &Sealed) -> Result<Vec<u8>, ChangeError> {
        let kind = owner.kind;
        if sealed.key != hex::encode(&self.id) {
            return Err(ChangeError::Refused(format!(
                "the {kind} {} was sealed with a different key than the one in state.key; restore the earlier state.key",
                owner.id
            )));
        }
        let damaged = || ChangeError::Refused(format!("the sealed data of the {kind} {} is damaged", owner.id));
        let nonce = hex::decode(&sealed.nonce).ok_or_else(damaged)?;
        let mut bytes = hex::decode_all(&sealed.text).ok_or_else(damaged)?;
        let cipher = self.cipher(owner).map_err(ChangeError::Entropy)?;
        let nonce = Nonce::assume_unique_for_key(nonce);
        let opened = cipher.open_in_place(nonce, Aad::from(owner.id.as_bytes()), &mut bytes);
        let length = opened.map_err(|_| damaged())?.len();
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Derives bytes that are the same on every call and that nobody without the key can know.
    pub(crate) fn derived(&self, owner: Owner<'_>) -> DerivedBytes {
        DerivedBytes { source: self.extract(owner), purpose: owner.kind, blocks: 0 }
    }

    fn extract(&self, owner: Owner<'_>) -> Prk {
        Salt::new(HKDF_SHA256, owner.secret).extract(&self.key)
    }

    fn cipher(&self, owner: Owner<'_>) -> io::Result<LessSafeKey> {
        let source = self.extract(owner);
        let info = [owner.kind.as_bytes()];
        let key = source.expand(&info, &CHACHA20_POLY1305).map_err(|_| cipher_error())?;
        Ok(LessSafeKey::new(UnboundKey::from(key)))
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(secret)")
    }
}

const BLOCK_BYTES: usize = 32;

struct DerivedBlock;

impl KeyType for DerivedBlock {
    fn len(&self) -> usize {
        BLOCK_BYTES
    }
}

/// Bytes that look random and are derived from a key and an owner.
pub(crate) struct DerivedBytes {
    source: Prk,
    purpose: &'static str,
    blocks: u32,
}

impl Entropy for DerivedBytes {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        for chunk in bytes.chunks_mut(BLOCK_BYTES) {
            let number = self.blocks.to_be_bytes();
            self.blocks += 1;
            let mut block = [0; BLOCK_BYTES];
            let info = [self.purpose.as_bytes(), &number];
            self.source
                .expand(&info, DerivedBlock)
                .and_then(|made| made.fill(&mut block))
                .map_err(|_| cipher_error())?;
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::entropy::SeededEntropy;
    use super::*;

    const OWNER: Owner<'static> = Owner { kind: "draft", id: Uuid::from_u128(7), secret: b"token" };

    #[test]
    fn a_sealed_text_opens_for_its_owner_alone() {
        let key = SealKey::new([1; SEAL_KEY_BYTES]);
        let sealed = key.seal(OWNER, b"Ada Example, 12 Elm Street", &mut SeededEntropy(1)).unwrap();
        assert_eq!(key.open(OWNER, &sealed).unwrap(), b"Ada Example, 12 Elm Street");
        for wrong in [
            Owner { kind: "order", ..OWNER },
            Owner { id: Uuid::from_u128(8), ..OWNER },
            Owner { secret: b"tokem", ..OWNER },
        ] {
            assert!(key.open(wrong, &sealed).unwrap_err().to_string().contains("damaged"));
        }
        let other = SealKey::new([2; SEAL_KEY_BYTES]).open(OWNER, &sealed).unwrap_err().to_string();
        assert!(other.contains("different key") && !other.contains("Ada"), "{other}");
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        let key = SealKey::new([1; SEAL_KEY_BYTES]);
        let sealed = key.seal(OWNER, b"Ada", &mut SeededEntropy(1)).unwrap();
        let flipped = |digits: &str, at: usize| {
            let mut bytes = hex::decode_all(digits).unwrap();
            bytes[at / 8] ^= 1 << (at % 8);
            hex::encode(&bytes)
        };
        for at in 0..sealed.text.len() * 4 {
            let text = flipped(&sealed.text, at);
            assert!(key.open(OWNER, &Sealed { text, ..sealed.clone() }).is_err());
        }
        for at in 0..sealed.nonce.len() * 4 {
            let nonce = flipped(&sealed.nonce, at);
            assert!(key.open(OWNER, &Sealed { nonce, ..sealed.clone() }).is_err());
        }
        assert!(key.open(OWNER, &Sealed { text: "zz".to_owned(), ..sealed.clone() }).is_err());
        assert!(key.open(OWNER, &Sealed { nonce: String::new(), ..sealed }).is_err());
    }

    #[test]
    fn equal_texts_do_not_look_equal() {
        let key = SealKey::new([1; SEAL_KEY_BYTES]);
        let mut entropy = SeededEntropy(1);
        let [one, two] = [(), ()].map(|()| key.seal(OWNER, b"the same", &mut entropy).unwrap());
        assert_ne!(one.text, two.text);
        assert_eq!(format!("{key:?}"), "SealKey(secret)");
    }

    #[test]
    fn derived_bytes_are_the_same_again_and_others_for_others() {
        let bytes = |key: u8, owner: Owner<'_>| {
            let mut bytes = [0; 100];
            SealKey::new([key; SEAL_KEY_BYTES]).derived(owner).fill(&mut bytes).unwrap();
            bytes
        };
        assert_eq!(bytes(1, OWNER), bytes(1, OWNER));
        assert_ne!(bytes(1, OWNER), bytes(2, OWNER));
        assert_ne!(bytes(1, OWNER), bytes(1, Owner { secret: b"tokem", ..OWNER }));
        assert_ne!(bytes(1, OWNER), bytes(1, Owner { kind: "order", ..OWNER }));
        assert_ne!(bytes(1, OWNER)[..32], bytes(1, OWNER)[32..64]);
    }
}
