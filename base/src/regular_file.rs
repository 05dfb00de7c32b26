//! Opens files that a user named as input. Devices and pipes may have no end, and opening a pipe
//! may block forever, so only regular files are read. Reading a whole file into memory has a size
//! limit.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file, or a link to one, for reading.
pub fn open(path: &Path) -> io::Result<File> {
    // Checked before opening, because opening a device may already have an effect.
    check(std::fs::metadata(path)?.file_type())?;
    // If a pipe replaces the file in between, opening it must not block.
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a regular file of at most `bytes_max` bytes.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > bytes_max {
        let what = format!("it has {length} bytes, but the limit is {bytes_max}");
        return Err(io::Error::new(ErrorKind::FileTooLarge, what));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length as usize)?;
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text file of at most `bytes_max` bytes.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(read(path, bytes_max)?).map_err(|error| {
        let place = error.utf8_error().valid_up_to() + 1;
        io::Error::new(ErrorKind::InvalidData, format!("byte {place} is not UTF-8"))
    })
}

fn check(kind: FileType) -> io::Result<()> {
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(io::Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a regular file")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_files_are_read_up_to_their_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "law").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read_text(&link, 3).unwrap(), "law");
        let message = |result: io::Result<Vec<u8>>| result.unwrap_err().to_string();
        assert_eq!(message(read(&path, 2)), "it has 3 bytes, but the limit is 2");
        assert_eq!(message(read(dir.path(), 9)), "it is a folder, not a regular file");
        assert_eq!(read(&dir.path().join("absent"), 9).unwrap_err().kind(), ErrorKind::NotFound);
        std::fs::write(&path, b"la\xff").unwrap();
        assert_eq!(read_text(&path, 3).unwrap_err().to_string(), "byte 3 is not UTF-8");
    }
}
