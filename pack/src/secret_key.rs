//! The secret half of a pair of keys, in the files of minisign without a password (`minisign -G -W`).
//!
//! A key with a password is refused: the program signs unattended, so the password would lie beside the key.

use std::fmt;
use std::path::{Path, PathBuf};

use hornbook_base::base64::Base64;
use ring::signature::{Ed25519KeyPair, KeyPair};

use crate::signature::{ALGORITHM, DetachedSignature, FileHash, KeyNumber, PublicKey};

const FILE_BYTES: usize = 158;
const NO_PASSWORD: &[u8; 2] = &[0, 0];
const CHECKSUM: &[u8; 2] = b"B2";
/// Salt and cost of the password, all zero without one.
const PASSWORD_FIELD_BYTES: usize = 48;

/// A key that signs. `Debug` does not show it.
pub struct SecretKey {
    number: KeyNumber,
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

/// Why a file is not a usable secret key. Messages never contain what is in the file.
#[derive(Debug, thiserror::Error)]
pub enum SecretKeyError {
    #[error("{} is not a secret key of minisign; make one with 'hornbook snapshot keygen'", .path.display())]
    Form { path: PathBuf },
    #[error(
        "the secret key in {} is protected with a password, which hornbook does not ask for; remove it with \
         'minisign -C -W -s FILE' and protect the file instead",
        .path.display()
    )]
    Password { path: PathBuf },
    #[error("the secret key in {} does not fit its public key; restore the file from a copy", .path.display())]
    Damaged { path: PathBuf },
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.number)
    }
}

impl SecretKey {
    /// A key from random bytes: the seed, and the number that names the pair.
    pub fn from_random(seed: [u8; 32], number: [u8; 8]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("any 32 bytes are a seed");
        Self { number: KeyNumber(number), seed, pair }
    }

    /// Reads the text of a key file. `path` names it in errors.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SecretKeyError> {
        let form = || SecretKeyError::Form { path: path.to_owned() };
        let line = text.lines().nth(1).ok_or_else(form)?;
        let bytes = Base64::Standard.decode(line.trim()).filter(|bytes| bytes.len() == FILE_BYTES).ok_or_else(form)?;
        let (algorithm, rest) = bytes.split_at(2);
        let (password, rest) = rest.split_at(2);
        let (checksum, rest) = rest.split_at(2);
        if algorithm != ALGORITHM || checksum != CHECKSUM {
            return Err(form());
        }
        if password != NO_PASSWORD {
            return Err(SecretKeyError::Password { path: path.to_owned() });
        }
        let (number, rest) = rest[PASSWORD_FIELD_BYTES..].split_at(8);
        let (seed, rest) = rest.split_at(32);
        let public = &rest[..32];
        let damaged = |_| SecretKeyError::Damaged { path: path.to_owned() };
        let pair = Ed25519KeyPair::from_seed_and_public_key(seed, public).map_err(damaged)?;
        Ok(Self {
            number: KeyNumber(number.try_into().expect("eight bytes")),
            seed: seed.try_into().expect("32 bytes"),
            pair,
        })
    }

    /// The key as a file of minisign without a password.
    pub fn file_text(&self) -> String {
        let public = self.public().key;
        let parts: [&[u8]; 8] = [
            ALGORITHM,
            NO_PASSWORD,
            CHECKSUM,
            &[0; PASSWORD_FIELD_BYTES],
            &self.number.0,
            &self.seed,
            &public,
            // A checksum finds wrong passwords; minisign leaves it out as well.
            &[0; 32],
        ];
        format!(
            "untrusted comment: minisign secret key without a password\n{}\n",
            Base64::Standard.encode(&parts.concat())
        )
    }

    pub fn public(&self) -> PublicKey {
        let key = self.pair.public_key().as_ref().try_into().expect("a public key has 32 bytes");
        PublicKey { number: self.number, key }
    }

    /// The text of the signature file of a file with this hash. The comment must be one line.
    pub fn sign(&self, hash: &FileHash, trusted_comment: &str) -> String {
        assert!(!trusted_comment.contains(['\n', '\r']), "a trusted comment is one line");
        let sign = |message: &[u8]| self.pair.sign(message).as_ref().try_into().expect("a signature has 64 bytes");
        let signature = sign(&hash.0);
        let comment_signature = sign(&DetachedSignature::commented(&signature, trusted_comment));
        let trusted_comment = trusted_comment.to_owned();
        DetachedSignature { key: self.number, signature, trusted_comment, comment_signature }.file_text()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;
    use crate::pack_writer::hash_file;
    use crate::signature::{SignatureError, signature_path, verify};

    fn key(number: u8) -> SecretKey {
        SecretKey::from_random([number; 32], [number; 8])
    }

    fn hash(bytes: &[u8]) -> FileHash {
        hash_file(bytes).unwrap()
    }

    #[test]
    fn keys_and_signatures_are_read_as_they_were_written() {
        let (one, path) = (key(1), Path::new("one.key"));
        let again = SecretKey::parse(&one.file_text(), path).unwrap();
        assert_eq!(again.public(), one.public());
        assert_eq!(PublicKey::parse(&one.public().line()).unwrap(), one.public());
        let signature = again.sign(&hash(b"law"), "of the test");
        assert_eq!(signature, one.sign(&hash(b"law"), "of the test"), "signing is deterministic");
        assert_eq!(verify(path, &hash(b"law"), &signature, &[key(2).public(), one.public()]).unwrap(), "of the test");
        assert_eq!(
            verify(path, &hash(b"law"), &signature.replace('\n', "\r\n"), &[one.public()]).unwrap(),
            "of the test"
        );
        assert!(!format!("{one:?}").contains("01010101, "));
    }

    #[test]
    fn what_is_not_signed_by_a_trusted_key_is_refused() {
        let (path, signature) = (Path::new("law.pack"), key(1).sign(&hash(b"law"), "x"));
        let refused =
            |text: &[u8], signature: &str, keys: &[PublicKey]| verify(path, &hash(text), signature, keys).unwrap_err();
        assert!(matches!(refused(b"law", &signature, &[]), SignatureError::NoTrustedKey { .. }));
        assert!(matches!(refused(b"law", &signature, &[key(2).public()]), SignatureError::OtherKey { .. }));
        assert!(matches!(refused(b"lax", &signature, &[key(1).public()]), SignatureError::Mismatch { .. }));
        let other_comment = signature.replace("comment: x", "comment: y");
        assert!(matches!(refused(b"law", &other_comment, &[key(1).public()]), SignatureError::Mismatch { .. }));
        // Another key that took the number of a trusted one.
        let forged = SecretKey::from_random([2; 32], [1; 8]).sign(&hash(b"law"), "x");
        assert!(matches!(refused(b"law", &forged, &[key(1).public()]), SignatureError::Mismatch { .. }));
        for text in ["", "x", "untrusted comment: x\n\n", &signature[..signature.len() - 9], &format!("{signature}x\n")]
        {
            assert!(matches!(refused(b"law", text, &[key(1).public()]), SignatureError::Form { .. }), "{text}");
        }
    }

    #[test]
    fn keys_with_a_password_and_damaged_keys_are_refused() {
        let path = Path::new("my.key");
        let text = key(1).file_text();
        let line = text.lines().nth(1).unwrap();
        let mut bytes = Base64::Standard.decode(line).unwrap();
        let error = |bytes: &[u8]| {
            let text = format!("untrusted comment: x\n{}\n", Base64::Standard.encode(bytes));
            SecretKey::parse(&text, path).unwrap_err()
        };
        bytes[70] ^= 1;
        assert!(matches!(error(&bytes), SecretKeyError::Damaged { .. }));
        bytes[2..4].copy_from_slice(b"Sc");
        let with_password = error(&bytes).to_string();
        assert!(with_password.contains("minisign -C -W"), "{with_password}");
        assert!(matches!(error(&bytes[1..]), SecretKeyError::Form { .. }));
    }

    /// The tool itself must accept our keys and signatures, and we its. `make minisign` installs it and requires it here.
    #[test]
    fn minisign_verifies_ours_and_we_verify_its() {
        let is_required = std::env::var_os("HORNBOOK_TEST_MINISIGN").is_some_and(|value| value == "required");
        if Command::new("minisign").arg("-v").output().is_err() {
            assert!(!is_required, "minisign is not installed");
            println!("minisign is not installed: signatures were not compared with the tool's; run 'make minisign'");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let run = |arguments: &[&str]| {
            let output = Command::new("minisign").args(arguments).current_dir(dir.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            (output.status.success(), said)
        };
        fs::write(at("law.pack"), b"law").unwrap();
        let ours = SecretKey::from_random([9; 32], *b"numbered");
        fs::write(at("ours.pub"), ours.public().file_text()).unwrap();
        fs::write(at("ours.key"), ours.file_text()).unwrap();
        fs::write(at("law.pack.minisig"), ours.sign(&hash(b"law"), "hornbook pack of a test")).unwrap();
        let (is_accepted, said) = run(&["-V", "-m", "law.pack", "-p", "ours.pub"]);
        assert!(is_accepted && said.contains("hornbook pack of a test"), "{said}");
        fs::write(at("law.pack"), b"lax").unwrap();
        assert!(!run(&["-V", "-m", "law.pack", "-p", "ours.pub"]).0);

        // Our secret key in the tool, then a pair that the tool made.
        let (is_signed, said) = run(&["-S", "-m", "law.pack", "-s", "ours.key"]);
        assert!(is_signed, "{said}");
        let read = |name: &str| fs::read_to_string(at(name)).unwrap();
        verify(&at("law.pack"), &hash(b"lax"), &read("law.pack.minisig"), &[ours.public()]).unwrap();
        let (is_made, said) = run(&["-G", "-W", "-p", "its.pub", "-s", "its.key"]);
        assert!(is_made, "{said}");
        let its = SecretKey::parse(&read("its.key"), &at("its.key")).unwrap();
        assert_eq!(its.public(), PublicKey::parse(read("its.pub").lines().nth(1).unwrap()).unwrap());
        fs::write(signature_path(&at("law.pack")), its.sign(&hash(b"lax"), "y")).unwrap();
        assert!(run(&["-V", "-m", "law.pack", "-p", "its.pub"]).0);
    }
}
