//! Receipts of downloaded files: `<file>.receipt.json` next to a file states its origin, the date,
//! and what was received.
//!
//! `hornbook fetch` writes receipts, and a build reads them. A receipt is valid only for a file of
//! exactly its length and SHA-256, so that a file that was changed or truncated afterwards is not
//! treated as the publisher's.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hornbook_base::regular_file;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::values::is_date;

/// The version of the receipt format.
pub const RECEIPT_FORMAT: u32 = 1;
const RECEIPT_SUFFIX: &str = ".receipt.json";
/// The suffixes of the files that a download keeps next to its target: the bytes so far, and their metadata.
pub const PART_SUFFIX: &str = ".part";
pub const PART_STATE_SUFFIX: &str = ".part.json";
/// A receipt contains only a few addresses and dates.
const RECEIPT_BYTES_MAX: u64 = 1 << 20;
const READ_BUFFER_BYTES: usize = 1 << 17;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Receipt {
    pub format: u32,
    /// The name of the source in the catalogue.
    pub source: String,
    /// The publisher's name for the edition. Without one, the day on which the publisher last
    /// changed the file, if known.
    pub edition: Option<String>,
    /// The publisher's page about the source.
    pub page: String,
    /// The requested address.
    pub url: String,
    /// The address that answered, after redirects.
    pub final_url: String,
    /// The day on which this content was first received.
    pub retrieved: String,
    /// The last day on which the publisher still offered the same content.
    pub checked: String,
    pub bytes: u64,
    pub sha256: String,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// Why a receipt cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    #[error("{}: cannot {doing}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error("{}: {what}; remove it and fetch the file again", .path.display())]
    Invalid { path: PathBuf, what: String },
    #[error(
        "{}: {what}; fetch it again, or remove the receipt and give retrieved, url and edition in the plan",
        .file.display()
    )]
    OtherFile { file: PathBuf, what: String },
}

fn io_error(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> ReceiptError {
    move |source| ReceiptError::Io { path: path.to_owned(), doing, source }
}

/// Whether a file belongs to a download next to a source and is not a source itself.
pub fn is_download_file(name: &str) -> bool {
    [RECEIPT_SUFFIX, PART_SUFFIX, PART_STATE_SUFFIX].iter().any(|end| name.ends_with(end))
}

/// `<file><end>` in the same folder.
pub fn sibling_path(file: &Path, end: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(end);
    file.with_file_name(name)
}

impl Receipt {
    pub fn path_for(file: &Path) -> PathBuf {
        sibling_path(file, RECEIPT_SUFFIX)
    }

    /// The receipt of a file, if it has one.
    pub fn read(file: &Path) -> Result<Option<Self>, ReceiptError> {
        let path = Self::path_for(file);
        let text = match regular_file::read(&path, RECEIPT_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(io_error(&path, "read it"))?,
        };
        let invalid = |what: String| ReceiptError::Invalid { path: path.clone(), what };
        let receipt: Self =
            serde_json::from_slice(&text).map_err(|error| invalid(format!("it is not a receipt: {error}")))?;
        if receipt.format != RECEIPT_FORMAT {
            let what =
                format!("it has format {}, but this version of hornbook reads format {RECEIPT_FORMAT}", receipt.format);
            return Err(invalid(what));
        }
        if !is_date(&receipt.retrieved) || !is_date(&receipt.checked) {
            return Err(invalid("its dates are invalid".to_owned()));
        }
        Ok(Some(receipt))
    }

    /// Writes the receipt of a file: completely or not at all, and on disk when this returns.
    pub fn write(&self, file: &Path) -> Result<(), ReceiptError> {
        let path = Self::path_for(file);
        let fresh = sibling_path(&path, PART_SUFFIX);
        let mut text = serde_json::to_vec_pretty(self).expect("all keys of a receipt are strings");
        text.push(b'\n');
        // Left by a killed process.
        let _ = fs::remove_file(&fresh);
        let written = File::create_new(&fresh).and_then(|mut out| {
            out.write_all(&text)?;
            out.sync_all()
        });
        written.and_then(|()| fs::rename(&fresh, &path)).map_err(io_error(&path, "write it"))
    }

    /// Checks that a file is the one that this receipt describes.
    pub fn check(&self, file: &Path) -> Result<(), ReceiptError> {
        let other = |what: String| ReceiptError::OtherFile { file: file.to_owned(), what };
        let length = fs::metadata(file).map_err(io_error(file, "find it"))?.len();
        if length != self.bytes {
            return Err(other(format!("it has {length} bytes, but its receipt states {}", self.bytes)));
        }
        let sha256 = sha256_of(file).map_err(io_error(file, "read it"))?;
        if sha256 != self.sha256 {
            return Err(other("its SHA-256 is not the one in its receipt".to_owned()));
        }
        Ok(())
    }
}

/// The SHA-256 of a file, in lower-case hexadecimal digits.
pub fn sha256_of(file: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut reader = regular_file::open(file)?;
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt_for(file: &Path) -> Receipt {
        Receipt {
            format: RECEIPT_FORMAT,
            source: "xa-code".into(),
            edition: Some("2026".into()),
            page: "https://law.example/".into(),
            url: "https://law.example/code.zip".into(),
            final_url: "https://law.example/files/code.zip".into(),
            retrieved: "2026-02-03".into(),
            checked: "2026-02-04".into(),
            bytes: fs::metadata(file).unwrap().len(),
            sha256: sha256_of(file).unwrap(),
            etag: Some("\"a\"".into()),
            last_modified: None,
        }
    }

    #[test]
    fn a_receipt_is_read_back_and_fits_only_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("code.zip");
        fs::write(&file, "abc").unwrap();
        assert_eq!(
            sha256_of(&file).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "the test vector of FIPS 180-4"
        );
        assert_eq!(Receipt::read(&file).unwrap(), None);
        let receipt = receipt_for(&file);
        receipt.write(&file).unwrap();
        assert_eq!(Receipt::read(&file).unwrap().unwrap(), receipt);
        receipt.check(&file).unwrap();
        fs::write(&file, "abd").unwrap();
        assert!(receipt.check(&file).unwrap_err().to_string().contains("SHA-256 is not"));
        fs::write(&file, "ab").unwrap();
        assert!(receipt.check(&file).unwrap_err().to_string().contains("has 2 bytes, but its receipt states 3"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "the file and its receipt");
    }

    #[test]
    fn invalid_receipts_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "abc").unwrap();
        receipt_for(&file).write(&file).unwrap();
        let path = Receipt::path_for(&file);
        let text = fs::read_to_string(&path).unwrap();
        for (from, to, expected) in [
            ("\"format\": 1", "\"format\": 2", "it has format 2, but this version of hornbook reads format 1"),
            ("2026-02-03", "2026-02-30", "its dates are invalid"),
            ("\"bytes\"", "\"size\"", "not a receipt"),
            ("{", "", "not a receipt"),
        ] {
            fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let refused = Receipt::read(&file).unwrap_err().to_string();
            assert!(refused.contains(expected) && refused.contains("a.receipt.json"), "{refused}");
        }
    }

    #[test]
    fn download_files_are_recognised_by_name() {
        for name in ["a.zip.receipt.json", "a.zip.part", "a.zip.part.json"] {
            assert!(is_download_file(name), "{name}");
        }
        for name in ["a.zip", "part", "receipt.json", "a.json"] {
            assert!(!is_download_file(name), "{name}");
        }
    }
}
