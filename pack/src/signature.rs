//! Signatures in the format of minisign, so that `minisign -V` checks ours and we check those of `minisign -S`.
//!
//! A signature is Ed25519 over the BLAKE2b-512 hash of a file (minisign's `ED`). It carries a trusted comment, which a
//! second signature covers. Signatures over the file itself (minisign's older `Ed`) are refused: they need the whole
//! file in memory.

use std::fmt;
use std::path::{Path, PathBuf};

use hornbook_base::base64::Base64;
use hornbook_base::hex;
use ring::signature::{ED25519, UnparsedPublicKey};

/// The most bytes of a file with a signature or key.
pub const SIGNATURE_BYTES_MAX: u64 = 8_192;
/// The name of a signature's file is that of the signed file with this ending.
const SIGNATURE_EXTENSION: &str = ".minisig";

const UNTRUSTED: &str = "untrusted comment: ";
const TRUSTED: &str = "trusted comment: ";
const PREHASHED: &[u8; 2] = b"ED";
pub(crate) const ALGORITHM: &[u8; 2] = b"Ed";

/// The BLAKE2b-512 hash of a whole file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FileHash(pub [u8; 64]);

impl fmt::Debug for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

/// Names a pair of keys. minisign shows it as a number in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyNumber(pub(crate) [u8; 8]);

impl fmt::Display for KeyNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", u64::from_le_bytes(self.0))
    }
}

/// The public half of a pair of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey {
    pub(crate) number: KeyNumber,
    pub(crate) key: [u8; 32],
}

/// Why a file is not accepted as signed. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    #[error("'{text}' is not a public key of minisign: it begins with RW and has 56 characters")]
    PublicKey { text: String },
    #[error("no key is trusted, so {} cannot be checked; name one in snapshots.trusted_keys", .path.display())]
    NoTrustedKey { path: PathBuf },
    #[error("{} is not a signature of minisign: {what}", .path.display())]
    Form { path: PathBuf, what: &'static str },
    #[error(
        "{} is signed with the key {found}, which is not trusted; name its public key in snapshots.trusted_keys if it \
         should be",
        .path.display()
    )]
    OtherKey { path: PathBuf, found: KeyNumber },
    #[error("{} does not match its signature: it was changed or is damaged; copy both again", .path.display())]
    Mismatch { path: PathBuf },
}

impl PublicKey {
    /// Reads a key in one line, as `minisign -P` takes it.
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        let wrong = || SignatureError::PublicKey { text: text.chars().take(80).collect() };
        let bytes = Base64::Standard.decode(text.trim()).ok_or_else(wrong)?;
        let bytes: [u8; 42] = bytes.try_into().map_err(|_| wrong())?;
        let (algorithm, rest) = bytes.split_at(2);
        let (number, key) = rest.split_at(8);
        if algorithm != ALGORITHM {
            return Err(wrong());
        }
        let number = KeyNumber(number.try_into().map_err(|_| wrong())?);
        Ok(Self { number, key: key.try_into().map_err(|_| wrong())? })
    }

    /// The key in one line.
    pub fn line(&self) -> String {
        Base64::Standard.encode(&[&ALGORITHM[..], &self.number.0, &self.key].concat())
    }

    /// The key as a file of minisign.
    pub fn file_text(&self) -> String {
        format!("{UNTRUSTED}minisign public key {}\n{}\n", self.number, self.line())
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.key).verify(message, signature).is_ok()
    }
}

/// The contents of a file with a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DetachedSignature {
    pub(crate) key: KeyNumber,
    pub(crate) signature: [u8; 64],
    pub(crate) trusted_comment: String,
    pub(crate) comment_signature: [u8; 64],
}

impl DetachedSignature {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut lines = text.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let mut line = || lines.next().ok_or("it has fewer than four lines");
        if !line()?.starts_with(UNTRUSTED) {
            return Err("its first line is not an untrusted comment");
        }
        let bytes: [u8; 74] =
            decode_line(line()?).and_then(|bytes| bytes.try_into().ok()).ok_or("its second line is not a signature")?;
        let trusted_comment =
            line()?.strip_prefix(TRUSTED).ok_or("its third line is not a trusted comment")?.to_owned();
        let comment_signature = decode_line(line()?).and_then(|bytes| bytes.try_into().ok());
        let comment_signature = comment_signature.ok_or("its fourth line is not a signature")?;
        if lines.next().is_some() {
            return Err("more than four lines");
        }
        let (algorithm, rest) = bytes.split_at(2);
        let (number, signature) = rest.split_at(8);
        if algorithm == ALGORITHM {
            return Err("it does not sign the hash of the file; sign without the option -l");
        }
        if algorithm != PREHASHED {
            return Err("its algorithm is unknown");
        }
        let key = KeyNumber(number.try_into().expect("eight bytes"));
        let signature = signature.try_into().expect("64 bytes");
        Ok(Self { key, signature, trusted_comment, comment_signature })
    }

    pub(crate) fn file_text(&self) -> String {
        let signature = [&PREHASHED[..], &self.key.0, &self.signature].concat();
        format!(
            "{UNTRUSTED}signature from hornbook\n{}\n{TRUSTED}{}\n{}\n",
            Base64::Standard.encode(&signature),
            self.trusted_comment,
            Base64::Standard.encode(&self.comment_signature)
        )
    }

    /// What the second signature covers.
    pub(crate) fn commented(signature: &[u8; 64], trusted_comment: &str) -> Vec<u8> {
        [&signature[..], trusted_comment.as_bytes()].concat()
    }
}

/// Checks the signature of a file with this hash. Returns the trusted comment. `path` names the file in errors.
pub fn verify(path: &Path, hash: &FileHash, signature: &str, trusted: &[PublicKey]) -> Result<String, SignatureError> {
    let path_of = || path.to_owned();
    if trusted.is_empty() {
        return Err(SignatureError::NoTrustedKey { path: path_of() });
    }
    let signature = DetachedSignature::parse(signature)
        .map_err(|what| SignatureError::Form { path: signature_path(path), what })?;
    // Two keys can have the same number, which is random: any of them may have signed.
    let mut numbered = trusted.iter().filter(|key| key.number == signature.key).peekable();
    if numbered.peek().is_none() {
        return Err(SignatureError::OtherKey { path: path_of(), found: signature.key });
    }
    let commented = DetachedSignature::commented(&signature.signature, &signature.trusted_comment);
    let is_signed = |key: &PublicKey| {
        key.verifies(&hash.0, &signature.signature) && key.verifies(&commented, &signature.comment_signature)
    };
    if numbered.any(is_signed) {
        Ok(signature.trusted_comment)
    } else {
        Err(SignatureError::Mismatch { path: path_of() })
    }
}

/// The file beside a file that contains its signature.
pub fn signature_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SIGNATURE_EXTENSION);
    name.into()
}

fn decode_line(line: &str) -> Option<Vec<u8>> {
    Base64::Standard.decode(line)
}
