//! Errors of downloads. Messages name the address or the file, and the next step if there is one.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use hornbook_index_build::receipt::ReceiptError;
use hornbook_index_build::source_files::SourceError;

use super::address::{DownloadUrl, NoAddress};
use super::least_rate::LeastRate;
use crate::client::ClientError;

#[derive(Debug)]
pub enum FetchError {
    /// The catalogue has no address for it.
    NotFetchable {
        source: String,
        page: String,
        obstacle: String,
    },
    Address(NoAddress),
    /// Plain http to another machine.
    Unencrypted(DownloadUrl),
    Client {
        address: DownloadUrl,
        source: ClientError,
    },
    Status {
        address: DownloadUrl,
        status: u16,
        retry_after: Option<Duration>,
    },
    Redirect {
        from: DownloadUrl,
        what: String,
    },
    /// The host asks programs not to request it.
    Robots(DownloadUrl),
    /// The head of a response contradicts itself or an earlier one.
    Head {
        address: DownloadUrl,
        what: String,
    },
    Length {
        address: DownloadUrl,
        expected: u64,
        received: u64,
    },
    TooLong {
        address: DownloadUrl,
        bytes_max: u64,
    },
    /// The server sends less than the minimum rate.
    Slow {
        address: DownloadUrl,
        least: LeastRate,
    },
    /// The received file is incomplete or damaged.
    Damaged {
        address: DownloadUrl,
        source: Box<SourceError>,
    },
    Hash {
        address: DownloadUrl,
        expected: Box<str>,
        received: Box<str>,
    },
    Edition {
        page: DownloadUrl,
    },
    Io {
        path: PathBuf,
        doing: &'static str,
        source: io::Error,
    },
    Receipt(ReceiptError),
    Locked {
        folder: PathBuf,
    },
    GaveUp {
        attempts: u32,
        kept_bytes: u64,
        last: Box<Self>,
    },
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFetchable { source, page, obstacle } => {
                write!(f, "{source} has no address to download from: {obstacle}. Its page is {page}")
            }
            Self::Address(error) => error.fmt(f),
            Self::Unencrypted(address) => {
                write!(f, "{address}: plain http is for this machine alone; use an address that begins with https://")
            }
            Self::Client { address, source: ClientError::Unreachable(error) } => write!(f, "{address}: {error}"),
            Self::Client { address, source } => write!(f, "{address}: {source}"),
            Self::Status { address, status, retry_after } => {
                write!(f, "{address}: the server answered {status}")?;
                match (status, retry_after) {
                    (_, Some(wait)) => write!(f, " and asks to wait {} seconds; try again then", wait.as_secs()),
                    (404 | 410, _) => f.write_str(
                        "; the publisher has moved or removed the file, so look at its page with 'hornbook sources'",
                    ),
                    (401 | 403, _) => f.write_str("; the publisher does not give this file to programs"),
                    _ => Ok(()),
                }
            }
            Self::Redirect { from, what } => write!(f, "{from}: it redirects, and {what}; it is not followed"),
            Self::Robots(address) => write!(
                f,
                "{address}: the host's robots.txt asks programs not to request this; if its publisher allows it to you, \
                 give --ignore-robots"
            ),
            Self::Head { address, what } => write!(f, "{address}: {what}"),
            Self::Length { address, expected, received } => {
                write!(f, "{address}: the server announced {expected} bytes and sent {received}")
            }
            Self::TooLong { address, bytes_max } => {
                write!(f, "{address}: the file is longer than {bytes_max} bytes, more than any source of law")
            }
            Self::Slow { address, least } => write!(
                f,
                "{address}: the server sent fewer than {} bytes in {} seconds; try again when it is less busy",
                least.bytes,
                least.window.as_secs_f64()
            ),
            Self::Damaged { address, source } => write!(f, "{address}: {source}; nothing of it is kept"),
            Self::Hash { address, expected, received } => write!(
                f,
                "{address}: the file has the SHA-256 {received}, not {expected}, which the catalogue knows; nothing of it \
                 is kept"
            ),
            Self::Edition { page } => write!(
                f,
                "{page}: the page does not name an edition where it did; look there, and give the edition with --edition"
            ),
            Self::Io { path, doing, source } => write!(f, "{}: cannot {doing}: {source}", path.display()),
            Self::Receipt(error) => error.fmt(f),
            Self::Locked { folder } => {
                write!(f, "another 'hornbook fetch' is writing to {}; wait until it ends", folder.display())
            }
            Self::GaveUp { attempts, kept_bytes: 0, last } => write!(f, "{last} (given up after {attempts} attempts)"),
            Self::GaveUp { attempts, kept_bytes, last } => write!(
                f,
                "{last} (given up after {attempts} attempts; the same command goes on after the {kept_bytes} bytes that \
                 are here)"
            ),
        }
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Address(error) => Some(error),
            Self::Client { source, .. } => Some(source),
            Self::Damaged { source, .. } => Some(source),
            Self::Io { source, .. } => Some(source),
            Self::Receipt(error) => Some(error),
            Self::GaveUp { last, .. } => Some(last),
            _ => None,
        }
    }
}

impl From<NoAddress> for FetchError {
    fn from(error: NoAddress) -> Self {
        Self::Address(error)
    }
}

impl From<ReceiptError> for FetchError {
    fn from(error: ReceiptError) -> Self {
        Self::Receipt(error)
    }
}

/// An error, with whether a retry may help.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A retry may help, after this time if the server named one.
    Passing(FetchError, Option<Duration>),
    Final(FetchError),
}

impl<E: Into<FetchError>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Self::Final(error.into())
    }
}

/// For `map_err`: the action and the file.
pub(crate) fn io_error(path: &std::path::Path, doing: &'static str) -> impl Fn(io::Error) -> FetchError {
    move |source| FetchError::Io { path: path.to_owned(), doing, source }
}
