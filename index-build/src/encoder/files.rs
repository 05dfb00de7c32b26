//! The files of a sentence encoder: in a folder, or in a zip archive such as a Python wheel.

use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use hornbook_base::regular_file;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::encoder_error::EncoderError;

/// The file that an encoder's folder in an archive is found by.
pub(super) const WEIGHTS: &str = "model.safetensors";

/// The endings of archives. A Python wheel is a zip archive.
const ARCHIVES: [&str; 2] = ["zip", "whl"];

#[derive(Debug)]
pub(super) struct EncoderFiles {
    place: PathBuf,
    /// If `place` is an archive: its folder with the encoder, with a slash at the end.
    folder_in_archive: Option<String>,
}

impl EncoderFiles {
    pub(super) fn open(place: PathBuf) -> Result<Self, EncoderError> {
        let is_archive = place.extension().is_some_and(|end| ARCHIVES.iter().any(|one| end.eq_ignore_ascii_case(one)));
        let folder_in_archive = match is_archive {
            true => Some(folder_with_weights(&place)?),
            false => None,
        };
        Ok(Self { place, folder_in_archive })
    }

    /// Where a file is, for messages.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.place.join(self.folder_in_archive.as_deref().unwrap_or_default()).join(name)
    }

    pub(super) fn read(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, EncoderError> {
        let read = match &self.folder_in_archive {
            Some(folder) => read_zipped(&self.place, &format!("{folder}{name}"), bytes_max),
            None => regular_file::read(&self.place.join(name), bytes_max),
        };
        read.map_err(|source| EncoderError::Read { path: self.path_of(name), source })
    }

    pub(super) fn read_optional(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, EncoderError> {
        match self.read(name, bytes_max) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(EncoderError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn folder_with_weights(archive: &Path) -> Result<String, EncoderError> {
    let opened = open_zip(archive).map_err(|source| EncoderError::Read { path: archive.to_owned(), source })?;
    let names = opened.file_names().filter_map(Result::ok);
    let folders = names.filter_map(|name| name.strip_suffix(WEIGHTS).map(str::to_owned));
    let mut folders: Vec<String> = folders.filter(|folder| folder.is_empty() || folder.ends_with('/')).collect();
    match folders.len() {
        1 => Ok(folders.remove(0)),
        number => {
            let what = format!("it contains {number} files {WEIGHTS}; an encoder's archive contains one");
            Err(EncoderError::InvalidFile { path: archive.to_owned(), line: None, what })
        }
    }
}

fn open_zip(archive: &Path) -> io::Result<ZipArchive<BufReader<std::fs::File>>> {
    ZipArchive::new(BufReader::new(regular_file::open(archive)?)).map_err(io::Error::other)
}

fn read_zipped(archive: &Path, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut opened = open_zip(archive)?;
    let entry = opened.by_name(name).map_err(|error| match error {
        ZipError::FileNotFound => io::Error::from(ErrorKind::NotFound),
        other => io::Error::other(other),
    })?;
    let mut bytes = Vec::new();
    entry.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let what = format!("it has more than {bytes_max} bytes, which is the limit");
        return Err(io::Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}
